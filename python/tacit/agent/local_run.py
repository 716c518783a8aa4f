"""A run of a placed plan by the parties whose processes this machine starts, and what is known after it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.agent.addresses import free_ports
from tacit.agent.answer import Answer
from tacit.agent.array_answer import ArrayAnswer, gives_arrays, load_arrays
from tacit.agent.cost import Cost, combined
from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.party_process import PartyTask, Start
from tacit.agent.process_tree import ProcessTree, Watcher
from tacit.agent.proof import Proof
from tacit.agent.signer import Signer
from tacit.plan import StepCost
from tacit.plan.physical.placed import PlacedPlan


@dataclass(frozen=True)
class Run:
    """What is known after a run: the answer, if a recipient runs here, every party's ledger entry, and the cost.
    arrays: the answer of a program.

    The answer of a statement about a kept table, which opens nothing, says which tables it has made or dropped.
    """

    answer: Answer | None
    entries: Mapping[str, Event]
    cost: Cost
    arrays: ArrayAnswer | None = None

    @property
    def unrecorded(self) -> RunError | None:
        """What to say after the answer has been delivered if a party could not record the end of the run."""
        for party, entry in self.entries.items():
            if "unrecorded" in entry:
                problem = f"the answer is whole, but its run is recorded as approved only: {entry['unrecorded']}"
                return RunError(Fault.INPUT, problem, party)
        return None


@dataclass(frozen=True)
class LocalRun:
    """A run that is to begin. path: the federation file. me: the party that this machine is; None if it is all of them.

    parties: those that run here. wait: for how many seconds others are waited for, None for the time limit of the
    private file. approved: the parties here have to have approved the plan before.
    """

    federation: Federation
    path: Path
    me: str | None
    plan: PlacedPlan
    parties: tuple[str, ...]
    wait: float | None
    approved: bool

    def run(self, watch: Watcher, start: Start, predicted: tuple[StepCost, ...]) -> Run:
        """Start the parties, and wait until all have ended. predicted: the cost of the plan's secure steps."""
        metered = _Metered(watch)
        with (
            tempfile.TemporaryDirectory(prefix="tacit-") as folder,  # readable by this user only
            self._addresses() as addresses,
        ):
            answers = {name: Path(folder) / f"{name}.duckdb" for name in self.parties if name in self.plan.recipients}
            tasks = [self._task(name, answers.get(name), addresses) for name in self.parties]
            entries = ProcessTree(tasks, start).run(metered.follow)
            cost = Cost(predicted, combined(metered.metrics))
            if gives_arrays(self.plan):
                return Run(None, entries, cost, self._arrays(answers, entries, cost))
            return Run(self._answer(answers, entries, cost), entries, cost)

    def _addresses(self) -> AbstractContextManager[Mapping[str, str]]:
        """Where the parties of a run are, if that need not be as all others know it, since there are none."""
        if self.me is not None or len(self.parties) < 2:
            return nullcontext({})
        return free_ports({name: self.federation.address(name) for name in self.parties})

    def _task(self, party: str, answer: Path | None, addresses: Mapping[str, str]) -> PartyTask:
        """What the process of a party is to do."""
        return PartyTask(
            party,
            self.path,
            self.federation.members.private_files,
            self.plan.query,
            self.plan.recipients,
            self._seconds(),
            answer,
            addresses,
            self._connects_at_once(),
            self.approved,
            len(self.parties),
        )

    def _seconds(self) -> float | None:
        """For how long others are waited for."""
        if self._connects_at_once() and self.me is not None:
            return self.federation.privates[self.me].network.connect_timeout
        return self.wait

    def _connects_at_once(self) -> bool:
        """Whether the others are waited for no longer than a connection is."""
        return self.wait is None and self.me is not None

    def _arrays(self, answers: Mapping[str, Path], entries: Mapping[str, Event], cost: Cost) -> ArrayAnswer | None:
        """What a program has revealed to the first recipient here, with its proof; None without one."""
        for recipient, saved in answers.items():
            return ArrayAnswer(load_arrays(saved, self.plan), self.plan, cost, self._proof(recipient, entries))
        return None

    def _proof(self, recipient: str, entries: Mapping[str, Event]) -> Proof:
        """Who has signed the run, as a recipient here can show it."""
        return Proof(entries[recipient], Signer.of(self.federation.members, recipient))

    def _answer(self, answers: Mapping[str, Path], entries: Mapping[str, Event], cost: Cost) -> Answer | None:
        """The answer that the first recipient here has written, with its proof; None without a recipient here."""
        if not self.plan.recipients:
            return Answer.of_statement(_done(entries), self.plan, cost)
        for recipient, saved in answers.items():
            return Answer.load(saved, self.plan, cost, self._proof(recipient, entries))
        return None


@dataclass(frozen=True)
class _Metered:
    """Hands on the events of parties, and keeps what their steps have cost."""

    watch: Watcher
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)

    def follow(self, party: str, event: Event) -> None:
        if event["event"] == "metrics":
            self.metrics[party] = event["steps"]
        self.watch(party, event)


def _done(entries: Mapping[str, Event]) -> list[tuple[str, int | None]]:
    """The tables, with their rows, that a statement has made or dropped."""
    found = [entry[what] for entry in entries.values() for what in ("kept", "dropped") if what in entry]
    return list(dict.fromkeys((each["table"], each.get("rows")) for each in found))

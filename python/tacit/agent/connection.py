"""The Python door: a federation to ask questions of.

    import tacit
    federation = tacit.connect("federation.toml")
    answer = federation.sql("SELECT zip, COUNT(*) AS people FROM demographics GROUP BY zip")

If all parties' addresses are on this machine, every party runs here as a process of its own. Otherwise name the party
that this machine is: ``tacit.connect("federation.toml", party="regulator")``; the other organisations start ``tacit
party`` with the same query.
"""

from __future__ import annotations

import ipaddress
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.agent.answer import Answer
from tacit.agent.cost import Cost, combined
from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_private import predicted_on
from tacit.agent.kept_catalog import with_kept
from tacit.agent.kept_store import KeptStore
from tacit.agent.party_process import PartyTask, Start, spawn
from tacit.agent.process_tree import ProcessTree, Watcher
from tacit.agent.steps import participants
from tacit.plan import StepCost, explain_json, explain_text, predict
from tacit.plan.account.explain import RulesText
from tacit.plan.physical.placed import DropStep, PlacedPlan
from tacit.plan.rules.sequence import Trace, ignore
from tacit.sql import compile_query


def connect(
    federation: str | Path = "federation.toml", *, party: str | None = None, private: str | Path | None = None
) -> Connection:
    """Read a federation's files. party: which party this machine is; None if all parties run on this machine.

    private: the folder of private files, by default ``private`` beside the federation file. Raises RunError if a file
    is wrong.
    """
    path, folder = Path(federation), None if private is None else Path(private)
    return Connection(Federation.load(path, party, folder), path, party)


@dataclass(frozen=True)
class Run:
    """What is known after a run: the answer, if a recipient runs here, every party's ledger entry, and the cost.

    The answer of a statement about a kept table, which opens nothing, says which tables it has made or dropped.
    """

    answer: Answer | None
    entries: Mapping[str, Event]
    cost: Cost

    @property
    def unrecorded(self) -> RunError | None:
        """What to say after the answer has been delivered if a party could not record the end of the run."""
        for party, entry in self.entries.items():
            if "unrecorded" in entry:
                problem = f"the answer is whole, but its run is recorded as approved only: {entry['unrecorded']}"
                return RunError(Fault.INPUT, problem, party)
        return None


class Connection:
    """A federation to ask questions of."""

    def __init__(self, federation: Federation, path: Path, party: str | None = None) -> None:
        self.federation = federation
        self.path = path
        self.party = party

    def plan(self, query: str, to: Sequence[str] | None = None, trace: Trace = ignore) -> PlacedPlan:
        """The placed plan of a query. to: the recipients, by default those of the federation file. Runs nothing.

        trace: called with the name of each of the planner's rules, and the query after it.
        """
        here = tuple(name for name in self.federation.parties if _is_loopback(self.federation.address(name)))
        catalog = with_kept(self.federation, self.party, here)
        plan = compile_query(query, catalog, tuple(to or self.federation.recipients), trace)
        if to and not plan.recipients:
            raise RunError(Fault.INPUT, "this statement opens nothing to anybody; leave out who gets an answer (--to).")
        return plan

    def explain(self, query: str, to: Sequence[str] | None = None, *, format: str = "text") -> str | dict[str, Any]:
        """The plan, what each party would learn, and the predicted cost, as text or (format="json") as an object."""
        plan = self.plan(query, to)
        costs = self.predict(plan)
        return explain_json(plan, costs) if format == "json" else explain_text(plan, costs)

    def rules(self, query: str, to: Sequence[str] | None = None) -> str:
        """How the planner changes a query: its tree after each rule, as text."""
        text = RulesText()
        self.plan(query, to, text)
        return text.text()

    def predict(self, plan: PlacedPlan) -> tuple[StepCost, ...]:
        """The predicted cost of a plan's secure steps over this federation's network."""
        simulating = (private.network for private in self.federation.privates.values())
        return predict(plan, network=predicted_on(self.federation.catalog.link, simulating))

    def sql(self, query: str, to: Sequence[str] | None = None) -> Answer:
        """Ask a question and wait for the answer. Raises RunError with the cause if any party cannot go on.

        CREATE TABLE ... AS SELECT ... lets the nodes keep the rows as shares, which later questions can read by the
        table's name; DROP TABLE removes them. Their answers are the table's name and number of rows.

        Warns if a party could not record the end of the run in its ledger.
        """
        plan = self.plan(query, to)
        done = self.run(plan)
        if done.unrecorded is not None:
            warnings.warn(str(done.unrecorded), RuntimeWarning, stacklevel=2)
        answer = done.answer
        if answer is None:
            raise RunError(
                Fault.INPUT,
                f"{self.party} is no recipient of this query; the answer went to {', '.join(plan.recipients)}.",
            )
        return answer

    def run(
        self,
        plan: PlacedPlan,
        watch: Watcher = lambda party, event: None,
        wait: float | None = None,
        start: Start = spawn,
    ) -> Run:
        """Run a placed plan. watch: called with every event of every party that runs here.

        wait: for how many seconds to wait for parties elsewhere that have not started yet. start: how the process of a
        party is started.
        """
        metrics: dict[str, dict[str, Any]] = {}

        def follow(party: str, event: Event) -> None:
            if event["event"] == "metrics":
                metrics[party] = event["steps"]
            watch(party, event)

        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:  # readable by this user only
            here = self.parties_here(plan)
            answers = {party: Path(folder) / f"{party}.duckdb" for party in here if party in plan.recipients}
            private = self.federation.members.private_files
            tasks = [
                PartyTask(party, self.path, private, plan.query, plan.recipients, wait, answers.get(party))
                for party in here
            ]
            entries = ProcessTree(tasks, start).run(follow)
            cost = Cost(self.predict(plan), combined(metrics))
            answer = Answer.load(next(iter(answers.values())), plan, cost) if answers else None
        if not plan.recipients:
            answer = Answer.of_statement(_done(entries), plan, cost)
        return Run(answer, entries, cost)

    def parties_here(self, plan: PlacedPlan) -> tuple[str, ...]:
        """The participants whose processes this machine starts.

        Raises RunError if some are elsewhere, or if the party that this machine is takes no part.
        """
        names = participants(plan, self.federation.catalog.parties)
        for step in plan.steps:
            if isinstance(step, DropStep):
                return self._holders(step)
        if self.party is not None:
            if self.party not in names:
                raise RunError(
                    Fault.INPUT, f"{self.party} has no part in this query; it is {' and '.join(names)} that run it."
                )
            return (self.party,)
        elsewhere = [name for name in names if not _is_loopback(self.federation.address(name))]
        if elsewhere and len(names) > 1:
            raise RunError(
                Fault.INPUT,
                f"{self.path}: {', '.join(elsewhere)} is not on this machine; "
                'start `tacit party --name NAME "SELECT ..."` at each organisation instead, with the same query.',
            )
        return names

    def _holders(self, step: DropStep) -> tuple[str, ...]:
        """The parties that run here and have a part of the table to drop: each drops its own, without the others."""
        if self.party is not None and self.party not in step.parties:
            problem = f"{self.party} is no node and has no part of {step.table}; each node removes its own"
            raise RunError(Fault.INPUT, f"{problem}.")
        asked = step.parties if self.party is None else (self.party,)
        return tuple(name for name in asked if KeptStore(self.federation, name).path(step.table).exists())


def _done(entries: Mapping[str, Event]) -> list[tuple[str, int | None]]:
    """The tables, with their rows, that a statement has made or dropped."""
    found = [entry[what] for entry in entries.values() for what in ("kept", "dropped") if what in entry]
    return list(dict.fromkeys((each["table"], each.get("rows")) for each in found))


def _is_loopback(address: str) -> bool:
    host = address.rsplit(":", 1)[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

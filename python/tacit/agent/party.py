"""One party's run of a placed plan.

Everything that can go wrong at home goes wrong first: data is loaded and checked and local parts are run before the
party connects. Then all parties execute the same secure steps in the same order. The session opens only what the
plan's permits allow, and any failure ends it at every party. The ledger has an entry before anything is shared and one
afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit import _native
from tacit.agent.account import approved_entry, completed_entry, failed_entry
from tacit.agent.agreement import agreed
from tacit.agent.answer import save_answer
from tacit.agent.approval import today, usable
from tacit.agent.array_answer import save_arrays
from tacit.agent.auditing import refusals_recorded, reserved
from tacit.agent.diagnosis import diagnose
from tacit.agent.events import EventSink
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.kept_descriptions import Descriptions
from tacit.agent.kept_store import KeptStore
from tacit.agent.ledger import Content, LedgerError
from tacit.agent.meeting import check_keys
from tacit.agent.memory_budget import Memory
from tacit.agent.record import COMPLETED
from tacit.agent.recording import Recording
from tacit.agent.reporter import Reporter
from tacit.agent.steps import awaits_keys, participants, secure_operators
from tacit.agent.waiting import Waiting
from tacit.local.duckdb_engine import LocalEngine
from tacit.plan import plan_hash
from tacit.plan.account.describe import name as step_name
from tacit.plan.account.serialise import canonical
from tacit.plan.facts.catalog import KeptTable
from tacit.plan.facts.kinds import opened_rep
from tacit.plan.physical.cost import declared_link, predict, shared_prices
from tacit.plan.physical.placed import (
    ArrayStep,
    DropStep,
    GuardStep,
    InputStep,
    KeepStep,
    KeptStep,
    KeysStep,
    LocalStep,
    NativeStep,
    PlacedPlan,
    ProgramStep,
    PsiStep,
    ReleaseStep,
    ResultStep,
    SecureStep,
    Step,
    TailStep,
)
from tacit.plan.physical.record import JSON

LINGER = 1.0
"""Seconds for which a party that cannot start tells those that come later: hands are not equally fast."""


@dataclass
class PartyRun:
    """One run at one party.

    answer: where a recipient's answer is written (a DuckDB file, or one of arrays, that must not exist yet); None
    elsewhere. wait: for how many seconds the party waits for the others before it connects; None if one process starts
    them all. then_connect: leave it to the connection to say what is wrong with a party that is there but cannot be
    met. approved: run only what the party has approved for several runs; otherwise starting it approves this one.
    parties: how many share the processors of this machine.
    """

    federation: Federation
    me: str
    plan: PlacedPlan
    emit: EventSink
    answer: Path | None = None
    wait: float | None = None
    then_connect: bool = False
    approved: bool = False
    parties: int = 1
    _opened: dict[int, _native.Opened] = field(default_factory=dict)
    _opened_rows: dict[str, int] = field(default_factory=dict)
    _taken_up: dict[int, _native.KeptShares] = field(default_factory=dict)
    _unfinished: dict[int, Path] = field(default_factory=dict)
    _kept: JSON = field(default_factory=dict)
    _done: dict[str, Any] = field(default_factory=dict)
    _met: bool = False

    def run(self) -> None:
        """Run the plan to its end. Emits ``done`` with the ledger entry; raises what went wrong, after recording it."""
        with (
            Reporter(self.emit) as reporter,
            LocalEngine(self.plan, self.me, self.federation.catalog, self.federation.privates[self.me].forms) as engine,
            ExitStack() as files,
        ):
            reporter.phase("loading")
            with self._waiting.failures_told():
                self.federation.privates[self.me].check_closed()
                if self._waiting.others:
                    check_keys(self.federation.members, self.me, self._waiting.others)
                recording = self._recording()
                recording.ledger.check()
                approval = self._approval(recording)
                engine.check()
                self._admit_memory()
                files.enter_context(reserved(self.federation, self.me, self.plan, recording.ledger, lambda: self._met))
                self._prepare(engine, reporter, files)
            with refusals_recorded(self.federation, self.me, self.plan, recording.ledger):
                self._waiting.gather()
            recording.approve(approval)
            with self._recorded_failure(recording, reporter):
                if secure_operators(self.plan):
                    self._compute(engine, reporter, recording)
                    recording.close(COMPLETED)
                self._finish(engine, reporter)
            entry = self._recorded_end(recording, reporter)
        self.emit({"event": "metrics", "steps": reporter.figures()})
        self.emit({"event": "done", "entry": entry})

    def _admit_memory(self) -> None:
        """Refuse a plan beyond this node's memory budget. A client holds no shares."""
        if self._memory.budget is not None and self._is_node:
            self._memory.admit(predict(self.plan), self.parties)

    @property
    def _memory(self) -> Memory:
        """What this party gives to the run: what its private file says, or of a program what the federation does."""
        found = self.federation.privates[self.me].memory
        if self.plan.catalog is None or not any(isinstance(each, ProgramStep) for each in self.plan.steps):
            return found
        return found.of_program(self.plan.catalog.program_memory)

    def _recording(self) -> Recording:
        """This party's entries of the run."""
        names = participants(self.plan, self.federation.catalog.parties)
        return Recording(self.federation.members, self.me, names, self._waiting.others)

    def _approval(self, recording: Recording) -> Content:
        """What the ledger will say of the approval of this run, given its entries. Raises RunError without one."""

        def content(entries: list[JSON]) -> JSON:
            by = usable(entries, recording.signer, plan_hash(self.plan).hex(), today()) if self.approved else None
            return approved_entry(self.federation, self.me, self.plan, by)

        if self.approved:
            content(recording.ledger.entries())
        return content

    def _prepare(self, engine: LocalEngine, reporter: Reporter, files: ExitStack) -> None:
        """Run this party's local parts over tables that were checked, and take up its shares of kept tables, before
        anything is shared."""
        for step in self.plan.steps:
            match step:
                case LocalStep() if step.party == self.me and not awaits_keys(step):
                    self._run_local(engine, reporter, step)
                case ArrayStep() if step.party == self.me:
                    self._run_local(engine, reporter, step)
                case KeptStep():
                    table = next(each for each in self._kept_tables() if each.name == step.operator.table)
                    self._taken_up[step.id] = (
                        self.store.read(table, step.operator) if self._is_node else self.descriptions.approved(table)
                    )
                case KeepStep() if self._is_node:
                    self._unfinished[step.id] = files.enter_context(self.store.unfinished(step.operator.table))

    @cached_property
    def _waiting(self) -> Waiting:
        """This party's wait for those that it computes with: of a client, the nodes."""
        names = participants(self.plan, self.federation.catalog.parties) if secure_operators(self.plan) else ()
        others = [name for name in names if name != self.me and (self._is_node or name in self.plan.nodes)]
        beyond = [name for name in names if name not in (self.me, *others)]
        offered = self.federation.catalog.offered
        seconds = self.wait if others else None
        return Waiting(
            self.federation.members, self.me, others, seconds, self.emit, beyond, offered, agreed(self.plan),
            self.then_connect, LINGER if self.then_connect else 0.0,
        )  # fmt: skip

    @property
    def _is_node(self) -> bool:
        """Whether this party computes, and so has parts of kept tables."""
        return self.me in self.plan.nodes

    @property
    def store(self) -> KeptStore:
        """This party's parts of kept tables."""
        return KeptStore(self.federation, self.me)

    @property
    def descriptions(self) -> Descriptions:
        """The public descriptions of kept tables."""
        return Descriptions(self.federation)

    def _kept_tables(self) -> tuple[KeptTable, ...]:
        """The kept tables that the plan reads."""
        return self.plan.catalog.kept if self.plan.catalog else ()

    def _compute(self, engine: LocalEngine, reporter: Reporter, recording: Recording) -> None:
        """Execute the secure steps with the other parties."""
        reporter.phase("connecting")
        session = self._connect(recording.head)
        self._met = True
        try:
            recording.begin(session.attendance())
            reporter.attach(session)
            reporter.phase("computing")
            for step in self.plan.steps:
                if isinstance(step, LocalStep) and step.party == self.me and awaits_keys(step):
                    self._run_local(engine, reporter, step)
                if isinstance(step, NativeStep):
                    with reporter.step(step_name(step)) as figures:
                        figures["rows"] = self._secure_step(session, engine, step)
            session.close()
        except BaseException as error:
            session.abort(diagnose(error).fault.reason_for_peers)
            raise

    def _run_local(self, engine: LocalEngine, reporter: Reporter, step: LocalStep | ArrayStep) -> None:
        """Run one of this party's local parts."""
        with reporter.step(step_name(step)) as figures:
            figures["rows"] = engine.run(step)

    def _connect(self, head: bytes) -> _native.Session:
        """Connect to the other participants, who must have compiled and approved the same plan.

        head: the hash of the entry that approved the run here.
        """
        names = participants(self.plan, self.federation.catalog.parties)
        private = self.federation.privates[self.me]
        network = private.network
        return _native.Session.connect(
            [self.federation.native_party(name) for name in names],
            self.me,
            list(self.plan.nodes),
            self.federation.private_key(self.me),
            plan_hash(self.plan),
            json.dumps([permit.json() for permit in self.plan.permits]),
            json.dumps([operator.json() for operator in secure_operators(self.plan)]),
            engine=self.plan.engine,
            connect_timeout=network.connect_timeout,
            idle_timeout=network.idle_timeout,
            latency=network.latency,
            bandwidth=network.bandwidth,
            link=declared_link(self.plan),
            prices=shared_prices(self.plan),
            kept=[self._taken_up[step.id] for step in self.plan.steps if isinstance(step, KeptStep)],
            clients=list(self.plan.clients),
            ledger=head,
            memory=self._memory.native,
            threads=private.threads_of(self.parties),
        )

    def _secure_step(self, session: _native.Session, engine: LocalEngine, step: NativeStep) -> int | None:
        """Execute one step; its public number of rows, where this party knows it."""
        match step:
            case InputStep():
                rows = self._input(session, engine, step).rows
                self._forget(engine, step)
                return rows
            case PsiStep():
                rows = self._psi(session, engine, step).rows
                self._forget(engine, step)
                return rows
            case KeptStep() if self._is_node:
                return session.kept(step.id, self._taken_up.pop(step.id)).rows
            case KeepStep() if self._is_node:
                return self._keep(session, step)
            case KeptStep() | KeepStep() | SecureStep() | ProgramStep():
                return session.run(step.id).rows
            case KeysStep():
                return self._keys(session, engine, step)
            case GuardStep():
                return self._guard(session, step)
            case ReleaseStep():
                return self._release(session, step)

    def _forget(self, engine: LocalEngine, step: NativeStep) -> None:
        """Drop this party's local results that the step was the last to share."""
        behind = self.plan.steps[self.plan.steps.index(step) + 1 :]
        spent = _shared(step).difference(*map(_shared, behind))
        for each in self.plan.steps:
            if isinstance(each, LocalStep | ArrayStep) and each.party == self.me and each.id in spent:
                engine.forget(each.id)

    def _owns(self, owner: str) -> bool:
        """Whether an owner's local results are here."""
        return owner == self.me

    def _input(self, session: _native.Session, engine: LocalEngine, step: InputStep) -> _native.SharedTable:
        if not self._owns(step.operator.owner):
            return session.input(step.id, None)
        pad_to = engine.source_rows(step.local) if step.operator.pad_to_source else None
        return session.input(step.id, engine.encode(step.local, step.operator.columns), pad_to=pad_to)

    def _psi(self, session: _native.Session, engine: LocalEngine, step: PsiStep) -> _native.SharedTable:
        own = [side if self._owns(side.owner) else None for side in step.sides]
        left, right = (engine.encode(side.local, side.given) if side else None for side in own)
        pad_left, pad_right = (engine.source_rows(side.local) if side and side.pad_to_source else None for side in own)
        return session.psi(step.id, left, right, pad_to=(pad_left, pad_right))

    def _keys(self, session: _native.Session, engine: LocalEngine, step: KeysStep) -> int | None:
        """Take in the keys of another owner, if they are opened to this one."""
        try:
            opened = session.release(step.id)
        except _native.InternalError as error:
            if not any(opened_rep(each.type) == "bytes" for each in step.fields):
                raise
            # Native code finds strings that are no UTF-8, which no owner's tacit shares.
            raise _wrong_keys(step, "that are no text") from error
        if opened is None:
            return None
        self._opened_rows[step_name(step)] = opened.rows
        if (problem := engine.take_keys(step, opened)) is not None:
            raise _wrong_keys(step, problem)
        return opened.rows

    def _keep(self, session: _native.Session, step: KeepStep) -> int:
        """Write this party's part. It gets its name when the session has ended well at all nodes."""
        about = step.about.json() | {"plan_hash": plan_hash(self.plan).hex(), "query": self.plan.query}
        path = str(self._unfinished[step.id])
        self._kept = json.loads(session.keep(step.id, path, self.store.key(), canonical(about)))
        rows: int = self._kept["rows"]
        self._done["kept"] = {"table": step.operator.table, "id": self._kept["id"], "rows": rows}
        return rows

    def _guard(self, session: _native.Session, step: GuardStep) -> int:
        """Learn that all checked bounds hold. Otherwise native code ends the run, and the bit has been told all the
        same."""
        self._opened_rows[step_name(step)] = 1
        session.release(step.id)
        return 1

    def _release(self, session: _native.Session, step: ReleaseStep) -> int | None:
        opened = session.release(step.id)
        if opened is None:
            return None
        self._opened[step.id] = opened
        self._opened_rows[step_name(step)] = opened.rows
        return opened.rows

    def _finish(self, engine: LocalEngine, reporter: Reporter) -> None:
        """Finish the answer in clear and save it, at a recipient; give a kept table its name; drop one."""
        reporter.phase("finishing")
        for step in self.plan.steps:
            match step:
                case TailStep() if self.me in step.recipients:
                    with reporter.step(step_name(step)) as figures:
                        relation = engine.tail(step, self._opened)
                        figures["rows"] = len(relation)
                        if self.answer is not None:
                            save_answer(relation, self.answer, engine.database)
                case ResultStep() if self.me in step.recipients:
                    with reporter.step(step_name(step)) as figures:
                        arrays = engine.arrays(step, self._opened)
                        figures["rows"] = sum(each.size for each in arrays.values())
                        if self.answer is not None:
                            save_arrays(arrays, self.answer)
                case KeepStep() if self._is_node:
                    self.store.finish(self._unfinished[step.id], step.operator.table)
                    self.descriptions.write(self._kept)
                case DropStep():
                    with reporter.step(step_name(step)):
                        self._drop(step)

    def _drop(self, step: DropStep) -> None:
        dropped = [part for part in self.store.parts() if part.name.lower() == step.table.lower()]
        self.store.drop(step.table)
        for part in dropped:
            id = part.table.id if part.table else None
            self.descriptions.remove(step.table, id)
            self._done["dropped"] = {"table": part.name, "id": id}

    @contextmanager
    def _recorded_failure(self, recording: Recording, reporter: Reporter) -> Iterator[None]:
        """Record a failure, as all sign it that are left: what was opened until then stays disclosed."""
        try:
            yield
        except BaseException as error:
            found = diagnose(error)
            recording.close_failed()
            said = failed_entry(recording.approved, found, self._opened_rows, reporter.figures())
            try:
                recording.ledger.append("failed", {**said, **recording.signed()})
            except LedgerError as unwritten:
                raise RunError(found.fault, f"{found.sentence.rstrip('.')}; besides, {unwritten}") from error
            raise

    def _recorded_end(self, recording: Recording, reporter: Reporter) -> dict[str, Any]:
        """Record a run that has given its answer. If that fails now, the answer is not lost for it: the entry, which no
        ledger holds then, says why as ``unrecorded``."""
        said = completed_entry(recording.approved, self.plan, self._opened_rows, reporter.figures(), self._done)
        content = {**said, **recording.signed()}
        try:
            return recording.ledger.append("completed", content)
        except LedgerError as error:
            return {**content, "unrecorded": str(error)}


def _shared(step: Step) -> set[int]:
    """The local results of all owners that a step shares."""
    match step:
        case InputStep():
            return {step.local}
        case PsiStep():
            return {side.local for side in step.sides}
        case _:
            return set()


def _wrong_keys(step: KeysStep, problem: str) -> RunError:
    """What is said of the keys of another owner. problem: it follows "has given keys"."""
    return RunError(Fault.PEER, f"{step.owner} has given keys {problem}; ask {step.owner} to check its tacit.")

"""Three ways to run a query: in clear in this process, among threads, and by a process for each party over TLS.

All three are the product's own ``PartyRun``. The first two only replace what it connects to.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from benches.unsigned import Unsigned

from tacit import _native, connect
from tacit.agent.diagnosis import diagnose
from tacit.agent.events import Event
from tacit.agent.faults import cause
from tacit.agent.federation import Federation
from tacit.agent.party import PartyRun
from tacit.agent.recording import Recording
from tacit.agent.steps import participants, secure_operators
from tacit.local.database import text
from tacit.plan.physical.placed import LocalStep, PlacedPlan, Step
from tacit.sql import compile_query

from .costs import assert_as_declared, last_figures
from .federations import DUCKDB, NUMBERS


@dataclass(frozen=True)
class Result:
    """A relation as a person sees it: names, DuckDB types and rows in their order."""

    names: list[str]
    types: list[str]
    rows: list[tuple[Any, ...]]


Engine = Callable[[Federation, PlacedPlan, Path], Result]
"""Runs a placed plan. The path is a folder for this run alone."""

LIMIT = 300.0
"""Seconds after which the parties of a run in this process are stuck. The longest run takes a few."""


@dataclass
class GivenSession(PartyRun):
    """A party's run over a session that exists already."""

    session: _native.Session | None = field(default=None, repr=False)

    def run(self) -> None:
        """As a process would, a party that fails before it has taken its session tells the others that it failed."""
        try:
            super().run()
        except BaseException as error:
            self.abort(diagnose(error).fault.reason_for_peers)
            raise

    def abort(self, reason: str) -> None:
        """End this party's session, if it has one that has not ended."""
        if self.session is not None:
            self.session.abort(reason)

    def _recording(self) -> Recording:
        return Unsigned(self.federation.members, self.me, (), ())

    def _connect(self, head: bytes) -> _native.Session:
        assert self.session is not None
        return self.session


class EveryOwner(GivenSession):
    """A party that has the local results of all owners, whom the operators name as ever."""

    def _owns(self, owner: str) -> bool:
        return True


def ask(federation: Federation, query: str, engine: Engine, folder: Path, to: tuple[str, ...] | None = None) -> Result:
    """The answer of a query. Raises QueryError or RunError."""
    return engine(federation, compile_query(query, federation.catalog, to or federation.recipients), folder)


def in_clear(federation: Federation, plan: PlacedPlan, folder: Path) -> Result:
    """The reference engine without any security: the first recipient plays every party with every party's data."""
    me = plan.recipients[0]
    parties = list(federation.catalog.parties)
    session = _native.Session.clear(parties, _permits_of_all(plan, parties), _operators(plan))
    tables = tuple(replace(table, owner=me) for table in federation.catalog.tables)
    alone = replace(federation, catalog=replace(federation.catalog, tables=tables))
    steps = tuple(_played_by(me, step) for step in plan.steps)
    answer = folder / f"{me}.duckdb"
    errors = together([EveryOwner(alone, me, replace(plan, steps=steps), _silent, answer, session=session)])
    if errors:
        raise diagnose(errors[0]) from errors[0]
    return _read(answer)


def among_threads(federation: Federation, plan: PlacedPlan, folder: Path) -> Result:
    """The federation's engine in this process, each party a thread.

    Every recipient has to get the same answer, and every node to meter what the operators declare.
    """
    answers = {name: folder / f"{name}.duckdb" for name in plan.recipients}
    execute(federation, plan, answers)
    first, *others = (_read(path) for path in answers.values())
    assert all(other == first for other in others), "the recipients got different answers"
    return first


def execute(federation: Federation, plan: PlacedPlan, answers: Mapping[str, Path]) -> None:
    """Run a plan in this process, each party a thread. answers: where each recipient's answer goes."""
    names = participants(plan, federation.catalog.parties)
    sessions = sessions_of(plan) if secure_operators(plan) else []
    by_name = {session.me: session for session in sessions}
    events: dict[str, list[Event]] = {name: [] for name in names}
    runs = [
        GivenSession(federation, name, plan, events[name].append, answers.get(name), session=by_name.get(name))
        for name in names
    ]
    errors = together(runs)
    if errors:
        raise cause([diagnose(error) for error in errors]) from errors[0]
    if sessions:
        assert_as_declared(plan, {name: last_figures(events[name]) for name in names})


def by_processes(federation: Federation, plan: PlacedPlan, folder: Path) -> Result:
    """The real thing: a process for each party, TLS between them."""
    answer = connect(federation.path).run(plan).answer
    assert answer is not None
    return _typed(answer._rows())


def reference(database: duckdb.DuckDBPyConnection, query: str) -> Result:
    """What DuckDB answers."""
    return _typed(database.sql(query))


def _typed(relation: duckdb.DuckDBPyRelation) -> Result:
    # A column of the constant NULL has a type only once it is stored.
    types = [str(each).replace('"NULL"', "INTEGER") for each in relation.types]
    return Result(list(relation.columns), types, relation.fetchall())


def sessions_of(plan: PlacedPlan) -> list[_native.Session]:
    return _native.Session.in_memory(
        list(plan.nodes), _permits(plan), _operators(plan), engine=plan.engine, clients=list(plan.clients)
    )


def _read(path: Path) -> Result:
    """An answer."""
    name = f"answer_{next(NUMBERS)}"
    with DUCKDB.cursor() as database:
        database.execute(f"ATTACH {text(str(path))} AS {name} (READ_ONLY)")
        try:
            return _typed(database.table(f"{name}.answer"))
        finally:
            database.execute(f"DETACH {name}")


def _permits(plan: PlacedPlan) -> str:
    return json.dumps([permit.json() for permit in plan.permits])


def _permits_of_all(plan: PlacedPlan, parties: list[str]) -> str:
    """The permits where everybody is a node, as in clear: what all nodes may learn, all parties may."""
    permits = [permit.json() for permit in plan.permits]
    for permit in permits:
        if set(plan.nodes) <= set(permit["recipients"]) and not permit["columns"]:
            permit["recipients"] = parties
    return json.dumps(permits)


def _operators(plan: PlacedPlan) -> str:
    return json.dumps([operator.json() for operator in secure_operators(plan)])


def _silent(event: Event) -> None:
    """Hears a run's events and says nothing."""


def _played_by(me: str, step: Step) -> Step:
    """The step with its local work at one party. What the native session executes names the real parties still."""
    match step:
        case LocalStep():
            return replace(step, party=me)
        case _:
            return step


def together(runs: list[GivenSession], limit: float = LIMIT) -> list[BaseException]:
    """Run all parties, each in a thread, and collect what went wrong. limit: seconds after which they are aborted."""
    ended: queue.Queue[tuple[str, BaseException | None]] = queue.Queue()

    def party(run: GivenSession) -> None:
        try:
            run.run()
        except BaseException as error:
            ended.put((run.me, error))
        else:
            ended.put((run.me, None))

    for run in runs:  # daemons, because no thread can be ended from outside
        threading.Thread(target=party, args=(run,), name=run.me, daemon=True).start()
    deadline = time.monotonic() + limit
    ends: dict[str, BaseException | None] = {}
    while len(ends) < len(runs):
        try:
            me, error = ended.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            for run in runs:
                run.abort("the test took too long")
            stuck = ", ".join(run.me for run in runs if run.me not in ends)
            pytest.fail(f"{stuck} did not end in {limit:.0f} s; the others: {ends}")
        ends[me] = error
    return [error for run in runs if (error := ends[run.me]) is not None]

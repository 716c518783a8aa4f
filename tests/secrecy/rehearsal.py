"""A whole run by the production code of all parties, in one process, with everything they see recorded."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from benches.unsigned import Unsigned

from tacit import _native
from tacit.agent.events import Event
from tacit.agent.federation import Federation
from tacit.agent.keys import make_keys
from tacit.agent.party import PartyRun
from tacit.agent.recording import Recording
from tacit.agent.steps import secure_operators
from tacit.cli.demo.scenario import DemoTable, Scenario, write_federation
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

Files = dict[str, str]
"""What each table's CSV file holds, by the table's name."""


@dataclass(frozen=True)
class Seen:
    """What one party saw of a run.

    messages: all messages in order, as (step, round, peer, direction, bytes). opened: (step, number of bytes) of every
    value that became clear. released: the opened rows of every release step, sorted, because their order is drawn at
    random. events: what the party reported. error: how the run ended there, None in order.
    """

    messages: list[tuple[Any, ...]]
    opened: list[tuple[str, int]]
    released: dict[int, list[tuple[Any, ...]]]
    events: list[Event]
    error: BaseException | None


@dataclass
class Rehearsal(PartyRun):
    """A party's run over a session within this process."""

    session: _native.Session | None = None
    released: dict[int, list[tuple[Any, ...]]] = field(default_factory=dict)

    def _recording(self) -> Recording:
        return Unsigned(self.federation.members, self.me, (), ())

    def _connect(self, head: bytes) -> _native.Session:
        assert self.session is not None
        return self.session

    def _finish(self, engine: Any, reporter: Any) -> None:
        for step, opened in self._opened.items():
            columns = pa.table(opened).columns
            self.released[step] = sorted(zip(*(column.to_pylist() for column in columns), strict=True), key=repr)
        super()._finish(engine, reporter)


def write(scenario: Scenario, tables: tuple[DemoTable, ...], files: Files, folder: Path) -> Federation:
    """The scenario's federation and keys, and the given content of its tables' files."""
    folder.mkdir(exist_ok=True)
    ports = [7101 + place for place in range(len(scenario.everybody))]
    write_federation(scenario, tables, ports, folder)
    for table in tables:
        path = folder / table.owner / f"{table.name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[table.name])
    federation = Federation.load(folder / "federation.toml")
    make_keys(federation.members, federation.catalog.parties, replace=False)
    return federation


def compiled(scenario: Scenario, federation: Federation) -> PlacedPlan:
    """The plan of the scenario's query."""
    return compile_query(scenario.query, federation.catalog, federation.recipients)


def rehearse(
    federation: Federation,
    plan: PlacedPlan,
    plans: dict[str, PlacedPlan] | None = None,
    idle_timeout: float = 30.0,
    operators: PlacedPlan | None = None,
) -> dict[str, Seen]:
    """Run a plan, each party in a thread. plans: parties that were made to execute another than the approved one.

    operators: the plan of which all parties have approved the operators, if not of that of which the permits are.
    """
    permits = json.dumps([permit.json() for permit in plan.permits])
    listed = json.dumps([operator.json() for operator in secure_operators(operators or plan)])
    sessions = _native.Session.in_memory(
        list(plan.nodes),
        permits,
        listed,
        engine=plan.engine,
        idle_timeout=idle_timeout,
        record=True,
        clients=list(plan.clients),
    )
    followed = {session.me: (plans or {}).get(session.me, plan) for session in sessions}
    with ThreadPoolExecutor(len(sessions)) as threads:
        seen = threads.map(lambda session: _one(federation, followed[session.me], session), sessions)
        return {session.me: each for session, each in zip(sessions, seen, strict=True)}


def _one(federation: Federation, plan: PlacedPlan, session: _native.Session) -> Seen:
    events: list[Event] = []
    run = Rehearsal(federation, session.me, plan, events.append, session=session)
    error: BaseException | None = None
    try:
        run.run()
    except Exception as caught:
        session.abort("it failed")  # without effect if the run had taken the session, or else the others wait for ever
        error = caught
    entries = session.transcript()
    messages = [
        (entry["step"], entry["round"], entry["peer"], entry["direction"], entry["bytes"])
        for entry in entries
        if "opened" not in entry
    ]
    opened = [(entry["step"], len(entry["opened"])) for entry in entries if "opened" in entry]
    return Seen(messages, opened, run.released, events, error)

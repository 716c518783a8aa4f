"""Tables of which all parties may read the keys, in federations with an owner that is no node; runs over them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tacit import _native
from tacit.agent.events import Event
from tacit.agent.federation import Federation
from tacit.agent.reporter import Reporter
from tacit.agent.steps import participants, secure_operators
from tacit.local.database import quoted
from tacit.local.duckdb_engine import LocalEngine
from tacit.plan.algebra.relations import Relation
from tacit.plan.physical.placed import KeysStep, LocalStep, PlacedPlan
from tacit.plan.rules import trusting

from .costs import last_figures
from .federations import Declared, store
from .running import GivenSession

PARTIES = ("a", "b", "c", "d")
"""The last one is no node."""

TABLE = """[tables.{name}]
owner = "{owner}"
path = "{owner}/{name}.csv"
{facts}columns.pid = {{ type = "INTEGER", min = 0, max = 9999999, nullable = true, readers = ["a", "b", "c", "d"] }}
columns.site = {{ type = "VARCHAR", max_length = 4, readers = ["a", "b", "c", "d"] }}
columns.day = {{ type = "DATE", min = 2020-01-01, max = 2020-12-31 }}
columns.cost = {{ type = "INTEGER", min = -100, max = 1000, nullable = true }}
"""
HEADER = "pid,site,day,cost"
Row = tuple[object, ...]
BOTH = "(SELECT * FROM at_a UNION ALL SELECT * FROM at_d) v"
ALL = "(SELECT * FROM at_a UNION ALL SELECT * FROM at_b UNION ALL SELECT * FROM at_d) v"


def nobody_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """No party orders rows by keys, which all may read where rows are sliced: plans choose between both by price."""
    monkeypatch.setattr(trusting, "_permitted", lambda stage, pricing: {})


def declared(name: str, owner: str, rows: list[Row], facts: str) -> Declared:
    lines = [HEADER, *(",".join("" if each is None else str(each) for each in row) for row in rows)]
    return Declared(TABLE.format(name=name, owner=owner, facts=facts), "\n".join(lines) + "\n")


def federation_of(folder: Path, keys: Path, tables: dict[str, list[Row]], rows: int | None = None) -> Federation:
    """Tables of the owners in their names; one of people belongs to a, in which a patient is once. rows: declared."""
    bound = "" if rows is None else f"rows = {rows}\n"
    listed = {
        name: declared(name, "a", each, f'{bound}unique = [["pid"]]\n')
        if name == "people"
        else declared(name, name[-1], each, bound)
        for name, each in tables.items()
    }
    return store(listed, folder, keys, clients=("d",))


@dataclass
class Watched(GivenSession):
    """A party's run that keeps the keys that it takes in. changed: what this party runs in place of local parts."""

    changed: dict[int, Relation] = field(default_factory=dict)
    received: dict[int, list[Row]] = field(default_factory=dict)

    def _keys(self, session: _native.Session, engine: LocalEngine, step: KeysStep) -> int | None:
        rows = super()._keys(session, engine, step)
        if rows is not None:
            self.received[step.id] = engine.database.execute(f"FROM {quoted(f'opened {step.id}')}").fetchall()
        return rows

    def _run_local(self, engine: LocalEngine, reporter: Reporter, step: LocalStep) -> None:
        super()._run_local(engine, reporter, replace(step, relation=self.changed.get(step.id, step.relation)))


@dataclass
class Seen:
    """What a party saw of a run."""

    received: dict[int, list[Row]]
    opened: set[str]
    messages: list[tuple[Any, ...]]
    figures: Any
    error: BaseException | None


Changes = dict[str, dict[int, Relation]]
"""What parties run in place of local parts, by their steps."""


def watched(
    federation: Federation, plan: PlacedPlan, changed: Changes | None = None, approved: PlacedPlan | None = None
) -> dict[str, Seen]:
    """Run a plan, each party a thread, and keep what each saw. approved: the plan of which the permits are."""
    permits = json.dumps([permit.json() for permit in (approved or plan).permits])
    operators = json.dumps([operator.json() for operator in secure_operators(plan)])
    clients = list(plan.clients)
    sessions = _native.Session.in_memory(
        list(plan.nodes), permits, operators, engine=plan.engine, record=True, clients=clients
    )
    assert {session.me for session in sessions} == set(participants(plan, federation.catalog.parties))

    def one(session: _native.Session) -> Seen:
        events: list[Event] = []
        run = Watched(federation, session.me, plan, events.append, session=session)
        run.changed = (changed or {}).get(session.me, {})
        error: BaseException | None = None
        try:
            run.run()
        except Exception as caught:
            session.abort("it failed")
            error = caught
        entries = session.transcript()
        opened = {entry["step"].split("/")[0] for entry in entries if "opened" in entry}
        sent = [
            (entry["step"], entry["round"], entry["peer"], entry["direction"], entry["bytes"])
            for entry in entries
            if "opened" not in entry
        ]
        return Seen(run.received, opened, sent, last_figures(events) if error is None else {}, error)

    with ThreadPoolExecutor(len(sessions)) as threads:
        return dict(zip((each.me for each in sessions), threads.map(one, sessions), strict=True))

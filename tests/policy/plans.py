"""The tiny tables as a federation's files, and guarded queries as placed plans over them."""

from __future__ import annotations

from pathlib import Path

from tests.differential.federations import Declared, store

from tacit.agent.federation import Federation
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.place import place

from .worlds import CATALOG, ROWS, Asked, Case, Tables

COLUMNS = {
    "ssn": 'type = "INTEGER", min = 0, max = 9',
    "city": 'type = "INTEGER", min = 0, max = 2, nullable = true',
    "pay": 'type = "INTEGER", min = -5, max = 20, nullable = true',
    "vip": 'type = "BOOLEAN", nullable = true',
    "id": 'type = "INTEGER", min = 0, max = 99',
    "person": 'type = "INTEGER", min = 0, max = 9, nullable = true',
    "kind": 'type = "INTEGER", min = 0, max = 2, nullable = true',
    "cost": 'type = "INTEGER", min = 0, max = 9, nullable = true',
}


def stored(tables: Tables, folder: Path, keys: Path, engine: str = "rep3") -> Federation:
    """The files of the tables' owners. Of two nodes b has what c has of three."""
    found = {}
    for table in CATALOG.tables:
        owner = "b" if engine == "two" and table.owner == "c" else table.owner
        names = [each.field.name for each in table.columns]
        unique = [f'unique = [["{name}"]]' for keys_ in table.unique for name in keys_]
        lines = [f"[tables.{table.name}]", f'owner = "{owner}"', f'path = "{owner}/{table.name}.csv"', f"rows = {ROWS}"]
        lines += [*unique, *(f"columns.{name} = {{ {COLUMNS[name]} }}" for name in names)]
        rows = ["" if len(row) == 0 else ",".join(map(_csv, row)) for row in tables[table.name]]
        found[table.name] = Declared("\n".join(lines), "\n".join([",".join(names), *rows]) + "\n")
    return store(found, folder, keys, engine=engine)


def planned(case: Case, federation: Federation, recipient: str) -> PlacedPlan:
    """The placed plan of a guarded query."""
    return place(Asked(case, federation.catalog).relation, federation.catalog, (recipient,), case.query)


def _csv(value: object) -> str:
    return "" if value is None else str(value).lower()

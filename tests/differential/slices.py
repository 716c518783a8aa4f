"""Tables of which all parties may read the keys, in federations with an owner that is no node."""

from __future__ import annotations

from pathlib import Path

from tacit.agent.federation import Federation

from .federations import Declared, store

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

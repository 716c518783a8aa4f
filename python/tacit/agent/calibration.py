"""Prices of this machine, measured: representative queries run among nodes of this process, on made-up rows.

The planner makes their plans, so that what is measured is what queries do. Native code runs them and finds the prices
by which their steps take what they took.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tacit import _native
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Link, Table
from tacit.plan.physical import engines
from tacit.plan.physical.placed import NativeStep
from tacit.sql import compile_query

PARTIES = ("a", "b", "c")

BOTH = "(SELECT k, v FROM l UNION ALL SELECT k, w AS v FROM r) t"
"""What both owners have: no owner can sort it."""

QUERIES = (
    f"SELECT COUNT(*) AS n, SUM(v) AS s FROM {BOTH} WHERE v + v > (SELECT MAX(w) FROM r)",
    f"SELECT k, v FROM {BOTH} ORDER BY k, v LIMIT 10",
    f"SELECT k, COUNT(*) AS n, SUM(v) AS s FROM {BOTH} GROUP BY k",
    "SELECT COUNT(*) AS n, SUM(r.w) AS s FROM l JOIN r ON l.k = r.k",
    f"SELECT COUNT(*) AS n, SUM(t.v) AS s FROM u JOIN {BOTH} ON u.k = t.k",
    "SELECT SUM(l.v * r.w) AS s, SUM(r.w * r.w) AS q FROM l JOIN r ON l.k = r.k",
)

ROWS = (1 << 13, 1 << 16)
"""Of both owners together: few, where a step's beginnings count, and many."""

LINKS = (None, Link(0.00005, 1e9), Link(0.02, 5e6))
"""Networks by which an engine chooses other protocols: none, a fast one, and a slow one."""


@dataclass(frozen=True)
class Measured:
    """What a step of a plan took of a node's processor, in seconds, and what was predicted of it by the prices before
    and by the new ones."""

    name: str
    taken: float
    predicted: float
    fitted: float


@dataclass(frozen=True)
class Prices:
    """A table of prices as JSON, and the steps that it follows from."""

    table: str
    steps: tuple[Measured, ...]


def calibrate(date: str, machine: str, tell: Callable[[str], None] = lambda line: None) -> Prices:
    """The prices of this machine. tell: is told what is measured. Raises native errors."""
    calibration = _native.Calibration()
    catalogs = list(_catalogs())
    for number, catalog in enumerate(catalogs, start=1):
        rows = sum(table.rows or 0 for table in catalog.tables[:2])
        declared = "no declared link" if catalog.link is None else f"a link of {catalog.link.bandwidth / 1e6:g} MB/s"
        tell(f"{number} of {len(catalogs) + 1}: {len(QUERIES)} queries on {catalog.engine}, {rows} rows, {declared}")
        link = None if catalog.link is None else (catalog.link.latency, catalog.link.bandwidth)
        for query in QUERIES:
            calibration.run(catalog.engine, _operators(catalog, query), nodes=list(catalog.nodes), link=link)
    tell(f"{len(catalogs) + 1} of {len(catalogs) + 1}: intersections")
    table, steps = calibration.prices(date, machine)
    return Prices(table, tuple(Measured(**step) for step in steps))


def _catalogs() -> Iterator[Catalog]:
    """What the queries are asked of: their engines, with few rows and with many, on each network it looks at."""
    for engine, count in engines.of_queries().items():
        for rows in ROWS:
            for link in LINKS if count == 2 else LINKS[:1]:
                yield Catalog(PARTIES[:count], engine, PARTIES[:count], _tables(rows), link)


def _operators(catalog: Catalog, query: str) -> str:
    """The operators of a query's plan, as JSON."""
    plan = compile_query(query, catalog, catalog.nodes[:1])
    return json.dumps([step.operator.json() for step in plan.steps if isinstance(step, NativeStep)])


def _tables(rows: int) -> tuple[Table, ...]:
    key, value = Integer(0, (1 << 32) - 1, "BIGINT"), Integer(0, 1_000_000, "BIGINT")

    def table(name: str, owner: str, rows: int, *columns: tuple[str, Integer]) -> Table:
        found = tuple(Column(Field(column, type_, False)) for column, type_ in columns)
        unique = () if name == "r" else (frozenset({"k"}),)
        return Table(name, owner, found, unique, rows)

    return (
        table("l", "a", rows // 2, ("k", key), ("v", value)),
        table("r", "b", rows // 2, ("k", key), ("w", value)),
        table("u", "a", rows // 4, ("k", key)),
    )


def as_toml(table: str) -> str:
    """A table of prices as the text of ``prices.toml``."""
    told = json.loads(table)
    lines = [f"{name} = {_value(value)}" for name, value in told.items() if not isinstance(value, dict)]
    for engine in engines.of_queries():
        for part, prices in told[engine].items():
            lines += ["", f"[{engine}.{part}]", *(f"{name} = {_value(price)}" for name, price in prices.items())]
    lines += ["", "[matching]"]
    for protocol, price in told["matching"].items():
        members = ", ".join(f"{name} = {_value(each)}" for name, each in price.items())
        lines.append(f"{protocol} = {{ {members} }}")
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    """A number in TOML, of which four digits count, or a text."""
    match value:
        case int():
            return f"{round(float(f'{value:.4g}')):_}"
        case float():
            return f"{value:.4g}" if value else "0.0"
        case _:
            return json.dumps(value, ensure_ascii=False)

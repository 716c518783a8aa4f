"""Conditions with a thousand constants: lists and chains of AND and OR, where one party computes and where nodes do.

Sums of hundreds of terms, too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.demo.scenario import free_ports
from tacit.plan import explain_json, explain_text, predict
from tacit.plan.algebra.expressions import FEW, joined
from tacit.plan.algebra.relations import Call, ColumnRef, Expr
from tacit.plan.algebra.types import Boolean
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import Declared, pooled, store
from .running import Engine, among_threads, ask, by_processes, in_clear, reference

MANY = 1000
TERMS = 400
"""Of a sum: DuckDB itself refuses more than a thousand levels."""
ROWS = 300
NUMBERS = ", ".join(str(3 * number) for number in range(MANY))
WORDS = ", ".join(f"'w{number}'" for number in range(0, 2 * MANY, 2))
BOTH = "x JOIN y ON x.id = y.id"

QUERIES = {
    "in": f"SELECT COUNT(*) AS n FROM x WHERE v IN ({NUMBERS})",
    "not in": f"SELECT COUNT(*) AS n FROM x WHERE v NOT IN ({NUMBERS})",
    "words": f"SELECT COUNT(*) AS n FROM x WHERE t IN ({WORDS})",
    "or": "SELECT COUNT(*) AS n FROM x WHERE " + " OR ".join(f"v = {3 * each}" for each in range(MANY)),
    "and": "SELECT COUNT(*) AS n FROM x WHERE " + " AND ".join(f"v <> {3 * each}" for each in range(MANY)),
    "in of both": f"SELECT COUNT(*) AS n FROM {BOTH} WHERE v + w IN ({NUMBERS})",
    "not in of both": f"SELECT COUNT(*) AS n FROM {BOTH} WHERE v + w NOT IN ({NUMBERS})",
    "and of both": f"SELECT COUNT(*) AS n FROM {BOTH} WHERE "
    + " AND ".join(f"v + w <> {3 * each}" for each in range(MANY)),
    "of groups": f"SELECT t, SUM(v) AS s FROM {BOTH} GROUP BY t HAVING COUNT(*) IN ({NUMBERS})",
    "sum": f"SELECT SUM({' + '.join(['v'] * TERMS)} - v) AS s, MIN({' - '.join(['w', 'v'] * TERMS)}) AS m FROM {BOTH}",
    "sums": f"SELECT t, {' + '.join(['SUM(v)'] * TERMS)} FROM {BOTH} WHERE {' - '.join(['v'] * TERMS)} < w GROUP BY t",
    "in a choice": f"SELECT SUM(CASE WHEN w IN ({NUMBERS}) THEN v ELSE 1 END) AS s FROM {BOTH}",
}

CASES: list[tuple[str, Engine]] = [
    *((name, in_clear) for name in QUERIES),
    ("in of both", among_threads),
    ("sum", among_threads),
    ("not in of both", by_processes),
]


def table(name: str, owner: str, value: str, spread: int) -> Declared:
    """A key, a number that is mostly there, and a word."""
    section = f"""[tables.{name}]
owner = "{owner}"
path = "{owner}/{name}.csv"
rows = {ROWS}
unique = [["id"]]
columns.id = {{ type = "INTEGER", min = 0, max = 9999 }}
columns.{value} = {{ type = "INTEGER", min = 0, max = 4000, nullable = true }}
columns.t{"" if name == "x" else "2"} = {{ type = "VARCHAR", max_length = 5 }}
"""
    rows = (f"{row},{'' if row % 7 == 3 else row * spread % 4000},w{row % 11}" for row in range(ROWS))
    return Declared(section, "\n".join([f"id,{value},t{'' if name == 'x' else '2'}", *rows, ""]))


TABLES = {"x": table("x", "a", "v", 13), "y": table("y", "b", "w", 5)}


@pytest.mark.parametrize(("name", "engine"), CASES, ids=[f"{name}, {run.__name__}" for name, run in CASES])
def test_a_thousand_constants_mean_what_they_mean_in_duckdb(
    name: str, engine: Engine, keys: Path, tmp_path: Path
) -> None:
    federation = store(TABLES, tmp_path, keys, free_ports(3))
    with pooled(federation) as database:
        expected = reference(database, QUERIES[name])
    assert_equal(ask(federation, QUERIES[name], engine, tmp_path), expected, (), total=False)
    assert expected.rows, "a test of nothing"


@pytest.mark.parametrize("name", ["or", "and of both", "of groups", "sum", "sums", "in a choice"])
def test_a_thousand_constants_are_explained(name: str, keys: Path, tmp_path: Path) -> None:
    federation = store(TABLES, tmp_path, keys)
    plan = compile_query(QUERIES[name], federation.catalog, federation.recipients)
    costs = predict(plan)
    assert explain_text(plan, costs) and explain_json(plan, costs)


def depth(expr: Expr) -> int:
    return 1 + max(map(depth, expr.args)) if isinstance(expr, Call) else 0


def test_the_depth_of_a_chain_hardly_grows_with_its_length() -> None:
    tests: list[Expr] = [ColumnRef(f"c{number}", Boolean(), False) for number in range(20_000)]
    assert depth(joined("or", tests[:FEW])) == FEW - 1
    assert depth(joined("or", tests)) < 2 * FEW

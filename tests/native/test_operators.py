"""Every operator once, on every engine, against DuckDB on the joined clear data."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tacit import _native

from .plans import ENGINES, JSON, NODES, Plan, Rows, Run, bits, ring64, ring128, run_in_clear

INT = bits(20, signed=True)
NULLABLE_INT = bits(20, signed=True, nullable=True)
FLAG = bits(1)
HASH = bits(128, nullable=True)
NAME = bits(8 * 6, nullable=True)


def people(seed: int, rows: int) -> pa.Table:
    """Distinct ids, a group with NULLs, an amount with NULLs, a name."""
    source = random.Random(seed)
    return pa.table(
        {
            "id": pa.array(source.sample(range(-50, 50), rows), pa.int32()),
            "grp": pa.array([source.choice([None, 1, 2, 3, -4]) for _ in range(rows)], pa.int16()),
            "amount": pa.array([source.choice([None, *range(-999, 999)]) for _ in range(rows)], pa.int64()),
            "name": pa.array([source.choice([None, "ann", "bob", "", "zoé"]) for _ in range(rows)]),
        }
    )


COLUMNS = {"id": INT, "grp": NULLABLE_INT, "amount": ring64(20, nullable=True), "name": NAME}
ENCODE = {"name": "bytes"}


def col(name: str) -> JSON:
    return {"col": name}


def call(op: str, *args: JSON, kind: JSON, **members: Any) -> JSON:
    return {"op": op, "args": list(args), "kind": kind, **members}


def constant(value: int, kind: JSON = INT) -> JSON:
    return {"int": str(value), "kind": kind}


def expect(actual: Rows, query: str, *, ordered: bool = False, **tables: pa.Table) -> None:
    """The rows are those of the query over the clear tables; NULL and order as SQL has them."""
    with duckdb.connect() as database:
        for name, table in tables.items():
            database.register(name, table)
        expected = [tuple(row) for row in database.sql(query).fetchall()]
    as_numbers = [tuple(int(v) if hasattr(v, "as_tuple") else v for v in row) for row in expected]
    rows = [tuple(int(v) if hasattr(v, "as_tuple") else v for v in row) for row in actual]
    assert rows == as_numbers if ordered else sorted(rows, key=repr) == sorted(as_numbers, key=repr)


@ENGINES
def test_input_and_release(run: Run) -> None:
    table, plan = people(1, 30), Plan()
    step = plan.release(plan.input("b", table, COLUMNS, rows=37, encode=ENCODE), list(COLUMNS), to=["a", "c"])
    expect(run(plan)[step], "FROM t", t=table)


@ENGINES
def test_an_announced_size_and_an_order_that_is_kept(run: Run) -> None:
    table, plan = people(2, 20), Plan()
    step = plan.release(plan.input("c", table, COLUMNS, encode=ENCODE, ordered=True), list(COLUMNS), ordered=True)
    expect(run(plan)[step], "FROM t", t=table, ordered=True)


@ENGINES
def test_only_the_size_of_the_source_is_announced(run: Run) -> None:
    table, plan = people(2, 20), Plan()
    shared = plan.input("c", table, COLUMNS, encode=ENCODE, pad_to=33)
    counted = {"name": "n", "function": "count_rows", "column": None, "kind": ring64(32)}
    step = plan.release(plan.add("aggregate", input=shared, aggregates=[counted]), ["n"])
    assert run(plan)[step] == [(20,)]


def test_a_size_is_not_announced_in_place_of_that_of_the_source() -> None:
    plan = Plan()
    plan.release(plan.input("c", people(2, 20), COLUMNS, encode=ENCODE, pad_to=33), list(COLUMNS))
    plan.pad_to.clear()
    with pytest.raises(_native.InputError, match="padded to those of their source: give its number"):
        run_in_clear(plan)


@ENGINES
def test_filter(run: Run) -> None:
    table, plan = people(3, 30), Plan()
    shared = plan.input("a", table, COLUMNS, rows=40, encode=ENCODE)
    positive = call("gt", col("amount"), constant(0), kind=bits(1, nullable=True))
    bob = call("eq", col("name"), {"text": "bob", "encode": "bytes", "kind": bits(8 * 6)}, kind=bits(1, nullable=True))
    predicate = call("or", positive, call("not", bob, kind=bits(1, nullable=True)), kind=bits(1, nullable=True))
    step = plan.release(plan.add("filter", input=shared, predicate=predicate), list(COLUMNS))
    expect(run(plan)[step], "FROM t WHERE amount > 0 OR NOT name = 'bob'", t=table)


@ENGINES
def test_project(run: Run) -> None:
    table, plan = people(4, 30), Plan()
    shared = plan.input("a", table, COLUMNS, rows=30, encode=ENCODE)
    number = ring64(40, nullable=True)
    columns = {
        "total": call("add", col("id"), col("amount"), kind=number),
        "less": call("sub", col("amount"), col("id"), kind=number),
        "product": call("mul", col("id"), col("amount"), kind=number),
        "minus": call("neg", col("amount"), kind=number),
        "hundred": call("scale", col("amount"), kind=number, by="100"),
        "missing": call("is_null", col("grp"), kind=FLAG),
        "chosen": call(
            "if",
            call("le", col("id"), constant(0), kind=FLAG),
            col("id"),
            col("grp"),
            kind=bits(20, signed=True, nullable=True),
        ),
        "same": {**col("name")},
    }
    kinds = {"missing": FLAG, "chosen": NULLABLE_INT, "same": NAME}
    listed = [{"name": name, "expr": expr, "kind": kinds.get(name, number)} for name, expr in columns.items()]
    step = plan.release(plan.add("project", input=shared, columns=listed), list(columns))
    query = """SELECT id + amount, amount - id, id * amount, -amount, 100 * amount, grp IS NULL,
               CASE WHEN id <= 0 THEN id ELSE grp END, name FROM t"""
    expect(run(plan)[step], query, t=table)


@ENGINES
def test_union(run: Run) -> None:
    tables = {name: people(seed, 12) for seed, name in enumerate(("x", "y", "z"))}
    plan = Plan()
    steps = [
        plan.input(node, table, COLUMNS, rows=15, encode=ENCODE)
        for node, table in zip(NODES, tables.values(), strict=True)
    ]
    listed = [{"name": name, "kind": kind} for name, kind in COLUMNS.items()]
    step = plan.release(plan.add("union", inputs=steps, columns=listed), list(COLUMNS))
    expect(run(plan)[step], "FROM x UNION ALL FROM y UNION ALL FROM z", **tables)


@ENGINES
def test_join(run: Run) -> None:
    left, plan = people(5, 40), Plan()
    source = random.Random(6)
    ids = [source.choice([None, *range(-50, 50)]) for _ in range(60)]
    right = pa.table({"who": pa.array(ids, pa.int32()), "paid": [source.randrange(1000) for _ in ids]})
    first = plan.input("a", left, COLUMNS, rows=45, encode=ENCODE)
    second = plan.input("b", right, {"who": NULLABLE_INT, "paid": ring64(20)}, rows=64)
    joined = plan.add(
        "join", left=first, right=second, left_keys=["id"], right_keys=["who"], left_columns=["grp", "name"],
        right_columns=["who", "paid"],
    )  # fmt: skip
    step = plan.release(joined, ["who", "paid", "grp", "name"])
    expect(run(plan)[step], "SELECT who, paid, grp, name FROM l JOIN r ON id = who", l=left, r=right)


@ENGINES
def test_join_on_hashes_of_strings(run: Run) -> None:
    left = pa.table({"key": ["ann", "bob", "a name of more than sixteen bytes"], "x": [1, 2, 3]})
    right = pa.table({"other": ["bob", None, "carl", "a name of more than sixteen bytes", "bob"], "y": [1, 2, 3, 4, 5]})
    plan = Plan()
    first = plan.input("a", left, {"key": HASH, "x": INT}, rows=4, encode={"key": "hash"})
    second = plan.input("b", right, {"other": HASH, "y": INT}, rows=7, encode={"other": "hash"})
    joined = plan.add(
        "join",
        left=first,
        right=second,
        left_keys=["key"],
        right_keys=["other"],
        left_columns=["x"],
        right_columns=["y"],
    )
    step = plan.release(joined, ["x", "y"])
    expect(run(plan)[step], "SELECT x, y FROM l JOIN r ON key = other", l=left, r=right)


@ENGINES
def test_broadcast_of_an_aggregate(run: Run) -> None:
    table, plan = people(7, 20), Plan()
    shared = plan.input("a", table, COLUMNS, rows=25, encode=ENCODE)
    largest = {"name": "most", "function": "max", "column": "amount", "kind": NULLABLE_INT}
    scalar = plan.add("aggregate", input=shared, aggregates=[largest])
    step = plan.release(plan.add("broadcast", input=shared, scalar=scalar), ["id", "most"])
    expect(run(plan)[step], "SELECT id, (SELECT max(amount) FROM t) FROM t", t=table)


AGGREGATES: list[JSON] = [
    {"name": "n", "function": "count_rows", "column": None, "kind": ring64(32)},
    {"name": "known", "function": "count", "column": "amount", "kind": ring64(32)},
    {"name": "total", "function": "sum", "column": "amount", "kind": ring64(40, nullable=True)},
    {"name": "low", "function": "min", "column": "amount", "kind": NULLABLE_INT},
    {"name": "high", "function": "max", "column": "amount", "kind": NULLABLE_INT},
    {"name": "names", "function": "count_distinct", "column": "name", "kind": ring64(32)},
]
SELECTED = "count(*), count(amount), sum(amount), min(amount), max(amount), count(DISTINCT name)"


@ENGINES
def test_group_by(run: Run) -> None:
    table, plan = people(8, 50), Plan()
    shared = plan.input("a", table, COLUMNS, rows=64, encode=ENCODE)
    grouped = plan.add("group_by", input=shared, keys=["grp"], aggregates=AGGREGATES, groups=None)
    step = plan.release(grouped, ["grp", *(a["name"] for a in AGGREGATES)])
    expect(run(plan)[step], f"SELECT grp, {SELECTED} FROM t GROUP BY grp", t=table)


@ENGINES
def test_distinct(run: Run) -> None:
    table, plan = people(9, 50), Plan()
    shared = plan.input("a", table, COLUMNS, rows=50, encode=ENCODE)
    step = plan.release(
        plan.add("group_by", input=shared, keys=["grp", "name"], aggregates=[], groups=30), ["grp", "name"]
    )
    expect(run(plan)[step], "SELECT DISTINCT grp, name FROM t", t=table)


@ENGINES
def test_aggregate(run: Run) -> None:
    for rows in (0, 50):
        table, plan = people(10, rows), Plan()
        shared = plan.input("a", table, COLUMNS, rows=51, encode=ENCODE)
        step = plan.release(plan.add("aggregate", input=shared, aggregates=AGGREGATES), [a["name"] for a in AGGREGATES])
        expect(run(plan)[step], f"SELECT {SELECTED} FROM t", t=table)


@ENGINES
def test_sort_and_limit(run: Run) -> None:
    table, plan = people(11, 40), Plan()
    shared = plan.input("a", table, COLUMNS, rows=50, encode=ENCODE)
    keys = [
        {"column": "grp", "descending": True, "nulls_first": False},
        {"column": "id", "descending": False, "nulls_first": False},
    ]
    head = plan.add("limit", input=plan.add("sort", input=shared, keys=keys), count=10, offset=5)
    step = plan.release(head, ["grp", "id", "amount"], ordered=True)
    query = "SELECT grp, id, amount FROM t ORDER BY grp DESC NULLS LAST, id LIMIT 10 OFFSET 5"
    expect(run(plan)[step], query, t=table, ordered=True)


@ENGINES
def test_wide_sums(run: Run) -> None:
    table = pa.table({"x": pa.array([2**62, 2**62, -1, 2**62], pa.int64())})
    plan = Plan()
    shared = plan.input("c", table, {"x": bits(64, signed=True)}, rows=5)
    total = {"name": "total", "function": "sum", "column": "x", "kind": ring128(80, nullable=True)}
    step = plan.release(plan.add("aggregate", input=shared, aggregates=[total]), ["total"])
    assert [int(value) for (value,) in run(plan)[step]] == [3 * 2**62 - 1]

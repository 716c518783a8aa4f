"""Every operator of the algebra, rendered and run by DuckDB, against SQL written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tacit.local.errors import DataError
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    Join,
    Limit,
    Literal,
    Project,
    Relation,
    Sort,
    SortKey,
    Union,
)
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.fields import field_of

from .tables import parquet, rows, scan, table, typed_rows

INTEGER = Integer(-(2**31), 2**31 - 1, "INTEGER")
BIGINT = Integer(-(2**63), 2**63 - 1, "BIGINT")
MONEY = Decimal(10, 2, -(10**10) + 1, 10**10 - 1)
DAY = Date(-719162, 2932896)
MOMENT = Timestamp(-62135596800000000, 253402300799999999)
TEXT = Varchar(20)

PEOPLE = """SELECT * FROM (VALUES
    (1, 'ann', 1.50, DATE '2024-02-29', true, 7),
    (2, 'it''s', -0.25, DATE '1969-12-31', false, -7),
    (3, NULL, 99999999.99, NULL, NULL, 2147483647),
    (4, 'ann', NULL, DATE '0001-01-01', true, NULL),
    (5, '', -99999999.99, DATE '9999-12-31', NULL, 0)) t(id, name, pay, day, ok, n)"""
TYPED = "SELECT id::BIGINT AS id, name, pay::DECIMAL(10,2) AS pay, day, ok, n::INTEGER AS n FROM"
VISITS = "SELECT unnest([1, 1, 2, 9, NULL])::BIGINT AS person, unnest([10, 20, 30, 40, 50])::INTEGER AS minutes"


@pytest.fixture
def people(tmp_path: Path) -> Table:
    """Five people; every column but id can be NULL."""
    path = parquet(tmp_path / "people.parquet", f"{TYPED} ({PEOPLE})")
    columns: dict[str, Any] = {"id": BIGINT, "name": (TEXT,), "pay": (MONEY,), "day": (DAY,), "ok": (Boolean(),)}
    return table("people", path, {**columns, "n": (INTEGER,)}, unique=(frozenset({"id"}),))


@pytest.fixture
def visits(tmp_path: Path) -> Table:
    """Visits of people; one of nobody known, one of NULL."""
    return table("visits", parquet(tmp_path / "visits.parquet", VISITS), {"person": (BIGINT,), "minutes": INTEGER})


def ref(relation: Relation, name: str) -> ColumnRef:
    """A column of a relation."""
    found = field_of(relation, name)
    return ColumnRef(found.name, found.type, found.nullable)


def call(op: Op, type_: Type, *args: Expr) -> Call:
    """A call that may be NULL."""
    return Call(op, args, type_, True)


def expect(relation: Relation, query: str, *tables: Table, ordered: bool = False) -> None:
    """The relation gives the rows and types of a query over the tables."""
    found, types = typed_rows(relation, *tables)
    with duckdb.connect() as database:
        for each in tables:
            database.execute(f"CREATE VIEW {each.name} AS FROM '{each.path}'")
        wanted = database.sql(query)
        assert types == [str(each) for each in wanted.types]
        rows = wanted.fetchall()
    assert found == rows if ordered else sorted(map(repr, found)) == sorted(map(repr, rows))


def literal(value: Any, type_: Type) -> Literal:
    """A constant in encoded form."""
    return Literal(value, type_)


def _expressions(t: Relation) -> list[tuple[str, Expr]]:
    ident, name, pay, day, ok, n = (ref(t, each) for each in ("id", "name", "pay", "day", "ok", "n"))
    wide, leap = Decimal(12, 4, 0, 0), literal(1709164800500000, MOMENT)
    return [
        ("id + 1", call("add", BIGINT, ident, literal(1, BIGINT))),
        ("id - n", call("sub", BIGINT, ident, call("cast", BIGINT, n))),
        ("id * -3", call("mul", BIGINT, ident, literal(-3, BIGINT))),
        ("-id", call("neg", BIGINT, ident)),
        ("id - -5", call("sub", BIGINT, ident, literal(-5, BIGINT))),
        ("-(-id)", call("neg", BIGINT, call("neg", BIGINT, ident))),
        ("id - (1 - id)", call("sub", BIGINT, ident, call("sub", BIGINT, literal(1, BIGINT), ident))),
        ("pay::DECIMAL(12,4)", call("rescale", wide, pay)),
        ("pay + 0.05", call("add", Decimal(11, 2, 0, 0), pay, literal(5, Decimal(3, 2, 5, 5)))),
        ("-pay", call("neg", MONEY, pay)),
        ("0.5::DECIMAL(2,1) * pay", call("mul", Decimal(12, 3, 0, 0), literal(5, Decimal(2, 1, 5, 5)), pay)),
        ("pay / n", call("div", Double(), call("cast", Double(), pay), call("cast", Double(), n))),
        ("id / 4", call("div", Double(), call("cast", Double(), ident), literal(4.0, Double()))),
        ("day - DATE '2000-01-01'", call("sub", BIGINT, day, literal(10957, DAY))),
        ("DATE '2000-01-01' + 3", call("add", DAY, literal(10957, DAY), literal(3, INTEGER))),
        ("pay = 1.5", call("eq", Boolean(), pay, literal(150, MONEY))),
        ("pay <> -0.25", call("ne", Boolean(), pay, literal(-25, MONEY))),
        ("n < 0", call("lt", Boolean(), n, literal(0, INTEGER))),
        ("n <= 0", call("le", Boolean(), n, literal(0, INTEGER))),
        ("n > -7", call("gt", Boolean(), n, literal(-7, INTEGER))),
        ("n >= 2147483647", call("ge", Boolean(), n, literal(2147483647, INTEGER))),
        ("n > -2147483648", call("gt", Boolean(), n, literal(-2147483648, INTEGER))),
        ("day >= DATE '1969-12-31'", call("ge", Boolean(), day, literal(-1, DAY))),
        ("day::TIMESTAMP", call("rescale", MOMENT, day)),
        ("day::TIMESTAMP < '2024-02-29 00:00:00.5'", call("lt", Boolean(), call("rescale", MOMENT, day), leap)),
        ("TIMESTAMP '2024-02-29 00:00:00.5'::DATE", call("cast", DAY, leap)),
        ("NULL::TIMESTAMP", literal(None, MOMENT)),
        ("name = 'it''s'", call("eq", Boolean(), name, literal("it's", TEXT))),
        ("name < 'b'", call("lt", Boolean(), name, literal("b", TEXT))),
        ("ok AND n > 0", call("and", Boolean(), ok, call("gt", Boolean(), n, literal(0, INTEGER)))),
        ("ok OR n > 0", call("or", Boolean(), ok, call("gt", Boolean(), n, literal(0, INTEGER)))),
        ("NOT (ok AND NULL)", call("not", Boolean(), call("and", Boolean(), ok, literal(None, Boolean())))),
        ("name IS NULL", call("is_null", Boolean(), name)),
        ("NOT ok IS NULL", call("not", Boolean(), call("is_null", Boolean(), ok))),
        ("CASE WHEN ok THEN name ELSE 'no' END", call("if", TEXT, ok, name, literal("no", TEXT))),
        ("NULL::DATE", literal(None, DAY)),
        ("true", literal(True, Boolean())),
        ("12.50::DECIMAL(10,2)", literal(1250, MONEY)),
        ("-0.05::DECIMAL(10,2)", literal(-5, MONEY)),
        ("9223372036854775807", literal(2**63 - 1, BIGINT)),
        ("170141183460469231731687303715884105727", literal(2**127 - 1, Integer(0, 2**127 - 1, "HUGEINT"))),
        ("0.1::DOUBLE", literal(0.1, Double())),
        (r"'a\n''$1%s'", literal("a\\n'$1%s", TEXT)),
    ]


def test_expressions(people: Table) -> None:
    source = scan(people)
    listed = _expressions(source)
    outputs = tuple((f"e{at}", expr) for at, (_, expr) in enumerate(listed))
    expect(Project(source, outputs), f"SELECT {', '.join(sql for sql, _ in listed)} FROM people", people)


def test_a_value_out_of_its_types_range_is_the_users_error(people: Table) -> None:
    source = scan(people)
    relation = Project(source, (("more", call("add", INTEGER, ref(source, "n"), literal(1, INTEGER))),))
    sentence = (
        "the query over people.parquet: a value computed from n is out of its type's range; "
        "cast to a wider type in the query, or look for extreme values in the data."
    )
    with pytest.raises(DataError) as raised:
        typed_rows(relation, people)
    assert str(raised.value) == sentence
    assert "2147483647" not in sentence


def test_names_need_no_care(people: Table) -> None:
    source = scan(people, "id")
    awkward = Project(source, (('d."id" x', ref(source, "id")), ("select", ref(source, "id"))))
    swapped = Project(awkward, (("select", ref(awkward, 'd."id" x')), ("t", ref(awkward, "select"))))
    expect(Filter(swapped, call("gt", Boolean(), ref(swapped, "t"), literal(2, BIGINT))),
           "SELECT id AS a, id AS b FROM people WHERE id > 2", people)  # fmt: skip


def test_a_filter_keeps_only_what_is_true(people: Table) -> None:
    expect(Filter(scan(people), ref(scan(people), "ok")), "SELECT * FROM people WHERE ok", people)


def test_union_all_keeps_duplicates_and_widens(people: Table, visits: Table) -> None:
    left = Project(scan(people), (("x", ref(scan(people), "id")),))
    right = Project(scan(visits), (("x", ref(scan(visits), "person")),))
    whole = "SELECT id FROM people UNION ALL SELECT person FROM visits UNION ALL SELECT id FROM people"
    expect(Union((left, right, left)), whole, people, visits)


def test_join_null_keys_match_nothing(people: Table, visits: Table) -> None:
    join = Join(scan(people), scan(visits), ("id",), ("person",))
    expect(join, "SELECT p.*, v.* FROM people p JOIN visits v ON p.id = v.person", people, visits)


def test_join_on_two_keys(people: Table) -> None:
    left, right = scan(people), scan(people)
    renamed = Project(right, (("r", ref(right, "id")), ("s", ref(right, "name"))))
    expected = "SELECT p.*, q.id, q.name FROM people p JOIN people q ON p.id = q.id AND p.name = q.name"
    expect(Join(left, renamed, ("id", "name"), ("r", "s")), expected, people)


def test_broadcast_of_a_total(people: Table, visits: Table) -> None:
    total = Aggregate(scan(visits), (), (Aggregation("total", "sum", "minutes"),))
    expected = "SELECT p.*, t.* FROM people p, (SELECT SUM(minutes) FROM visits) t"
    expect(Broadcast(scan(people), total), expected, people, visits)


ALL_AGGREGATES = (
    Aggregation("rows", "count_rows", None),
    Aggregation("c", "count", "pay"),
    Aggregation("d", "count_distinct", "pay"),
    Aggregation("s", "sum", "pay"),
    Aggregation("i", "sum", "n"),
    Aggregation("low", "min", "day"),
    Aggregation("high", "max", "n"),
    Aggregation("inner", "middle", "n"),
)
ALL_SQL = (
    "COUNT(*), COUNT(pay), COUNT(DISTINCT pay), SUM(pay), SUM(n), MIN(day), MAX(n), CAST(2 * MEDIAN(n) AS HUGEINT)"
)


def test_aggregates_by_group_with_a_null_group(people: Table) -> None:
    expect(
        Aggregate(scan(people), ("name",), ALL_AGGREGATES), f"SELECT name, {ALL_SQL} FROM people GROUP BY name", people
    )


@pytest.mark.parametrize("condition", ["true", "false"])
def test_aggregates_over_everything_and_over_nothing(people: Table, condition: str) -> None:
    some = Filter(scan(people), Literal(condition == "true", Boolean()))
    expect(Aggregate(some, (), ALL_AGGREGATES), f"SELECT {ALL_SQL} FROM people WHERE {condition}", people)


def test_distinct(people: Table) -> None:
    expect(Aggregate(scan(people), ("name", "ok"), ()), "SELECT DISTINCT name, ok FROM people", people)


def test_a_known_type_of_an_aggregate(people: Table) -> None:
    partial = Aggregate(scan(people), ("name",), (Aggregation("c", "count_rows", None),))
    known = Field("n", Integer(0, 100, "BIGINT"), False)
    expect(Aggregate(partial, (), (Aggregation("n", "sum", "c", known),)), "SELECT COUNT(*) FROM people", people)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_first", [False, True])
def test_sort_keeps_its_order_under_project_and_limit(people: Table, descending: bool, nulls_first: bool) -> None:
    keys = (SortKey("name", descending, nulls_first), SortKey("id", not descending, False))
    head = Limit(Sort(scan(people), keys), 3, 1)
    way, other = ("DESC", "ASC") if descending else ("ASC", "DESC")
    order = f"name {way} NULLS {'FIRST' if nulls_first else 'LAST'}, id {other}"
    expected = f"SELECT id AS name, n FROM people ORDER BY {order} LIMIT 3 OFFSET 1".replace("name,", "x,", 1)
    relation = Project(head, (("x", ref(head, "id")), ("n", ref(head, "n"))))
    expect(relation, expected, people, ordered=True)


def test_limits(people: Table) -> None:
    ordered = Sort(scan(people), (SortKey("id", True, False),))
    expect(Limit(ordered, None, 2), "SELECT * FROM people ORDER BY id DESC OFFSET 2", people, ordered=True)
    expect(Limit(ordered, 0, 0), "SELECT * FROM people LIMIT 0", people, ordered=True)
    expect(Limit(Limit(ordered, 4, 1), 2, 1), "SELECT * FROM people ORDER BY id DESC LIMIT 2 OFFSET 2", people)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_without_columns_are_counted(tmp_path: Path, people: Table, format: str) -> None:
    path = tmp_path / f"copy.{format}"
    duckdb.execute(f"COPY ({PEOPLE}) TO '{path}'").fetchall()
    none = scan(table("people", path, {"id": BIGINT}), "nothing")
    count = Aggregate(Union((none, none)), (), (Aggregation("n", "count_rows", None),))
    expect(count, "SELECT 2 * COUNT(*) FROM people", table("people", path, {"id": BIGINT}))


def test_rows_of_equal_keys_come_in_another_order_each_run(tmp_path: Path) -> None:
    """The same order of 8 equal rows three times has a probability of 8!^-2, the same 4 of them of 70^-5 in 6 runs."""
    path = parquet(tmp_path / "few.parquet", "SELECT (i // 8)::BIGINT AS k, i::BIGINT AS x FROM range(16) r(i)")
    few = table("few", path, {"k": BIGINT, "x": BIGINT})
    ordered = Sort(scan(few), (SortKey("k", True, False),))
    found = [rows(ordered, few) for _ in range(3)]
    assert all([key for key, _ in each] == [1] * 8 + [0] * 8 and len(set(each)) == 16 for each in found)
    assert len({tuple(each[:8]) for each in found}) > 1, "as in the file"
    heads = [rows(Limit(ordered, 12, 8), few) for _ in range(6)]
    assert len({tuple(sorted(each[:4])) for each in heads}) > 1 and all(len(each) == 8 for each in heads)


def test_equal_sorts_of_one_run_have_one_order(tmp_path: Path) -> None:
    path = parquet(tmp_path / "few.parquet", "SELECT 1::BIGINT AS k, i::BIGINT AS x FROM range(100) r(i)")
    few = table("few", path, {"k": BIGINT, "x": BIGINT})
    head = Limit(Sort(scan(few), (SortKey("k", False, False),)), 10, 0)
    assert len(set(rows(Union((head, head)), few))) == 10
    other = Limit(Sort(scan(few), (SortKey("k", True, False),)), 10, 0)
    assert len(set(rows(Union((head, other)), few))) > 10

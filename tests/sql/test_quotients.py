"""Comparisons of averages and quotients against exact arithmetic: what DuckDB computes of the products is exact."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal as Exact
from fractions import Fraction
from functools import partial

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.relations import Filter, Project
from tacit.plan.algebra.types import Decimal, Double, Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.fields import fields
from tacit.sql import bind

from .test_meaning import Leaves

FIELDS = (
    Field("n", Integer(-(2**31), 2**31 - 1, "INTEGER"), True),
    Field("m", Integer(-9, 9, "INTEGER"), True),
    Field("d", Decimal(15, 2, -(10**15) + 1, 10**15 - 1), True),
    Field("e", Decimal(5, 3, -99_999, 99_999), True),
)
CATALOG = Catalog(("a", "b", "c"), "rep3", (), (Table("t", "a", tuple(map(Column, FIELDS)), rows=1000),))
SIGNS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
Row = tuple[int | None, int | None, Exact | None, Exact | None]


def decimals(digits: int, scale: int) -> st.SearchStrategy[Exact]:
    small, large = st.integers(-300, 300), st.integers(-(10**digits) + 1, 10**digits - 1)
    return st.one_of(small, large).map(lambda each: Exact(each).scaleb(-scale))


ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.none() | st.integers(-20, 20) | st.integers(-(2**31), 2**31 - 1),
        st.none() | st.integers(-9, 9),
        st.none() | decimals(15, 2),
        st.none() | decimals(5, 3),
    ),
    min_size=1,
    max_size=6,
)


def average(rows: Sequence[Row], column: int) -> Fraction | None:
    found = [Fraction(each) for row in rows if (each := row[column]) is not None]
    return sum(found) / len(found) if found else None


def answers(rows: Sequence[Row], query: str) -> list[tuple[object, ...]]:
    """What the bound query, which computes no DOUBLE, gives in DuckDB."""
    relation = bind(query, CATALOG)
    assert not any(isinstance(each.type, Double) for each in expressions(relation)), query
    with duckdb.connect() as database:
        for macro in MACROS:
            database.execute(macro)
        database.execute("CREATE TABLE t (n INTEGER, m INTEGER, d DECIMAL(15,2), e DECIMAL(5,3))")
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        return database.execute(render(relation, fields(relation), Leaves())).fetchall()


def expressions(relation: object) -> list[object]:
    """Every expression within the conditions and outputs of a relation."""
    found: list[object] = []
    match relation:
        case Filter(input, predicate):
            found = [*subexpressions(predicate), *expressions(input)]
        case Project(input, outputs):
            found = [part for _, each in outputs for part in subexpressions(each)] + expressions(input)
    return found


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, sign=st.sampled_from(sorted(SIGNS)), factor=st.sampled_from(["0.2", "3", "-1.5", "0.0001"]))
def test_a_value_beside_an_average_is_compared_exactly(rows: list[Row], sign: str, factor: str) -> None:
    query = f"SELECT n, m, d, e FROM t WHERE d {sign} (SELECT {factor} * AVG(e) FROM t)"
    mean = average(rows, 3)
    expected = [
        row
        for row in rows
        if row[2] is not None and mean is not None and SIGNS[sign](Fraction(row[2]), Fraction(factor) * mean)
    ]
    assert sorted(map(repr, answers(rows, query))) == sorted(map(repr, expected))


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, sign=st.sampled_from(sorted(SIGNS)))
def test_averages_beside_each_other_are_compared_exactly(rows: list[Row], sign: str) -> None:
    found = answers(rows, f"SELECT AVG(n) {sign} AVG(d) AS a, AVG(e) + 1 {sign} -AVG(m) AS b FROM t")
    means = [average(rows, each) for each in range(4)]
    assert found == [(compared(sign, means[0], means[2]), compared(sign, plus_one(means[3]), negated(means[1])))]


def compared(sign: str, a: Fraction | None, b: Fraction | None) -> bool | None:
    return None if a is None or b is None else SIGNS[sign](a, b)


def plus_one(a: Fraction | None) -> Fraction | None:
    return None if a is None else a + 1


def negated(a: Fraction | None) -> Fraction | None:
    return None if a is None else -a


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, sign=st.sampled_from(sorted(SIGNS)))
def test_quotients_are_compared_exactly_and_zeros_as_duckdb_does(rows: list[Row], sign: str) -> None:
    found = answers(rows, f"SELECT n / m {sign} e AS a, e / 3 {sign} m / -4 AS b FROM t")
    quotient = partial(divided)
    expected = [
        (
            None if None in (n, m, e) else quotient(n, m, e, sign),
            None if None in (e, m) else SIGNS[sign](Fraction(e or 0) / 3, Fraction(m or 0) / -4),
        )
        for n, m, _, e in rows
    ]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def divided(n: int | None, m: int | None, e: Exact | None, sign: str) -> bool:
    """n / m compared with e, where n / 0 is endless, of the sign of n, and 0 / 0 is more than all."""
    assert n is not None and m is not None and e is not None
    if m:
        return SIGNS[sign](Fraction(n, m), Fraction(e))
    return SIGNS[sign](Fraction(-1 if n < 0 else 1), Fraction(0))


@pytest.mark.parametrize("query", ["n / 0 > 1", "0 / m >= 2", "n / m = 0.5", "m / n <> 1", "1 / m < -0.2"])
def test_quotients_are_what_duckdb_says(query: str) -> None:
    values: list[int | None] = [None, -4, -2, -1, 0, 1, 2, 4]
    rows: list[Row] = [(n, m, None, None) for n in values for m in values]
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t (n INTEGER, m INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [row[:2] for row in rows])
        expected = database.execute(f"SELECT n, m, {query} AS x FROM t").fetchall()
    found = answers(rows, f"SELECT n, m, {query} AS x FROM t")
    assert sorted(map(repr, found)) == sorted(map(repr, expected))

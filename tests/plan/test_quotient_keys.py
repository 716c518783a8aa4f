"""Quotients as whole numbers that tell them apart, and back, against exact fractions and DuckDB."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import duckdb
import pytest

from tacit.local.expressions import render_expression
from tacit.local.macros import MACROS
from tacit.plan.algebra.expressions import substitute
from tacit.plan.algebra.fractions import with_null_for_zero
from tacit.plan.algebra.quotient_keys import QuotientKey, quotient_key, told_number
from tacit.plan.algebra.quotient_orders import in_order
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator
from tacit.plan.algebra.types import Decimal, Double, Integer
from tacit.sql.proportional import with_common_denominator
from tacit.sql.told_quotients import of_told

from .whole_numbers import value_of

Row = dict[str, int]


def column(name: str, low: int, high: int) -> ColumnRef:
    """A column of whole numbers."""
    return ColumnRef(name, Integer(low, high, "INTEGER"), False)


def in_double(expr: Expr) -> Expr:
    """The expression as a DOUBLE."""
    return Call("cast", (expr,), Double(), expr.nullable)


def divided(a: Expr, b: Expr) -> Call:
    """A quotient, which is a DOUBLE."""
    return Call("div", (in_double(a), in_double(b)), Double(), a.nullable or b.nullable)


def key_of(expr: Expr) -> QuotientKey:
    """The key of a quotient that has one."""
    found = quotient_key(expr)
    assert found is not None
    return found


def in_duckdb(exprs: list[Expr]) -> list[float]:
    """What DuckDB computes of expressions without columns."""
    with duckdb.connect() as database:
        for each in MACROS:
            database.execute(each)
        found = []
        for start in range(0, len(exprs), 100):
            listed = ", ".join(render_expression(each).sql("duckdb") for each in exprs[start : start + 100])
            found += database.execute(f"SELECT {listed}").fetchall()[0]
        return found


def number(value: int) -> Literal:
    """A number as what is opened has it."""
    return Literal(value, Integer(value, value, "HUGEINT"))


def rows_of(a: ColumnRef, b: ColumnRef) -> list[Row]:
    """All pairs of their values."""
    assert isinstance(a.type, Integer) and isinstance(b.type, Integer)
    pairs = product(range(a.type.low, a.type.high + 1), range(b.type.low, b.type.high + 1))
    return [{"a": x, "b": y} for x, y in pairs]


@pytest.mark.parametrize(("least", "most"), [(1, 8), (-4, 5), (-7, -1), (1, 1)])
def test_a_number_tells_its_quotient(least: int, most: int) -> None:
    a, b = column("a", -12, 12), column("b", least, most)
    key, rows = key_of(divided(a, b)), rows_of(a, b)
    numbers = [value_of(key.number, row) for row in rows]
    told = in_duckdb([key.of(number(each)) for each in numbers if each is not None])
    for row, found in zip(rows, told, strict=True):
        x, y = row["a"], row["b"]
        expected = x / y if y else math.nan if x == 0 else math.copysign(math.inf, x)
        assert found == expected or (math.isnan(found) and math.isnan(expected)), row
    assert key.is_told and key.rising
    fractions = {Fraction(row["a"], row["b"]) for row in rows if row["b"]}
    assert len({*numbers}) == len(fractions) + (3 if least <= 0 <= most else 0)


def test_wide_quotients_and_averages_are_told() -> None:
    rows = [{"a": 2**40 - 1, "b": 2**31}, {"a": 1, "b": 2**31}, {"a": 1836311903, "b": 1134903170}, {"a": 0, "b": 7}]
    a, b = column("a", 0, 2**40), column("b", 1, 2**31)
    quotient, mean = key_of(divided(a, b)), key_of(Call("average", (a, b), Double(), False))
    found = in_duckdb([key.of(number(value_of(key.number, row) or 0)) for key in (quotient, mean) for row in rows])
    assert found == 2 * [row["a"] / row["b"] for row in rows]
    assert not quotient.is_told
    assert quotient_key(divided(column("a", 0, 2**100), b)) is None


def test_of_decimals_the_lowest_terms_are_divided() -> None:
    a, b = (ColumnRef(name, Decimal(5, scale, 1, 60), False) for name, scale in (("a", 2), ("b", 1)))
    key = key_of(divided(a, b))
    expected = in_duckdb(
        [divided(Literal(x, Decimal(5, 2, 0, 99)), Literal(y, Decimal(5, 1, 0, 99))) for x, y in ((1, 3), (7, 2))]
    )
    numbers = [value_of(key.number, {"a": x, "b": y}) for x, y in ((20, 60), (14, 4))]
    assert in_duckdb([key.of(number(each or 0)) for each in numbers]) == expected


def test_constants_beside_a_quotient_stay() -> None:
    a, b = column("a", -6, 6), column("b", 1, 4)
    minus = Call("mul", (in_double(Literal(-3, Integer(-3, -3, "INTEGER"))), divided(a, b)), Double(), False)
    key = key_of(minus)
    assert not key.rising
    assert in_duckdb([key.of(number(value_of(key.number, {"a": 5, "b": 2}) or 0))]) == [-7.5]
    told = key.of(ColumnRef("n", key.number.type, False))
    assert told_number(told) == ColumnRef("n", key.number.type, False)
    assert told_number(minus) is None


def test_constants_that_lose_digits_keep_nothing_apart() -> None:
    quotient = divided(column("a", -6, 6), column("b", 1, 4))
    tiny, once = in_double(Literal(2.0**-600, Double())), in_double(Literal(7, Integer(7, 7, "INTEGER")))
    for factors, told in (((once,), True), ((tiny,), False), ((once, once), False)):
        expr: Expr = quotient
        for each in factors:
            expr = Call("mul", (each, expr), Double(), False)
        assert key_of(expr).is_told == told


def test_the_order_of_what_is_told_is_that_of_the_number() -> None:
    key = key_of(divided(column("a", -6, 6), column("b", 1, 4)))
    assert in_order(key.of(ColumnRef("n", key.number.type, False))) == ColumnRef("n", key.number.type, False)


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "eq", "ne"])
@pytest.mark.parametrize("factor", [1, -2])
def test_comparisons_with_constants_are_exact(op: Operator, factor: int) -> None:
    a, b = column("a", -7, 7), column("b", 1, 5)
    times = in_double(Literal(factor, Integer(factor, factor, "INTEGER")))
    key = key_of(Call("mul", (times, divided(a, b)), Double(), False))
    rows = rows_of(a, b)
    told = key.of(ColumnRef("n", key.number.type, False))
    for hundredths in (-3100, -700, -140, -50, -34, -33, -1, 0, 1, 20, 33, 34, 175, 701, 99999):
        each = Fraction(hundredths, 100)
        written = in_double(Literal(hundredths, Decimal(9, 2, -(10**6), 10**6)))
        for turned in (False, True):
            found = of_told(op, written, told, None) if turned else of_told(op, told, written, None)
            assert found is not None
            for row in rows:
                value = factor * Fraction(row["a"], row["b"])
                sides = (each, value) if turned else (value, each)
                held = value_of(substitute(found, {"n": number(value_of(key.number, row) or 0)}), {})
                assert bool(held) == _holds(op, *sides), (op, each, row)


def test_a_common_multiple_makes_quotients_exact() -> None:
    a, b = column("a", -5, 5), column("b", -4, 9)
    part = with_common_denominator(divided(a, with_null_for_zero(b)))
    assert part is not None and part.rising
    for row in rows_of(a, b):
        found = value_of(part.number, row)
        assert found is None if row["b"] == 0 else Fraction(found or 0, 2520) == Fraction(row["a"], row["b"])
    assert with_common_denominator(divided(a, column("b", 1, 1000))) is None


def _holds(op: Operator, a: Fraction, b: Fraction) -> bool:
    return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[op]

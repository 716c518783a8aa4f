"""Rounded averages and quotients: as nodes compute them, and as DuckDB does in a tail, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor, trunc

import duckdb
import pytest

from tacit.local.expressions import render_expression
from tacit.local.macros import MACROS
from tacit.plan.algebra.fractions import Mode, Quotient, excludes_zero, quotient, rounded, with_null_for_zero
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Decimal, Double, Integer

from .whole_numbers import value_of

MODES: tuple[Mode, ...] = ("round", "even", "floor", "ceil", "trunc")
BOUNDS = [((-20, 20), (1, 6)), ((0, 20), (1, 6)), ((-20, 0), (2, 6)), ((-20, 20), (-6, -1)), ((-20, 20), (-4, 4))]


def exact(value: Fraction, mode: Mode) -> int:
    """The rounding of a fraction."""
    match mode:
        case "floor":
            return floor(value)
        case "ceil":
            return ceil(value)
        case "trunc":
            return trunc(value)
        case "even":
            return round(value)
        case _:
            return floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def column(name: str, low: int, high: int, scale: int = 0) -> ColumnRef:
    """A column of decimals, or of whole numbers."""
    type_ = Decimal(18, scale, low, high) if scale else Integer(low, high, "BIGINT")
    return ColumnRef(name, type_, True)


def in_double(expr: Expr) -> Call:
    """The expression as a DOUBLE."""
    return Call("cast", (expr,), Double(), expr.nullable)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("above", "below"), BOUNDS)
@pytest.mark.parametrize("places", [-1, 0, 2])
def test_nodes_round_as_exact_fractions(
    mode: Mode, above: tuple[int, int], below: tuple[int, int], places: int
) -> None:
    a, b = column("a", *above, scale=1), column("b", *below)
    found = rounded(Quotient(a, b, by=10), mode, places)
    assert found is not None
    for n, d in product(range(above[0], above[1] + 1), range(below[0], below[1] + 1)):
        value = value_of(found, {"a": n, "b": d})
        assert value == (
            exact(Fraction(n, 10 * d) * Fraction(10) ** places, mode) * 10 ** max(-places, 0) if d else None
        )
    assert value_of(found, {"a": None, "b": below[1]}) is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("places", [-1, 0, 2])
def test_a_tail_rounds_as_nodes_do(mode: Mode, places: int) -> None:
    found = rounded(Quotient(column("a", -2000, 2000, scale=2), column("b", -4, 4), times=3, by=100), mode, places)
    assert found is not None
    with duckdb.connect() as database:
        for macro in MACROS:
            database.execute(macro)
        pairs = "range(-200, 201, 25) a(n), range(-4, 5) b(d)"
        table = f"(SELECT (n / 100)::DECIMAL(18,2) AS a, d AS b, n FROM {pairs}) t"
        rows = database.execute(f"SELECT n, b, {render_expression(found).sql('duckdb')} FROM {table}").fetchall()
    assert len(rows) == 17 * 9
    for n, d, value in rows:
        step = Fraction(10) ** -places
        assert value == (exact(Fraction(3 * n, 100 * d) / step, mode) * step if d else None), (n, d)


def test_what_is_a_fraction_and_what_is_not() -> None:
    total, count, x, b = column("t", 0, 99, 2), column("n", 0, 9), column("x", -9, 9), column("b", -9, 9)
    three = in_double(Literal(3, Integer(3, 3, "INTEGER")))
    average = Call("average", (total, count), Double(), True)
    assert quotient(average) == Quotient(total, count, by=100)
    assert quotient(Call("mul", (three, average), Double(), True)) == Quotient(total, count, 3, 100)
    assert quotient(Call("div", (in_double(x), three), Double(), True)) == Quotient(x, by=3)
    assert quotient(Call("neg", (in_double(x),), Double(), True)) == Quotient(x, times=-1)
    assert quotient(Call("div", (in_double(x), in_double(b)), Double(), True)) is None
    by = with_null_for_zero(b)
    assert quotient(Call("div", (in_double(x), in_double(by)), Double(), True)) == Quotient(x, by)
    assert quotient(Call("add", (in_double(x), three), Double(), True)) is None
    assert excludes_zero(by) and not excludes_zero(b)


def test_a_fraction_of_too_many_bits_is_not_rounded() -> None:
    wide = column("a", 0, 10**30)
    assert rounded(Quotient(wide, column("b", 1, 9)), "round", 7) is not None
    assert rounded(Quotient(wide, column("b", 1, 9)), "round", 8) is None

"""Orders by quotients as orders by whole numbers, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from tacit.plan.algebra.quotient_orders import in_order
from tacit.plan.algebra.relations import Call, ColumnRef, Expr
from tacit.plan.algebra.types import Double, Integer

from .whole_numbers import value_of


def column(name: str, low: int, high: int, nullable: bool = False) -> ColumnRef:
    """A column of whole numbers."""
    return ColumnRef(name, Integer(low, high, "BIGINT"), nullable)


def in_double(expr: Expr) -> Call:
    """The expression as a DOUBLE."""
    return Call("cast", (expr,), Double(), expr.nullable)


def test_averages_are_in_the_order_of_exact_fractions() -> None:
    key = in_order(Call("average", (column("a", -40, 40, True), column("n", 1, 13)), Double(), True))
    rows = [{"a": a, "n": n} for a, n in product(range(-40, 41), range(1, 14))]
    found = sorted((Fraction(row["a"], row["n"]), value_of(key, row)) for row in rows)
    assert all((a[0] == b[0]) == (a[1] == b[1]) and (a[1] or 0) <= (b[1] or 0) for a, b in pairwise(found))
    assert value_of(key, {"a": None, "n": 3}) is None


def test_quotients_by_negative_numbers_and_by_zero() -> None:
    rows = [{"a": a, "b": b} for a, b in product(range(-9, 10), range(-5, 6))]
    key = in_order(quotient(-5))
    found = sorted((_exact(row), _known(key, row)) for row in rows)
    assert all((a[0] == b[0]) == (a[1] == b[1]) for a, b in pairwise(found))
    assert [each for _, each in found] == sorted(each for _, each in found)


def test_the_negative_of_a_quotient_is_in_the_opposite_order() -> None:
    rows = [{"a": a, "b": b} for a, b in product(range(-9, 10), range(1, 6))]
    key = in_order(Call("neg", (quotient(1),), Double(), True))
    found = sorted((Fraction(-row["a"], row["b"]), _known(key, row)) for row in rows)
    assert [each for _, each in found] == sorted(each for _, each in found)
    of_nan = Call("neg", (quotient(0),), Double(), True)
    assert in_order(of_nan) is of_nan


def quotient(least: int) -> Call:
    """A quotient of two columns, of which the second is at least a number."""
    return Call("div", (in_double(column("a", -9, 9)), in_double(column("b", least, 5))), Double(), True)


def _known(key: Expr, row: dict[str, int]) -> int:
    found = value_of(key, row)
    assert found is not None
    return found


def _exact(row: dict[str, int]) -> tuple[int, Fraction]:
    """Beyond all numbers are those that are divided by 0, on the side of their sign, and 0 / 0."""
    a, b = row["a"], row["b"]
    beyond = 0 if b else -1 if a < 0 else 1 if a > 0 else 2
    return beyond, Fraction(a, b) if b else Fraction(0)

"""Conditions on one column that leave an interval of its values, and values that are equal on intervals.

By anything else a question may tell most of the values that it adds up, so that the others' are what remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Double
from tacit.plan.facts.fields import columns_of
from tacit.plan.policy.constants import COMPARISONS, unchanged

MONOTONE: Final = (
    "add", "sub", "neg", "mul", "div", "int_div", "cast", "rescale", "round", "floor", "ceil", "trunc", "date_trunc",
    "last_day",
)  # fmt: skip
"""Functions that do not fall, or do not rise, in the one argument that is no constant."""


def is_interval(condition: Expr) -> bool:
    """Whether a condition is one comparison of one column with a constant, but for <>, or with NULL."""
    match unchanged(condition):
        case Call("not", (tested,)):
            inner = unchanged(tested)
            return is_interval(inner) and not (isinstance(inner, Call) and inner.op == "eq")
        case Call("is_null", (tested,)):
            return isinstance(unchanged(tested), ColumnRef)
        case Call(op, (a, b)) if op in COMPARISONS and op != "ne":
            column, value = (a, b) if columns_of(a) else (b, a)
            return isinstance(unchanged(column), ColumnRef) and not columns_of(value)
        case found:
            return isinstance(found, ColumnRef | Literal)


def has_intervals(value: Expr) -> bool:
    """Whether a value rises, or falls, with one column, so that each interval of it is one of the column."""
    match unchanged(value):
        case ColumnRef() | Literal():
            return True
        case Call(op, args) if op in MONOTONE:
            varying = [each for each in args if columns_of(each)]
            divides = op in ("div", "int_div") and args[0] not in varying
            return len(varying) <= 1 and not divides and not _may_overflow(value) and all(map(has_intervals, varying))
        case _:
            return False


def _may_overflow(value: Expr) -> bool:
    """Whether arithmetic of DOUBLEs may end at infinity, from where no further step is monotone: inf * 0 is NaN."""
    found = unchanged(value)
    return isinstance(found, Call) and found.op in ("add", "sub", "mul", "div") and isinstance(found.type, Double)


def has_brackets(value: Expr) -> bool:
    """Whether each number that a value may be, as a key of groups, is that of an interval of one column."""
    match found := unchanged(value):
        case Call("if"):
            return _has_branches(found)
        case _:
            return has_intervals(found) or (is_interval(found) and not _is_equality(found))


def _has_branches(value: Expr) -> bool:
    """Whether a CASE has another constant for each interval of one column."""
    tests: list[Expr] = []
    ends: list[Expr] = []
    while isinstance(value, Call) and value.op == "if":
        test, then, otherwise = value.args
        tests += [test]
        ends += [unchanged(then)]
        value = unchanged(otherwise)
    constants = {each.value for each in (*ends, value) if isinstance(each, Literal)}
    ordered = all(is_interval(each) and not _is_equality(each) for each in tests)
    return len(constants) == len(ends) + 1 and ordered and len(set(map(columns_of, tests))) == 1


def _is_equality(condition: Expr) -> bool:
    found = unchanged(condition)
    return isinstance(found, Call) and found.op == "eq"


def tests_within(value: Expr) -> Iterator[Expr]:
    """All that decides between the branches of a value, each joined to others by AND alone."""
    if isinstance(value, Call):
        if value.op == "if":
            yield from conjuncts(value.args[0])
        for each in value.args:
            yield from tests_within(each)

"""Long sums: a tree whose depth hardly grows with the number of terms.

Passes go down an expression one call a level, so that a sum of a thousand columns may not be a thousand levels deep.
Whole numbers and decimals are exact, so that the order of addition does not matter. The type is that of the sum from
left to right, as in DuckDB. A sum with a DOUBLE stays as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tacit.plan.algebra.expressions import FEW
from tacit.plan.algebra.relations import Call, ColumnRef, Expr
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Decimal, Integer
from tacit.sql import arithmetic
from tacit.sql.coercion import as_decimal, coerce
from tacit.sql.intervals import is_interval


@dataclass(frozen=True)
class Term:
    """A term behind others. node: what adds or subtracts it."""

    op: Op
    node: exp.Expr
    value: exp.Expr


def terms(node: exp.Expr) -> tuple[exp.Expr, list[Term]]:
    """The first term of a sum, and the others from left to right."""
    found: list[Term] = []
    while isinstance(node, exp.Add | exp.Sub) and not is_interval(node.expression) and not is_interval(node.this):
        found.append(Term("add" if isinstance(node, exp.Add) else "sub", node, node.expression))
        node = node.this
    return node, found[::-1]


def is_long(node: exp.Expr) -> bool:
    """Whether an expression is a sum of many terms."""
    return isinstance(node, exp.Add | exp.Sub) and len(terms(node)[1]) >= FEW


def summed(values: Sequence[Expr], ops: Sequence[Op]) -> Expr:
    """The sum of values, the first one and then as many as operators."""
    if not all(isinstance(each.type, Integer | Decimal) for each in values):
        return _from_left(values, ops)
    whole, wide = _type_only(values, ops), _widened(values)
    plus = [wide[0], *(each for each, op in zip(wide[1:], ops, strict=True) if op == "add")]
    minus = [each for each, op in zip(wide[1:], ops, strict=True) if op == "sub"]
    found = _balanced(plus)
    if minus:
        found = arithmetic.binary("sub", found, _balanced(minus), None)
    return Call("cast", (found,), whole.type, whole.nullable)


def _widened(values: Sequence[Expr]) -> list[Expr]:
    """The values in types in which no part of the sum can be beyond its type where the sum from the left is not."""
    if all(isinstance(each.type, Integer) for each in values):
        return [coerce(each, Integer(0, 0, "HUGEINT")) for each in values]
    return [
        coerce(each, Decimal(*as_decimal(each.type), 0, 0)) if isinstance(each.type, Integer) else each
        for each in values
    ]


def _from_left(values: Sequence[Expr], ops: Sequence[Op]) -> Expr:
    found = values[0]
    for op, value in zip(ops, values[1:], strict=True):
        found = arithmetic.binary(op, found, value, None)
    return found


def _type_only(values: Sequence[Expr], ops: Sequence[Op]) -> Expr:
    """A stand-in with the type of the sum from left to right."""
    found = values[0]
    for op, value in zip(ops, values[1:], strict=True):
        made = arithmetic.binary(op, found, value, None)
        found = ColumnRef("", made.type, made.nullable)
    return found


def _balanced(values: Sequence[Expr]) -> Expr:
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return arithmetic.binary("add", _balanced(values[:middle]), _balanced(values[middle:]), None)

"""Tests that are TRUE or FALSE also of NULL: IS TRUE, IS FALSE, IS [NOT] DISTINCT FROM."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Boolean
from tacit.sql import arithmetic
from tacit.sql.operands import Binding, operands


def truth(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    """IS TRUE and IS FALSE: never NULL."""
    if not isinstance(node.expression, exp.Boolean):
        raise binding.text.unsupported(node, "this IS test", "write IS NULL, IS TRUE, IS FALSE or IS DISTINCT FROM")
    condition = binding.condition(node.this)
    wanted = condition if node.expression.this else arithmetic.logic("not", (condition,), at)
    if not condition.nullable:
        return wanted
    return arithmetic.choice([(wanted, Literal(True, Boolean()))], Literal(False, Boolean()), at)


def distinct(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    """IS [NOT] DISTINCT FROM: a comparison for which NULLs are equal."""
    same = _same(*operands(binding, node, "this", "expression"), position=at)
    return arithmetic.logic("not", (same,), at) if isinstance(node, exp.NullSafeNEQ) else same


def _same(a: Expr, b: Expr, *, position: Position | None) -> Expr:
    equal = arithmetic.comparison("eq", a, b, position)
    if not a.nullable and not b.nullable:
        return equal
    missing = [
        (arithmetic.is_null(a, position), arithmetic.is_null(b, position)),
        (arithmetic.is_null(b, position), _FALSE),
    ]
    found = arithmetic.choice(missing, equal, position)
    assert isinstance(found, Call)
    return Call("if", found.args, Boolean(), False, position)


_FALSE = Literal(False, Boolean())

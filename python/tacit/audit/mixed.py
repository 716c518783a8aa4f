"""Expressions over columns that the owner knows and others that it does not.

A condition on others' columns alone may take any rows away. One that joins own and others' columns by OR could be any
condition on the own ones: who asks knows when the other part holds. So nothing can be told of it.
"""

from __future__ import annotations

from tacit.audit.tracked import Tracked, Unclear
from tacit.plan.algebra.expressions import conjunction, conjuncts
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.fields import columns_of

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
ZERO = Literal(0, Integer(0, 0, "INTEGER"))


def is_mixed(expr: Expr, below: Tracked) -> bool:
    """Whether the owner does not know a value, but something of what it is computed from."""
    found = [below.outputs[name] for name in columns_of(expr)]
    return any(each.mixed for each in found) or len({each.known for each in found}) == 2


def check_unmixed(predicate: Expr, below: Tracked) -> None:
    """Each part of a condition is on own columns, or on others', or compares one with the other, as ``with`` allows.

    Raises Unclear.
    """
    for each in conjuncts(predicate):
        if is_mixed(each, below) and not _compares(each, below):
            raise Unclear("a condition on own columns and others' together")


def own_part(expr: Expr, below: Tracked) -> Expr:
    """An expression with the same pieces, as if others' conditions held always, and never. Raises Unclear."""
    if below.knows(expr):
        return expr
    match expr:
        case Call("if", (test, then, otherwise)):
            check_unmixed(test, below)
            parts = own_part(then, below), own_part(otherwise, below)
            known = [each for each in conjuncts(test) if below.knows(each)]
            if not known:
                return _both(*parts)
            own = conjunction(known)
            return _both(_both(_where(own, parts[0], ZERO), _where(own, ZERO, parts[1])), parts[1])
        case Call("cast", (inner,)) if isinstance(inner.type, Boolean):
            return own_part(inner, below)
        case Call(_, args) if isinstance(expr.type, Boolean):
            check_unmixed(expr, below)
            known = [each for each in conjuncts(expr) if below.knows(each)]
            whole = Literal(1, Integer(1, 1, "INTEGER"))
            return _where(conjunction(known), whole, ZERO) if known else whole
        case Call(op, args):
            return Call(op, tuple(own_part(each, below) for each in args), expr.type, False)
        case _:
            return expr


def _compares(expr: Expr, below: Tracked) -> bool:
    """Whether own columns are compared with columns of rows that are joined."""
    match expr:
        case Call(op, (a, b)) if op in COMPARISONS:
            sides = [[below.outputs[name] for name in columns_of(each)] for each in (a, b)]
            return not any(each.mixed for side in sides for each in side) and all(
                side and len({each.known for each in side}) == 1 and not any(each.fixed for each in side)
                for side in sides
            )
        case _:
            return False


def _where(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Call("if", (condition, then, otherwise), then.type, False)


def _both(a: Expr, b: Expr) -> Expr:
    return Call("add", (a, b), a.type, False)

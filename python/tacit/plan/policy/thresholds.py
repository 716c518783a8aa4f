"""Conditions on counts that no group above the floor fulfils: they ask for the small groups alone."""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Operator
from tacit.plan.facts.fields import columns_of
from tacit.plan.policy.constants import COMPARISONS, FLIPPED, NotConstant, constant, unchanged
from tacit.plan.policy.state import NOTHING, Item, Items, State

OPPOSITE: dict[Operator, Operator] = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def unsatisfied(predicate: Expr, state: State) -> Items:
    """The instance whose floor a condition never reaches, if there is one."""
    found = _below(predicate, state, negated=False)
    return NOTHING if found is None else frozenset({found})


def _below(expr: Expr, state: State, negated: bool) -> Item | None:
    """Why a condition is never fulfilled; None if it may be."""
    expr = unchanged(expr)
    match expr:
        case Call("not", (inner,)):
            return _below(inner, state, not negated)
        case Call("and" | "or" as op, args):
            parts = [_below(each, state, negated) for each in args]
            every = (op == "or") != negated
            known = [each for each in parts if each is not None]
            return known[0] if known and (not every or len(known) == len(parts)) else None
        case Call(op, (a, b)) if op in COMPARISONS:
            asked = OPPOSITE[op] if negated else op
            return _compared(asked, a, b, state) if not columns_of(b) else _compared(FLIPPED[asked], b, a, state)
        case _:
            return None


def _compared(op: Operator, count: Expr, value: Expr, state: State) -> Item | None:
    count = unchanged(count)
    least = state.columns[count.name].least if isinstance(count, ColumnRef) else None
    try:
        number = constant(value)
    except NotConstant:
        return None
    if least is None or not isinstance(number, Fraction) or not isinstance(count, ColumnRef):
        return None
    floor, instance = least
    never = {"eq": number < floor, "lt": number <= floor, "le": number < floor}.get(op, False)
    return Item(instance, None, "floor", detail=f"count {floor}", position=count.position) if never else None

"""Tests for NULL of what is never NULL are FALSE. The bound query has them, so that owners' rules see their columns."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Filter, Literal, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean


def without_null_tests(relation: Relation) -> Relation:
    """The tree without them."""
    relation = over_children(relation, without_null_tests)
    match relation:
        case Filter(_, predicate):
            return replace(relation, predicate=_folded(predicate))
        case Project(_, outputs):
            return replace(relation, outputs=tuple((name, _folded(each)) for name, each in outputs))
        case _:
            return relation


def _folded(expr: Expr) -> Expr:
    match expr:
        case Call("is_null", (tested,)) if not tested.nullable:
            return Literal(False, Boolean())
        case Call(_, args):
            return replace(expr, args=tuple(map(_folded, args)))
        case ColumnRef() | Literal():
            return expr

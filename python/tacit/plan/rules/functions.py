"""What clear computation gives is computed where it is read, by the owner of the table: nodes cannot, or at a price.

A function of an owner's columns, a rounding, or the day of a moment becomes a column of its own, which a projection
directly above the table computes. It comes up through conditions, renamings, unions, orders and joins. It cannot where
columns of several owners or an aggregation are below. There a function of a string with a dictionary becomes a choice
among what it makes of each word. Others stay where they are: the recipient computes them, or nodes do what they can
(tacit.plan.algebra.divisions), or they are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

from tacit.plan.algebra.expressions import is_better_in_clear, is_rounding, reference, substitute
from tacit.plan.algebra.functions import is_strict, is_total
from tacit.plan.algebra.moments import DAY
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    Expr,
    Filter,
    FullJoin,
    Join,
    Limit,
    Literal,
    Mark,
    Pairs,
    Project,
    Relation,
    Scan,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.algebra.types import Date, Double
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import columns_of, field_of, fields, names
from tacit.plan.rules.dictionaries import over_words
from tacit.plan.rules.push_down import is_local


def with_functions(relation: Relation, catalog: Catalog) -> Relation:
    """The tree whose owners compute what nodes cannot."""
    relation = over_children(relation, lambda each: with_functions(each, catalog))
    match relation:
        case Filter(input, predicate):
            moving = _Moving(input, catalog)
            changed = moving.of(predicate)
            kept = tuple((each.name, reference(each)) for each in fields(relation))
            same = moving.input is input
            return Filter(input, changed) if same else Project(Filter(moving.input, changed), kept)
        case Project(input, outputs):
            moving = _Moving(input, catalog)
            values = tuple((name, moving.of(each)) for name, each in outputs)
            return Project(moving.input, values)
        case _:
            return relation


@dataclass
class _Moving:
    """Changes expressions over an input, which gets the columns that they are then made of."""

    input: Relation
    catalog: Catalog
    known: dict[Expr, Expr] = field(default_factory=dict)

    def of(self, expr: Expr) -> Expr:
        """The expression over the input as it is then. The largest parts that owners can compute move."""
        if not isinstance(expr, Call) or not is_better_in_clear(expr):
            return expr
        if expr not in self.known:
            self.known[expr] = self._moved(expr) or self._lowered(expr)
        return self.known[expr]

    def _moved(self, expr: Call) -> Expr | None:
        if isinstance(expr.type, Double) or not columns_of(expr) or not is_total(expr):
            return None
        name = _fresh(f"{min(columns_of(expr))}_{'day' if _is_day(expr) else expr.op}", self.input)
        found = _carrying(self.input, expr, name, self.catalog)
        if found is None:
            return None
        self.input = found
        return reference(field_of(found, name))

    def _lowered(self, expr: Call) -> Expr:
        return over_words(replace(expr, args=tuple(map(self.of, expr.args))))


def _carrying(relation: Relation, value: Expr, name: str, catalog: Catalog) -> Relation | None:
    """The relation with an expression over it under a new name; None where no owner can compute it."""
    match relation:
        case Scan():
            return _beside(relation, name, value)
        case Project(input, outputs):
            return _projected(input, outputs, value, name, catalog)
        case Filter() | Sort() | Limit():
            found = _carrying(relation.input, value, name, catalog)
            return None if found is None else replace(relation, input=found)
        case Union(inputs):
            carried = [_carrying(each, value, name, catalog) for each in inputs]
            return Union(tuple(each for each in carried if each)) if all(carried) else None
        case Join(left) | Pairs(left) if _passes(relation, "right", value) and columns_of(value) <= set(names(left)):
            found = _carrying(left, value, name, catalog)
            return None if found is None else replace(relation, left=found)
        case Join(_, right) | Pairs(_, right) if _passes(relation, "left", value) and columns_of(value) <= set(
            names(right)
        ):
            found = _carrying(right, value, name, catalog)
            return None if found is None else replace(relation, right=found)
        case Mark(input) | Window(input) if columns_of(value) <= set(names(input)):
            found = _carrying(input, value, name, catalog)
            return None if found is None else replace(relation, input=found)
        case FullJoin(left) if is_strict(value) and columns_of(value) <= set(names(left)):
            found = _carrying(left, value, name, catalog)
            return None if found is None else replace(relation, left=found)
        case FullJoin(_, right) if is_strict(value) and columns_of(value) <= set(names(right)):
            found = _carrying(right, value, name, catalog)
            return None if found is None else replace(relation, right=found)
        case Broadcast(input, scalar) if columns_of(value) <= set(names(input)):
            found = _carrying(input, value, name, catalog)
            return None if found is None else Broadcast(found, scalar)
        case Join() | Pairs() | Broadcast() | Aggregate() if is_local(relation, catalog):
            return _beside(relation, name, value)
        case _:
            return None


def _passes(join: Join | Pairs, other: str, value: Expr) -> bool:
    """Whether an expression over one side may be computed beneath: not where its columns are NULL beside the other."""
    beside_null = isinstance(join, Join) and (join.keeps_right if other == "right" else join.keeps_left)
    return not beside_null or is_strict(value)


def _projected(
    input: Relation, outputs: tuple[tuple[str, Expr], ...], value: Expr, name: str, catalog: Catalog
) -> Relation | None:
    """A projection with one more output, an expression over the others."""
    below = _unwrapped(substitute(value, dict(outputs)))
    if not is_better_in_clear(below):
        return Project(input, (*outputs, (name, below)))
    if not columns_of(below) or not is_total(below):
        return None
    found = _carrying(input, below, name, catalog)
    return None if found is None else Project(found, (*outputs, (name, reference(field_of(found, name)))))


def _unwrapped(expr: Expr) -> Expr:
    """The expression in which the day of a day's first moment is that day, and that of a constant moment a constant."""
    if not isinstance(expr, Call):
        return expr
    expr = replace(expr, args=tuple(map(_unwrapped, expr.args)))
    match expr:
        case Call("cast", (Call("rescale", (inner,)),), Date()) if isinstance(inner.type, Date):
            return inner
        case Call("cast", (Literal(int() as value),), Date()) if is_rounding(expr):
            return Literal(value // DAY, Date(value // DAY, value // DAY))
        case Call("cast", (Literal(None),), Date()):
            return Literal(None, expr.type)
        case _:
            return expr


def _is_day(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.type, Date) and is_rounding(expr)


def _beside(relation: Relation, name: str, value: Expr) -> Project:
    kept = tuple((each.name, reference(each)) for each in fields(relation))
    return Project(relation, (*kept, (name, value)))


def _fresh(name: str, relation: Relation) -> str:
    taken = _taken(relation)
    candidates = [name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))]
    return next(each for each in candidates if each.lower() not in taken)


def _taken(relation: Relation) -> frozenset[str]:
    own = frozenset(each.lower() for each in names(relation))
    return reduce(frozenset.union, map(_taken, children(relation)), own)

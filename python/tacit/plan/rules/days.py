"""The day of a moment is computed where the moment is read, by its owner: nodes would have to divide.

A cast of a column to DATE becomes a column of its own, which a projection directly above the table computes. It comes
up through conditions, renamings, unions, orders and joins. Where the moment is computed from several owners' tables, as
by an aggregation, the cast stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from tacit.plan.algebra.expressions import is_rounding, reference, subexpressions
from tacit.plan.algebra.moments import DAY
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
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
from tacit.plan.algebra.types import Date
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names
from tacit.plan.rules.push_down import is_local


def with_days(relation: Relation, catalog: Catalog) -> Relation:
    """The tree whose owners compute days."""
    relation = over_children(relation, lambda each: with_days(each, catalog))
    match relation:
        case Filter(input, predicate):
            (changed,), found = _moved([predicate], input, catalog)
            kept = tuple((each.name, reference(each)) for each in fields(relation))
            return relation if found is input else Project(Filter(found, changed), kept)
        case Project(input, outputs):
            values, found = _moved([each for _, each in outputs], input, catalog)
            return Project(found, tuple((name, each) for (name, _), each in zip(outputs, values, strict=True)))
        case _:
            return relation


def _moved(values: Sequence[Expr], input: Relation, catalog: Catalog) -> tuple[list[Expr], Relation]:
    """Expressions over an input that has the days which they are made of."""
    casts = dict.fromkeys(part for each in values for part in subexpressions(each) if _is_day(part))
    columns: dict[Expr, Expr] = {}
    for cast in casts:
        moment = cast.args[0] if isinstance(cast, Call) else cast
        if isinstance(moment, ColumnRef):
            name = _fresh(f"{moment.name}_day", input)
            found = _carrying(input, moment.name, cast, name, catalog)
            if found is not None:
                input, columns[cast] = found, reference(field_of(found, name))
    return [_exchanged(each, columns) for each in values], input


def _carrying(relation: Relation, column: str, day: Expr, name: str, catalog: Catalog) -> Relation | None:
    """The relation with the day of a column under a new name; None where no owner can compute it. day: its type."""
    match relation:
        case Scan():
            return _beside(relation, name, _of(reference(field_of(relation, column)), day))
        case Project(input, outputs):
            return _projected(input, outputs, column, day, name, catalog)
        case Filter() | Sort() | Limit():
            found = _carrying(relation.input, column, day, name, catalog)
            return None if found is None else replace(relation, input=found)
        case Union(inputs):
            carried = [_carrying(each, column, day, name, catalog) for each in inputs]
            return Union(tuple(each for each in carried if each)) if all(carried) else None
        case Mark(input) if column in names(input):
            found = _carrying(input, column, day, name, catalog)
            return None if found is None else replace(relation, input=found)
        case Join(left) | Pairs(left) if column in names(left):
            found = _carrying(left, column, day, name, catalog)
            return None if found is None else replace(relation, left=found)
        case Join(_, right) | Pairs(_, right):
            found = _carrying(right, column, day, name, catalog)
            return None if found is None else replace(relation, right=found)
        case Window(input) if column in names(input):
            found = _carrying(input, column, day, name, catalog)
            return None if found is None else replace(relation, input=found)
        case Broadcast(input, scalar) if column in names(input):
            found = _carrying(input, column, day, name, catalog)
            return None if found is None else Broadcast(found, scalar)
        case Aggregate() if is_local(relation, catalog):
            return _beside(relation, name, _of(reference(field_of(relation, column)), day))
        case _:
            return None


def _projected(
    input: Relation, outputs: tuple[tuple[str, Expr], ...], column: str, day: Expr, name: str, catalog: Catalog
) -> Relation | None:
    """A projection with the day of one of its outputs."""
    moment = dict(outputs)[column]
    if not isinstance(moment, ColumnRef):
        constant = isinstance(moment, Literal) or (isinstance(moment, Call) and moment.op == "rescale")
        own = constant or is_local(input, catalog)
        return Project(input, (*outputs, (name, _of(moment, day)))) if own else None
    found = _carrying(input, moment.name, day, name, catalog)
    return None if found is None else Project(found, (*outputs, (name, reference(field_of(found, name)))))


def _of(moment: Expr, day: Expr) -> Expr:
    """The day of a moment, and of a day's first moment that day."""
    match moment:
        case Literal(int() as value):
            return Literal(value // DAY, Date(value // DAY, value // DAY))
        case Literal():
            return Literal(None, day.type)
        case Call("rescale", (inner,)):
            return inner
        case _:
            return Call("cast", (moment,), day.type, moment.nullable)


def _is_day(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.type, Date) and is_rounding(expr)


def _beside(relation: Relation, name: str, value: Expr) -> Project:
    kept = tuple((each.name, reference(each)) for each in fields(relation))
    return Project(relation, (*kept, (name, value)))


def _exchanged(expr: Expr, columns: dict[Expr, Expr]) -> Expr:
    if expr in columns:
        return columns[expr]
    if isinstance(expr, Call):
        return replace(expr, args=tuple(_exchanged(each, columns) for each in expr.args))
    return expr


def _fresh(name: str, relation: Relation) -> str:
    taken = _taken(relation)
    candidates = [name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))]
    return next(each for each in candidates if each.lower() not in taken)


def _taken(relation: Relation) -> frozenset[str]:
    own = frozenset(each.lower() for each in names(relation))
    return reduce(frozenset.union, map(_taken, children(relation)), own)

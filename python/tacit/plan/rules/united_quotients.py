"""DOUBLEs of both sides of a UNION ALL that are computed alike, as what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import reference, substitute
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Project, Relation, Union
from tacit.plan.algebra.types import Boolean, sql_name
from tacit.plan.facts.fields import field_of, fields

Parts = Mapping[str, Expr]


@dataclass(frozen=True)
class _Formula:
    """An expression over columns without their names, and the columns in the order in which it has them."""

    form: Expr
    columns: tuple[ColumnRef, ...]


def united(
    union: Union, sides: Sequence[tuple[Relation, Parts]], fresh: Callable[[str], str]
) -> tuple[Relation, Parts] | None:
    """The union of what its sides' DOUBLEs are made of, and the DOUBLEs over it; None where the sides differ.

    sides: each without its DOUBLEs, which are expressions over it. fresh: a name for a part of a column.
    """
    order = [each.name for each in fields(union)]
    formulas = {
        name: [_formula(parts[name]) if name in parts else None for _, parts in sides]
        for name in order
        if any(name in parts for _, parts in sides)
    }
    alike = {name: first for name, found in formulas.items() if (first := _shared(found)) is not None}
    if len(alike) < len(formulas):
        return None
    parts = {name: tuple(fresh(name) for _ in formula.columns) for name, formula in alike.items()}
    inputs = []
    for side, own in sides:
        kept = tuple((name, reference(field_of(side, name))) for name in order if name not in parts)
        inputs.append(Project(side, (*kept, *_named(parts, own))))
    result = Union(tuple(inputs), union.most)
    return result, {name: _over(formula, parts[name], result) for name, formula in alike.items()}


def _shared(formulas: Sequence[_Formula | None]) -> _Formula | None:
    """The one formula that all of them are."""
    first = formulas[0]
    if first is None or any(each is None or not _alike(first, each) for each in formulas):
        return None
    return first


def _named(names: Mapping[str, tuple[str, ...]], own: Parts) -> tuple[tuple[str, Expr], ...]:
    """The columns that the DOUBLEs of one side are made of, under their common names."""
    return tuple(item for name, parts in names.items() for item in zip(parts, _formula(own[name]).columns, strict=True))


def _over(formula: _Formula, parts: tuple[str, ...], relation: Relation) -> Expr:
    return substitute(
        formula.form, {f"#{place}": reference(field_of(relation, part)) for place, part in enumerate(parts)}
    )


def _formula(expr: Expr) -> _Formula:
    columns: list[ColumnRef] = []

    def without_names(each: Expr) -> Expr:
        match each:
            case ColumnRef():
                columns.append(each)
                return ColumnRef(f"#{len(columns) - 1}", Boolean(), True)
            case Literal():
                return each
            case Call():
                return replace(each, args=tuple(map(without_names, each.args)), nullable=True)

    return _Formula(without_names(expr), tuple(columns))


def _alike(a: _Formula, b: _Formula) -> bool:
    types = [[sql_name(column.type) for column in each.columns] for each in (a, b)]
    return a.form == b.form and types[0] == types[1]

"""DOUBLEs of both sides of a UNION ALL that are computed alike, as what they are made of.

Decimals of different scales are brought to the largest one where that changes no DOUBLE: where all have at most 53
bits, and a count times the power of five that divides it, too, at most 62. Then the same exact numbers are divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import reference, substitute
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator, Project, Relation, Union
from tacit.plan.algebra.types import Boolean, Decimal, Integer, Type, sql_name
from tacit.plan.facts.fields import field_of, fields

Parts = Mapping[str, Expr]
Named = tuple[tuple[str, Type], ...]
"""Columns by their names, with the types that they are brought to."""

EXACT: Final = 1 << 53
DIVISOR: Final = 1 << 62
MOST_DIGITS: Final = 38


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
    types = {name: _common_types([each.columns for each in found if each]) for name, found in formulas.items()}
    parts = {name: tuple((fresh(name), type_) for type_ in found) for name, found in types.items() if found is not None}
    if len(parts) < len(types):
        return None
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


def _named(names: Mapping[str, Named], own: Parts) -> tuple[tuple[str, Expr], ...]:
    """The columns that the DOUBLEs of one side are made of, under their common names and types."""
    return tuple(
        (part, _in_type(column, type_))
        for name, parts in names.items()
        for (part, type_), column in zip(parts, _formula(own[name]).columns, strict=True)
    )


def _over(formula: _Formula, parts: Named, relation: Relation) -> Expr:
    return substitute(
        formula.form, {f"#{place}": reference(field_of(relation, part)) for place, (part, _) in enumerate(parts)}
    )


def _common_types(sides: Sequence[tuple[ColumnRef, ...]]) -> tuple[Type, ...] | None:
    """The types that the columns of all sides are brought to; None where that might change a DOUBLE."""
    columns = [[each.type for each in column] for column in zip(*sides, strict=True)]
    if not any(map(_differ, columns)):
        return tuple(types[0] for types in columns)
    numbers = [each for types in columns for each in types if isinstance(each, Integer | Decimal)]
    if len(numbers) < sum(map(len, columns)):
        return None
    scale = max(map(_scale, numbers))
    few = all(_most(_rescaled(each, scale)) < EXACT for types in columns if _differ(types) for each in types)
    short = all(_most(each) * 5**scale < DIVISOR for types in columns if not _differ(types) for each in types)
    if not few or not short:
        return None
    return tuple(Decimal(MOST_DIGITS, scale, 0, 0) if _differ(types) else types[0] for types in columns)


def _differ(types: Sequence[Type]) -> bool:
    return len({sql_name(each) for each in types}) > 1


def _in_type(column: ColumnRef, type_: Type) -> Expr:
    if sql_name(column.type) == sql_name(type_):
        return column
    assert isinstance(type_, Decimal), "others are alike"
    found = _rescaled(column.type, type_.scale)
    op: Operator = "cast" if _scale(column.type) == type_.scale else "rescale"
    return Call(op, (column,), found, column.nullable)


def _rescaled(type_: Type, scale: int) -> Decimal:
    return Decimal(MOST_DIGITS, scale, *bounds.rescale(bounds.range_of(type_), scale - _scale(type_)))


def _most(type_: Type) -> int:
    return max(map(abs, bounds.range_of(type_)))


def _scale(type_: Type) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0


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
    return a.form == b.form and len(a.columns) == len(b.columns)

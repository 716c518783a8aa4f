"""Which outcomes conditions may have: all that some values of columns, within what is declared of these, give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import Any

from sqlglot import exp

from .offers import Column
from .tree import Expr, name_of
from .values import COMPARISONS, value

MOST = 4096
"""Combinations of values that are tried."""

COMPARING = (*COMPARISONS, exp.Between, exp.In)
BITS = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}


def outcomes(
    conditions: Sequence[Expr], filters: Sequence[Expr], columns: Mapping[str, Column]
) -> list[tuple[bool, ...]]:
    """The outcomes of the conditions in rows that all filters leave. columns: those that are declared.

    Where there are too many combinations, every comparison may be anything, and then every condition.
    """
    for all_free in (False, True):
        atoms = _Atoms(columns, all_free)
        decided, passed = list(map(atoms.freed, conditions)), list(map(atoms.freed, filters))
        names = {name_of(each): None for whole in (*decided, *passed) for each in whole.find_all(exp.Column)}
        tried = [atoms.values(name, decided + passed) for name in names]
        if prod(map(len, tried)) <= MOST:
            rows = [dict(zip(names, each, strict=True)) for each in product(*tried)]
            rows = [row for row in rows if all(value(each, row) for each in passed)]
            return list(dict.fromkeys(tuple(bool(value(each, row)) for each in decided) for row in rows))
    return list(product((False, True), repeat=len(conditions)))


@dataclass
class _Atoms:
    """Conditions in which atoms that may be anything are columns of their own. free: whether these may be NULL."""

    columns: Mapping[str, Column]
    all_free: bool
    free: dict[str, bool] = field(default_factory=dict)

    def freed(self, condition: Expr) -> Expr:
        read = [self.columns.get(name_of(each)) for each in condition.find_all(exp.Column)]
        if not read or (isinstance(condition, exp.Column) and read != [None]):
            return condition
        divides = isinstance(condition, exp.Div) and (
            condition.right.find(exp.Column) or not value(condition.right, {})
        )
        if divides or isinstance(condition, exp.Column) or self._compares_freely(condition):
            self.free[str(condition)] = bool(divides) or any(each is None or each.nullable for each in read)
            return exp.column(exp.to_identifier(str(condition)))
        whole = condition.copy()
        for part in list(whole.iter_expressions()):
            part.replace(self.freed(part))
        return whole

    def _compares_freely(self, atom: Expr) -> bool:
        """Whether it is a comparison of anything but one column, as it is declared, with constants."""
        if not isinstance(atom, COMPARING):
            return False
        (side, others), ordered = _sides(atom), not isinstance(atom, exp.EQ | exp.NEQ | exp.In)
        if self.all_free or not isinstance(side, exp.Column) or any(each.find(exp.Column) for each in others):
            return True
        column = self.columns.get(name_of(side))
        return column is None or (ordered and column.type == "VARCHAR" and column.values is None)

    def values(self, name: str, expressions: Iterable[Expr]) -> list[Any]:
        """Values of a column, one for each place between or at the constants that it is compared with."""
        if name in self.free:
            return [False, True, None] if self.free[name] else [False, True]
        column = self.columns[name]
        found = {each: None for whole in expressions for each in _constants(name, whole)}
        own = _of_type(column, [each for each in found if each is not None])
        return [*own, *([None] if column.nullable else [])]


def _sides(atom: Expr) -> tuple[Expr, list[Expr]]:
    """What is compared, and with what."""
    match atom:
        case exp.In():
            return atom.this.unnest(), atom.expressions
        case exp.Between():
            return atom.this.unnest(), [atom.args["low"], atom.args["high"]]
    left, right = (atom.args[side].unnest() for side in ("this", "expression"))
    return (left, [right]) if left.find(exp.Column) else (right, [left])


def _constants(name: str, expression: Expr) -> Iterator[Any]:
    for side, others in map(_sides, expression.find_all(*COMPARING)):
        if isinstance(side, exp.Column) and name_of(side) == name:
            yield from (value(each, {}) for each in others)


def _of_type(column: Column, constants: list[Any]) -> list[Any]:
    if column.type == "BOOLEAN":
        return [False, True]
    if column.values is not None:
        return list(column.values)
    if column.type == "VARCHAR":
        fitting = [each for each in constants if column.length is None or len(each) <= column.length]
        other = next(each for each in ("", *map(chr, range(97, 97 + 26))) if each not in constants)
        return [*fitting, other]
    return _on_grid(column, constants)


def _on_grid(column: Column, constants: list[Any]) -> list[Any]:
    """Numbers and dates: next to the constants, and at the ends."""
    least, most = (floor(_number(column, each)) for each in _ends(column))
    near = [floor(_number(column, each)) + by for each in constants for by in (-1, 0, 1)]
    ends = [least, most] if constants else [least]
    return [_typed(column, each) for each in dict.fromkeys([*ends, *near]) if least <= each <= most]


def _ends(column: Column) -> tuple[Any, Any]:
    """The least and the greatest value."""
    if column.type == "DATE":
        ends: tuple[Any, Any] = (date.min, date.max)
    elif column.type.startswith("DECIMAL"):
        ends = (-(10**38), 10**38)
    else:
        ends = (-(2 ** BITS.get(column.type, 127)), 2 ** BITS.get(column.type, 127) - 1)
    return tuple(end if own is None else own for own, end in zip((column.least, column.most), ends, strict=True))


def _number(column: Column, given: Any) -> Fraction:
    """A value as a number of steps."""
    if column.type == "DATE":
        return Fraction((date.fromisoformat(given) if isinstance(given, str) else given).toordinal())
    return Fraction(str(given)) * Fraction(10) ** _scale(column)


def _typed(column: Column, steps: int) -> Any:
    if column.type == "DATE":
        return date.fromordinal(steps)
    return Decimal(steps).scaleb(-_scale(column)) if _scale(column) else steps


def _scale(column: Column) -> int:
    return int(column.type.rstrip(")").partition(",")[2] or 0) if column.type.startswith("DECIMAL") else 0

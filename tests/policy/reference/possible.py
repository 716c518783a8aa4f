"""Which outcomes conditions may have: all that some values of columns, within what is declared of these, give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from sqlglot import exp

from . import domains
from .offers import Column
from .tree import Expr, name_of, names_in
from .values import COMPARISONS, value

MOST = 4096
"""Combinations of values that are tried."""

COMPARING = (*COMPARISONS, exp.Between, exp.In)


def outcomes(
    conditions: Sequence[Expr], filters: Sequence[Expr], columns: Mapping[str, Column]
) -> list[tuple[bool, ...]]:
    """The outcomes of the conditions in rows that all filters leave. columns: those that are declared.

    Where there are too many combinations, every comparison may be anything, and then every condition.
    """
    given = _related(conditions, filters)
    for all_free in (False, True):
        atoms = _Atoms(columns, all_free)
        decided, passed = list(map(atoms.freed, conditions)), list(map(atoms.freed, given))
        names = list(dict.fromkeys(name for whole in (*decided, *passed) for name in names_in(whole)))
        tried = [atoms.values(name, decided + passed) for name in names]
        if prod(map(len, tried)) <= MOST:
            rows = [dict(zip(names, each, strict=True)) for each in product(*tried)]
            rows = [row for row in rows if all(value(each, row) for each in passed)]
            return list(dict.fromkeys(tuple(bool(value(each, row)) for each in decided) for row in rows))
    return list(product((False, True), repeat=len(conditions)))


def _related(conditions: Sequence[Expr], filters: Sequence[Expr]) -> list[Expr]:
    """The filters of what conditions read, or of what another one of these filters reads."""
    known = {name for each in conditions for name in names_in(each)}
    found: list[Expr] = []
    while more := [each for each in filters if each not in found and known & set(names_in(each))]:
        found += more
        known.update(name for each in more for name in names_in(each))
    return found


@dataclass
class _Atoms:
    """Conditions in which atoms that may be anything are columns of their own. free: whether these may be NULL."""

    columns: Mapping[str, Column]
    all_free: bool
    free: dict[str, bool] = field(default_factory=dict)

    def freed(self, condition: Expr) -> Expr:
        read = [self.columns.get(name) for name in names_in(condition)]
        if not read or (isinstance(condition, exp.Column) and read != [None]):
            return condition
        divides = isinstance(condition, exp.Div) and (names_in(condition.right) or not value(condition.right, {}))
        if divides or isinstance(condition, exp.Column) or self._compares_freely(condition):
            self.free[str(condition)] = bool(divides) or any(each is None or each.nullable for each in read)
            return exp.column(exp.to_identifier(str(condition)))
        whole = condition.copy()
        for part in list(whole.iter_expressions()):
            part.replace(self.freed(part))
        return whole

    def _compares_freely(self, atom: Expr) -> bool:
        """Whether it is no comparison of columns as they are declared, or of a choice of these, with constants."""
        if not isinstance(atom, COMPARING):
            return False
        side, others = _sides(atom)
        return self.all_free or any(map(names_in, others)) or not all(self._is_plain(atom, e) for e in _chosen(side))

    def _is_plain(self, atom: Expr, side: Expr) -> bool:
        if not isinstance(side, exp.Column):
            return not names_in(side)
        column = self.columns.get(name_of(side))
        by_order = not isinstance(atom, exp.EQ | exp.NEQ | exp.In)
        return column is not None and not (by_order and column.type == "VARCHAR" and column.values is None)

    def values(self, name: str, expressions: Iterable[Expr]) -> list[Any]:
        """Values of a column that matter."""
        if name in self.free:
            return [False, True, None] if self.free[name] else [False, True]
        return domains.values(self.columns[name], (each for whole in expressions for each in _constants(name, whole)))


def _sides(atom: Expr) -> tuple[Expr, list[Expr]]:
    """What is compared, and with what."""
    match atom:
        case exp.In():
            return atom.this, atom.expressions
        case exp.Between():
            return atom.this, [atom.args["low"], atom.args["high"]]
    left, right = (atom.args[side] for side in ("this", "expression"))
    return (left, [right]) if names_in(left) else (right, [left])


def _chosen(side: Expr) -> list[Expr]:
    """What a side may be, if it is a choice."""
    match side:
        case exp.Paren():
            return _chosen(side.this)
        case exp.Case():
            parts = [*(each.args["true"] for each in side.args["ifs"]), side.args.get("default") or exp.Null()]
        case exp.Coalesce():
            parts = [side.this, *side.expressions]
        case _:
            return [side]
    return [each for part in parts for each in _chosen(part)]


def _constants(name: str, expression: Expr) -> Iterator[Any]:
    for side, others in map(_sides, expression.find_all(*COMPARING)):
        if any(isinstance(each, exp.Column) and name_of(each) == name for each in _chosen(side)):
            yield from (value(each, {}) for each in others)

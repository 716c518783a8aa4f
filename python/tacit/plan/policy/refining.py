"""Conditions of the aggregates of one row: in which cells of them rows of a scan may be.

A cell of written conditions may be empty only where the text of the query says that it is. That it holds no unit,
where it might hold one, tells of that unit. Which stored values are NULL is not written in the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tacit.plan.algebra.relations import Expr, Relation, Scan
from tacit.plan.facts.fields import column
from tacit.plan.policy.conditions import every, positive, same
from tacit.plan.policy.constants import Constant, NotConstant, constant, unchanged, written
from tacit.plan.policy.counting import cell, cells
from tacit.plan.policy.expanded import Expanded, expanded
from tacit.plan.policy.guards import Guard
from tacit.plan.policy.outcomes import outcomes


@dataclass(frozen=True)
class Refinement:
    """Of the rows that stem from one scan. written: the cells of written conditions that rows may be in.

    possible: those of all conditions; every: these and the others. constants: columns that are one constant in all of
    these rows.
    """

    written: tuple[Expr, ...]
    possible: tuple[Expr, ...]
    every: tuple[Expr, ...]
    constants: Mapping[str, Constant]

    def may_be_of(self, relation: Relation, keys: Sequence[str]) -> Expr | None:
        """Whether a group may have such rows, by its keys; None if each may."""
        found = [(column(relation, each), self.constants[each]) for each in keys if each in self.constants]
        known = [(key, value) for key, each in found if (value := written(each, key.type)) is not None]
        return every(*(positive(same(key, value)) for key, value in known)) if known else None


def refinement(
    relation: Relation, scan: Scan, conditions: Sequence[Expr], holds: Sequence[Expr], guard: Guard
) -> Refinement:
    """conditions: distinct ones of columns of the relation, never NULL. holds: further ones that count as TRUE."""
    known = expanded(relation, scan, guard.unknown, guard.catalog)
    given = [*known.holds, *map(known.of, holds)]
    by_text = [each for each in conditions if not known.tells_nulls_alone(known.of(each))]
    possible = _possible(known, conditions, given)
    whole = tuple(cells(conditions)) if conditions else ()
    return Refinement(_possible(known, by_text, given), possible, whole, dict(_constants(known)))


def _possible(known: Expanded, conditions: Sequence[Expr], given: Sequence[Expr]) -> tuple[Expr, ...]:
    """The cells of conditions that rows may be in; none without conditions."""
    found = outcomes([known.of(each) for each in conditions], given)
    listed = found if found is not None else product((True, False), repeat=len(conditions))
    return tuple(cell(conditions, each) for each in sorted(listed, reverse=True)) if conditions else ()


def _constants(known: Expanded) -> Iterator[tuple[str, Constant]]:
    for name, each in known.columns.items():
        try:
            yield name, constant(unchanged(each))
        except NotConstant:
            continue

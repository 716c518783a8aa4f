"""Joins whose owners sort what they share: then the nodes merge the rows of both sides instead of sorting them.

Both sides are inputs, of which conditions and projections under MPC keep all rows in their order. The left owner's keys
are unique in all its rows, not only in those that fulfil such conditions. Which joins are merged is decided by the
predicted time of the whole plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.plan.algebra.relations import Relation
from tacit.plan.physical.operators import Filter, Project
from tacit.plan.physical.placed import InputStep, SecureStep, Step
from tacit.plan.physical.values import Column


@dataclass(frozen=True)
class Sortable:
    """An input that its owner can sort by these columns."""

    step: InputStep
    columns: tuple[str, ...]


def sortable(steps: Sequence[Step], table: int, columns: tuple[str, ...]) -> Sortable | None:
    """The input whose rows, in their order, a step's table has, with these columns; None if there is none.

    steps: all that are placed, the first one has id 1.
    """
    step = steps[table - 1]
    match step:
        case InputStep():
            return Sortable(step, columns)
        case SecureStep(Filter(_, source)):
            return sortable(steps, source, columns)
        case SecureStep(Project(_, source, listed)):
            passed: dict[str, str] = {}
            for each in listed:
                if isinstance(each.expr, Column):
                    passed.setdefault(each.expr.name, each.name)
            old = {name: source_column for source_column, name in passed.items()}
            return sortable(steps, source, tuple(old[name] for name in columns)) if old.keys() >= set(columns) else None
        case _:
            return None


def agree(sides: Sequence[Sortable]) -> bool:
    """Whether the owners can sort all inputs so, as far as their order is not settled otherwise."""
    wanted: dict[int, tuple[str, ...]] = {}
    return all(
        wanted.setdefault(side.step.id, side.step.operator.sorted_by or side.columns) == side.columns for side in sides
    )


def choose_merged(
    mergeable: Sequence[Relation], seconds: Callable[[frozenset[Relation]], float]
) -> tuple[frozenset[Relation], float]:
    """The joins that are merged in the fastest plan, and its time. seconds: that of the plan which merges these."""
    chosen: frozenset[Relation] = frozenset()
    least = seconds(chosen)
    for join in mergeable:
        found = seconds(chosen | {join})
        if found < least:
            chosen, least = chosen | {join}, found
    return chosen, least

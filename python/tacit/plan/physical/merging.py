"""Joins whose owners sort what they share: then the nodes merge the rows of both sides instead of sorting them.

Both sides are inputs, of which conditions and projections under MPC keep all rows in their order. The left owner's keys
are unique in all its rows, not only in those that fulfil such conditions. Which joins are merged is decided by the
predicted time of the whole plan (tacit.plan.rules.merging).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.plan.physical.operators import Filter, Join, Project
from tacit.plan.physical.placed import InputStep, SecureStep, Step
from tacit.plan.physical.values import Column


@dataclass(frozen=True)
class Sortable:
    """An input that its owner can sort by these columns. step: its id."""

    step: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """A join that can merge what its owners sort. step: the join's id. inputs: those of its left and its right side."""

    step: int
    inputs: tuple[Sortable, Sortable]


def sortable(steps: Sequence[Step], table: int, columns: tuple[str, ...]) -> Sortable | None:
    """The input whose rows, in their order, a step's table has, with these columns; None if there is none.

    steps: all that are placed, the first one has id 1.
    """
    step = steps[table - 1]
    match step:
        case InputStep():
            return Sortable(step.id, columns)
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


def agree(merges: Iterable[Merge]) -> bool:
    """Whether the owners can sort the inputs of all: each input has one order."""
    wanted: dict[int, tuple[str, ...]] = {}
    inputs = (side for each in merges for side in each.inputs)
    return all(wanted.setdefault(side.step, side.columns) == side.columns for side in inputs)


def with_merged(steps: Sequence[Step], merges: Iterable[Merge]) -> tuple[Step, ...]:
    """The steps where these joins are merges, and owners sort the inputs of them."""
    changed = list(steps)
    for each in merges:
        join = changed[each.step - 1]
        assert isinstance(join, SecureStep) and isinstance(join.operator, Join)
        changed[each.step - 1] = replace(join, operator=replace(join.operator, merged=True))
        for side in each.inputs:
            step = changed[side.step - 1]
            assert isinstance(step, InputStep)
            changed[side.step - 1] = replace(step, operator=replace(step.operator, sorted_by=side.columns))
    return tuple(changed)

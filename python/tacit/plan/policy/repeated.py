"""Rows that others repeat: how often is a weight, and in which groups or cells is a choice.

What matters is whether a recipient knows how often, as of its own rows and of those that it sees.
"""

from __future__ import annotations

from typing import Final

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Aggregation
from tacit.plan.policy.chosen import is_chosen
from tacit.plan.policy.offers import knows
from tacit.plan.policy.state import NOTHING, Instance, Item, Items, State

ADDING: Final = ("sum", "count", "count_rows", "middle", "ranked")
"""Aggregates that change where rows are repeated."""


def repeats(each: Aggregation, below: State, ruled: frozenset[Instance], recipients: tuple[str, ...]) -> Items:
    """Rows of a recipient's table may count a row several times, which is a weight too.

    So may they put it in several cells of conditions, which may then differ by few units.
    """
    if each.function not in ADDING and (each.column is None or not below.columns[each.column].conditions):
        return NOTHING
    return repeating(ruled, below, recipients, each.position)


def repeating(
    ruled: frozenset[Instance], below: State, recipients: tuple[str, ...], position: Position | None = None
) -> Items:
    """Instances whose rows are there several times, by rows of which a recipient knows how many there are."""
    return frozenset(
        Item(one, None, "repeats", detail=other.table.name, position=position)
        for one in ruled
        for other in below.repeated.get(one, frozenset())
        if other != one and not listed(one, other, "") and _counts_for(other, one, below, recipients)
    )


def _counts_for(other: Instance, one: Instance, below: State, recipients: tuple[str, ...]) -> bool:
    """Whether a recipient knows how often rows of another instance are there, or says so by rows that it knows."""
    if other in below.many or any(knows(other.table, None, each) for each in recipients if each != one.owner):
        return True
    return is_chosen(other, one, below, recipients)


def listed(instance: Instance, other: Instance, column: str) -> bool:
    """Whether an owner's ``weights`` have a column of a recipient's table, or all of it."""
    listed = instance.table.terms.weights if instance.table.terms else frozenset()
    return f"{other.table.name}.*" in listed or column in listed

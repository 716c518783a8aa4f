"""Padding that is dropped: rows under MPC that are not valid, where it is known how many others there are.

Rows that a condition or a join leaves out stay in a shared table, so that nobody learns how many these are. Steps
behind compute on them, too. Where public bounds say that fewer rows can be valid than a table has, the others are
dropped, and nobody learns anything. Where owners let all nodes count what is left (tacit.plan.facts.countable), the
exact number of valid rows is opened to these instead.

The steps that drop most are weighed, from the inputs up, by the predicted time of the whole plan. A number is
opened only where that saves more than predictions are off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from tacit.plan.algebra.relations import (
    Aggregate,
    Filter,
    Join,
    Mark,
    Match,
    Pairs,
    Relation,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children
from tacit.plan.facts.countable import may_be_counted
from tacit.plan.facts.selectivity import expected_valid
from tacit.plan.facts.valid import valid_bound
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.stage import Pricing, Resized, Stage

MOST_WEIGHED = 6
"""Of the steps whose padding can be dropped, no more than this number are weighed: each is a plan to price."""

ALIKE = 0.01
"""Predicted times that differ by less than this share count as equal: predictions are no more exact."""


@dataclass(frozen=True)
class _Weighing:
    """counting: whether numbers of valid rows may be opened at all. That of a kept table its description would tell."""

    pricing: Pricing
    counting: bool

    def options(self, stage: Stage) -> tuple[Resized, ...]:
        """What can be dropped, from the inputs up: those steps that drop most."""
        worked_on = frozenset(_worked_on(stage.core))
        found = [
            (rows - each.rows, each)
            for relation, rows in self.pricing.bounds(stage)
            if relation in worked_on and not is_local(relation, self.pricing.catalog)
            for each in self._of(relation, rows)
        ]
        most = sorted(found, key=lambda each: each[0], reverse=True)[:MOST_WEIGHED]
        return tuple(each for dropped, each in found if (dropped, each) in most)

    def _of(self, relation: Relation, rows: int) -> Iterator[Resized]:
        """What can be dropped of one relation: by a bound before by a number."""
        if not isinstance(relation, Filter | Join | Pairs | Union | Aggregate | Match):
            return
        most = valid_bound(relation, self.pricing.catalog)
        if most is not None and most < rows:
            yield Resized(relation, most)
        if self.counting and may_be_counted(relation, self.pricing.catalog, self.pricing.recipients):
            yield Resized(relation, None, min(ceil(expected_valid(relation)), rows))

    def gain(self, before: Stage, after: Stage, option: Resized) -> bool:
        """Whether a plan takes so much less time that it is worth what it shows."""
        least = ALIKE if option.most is None else 0.0
        return self.pricing.seconds(after) < self.pricing.seconds(before) * (1 - least)


def choose_resized(stage: Stage, pricing: Pricing, counting: bool) -> Stage:
    """The stage without padding where that is faster, and what it saves there."""
    weighing = _Weighing(pricing, counting)
    for option in weighing.options(stage):
        others = frozenset(each for each in stage.resized if each.relation != option.relation)
        changed = replace(stage, resized=others | {option})
        if weighing.gain(stage, changed, option):
            stage = changed
    for option in _in_order(stage, pricing):
        without = replace(stage, resized=stage.resized - {option})
        if not weighing.gain(without, stage, option):
            stage = without
    return replace(stage, saves={each.relation: _reason(stage, each, pricing) for each in _in_order(stage, pricing)})


def _worked_on(relation: Relation) -> Iterator[Relation]:
    """The relations whose rows a later step compares or moves: where none does, padding costs little."""
    for child in children(relation):
        if isinstance(relation, Join | Mark | Window | Sort) or (isinstance(relation, Aggregate) and relation.keys):
            yield from _all(child)
        else:
            yield from _worked_on(child)


def _all(relation: Relation) -> Iterator[Relation]:
    yield relation
    for child in children(relation):
        yield from _all(child)


def _in_order(stage: Stage, pricing: Pricing) -> tuple[Resized, ...]:
    """What is dropped, in the order of the steps."""
    chosen = {each.relation: each for each in stage.resized}
    return tuple(chosen[relation] for relation, _ in pricing.bounds(stage) if relation in chosen)


def _reason(stage: Stage, option: Resized, pricing: Pricing) -> str:
    without = pricing.predicted(replace(stage, resized=stage.resized - {option}))
    known = "the owners consent to its number of rows" if option.most is None else f"at most {option.most:,} are valid"
    guess = f"; about {option.expected:,} are expected" if option.most is None else ""
    return f"{known}: predicted {pricing.predicted(stage).text} in all, {without.text} with its padding{guess}"

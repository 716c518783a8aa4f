"""The optimiser: rules in a fixed order, again and again until none changes anything.

A pass of a rule stays only if the graph is predicted to take less time, or as much with fewer operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tacit.plan.programs import rules_of_choices as choices
from tacit.plan.programs import rules_of_functions as functions
from tacit.plan.programs import rules_of_sums as sums
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.limits import FOR_RULES, MOST_VISITS
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.rewriting import Rule, rewritten
from tacit.plan.programs.schedule import Schedule, scheduled

RULES: tuple[tuple[str, Rule], ...] = (
    ("where as max, min or abs", choices.extremes),
    ("choices by one condition", choices.one_choice),
    ("where with zero as a product", choices.chosen_or_zero),
    ("comparison of increasing functions", choices.monotone_comparison),
    ("position of the largest", choices.place_of_increasing),
    ("extremes before bounds", choices.extremes_first),
    ("constants folded", functions.folded_constants),
    ("square of a root", functions.square_of_root),
    ("inverse root", functions.inverse_root),
    ("one exponential", functions.one_exponential),
    ("one reciprocal", functions.one_reciprocal),
    ("order of matrix products", functions.product_order),
    ("common factor", sums.common_factor),
    ("sum of products as one product", sums.inner_product),
    ("late truncation", sums.late_truncation),
    ("functions of numbers that are not cut", functions.untruncated_argument),
)

MOST_PASSES = 64
"""Passes over all rules: each makes the graph cheaper, so that few are needed."""


@dataclass(frozen=True)
class Saving:
    """What a rule saved: predicted rounds and bytes."""

    rule: str
    rounds: int
    bytes: float


@dataclass(frozen=True)
class Optimised:
    """A graph before and after the rules."""

    before: Mapping[str, Node]
    after: Mapping[str, Node]
    savings: tuple[Saving, ...]


def optimised(graph: Graph, outputs: Mapping[str, Node]) -> Optimised:
    """The outputs after the rules, and what each rule saved."""
    now, savings = dict(outputs), list[Saving]()
    kept, graph.room = graph.room, min(graph.room, FOR_RULES)
    visits = 0
    for _ in range(MOST_PASSES):
        before = len(savings)
        for name, rule in RULES:
            visits += len(reachable(now.values()))
            if visits <= MOST_VISITS:
                now = _passed(graph, now, name, rule, savings)
        if len(savings) == before:
            break
    graph.room = kept
    return Optimised(outputs, now, tuple(savings))


def _passed(graph: Graph, outputs: dict[str, Node], name: str, rule: Rule, savings: list[Saving]) -> dict[str, Node]:
    try:
        found = rewritten(graph, outputs, rule)
    except ProgramError:
        return outputs  # With other facts of its operands, some node would not fit: the pass is dropped.
    if all(found[each] is outputs[each] for each in outputs):
        return outputs
    old, new = scheduled(outputs.values()), scheduled(found.values())
    if _rank(new, found) >= _rank(old, outputs):
        return outputs
    savings.append(Saving(name, old.cost.rounds - new.cost.rounds, old.cost.bytes - new.cost.bytes))
    return found


def _rank(schedule: Schedule, outputs: Mapping[str, Node]) -> tuple[float, int]:
    return schedule.cost.seconds, len(reachable(outputs.values()))

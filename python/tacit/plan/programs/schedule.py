"""When operations run: those that do not wait for each other share rounds.

An operation begins when its operands are there. Operations that begin in one round and are of one kind share messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.plan.programs.costs import Cost, costs
from tacit.plan.programs.nodes import Node, reachable


@dataclass(frozen=True)
class Schedule:
    """The rounds of a graph. levels: the nodes that begin together and are of one kind, by round and kind.

    alone: the rounds if each operation waited for the one before it.
    """

    cost: Cost
    alone: int
    levels: tuple[tuple[int, str, tuple[Node, ...]], ...]


def scheduled(outputs: Iterable[Node]) -> Schedule:
    """The schedule of the nodes that outputs need."""
    nodes = reachable(outputs)
    each = costs(nodes)
    ends: dict[int, int] = {}
    levels: dict[tuple[int, str], list[Node]] = {}
    for node in nodes:
        begin = max((ends[arg.number] for arg in node.args), default=0)
        ends[node.number] = begin + each[node.number].rounds
        if each[node.number].rounds:
            levels.setdefault((begin, type(node.operation).__name__), []).append(node)
    total = Cost(max(ends.values(), default=0), sum(cost.bytes for cost in each.values()))
    ordered = tuple((begin, kind, tuple(found)) for (begin, kind), found in sorted(levels.items()))
    return Schedule(total, sum(cost.rounds for cost in each.values()), ordered)

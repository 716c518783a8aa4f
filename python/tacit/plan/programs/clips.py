"""Clips: numbers between two ends, whose comparisons do not wait for each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tacit.plan.programs.nodes import Node, uses
from tacit.plan.programs.operations import Maximum, Minimum


@dataclass(frozen=True)
class Clip:
    """A smaller of a larger of two, whose ends are in order. inner: the larger, which nothing else takes."""

    inner: Node
    number: Node
    low: Node
    high: Node


def clips(nodes: Iterable[Node], shown: Collection[int] = ()) -> dict[int, Clip]:
    """The clips among nodes, by the numbers of those that give them. shown: numbers of nodes that are asked for."""
    all_nodes = list(nodes)
    takers = uses(all_nodes)
    found = {}
    for node in all_nodes:
        if isinstance(node.operation, Minimum):
            for inner, high in (node.args, node.args[::-1]):
                single = inner.number not in shown and len(takers[inner.number]) == 1
                clip = _ends(inner, high) if single and isinstance(inner.operation, Maximum) else None
                if clip is not None:
                    found[node.number] = clip
    return found


def _ends(inner: Node, high: Node) -> Clip | None:
    """A clip of what a maximum takes, if one operand is nowhere above the upper end."""
    for number, low in (inner.args, inner.args[::-1]):
        if low.array.high <= high.array.low:
            return Clip(inner, number, low, high)
    return None

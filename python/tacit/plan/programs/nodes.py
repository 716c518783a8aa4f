"""Nodes of a program's graph: frozen, each made once, equal only to themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from tacit.plan.programs.facts import Array
from tacit.plan.programs.operations import Check, Constant, Operation


@dataclass(frozen=True, eq=False)
class Node:
    """An operation on nodes. array: what is known of its result. number: its place in the order of making."""

    operation: Operation
    args: tuple[Node, ...] = field(repr=False)
    array: Array
    number: int
    line: int | None = field(default=None, repr=False)

    @property
    def is_public(self) -> bool:
        """Whether it is a public array."""
        return isinstance(self.operation, Constant)


def is_checked(node: Node) -> bool:
    """Whether a run has to check bounds that the node has: the array's own do not prove them."""
    match node.operation:
        case Check(low, high):
            given = node.args[0].array
            return given.size > 0 and (given.low < low or given.high > high)
        case _:
            return False


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """The nodes that outputs need, each behind those that it needs."""
    found: dict[int, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.number not in found:
            found[node.number] = node
            waiting.extend(node.args)
    return [found[number] for number in sorted(found)]


def uses(nodes: Iterable[Node]) -> dict[int, list[Node]]:
    """Who takes each node, by its number."""
    found: dict[int, list[Node]] = {}
    for node in nodes:
        for arg in node.args:
            found.setdefault(arg.number, []).append(node)
    return found


def behind(outputs: Mapping[str, Node], kind: type[Operation]) -> dict[str, list[Node]]:
    """The nodes of a kind that each output needs, in the order of making. One pass over all nodes, with a bit for each.

    kind: of operations that take no operands.
    """
    nodes = reachable(outputs.values())
    leaves = [node for node in nodes if isinstance(node.operation, kind)]
    masks = {node.number: 1 << place for place, node in enumerate(leaves)}
    for node in nodes:
        masks.setdefault(node.number, reduce(or_, (masks[arg.number] for arg in node.args), 0))
    return {
        name: [leaf for place, leaf in enumerate(leaves) if masks[node.number] >> place & 1]
        for name, node in outputs.items()
    }

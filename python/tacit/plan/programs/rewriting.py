"""How a rule changes a graph: node by node, operands first.

A node takes another's place only if it has its shape, type and format, and no larger error. No pass takes a check away:
rules believe the bounds that it states, also for a result that does not need the checked numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node, is_checked, reachable, uses
from tacit.plan.programs.refusals import ProgramError


@dataclass(frozen=True)
class Site:
    """Where a rule looks: a node, and what takes its operands."""

    graph: Graph
    node: Node
    takers: Mapping[int, int]

    def is_single(self, node: Node) -> bool:
        """Whether nothing else takes a node's result, so that it goes with the node that takes it."""
        return self.takers.get(node.number, 0) <= 1


Rule = Callable[[Site], Node | None]
"""What is to take the place of a site's node, None where the rule has nothing to say."""


def rewritten(graph: Graph, outputs: Mapping[str, Node], rule: Rule) -> dict[str, Node]:
    """The outputs after one pass of a rule, or as they are where a check of bounds would be lost."""
    nodes = reachable(outputs.values())
    taken = uses(nodes)
    takers = {number: len(found) for number, found in taken.items()}
    for node in outputs.values():
        takers[node.number] = takers.get(node.number, 0) + 2
    now: dict[int, Node] = {}
    checks: list[Node] = []
    for node in nodes:
        args = [now[arg.number] for arg in node.args]
        for new, old in zip(args, node.args, strict=True):
            takers[new.number] = max(takers.get(new.number, 0), takers[old.number])
        graph.line = node.line
        again = graph.again(node, args)
        if is_checked(again):
            checks.append(again)
        found = _tried(rule, Site(graph, again, takers))
        now[node.number] = again if found is None or not takes_place(found, again) else found
    made = {name: now[node.number] for name, node in outputs.items()}
    left = {node.number for node in reachable(made.values())}
    return made if all(check.number in left for check in checks) else dict(outputs)


def _tried(rule: Rule, site: Site) -> Node | None:
    try:
        return rule(site)
    except ProgramError:
        return None


def takes_place(new: Node, old: Node) -> bool:
    """Whether a node may stand where another stood."""
    a, b = new.array, old.array
    same = (a.shape, a.dtype, a.fraction, a.ring) == (b.shape, b.dtype, b.fraction, b.ring)
    return same and a.error <= b.error and (b.near or not a.near)

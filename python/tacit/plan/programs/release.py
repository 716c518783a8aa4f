"""What is released is cut by floor (docs/protocols/arrays.md).

A dithered truncation is a function of shares. Whoever sees its result, and knows its own shares, learns a bit of what
was cut off. So every way from a release back to a dithered truncation passes one that rounds down. That leaves a bit of
each dithered number at most: where what is made of it is larger than what floor cuts off, it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tacit.plan.programs.dtypes import range_of
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.infer_functions import MOST_BITS
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import Divide, Floor, Function, Shift, Truncate
from tacit.plan.programs.refusals import ProgramError

GUARD = 1
"""More bits after the point of a function or quotient whose result is released: they are cut off by floor."""


def released(graph: Graph, outputs: Mapping[str, Node]) -> dict[str, Node]:
    """The outputs with what they show cut by floor.

    A truncation that shows is floor wherever its result goes: cutting one number twice would tell more of it.
    """
    for name, node in outputs.items():
        _holds(name, node)
    shown = {node.number for node in showing(outputs.values())}
    now: dict[int, Node] = {}
    for node in reachable(outputs.values()):
        graph.line = node.line
        again = graph.again(node, [now[arg.number] for arg in node.args])
        now[node.number] = _cut(graph, again) if node.number in shown else again
    return {name: now[node.number] for name, node in outputs.items()}


def _holds(name: str, node: Node) -> None:
    """Refuse an output that NumPy's type of it does not hold: it would wrap around."""
    array = node.array
    if array.dtype == "fixed":
        return
    low, high = range_of(array.dtype)
    if array.low < low or array.high > high or array.fraction:
        raise ProgramError(
            f"the result {name} may be from {array.low} to {array.high}, and {array.dtype} holds {low} to {high}; "
            "bound it with np.clip, or take a wider type with .astype.",
            node.line,
        )


def showing(outputs: Iterable[Node]) -> list[Node]:
    """The nodes that are rounded by dither and are behind outputs with no cut by floor between."""
    found, seen, waiting = list[Node](), set[int](), list(outputs)
    while waiting:
        node = waiting.pop()
        if node.number in seen or _is_cut(node):
            continue
        seen.add(node.number)
        if isinstance(node.operation, Truncate | Function | Divide):
            found.append(node)
        else:
            waiting.extend(node.args)
    return found


def _is_cut(node: Node) -> bool:
    """Whether nothing of what is behind a node shows in it but the integers below."""
    match node.operation:
        case Floor(bits):
            return bits > 0
        case Truncate(_, floor):
            return floor
        case _:
            return False


def _cut(graph: Graph, node: Node) -> Node:
    """The same number, cut by floor."""
    match node.operation:
        case Truncate(bits):
            return graph.make(Truncate(bits, True), *node.args)
        case Function(name, fraction) if fraction + GUARD <= MOST_BITS:
            return _guarded(graph, node, Function(name, fraction + GUARD))
        case Divide(fraction):
            return _guarded(graph, node, Divide(fraction + GUARD))
        case _:
            return _without_last(graph, node)


def _guarded(graph: Graph, node: Node, finer: Function | Divide) -> Node:
    try:
        return graph.make(Truncate(GUARD, True), graph.make(finer, *node.args))
    except ProgramError:
        return _without_last(graph, node)


def _without_last(graph: Graph, node: Node) -> Node:
    """Where there is no room for a guard bit: the last bit is zero."""
    return graph.make(Shift(GUARD), graph.make(Truncate(GUARD, True), node))

"""Arrays brought to one format, and the ladder of formats that a product may need.

Where a product does not fit the ring of 64 bits, shorter factors are tried, if that at most doubles the error. Then
comes the ring of 128 bits, for this product alone. A long sum is split into parts before that, in
tacit.plan.programs.products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.plan.programs.facts import RINGS, SLACK, Array
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Constant, Multiply, Narrow, Shift, Truncate, Widen
from tacit.plan.programs.public import NEGLIGIBLE, Public, encoded
from tacit.plan.programs.refusals import TooWide

Product = Callable[[Node, Node], Node]
"""Multiplies two nodes and keeps all bits."""

HALF = Fraction(1, 2)
SHORTER = 8
"""How many fewer bits after the point a factor may have than the program asks for."""


def truncated(graph: Graph, node: Node, bits: int) -> Node:
    """The last bits cut off, once where they are cut off twice."""
    if bits <= 0:
        return node
    match node.operation:
        case Truncate(before, floor):
            return graph.make(Truncate(before + bits, floor), *node.args)
        case Constant(array, _, reals):
            return _again(graph, array, reals, array.fraction - bits)
        case Shift(before) if before >= bits:
            return shifted(graph, node.args[0], before - bits)
        case _:
            return graph.make(Truncate(bits, graph.settings.rounding == "floor"), node)


def shifted(graph: Graph, node: Node, bits: int) -> Node:
    """More bits after the point."""
    if bits == 0:
        return node
    match node.operation:
        case Shift(before):
            node, bits = node.args[0], bits + before
    match node.operation:
        case Constant(array, _, reals):
            return _again(graph, array, reals, array.fraction + bits)
        case _:
            return graph.make(Shift(bits), node)


def _again(graph: Graph, array: Array, reals: tuple[Fraction, ...], fraction: int) -> Node:
    return encoded(graph, Public(array.shape, array.dtype, reals), fraction, array.dtype, array.ring)


def with_fraction(graph: Graph, node: Node, fraction: int) -> Node:
    """The same numbers with a number of bits after the point."""
    more = fraction - node.array.fraction
    return shifted(graph, node, more) if more >= 0 else truncated(graph, node, -more)


def widened(graph: Graph, node: Node) -> Node:
    """In the ring of 128 bits."""
    if node.array.ring == 128 or node.array.dtype == "bool":
        return node
    match node.operation:
        case Narrow():
            return node.args[0]
        case Constant(array, _, reals):
            return _again(graph, replace(array, ring=128), reals, array.fraction)
        case _:
            return graph.make(Widen(), node)


def narrowed(graph: Graph, node: Node) -> Node:
    """In the ring of 64 bits where the numbers fit it."""
    if node.array.ring == 64 or node.array.largest >= 1 << RINGS[0] - SLACK:
        return node
    return graph.make(Narrow(), node)


def one_ring(graph: Graph, *nodes: Node) -> list[Node]:
    """Nodes in the widest of their rings."""
    wide = any(node.array.ring == 128 for node in nodes)
    return [widened(graph, node) for node in nodes] if wide else list(nodes)


def aligned(graph: Graph, *nodes: Node) -> list[Node]:
    """Nodes with one number of bits after the point, in one ring.

    Bits below the error of what they are added to say nothing: they are cut off where they would be cut off
    anyway, or are many.
    """
    most = max(node.array.fraction for node in nodes)
    least = min((node.array.fraction for node in nodes if node.array.error >= HALF), default=most)
    many = most > graph.settings.fraction + NEGLIGIBLE
    if least < most and (many or all(_is_cut(node) for node in nodes if node.array.fraction > least)):
        most = least
    try:
        return one_ring(graph, *(with_fraction(graph, node, most) for node in nodes))
    except TooWide:
        if least < most:
            return one_ring(graph, *(with_fraction(graph, node, least) for node in nodes))
        wide = [widened(graph, node) for node in nodes]
        return [with_fraction(graph, node, most) for node in wide]


def _is_cut(node: Node) -> bool:
    return isinstance(node.operation, Truncate | Constant)


@dataclass(frozen=True)
class Attempt:
    """A product in some format. why: what explain says of it."""

    node: Node
    why: str


def product(graph: Graph, multiply: Product, a: Node, b: Node, kept: int | None, inner: int = 1) -> Node:
    """A product with bits after the point cut off, in the first format of the ladder that it fits.

    kept: bits after the point of the result, None for all. inner: how many terms it adds up.
    """
    a, b = one_ring(graph, a, b)
    direct = _attempt(graph, multiply, a, b, kept)
    if isinstance(direct, Node):
        return direct
    exact = _attempt(graph, multiply, widened(graph, a), widened(graph, b), kept)
    if isinstance(exact, TooWide):
        raise exact
    exact = narrowed(graph, exact)
    limit = 2 * exact.array.absolute_error
    for found in _narrower(graph, multiply, a, b, kept, direct.high.bit_length()):
        if found.node.array.absolute_error <= limit and found.node.array.ring == 64:
            graph.notes[found.node.number] = found.why
            return found.node
    graph.notes[exact.number] = f"computed in 128 bits: it may need {max(abs(direct.low), direct.high).bit_length()}"
    return exact


def _attempt(graph: Graph, multiply: Product, a: Node, b: Node, kept: int | None) -> Node | TooWide:
    try:
        found = multiply(a, b)
        return found if kept is None else truncated(graph, found, found.array.fraction - kept)
    except TooWide as error:
        return error


def _narrower(graph: Graph, multiply: Product, a: Node, b: Node, kept: int | None, bits: int) -> Iterator[Attempt]:
    """Products of factors that lack their last bits: of the first, the second, or half from each."""
    over = bits - (RINGS[0] - SLACK) + 1
    if any(2 * node.array.error >= node.array.high - node.array.low for node in (a, b) if not node.is_public):
        return  # No error below the range is proved: it says nothing of how many bits are right.
    for from_a, from_b in ((over, 0), (0, over), (over - over // 2, over // 2)):
        least = max(graph.settings.fraction - SHORTER, 0)
        if a.array.fraction - from_a >= least and b.array.fraction - from_b >= least:
            short = truncated(graph, a, from_a), truncated(graph, b, from_b)
            found = _attempt(graph, multiply, *short, kept)
            if isinstance(found, Node) and (kept is None or found.array.fraction == kept):
                yield Attempt(found, f"factors without their last {from_a} and {from_b} bits: their error is as large")


def elementwise(graph: Graph) -> Product:
    """The product of elements."""
    return lambda a, b: graph.make(Multiply(), a, b)

"""Rules about sums of products and of truncated numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.plan.programs.formats import truncated
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Add,
    Bilinear,
    MatMul,
    Multiply,
    Negate,
    Reshape,
    Select,
    Slice,
    Subtract,
    Sum,
    Transpose,
    Truncate,
)
from tacit.plan.programs.rewriting import Site
from tacit.plan.programs.shapes import broadcast as common
from tacit.plan.programs.shaping import broadcast, concatenate, expanded, reshape


def common_factor(site: Site) -> Node | None:
    """a b1 + a b2 is a (b1 + b2). Condition: the products are used here alone; b1 + b2 fits at one scale."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Add | Subtract):
        return None
    parts = [_product(site, arg) for arg in node.args]
    if parts[0] is None or parts[1] is None or parts[0][1] != parts[1][1]:
        return None
    (first, bits), (second, _) = parts[0], parts[1]
    if first.operation != second.operation or any(x.is_public for x in (*first.args, *second.args)):
        return None
    for at, other in ((0, 0), (1, 1), (0, 1), (1, 0)):
        if at != other and isinstance(first.operation, Bilinear):
            continue
        if first.args[at] is second.args[other]:
            rest = first.args[1 - at], second.args[1 - other]
            if rest[0].array.fraction != rest[1].array.fraction:
                continue
            inner = graph.make(node.operation, *rest)
            pair = (first.args[at], inner) if at == 0 else (inner, first.args[at])
            return truncated(graph, graph.make(first.operation, *pair), bits)
    return None


def _product(site: Site, node: Node) -> tuple[Node, int] | None:
    """A product that is used once, and how many bits are cut off it."""
    if not site.is_single(node):
        return None
    if isinstance(node.operation, Truncate):
        inner, bits = node.args[0], node.operation.bits
        return (inner, bits) if isinstance(inner.operation, Multiply | Bilinear) and site.is_single(inner) else None
    return (node, 0) if isinstance(node.operation, Multiply | Bilinear) else None


def inner_product(site: Site) -> Node | None:
    """A sum of products is one inner product. Condition: each is used here alone, and the untruncated sum fits."""
    node = site.node
    if isinstance(node.operation, Sum):
        return _summed(site)
    if not isinstance(node.operation, Add):
        return None
    terms = [_product(site, arg) for arg in node.args]
    if terms[0] is None or terms[1] is None or terms[0][1] != terms[1][1]:
        return None
    bits = terms[0][1]
    pairs = [pair for product, _ in (terms[0], terms[1]) for pair in _factors(product)]
    return None if None in pairs else _joined(site.graph, [pair for pair in pairs if pair], node, bits)


Pair = tuple[Node, Node]


def _factors(product: Node) -> list[Pair | None]:
    """The pairs of factors of a product of private elements."""
    a, b = product.args
    plain = isinstance(product.operation, Multiply) and "bool" not in (a.array.dtype, b.array.dtype)
    return [(a, b)] if plain and not a.is_public and not b.is_public else [None]


def _joined(graph: Graph, pairs: Sequence[Pair], node: Node, bits: int) -> Node | None:
    """Pairs of factors side by side along a new last axis, multiplied and added up as one product."""
    scales = {(a.array.fraction, b.array.fraction) for a, b in pairs}
    if len(scales) != 1:
        return None
    shape = node.array.shape
    sides = [[expanded(graph, broadcast(graph, pair[at], shape), -1) for pair in pairs] for at in (0, 1)]
    left, right = (concatenate(graph, side, len(shape)) for side in sides)
    return truncated(graph, _inner(graph, left, right), bits)


def _summed(site: Site) -> Node | None:
    """A sum along the last axis of a product of two arrays."""
    graph, node = site.graph, site.node
    found = _product(site, node.args[0])
    if found is None or _factors(found[0]) == [None]:
        return None
    product, bits = found
    shape = product.array.shape
    assert isinstance(node.operation, Sum)
    if node.operation.axis != len(shape) - 1:
        return None
    left, right = (broadcast(graph, arg, common(arg.array.shape, shape)) for arg in product.args)
    return truncated(graph, _inner(graph, left, right), bits)


def _inner(graph: Graph, left: Node, right: Node) -> Node:
    """The sums of products along the last axis."""
    *front, length = left.array.shape
    if not front:
        return graph.make(MatMul(), left, right)
    rows = reshape(graph, left, (*front, 1, length))
    columns = reshape(graph, right, (*front, length, 1))
    return reshape(graph, graph.make(MatMul(), rows, columns), front)


def late_truncation(site: Site) -> Node | None:
    """Truncated numbers are added, summed up or chosen from before they are truncated. Condition: they fit so."""
    graph, node = site.graph, site.node
    match node.operation:
        case Add() | Subtract():
            return _both(site, node.args, None)
        case Select():
            return _both(site, node.args[1:], node.args[0])
        case Sum() | Negate() | Reshape() | Transpose() | Slice():
            inner = node.args[0]
            if isinstance(inner.operation, Truncate) and site.is_single(inner):
                return truncated(graph, graph.make(node.operation, *inner.args), inner.operation.bits)
            return None
        case _:
            return None


def _both(site: Site, args: Sequence[Node], condition: Node | None) -> Node | None:
    first, second = args
    if not isinstance(first.operation, Truncate) or first.operation != second.operation or first is second:
        return None
    if not (site.is_single(first) and site.is_single(second)):
        return None
    inner = (first.args[0], second.args[0])
    if inner[0].array.ring != inner[1].array.ring:
        return None
    operands = inner if condition is None else (condition, *inner)
    return truncated(site.graph, site.graph.make(site.node.operation, *operands), first.operation.bits)

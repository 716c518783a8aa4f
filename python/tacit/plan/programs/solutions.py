"""Inverses of matrices and solutions of linear equations, as nodes, in the scale of what is given."""

from __future__ import annotations

from collections.abc import Callable

from tacit.plan.programs.arithmetic import as_fixed, multiply, scaled
from tacit.plan.programs.choleskys import cholesky_factor
from tacit.plan.programs.eigenvalues import eigenvalues, eigenvectors
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.elimination import transposed, within_one
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import truncated
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.orthogonal import orthogonal_factor, triangular_factor
from tacit.plan.programs.products import matmul
from tacit.plan.programs.public import number
from tacit.plan.programs.shaping import reshape

GUARD = 2
"""Bits after the point of factors beside those that a program asks for."""

Inverter = Callable[[Graph, Node, int, int, int], Node]
"""Of a matrix within one: inverse_of_positive or inverse_of_any."""


def divided_by_power(graph: Graph, a: Node, bits: int) -> Node:
    """An array divided by 2^bits; the power may be negative."""
    return scaled(graph, a, bits) if bits >= 0 else multiply(graph, a, number(1 << -bits))


def inverse(graph: Graph, a: Node, condition: int, invert: Inverter) -> Node:
    """The inverse of matrices in the last two axes."""
    _, bits = within_one(graph, a)
    fraction = graph.settings.fraction + max(0, -bits)
    found = invert(graph, a, len(a.array.shape) - 2, condition, fraction)
    return divided_by_power(graph, found, bits)


def solution(graph: Graph, a: Node, b: Node, condition: int, invert: Inverter) -> Node:
    """x with a @ x = b, for a matrix b or a vector.

    a and b are divided by one power of two. b that stays above one needs more bits of the inverse, and b that gets
    below one gives a solution with more bits.
    """
    _, bits = within_one(graph, a)
    right = divided_by_power(graph, as_fixed(graph, b), bits)
    size = right.array.largest * unit(right.array.fraction)
    more = ceil_log2(size) if size else 0
    fraction = graph.settings.fraction
    found = invert(graph, a, len(a.array.shape) - 2, condition, fraction + max(0, more))
    product = matmul(graph, found, right)
    return truncated(graph, product, product.array.fraction - fraction - max(0, -more))


def cholesky(graph: Graph, a: Node, condition: int) -> Node:
    """The lower triangle L with L @ L.T = a, for symmetric positive definite matrices in the last two axes."""
    _, bits = within_one(graph, a)
    odd = bits % 2
    half = (bits + odd) // 2
    fraction = graph.settings.fraction + max(0, half)
    found = cholesky_factor(graph, a, len(a.array.shape) - 2, condition << odd, fraction)
    return truncated(graph, divided_by_power(graph, found, -half), fraction - graph.settings.fraction)


def orthogonal(graph: Graph, a: Node, condition: int) -> tuple[Node, Node]:
    """Q and R with Q @ R = a, and a positive diagonal of R, for matrices with independent columns."""
    _, bits = within_one(graph, a)
    base = graph.settings.fraction
    fraction = base + GUARD
    lower, half = triangular_factor(graph, a, condition, fraction)
    triangle = divided_by_power(graph, transposed(graph, lower), -bits - half)
    found = orthogonal_factor(graph, a, len(a.array.shape) - 2, condition, fraction)
    q, r = (truncated(graph, each, each.array.fraction - base) for each in (found, triangle))
    return q, r


def eigenvalues_of(graph: Graph, a: Node) -> Node:
    """The ascending eigenvalues of symmetric matrices in the last two axes."""
    _, bits = within_one(graph, a)
    base, axis = graph.settings.fraction, len(a.array.shape) - 2
    found = eigenvalues(graph, a, axis, base + max(0, bits))
    found = reshape(graph, found, (*a.array.shape[:-2], a.array.shape[-1]))
    found = divided_by_power(graph, found, -bits)
    return truncated(graph, found, found.array.fraction - base)


def eigenvectors_of(graph: Graph, a: Node, condition: int) -> Node:
    """The eigenvectors of symmetric matrices, as columns in the order of eigenvalues."""
    _, bits = within_one(graph, a)
    base = graph.settings.fraction
    fraction = base + max(0, bits)
    found = eigenvectors(graph, a, len(a.array.shape) - 2, condition, fraction)
    return truncated(graph, found, fraction - base)

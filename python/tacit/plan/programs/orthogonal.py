"""The orthogonal factor of matrices with independent columns, right within a declared error or withheld.

S = Q R is the true matrix, and S^T S = R^T R. Cholesky's factor L' of S^T S / 4^g is near L = R^T / 2^g, with the bound
h of tacit.plan.programs.choleskys. Q' is what is computed of S L'^-T / 2^g. The run checks that the entries of
F = Q' L'^T - S / 2^g are small. Let n be the number of columns, f a bound of the entries of F, and k >= |(L L^T)^-1|.

- L' = L (I + U) with |U| <= h <= 1/4. So S L'^-T / 2^g = Q (I + U)^-T, which is off Q by at most h / (1 - h) for each
  entry: no row of Q is longer than one.
- Q' is off that by F L'^-T. A row of F is no longer than sqrt(n) f, and |L'^-T| <= sqrt(k) / (1 - h).

The signs are those of a positive diagonal of R. Source: Cholesky QR, as Yamamoto, Nakatsukasa, Yanagisawa, Fukaya,
ETNA 44 (2015) have it. **Departure** it is made once, with more bits instead of a second time.
"""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.programs.arithmetic import as_fixed, scaled
from tacit.plan.programs.choleskys import cholesky_factor, decomposed, within_one_by_square
from tacit.plan.programs.elementary import ceil_log2, sqrt
from tacit.plan.programs.elimination import (
    ROOM,
    around_zero,
    as_held,
    beside,
    check_bounds,
    check_rows,
    in_a_ring,
    matrix_times,
    transposed,
    within_one,
)
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import narrowed, one_ring, with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.inverses import largest
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Known, MatMul, Subtract
from tacit.plan.programs.refusals import OutOfDomain


def gram(graph: Graph, a: Node, fraction: int) -> tuple[Node, Node, int]:
    """S, S^T S with twice the bits after the point, and g."""
    shape = a.array.shape
    if len(shape) < 2 or not 0 < shape[-1] <= shape[-2]:
        raise OutOfDomain(
            f"matrices with no more columns than rows are needed, and the array has the shape {shape}; transpose it.",
            graph.line,
        )
    s, _ = within_one(graph, a)
    s = with_fraction(graph, s, min(s.array.fraction, 2 * fraction))
    found = in_a_ring(graph, lambda s: matrix_times(graph, transposed(graph, s), s, 2 * fraction), s)
    found = narrowed(graph, found)
    return s, found, within_one_by_square(graph, found)[1] // 2


def squared(condition: int, half: int) -> int:
    """The condition of S^T S / 4^g, from that of S."""
    return condition**2 << 2 * half


def triangular_factor(graph: Graph, a: Node, condition: int, fraction: int) -> tuple[Node, int]:
    """L, and g. fraction: bits after the point."""
    _, square, half = gram(graph, a, fraction)
    rows = len(square.array.shape) - 2
    return cholesky_factor(graph, square, rows, squared(condition, half), fraction), half


def orthogonal_factor(graph: Graph, a: Node, axis: int, condition: int, fraction: int) -> Node:
    """Q of a matrix that is divided by a power of two to be within one.

    axis: that of rows. condition: a bound of the spectral norm of the pseudo-inverse. fraction: bits after the point.
    """
    check_rows(graph, as_fixed(graph, a), axis)
    check_bounds(graph, condition, fraction)
    s, square, half = gram(graph, a, fraction)
    check_bounds(graph, squared(condition, half), fraction)
    proof = decomposed(graph, within_one_by_square(graph, square)[0], squared(condition, half), fraction)
    small = scaled(graph, s, half)

    def make(s: Node, turned: Node) -> Node:
        return matrix_times(graph, s, turned, fraction)

    found = in_a_ring(graph, make, *one_ring(graph, small, proof.turned))
    found = narrowed(graph, as_held(graph, around_zero(graph, found, ROOM), axis))
    gap = _gap(graph, found, proof.factor, small, fraction)
    size = s.array.shape[-1]
    off = sqrt(size * proof.norm)[1] * (largest(gap) + gap.array.absolute_error)
    error = (proof.moved + off) / (1 - proof.moved)
    shown = beside(graph, found, gap, proof.left, proof.gap)
    fact = Known(
        "a factor is as near as its product", *shown.array.interval, error=error / unit(fraction), near=a.array.near
    )
    return graph.know(fact, shown, Proof("orthogonal_factor", a, (axis, condition, fraction)))


def _gap(graph: Graph, q: Node, lower: Node, s: Node, fraction: int) -> Node:
    """Q' L'^T - S / 2^g, checked to be as small as rounding makes it."""

    def make(q: Node, lower: Node, s: Node) -> Node:
        product = graph.make(MatMul(), q, transposed(graph, lower))
        wanted = with_fraction(graph, s, product.array.fraction)
        return with_fraction(graph, graph.make(Subtract(), product, wanted), fraction)

    found = in_a_ring(graph, make, *one_ring(graph, q, lower, s))
    most = 4 * Fraction(1 << ceil_log2(Fraction(lower.array.shape[-1]))) * unit(fraction)
    return narrowed(graph, around_zero(graph, found, most))

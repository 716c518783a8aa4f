"""Cholesky's factor of symmetric positive definite matrices, right within a declared error or withheld.

T is the true matrix, its lower triangle mirrored. An elimination gives L' = L D^(1/2), with a diagonal above zero. The
run checks that the entries of E = L' L'^T - T are small, and the bounds of tacit.plan.programs.inverses, which prove
k >= |T^-1|. Let n be the size, e a bound of the entries of E, and h = k n e <= 1/4.

- L'^-T and so on exist: L' has no zero on its diagonal. T is positive definite: h < 1, and L' L'^T is.
- Let T = L L^T and G = L^-1 L'. Then G G^T = I + H with H = L^-1 E L^-T, and |H| <= h in Frobenius' norm.
- Let U = G - I, a lower triangle, and u its Frobenius norm. U + U^T = H - U U^T. The square of the left side's norm is
  2 u^2 + 2 tr(U^2), and tr(U^2) is the sum of the squares of U's diagonal. So sqrt(2) u <= h + u^2.
- The same holds with t H for all t from 0 to 1, and u moves from 0 without a jump. So u is below the first root of
  u^2 - sqrt(2) u + h, and that is at most h for h <= 1/4.
- L' - L = L U, and a row of L has the norm sqrt(T_ii). So no entry of L' is off by more than h sqrt(max T_ii).

Sources: Golub, Van Loan, Matrix Computations (4th edition), 4.2; the bound is that of Sun, BIT 31 (1991), proved here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.plan.programs.arithmetic import as_fixed, scaled
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.elimination import (
    ROOM,
    Factors,
    around_zero,
    as_held,
    beside,
    bits_for,
    check_bounds,
    check_rows,
    eliminated,
    in_a_ring,
    square,
    times,
    transposed,
    within_one,
)
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import narrowed, one_ring, with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.inverses import bound_of_norm, checked_inverse, inverse_of_factors, largest, too_rough
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Add, Function, Known, MatMul, Subtract
from tacit.plan.programs.shaping import reshape, take

BITS_OF_ROOTS = 22
"""After the point of the first square roots; one step of Newton's doubles them."""

LARGEST_SHARE = Fraction(1, 4)
"""A bound of h."""


def within_one_by_square(graph: Graph, a: Node) -> tuple[Node, int]:
    """A matrix divided by a power of four, so that its entries are within one, and the exponent of two."""
    s, bits = within_one(graph, a)
    return (s, bits) if bits % 2 == 0 else (scaled(graph, s, 1), bits + 1)


def cholesky_factor(graph: Graph, a: Node, axis: int, condition: int, fraction: int) -> Node:
    """L of a symmetric positive definite matrix that is divided by a power of four to be within one.

    The lower triangle is what is read. axis: that of rows. condition: a bound of the spectral norm of the inverse.
    fraction: bits after the point.
    """
    square(graph, a)
    check_rows(graph, as_fixed(graph, a), axis)
    check_bounds(graph, condition, fraction)
    s, _ = within_one_by_square(graph, a)
    found = decomposed(graph, s, condition, fraction)
    shown = beside(graph, found.factor, found.left, found.gap)
    error = found.moved * ROOM / unit(fraction)
    fact = Known("a factor is as near as its product", *shown.array.interval, error=error, near=a.array.near)
    return graph.know(fact, shown, Proof("cholesky_factor", a, (axis, condition, fraction)))


@dataclass(frozen=True)
class Decomposed:
    """L' with what proves it. turned: near L'^-T. left, gap: R and E. norm: k. moved: h."""

    factor: Node
    turned: Node
    left: Node
    gap: Node
    norm: Fraction
    moved: Fraction


def decomposed(graph: Graph, s: Node, condition: int, fraction: int) -> Decomposed:
    """The factor of a matrix with entries within one, as cholesky_factor has it."""
    size, rows = s.array.shape[-1], len(s.array.shape) - 2
    s = mirrored(graph, with_fraction(graph, s, min(s.array.fraction, 2 * fraction)))
    exact = fraction + ceil_log2(Fraction(condition)) // 2 + ceil_log2(Fraction(size)) + 2
    bits = max(bits_for(condition, size), exact)

    def make(s: Node) -> tuple[Node, Node, Node]:
        factors = eliminated(graph, s, condition, bits)
        root = _roots(graph, factors)
        turned = times(graph, transposed(graph, factors.inverse), times(graph, root, factors.reciprocals, bits), bits)
        return times(graph, factors.lower, root, fraction), turned, inverse_of_factors(graph, factors)

    found, turned, near = in_a_ring(graph, make, s)
    found = narrowed(graph, as_held(graph, around_zero(graph, found, ROOM), rows))
    short = with_fraction(graph, s, min(s.array.fraction, fraction + ceil_log2(size * condition * ROOM)))
    near, left, share = checked_inverse(graph, short, near, condition * ROOM, fraction)
    gap = _gap(graph, found, s, fraction)
    norm = bound_of_norm(near, share)
    moved = norm * size * (largest(gap) + gap.array.absolute_error)
    if moved > LARGEST_SHARE:
        raise too_rough(graph, s)
    return Decomposed(found, turned, left, gap, norm, moved)


def mirrored(graph: Graph, s: Node) -> Node:
    """The lower triangle, and its mirror image above."""
    size, batch = s.array.shape[-1], s.array.shape[:-2]
    places = [max(row, column) * size + min(row, column) for row in range(size) for column in range(size)]
    flat = reshape(graph, s, (*batch, size * size))
    return reshape(graph, take(graph, flat, places, len(batch)), s.array.shape)


def _roots(graph: Graph, factors: Factors) -> Node:
    """D^(1/2): by a function, then by one step of Newton's with the reciprocals that are there."""
    pivots, bits = factors.pivots, factors.pivots.array.fraction
    root = with_fraction(graph, graph.make(Function("sqrt", min(bits, BITS_OF_ROOTS)), pivots), bits)
    missing = graph.make(Subtract(), pivots, times(graph, root, root, bits))
    slope = scaled(graph, times(graph, root, factors.reciprocals, bits), 1)
    return graph.make(Add(), root, times(graph, missing, slope, bits))


def _gap(graph: Graph, factor: Node, s: Node, fraction: int) -> Node:
    """L' L'^T - T, checked to be as small as rounding makes it."""

    def make(factor: Node, s: Node) -> Node:
        product = graph.make(MatMul(), factor, transposed(graph, factor))
        wanted = with_fraction(graph, s, product.array.fraction)
        return with_fraction(graph, graph.make(Subtract(), product, wanted), fraction)

    found = in_a_ring(graph, make, *one_ring(graph, factor, s))
    return narrowed(graph, around_zero(graph, found, 4 * factor.array.shape[-1] * unit(fraction)))

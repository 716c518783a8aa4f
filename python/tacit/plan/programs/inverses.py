"""Inverses of matrices, right within a declared error or withheld.

An elimination gives X, near the inverse of S. Nothing of that is believed: X is any matrix that is held. The run checks
two bounds: no row and no column of X has a norm above c, and no entry of R = I - S X is above r. S is the true matrix,
R is held within an error e, and n is the size. Let t = n (r + e) <= 1/2, k = sqrt(n) c / (1 - t), and m a power of two.

- S has an inverse, S^-1 = X (I - R)^-1, for |R| <= t < 1 in the norm of row sums, and there |S^-1| <= k.
- Let N = (I + R) (I + R^2) ... (I + R^(m/2)) - I. Then S^-1 - (X + X N) = S^-1 R^m, which has no entry above k t^m. m
  is chosen so that this is below the last place. Each factor takes two products of matrices at once.
- How far X + X N is from what is computed of it is a matter of rounded products, as for any program. The error of S is
  in that of R: it is at most sqrt(n) c times as large there, and as much once more in X N.

S need not be symmetric or positive definite for that: where it is not as it was said to be, X is wrong and R is large.
Sources: Golub, Van Loan, Matrix Computations (4th edition), 2.3.4; Ben-Israel, SIAM Review 8 (1966) for the product;
Rump, Acta Numerica 19 (2010), 10.3 for the proof by a residual.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from tacit.plan.programs.arithmetic import as_fixed, scaled
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.elimination import (
    MOST_BITS,
    ROOM,
    Factors,
    around_zero,
    as_held,
    bits_for,
    check_bounds,
    check_rows,
    constant,
    eliminated,
    identity,
    in_a_ring,
    matrix_times,
    rows_within,
    square,
    transposed,
    within_one,
)
from tacit.plan.programs.facts import norm1, unit
from tacit.plan.programs.formats import narrowed, one_ring, truncated, with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Add, Known, MatMul, Subtract
from tacit.plan.programs.refusals import OutOfDomain

RESIDUAL, LARGEST_SHARE = Fraction(1, 8), Fraction(1, 2)
"""Bounds of n r and of t."""

GUARD = 2
"""Bits after the point beside those of the result."""


def inverse_of_positive(graph: Graph, a: Node, axis: int, condition: int, fraction: int) -> Node:
    """The inverse of a symmetric positive definite matrix that is divided by a power of two to be within one.

    axis: that of its rows. condition: a bound of the spectral norm of the inverse. fraction: bits after the point.
    """
    return _inverse(graph, a, axis, condition, fraction, near_inverse_of_positive)


def inverse_of_any(graph: Graph, a: Node, axis: int, condition: int, fraction: int) -> Node:
    """As inverse_of_positive, for any square matrix that has an inverse."""
    return _inverse(graph, a, axis, condition, fraction, near_inverse_of_any)


Near = Callable[[Graph, Node, int], Node]


def _inverse(graph: Graph, a: Node, axis: int, condition: int, fraction: int, near: Near) -> Node:
    size = square(graph, a)
    check_rows(graph, as_fixed(graph, a), axis)
    check_bounds(graph, condition, fraction)
    s, _ = within_one(graph, a)
    s = with_fraction(graph, s, min(s.array.fraction, fraction + 2 * ceil_log2(size * condition * ROOM) + 1))
    name = "inverse_of_positive" if near is near_inverse_of_positive else "inverse_of_any"
    found, missing = refined(graph, s, near(graph, s, condition), condition * ROOM, fraction)
    array = found.array
    error = array.error + missing / unit(fraction)
    fact = Known("an inverse is as near as its residual is small", *array.interval, error=error, near=a.array.near)
    return graph.know(fact, found, Proof(name, a, (axis, condition, fraction)))


def near_inverse_of_positive(graph: Graph, s: Node, condition: int) -> Node:
    """Near the inverse of a symmetric positive definite matrix with entries within one."""
    size = s.array.shape[-1]
    check_bounds(graph, condition, 1)
    fraction = bits_for(condition, size)
    return in_a_ring(graph, lambda s: inverse_of_factors(graph, eliminated(graph, s, condition, fraction)), s)


def inverse_of_factors(graph: Graph, factors: Factors) -> Node:
    """Near M^T D^-1 M, with as many bits after the point as D^-1 M has."""
    return matrix_times(graph, transposed(graph, factors.inverse), factors.weighted, factors.weighted.array.fraction)


def near_inverse_of_any(graph: Graph, s: Node, condition: int) -> Node:
    """Near the inverse of a matrix with entries within one: (S^T S)^-1 S^T. The squared condition makes X worse, and
    R shows it; the proof is of S alone."""
    size = s.array.shape[-1]
    bits = ceil_log2(Fraction(size))
    squared = condition**2 << bits
    if squared >> MOST_BITS:
        raise OutOfDomain(
            f"a condition of {condition:,} is too large for matrices of which nothing is known; give a smaller one, or "
            'assume_a="pos" where they are symmetric and positive definite.',
            graph.line,
        )
    fraction = bits_for(squared, size)
    short = with_fraction(graph, s, min(s.array.fraction, fraction))

    turned = transposed(graph, short)

    def gram(turned: Node, s: Node) -> Node:
        return scaled(graph, matrix_times(graph, turned, s, fraction), bits)

    inner = near_inverse_of_positive(graph, in_a_ring(graph, gram, turned, short), squared)

    def make(inner: Node, turned: Node) -> Node:
        return scaled(graph, matrix_times(graph, inner, turned, inner.array.fraction), bits)

    return in_a_ring(graph, make, *one_ring(graph, narrowed(graph, inner), turned))


def refined(graph: Graph, s: Node, near: Node, most: Fraction, fraction: int) -> tuple[Node, Fraction]:
    """An inverse from what is near it, and how far it would be if nothing were rounded.

    most: c, which no entry may exceed. fraction: bits after the point.
    """
    near, left, share = checked_inverse(graph, s, near, most, fraction + ceil_log2(s.array.shape[-1] * most) + 1)
    return in_a_ring(graph, lambda x, r: _product(graph, x, r, share, fraction), *one_ring(graph, near, left))


def checked_inverse(graph: Graph, s: Node, near: Node, most: Fraction, fraction: int) -> tuple[Node, Node, Fraction]:
    """X and R with their checks, and t. fraction: bits after the point of R."""
    size, rows = s.array.shape[-1], len(s.array.shape) - 2

    def residual(s: Node, near: Node) -> Node:
        product = graph.make(MatMul(), s, near)
        one = constant(graph, product, (size, size), identity(size))
        return with_fraction(graph, graph.make(Subtract(), one, product), fraction)

    near = narrowed(graph, as_held(graph, around_zero(graph, near, most), rows))
    norm = ceil(most * (1 << near.array.fraction))
    by_columns = transposed(graph, rows_within(graph, transposed(graph, near), rows, norm))
    left = in_a_ring(graph, residual, *one_ring(graph, s, by_columns))
    left = narrowed(graph, around_zero(graph, left, RESIDUAL / size))
    share = size * (largest(left) + left.array.absolute_error)
    if share > LARGEST_SHARE:
        raise too_rough(graph, s)
    return rows_within(graph, by_columns, rows, norm), left, share


def too_rough(graph: Graph, s: Node) -> OutOfDomain:
    """The refusal of a matrix with too large an error."""
    return OutOfDomain(
        f"the matrix is known within {float(s.array.absolute_error):.2g} of the bound of its entries, which is too "
        "little for this condition: ask for more bits after the point with fraction=, declare tighter bounds, or give "
        "a smaller condition.",
        graph.line,
    )


def bound_of_norm(near: Node, share: Fraction) -> Fraction:
    """k, which bounds the norm of the inverse."""
    return norm1(near.array) * unit(near.array.fraction) / (1 - share)


def largest(a: Node) -> Fraction:
    """A bound of the absolute values that are held."""
    return a.array.largest * unit(a.array.fraction)


def _product(graph: Graph, near: Node, left: Node, share: Fraction, fraction: int) -> tuple[Node, Fraction]:
    """X + X N, and what is missing. share: t."""
    fine, coarse = left.array.fraction, fraction + GUARD
    norm = bound_of_norm(near, share)
    series = power = left
    while norm * share**2 > unit(coarse):
        power, share = matrix_times(graph, power, power, fine), share**2
        series = graph.make(Add(), graph.make(Add(), series, power), matrix_times(graph, series, power, fine))
    found = graph.make(Add(), with_fraction(graph, near, coarse), matrix_times(graph, near, series, coarse))
    return narrowed(graph, truncated(graph, found, GUARD)), norm * share**2

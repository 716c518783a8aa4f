"""Eigenvalues and eigenvectors of symmetric matrices, right within a declared error or withheld.

T is the true matrix, its lower triangle mirrored. V and the diagonal matrix D are any that are held. The run checks
that the entries of Z = T V - V D and of W = V^T V - I are small. Let n be the size, z and w bounds of the entries of Z
and W, s = n w <= 1/4, and d a bound of those of D.

- V = Q H with an orthogonal Q and H = (I + W)^(1/2), where |H - I| <= s and |H^-1| <= 1 + s. From Z follows
  Q^T T Q - D = (Q^T Z + (H - I) D - D (H - I)) H^-1. So, by Weyl, sorted eigenvalues of T are off those of D by at most
  y = (n z + 2 s d) (1 + s).
- Let the entries of D be at least g > 2 y apart. A column v of V has a residual of at most sqrt(n) z, and all other
  eigenvalues of T are at least g - y away. By Davis and Kahan, v and the eigenvector x then have an angle whose sine is
  at most sqrt(n) z / ((1 - w) (g - y)). The difference of v / |v| and x is at most sqrt(2) times that sine, and that of
  v and v / |v| is at most w.

The sign of an eigenvector is that of its entry of largest modulus, which is positive. Sources: Golub, Van Loan, Matrix
Computations (4th edition), 8.1; Parlett, The Symmetric Eigenvalue Problem, 11.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.plan.programs.arithmetic import as_fixed
from tacit.plan.programs.choleskys import mirrored
from tacit.plan.programs.elementary import sqrt
from tacit.plan.programs.elimination import (
    ROOM,
    around_zero,
    as_held,
    beside,
    check_bounds,
    check_rows,
    checked,
    constant,
    identity,
    in_a_ring,
    square,
    transposed,
    within_one,
)
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import narrowed, one_ring, with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.inverses import largest, too_rough
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Absolute,
    Count,
    Equal,
    Known,
    Less,
    MatMul,
    Multiply,
    Negate,
    Order,
    Place,
    Select,
    Subtract,
    Sum,
)
from tacit.plan.programs.products import matmul
from tacit.plan.programs.public import Public, encoded
from tacit.plan.programs.rotations import rotated
from tacit.plan.programs.shaping import broadcast, concatenate, expanded, part, reshape

MOST = 32
GUARD = 8
"""More bits after the point for rotations than for what is made of them."""

CHECKED = 4
"""Units in the last place of the bounds of Z and W, for each row."""


@dataclass(frozen=True)
class Decomposed:
    """Held eigenvalues in ascending order and, as columns, eigenvectors, with what proves them.

    off: y. residual: z. skew: w.
    """

    values: Node
    vectors: Node
    checks: tuple[Node, Node]
    off: Fraction
    residual: Fraction
    skew: Fraction


def eigenvalues(graph: Graph, a: Node, axis: int, fraction: int) -> Node:
    """The ascending eigenvalues of a symmetric matrix that is divided by a power of two to be within one.

    The lower triangle is what is read. axis: that of rows. fraction: bits after the point.
    """
    found = _decomposed(graph, a, axis, fraction)
    row = expanded(graph, found.values, axis)
    shown = beside(graph, row, *found.checks)
    fact = Known(
        "eigenvalues are as near as their residual is small",
        *shown.array.interval,
        error=found.off / unit(fraction),
        near=a.array.near,
    )
    return graph.know(fact, shown, Proof("eigenvalues", a, (axis, fraction)))


def eigenvectors(graph: Graph, a: Node, axis: int, condition: int, fraction: int) -> Node:
    """The eigenvectors in the order of eigenvalues, as columns.

    condition: its inverse is the least distance between two eigenvalues of the matrix that is divided.
    """
    check_bounds(graph, condition, fraction)
    found = _decomposed(graph, a, axis, fraction)
    size, gap = a.array.shape[-1], Fraction(15, 16) / condition
    if gap <= 2 * found.off:
        raise too_rough(graph, within_one(graph, a)[0])
    row = expanded(graph, found.values, axis)
    end = constant(graph, row, (1,), (Fraction(4 * size),))
    next_one = concatenate(
        graph,
        [part(graph, row, axis + 1, 1, size), broadcast(graph, end, (*row.array.shape[:-1], 1))]
        if size > 1
        else [broadcast(graph, end, row.array.shape)],
        axis + 1,
    )
    distance = checked(graph, graph.make(Subtract(), next_one, row), gap, Fraction(8 * size))
    shown = beside(graph, found.vectors, distance, *found.checks)
    sine = sqrt(Fraction(size))[1] * found.residual / ((1 - found.skew) * (gap - found.off))
    error = sqrt(Fraction(2))[1] * sine + found.skew
    fact = Known(
        "eigenvectors are as near as their residual is small",
        *shown.array.interval,
        error=error / unit(fraction),
        near=shown.array.near,
    )
    return graph.know(fact, shown, Proof("eigenvectors", a, (axis, condition, fraction)))


def _decomposed(graph: Graph, a: Node, axis: int, fraction: int) -> Decomposed:
    size = square(graph, a, MOST)
    check_rows(graph, as_fixed(graph, a), axis)
    check_bounds(graph, 1, fraction)
    s, _ = within_one(graph, a)
    s = mirrored(graph, with_fraction(graph, s, min(s.array.fraction, 2 * fraction)))
    values, vectors = in_a_ring(graph, lambda s: rotated(graph, s, fraction + GUARD), s)
    values = _held(graph, values, fraction, Fraction(size), axis)
    vectors = _held(graph, vectors, fraction, Fraction(1), axis)
    values, vectors = _ordered(graph, values, vectors, axis)
    vectors = as_held(graph, _signed(graph, vectors, axis), axis)
    checks = _residuals(graph, s, values, vectors, fraction)
    residual, skew = (largest(each) + each.array.absolute_error for each in checks)
    share = size * skew
    if 4 * share > 1:
        raise too_rough(graph, s)
    off = (size * residual + 2 * share * largest(values)) * (1 + share)
    return Decomposed(values, vectors, checks, off, residual, skew)


def _held(graph: Graph, a: Node, fraction: int, most: Fraction, axis: int) -> Node:
    cut = with_fraction(graph, a, fraction)
    return narrowed(graph, as_held(graph, around_zero(graph, cut, most * ROOM), axis))


def _ordered(graph: Graph, values: Node, vectors: Node, axis: int) -> tuple[Node, Node]:
    """Ascending values, and their vectors: by products with a matrix of bits, whose row k has a 1 at the k-th place."""
    size = vectors.array.shape[-1]
    order = expanded(graph, graph.make(Order(axis), values), axis + 1)
    places = encoded(graph, Public((size,), "int64", tuple(map(Fraction, range(size)))), 0, "int64", order.array.ring)
    bits = graph.make(Count(), graph.make(Equal(), order, places))
    columns = matmul(graph, bits, expanded(graph, values, axis + 1))
    found = reshape(graph, columns, values.array.shape), matmul(graph, vectors, transposed(graph, bits))
    return as_held(graph, found[0], axis), found[1]


def _signed(graph: Graph, vectors: Node, axis: int) -> Node:
    """Columns whose entry of largest modulus is positive."""
    size = vectors.array.shape[-1]
    place = expanded(graph, graph.make(Place(axis, True), graph.make(Absolute(), vectors)), axis)
    rows = encoded(graph, Public((size, 1), "int64", tuple(map(Fraction, range(size)))), 0, "int64", place.array.ring)
    chosen = graph.make(Multiply(), graph.make(Equal(), place, rows), vectors)
    entry = expanded(graph, graph.make(Sum(axis), chosen), axis)
    negative = graph.make(Less(), entry, constant(graph, entry, (), (Fraction(0),)))
    negative = broadcast(graph, negative, vectors.array.shape)
    return graph.make(Select(), negative, graph.make(Negate(), vectors), vectors)


def _residuals(graph: Graph, s: Node, values: Node, vectors: Node, fraction: int) -> tuple[Node, Node]:
    """Z and W with their checks."""
    size = s.array.shape[-1]

    def gap(s: Node, values: Node, vectors: Node) -> Node:
        product = graph.make(MatMul(), s, vectors)
        weighted = graph.make(Multiply(), vectors, expanded(graph, values, len(s.array.shape) - 2))
        finest = max(product.array.fraction, weighted.array.fraction)
        sides = (with_fraction(graph, each, finest) for each in (product, weighted))
        return with_fraction(graph, graph.make(Subtract(), *sides), fraction)

    def skew(vectors: Node) -> Node:
        product = graph.make(MatMul(), transposed(graph, vectors), vectors)
        one = constant(graph, product, (size, size), identity(size))
        return with_fraction(graph, graph.make(Subtract(), product, one), fraction)

    found = in_a_ring(graph, gap, *one_ring(graph, s, values, vectors)), in_a_ring(graph, skew, vectors)
    most = CHECKED * size * unit(fraction)
    first, second = (narrowed(graph, around_zero(graph, each, most)) for each in found)
    return first, second

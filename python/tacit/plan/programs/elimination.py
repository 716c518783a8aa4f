"""Elimination of symmetric matrices without pivots: S = L D L^T with a unit lower triangle L, and M, the inverse of L.

The entries of S are within one. Its condition c is a public bound of its inverse's spectral norm. If S is positive
definite, all that is computed has bounds. A pivot d is between 1/c and 1. An entry of a Schur complement is within 1.
Entries of L and M are within sqrt(c), and those of D^-1 M within c. For M^T D^-1 M = S^-1, so that M_ij^2 / d_i is at
most the entry jj of S^-1. None of it is believed. The run checks each bound, before anything relies on it.

A column takes one reciprocal and two products of all that is left. Source: Golub, Van Loan, Matrix Computations
(4th edition), 4.1.2 and 4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeVar

from tacit.plan.programs.arithmetic import as_fixed, multiply, scaled
from tacit.plan.programs.elementary import ceil_log2, sqrt
from tacit.plan.programs.facts import root_up, unit
from tacit.plan.programs.formats import narrowed, one_ring, truncated, widened, with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Check, Divide, Known, MatMul, Multiply, Negate, Subtract, Sum
from tacit.plan.programs.public import Public, encoded, number
from tacit.plan.programs.refusals import OutOfDomain, TooWide
from tacit.plan.programs.shaping import broadcast, concatenate, expanded, moved, part

ROOM = Fraction(17, 16)
"""What bounds leave for rounding."""

GUARD = 9
"""Bits after the point beside those of the condition, and of the size twice: so few are lost to rounding."""

MOST = 64
"""The largest size: a column takes a reciprocal, one behind the other."""

MOST_BITS = 40
"""Of a condition."""

BITS_OF_QUOTIENTS = 54
"""Before and after the point: engines compute no longer ones in the ring of 128 bits."""

Made = TypeVar("Made")


@dataclass(frozen=True)
class Factors:
    """L, M, D^-1 M, and as rows D and D^-1. All are of matrices in the last two axes."""

    lower: Node
    inverse: Node
    weighted: Node
    pivots: Node
    reciprocals: Node


def square(graph: Graph, a: Node, most: int = MOST) -> int:
    """The size of square matrices, which is at most ``most``."""
    shape = a.array.shape
    if len(shape) < 2 or shape[-1] != shape[-2] or not 0 < shape[-1] <= most:
        raise OutOfDomain(
            f"square matrices of at most {most} rows are needed, and the array has the shape {shape}; give such ones.",
            graph.line,
        )
    return shape[-1]


def check_rows(graph: Graph, a: Node, axis: int) -> None:
    """Refuse an axis that is not that of the rows of matrices of numbers with bits after the point."""
    if axis != len(a.array.shape) - 2 or a.array.dtype != "fixed":
        raise OutOfDomain(f"axis {axis} is not that of rows of matrices; give the last axis but one.", graph.line)


def check_bounds(graph: Graph, condition: int, fraction: int) -> None:
    """Refuse parameters for which nothing fits a ring."""
    if not 1 <= condition < 1 << MOST_BITS or not 1 <= fraction < 2 * MOST_BITS:
        raise OutOfDomain(f"a condition is between 1 and 2^{MOST_BITS}; give a smaller one.", graph.line)


def within_one(graph: Graph, a: Node) -> tuple[Node, int]:
    """A matrix divided by a power of two, so that its entries are within one, and the exponent."""
    a = as_fixed(graph, a)
    largest = a.array.largest * unit(a.array.fraction)
    if not largest:
        raise OutOfDomain("all entries of the matrix are zero by its bounds; it has no inverse.", graph.line)
    bits = ceil_log2(largest)
    return (scaled(graph, a, bits) if bits >= 0 else multiply(graph, a, number(1 << -bits))), bits


def bits_for(condition: int, size: int) -> int:
    """Bits after the point of an elimination."""
    return ceil_log2(Fraction(condition)) + 2 * ceil_log2(Fraction(size)) + GUARD


def in_a_ring(graph: Graph, make: Callable[..., Made], *nodes: Node) -> Made:
    """What is made of nodes in the ring of 64 bits if all of it fits, else in that of 128."""
    try:
        return make(*nodes)
    except TooWide:
        pass
    try:
        return make(*(widened(graph, node) for node in nodes))
    except TooWide as error:
        raise OutOfDomain(
            "126 bits are too few for a matrix of these bounds with this condition; declare tighter bounds, give a "
            "smaller condition, or ask for fewer bits after the point.",
            graph.line,
        ) from error


def checked(graph: Graph, a: Node, low: Fraction, high: Fraction) -> Node:
    """An array that the run checks to be within bounds."""
    scale = 1 << a.array.fraction
    return graph.make(Check(-ceil(-low * scale), ceil(high * scale)), a)


def around_zero(graph: Graph, a: Node, most: Fraction) -> Node:
    """An array that the run checks to be within a bound of its absolute values."""
    return checked(graph, a, -most, most)


def as_held(graph: Graph, a: Node, axis: int) -> Node:
    """Numbers cut to the bits that they have after the point: those that are held, without an error.

    As for any cut, numbers closer than their error may go either way, and what is made of them says so.
    """
    fact = Known(
        "numbers as they are held", *a.array.interval, error=Fraction(0), near=a.array.near or a.array.error > 0
    )
    return graph.know(fact, a, Proof("as_held", a, (axis,)))


def beside(graph: Graph, a: Node, *checks: Node) -> Node:
    """An array, taken out of itself and arrays that are checked, so that the run has them."""
    rows = len(a.array.shape) - 2
    return part(graph, concatenate(graph, one_ring(graph, a, *checks), rows), rows, 0, a.array.shape[rows])


def rows_within(graph: Graph, a: Node, axis: int, norm: int) -> Node:
    """Square matrices whose rows have a Euclidean norm that the run checks.

    axis: that of rows. norm: the bound, with as many bits after the point as the matrices. The squares are of fewer
    bits after the point, so that all is known within what is cut off.
    """
    check_rows(graph, a, axis)
    size, bits = square(graph, a), a.array.fraction
    room = root_up(size) << bits - bits // 2
    most = ceil(Fraction((norm + room) ** 2, 1 << bits))

    def squares(short: Node) -> Node:
        found = graph.make(Sum(axis + 1), graph.make(Multiply(), short, short))
        return graph.make(Check(0, most), with_fraction(graph, found, bits))

    row = narrowed(graph, in_a_ring(graph, squares, with_fraction(graph, a, bits // 2)))
    shown = beside(graph, a, expanded(graph, row, axis))
    same = a.array
    fact = Known(
        "rows of a checked norm", *same.interval, error=same.error, near=same.near,
        norm2=(root_up(most << bits) + room) ** 2,
    )  # fmt: skip
    return graph.know(fact, shown, Proof("rows_within", a, (axis, norm)))


def times(graph: Graph, a: Node, b: Node, fraction: int) -> Node:
    """a * b with bits after the point."""
    found = graph.make(Multiply(), a, b)
    return truncated(graph, found, found.array.fraction - fraction)


def matrix_times(graph: Graph, a: Node, b: Node, fraction: int) -> Node:
    """a @ b with bits after the point."""
    found = graph.make(MatMul(), a, b)
    return truncated(graph, found, found.array.fraction - fraction)


def constant(graph: Graph, like: Node, shape: tuple[int, ...], reals: tuple[Fraction, ...]) -> Node:
    """Public numbers in the format of a node."""
    return encoded(graph, Public(shape, "fixed", reals), like.array.fraction, "fixed", like.array.ring)


def identity(size: int) -> tuple[Fraction, ...]:
    """The numbers of an identity matrix, row by row."""
    return tuple(Fraction(row == column) for row in range(size) for column in range(size))


def transposed(graph: Graph, a: Node) -> Node:
    """Matrices with rows for columns."""
    last = len(a.array.shape) - 1
    return moved(graph, a, last, last - 1)


def eliminated(graph: Graph, s: Node, condition: int, fraction: int) -> Factors:
    """The factors of a symmetric matrix with entries within one. D^-1 M has fewer bits after the point than the others.

    Row k of M is known before step k: what is left of S and the columns of M so far go through the steps together.
    """
    size, axes = s.array.shape[-1], len(s.array.shape)
    rows, columns = axes - 2, axes - 1
    most, root = condition * ROOM, sqrt(Fraction(condition))[1] * ROOM
    left = as_held(graph, with_fraction(graph, s, fraction), rows)
    lower, inverse, pivots, inverses = list[Node](), list[Node](), list[Node](), list[Node]()
    for at in range(size):
        rest = size - at
        first = part(graph, left, rows, 0, 1)
        pivot = checked(graph, part(graph, first, columns, 0, 1), 1 / most, ROOM)
        over = _reciprocal(graph, pivot, condition, fraction)
        pivots.append(pivot)
        inverses.append(over)
        known = part(graph, first, columns, rest, size) if at else None
        inverse.append(_unit(graph, pivot, known, columns, size))
        if rest == 1:
            lower.append(_unit(graph, pivot, None, rows, size))
            break
        below = part(graph, left, rows, 1, rest)
        column = around_zero(graph, times(graph, part(graph, below, columns, 0, 1), over, fraction), root)
        lower.append(_unit(graph, pivot, column, rows, size))
        taken = times(graph, column, part(graph, first, columns, 1, size), fraction)
        after = graph.make(Subtract(), part(graph, below, columns, 1, size), taken)
        left = concatenate(graph, [around_zero(graph, after, root), graph.make(Negate(), column)], columns)
        left = as_held(graph, left, rows)
    whole = concatenate(graph, inverse, rows)
    short = fraction - ceil_log2(Fraction(condition)) // 2
    weighted = around_zero(graph, times(graph, whole, concatenate(graph, inverses, rows), short), most)
    joined = [concatenate(graph, each, columns) for each in (lower, pivots, inverses)]
    return Factors(joined[0], whole, weighted, joined[1], joined[2])


def _reciprocal(graph: Graph, pivot: Node, condition: int, fraction: int) -> Node:
    """1 / d. Where engines have no room for as many bits, the last ones are zero: they matter least for small d."""
    bits = min(fraction, BITS_OF_QUOTIENTS - ceil_log2(Fraction(condition)))
    one = constant(graph, pivot, (), (Fraction(1),))
    return with_fraction(graph, graph.make(Divide(bits), one, pivot), fraction)


def _unit(graph: Graph, pivot: Node, known: Node | None, axis: int, size: int) -> Node:
    """A row of M, or a column of L for the axis of rows: what is known beside the one on the diagonal, and zeros."""
    is_row = axis == len(pivot.array.shape) - 1
    others = size if known is None else size - known.array.shape[axis]
    reals = [Fraction(0)] * others
    reals[0 if is_row else -1] = Fraction(1)
    shape = list(pivot.array.shape)
    shape[axis] = others
    one = constant(graph, pivot, (1, others) if is_row else (others, 1), tuple(reals))
    one = broadcast(graph, one, tuple(shape))
    if known is None:
        return one
    return concatenate(graph, [known, one] if is_row else [one, known], axis)

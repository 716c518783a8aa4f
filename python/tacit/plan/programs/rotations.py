"""Jacobi's rotations: near eigenvalues and eigenvectors of symmetric matrices, with a fixed number of sweeps.

Rows are paired as in a tournament, and pairs of one round turn together. A sweep begins with V^T S V of the V so far,
made orthogonal by one step V (3 I - V^T V) / 2. So what rotations round does not add up from sweep to sweep.

The angle t is that of tan(2 t) = 2 S_pq / (S_qq - S_pp), within pi / 4. The quotient of the smaller of both sizes by
the larger one is at most one. It is right for small sizes, too, and any angle keeps V orthogonal.

Sources: Golub, Van Loan, Matrix Computations (4th edition), 8.5; Brent, Luk, SIAM J. Sci. Stat. Comput. 6 (1985) for
the tournament; Bjoerck, Bowie, SIAM J. Numer. Anal. 8 (1971) for the step.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from tacit.plan.programs.arithmetic import scaled
from tacit.plan.programs.elimination import (
    ROOM,
    around_zero,
    as_held,
    checked,
    constant,
    identity,
    matrix_times,
    times,
    transposed,
)
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import with_fraction
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.infer_arithmetic import DIVISION_ERROR
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Absolute,
    Add,
    Differ,
    Divide,
    Function,
    Known,
    Less,
    Maximum,
    Minimum,
    Negate,
    Select,
    Subtract,
)
from tacit.plan.programs.refusals import OutOfDomain
from tacit.plan.programs.shaping import broadcast, concatenate, part, reshape, take

SWEEPS = 6
"""The squares of what is left decrease quadratically: six sweeps leave nothing of matrices of up to 32 rows."""

BITS_OF_ROOTS = 22
"""After the point of inverse roots: rotations are orthogonal within these."""

Pair = tuple[int, int]


def rotated(graph: Graph, s: Node, bits: int) -> tuple[Node, Node]:
    """Near eigenvalues, and eigenvectors as columns, of a symmetric matrix within one. bits: after the point."""
    size, axes = s.array.shape[-1], len(s.array.shape)
    s = as_held(graph, with_fraction(graph, s, bits), axes - 2)
    vectors = broadcast(graph, constant(graph, s, (size, size), identity(size)), s.array.shape)
    turned = s
    for _ in range(SWEEPS):
        for pairs in tournament(size):
            turn = _rotation(graph, turned, pairs)
            turned = _held(graph, matrix_times(graph, _turned_rows(graph, turn, turned), turn, bits), Fraction(size))
            vectors = _held(graph, matrix_times(graph, vectors, turn, bits), Fraction(1))
        vectors = _orthogonal(graph, vectors)
        left = matrix_times(graph, transposed(graph, vectors), s, bits)
        turned = _held(graph, matrix_times(graph, left, vectors, bits), Fraction(size))
    diagonal = [at * size + at for at in range(size)]
    return _entries(graph, turned, diagonal), vectors


def tournament(size: int) -> list[list[Pair]]:
    """Rounds of pairs: every two meet once. Of an odd number one has no partner in each round."""
    players = list(range(size + size % 2))
    rounds = []
    for _ in range(len(players) - 1):
        half = len(players) // 2
        met = zip(players[:half], players[: half - 1 : -1], strict=True)
        rounds.append([(min(pair), max(pair)) for pair in met if max(pair) < size])
        players[1:] = [players[-1], *players[1:-1]]
    return [pairs for pairs in rounds if pairs]


def _held(graph: Graph, a: Node, most: Fraction) -> Node:
    return as_held(graph, around_zero(graph, a, most * ROOM), len(a.array.shape) - 2)


def _turned_rows(graph: Graph, turn: Node, a: Node) -> Node:
    return _held(graph, matrix_times(graph, transposed(graph, turn), a, a.array.fraction), Fraction(a.array.shape[-1]))


def _orthogonal(graph: Graph, v: Node) -> Node:
    """V (3 I - V^T V) / 2."""
    size, bits = v.array.shape[-1], v.array.fraction
    square = matrix_times(graph, transposed(graph, v), v, bits)
    three = constant(graph, square, (size, size), tuple(3 * each for each in identity(size)))
    half = scaled(graph, graph.make(Subtract(), three, square), 1)
    return _held(graph, matrix_times(graph, v, half, bits), Fraction(1))


def _entries(graph: Graph, a: Node, places: list[int]) -> Node:
    """Entries of matrices by their places row by row, along one axis."""
    batch = a.array.shape[:-2]
    flat = reshape(graph, a, (*batch, a.array.shape[-1] * a.array.shape[-2]))
    return take(graph, flat, places, len(batch))


def _rotation(graph: Graph, a: Node, pairs: list[Pair]) -> Node:
    """The orthogonal matrix that turns each pair of rows by the angle after which their common entry is zero."""
    size, bits, last = a.array.shape[-1], a.array.fraction, len(a.array.shape) - 2
    first = _entries(graph, a, [p * size + p for p, _ in pairs])
    second = _entries(graph, a, [q * size + q for _, q in pairs])
    common = _entries(graph, a, [p * size + q for p, q in pairs])
    sides = graph.make(Subtract(), second, first), graph.make(Add(), common, common)
    both = concatenate(graph, sides, last)
    below = graph.make(Less(), both, constant(graph, both, (), (Fraction(0),)))
    negative = graph.make(Differ(), *_halves(graph, below, last))
    lengths = as_held(graph, graph.make(Absolute(), both), last)
    share = as_held(graph, share_of_larger(graph, lengths, last), last)
    one = constant(graph, share, (), (Fraction(1),))
    longer = _inverse_root(graph, as_held(graph, graph.make(Add(), times(graph, share, share, bits), one), last), bits)
    shorter = times(graph, share, longer, bits)
    steep = graph.make(Less(), *_halves(graph, lengths, last))
    cosine = graph.make(Select(), steep, shorter, longer)
    sine = graph.make(Select(), steep, longer, shorter)
    middle = scaled(graph, graph.make(Add(), around_zero(graph, cosine, ROOM), one), 1)
    middle = as_held(graph, checked(graph, middle, Fraction(1, 4), ROOM), last)
    over = _inverse_root(graph, middle, bits)
    sine = times(graph, scaled(graph, sine, 1), over, bits)
    sine = graph.make(Select(), negative, graph.make(Negate(), sine), sine)
    return _assembled(graph, times(graph, middle, over, bits), sine, pairs, size)


def _halves(graph: Graph, a: Node, axis: int) -> tuple[Node, Node]:
    count = a.array.shape[axis] // 2
    return part(graph, a, axis, 0, count), part(graph, a, axis, count, 2 * count)


def share_of_larger(graph: Graph, a: Node, axis: int) -> Node:
    """The smaller of two numbers that are not negative, divided by the larger one and a unit: at most one.

    a: both halves of an axis. The quotient is no larger, but for its own rounding, and its divisor is above zero.
    """
    if a.array.dtype != "fixed" or a.array.low < 0 or a.array.error or a.array.shape[axis] % 2:
        raise OutOfDomain("a share is of pairs of numbers of at least zero, as they are held.", graph.line)
    first, second = _halves(graph, a, axis)
    smaller, larger = graph.make(Minimum(), first, second), graph.make(Maximum(), first, second)
    larger = graph.make(Add(), larger, constant(graph, larger, (), (unit(larger.array.fraction),)))
    found = graph.make(Divide(a.array.fraction), smaller, larger)
    high = (1 << a.array.fraction) + ceil(DIVISION_ERROR)
    return graph.know(Known("no larger than one", found.array.low, high), found, Proof("share_of_larger", a, (axis,)))


def _inverse_root(graph: Graph, a: Node, bits: int) -> Node:
    return with_fraction(graph, graph.make(Function("rsqrt", min(bits, BITS_OF_ROOTS)), a), bits)


def _assembled(graph: Graph, cosine: Node, sine: Node, pairs: list[Pair], size: int) -> Node:
    """The matrix of rotations: rows without a partner stay."""
    last, batch = len(cosine.array.shape) - 1, cosine.array.shape[:-1]
    fixed = broadcast(graph, constant(graph, cosine, (2,), (Fraction(0), Fraction(1))), (*batch, 2))
    parts = concatenate(graph, [cosine, sine, graph.make(Negate(), sine), fixed], last)
    count = len(pairs)
    places = [3 * count + (row == column) for row in range(size) for column in range(size)]
    for at, (p, q) in enumerate(pairs):
        places[p * size + p] = places[q * size + q] = at
        places[p * size + q], places[q * size + p] = count + at, 2 * count + at
    return reshape(graph, take(graph, parts, places, last), (*batch, size, size))

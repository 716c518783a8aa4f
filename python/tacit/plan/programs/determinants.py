"""Determinants by minors: those of the first k rows and any k columns, for k = 1, 2, ... to the size.

No division is in it, so that any square matrix has its determinant, singular ones too, and integers have it exactly. A
row takes one product for all of its minors. Their number grows as 2^n, so that matrices are small.

Source: Laplace's expansion, by dynamic programming over sets of columns.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from tacit.plan.programs.arithmetic import counted, multiply
from tacit.plan.programs.elimination import square
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.products import matmul
from tacit.plan.programs.public import Public
from tacit.plan.programs.shaping import part, reshape, take

MOST = 10
"""The largest size: 5,120 products of elements. Of a larger positive definite matrix there is its Cholesky factor."""


def determinant(graph: Graph, a: Node) -> Node:
    """The determinants of matrices in the last two axes."""
    size = square(graph, a, MOST)
    a = counted(graph, a)
    batch = a.array.shape[:-2]
    rows = [reshape(graph, part(graph, a, len(batch), at, at + 1), (*batch, size)) for at in range(size)]
    minors = rows[0]
    for count in range(2, size + 1):
        minors = _extended(graph, minors, rows[count - 1], count)
    return reshape(graph, minors, batch)


def _extended(graph: Graph, minors: Node, row: Node, count: int) -> Node:
    """The minors of one row more: for each set of columns, the row times the minors without one of them."""
    batch, size = row.array.shape[:-1], row.array.shape[-1]
    smaller = {columns: place for place, columns in enumerate(combinations(range(size), count - 1))}
    sets = list(combinations(range(size), count))
    places = [smaller[(*columns[:at], *columns[at + 1 :])] for columns in sets for at in range(count)]
    signs = Public((count,), "weak int", tuple(Fraction((-1) ** (count - 1 + at)) for at in range(count)))
    axis, shape = len(batch), (*batch, len(sets), count)
    entries = reshape(graph, take(graph, row, [column for columns in sets for column in columns], axis), shape)
    others = reshape(graph, take(graph, minors, places, axis), shape)
    left = reshape(graph, multiply(graph, entries, signs), (*batch, len(sets), 1, count))
    right = reshape(graph, others, (*batch, len(sets), count, 1))
    return reshape(graph, matmul(graph, left, right), (*batch, len(sets)))

"""Sums, means, variances and products along axes, as nodes."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from tacit.plan.programs import intervals
from tacit.plan.programs.arithmetic import as_fixed, by_public, counted, logic, multiply, scaled, subtract
from tacit.plan.programs.elementary import sqrt
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import elementwise, narrowed, product, widened
from tacit.plan.programs.functions import function
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.infer_format import within
from tacit.plan.programs.infer_functions import ERRORS
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Both, CumulativeSum, Either, Known, Multiply, Operation, Sum
from tacit.plan.programs.public import Public, encoded
from tacit.plan.programs.refusals import OutOfDomain, TooWide
from tacit.plan.programs.shapes import without
from tacit.plan.programs.shaping import concatenate, expanded, part, reshape


def total(graph: Graph, a: Node, axis: int) -> Node:
    """The sum along an axis."""
    a = counted(graph, a)
    try:
        return graph.make(Sum(axis), a)
    except TooWide:
        return graph.make(Sum(axis), widened(graph, a))


def cumulative(graph: Graph, a: Node, axis: int) -> Node:
    """The sums of the first elements along an axis."""
    return graph.make(CumulativeSum(axis), counted(graph, a))


def mean(graph: Graph, a: Node, axis: int) -> Node:
    """The mean along an axis: the sum, divided once."""
    count = _count(a, axis)
    found = as_fixed(graph, _divided(graph, total(graph, a, axis), count))
    low, high = intervals.meet(within(found.array, a.array.real), found.array.interval)
    return known(graph, found, Known("a mean is between the least and the largest", low, high), "mean", a, axis)


def known(graph: Graph, a: Node, fact: Known, proof: str, of: Node, *parameters: int) -> Node:
    """An array with a fact of it, if that says more than is known. proof, of, parameters: those of its Proof."""
    array = a.array
    says = fact.low > array.low or fact.high < array.high or fact.row_sum is not None or fact.one_hot
    closer = fact.error is not None and fact.error < array.error
    return graph.know(fact, a, Proof(proof, of, parameters)) if says or closer else a


def _count(a: Node, axis: int) -> int:
    if a.array.shape[axis] == 0:
        raise OutOfDomain("the mean of no elements is not defined; give at least one.")
    return a.array.shape[axis]


def _divided(graph: Graph, a: Node, count: int) -> Node:
    """A sum divided by a public count."""
    if count.bit_count() == 1:
        return scaled(graph, a, count.bit_length() - 1)
    return narrowed(graph, by_public(graph, a, Public((), "fixed", (Fraction(1, count),)), relative=False))


def centred(graph: Graph, a: Node, axis: int) -> Node:
    """An array minus its mean along an axis."""
    found = subtract(graph, a, expanded(graph, mean(graph, a, axis), axis))
    low, high = a.array.real
    bounds = within(found.array, (low - high, high - low))
    fact = Known("a distance from the mean is at most the range", *bounds)
    return known(graph, found, fact, "centred", a, axis)


def variance(graph: Graph, a: Node, axis: int, less: int = 0) -> Node:
    """The mean square of the distances from the mean, with ``less`` fewer in the divisor."""
    count = _count(a, axis)
    if count <= less:
        raise OutOfDomain(f"a variance with ddof={less} needs more than {less} elements; give more or a smaller ddof.")
    return narrowed(graph, _cut(graph, squares_of_distances(graph, as_fixed(graph, a), axis), count - less))


def squares_of_distances(graph: Graph, a: Node, axis: int) -> Node:
    """The sum of the squared distances from the mean."""
    distance = centred(graph, a, axis)
    try:
        return _squares(graph, distance, a, axis)
    except TooWide:
        found = _squares(graph, widened(graph, distance), a, axis)
        graph.notes[found.number] = "squares computed in 128 bits"
        return found


def _squares(graph: Graph, distance: Node, a: Node, axis: int) -> Node:
    low, high = a.array.real
    most = (high - low) ** 2 / 4 * a.array.shape[axis]
    found = graph.make(Sum(axis), graph.make(Multiply(), distance, distance))
    bounds = within(found.array, (Fraction(0), most))
    fact = Known("a variance is at most a quarter of the squared range", max(bounds[0], 0), bounds[1])
    return known(graph, found, fact, "squares_of_distances", a, axis)


def _cut(graph: Graph, a: Node, count: int) -> Node:
    """A sum of squares divided by a count, with its bits after the point cut off once."""
    wanted = max(graph.settings.fraction, a.array.fraction // 2)
    inverse = Public((), "fixed", (Fraction(1, count),))
    reach = ceil(a.array.largest * unit(a.array.fraction)).bit_length() + wanted
    factor = encoded(graph, inverse, reach, "fixed", a.array.ring)
    return product(graph, elementwise(graph), a, factor, wanted)


def deviation(graph: Graph, a: Node, axis: int, less: int = 0) -> Node:
    """The square root of the variance."""
    count = _count(a, axis)
    if count <= less:
        raise OutOfDomain(f"a deviation with ddof={less} needs more than {less} elements; give more or a smaller ddof.")
    return root_of_squares(graph, centred(graph, as_fixed(graph, a), axis), axis, count - less)


def root_of_squares(graph: Graph, a: Node, axis: int, divisor: int = 1) -> Node:
    """The square root of the sum of squares along an axis, divided before by a public number.

    It moves by no more than the elements' own distances do, so that its error is not that of a root near zero.
    """
    a = counted(graph, a)
    try:
        squares = graph.make(Sum(axis), graph.make(Multiply(), a, a))
        shares = _shares(graph, squares, divisor)
    except TooWide:
        wide = widened(graph, a)
        shares = _shares(graph, graph.make(Sum(axis), graph.make(Multiply(), wide, wide)), divisor)
    root = function(graph, "sqrt", narrowed(graph, shares))
    rounding = 2 * unit(shares.array.fraction) if divisor > 1 else Fraction(0)
    moved = a.array.absolute_error * sqrt(Fraction(a.array.shape[axis], divisor))[1] + sqrt(rounding)[1]
    error = min(moved / unit(root.array.fraction) + ERRORS["sqrt"], root.array.error)
    fact = Known("a norm moves by no more than its elements", root.array.low, root.array.high, error=error)
    return known(graph, root, fact, "root_of_squares", a, axis, divisor)


def _shares(graph: Graph, squares: Node, divisor: int) -> Node:
    """Sums of squares divided by a public number, with no bits cut off that the root would need."""
    if divisor.bit_count() == 1:
        return scaled(graph, squares, divisor.bit_length() - 1)
    bits = ceil(squares.array.largest * unit(squares.array.fraction)).bit_length() + squares.array.fraction
    factor = encoded(graph, Public((), "fixed", (Fraction(1, divisor),)), bits, "fixed", squares.array.ring)
    return product(graph, elementwise(graph), squares, factor, squares.array.fraction)


def multiplied(graph: Graph, a: Node, axis: int) -> Node:
    """The product along an axis, by halves."""
    return _halved(graph, counted(graph, a), axis, None)


def joined(graph: Graph, a: Node, axis: int, operation: Both | Either) -> Node:
    """Whether all bits along an axis are set, or one."""
    return _halved(graph, a, axis, operation)


def _halved(graph: Graph, a: Node, axis: int, operation: Operation | None) -> Node:
    while (size := a.array.shape[axis]) > 1:
        half = size // 2
        first, second = part(graph, a, axis, 0, half), part(graph, a, axis, half, 2 * half)
        joint = multiply(graph, first, second) if operation is None else logic(graph, operation, first, second)
        rest = part(graph, a, axis, 2 * half, size)
        a = joint if size % 2 == 0 else concatenate(graph, [joint, rest], axis)
    return reshape(graph, a, without(a.array.shape, axis))

"""Functions of elements, and softmax, as nodes."""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.programs.arithmetic import counted, maximum, multiply, quotient, subtract
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import narrowed, truncated, widened
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Function, FunctionName, Known, Largest, Sum
from tacit.plan.programs.public import number
from tacit.plan.programs.refusals import OutOfDomain, TooWide
from tacit.plan.programs.shaping import expanded

ZERO, ONE = Fraction(0), Fraction(1)
GUARD = 4
"""More bits after the point for the exponentials that a softmax adds up."""

WIDE, FAR = 256, 64
"""Engines compute exp of numbers from -WIDE. Those of a wider range are cut at -FAR, where exp is zero."""


def function(graph: Graph, name: FunctionName, a: Node, more: int = 0) -> Node:
    """A function of every element, with ``more`` bits after the point than the program asks for."""
    a = counted(graph, a)
    bits = graph.settings.fraction + more
    if name == "rsqrt" and a.array.high > 0:
        bits += max(0, ceil_log2(a.array.high * unit(a.array.fraction)) // 2)
    try:
        return graph.make(Function(name, bits), a)
    except TooWide:
        return graph.make(Function(name, bits), widened(graph, a))


def softmax(graph: Graph, a: Node, axis: int) -> Node:
    """exp(a) divided by its sum along an axis, whatever the range of a: its maximum is subtracted first.

    Raises ProgramError where the inverse of the sum may be held as a negative number: it is of too many numbers.
    """
    powers = _powers(graph, a, axis)
    inverse = quotient(graph, number(1), whole_of_powers(graph, a, axis), powers.array.fraction)
    if inverse.array.low < 0:
        raise OutOfDomain(
            f"softmax of {a.array.shape[axis]:,} numbers gives shares that {graph.settings.fraction} bits after the "
            "point do not hold; ask for more bits, or take it of fewer numbers at a time."
        )
    found = multiply(graph, powers, expanded(graph, inverse, axis))
    found = narrowed(graph, truncated(graph, found, GUARD))
    return graph.know(_shares_of_whole(found, axis), found, Proof("softmax", a, (axis,)))


def below_largest(graph: Graph, a: Node, axis: int) -> Node:
    """An array minus its largest elements along an axis."""
    distance = subtract(graph, a, expanded(graph, graph.make(Largest(axis), counted(graph, a)), axis))
    exact = min(distance.array.real[0], ZERO), ZERO
    fact = Known("no element is above the maximum", distance.array.low, 0, exact=exact)
    return graph.know(fact, distance, Proof("below_largest", a, (axis,)))


def _powers(graph: Graph, a: Node, axis: int) -> Node:
    """The exponentials that a softmax adds up. Where the range is wide, those that are zero are all of one number.

    e^-64 is 2^-68 of a unit of the last place with 24 bits after the point, of which exp declares two for its error.
    """
    distance = below_largest(graph, a, axis)
    if distance.array.low * unit(distance.array.fraction) < -WIDE:
        distance = maximum(graph, distance, number(-FAR))
    return function(graph, "exp", distance, GUARD)


def whole_of_powers(graph: Graph, a: Node, axis: int) -> Node:
    """The sum of the exponentials that a softmax divides by."""
    powers = _powers(graph, a, axis)
    whole = graph.make(Sum(axis), powers)
    exact = ONE, Fraction(a.array.shape[axis])
    fact = Known("the largest exponential is 1", (1 << powers.array.fraction) - 2, whole.array.high, exact=exact)
    return graph.know(fact, whole, Proof("whole_of_powers", a, (axis,)))


def _shares_of_whole(a: Node, axis: int) -> Known:
    """Shares of a whole: each between 0 and 1, and together 1."""
    array = a.array
    one, room = Fraction(1 << array.fraction), array.error
    sums = int(one - room * array.columns), int(one + room * array.columns) + 1
    last = axis == len(array.shape) - 1
    high = min(array.high, int(one + room))
    return Known("shares of a whole", max(array.low, 0), high, sums if last else None, exact=(ZERO, ONE))

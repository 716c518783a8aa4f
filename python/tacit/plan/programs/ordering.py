"""Extremes, orders, and what is made of them, as nodes."""

from __future__ import annotations

from math import ceil

from tacit.plan.programs.arithmetic import counted, equal, invert, less, maximum, minimum, select
from tacit.plan.programs.facts import unit
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Check, Largest, Order, Place, Smallest, Sort
from tacit.plan.programs.public import Operand, Public
from tacit.plan.programs.reductions import total
from tacit.plan.programs.refusals import OutOfDomain
from tacit.plan.programs.shaping import concatenate, expanded, part


def largest(graph: Graph, a: Node, axis: int) -> Node:
    """The largest along an axis."""
    return graph.make(Largest(axis), a)


def smallest(graph: Graph, a: Node, axis: int) -> Node:
    """The smallest along an axis."""
    return graph.make(Smallest(axis), a)


def place(graph: Graph, a: Node, axis: int, of_largest: bool) -> Node:
    """The position of the first largest, or first smallest, along an axis."""
    return graph.make(Place(axis, of_largest), counted(graph, a))


def sort(graph: Graph, a: Node, axis: int) -> Node:
    """Ascending along an axis."""
    return graph.make(Sort(axis), a)


def order(graph: Graph, a: Node, axis: int) -> Node:
    """The positions that sort an axis; equal elements keep their order."""
    return graph.make(Order(axis), counted(graph, a))


def clip(graph: Graph, a: Operand, low: Operand | None, high: Operand | None) -> Node:
    """No less than low and no more than high."""
    found = a if low is None else maximum(graph, a, low)
    if high is not None:
        found = minimum(graph, found, high)
    if isinstance(found, Public):
        raise OutOfDomain("clip needs one bound; give min or max.", graph.line)
    return found


def bound(graph: Graph, a: Node, most: Public) -> Node:
    """An array that the run checks to be between -most and most; one bit for all such checks is opened at its end."""
    size = ceil(most.largest / unit(a.array.fraction))
    if most.shape or most.reals[0] <= 0:
        raise OutOfDomain("a bound is one number above zero; give the largest absolute value.", graph.line)
    return graph.make(Check(-size, size), a)


def searched(graph: Graph, keys: Node, values: Node, right: bool) -> Node:
    """Where values go in ascending keys: the number of keys below, or not above."""
    if len(keys.array.shape) != 1:
        raise OutOfDomain("searchsorted takes a vector of keys; give one with one axis.", graph.line)
    last = expanded(graph, values, -1)
    found = invert(graph, less(graph, last, keys)) if right else less(graph, keys, last)
    return total(graph, found, len(values.array.shape))


def unique(graph: Graph, a: Node, size: int, fill: Public | None) -> Node:
    """The first ``size`` different values of a vector in ascending order, then the fill value, else the smallest."""
    if not 1 <= size <= a.array.size or len(a.array.shape) != 1:
        raise OutOfDomain("unique takes a vector and a size from one to its length; give such a size.", graph.line)
    ordered = sort(graph, counted(graph, a), 0)
    count = a.array.size
    again = equal(graph, part(graph, ordered, 0, 1, count), part(graph, ordered, 0, 0, count - 1))
    above = Public((), "fixed" if a.array.fraction else "weak int", ((a.array.high + 1) * unit(a.array.fraction),))
    rest = select(graph, again, above, part(graph, ordered, 0, 1, count))
    first = sort(graph, concatenate(graph, [part(graph, ordered, 0, 0, 1), rest], 0), 0)
    first = part(graph, first, 0, 0, size)
    filling: Operand = smallest(graph, a, 0) if fill is None else fill
    return select(graph, less(graph, first, above), first, filling)

"""The same elements in another shape, as nodes."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.plan.programs import shapes
from tacit.plan.programs.arithmetic import counted
from tacit.plan.programs.facts import Shape
from tacit.plan.programs.formats import aligned
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Broadcast, Concatenate, Reshape, Slice, Take, Transpose


def reshape(graph: Graph, a: Node, shape: Sequence[int]) -> Node:
    """The same elements in another shape."""
    wanted = shapes.reshaped(a.array.shape, shape)
    if wanted == a.array.shape:
        return a
    if isinstance(a.operation, Reshape):
        a = a.args[0]
    return a if wanted == a.array.shape else graph.make(Reshape(wanted), a)


def transpose(graph: Graph, a: Node, axes: Sequence[int] | None = None) -> Node:
    """Axes in another order, or in the opposite one."""
    dimensions = len(a.array.shape)
    wanted = range(dimensions)[::-1] if axes is None else [shapes.axis_of(axis, a.array.shape) for axis in axes]
    order, same = tuple(wanted), tuple(range(dimensions))
    if order != same and isinstance(a.operation, Transpose):
        order, a = tuple(a.operation.axes[axis] for axis in order), a.args[0]
    return a if order == same else graph.make(Transpose(order), a)


def moved(graph: Graph, a: Node, source: int, target: int) -> Node:
    """One axis at another place."""
    order = [axis for axis in range(len(a.array.shape)) if axis != source]
    order.insert(target, source)
    return transpose(graph, a, order)


def broadcast(graph: Graph, a: Node, shape: Shape) -> Node:
    """An array repeated to a shape."""
    return a if a.array.shape == shape else graph.make(Broadcast(shape), a)


def expanded(graph: Graph, a: Node, axis: int) -> Node:
    """An array with one more axis of length one."""
    shape = list(a.array.shape)
    shape.insert(axis % (len(shape) + 1), 1)
    return reshape(graph, a, shape)


def cut(graph: Graph, a: Node, ranges: Sequence[tuple[int, int, int]]) -> Node:
    """Every step-th element from a start to before a stop."""
    whole = [(0, size, 1) for size in a.array.shape]
    return a if list(ranges) == whole else graph.make(Slice(tuple(ranges)), a)


def part(graph: Graph, a: Node, axis: int, start: int, stop: int) -> Node:
    """Neighbouring elements of an axis."""
    ranges = [(0, size, 1) for size in a.array.shape]
    ranges[axis] = start, stop, 1
    return cut(graph, a, ranges)


def take(graph: Graph, a: Node, positions: Sequence[int], axis: int) -> Node:
    """The elements at public positions of an axis."""
    return graph.make(Take(tuple(positions), axis), a)


def concatenate(graph: Graph, arrays: Sequence[Node], axis: int) -> Node:
    """Arrays one behind the other."""
    if len(arrays) == 1:
        return arrays[0]
    mixed = len({node.array.dtype == "bool" for node in arrays}) > 1
    numbers = [counted(graph, node) for node in arrays] if mixed else arrays
    return graph.make(Concatenate(axis), *aligned(graph, *numbers))

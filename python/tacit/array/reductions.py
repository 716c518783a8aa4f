"""What NumPy's sums, means, extremes and orders do with private arrays: along one axis, several, or all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from tacit.array import teaching
from tacit.array.lines import current_line
from tacit.array.operands import as_node, public
from tacit.array.private import FUNCTIONS, PrivateArray
from tacit.array.ufuncs import operands
from tacit.plan.programs import arithmetic, ordering, reductions, shapes, shaping
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Both, Either
from tacit.plan.programs.refusals import OutOfDomain

Along = Callable[[Graph, Node, int], Node]
Axis = int | Sequence[int] | None


def reduced(a: PrivateArray, axis: Axis, keepdims: bool, rule: Along) -> PrivateArray:
    """A rule along axes: several become one."""
    graph = a.graph
    graph.line = current_line()
    axes = _axes(a, axis)
    rest = [each for each in range(a.ndim) if each not in axes]
    if len(axes) == 1:
        node = rule(graph, a.node, axes[0])
    else:
        ordered = shaping.transpose(graph, a.node, [*rest, *axes])
        flat = [*(a.shape[each] for each in rest), prod(a.shape[each] for each in axes)]
        node = rule(graph, shaping.reshape(graph, ordered, flat), len(rest))
    if keepdims:
        node = shaping.reshape(graph, node, [1 if each in axes else size for each, size in enumerate(a.shape)])
    return PrivateArray(graph, node)


def _axes(a: PrivateArray, axis: Axis) -> list[int]:
    if axis is None:
        return list(range(a.ndim))
    each = [axis] if isinstance(axis, int) else list(axis)
    return sorted({shapes.axis_of(one, a.shape) for one in each})


def _reduction(rule: Along) -> Callable[..., PrivateArray]:
    def call(a: PrivateArray, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        _no(out=out)
        found = reduced(a, axis, keepdims is True, rule)
        return found if dtype is None else found.astype(dtype)

    return call


def _extreme(rule: Along) -> Callable[..., PrivateArray]:
    def call(a: PrivateArray, axis: Axis = None, out: Any = None, keepdims: Any = False) -> Any:
        _no(out=out)
        return reduced(a, axis, keepdims is True, rule)

    return call


def _spread(rule: Callable[[Graph, Node, int, int], Node]) -> Callable[..., PrivateArray]:
    def call(
        a: PrivateArray,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: Any = False,
        correction: int | None = None,
    ) -> Any:
        _no(out=out)
        less = ddof if correction is None else correction
        return reduced(a, axis, keepdims is True, lambda graph, node, at: rule(graph, node, at, less))

    return call


def _no(**options: Any) -> None:
    if any(value is not None for value in options.values()):
        raise teaching.refused(teaching.OUT, current_line())


def _place(largest: bool) -> Callable[..., PrivateArray]:
    def rule(graph: Graph, node: Node, axis: int) -> Node:
        return ordering.place(graph, node, axis, largest)

    def call(a: PrivateArray, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
        _no(out=out)
        return reduced(a, axis, keepdims is True, rule)

    return call


def _whole(a: PrivateArray, axis: int | None) -> tuple[PrivateArray, int]:
    """An array and an axis of it; its elements in one axis where none is named."""
    return (a.ravel(), 0) if axis is None else (a, shapes.axis_of(axis, a.shape))


def _cumsum(a: PrivateArray, axis: int | None = None, dtype: Any = None, out: Any = None) -> PrivateArray:
    _no(out=out)
    a, along = _whole(a, axis)
    return PrivateArray(a.graph, reductions.cumulative(a.graph, a.node, along))


def _sort(a: PrivateArray, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    _no(order=order)
    a, along = _whole(a, axis)
    return PrivateArray(a.graph, ordering.sort(a.graph, a.node, along))


def _argsort(a: PrivateArray, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    _no(order=order)
    a, along = _whole(a, axis)
    return PrivateArray(a.graph, ordering.order(a.graph, a.node, along))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **named: Any) -> PrivateArray:
    _no(out=out)
    bounds = [named.get("min", a_min), named.get("max", a_max)]
    graph, given = operands(a, *(each for each in bounds if each is not None))
    low = given[1] if bounds[0] is not None else None
    high = given[-1] if bounds[1] is not None else None
    return PrivateArray(graph, ordering.clip(graph, given[0], low, high))


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> PrivateArray:
    _no(sorter=sorter)
    graph, (keys, values) = operands(a, v)
    found = ordering.searched(graph, as_node(graph, keys), as_node(graph, values), side == "right")
    return PrivateArray(graph, found)


def _median(a: PrivateArray, axis: int | None = None, out: Any = None, keepdims: bool = False) -> PrivateArray:
    _no(out=out)

    def rule(graph: Graph, node: Node, at: int) -> Node:
        size = node.array.shape[at]
        middle = shaping.part(graph, ordering.sort(graph, node, at), at, (size - 1) // 2, size // 2 + 1)
        return reductions.mean(graph, middle, at)

    return reduced(a, axis, keepdims, rule)


def unique(a: PrivateArray, size: int, fill_value: Any = None) -> PrivateArray:
    """The first ``size`` different values in ascending order, then the fill value."""
    a.graph.line = current_line()
    fill = None if fill_value is None else public(fill_value)
    return PrivateArray(a.graph, ordering.unique(a.graph, a.ravel().node, size, fill))


def _refused_unique(*arrays: Any, **options: Any) -> Any:
    raise OutOfDomain(
        "np.unique would reveal how many different values there are; write tacit.numpy.unique(x, size=bound).",
        current_line(),
    )


def _ptp(a: PrivateArray, axis: Axis = None) -> PrivateArray:
    def rule(graph: Graph, node: Node, at: int) -> Node:
        return arithmetic.subtract(graph, ordering.largest(graph, node, at), ordering.smallest(graph, node, at))

    return reduced(a, axis, False, rule)


FUNCTIONS.update(
    {
        numpy.sum: _reduction(reductions.total),
        numpy.mean: _reduction(reductions.mean),
        numpy.prod: _reduction(reductions.multiplied),
        numpy.var: _spread(reductions.variance),
        numpy.std: _spread(reductions.deviation),
        numpy.max: _extreme(ordering.largest),
        numpy.min: _extreme(ordering.smallest),
        numpy.all: _extreme(lambda graph, a, axis: reductions.joined(graph, a, axis, Both())),
        numpy.any: _extreme(lambda graph, a, axis: reductions.joined(graph, a, axis, Either())),
        numpy.ptp: _ptp,
        numpy.argmax: _place(True),
        numpy.argmin: _place(False),
        numpy.cumsum: _cumsum,
        numpy.sort: _sort,
        numpy.argsort: _argsort,
        numpy.clip: _clip,
        numpy.searchsorted: _searchsorted,
        numpy.median: _median,
        numpy.unique: _refused_unique,
    }
)

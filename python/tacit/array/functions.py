"""What NumPy's functions of shapes, products and choices do with private arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from tacit.array import teaching
from tacit.array.lines import current_line
from tacit.array.operands import as_node, public
from tacit.array.private import FUNCTIONS, UFUNCS, PrivateArray
from tacit.array.ufuncs import operands
from tacit.plan.programs import arithmetic, products, shapes, shaping
from tacit.plan.programs.dtypes import supported
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Cast
from tacit.plan.programs.refusals import OutOfDomain

Rule = TypeVar("Rule", bound=Callable[..., Any])


def implements(*functions: Any) -> Callable[[Rule], Rule]:
    """Register what functions of NumPy do with private arrays."""

    def register(rule: Rule) -> Rule:
        FUNCTIONS.update(dict.fromkeys(functions, rule))
        return rule

    return register


def _arrays(values: Sequence[Any]) -> tuple[Graph, list[Node]]:
    graph, given = operands(*values)
    return graph, arithmetic.nodes(graph, *given)


# --- shapes ----------------------------------------------------------------------------------------------------------


@implements(numpy.shape)
def _shape(a: PrivateArray) -> tuple[int, ...]:
    return a.shape


@implements(numpy.ndim)
def _ndim(a: PrivateArray) -> int:
    return a.ndim


@implements(numpy.size)
def _size(a: PrivateArray, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


@implements(numpy.reshape)
def _reshape(a: PrivateArray, shape: Any = None, order: str = "C", **options: Any) -> PrivateArray:
    if order != "C":
        raise OutOfDomain("reshape takes elements row by row here; transpose the array before.", current_line())
    wanted = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
    a.graph.line = current_line()
    return a.view(shaping.reshape(a.graph, a.node, wanted))


@implements(numpy.ravel)
def _ravel(a: PrivateArray, order: str = "C") -> PrivateArray:
    return _reshape(a, (-1,) if a.size else (0,), order)


@implements(numpy.transpose, numpy.permute_dims)
def _transpose(a: PrivateArray, axes: Sequence[int] | None = None) -> PrivateArray:
    return a.view(shaping.transpose(a.graph, a.node, axes))


@implements(numpy.matrix_transpose)
def _matrix_transpose(a: PrivateArray) -> PrivateArray:
    return _swapaxes(a, -1, -2)


@implements(numpy.swapaxes)
def _swapaxes(a: PrivateArray, axis1: int, axis2: int) -> PrivateArray:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _transpose(a, order)


@implements(numpy.moveaxis)
def _moveaxis(a: PrivateArray, source: int, destination: int) -> PrivateArray:
    source, destination = shapes.axis_of(source, a.shape), shapes.axis_of(destination, a.shape)
    return a.view(shaping.moved(a.graph, a.node, source, destination))


@implements(numpy.expand_dims)
def _expand_dims(a: PrivateArray, axis: int) -> PrivateArray:
    return a.view(shaping.expanded(a.graph, a.node, axis % (a.ndim + 1)))


@implements(numpy.squeeze)
def _squeeze(a: PrivateArray, axis: int | None = None) -> PrivateArray:
    gone = {at for at, size in enumerate(a.shape) if size == 1} if axis is None else {shapes.axis_of(axis, a.shape)}
    if any(a.shape[at] != 1 for at in gone):
        raise OutOfDomain("only axes of length one can be squeezed; sum over the axis instead.", current_line())
    return _reshape(a, [size for at, size in enumerate(a.shape) if at not in gone])


@implements(numpy.broadcast_to)
def _broadcast_to(a: PrivateArray, shape: Any, subok: bool = False) -> PrivateArray:
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    if shapes.broadcast(a.shape, wanted) != wanted:
        raise OutOfDomain(f"shape {a.shape} cannot be broadcast to {wanted}; reshape it.", current_line())
    return a.view(shaping.broadcast(a.graph, a.node, wanted))


@implements(numpy.repeat)
def _repeat(a: PrivateArray, repeats: Any, axis: int | None = None) -> PrivateArray:
    flat = a.ravel() if axis is None else a
    along = 0 if axis is None else shapes.axis_of(axis, a.shape)
    positions = numpy.repeat(numpy.arange(flat.shape[along]), repeats)
    return _take(flat, positions, along)


@implements(numpy.take)
def _take(a: PrivateArray, indices: Any, axis: int | None = None) -> PrivateArray:
    flat = a.ravel() if axis is None else a
    along = 0 if axis is None else shapes.axis_of(axis, a.shape)
    return flat[(*(slice(None),) * along, indices)] if along == 0 else _taken(flat, numpy.asarray(indices), along)


def _taken(a: PrivateArray, indices: Any, axis: int) -> PrivateArray:
    positions = numpy.arange(a.shape[axis])[indices.reshape(-1)]
    node = shaping.take(a.graph, a.node, positions.tolist(), axis)
    shape = (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :])
    return PrivateArray(a.graph, shaping.reshape(a.graph, node, shape))


@implements(numpy.flip)
def _flip(a: PrivateArray, axis: int | None = None) -> PrivateArray:
    along = range(a.ndim) if axis is None else [shapes.axis_of(axis, a.shape)]
    return a[tuple(slice(None, None, -1 if at in along else 1) for at in range(a.ndim))]


@implements(numpy.tile)
def _tile(a: PrivateArray, reps: Any) -> PrivateArray:
    counts = (reps,) if isinstance(reps, int) else tuple(reps)
    places = numpy.tile(numpy.arange(a.size).reshape(a.shape), counts)
    node = shaping.take(a.graph, a.ravel().node, places.reshape(-1).tolist(), 0)
    return PrivateArray(a.graph, shaping.reshape(a.graph, node, places.shape))


@implements(numpy.roll)
def _roll(a: PrivateArray, shift: int, axis: int | None = None) -> PrivateArray:
    places = numpy.roll(numpy.arange(a.size).reshape(a.shape), shift, axis)
    return a.ravel()[places]


@implements(numpy.diag, numpy.diagonal)
def _diag(a: PrivateArray, k: int = 0) -> PrivateArray:
    places = numpy.arange(a.size).reshape(a.shape)
    if a.ndim == 2:
        return a.ravel()[numpy.diagonal(places, k)]
    square = numpy.diag(places + 1, k) - 1
    return where(square >= 0, a[numpy.maximum(square, 0)], 0)


def _masked(a: PrivateArray, kept: Any) -> PrivateArray:
    return UFUNCS[numpy.multiply](a, kept)


@implements(numpy.tril)
def _tril(m: PrivateArray, k: int = 0) -> PrivateArray:
    return _masked(m, numpy.tri(m.shape[-2], m.shape[-1], k=k, dtype=bool))


@implements(numpy.triu)
def _triu(m: PrivateArray, k: int = 0) -> PrivateArray:
    return _masked(m, ~numpy.tri(m.shape[-2], m.shape[-1], k=k - 1, dtype=bool))


@implements(numpy.trace)
def _trace(a: PrivateArray) -> Any:
    return numpy.sum(_diag(a))


@implements(numpy.concatenate, numpy.concat)
def _concatenate(arrays: Sequence[Any], axis: int | None = 0, **options: Any) -> PrivateArray:
    graph, nodes = _arrays(arrays)
    if axis is None:
        nodes = [shaping.reshape(graph, node, (-1,)) for node in nodes]
    along = 0 if axis is None else shapes.axis_of(axis, nodes[0].array.shape)
    return PrivateArray(graph, shaping.concatenate(graph, nodes, along))


@implements(numpy.stack)
def _stack(arrays: Sequence[Any], axis: int = 0, **options: Any) -> PrivateArray:
    graph, nodes = _arrays(arrays)
    along = axis % (len(nodes[0].array.shape) + 1)
    return PrivateArray(
        graph, shaping.concatenate(graph, [shaping.expanded(graph, each, along) for each in nodes], along)
    )


@implements(numpy.vstack)
def _vstack(tup: Sequence[Any], **options: Any) -> PrivateArray:
    return _concatenate([numpy.reshape(each, (1, -1)) if numpy.ndim(each) < 2 else each for each in tup], 0)


@implements(numpy.hstack)
def _hstack(tup: Sequence[Any], **options: Any) -> PrivateArray:
    flat = [numpy.reshape(each, (1,)) if numpy.ndim(each) == 0 else each for each in tup]
    return _concatenate(flat, 0 if numpy.ndim(flat[0]) == 1 else 1)


@implements(numpy.column_stack)
def _column_stack(tup: Sequence[Any]) -> PrivateArray:
    return _concatenate([numpy.reshape(each, (-1, 1)) if numpy.ndim(each) < 2 else each for each in tup], 1)


@implements(numpy.split, numpy.array_split)
def _split(ary: PrivateArray, indices_or_sections: Any, axis: int = 0) -> list[PrivateArray]:
    along = shapes.axis_of(axis, ary.shape)
    pieces = numpy.split(numpy.arange(ary.shape[along]), indices_or_sections)
    return [_taken(ary, piece, along) for piece in pieces]


@implements(numpy.pad)
def _pad(array: PrivateArray, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> PrivateArray:
    if mode != "constant":
        raise OutOfDomain('np.pad has mode="constant" here; write np.concatenate for others.', current_line())
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (array.ndim, 2)).tolist()
    for axis, (before, after) in enumerate(widths):
        sizes = [[*array.shape[:axis], count, *array.shape[axis + 1 :]] for count in (before, after)]
        first, last = (numpy.full(size, constant_values, dtype=array.dtype) for size in sizes)
        pieces = [first] * bool(before) + [array] + [last] * bool(after)
        array = _concatenate(pieces, axis) if len(pieces) > 1 else array
    return array


@implements(numpy.copy)
def _copy(a: PrivateArray, **options: Any) -> PrivateArray:
    return a.copy()


@implements(numpy.astype)
def _astype(x: PrivateArray, dtype: Any, /, *, copy: bool = True, device: Any = None) -> PrivateArray:
    graph, wanted = x.graph, supported(numpy.dtype(dtype).name)
    graph.line = current_line()
    have = x.node.array.dtype
    if wanted == "fixed":
        return PrivateArray(graph, arithmetic.as_fixed(graph, x.node))
    if wanted == "bool":
        return x != 0 if have != "bool" else x.copy()
    if have == wanted:
        return x.copy()
    whole = arithmetic.as_integer(graph, arithmetic.counted(graph, x.node))
    return PrivateArray(graph, graph.make(Cast(wanted), whole))


# --- public arrays like private ones ---------------------------------------------------------------------------------


def _like(make: Callable[..., Any]) -> Callable[..., Any]:
    def call(a: PrivateArray, dtype: Any = None, *, shape: Any = None, **options: Any) -> PrivateArray:
        made = make(a.shape if shape is None else shape, dtype=a.dtype if dtype is None else dtype)
        return PrivateArray(a.graph, as_node(a.graph, public(made)))

    return call


FUNCTIONS.update(
    {numpy.zeros_like: _like(numpy.zeros), numpy.ones_like: _like(numpy.ones), numpy.empty_like: _like(numpy.zeros)}
)


@implements(numpy.full_like)
def _full_like(a: PrivateArray, fill_value: Any, dtype: Any = None, **options: Any) -> PrivateArray:
    made = numpy.full(a.shape, fill_value, dtype=a.dtype if dtype is None else dtype)
    return PrivateArray(a.graph, as_node(a.graph, public(made)))


@implements(numpy.result_type)
def _result_type(*values: Any) -> Any:
    return numpy.result_type(*(each.dtype if isinstance(each, PrivateArray) else each for each in values))


# --- products and choices --------------------------------------------------------------------------------------------


@implements(numpy.dot)
def _dot(a: Any, b: Any, out: Any = None) -> PrivateArray:
    graph, (x, y) = operands(a, b)
    return PrivateArray(graph, products.dot(graph, x, y))


@implements(numpy.inner, numpy.vecdot)
def _inner(a: Any, b: Any) -> Any:
    return _dot(a, b) if numpy.ndim(b) < 2 else numpy.matmul(a, numpy.matrix_transpose(b))


@implements(numpy.vdot)
def _vdot(a: Any, b: Any) -> PrivateArray:
    return _dot(numpy.ravel(a), numpy.ravel(b))


@implements(numpy.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    return numpy.multiply(numpy.reshape(a, (-1, 1)), numpy.reshape(b, (1, -1)))


@implements(numpy.einsum)
def _einsum(subscripts: str, *arrays: Any, **options: Any) -> PrivateArray:
    graph, given = operands(*arrays)
    nodes = [arithmetic.counted(graph, as_node(graph, each)) for each in given]
    return PrivateArray(graph, products.einsum(graph, subscripts, nodes))


@implements(numpy.where)
def where(condition: Any, x: Any = None, y: Any = None) -> PrivateArray:
    """x where the condition is set, y elsewhere."""
    if x is None or y is None:
        raise OutOfDomain(
            "np.where with a condition alone would reveal positions; write np.where(c, a, b).", current_line()
        )
    graph, (mask, a, b) = operands(condition, x, y)
    if isinstance(mask, Node) and mask.array.dtype == "bool":
        return PrivateArray(graph, arithmetic.select(graph, mask, a, b))
    if isinstance(mask, Node):
        return where(condition != 0, x, y)
    bits = as_node(graph, public(numpy.asarray(condition, dtype=bool)))
    return PrivateArray(graph, arithmetic.select(graph, bits, a, b))


@implements(numpy.count_nonzero)
def _count_nonzero(a: PrivateArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    return numpy.sum(a if a.dtype == bool else a != 0, axis=axis, keepdims=keepdims)


@implements(numpy.nonzero, numpy.flatnonzero, numpy.argwhere, numpy.extract, numpy.compress)
def _positions(*arrays: Any, **options: Any) -> Any:
    raise teaching.refused(teaching.MASK, current_line())


@implements(numpy.diff)
def _diff(a: PrivateArray, n: int = 1, axis: int = -1) -> PrivateArray:
    along = shapes.axis_of(axis, a.shape)
    for _ in range(n):
        size = a.shape[along]
        first, last = (_taken(a, numpy.arange(start, size - 1 + start), along) for start in (0, 1))
        a = last - first
    return a

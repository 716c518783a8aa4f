"""Elements of private arrays at public positions, read and replaced."""

from __future__ import annotations

import operator
from operator import index
from typing import Any

import numpy

from tacit.array import teaching
from tacit.array.lines import current_line
from tacit.array.operands import as_node, public
from tacit.array.private import FUNCTIONS, PrivateArray
from tacit.plan.programs import shaping
from tacit.plan.programs.arithmetic import nodes
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.public import Operand
from tacit.plan.programs.refusals import OutOfDomain

Key = tuple[Any, ...]


def element(a: PrivateArray, key: Any) -> PrivateArray:
    """a[key]: a view where the key has slices and integers only, as in NumPy."""
    keys = _keys(key)
    a.graph.line = current_line()
    if all(isinstance(each, slice) or each is None or each is Ellipsis or _is_integer(each) for each in keys):
        node = _basic(a, keys)
        return a.view(node, key) if node.array.shape else PrivateArray(a.graph, node)
    return PrivateArray(a.graph, _at(a, keys))


def with_elements(a: PrivateArray, key: Any, value: Any) -> PrivateArray:
    """The array after a[key] = value."""
    graph = a.graph
    graph.line = current_line()
    places = numpy.arange(a.size).reshape(a.shape)
    chosen = places[_keys(key)]
    operand: Operand = value.node if isinstance(value, PrivateArray) else public(value)
    own, new = nodes(graph, a.node, operand)
    new = shaping.broadcast(graph, as_node(graph, new), chosen.shape)
    places[_keys(key)] = a.size + numpy.arange(chosen.size).reshape(chosen.shape)
    both = [shaping.reshape(graph, each, (-1,)) for each in (own, new)]
    moved = shaping.take(graph, shaping.concatenate(graph, both, 0), places.reshape(-1).tolist(), 0)
    found = PrivateArray(graph, shaping.reshape(graph, moved, a.shape))
    return found if a.node.array.dtype == found.node.array.dtype else found.astype(a.dtype)


def _keys(key: Any) -> Key:
    keys = key if isinstance(key, tuple) else (key,)
    for each in keys:
        if isinstance(each, PrivateArray):
            raise teaching.refused(teaching.MASK if each.dtype == bool else teaching.INDEX, current_line())
    return keys


def _is_integer(key: Any) -> bool:
    return isinstance(key, int | numpy.integer) and not isinstance(key, bool)


def _basic(a: PrivateArray, keys: Key) -> Node:
    """Slices and integers, one for each axis; integers and new axes change the shape behind."""
    used = sum(each is not None and each is not Ellipsis for each in keys)
    if used > a.ndim or sum(each is Ellipsis for each in keys) > 1:
        raise OutOfDomain(f"too many indices: the array has {a.ndim} axes; give one index an axis.", current_line())
    rest = [slice(None)] * (a.ndim - used)
    place = next((at for at, each in enumerate(keys) if each is Ellipsis), len(keys))
    full = [*keys[:place], *rest, *keys[place + 1 :]]
    ranges, shape, axis = [], list[int](), 0
    for each in full:
        if each is None:
            shape.append(1)
            continue
        start, stop, step = _range(each, a.shape[axis])
        ranges.append((start, stop, step))
        shape += [] if _is_integer(each) else [len(range(start, stop, step))]
        axis += 1
    return shaping.reshape(a.graph, shaping.cut(a.graph, a.node, ranges), shape)


def _range(key: Any, size: int) -> tuple[int, int, int]:
    if isinstance(key, slice):
        return key.indices(size)
    place = index(key)
    if not -size <= place < size:
        raise OutOfDomain(f"index {place} is out of bounds for an axis of {size} elements.", current_line())
    return place % size, place % size + 1, 1


def _at(a: PrivateArray, keys: Key) -> Node:
    """Public positions and masks: along one axis where they stand alone, else of all elements."""
    if len(keys) == 1 and (positions := numpy.asarray(keys[0])).ndim == 1 and a.ndim:
        along = numpy.arange(a.shape[0])[positions]
        return shaping.take(a.graph, a.node, along.tolist(), 0)
    chosen = numpy.arange(a.size).reshape(a.shape)[keys]
    flat = shaping.reshape(a.graph, a.node, (-1,))
    return shaping.reshape(a.graph, shaping.take(a.graph, flat, chosen.reshape(-1).tolist(), 0), chosen.shape)


FUNCTIONS.update({operator.getitem: element, operator.setitem: with_elements})

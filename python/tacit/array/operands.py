"""What stands beside a private array: other private arrays, and public numbers of NumPy and Python."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy

from tacit.plan.programs.dtypes import Dtype, Weak, supported
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Constant
from tacit.plan.programs.public import Operand, Public, without_neighbour
from tacit.plan.programs.refusals import ProgramError

NUMPY_TYPES: dict[Dtype, str] = {"bool": "bool", "fixed": "float64"}
"""NumPy's names of types that are called otherwise here."""


def public(value: Any) -> Public:
    """Public numbers, exactly as they are. Python's own are weak: they take the type of the array beside them."""
    array = numpy.asarray(value)
    if array.dtype.kind == "f" and not bool(numpy.isfinite(array).all()):
        raise ProgramError("a public operand is infinite or not a number; private arrays have neither: replace it.")
    return Public(array.shape, _dtype(value, array), tuple(map(Fraction, array.reshape(-1).tolist())))


def _dtype(value: Any, array: numpy.ndarray[Any, Any]) -> Dtype | Weak:
    if type(value) is int:
        return "weak int"
    if type(value) is float:
        return "weak float"
    return "int64" if array.size == 0 else supported(array.dtype.name)


def as_node(graph: Graph, operand: Operand) -> Node:
    """An operand as a node."""
    return operand if isinstance(operand, Node) else without_neighbour(graph, operand)


def numpy_dtype(dtype: Dtype) -> numpy.dtype[Any]:
    """NumPy's type of an array."""
    return numpy.dtype(NUMPY_TYPES.get(dtype, dtype))


def clear(node: Node) -> numpy.ndarray[Any, Any] | None:
    """The numbers of a public node."""
    match node.operation:
        case Constant(array, _, reals):
            return numpy.array(list(map(float, reals))).reshape(array.shape).astype(numpy_dtype(array.dtype))
        case _:
            return None


def operand(node: Node) -> Operand:
    """A node as an operand: public where it is."""
    match node.operation:
        case Constant(array, _, reals):
            return Public(array.shape, array.dtype, reals)
        case _:
            return node

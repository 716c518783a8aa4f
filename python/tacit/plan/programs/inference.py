"""What is known of every operation's result, from what is known of its operands."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.programs import infer_along as along
from tacit.plan.programs import infer_arithmetic as arithmetic
from tacit.plan.programs import infer_format as formats
from tacit.plan.programs.facts import Array, norm1, norm2
from tacit.plan.programs.infer_convolution import convolve
from tacit.plan.programs.infer_functions import function
from tacit.plan.programs.infer_shaping import shaped
from tacit.plan.programs.limits import MOST_BELOW
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Absolute,
    Add,
    Both,
    Broadcast,
    Cast,
    Check,
    Concatenate,
    Constant,
    Convolve,
    Count,
    CumulativeSum,
    Differ,
    Divide,
    Either,
    Equal,
    Floor,
    FloorDivide,
    Function,
    Input,
    Known,
    Largest,
    Less,
    MatMul,
    Maximum,
    Minimum,
    Multiply,
    Narrow,
    Negate,
    Not,
    Operation,
    Order,
    Place,
    Reshape,
    Sample,
    Scale,
    Select,
    Shift,
    Slice,
    Smallest,
    Sort,
    Subtract,
    Sum,
    Take,
    Transpose,
    Truncate,
    Widen,
)


def inferred(operation: Operation, nodes: tuple[Node, ...]) -> Array:
    """The facts of an operation on nodes."""
    args = tuple(node.array for node in nodes)
    match operation:
        case Input(_, array) | Constant(array):
            return array
        case Sample(_, shape, bits, fraction):
            return Array(shape, "fixed", 0, (1 << bits) - 1, fraction)
        case Add():
            return arithmetic.add(*args)
        case Subtract():
            return arithmetic.subtract(*args)
        case Negate():
            return arithmetic.negate(*args)
        case Multiply():
            return arithmetic.multiply(args[0], args[1], nodes[0] is nodes[1])
        case MatMul():
            return arithmetic.matmul(args[0], args[1], *column_norms(nodes[1]))
        case Convolve():
            return convolve(operation, *args)
        case Divide(fraction):
            return arithmetic.divide(args[0], args[1], fraction)
        case FloorDivide():
            return arithmetic.floor_divide(*args)
        case Maximum():
            return arithmetic.maximum(*args)
        case Minimum():
            return arithmetic.minimum(*args)
        case Absolute():
            return arithmetic.absolute(*args)
        case Less() | Equal():
            return arithmetic.compare(*args)
        case Not() | Both() | Either() | Differ():
            return replace(arithmetic.logic(*args), low=0)
        case Count():
            return replace(args[0], dtype="int64")
        case Select():
            return arithmetic.select(*args)
        case Function(name, fraction):
            return function(name, args[0], fraction)
        case Truncate(bits, floor):
            return formats.truncate(args[0], bits, floor)
        case Floor(bits):
            return formats.floor(args[0], bits)
        case Shift(bits):
            return formats.shift(args[0], bits)
        case Scale(bits):
            return formats.scale(args[0], bits)
        case Cast(dtype):
            return formats.cast(args[0], dtype)
        case Widen():
            return replace(args[0], ring=128)
        case Narrow():
            return formats.narrow(args[0])
        case Known():
            return formats.known(args[0], operation)
        case Check(low, high):
            return formats.check(args[0], low, high)
        case Sum(axis):
            return along.total(args[0], axis)
        case CumulativeSum(axis):
            return along.cumulative(args[0], axis)
        case Largest(axis) | Smallest(axis):
            return along.extreme(args[0], axis)
        case Place(axis):
            return along.place(args[0], axis)
        case Sort():
            return along.bare(args[0])
        case Order(axis):
            return along.order(args[0], axis)
        case Reshape() | Transpose() | Broadcast() | Slice() | Take() | Concatenate():
            return shaped(operation, args)


def column_norms(node: Node) -> tuple[int, int]:
    """Bounds of the sums of abs(Y) and of Y^2 along the columns of a matrix, or along a vector."""
    if len(node.array.shape) < 2:
        return norm1(node.array), norm2(node.array)
    for _ in range(MOST_BELOW):
        if isinstance(node.operation, Widen | Narrow | Known):
            node = node.args[0]
    array, operation = node.array, node.operation
    if isinstance(operation, Transpose) and operation.axes[-2:] == (len(array.shape) - 1, len(array.shape) - 2):
        return norm1(node.args[0].array), norm2(node.args[0].array)
    return array.shape[-2] * array.largest, array.shape[-2] * array.largest**2

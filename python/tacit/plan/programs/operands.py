"""Which operands an operation takes. Programs that are traced have no others; a text from elsewhere may have."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tacit.plan.programs import operations as ops
from tacit.plan.programs import shapes
from tacit.plan.programs.facts import RINGS, SLACK, Array
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Operation
from tacit.plan.programs.refusals import ProgramError

MOST_CUT = RINGS[-1] - SLACK
"""The most bits that are cut off, or put behind the point."""

MOST_MOVED = 1 << 13
"""The most bits after the point, all but the last ones zero. The smallest factors move it by 1,074 bits."""

PAIRS = (
    ops.Add | ops.Subtract | ops.Multiply | ops.Bilinear | ops.Less | ops.Equal | ops.Both | ops.Either | ops.Differ
    | ops.Maximum | ops.Minimum | ops.Divide | ops.FloorDivide
)  # fmt: skip
ONE_FORMAT = (
    ops.Add | ops.Subtract | ops.Less | ops.Equal | ops.Maximum | ops.Minimum | ops.FloorDivide | ops.Select
    | ops.Concatenate
)  # fmt: skip
BITS = ops.Not | ops.Both | ops.Either | ops.Differ | ops.Count
ANY = ops.Shaping | ops.Largest | ops.Smallest | ops.Sort | ops.Select | ops.Multiply


def check(operation: Operation, nodes: tuple[Node, ...]) -> None:
    """Raises ProgramError where an operation does not take these operands, or not with its parameters."""
    args = tuple(node.array for node in nodes)
    _count(operation, len(args))
    _types(operation, args)
    if isinstance(operation, ONE_FORMAT):
        _one_format(args[1:] if isinstance(operation, ops.Select) else args)
    if isinstance(operation, ops.Multiply | ops.Bilinear | ops.Divide):
        _one_ring(args)
    _parameters(operation, args[0])
    if isinstance(operation, ops.Along | ops.Shaping):
        _moved(operation, args[0])


def _count(operation: Operation, count: int) -> None:
    wanted = 2 if isinstance(operation, PAIRS) else 3 if isinstance(operation, ops.Select) else 1
    if count != wanted and not (isinstance(operation, ops.Concatenate) and count):
        raise ProgramError(f"it has {count} operands, and takes {wanted}.")


def _types(operation: Operation, args: tuple[Array, ...]) -> None:
    bits = [arg.dtype == "bool" for arg in args]
    match operation:
        case ops.Select():
            fine = bits[0] and bits[1] == bits[2]
        case ops.Multiply():
            fine = not all(bits)
        case ops.Concatenate():
            fine = len(set(bits)) == 1
        case _:
            fine = isinstance(operation, ANY) or all(bits if isinstance(operation, BITS) else (not x for x in bits))
    if not fine:
        raise ProgramError(f"it does not take operands of types {' and '.join(arg.dtype for arg in args)}.")


def _one_format(args: tuple[Array, ...]) -> None:
    if len({arg.fraction for arg in args}) > 1:
        raise ProgramError(f"its operands have {_and(arg.fraction for arg in args)} bits after the point.")
    _one_ring(args)


def _one_ring(args: tuple[Array, ...]) -> None:
    rings = [arg.ring for arg in args if arg.dtype != "bool"]
    if len(set(rings)) > 1:
        raise ProgramError(f"its operands are in rings of {_and(rings)} bits.")


def _and(numbers: Iterable[int]) -> str:
    return " and ".join(map(str, dict.fromkeys(numbers)))


def _parameters(operation: Operation, a: Array) -> None:
    match operation:
        case ops.Truncate(bits):
            fine = 1 <= bits <= MOST_CUT
        case ops.Shift(bits):
            fine = 1 <= bits <= a.ring - SLACK
        case ops.Floor(bits):
            fine = a.fraction <= bits <= MOST_CUT
        case ops.Scale(bits):
            fine = bits <= MOST_MOVED
        case ops.Divide(fraction):
            fine = fraction <= MOST_CUT
        case ops.Check(low, high):
            fine = low <= high and (a.dtype != "bool" or (low <= a.low and a.high <= high))
        case ops.Widen():
            fine = a.ring == RINGS[0]
        case ops.Narrow():
            fine = a.ring == RINGS[1]
        case _:
            fine = True
    if not fine:
        raise ProgramError("it cannot have these bits or bounds.")


def _moved(operation: ops.Along | ops.Shaping, a: Array) -> None:
    match operation:
        case ops.Reshape(shape):
            fine = prod(shape) == a.size
        case ops.Broadcast(shape):
            fine = shapes.broadcast(a.shape, shape) == shape
        case ops.Transpose(axes):
            fine = sorted(axes) == list(range(len(a.shape)))
        case ops.Slice(ranges):
            fine = len(ranges) == len(a.shape) and all(map(_within, ranges, a.shape))
        case ops.Take(positions, axis):
            fine = axis < len(a.shape) and all(0 <= each < a.shape[axis] for each in positions)
        case _:
            fine = operation.axis < len(a.shape)
    if not fine:
        raise ProgramError(f"its parameters are not those of an array of shape {a.shape}.")


def _within(cut: tuple[int, int, int], size: int) -> bool:
    """Whether a range is of positions of an axis. An empty one begins and ends within it, too."""
    start, stop, step = cut
    if step == 0 or not (0 <= start <= size and -1 <= stop <= size):
        return False
    taken = range(start, stop, step)
    return not taken or (min(taken[0], taken[-1]) >= 0 and max(taken[0], taken[-1]) < size)

"""A graph in clear, with exactly the integers that shares would have: the reference of engines, and of declared errors.

Every array is checked against what is declared of it. Truncations round by a seeded coin, or always down. Functions
are NumPy's values moved by as much as their declared errors allow, in a direction that the coin chooses. Half of all
quotients are Newton's (tacit.plan.programs.quotients), the others moved likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import numpy

from tacit.plan.programs.facts import Array, norm1, norm2, unit
from tacit.plan.programs.infer_arithmetic import DIVISION_ERROR
from tacit.plan.programs.infer_functions import ERRORS, NEVER_NEGATIVE
from tacit.plan.programs.nodes import Node, reachable
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
    FunctionName,
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
from tacit.plan.programs.quotients import quotient
from tacit.plan.programs.source_lines import place
from tacit.plan.programs.windows import convolved

Integers = numpy.ndarray[Any, numpy.dtype[numpy.object_]]
"""An array of Python integers."""


class Withheld(Exception):
    """A checked bound did not hold: the run opens that bit and no result."""


class BrokenFact(AssertionError):
    """A number outside what was proved of it: an error of the rules."""


FUNCTIONS: dict[FunctionName, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0,
    "tanh": math.tanh,
    "erf": math.erf,
    "sin": math.sin,
    "cos": math.cos,
}


def encoded(values: Any, array: Array) -> Integers:
    """An owner's numbers as integers, rounded to the nearest. They must be within the declared bounds."""
    given = numpy.asarray(values)
    exact = numpy.array([Fraction(each) for each in given.reshape(-1).tolist()], dtype=object)
    scale = Fraction(2) ** array.fraction
    return _objects([math.floor(each * scale + Fraction(1, 2)) for each in exact], given.shape)


def decoded(integers: Integers, array: Array) -> Any:
    """What the integers stand for: exact fractions, or bits and integers."""
    if array.dtype == "bool":
        return integers.astype(bool)
    return integers if array.fraction == 0 else integers * unit(array.fraction)


def _objects(values: Iterable[int], shape: tuple[int, ...]) -> Integers:
    flat = list(values)
    found = numpy.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(shape)


@dataclass
class Evaluation:
    """Evaluates graphs in clear. inputs: integers by the names of inputs. coin: of roundings and of errors."""

    inputs: Mapping[str, Integers]
    coin: Random
    results: dict[int, Integers] = field(default_factory=dict)

    def run(self, outputs: Iterable[Node]) -> list[Integers]:
        """The integers of the outputs."""
        wanted = list(outputs)
        for node in reachable(wanted):
            if node.number not in self.results:
                found = self._evaluated(node, [self.results[arg.number] for arg in node.args])
                self.results[node.number] = _checked(node, _objects(found.reshape(-1).tolist(), node.array.shape))
        return [self.results[node.number] for node in wanted]

    def _evaluated(self, node: Node, args: list[Integers]) -> Integers:
        return numpy.asarray(self._value(node, args), dtype=object)

    def _value(self, node: Node, args: list[Integers]) -> Any:
        match node.operation:
            case Input(name):
                return self.inputs[name]
            case Constant(array, values):
                return _objects(values, array.shape)
            case Sample(_, shape, bits):
                return _objects((self.coin.getrandbits(bits) for _ in range(node.array.size)), shape)
            case Truncate(bits, floor):
                return self._truncated(args[0], bits, floor)
            case Function(name, fraction):
                argument = node.args[0].array.fraction
                return self._each(lambda x: self._function(name, x, argument, fraction), args[0])
            case Divide(fraction):
                extra = fraction + node.args[1].array.fraction - node.args[0].array.fraction
                bits = node.array.largest.bit_length()
                found = [self._quotient(x, y, extra, bits) for x, y in _pairs(args[0], args[1])]
                return _objects(found, node.array.shape)
            case Check(low, high):
                if any(not low <= x <= high for x in args[0].reshape(-1)):
                    where = "" if node.line is None else f"{place(node.line)}: "
                    raise Withheld(f"{where}a checked bound did not hold; nothing is revealed.")
                return args[0]
            case _:
                return _exactly(node, args)

    def _each(self, function: Callable[[int], int], values: Integers) -> Integers:
        return _objects(map(function, values.reshape(-1).tolist()), values.shape)

    def _quotient(self, x: int, y: int, scale: int, bits: int) -> int:
        """A quotient by Newton's steps, or another one within the declared error."""
        if self.coin.getrandbits(1):
            return quotient(x, y, scale, bits, self._cut)
        return self._near(Fraction(x) * Fraction(2) ** scale / y, DIVISION_ERROR)

    def _cut(self, x: int, bits: int) -> int:
        """An integer without its last bits, rounded down or up by the coin."""
        return x << -bits if bits <= 0 else (x >> bits) + int(self.coin.randrange(1 << bits) < x & (1 << bits) - 1)

    def _truncated(self, values: Integers, bits: int, floor: bool) -> Integers:
        return self._each(lambda x: x >> bits if floor else self._cut(x, bits), values)

    def _function(self, name: FunctionName, x: int, argument: int, fraction: int) -> int:
        value = Fraction(FUNCTIONS[name](float(x * unit(argument)))) * Fraction(2) ** fraction
        low = 0 if name in NEVER_NEGATIVE else None
        found = self._near(value, ERRORS[name])
        return found if low is None else max(found, low)

    def _near(self, value: Fraction, error: Fraction) -> int:
        """An integer within an error of a value: the nearest, the least or the largest."""
        moved = self.coin.choice((Fraction(0), error - 1, 1 - error))
        return math.floor(value + moved + Fraction(1, 2))


def _pairs(a: Integers, b: Integers) -> list[tuple[int, int]]:
    x, y = numpy.broadcast_arrays(a, b)
    return list(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))


def _exactly(node: Node, args: list[Integers]) -> Any:
    """The operations that every engine computes exactly."""
    a = args[0]
    match node.operation:
        case Add():
            return a + args[1]
        case Subtract():
            return a - args[1]
        case Negate():
            return -a
        case Multiply():
            return a * args[1]
        case MatMul():
            return numpy.matmul(a, args[1])
        case Convolve():
            return convolved(node.operation, a, args[1])
        case FloorDivide():
            return a // args[1]
        case Maximum():
            return numpy.maximum(a, args[1])
        case Minimum():
            return numpy.minimum(a, args[1])
        case Absolute():
            return abs(a)
        case Less():
            return (a < args[1]).astype(int)
        case Equal():
            return (a == args[1]).astype(int)
        case Not():
            return 1 - a
        case Both():
            return a * args[1]
        case Either():
            return a + args[1] - a * args[1]
        case Differ():
            return a + args[1] - 2 * a * args[1]
        case Select():
            return a * args[1] + (1 - a) * args[2]
        case Floor(bits):
            return a // (1 << bits)
        case Shift(bits):
            return a * (1 << bits)
        case Count() | Scale() | Cast() | Widen() | Narrow() | Known():
            return a
        case _:
            return _along(node, args)


def _along(node: Node, args: list[Integers]) -> Any:
    """Operations along an axis, and those that move elements."""
    a = args[0]
    match node.operation:
        case Sum(axis):
            return numpy.sum(a, axis=axis, initial=0)
        case CumulativeSum(axis):
            return numpy.cumsum(a, axis=axis)
        case Largest(axis):
            return numpy.max(a, axis=axis)
        case Smallest(axis):
            return numpy.min(a, axis=axis)
        case Place(axis, largest):
            return numpy.argmax(a if largest else -a, axis=axis)
        case Sort(axis):
            return numpy.sort(a, axis=axis)
        case Order(axis):
            return numpy.argsort(a, axis=axis, kind="stable")
        case Reshape(shape):
            return a.reshape(shape)
        case Transpose(axes):
            return a.transpose(axes)
        case Broadcast(shape):
            return numpy.broadcast_to(a, shape)
        case Slice(ranges):
            return a[tuple(slice(start, None if stop < 0 else stop, step) for start, stop, step in ranges)]
        case Take(positions, axis):
            return numpy.take(a, numpy.array(positions, dtype=int), axis=axis)
        case Concatenate(axis):
            return numpy.concatenate(args, axis=axis)
        case _:
            raise TypeError(f"{node.operation} is no operation that moves elements")


def _checked(node: Node, integers: Integers) -> Integers:
    """The integers, if they are what was proved of them."""
    array = node.array
    # Python's integers, whose sums and squares do not wrap around as NumPy's do.
    whole = list(map(int, integers.reshape(-1).tolist()))
    rows = [whole[at : at + array.columns] for at in range(0, len(whole), max(array.columns, 1))]
    claims = {
        "interval": all(array.low <= x <= array.high for x in whole),
        "ring": array.fits,
        "norm1": all(sum(map(abs, row)) <= norm1(array) for row in rows),
        "norm2": all(sum(x * x for x in row) <= norm2(array) for row in rows),
        "row_sum": array.row_sum is None or all(_within(sum(row), array.row_sum) for row in rows),
        "one_hot": not array.one_hot or all(sorted(row)[-1:] == [1] and sum(row) == 1 for row in rows),
    }
    broken = [name for name, holds in claims.items() if not holds]
    if broken:
        raise BrokenFact(f"{node.operation} breaks its {' and '.join(broken)}: {array}")
    return integers


def _within(x: int, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= x <= bounds[1]

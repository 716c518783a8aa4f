"""Arithmetic on arrays by NumPy's rules, as nodes: it chooses formats, cuts off bits, and refuses what may overflow."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import overload

from tacit.plan.programs.dtypes import promoted
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.facts import unit
from tacit.plan.programs.formats import (
    aligned,
    elementwise,
    narrowed,
    one_ring,
    product,
    widened,
)
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Absolute,
    Add,
    Both,
    Count,
    Divide,
    Either,
    Equal,
    Floor,
    FloorDivide,
    Less,
    Maximum,
    Minimum,
    Negate,
    Not,
    Operation,
    Scale,
    Select,
    Subtract,
)
from tacit.plan.programs.public import Operand, Public, beside, encoded, factor, number, without_neighbour
from tacit.plan.programs.refusals import OutOfDomain, TooWide
from tacit.plan.programs.shapes import broadcast


def nodes(graph: Graph, *operands: Operand) -> list[Node]:
    """Operands of a sum or comparison in one format; public ones take the bits that the others need."""
    known = [each for each in operands if isinstance(each, Node)]
    if not known:
        return [without_neighbour(graph, each) for each in operands if isinstance(each, Public)]
    lead = max(known, key=lambda node: node.array.fraction)
    made = [each if isinstance(each, Node) else beside(graph, each, lead) for each in operands]
    return aligned(graph, *made) if len({node.array.fraction for node in made}) > 1 else one_ring(graph, *made)


@overload
def counted(graph: Graph, operand: Node) -> Node: ...
@overload
def counted(graph: Graph, operand: Operand) -> Operand: ...
def counted(graph: Graph, operand: Operand) -> Operand:
    """Bits as integers."""
    if isinstance(operand, Node) and operand.array.dtype == "bool":
        return graph.make(Count(), operand)
    return operand


def _bits(a: Operand, b: Operand) -> bool:
    return all((x.array.dtype if isinstance(x, Node) else x.dtype) == "bool" for x in (a, b))


def _in_ring(graph: Graph, operation: Operation, *operands: Operand) -> Node:
    """An operation on operands in one format: in 64 bits where the result fits them, else in 128."""
    args = nodes(graph, *operands)
    try:
        return graph.make(operation, *args)
    except TooWide:
        found = graph.make(operation, *(widened(graph, arg) for arg in args))
        graph.notes[found.number] = "128 bits: the result may need more than 62"
        return found


def add(graph: Graph, a: Operand, b: Operand) -> Node:
    """a + b; of bits, whether one is set."""
    if _bits(a, b):
        return graph.make(Either(), *nodes(graph, a, b))
    return _in_ring(graph, Add(), counted(graph, a), counted(graph, b))


def subtract(graph: Graph, a: Operand, b: Operand) -> Node:
    """a - b."""
    if _bits(a, b):
        raise OutOfDomain("NumPy does not subtract bool arrays; write a ^ b, or a.astype(np.int64) - b.", graph.line)
    return _in_ring(graph, Subtract(), counted(graph, a), counted(graph, b))


def negate(graph: Graph, a: Node) -> Node:
    """-a."""
    if a.array.dtype == "bool":
        raise OutOfDomain("NumPy does not negate bool arrays; write ~a.", graph.line)
    return graph.make(Negate(), a)


def multiply(graph: Graph, a: Operand, b: Operand) -> Node:
    """a * b; of bits, whether both are set."""
    if _bits(a, b):
        return graph.make(Both(), *nodes(graph, a, b))
    if isinstance(a, Public):
        a, b = b, a
    if isinstance(a, Public):
        raise TypeError("a product of public numbers is NumPy's")
    if isinstance(b, Public):
        return by_public(graph, a, b)
    return product(graph, elementwise(graph), a, b, kept_of(a, b))


def kept_of(a: Node, b: Node) -> int | None:
    """Bits after the point that a product keeps: those of its finer factor, or all where one has none."""
    x, y = a.array.fraction, b.array.fraction
    return None if 0 in (x, y) else max(x, y)


def by_public(graph: Graph, a: Node, b: Public, relative: bool = True) -> Node:
    """An array times public numbers. A power of two moves the point."""
    one = b.uniform
    if one is not None and 0 < one < 1 and one.numerator == 1 and b.exact_bits is not None and b.shape == ():
        return scaled(graph, a, b.exact_bits)
    found = factor(graph, b, a.array, a.array.largest, relative)
    return product(graph, elementwise(graph), a, found.node, found.kept)


def scaled(graph: Graph, a: Node, bits: int) -> Node:
    """An array divided by 2^bits: the point moves, and bits that are too many are cut off."""
    return graph.make(Scale(bits), counted(graph, a)) if bits else counted(graph, a)


def divide(graph: Graph, a: Operand, b: Operand) -> Node:
    """a / b, a number with bits after the point whatever the operands are."""
    if isinstance(b, Public):
        if 0 in b.reals:
            raise OutOfDomain("the divisor is zero; divide by another number.", graph.line)
        if isinstance(a, Node):
            return as_fixed(graph, by_public(graph, a, b.inverse))
        raise TypeError("a quotient of public numbers is NumPy's")
    return quotient(graph, counted(graph, a), counted(graph, b))


def quotient(graph: Graph, a: Operand, b: Node, fraction: int | None = None) -> Node:
    """a / b. A large divisor makes small quotients: they get as many more bits after the point."""
    top = a if isinstance(a, Node) else beside(graph, Public(a.shape, "fixed", a.reals), b)
    high = b.array.largest * unit(b.array.fraction)
    more = max(0, ceil_log2(high)) if high else 0
    bits = graph.settings.fraction + more if fraction is None else fraction
    top, bottom = one_ring(graph, top, b)
    try:
        return graph.make(Divide(bits), top, bottom)
    except TooWide:
        return narrowed(graph, graph.make(Divide(bits), widened(graph, top), widened(graph, bottom)))


def as_fixed(graph: Graph, a: Node) -> Node:
    """An array of numbers with bits after the point, if only by its type."""
    if a.array.dtype == "fixed":
        return a
    return graph.make(Scale(0), counted(graph, a))


def floor_divide(graph: Graph, a: Operand, b: Operand) -> Node:
    """a // b for b of one sign, rounded towards minus infinity."""
    a, b = counted(graph, a), counted(graph, b)
    if isinstance(b, Public) and (one := b.uniform) is not None:
        if one < 0:
            return floor_divide(graph, _negated(graph, a), number(-one, b.dtype))
        if isinstance(a, Node) and one > 0 and one.denominator == 1 and one.numerator.bit_count() == 1:
            found = graph.make(Floor(a.array.fraction + one.numerator.bit_length() - 1), a)
            return as_fixed(graph, found) if b.dtype in ("fixed", "weak float") else found
    top, bottom = nodes(graph, a, b)
    return graph.make(FloorDivide(), top, bottom)


def _negated(graph: Graph, a: Operand) -> Operand:
    return negate(graph, a) if isinstance(a, Node) else Public(a.shape, a.dtype, tuple(-real for real in a.reals))


def remainder(graph: Graph, a: Operand, b: Operand) -> Node:
    """a % b, with the sign of b, as NumPy has it."""
    return subtract(graph, a, multiply(graph, floor_divide(graph, a, b), b))


def floor(graph: Graph, a: Node) -> Node:
    """The integer below."""
    return graph.make(Floor(a.array.fraction), a) if a.array.fraction else a


def power(graph: Graph, a: Node, exponent: int) -> Node:
    """a^exponent for a public integer exponent: by squares."""
    if exponent < 0:
        return divide(graph, number(1), power(graph, a, -exponent))
    if exponent == 0:
        return encoded(graph, Public(a.array.shape, "weak int", (Fraction(1),) * a.array.size), 0, a.array.dtype)
    half = a if exponent == 1 else power(graph, a, exponent // 2)
    if exponent == 1:
        return half
    square = multiply(graph, half, half)
    return multiply(graph, square, a) if exponent % 2 else square


def less(graph: Graph, a: Operand, b: Operand) -> Node:
    """Whether a < b: public where the intervals decide it, errors included."""
    x, y = nodes(graph, counted(graph, a), counted(graph, b))
    room = x.array.error + y.array.error
    always, never = x.array.high + room < y.array.low, x.array.low >= y.array.high + room
    if not (always or never):
        return graph.make(Less(), x, y)
    shape = broadcast(x.array.shape, y.array.shape)
    return encoded(graph, Public(shape, "bool", (Fraction(always),) * prod(shape)), 0, "bool")


def equal(graph: Graph, a: Operand, b: Operand) -> Node:
    """Whether a == b."""
    return graph.make(Equal(), *nodes(graph, counted(graph, a), counted(graph, b)))


def invert(graph: Graph, a: Node) -> Node:
    """Whether a bit is not set."""
    if a.array.dtype != "bool":
        raise OutOfDomain("~ is for bool arrays here; write -x - 1 for integers.", graph.line)
    return a.args[0] if isinstance(a.operation, Not) else graph.make(Not(), a)


def logic(graph: Graph, operation: Operation, a: Operand, b: Operand) -> Node:
    """An operation on bits."""
    if not _bits(a, b):
        raise OutOfDomain("&, | and ^ are for bool arrays here; compare the numbers first.", graph.line)
    return graph.make(operation, *nodes(graph, a, b))


def maximum(graph: Graph, a: Operand, b: Operand) -> Node:
    """The larger of two: one of them where the intervals decide it."""
    x, y = nodes(graph, counted(graph, a), counted(graph, b))
    return _above(x, y) or _above(y, x) or graph.make(Maximum(), x, y)


def minimum(graph: Graph, a: Operand, b: Operand) -> Node:
    """The smaller of two: one of them where the intervals decide it."""
    x, y = nodes(graph, counted(graph, a), counted(graph, b))
    return _above(x, y, False) or _above(y, x, False) or graph.make(Minimum(), x, y)


def _above(a: Node, b: Node, above: bool = True) -> Node | None:
    """The first of two if it is always at least the second, or at most, and the result is like it."""
    x, y = a.array, b.array
    decided = x.low >= y.high if above else x.high <= y.low
    like = x.shape == broadcast(x.shape, y.shape) and x.dtype == promoted(x.dtype, y.dtype) and x.error >= y.error
    return a if decided and like and not b.array.near else None


def absolute(graph: Graph, a: Node) -> Node:
    """abs(a)."""
    return a if a.array.low >= 0 else graph.make(Absolute(), a)


def sign(graph: Graph, a: Node) -> Node:
    """-1, 0 or 1."""
    above, below = less(graph, number(0), a), less(graph, a, number(0))
    found = subtract(graph, counted(graph, above), counted(graph, below))
    return as_fixed(graph, found) if a.array.dtype == "fixed" else found


def select(graph: Graph, condition: Node, a: Operand, b: Operand) -> Node:
    """a where the condition is set, b elsewhere."""
    if not _bits(a, b):
        a, b = counted(graph, a), counted(graph, b)
    return graph.make(Select(), condition, *nodes(graph, a, b))


def as_integer(graph: Graph, a: Node) -> Node:
    """Numbers without what is after their point, towards zero."""
    if a.array.fraction == 0:
        return a
    if a.array.low >= 0:
        return floor(graph, a)
    below, above = floor(graph, a), negate(graph, floor(graph, negate(graph, a)))
    return select(graph, less(graph, a, number(0)), above, below)

"""Rules about choices and comparisons."""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.programs.limits import MOST_BELOW
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import (
    Absolute,
    Add,
    Constant,
    Function,
    Known,
    Largest,
    Less,
    Maximum,
    Minimum,
    Multiply,
    Narrow,
    Negate,
    Not,
    Place,
    Scale,
    Select,
    Shift,
    Smallest,
    Subtract,
    Truncate,
)
from tacit.plan.programs.public import encoded, number
from tacit.plan.programs.rewriting import Site

INCREASING = ("exp", "log", "sqrt", "sigmoid", "tanh", "erf")


def extremes(site: Site) -> Node | None:
    """where(a < b, b, a) is the larger one; the other way round the smaller; with -a it is abs(a). Always."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Select):
        return None
    condition, then, other = node.args
    if isinstance(condition.operation, Not):
        condition, then, other = condition.args[0], other, then
    if not isinstance(condition.operation, Less):
        return None
    a, b = condition.args
    if (then, other) == (b, a):
        return graph.make(Maximum(), a, b)
    if (then, other) == (a, b):
        return graph.make(Minimum(), a, b)
    if _is_zero(b) and _negates(then, a) and other is a:
        return graph.make(Absolute(), a)
    if _is_zero(a) and then is b and _negates(other, b):
        return graph.make(Absolute(), b)
    return None


def _is_zero(node: Node) -> bool:
    return isinstance(node.operation, Constant) and node.array.interval == (0, 0)


def _negates(node: Node, other: Node) -> bool:
    return isinstance(node.operation, Negate) and node.args[0] is other


def one_choice(site: Site) -> Node | None:
    """Choices by one condition that are added up are one choice. Condition: the sums of both sides fit."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Add | Subtract):
        return None
    first, second = node.args
    both = isinstance(first.operation, Select) and isinstance(second.operation, Select)
    if not both or first is second or first.args[0] is not second.args[0]:
        return None
    if not (site.is_single(first) and site.is_single(second)):
        return None
    sides = [graph.make(node.operation, first.args[at], second.args[at]) for at in (1, 2)]
    return graph.make(Select(), first.args[0], *sides)


def chosen_or_zero(site: Site) -> Node | None:
    """where(c, a, 0) is c a, without truncation. Always."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Select) or node.array.dtype == "bool":
        return None
    condition, then, other = node.args
    if _is_zero(other) and then.array.shape == node.array.shape:
        return graph.make(Multiply(), condition, then)
    return None


def monotone_comparison(site: Site) -> Node | None:
    """f(a) < f(b) is a < b for increasing f, and sigmoid(x) > 1/2 is x > 0. Ties by rounding are decided better."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Less):
        return None
    a, b = node.args
    if (
        isinstance(a.operation, Function)
        and a.operation == b.operation
        and a.operation.name in INCREASING
        and a.args[0].array.fraction == b.args[0].array.fraction
        and a.args[0].array.ring == b.args[0].array.ring
    ):
        return graph.make(Less(), a.args[0], b.args[0])
    for at, one in enumerate((a, b)):
        fixed = node.args[1 - at]
        middle = _middle(one)
        if middle is not None and _are_all(fixed, middle):
            inner = one.args[0]
            zero = encoded(graph, number(0), inner.array.fraction, inner.array.dtype, inner.array.ring)
            return graph.make(Less(), *((inner, zero) if at == 0 else (zero, inner)))
    return None


def _are_all(node: Node, real: Fraction) -> bool:
    """Whether a node is of public numbers that are all this one."""
    found = node.operation
    return isinstance(found, Constant) and bool(found.reals) and all(each == real for each in found.reals)


def _middle(node: Node) -> Fraction | None:
    """The value of a function at zero."""
    match node.operation:
        case Function("sigmoid"):
            return Fraction(1, 2)
        case Function("exp"):
            return Fraction(1)
        case Function("tanh" | "erf"):
            return Fraction(0)
        case _:
            return None


def place_of_increasing(site: Site) -> Node | None:
    """The position of the largest f(x) is that of the largest x, through increasing functions and positive factors."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Place):
        return None
    inner = node.args[0]
    for _ in range(MOST_BELOW):
        inner = _below(inner, node.operation.axis) or inner
    return None if inner is node.args[0] else graph.make(node.operation, inner)


def _below(node: Node, axis: int) -> Node | None:
    """What a node is an increasing function of, the same one along an axis."""
    match node.operation:
        case Function(name) if name in INCREASING:
            return node.args[0]
        case Truncate() | Known() | Shift() | Scale() | Narrow():
            return node.args[0]
        case Subtract() | Add() if _is_flat(node.args[1], node, axis):
            return node.args[0]
        case Multiply() if _is_flat(node.args[1], node, axis) and node.args[1].array.low > 0:
            return node.args[0]
        case _:
            return None


def _is_flat(factor: Node, node: Node, axis: int) -> bool:
    """Whether an operand is the same along an axis of the result, and the other has the result's shape."""
    missing = len(node.array.shape) - len(factor.array.shape)
    flat = axis < missing or factor.array.shape[axis - missing] == 1
    return flat and node.args[0].array.shape == node.array.shape


def extremes_first(site: Site) -> Node | None:
    """The largest of max(x, c) is max of the largest x and c. Condition: c is one public number."""
    graph, node = site.graph, site.node
    inner = node.args[0] if node.args else node
    match node.operation, inner.operation:
        case (Largest() | Smallest(), Maximum() | Minimum()) if site.is_single(inner):
            bound = inner.args[1]
            if bound.is_public and bound.array.shape == ():
                return graph.make(inner.operation, graph.make(node.operation, inner.args[0]), bound)
    return None

"""What NumPy's universal functions do with private arrays."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy

from tacit.array.lines import current_line
from tacit.array.operands import as_node, clear, operand, public
from tacit.array.private import UFUNCS, PrivateArray
from tacit.plan.programs import arithmetic, functions, products
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Both, Differ, Either, FunctionName
from tacit.plan.programs.public import Operand, Public, number
from tacit.plan.programs.refusals import OutOfDomain

Rule = Callable[..., Node]


def operands(*values: Any) -> tuple[Graph, list[Operand]]:
    """The graph of the private ones, and all as operands; the graph's line is the program's."""
    graph = next(value.graph for value in values if isinstance(value, PrivateArray))
    graph.line = current_line()
    return graph, [operand(value.node) if isinstance(value, PrivateArray) else public(value) for value in values]


def traced(ufunc: Any, rule: Rule) -> Callable[..., PrivateArray]:
    """A rule on operands as a function of arrays. What is public only is NumPy's own."""

    def call(*values: Any) -> PrivateArray:
        graph, given = operands(*values)
        if all(isinstance(each, Public) for each in given):
            known = [clear(value.node) if isinstance(value, PrivateArray) else value for value in values]
            return PrivateArray(graph, as_node(graph, public(ufunc(*known))))
        return PrivateArray(graph, rule(graph, *given))

    return call


def _unary(rule: Callable[[Graph, Node], Node]) -> Rule:
    return lambda graph, a: rule(graph, as_node(graph, a))


def _function(name: FunctionName) -> Rule:
    return _unary(lambda graph, a: functions.function(graph, name, a))


def _greater(graph: Graph, a: Operand, b: Operand) -> Node:
    return arithmetic.less(graph, b, a)


def _not(rule: Callable[[Graph, Operand, Operand], Node]) -> Rule:
    return lambda graph, a, b: arithmetic.invert(graph, rule(graph, a, b))


def _power(graph: Graph, a: Operand, b: Operand) -> Node:
    """a ** b: public integer exponents, 0.5, -0.5, and any power of numbers above zero."""
    exponent = b.uniform if isinstance(b, Public) else None
    if exponent is not None and isinstance(a, Node):
        if exponent.denominator == 1:
            return _whole_power(graph, a, int(exponent), isinstance(b, Public) and b.dtype in ("fixed", "weak float"))
        if abs(exponent) == Fraction(1, 2):
            return functions.function(graph, "sqrt" if exponent > 0 else "rsqrt", a)
    base = arithmetic.as_fixed(graph, as_node(graph, a))
    logarithm = functions.function(graph, "log", base)
    return functions.function(graph, "exp", arithmetic.multiply(graph, logarithm, b))


def _whole_power(graph: Graph, a: Node, exponent: int, real: bool) -> Node:
    if exponent < 0 and not real and a.array.dtype != "fixed":
        raise OutOfDomain("integers to negative integer powers are not allowed; write x ** -1.0.", graph.line)
    found = arithmetic.power(graph, arithmetic.counted(graph, a), exponent)
    return arithmetic.as_fixed(graph, found) if real else found


def _reciprocal(graph: Graph, a: Node) -> Node:
    if a.array.dtype != "fixed":
        raise OutOfDomain("np.reciprocal of integers is 0 or 1; write 1 / x.", graph.line)
    return arithmetic.divide(graph, number(1), a)


def _square(graph: Graph, a: Node) -> Node:
    return arithmetic.multiply(graph, a, a)


def _logical(operation: Both | Either | Differ) -> Rule:
    return lambda graph, a, b: arithmetic.logic(graph, operation, _truth(graph, a), _truth(graph, b))


def _truth(graph: Graph, a: Operand) -> Operand:
    """Bits, or whether numbers are not zero."""
    if isinstance(a, Public):
        return Public(a.shape, "bool", tuple(Fraction(real != 0) for real in a.reals))
    return a if a.array.dtype == "bool" else arithmetic.invert(graph, arithmetic.equal(graph, a, number(0)))


def _invert_truth(graph: Graph, a: Node) -> Node:
    return arithmetic.invert(graph, as_node(graph, _truth(graph, a)))


def _bits(operation: Both | Either | Differ) -> Rule:
    return lambda graph, a, b: arithmetic.logic(graph, operation, a, b)


def _ceil(graph: Graph, a: Node) -> Node:
    return arithmetic.negate(graph, arithmetic.floor(graph, arithmetic.negate(graph, a)))


def _trunc(graph: Graph, a: Node) -> Node:
    return arithmetic.as_integer(graph, a)


def _log_of(base: float) -> Rule:
    scale = Public((), "weak float", (Fraction(1 / float(numpy.log(base))),))
    return _unary(lambda graph, a: arithmetic.multiply(graph, functions.function(graph, "log", a), scale))


def _exp2(graph: Graph, a: Node) -> Node:
    scale = Public((), "weak float", (Fraction(float(numpy.log(2.0))),))
    return functions.function(graph, "exp", arithmetic.multiply(graph, a, scale))


RULES: dict[Any, Rule] = {
    numpy.add: arithmetic.add,
    numpy.subtract: arithmetic.subtract,
    numpy.multiply: arithmetic.multiply,
    numpy.true_divide: arithmetic.divide,
    numpy.floor_divide: arithmetic.floor_divide,
    numpy.remainder: arithmetic.remainder,
    numpy.power: _power,
    numpy.float_power: lambda graph, a, b: _power(graph, arithmetic.as_fixed(graph, as_node(graph, a)), b),
    numpy.matmul: products.matmul,
    numpy.negative: _unary(arithmetic.negate),
    numpy.positive: _unary(lambda graph, a: a),
    numpy.absolute: _unary(arithmetic.absolute),
    numpy.fabs: _unary(lambda graph, a: arithmetic.as_fixed(graph, arithmetic.absolute(graph, a))),
    numpy.sign: _unary(arithmetic.sign),
    numpy.square: _unary(_square),
    numpy.reciprocal: _unary(_reciprocal),
    numpy.floor: _unary(arithmetic.floor),
    numpy.ceil: _unary(_ceil),
    numpy.trunc: _unary(_trunc),
    numpy.less: arithmetic.less,
    numpy.greater: _greater,
    numpy.less_equal: _not(_greater),
    numpy.greater_equal: _not(arithmetic.less),
    numpy.equal: arithmetic.equal,
    numpy.not_equal: _not(arithmetic.equal),
    numpy.maximum: arithmetic.maximum,
    numpy.minimum: arithmetic.minimum,
    numpy.fmax: arithmetic.maximum,
    numpy.fmin: arithmetic.minimum,
    numpy.exp: _function("exp"),
    numpy.exp2: _unary(_exp2),
    numpy.expm1: _unary(lambda graph, a: arithmetic.subtract(graph, functions.function(graph, "exp", a), number(1))),
    numpy.log: _function("log"),
    numpy.log1p: _unary(lambda graph, a: functions.function(graph, "log", arithmetic.add(graph, a, number(1)))),
    numpy.log2: _log_of(2.0),
    numpy.log10: _log_of(10.0),
    numpy.sqrt: _function("sqrt"),
    numpy.tanh: _function("tanh"),
    numpy.sin: _function("sin"),
    numpy.cos: _function("cos"),
    numpy.logical_and: _logical(Both()),
    numpy.logical_or: _logical(Either()),
    numpy.logical_xor: _logical(Differ()),
    numpy.logical_not: _unary(_invert_truth),
    numpy.bitwise_and: _bits(Both()),
    numpy.bitwise_or: _bits(Either()),
    numpy.bitwise_xor: _bits(Differ()),
    numpy.invert: _unary(arithmetic.invert),
}

UFUNCS.update({ufunc: traced(ufunc, rule) for ufunc, rule in RULES.items()})

NOT_DEFINED = {numpy.isnan: False, numpy.isinf: False, numpy.isfinite: True}
"""What is known of every private number: none is infinite, and all are numbers."""


def _constant(value: bool) -> Callable[..., Any]:
    return lambda a: numpy.full(a.shape, value)


UFUNCS.update({ufunc: _constant(value) for ufunc, value in NOT_DEFINED.items()})

"""Rules about constants, quotients, functions, and the order of matrix products."""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.programs.arithmetic import by_public, quotient
from tacit.plan.programs.costs import SERIES
from tacit.plan.programs.facts import RINGS
from tacit.plan.programs.formats import truncated, with_fraction
from tacit.plan.programs.limits import MOST_FOLDED
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Add, Constant, Divide, Function, MatMul, Multiply, Truncate
from tacit.plan.programs.public import Public, number
from tacit.plan.programs.rewriting import Site

MOST_OF_ANGLE = {16: 54, 24: 50}
"""Bits after the point of an argument and of the result together, by those of the result at most. The factor that makes
an angle of the argument is an integer modulo 2^64: with more bits its rounding moves a result by more than is declared
(``Odd::new`` in crates/array/src/functions/series.rs computes by how much)."""

GUARD = 4
"""More bits after the point for a product that another one multiplies, so that its error grows no larger."""


def folded_constants(site: Site) -> Node | None:
    """c1 (c2 x) is (c1 c2) x. Condition: one of the constants is one number, and the product is short."""
    graph, node = site.graph, site.node
    bits = node.operation.bits if isinstance(node.operation, Truncate) else 0
    outer = node.args[0] if isinstance(node.operation, Truncate) else node
    first = _by_constant(outer)
    if first is None or (outer is not node and not site.is_single(outer)):
        return None
    inner = first[0].args[0] if isinstance(first[0].operation, Truncate) else first[0]
    second = _by_constant(inner)
    if second is None or not site.is_single(inner) or not site.is_single(first[0]):
        return None
    joint = _product(first[1], second[1])
    if joint is None or not bits:
        return None
    return with_fraction(graph, by_public(graph, second[0], joint), node.array.fraction)


def _by_constant(node: Node) -> tuple[Node, Public] | None:
    if not isinstance(node.operation, Multiply):
        return None
    for at in (0, 1):
        constant = node.args[at].operation
        if isinstance(constant, Constant):
            array = constant.array
            return node.args[1 - at], Public(array.shape, array.dtype, constant.reals)
    return None


def _product(a: Public, b: Public) -> Public | None:
    if b.shape == ():
        a, b = b, a
    if a.shape or max((_bits(real) for real in b.reals), default=0) + _bits(a.reals[0]) > MOST_FOLDED:
        return None
    return Public(b.shape, "fixed", tuple(a.reals[0] * real for real in b.reals))


def _bits(real: Fraction) -> int:
    return max(real.numerator.bit_length(), real.denominator.bit_length())


def one_reciprocal(site: Site) -> Node | None:
    """x / s for an s that is repeated is x (1 / s). Condition: 1 / s fits at the precision of the product."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Divide) or 2 * node.args[1].array.size > node.array.size:
        return None
    top, bottom = node.args
    bits = node.operation.fraction + max(0, top.array.largest.bit_length() - top.array.fraction) + 1
    inverse = quotient(graph, number(1), bottom, bits)
    if inverse.array.ring != top.array.ring:
        return None
    found = graph.make(Multiply(), top, inverse)
    return truncated(graph, found, found.array.fraction - node.array.fraction)


def one_exponential(site: Site) -> Node | None:
    """exp(a) exp(b) is exp(a + b). Condition: nothing else takes them, and the sum is in the range of exp."""
    graph, node = site.graph, site.node
    bits = node.operation.bits if isinstance(node.operation, Truncate) else 0
    product = node.args[0] if bits else node
    if not isinstance(product.operation, Multiply) or not site.is_single(product):
        return None
    a, b = product.args
    powers = all(isinstance(x.operation, Function) and x.operation.name == "exp" for x in (a, b))
    if not powers or a is b or a.args[0].array.fraction != b.args[0].array.fraction:
        return None
    if not (site.is_single(a) and site.is_single(b)):
        return None
    return graph.make(Function("exp", node.array.fraction), graph.make(Add(), a.args[0], b.args[0]))


def square_of_root(site: Site) -> Node | None:
    """sqrt(x) sqrt(x) is x. Always: x is at least zero."""
    graph, node = site.graph, site.node
    product = node.args[0] if isinstance(node.operation, Truncate) else node
    if not isinstance(product.operation, Multiply) or product.args[0] is not product.args[1]:
        return None
    root = product.args[0]
    if not isinstance(root.operation, Function) or root.operation.name != "sqrt":
        return None
    return with_fraction(graph, root.args[0], node.array.fraction)


def inverse_root(site: Site) -> Node | None:
    """x / sqrt(y) is x rsqrt(y). Condition: y is above zero, and nothing else takes the root."""
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Divide):
        return None
    top, root = node.args
    if not isinstance(root.operation, Function) or root.operation.name != "sqrt" or not site.is_single(root):
        return None
    bits = node.operation.fraction
    inverse = graph.make(Function("rsqrt", bits), root.args[0])
    if top.is_public and top.array.low == top.array.high == 1 << top.array.fraction:
        return inverse
    found = graph.make(Multiply(), top, inverse)
    return truncated(graph, found, found.array.fraction - node.array.fraction)


def untruncated_argument(site: Site) -> Node | None:
    """A function by a Fourier series takes its argument before the last bits are cut off: the ring reduces the angle.

    Condition: nothing else takes the argument, and angles are exact enough. Where the argument may leave the interval
    of the series, its comparisons have more bits.
    """
    graph, node = site.graph, site.node
    if not isinstance(node.operation, Function) or node.operation.name not in SERIES:
        return None
    (cut,) = node.args
    if not isinstance(cut.operation, Truncate) or not site.is_single(cut):
        return None
    (whole,) = cut.args
    bits = node.operation.fraction
    most = next((most for result, most in MOST_OF_ANGLE.items() if bits <= result), 0)
    if whole.array.ring != RINGS[0] or whole.array.fraction + bits > most:
        return None
    return graph.make(node.operation, whole)


def product_order(site: Site) -> Node | None:
    """(a b) c is a (b c) where that has fewer elements in between, and the other way round. Condition: it fits."""
    graph, node = site.graph, site.node
    bits = node.operation.bits if isinstance(node.operation, Truncate) else 0
    outer = node.args[0] if bits else node
    if not isinstance(outer.operation, MatMul) or not site.is_single(outer):
        return None
    for at in (0, 1):
        middle = outer.args[at]
        inner = middle.args[0] if isinstance(middle.operation, Truncate) else middle
        if not isinstance(inner.operation, MatMul) or not (site.is_single(inner) and site.is_single(middle)):
            continue
        cut = middle.operation.bits if isinstance(middle.operation, Truncate) else 0
        other = outer.args[1 - at]
        if max(len(x.array.shape) for x in (*inner.args, other)) > 2 or min(len(x.array.shape) for x in inner.args) < 2:
            continue
        pair = (inner.args[1], other) if at == 0 else (other, inner.args[0])
        between = graph.make(MatMul(), *pair)
        if between.array.size >= inner.array.size:
            continue
        guard = min(cut, GUARD) if bits else 0
        short = truncated(graph, between, cut - guard)
        ends = (inner.args[0], short) if at == 0 else (short, inner.args[1])
        return truncated(graph, graph.make(MatMul(), *ends), bits + guard)
    return None

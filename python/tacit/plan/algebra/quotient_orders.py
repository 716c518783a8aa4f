"""Orders by an average or a quotient as orders by a whole number, which nodes compute.

Two different fractions whose denominators are at most D differ by at least 1 / D^2. So they stay different, times a
power of two that is at least D^2 and rounded towards zero, and in the same order. This is the order of exact
arithmetic. DuckDB's differs only where rounding to DOUBLE makes two different values equal, which needs
numerators and denominators of more than 52 bits together. As in DuckDB, a number divided by 0 is beyond all numbers,
on the side of its sign, and 0 / 0 is beyond these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.divisions import nodes_compute
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.fractions import excludes_zero
from tacit.plan.algebra.refusals import TooWide
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer

WIDEST = 126
"""Bits of a numerator times that power of two, without a sign."""


@dataclass(frozen=True)
class OrderedFraction:
    """An exact numerator and denominator. may_be_zero: whether there may be a number that is divided by 0."""

    numerator: Expr
    denominator: Expr
    may_be_zero: bool

    @property
    def largest(self) -> int:
        """The most that the denominator may be, without its sign."""
        return max(*map(abs, bounds.range_of(self.denominator.type)), 1)

    @property
    def shift(self) -> int:
        """The power of two that keeps different fractions apart."""
        return (self.largest * self.largest - 1).bit_length()

    @property
    def most(self) -> int:
        """The most that the fraction times that power of two may be, without its sign, where it is a number."""
        low, _ = bounds.range_of(self.denominator.type)
        return self._raised // max(low, 1)

    def in_order(self) -> Expr:
        """A whole number in its order."""
        found = self._scaled()
        return _among_infinite(self, found) if self.may_be_zero else found

    @property
    def _raised(self) -> int:
        return max(map(abs, bounds.range_of(self.numerator.type))) << self.shift

    def _scaled(self) -> Call:
        numerator, denominator, most = self.numerator, self.denominator, self.most
        if self._raised.bit_length() > WIDEST:
            raise TooWide("the order by a quotient", self._raised.bit_length() + 1)
        nullable = numerator.nullable or denominator.nullable or self.may_be_zero
        args = numerator, denominator, whole.number(self.shift)
        return Call("ratio", args, Integer(-most, most, "HUGEINT"), nullable)


def fraction(expr: Expr) -> OrderedFraction | None:
    """What an average or a quotient of exact numbers divides; None of others, and of those that nodes do not have."""
    match expr:
        case Call("average", (total, count)) if nodes_compute(total) and nodes_compute(count):
            return OrderedFraction(total, count, False)
        case Call("div", (a, b)):
            numerator, denominator = _exact(a), _exact(b)
            if numerator is None or denominator is None:
                return None
            return OrderedFraction(numerator, denominator, not excludes_zero(denominator))
        case _:
            return None


def in_order(expr: Expr) -> Expr:
    """A whole number in the order of a DOUBLE; the expression itself where it is no DOUBLE, or none is known."""
    if not isinstance(expr.type, Double) or not isinstance(expr, Call):
        return expr
    match expr:
        case Call("neg", (inner,)):
            return _turned(expr, inner)
        case Call("cast", (inner,)) if isinstance(inner.type, Integer | Decimal) and nodes_compute(inner):
            return inner
        case Call("mul" | "div", (inner, factor)) if (known := factor_of(factor)) is not None and known:
            return in_order(inner) if known > 0 else _turned(expr, inner)
        case Call("mul", (factor, inner)) if (known := factor_of(factor)) is not None and known:
            return in_order(inner) if known > 0 else _turned(expr, inner)
        case _ if (number := told(expr)) is not None:
            return number
        case _:
            found = fraction(expr)
            return expr if found is None else found.in_order()


def told(expr: Expr) -> Expr | None:
    """The number that an average or a quotient was made of (tacit.plan.algebra.quotient_keys); None of others."""
    match expr:
        case Call("average" | "div", args):
            parts = tuple(each.args[0] if isinstance(each, Call) and each.op == "cast" else each for each in args)
            match parts:
                case (Call("numerator", (number, *_)), Call("denominator", (other, *_))) if number == other:
                    return number
    return None


def _turned(expr: Expr, inner: Expr) -> Expr:
    """The negative of a value in the order of another one. It is not, where 0 / 0 may be: that has no negative."""
    found = in_order(inner)
    if isinstance(found.type, Double) or _has_nan(inner):
        return expr
    type_ = bounds.with_range(found.type, bounds.negate(bounds.range_of(found.type)))
    return Call("neg", (found,), type_, found.nullable)


def _among_infinite(fraction: OrderedFraction, found: Call) -> Call:
    low, high = bounds.range_of(found.type)
    a = fraction.numerator
    above = whole.either(_against_zero("gt", a), whole.number(high + 1), whole.number(high + 2))
    beyond: Expr = whole.either(_against_zero("lt", a), whole.number(low - 1), above)
    if a.nullable:
        missing = Call("is_null", (a,), Boolean(), False)
        beyond = Call("if", (missing, Literal(None, beyond.type), beyond), beyond.type, True)
    chosen = whole.either(_against_zero("eq", fraction.denominator), beyond, found)
    return replace(chosen, type=Integer(low - 1, high + 2, "HUGEINT"))


def _against_zero(op: Operator, expr: Expr) -> Call:
    return Call(op, (expr, Literal(0, bounds.with_range(expr.type, (0, 0)))), Boolean(), expr.nullable)


def _exact(expr: Expr) -> Expr | None:
    """The exact number that an operand of a DOUBLE quotient is."""
    match expr:
        case Call("cast", (inner,)) if isinstance(inner.type, Integer | Decimal) and nodes_compute(inner):
            return inner
        case _:
            return None


def factor_of(expr: Expr) -> int | float | None:
    """The number that a constant operand is encoded as."""
    while isinstance(expr, Call) and expr.op == "cast":
        (expr,) = expr.args
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int | float) else None


def _has_nan(expr: Expr) -> bool:
    """Whether 0 may be divided by 0 in an expression of which the order is known."""
    divisors = [_exact(each.args[1]) for each in subexpressions(expr) if isinstance(each, Call) and each.op == "div"]
    return any(each is not None and not excludes_zero(each) for each in divisors)

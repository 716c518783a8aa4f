"""Bounds of elementary functions, the same on every machine: decimals that are rounded correctly, then outwards."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

CONTEXT = Context(prec=60, Emax=10**6, Emin=-(10**6))
SLACK = Fraction(1, 10**40)
LARGEST_EXPONENT = 1000

Bounds = tuple[Fraction, Fraction]


def _decimal(x: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))


def _around(x: Fraction, function: Callable[[Decimal], Decimal]) -> Bounds:
    value = Fraction(function(_decimal(x)))
    room = SLACK * (abs(value) + 1) * (abs(x) + 1)
    return value - room, value + room


def exp(x: Fraction) -> Bounds:
    """Bounds of e^x for abs(x) below LARGEST_EXPONENT."""
    value = Fraction(CONTEXT.exp(_decimal(x)))
    return value * (1 - SLACK), value * (1 + SLACK)


def log(x: Fraction) -> Bounds:
    """Bounds of the natural logarithm of x > 0."""
    value = Fraction(CONTEXT.ln(_decimal(x)))
    return value - SLACK * 1000, value + SLACK * 1000


def sqrt(x: Fraction) -> Bounds:
    """Bounds of the square root of x >= 0."""
    return (Fraction(0), Fraction(0)) if x == 0 else _around(x, CONTEXT.sqrt)


def rsqrt(x: Fraction) -> Bounds:
    """Bounds of 1 / sqrt(x) for x > 0."""
    low, high = sqrt(1 / x)
    return max(low, Fraction(0)), high


def sigmoid(x: Fraction) -> Bounds:
    """Bounds of 1 / (1 + e^-x)."""
    if abs(x) >= LARGEST_EXPONENT:
        return (Fraction(0), SLACK) if x < 0 else (1 - SLACK, Fraction(1))
    low, high = exp(-x)
    return 1 / (1 + high), 1 / (1 + low)


def tanh(x: Fraction) -> Bounds:
    """Bounds of tanh(x) = 2 sigmoid(2 x) - 1."""
    low, high = sigmoid(2 * x)
    return 2 * low - 1, 2 * high - 1


def ceil_log2(x: Fraction) -> int:
    """The least k with x <= 2^k, for x > 0."""
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    return min(k for k in (bits - 1, bits, bits + 1) if x <= Fraction(2) ** k)

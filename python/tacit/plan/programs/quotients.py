"""Quotients by integer arithmetic alone: Newton's steps for the inverse of the divisor, scaled to between 1/2 and 1.

The first inverse is a line, within 1/16; each step doubles its right bits. No floating-point number is in it.
"""

from __future__ import annotations

from collections.abc import Callable

GUARD = 4
FIRST_BITS = 4

Cut = Callable[[int, int], int]
"""Cuts bits off an integer, rounded as the program rounds."""


def steps_for(bits: int) -> int:
    """The steps after which an inverse has a number of right bits."""
    return next(steps for steps in range(bits) if FIRST_BITS << steps >= bits)


def quotient(x: int, y: int, scale: int, bits: int, cut: Cut) -> int:
    """x / y 2^scale, off by less than two. bits: of the largest quotient, which is known before."""
    sign, size = (1, y) if y > 0 else (-1, -y)
    working = bits + GUARD
    inverse = _inverse(_scaled(size, working, cut), working, steps_for(working), cut)
    return cut(sign * x * inverse, working + size.bit_length() - scale)


def _scaled(y: int, working: int, cut: Cut) -> int:
    """y with its leading bit at a half."""
    return cut(y, y.bit_length() - working)


def _inverse(c: int, working: int, steps: int, cut: Cut) -> int:
    """1 / c for c from a half to one, with working bits after the point."""
    inverse = cut((48 << working + 3) // 17 - 15 * c, 3)
    for _ in range(steps):
        inverse = cut(inverse * ((2 << working) - cut(c * inverse, working)), working)
    return inverse

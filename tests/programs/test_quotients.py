"""Newton's quotients are within the declared error at every number of bits, at powers of two and beside them."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from tacit.plan.programs.infer_arithmetic import DIVISION_ERROR
from tacit.plan.programs.quotients import quotient

from .running import SEED


@pytest.mark.parametrize("bits", [8, 16, 24, 36, 60])
@pytest.mark.parametrize("rounding", ["floor", "dither"])
def test_quotients_are_within_two(bits: int, rounding: str) -> None:
    draw = Random(SEED)

    def cut(x: int, count: int) -> int:
        if count <= 0:
            return x << -count
        up = rounding == "dither" and draw.randrange(1 << count) < x & (1 << count) - 1
        return (x >> count) + up

    for _ in range(2000):
        y = draw.choice((1, -1)) * max(1, (1 << draw.randrange(0, 40)) + draw.choice((-1, 0, 1)))
        top = (abs(y) << bits) - 1
        scale = draw.randrange(0, 30)
        x = draw.choice((1, -1)) * (draw.choice((top, draw.randint(0, top), 0)) >> scale)
        found = quotient(x, y, scale, bits + 1, cut)
        assert abs(found - Fraction(x << scale, y)) <= DIVISION_ERROR, (x, y, scale)

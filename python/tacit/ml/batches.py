"""Which rows a step of stochastic gradient descent reads: public, and the same at all parties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from tacit.plan.programs.refusals import ProgramError


def batches(rows: int, size: int, passes: int, seed: int) -> Iterator[Any]:
    """Positions of rows, ``size`` at a time, in a new order for each pass. Each row is in one batch of a pass.

    The order follows from the seed alone. RandomState's stream is the same in all versions of NumPy (NEP 19).
    """
    if size < 1 or passes < 0:
        raise ProgramError(f"there are {size} rows in a batch and {passes} passes; give at least one row a batch.")
    draw = numpy.random.RandomState(seed)
    for _ in range(passes):
        order = draw.permutation(rows)
        for start in range(0, rows, size):
            yield order[start : start + size]

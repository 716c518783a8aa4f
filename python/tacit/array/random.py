"""Random numbers inside programs: the nodes draw them together, and nobody knows them. Outside they are NumPy's.

A public generator of NumPy with a seed gives public numbers, the same at all parties.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy

from tacit.array.lines import current_line
from tacit.array.private import ACTIVE, UFUNCS, PrivateArray
from tacit.plan.programs.facts import Shape
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.operations import Sample
from tacit.plan.programs.refusals import ProgramError

BITS = 32
MOST = 1 << 16
"""The largest range of random integers: none is likelier than another by more than 2^-16 of its probability."""

Size = int | tuple[int, ...] | None


def _sample(graph: Graph, size: Size, bits: int) -> PrivateArray:
    shape: Shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    graph.line = current_line()
    return PrivateArray(graph, graph.make(Sample(len(graph.nodes), shape, bits, bits)))


def uniform(low: float = 0.0, high: float = 1.0, size: Size = None) -> Any:
    """Numbers between low and high, as finely spaced as the program's numbers."""
    graph = ACTIVE.get()
    if graph is None:
        return numpy.random.uniform(low, high, size)
    return low + (high - low) * _sample(graph, size, graph.settings.fraction)


def random(size: Size = None) -> Any:
    """Numbers from 0 to below 1."""
    return uniform(0.0, 1.0, size)


def integers(low: int, high: int, size: Size = None) -> Any:
    """Integers from low to below high."""
    graph = ACTIVE.get()
    if not 0 < high - low <= MOST:
        raise ProgramError(
            f"random integers have 1 to {MOST} values here; draw two and put them together.", current_line()
        )
    if graph is None:
        return numpy.random.randint(low, high, size)
    scaled = UFUNCS[numpy.multiply](_sample(graph, size, BITS), high - low)
    return UFUNCS[numpy.floor](scaled).astype(numpy.int64) + low


def normal(loc: float = 0.0, scale: float = 1.0, size: Size = None) -> Any:
    """Numbers of a normal distribution, by Box and Muller: none is farther than 5 deviations from the mean."""
    graph = ACTIVE.get()
    if graph is None:
        return numpy.random.normal(loc, scale, size)
    bits = graph.settings.fraction
    above_zero = _sample(graph, size, bits) + 2.0**-bits
    squares = UFUNCS[numpy.maximum](UFUNCS[numpy.multiply](UFUNCS[numpy.log](above_zero), -2.0), 0)
    waves = UFUNCS[numpy.cos](UFUNCS[numpy.multiply](_sample(graph, size, bits), 2 * pi))
    return loc + scale * (UFUNCS[numpy.sqrt](squares) * waves)

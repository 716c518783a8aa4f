"""Public numbers beside private arrays: exact until an operation says how many bits after the point it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.plan.programs.dtypes import Dtype, Weak, beside_number
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.facts import RINGS, Array, Shape
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Constant
from tacit.plan.programs.refusals import TooWide


@dataclass(frozen=True)
class Public:
    """Public numbers, row by row. dtype: of their array, or what sort of Python number they are."""

    shape: Shape
    dtype: Dtype | Weak
    reals: tuple[Fraction, ...]

    @property
    def largest(self) -> Fraction:
        """The largest absolute value."""
        return max(map(abs, self.reals), default=Fraction(0))

    @property
    def uniform(self) -> Fraction | None:
        """The one number that all are."""
        return self.reals[0] if self.reals and all(real == self.reals[0] for real in self.reals) else None

    @property
    def exact_bits(self) -> int | None:
        """The bits after the point that all need, None where no number of them does."""
        bits = [real.denominator.bit_length() - 1 for real in self.reals]
        exact = all(real.denominator == 1 << each for real, each in zip(self.reals, bits, strict=True))
        return max(bits, default=0) if exact else None

    @property
    def inverse(self) -> Public:
        """One divided by each."""
        return Public(self.shape, "fixed", tuple(1 / real for real in self.reals))


Operand = Node | Public


def number(real: int | Fraction, dtype: Dtype | Weak = "weak int") -> Public:
    """One public number."""
    return Public((), dtype, (Fraction(real),))


def dtype_beside(public: Public, dtype: Dtype) -> Dtype:
    """The type that public numbers have beside an array of a type."""
    if public.dtype == "weak int" or public.dtype == "weak float":
        return beside_number(dtype, public.dtype)
    return public.dtype


def encoded(graph: Graph, public: Public, fraction: int, dtype: Dtype, ring: int = 64) -> Node:
    """Public numbers as a node, rounded to the nearest with bits after the point.

    Each number is rounded once, however often it occurs, and none that fits no ring.
    """
    graph.spend(len(public.reals))
    found: dict[int, int] = {}
    error = Fraction(0)
    for real in public.reals:
        if id(real) not in found:
            found[id(real)], away = _rounded(real, fraction)
            error = max(error, away) if away else error
    values = tuple(found[id(real)] for real in public.reals)
    array = Array(public.shape, dtype, min(values, default=0), max(values, default=0), fraction, ring, error)
    return graph.make(Constant(_with_rows(array, values, len(found) == 1), values, public.reals))


def _rounded(real: Fraction, fraction: int) -> tuple[int, Fraction]:
    """The nearest integer to real 2^fraction, and how far it is away. Raises TooWide where no ring has room for it."""
    top, bottom = real.numerator << max(fraction, 0), real.denominator << max(-fraction, 0)
    if top.bit_length() - bottom.bit_length() > RINGS[-1]:
        value = top // bottom
        raise TooWide("a public number", min(value, 0), max(value, 0), fraction)
    value = (2 * top + bottom) // (2 * bottom)
    away = value * bottom - top
    return value, Fraction(abs(away), bottom) if away else Fraction(0)


def _with_rows(array: Array, values: tuple[int, ...], same: bool) -> Array:
    """What is known of the rows. same: all values are one."""
    columns = array.columns
    if not columns or not values:
        return array
    rows = [values[at : at + columns] for at in range(0, columns if same else len(values), columns)]
    sums = [sum(row) for row in rows]
    return replace(
        array,
        norm1=max(sum(map(abs, row)) for row in rows),
        norm2=max(sum(x * x for x in row) for row in rows),
        row_sum=(min(sums), max(sums)),
    )


def beside(graph: Graph, public: Public, node: Node) -> Node:
    """Public numbers to be added to an array or compared with it: with as many bits after the point as both need."""
    array = node.array
    exact = public.exact_bits
    wanted = max(array.fraction, graph.settings.fraction) if public.largest and exact != 0 else array.fraction
    fraction = max(array.fraction, exact) if exact is not None and exact < wanted else wanted
    return encoded(graph, public, fraction, dtype_beside(public, array.dtype), array.ring)


def without_neighbour(graph: Graph, public: Public) -> Node:
    """Public numbers as a node by themselves."""
    dtype = dtype_beside(public, "bool")
    exact = public.exact_bits
    bits = graph.settings.fraction if exact is None else min(exact, graph.settings.fraction)
    return encoded(graph, public, bits, dtype)


@dataclass(frozen=True)
class Factor:
    """A public factor as a node, and the bits after the point that the product is to keep; None keeps all."""

    node: Node
    kept: int | None


NEGLIGIBLE = 8
"""Bits that an exact public factor may add after the point before they are cut off again."""


def factor(graph: Graph, public: Public, array: Array, reach: int, relative: bool = True) -> Factor:
    """Public numbers that multiply an array.

    reach: a bound of the integers of the array that one result adds up. relative: small factors get small results,
    which keep their leading bits. The factor's own rounding stays below half a unit of the result's last place.
    """
    base = graph.settings.fraction
    dtype = dtype_beside(public, array.dtype)
    exact, largest = public.exact_bits, public.largest
    if exact == 0 or not largest:
        return Factor(encoded(graph, public, 0, dtype, array.ring), None)
    small = max(0, -ceil_log2(largest)) if relative else 0
    kept = max(array.fraction, base) + small
    bits = max(0, kept + (max(reach, 1) - 1).bit_length() - array.fraction)
    bits = bits if exact is None else min(bits, exact)
    total = array.fraction + bits
    free = total <= max(kept, base + NEGLIGIBLE)
    return Factor(encoded(graph, public, bits, "fixed", array.ring), None if free else kept)

"""Vectors over two fields in Python's long integers, and the spans of sets of them.

Over GF(2) an entry is a bit. Over GF(p), p = 2^61 - 1, an entry has a slot of 128 bits, so that one multiplication of
long integers multiplies a whole vector by a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

PRIME = (1 << 61) - 1
SLOT = 128
ENTRY = (1 << SLOT) - 1

Entries = tuple[int, ...]
"""A vector of whole numbers that are not negative: bit j of entry n is bit n of element j."""


class Span(Protocol):
    """The span of the vectors that have been added. rank: its dimension."""

    @property
    def rank(self) -> int: ...

    def add(self, entries: Entries) -> bool:
        """Whether a vector was outside. It is not any more."""


class Parities:
    """A span over GF(2)."""

    def __init__(self, known: Iterable[int] = ()) -> None:
        self._by_top = {vector.bit_length(): vector for vector in known}

    @property
    def rank(self) -> int:
        return len(self._by_top)

    def copy(self) -> Parities:
        """Another span, as this one is now."""
        return Parities(self._by_top.values())

    def add(self, entries: Entries) -> bool:
        vector = entries[0] if entries else 0
        while vector:
            other = self._by_top.get(vector.bit_length())
            if other is None:
                self._by_top[vector.bit_length()] = vector
                return True
            vector ^= other
        return False


class Residues:
    """A span over GF(p) of vectors of some length, by a basis in which each has a 1 where all others have 0.

    work: the products of vectors and numbers until now.
    """

    def __init__(self, length: int, known: Mapping[int, int] | None = None) -> None:
        self.length = length
        self.work = 0
        self._basis = dict(known or {})

    @property
    def rank(self) -> int:
        return len(self._basis)

    @property
    def pivots(self) -> frozenset[int]:
        """The positions at which the basis has its ones."""
        return frozenset(self._basis)

    def copy(self) -> Residues:
        """Another span, as this one is now."""
        return Residues(self.length, self._basis)

    def add(self, entries: Entries) -> bool:
        return self.add_vector(packed(entries))

    def add_vector(self, vector: int) -> bool:
        """The same of a vector that ``packed`` or ``reduced`` has made."""
        vector = self.reduced(vector)
        if not vector:
            return False
        pivot = ((vector & -vector).bit_length() - 1) // SLOT
        vector = self._normal(vector * pow(entry(vector, pivot), -1, PRIME))
        known = self._basis.items()
        self._basis = {at: self._less(other, entry(other, pivot), vector) for at, other in known} | {pivot: vector}
        return True

    def reduced(self, vector: int) -> int:
        """The vector less that of the span that makes it zero at all pivots. Zero exactly for vectors within."""
        for at, other in self._basis.items():
            vector = self._less(vector, entry(vector, at), other)
        return vector

    def annihilators(self) -> Iterable[dict[int, int]]:
        """A basis of the vectors whose products with all of the span are zero."""
        for free in range(self.length):
            if free not in self._basis:
                found = {at: (-entry(other, free)) % PRIME for at, other in self._basis.items()}
                yield {free: 1} | {at: value for at, value in found.items() if value}

    def _less(self, vector: int, factor: int, other: int) -> int:
        if not factor:
            return vector
        self.work += 1
        return self._normal(vector + (PRIME - factor) * other)

    @cached_property
    def _ones(self) -> int:
        return sum(1 << (at * SLOT) for at in range(self.length))

    @cached_property
    def _low(self) -> int:
        return self._ones * PRIME

    @cached_property
    def _high(self) -> int:
        return self._ones * (ENTRY >> 61)

    def _folded(self, vector: int) -> int:
        """2^61 is 1 modulo p: the high bits of each entry are added to its low ones."""
        return (vector & self._low) + ((vector >> 61) & self._high)

    def _normal(self, vector: int) -> int:
        """Entries below p, of entries below 2^123. One is added and taken away, so that p itself becomes 0."""
        return self._folded(self._folded(self._folded(vector)) + self._ones) - self._ones


def packed(entries: Entries) -> int:
    """A vector with an entry in each slot."""
    return sum(_spread(plane) << at for at, plane in enumerate(entries))


def _spread(plane: int) -> int:
    """Bit n of a number in slot n."""
    zero = "0" * (SLOT // 4)
    return int(f"{plane:b}".replace("1", "x").replace("0", zero).replace("x", zero[1:] + "1"), 16)


def entry(vector: int, at: int) -> int:
    """One entry of such a vector."""
    return (vector >> (at * SLOT)) & ENTRY


def entries_of(values: Mapping[int, int]) -> Entries:
    """The vector with these entries, by their positions, and zeros elsewhere."""
    width = max((value.bit_length() for value in values.values()), default=0)
    return tuple(sum((value >> bit & 1) << at for at, value in values.items()) for bit in range(width))


def trimmed(entries: Entries) -> Entries:
    """The same vector in its one form, without zeros at the end."""
    return trimmed(entries[:-1]) if entries and not entries[-1] else entries


def positions(mask: int) -> Iterator[int]:
    """Where a number has ones."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def closed_up(plane: int, digits: Sequence[int]) -> int:
    """The bits at some places, side by side."""
    text = f"{plane:b}"[::-1].ljust(digits[-1] + 1, "0")
    return int("".join(text[at] for at in reversed(digits)), 2)

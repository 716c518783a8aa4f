"""The search for a combination of sets whose atoms have fewer units than the floor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tacit.audit.atoms import Atom, Units
from tacit.audit.vectors import Residues, packed

MOST_WORK = 1_000_000
"""Products of vectors and numbers in one search. Beyond them a question is refused."""


class TooMuch(Exception):
    """More would have to be tried than ``MOST_WORK``."""


@dataclass(frozen=True)
class _Column:
    """A small atom as a vector, less what it shares with columns at which the combination is zero."""

    vector: int
    units: Units


class Search:
    """A search for a combination whose atoms have fewer than k units together."""

    def __init__(self, rank: int, least: int) -> None:
        self._rank = rank
        self._least = least
        self._left = MOST_WORK

    def isolates(self, large: Iterable[Atom], small: Iterable[Atom]) -> bool:
        """Whether there is one that is zero at the large atoms."""
        zero = Residues(self._rank)
        for each in large:
            self._add(zero, packed(each.entries))
        return self._exists(zero, [_Column(packed(each.entries), each.units) for each in small], frozenset())

    def _exists(self, zero: Residues, columns: Sequence[_Column], inside: Units) -> bool:
        """Whether there is one that is zero at ``zero``, and not zero at most at some columns and at units ``inside``.

        Columns whose units are all inside may be anything. The others have to span the rest, or else one exists that
        is zero at all of them. If they do, it is not zero at one of those that span it: each may be the first one.
        """
        outside = [each for each in self._reduced(zero, columns) if not each.units <= inside]
        family, span = list[_Column](), zero.copy()
        for each in outside:
            if span.rank == self._rank:
                break
            if self._add(span, each.vector):
                family.append(each)
        if span.rank < self._rank:
            return True
        zero = zero.copy()
        for each in family:
            within = inside | each.units
            if len(within) < self._least and self._exists(zero, outside, within):
                return True
            self._add(zero, each.vector)
        return False

    def _reduced(self, zero: Residues, columns: Iterable[_Column]) -> Iterator[_Column]:
        for each in columns:
            if vector := self._counted(zero, zero.reduced, each.vector):
                yield replace(each, vector=vector)

    def _add(self, span: Residues, vector: int) -> bool:
        return bool(self._counted(span, span.add_vector, vector))

    def _counted(self, span: Residues, change: Callable[[int], int], vector: int) -> int:
        before = span.work
        found = change(vector)
        self._left -= 1 + span.work - before
        if self._left < 0:
            raise TooMuch
        return found

"""Whether answers together isolate fewer units than the floor: the exact check.

A *set* is what one shown number is added up over. An *atom* is a class of rows that are equally often in each set. The
sets are the rows, and the atoms the columns, of a matrix of small whole numbers; each answer is one row times the
unknown values. A *combination* is a linear combination of rows over the rational numbers. It *isolates* a unit if it is
not zero, and all atoms at which it is not zero have fewer than k units together: then the asker computes a number that
fewer than k units make. Large atoms, of k units or more, are zero in such a combination.

**As spans of columns.** A combination that is zero at all columns outside some set U, and not at all within, exists
exactly if the columns outside U span less than all columns do. So a family of columns that spans the whole space proves
that no combination is zero at all of them, and no two-sided search for coefficients is needed.

**Which errors are safe.** The rank of a whole matrix modulo a prime, or over GF(2), is never above its rank over the
rational numbers: a minor that is not zero modulo p is not zero. So "these columns span all" is never wrong if they do
so modulo p. "They do not" may be wrong, and then a question is refused that could have been answered. The one
place where a rank that is too low would be unsafe is that of the whole matrix. So a row counts as dependent only after
whole coefficients have been found that were multiplied out over the integers (``_independent_rows``).

**Steps.** 1. A row that alone meets a large atom has the coefficient zero and is left out; atoms that are equal in the
rows that stay are one atom (``_settled``). 2. Dependent rows are left out. 3. If disjoint families of columns each
span all, every combination has a unit in each of them; with k of them nothing is isolated (``_spread``). 4. Otherwise
all ways are tried (``_Search``): of columns that span all, one is in the combination; which is the first? Both are
bounded by ``MOST_WORK``; beyond, the question is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import isqrt, lcm
from operator import or_

from tacit.audit.vectors import PRIME, Entries, Parities, Residues, Span, packed, positions, trimmed

MOST_WORK = 1_000_000
"""Products of vectors and numbers in one check. Beyond them a question is refused."""

Units = frozenset[bytes]


@dataclass(frozen=True)
class Atom:
    """Rows that are equally often in each set. entries: how often, by the sets' numbers. units: all of its units."""

    entries: Entries
    units: Units

    @property
    def sets(self) -> int:
        """Bit n says whether it is in set n."""
        return reduce(or_, self.entries, 0)


def isolates(atoms: Iterable[Atom], least: int) -> bool:
    """Whether some combination isolates fewer than ``least`` units, or so much has to be tried that nobody knows."""
    found = _full_rank(_settled(atoms, least))
    while found and (settled := _settled(found, least)) != found:
        found = _full_rank(settled)
    rank = _rows(found).bit_count()
    large, small = _parted(_numbered(found), least)
    if _span(Parities(), large).rank == rank or _spread(large, small, rank, least):
        return False
    try:
        return _Search(rank, least).isolates(large, small)
    except _TooMuch:
        return True


def _full_rank(atoms: list[Atom]) -> list[Atom]:
    """The atoms in rows of which none depends on others."""
    numbered = _numbered(atoms)
    return _restricted(numbered, _independent_rows([each.entries for each in numbered], _rows(atoms).bit_count()))


# --- rows and atoms that cannot matter --------------------------------------------------------------------------------


def _settled(atoms: Iterable[Atom], least: int) -> list[Atom]:
    """The atoms in the rows that can have a coefficient other than zero, each class of equal ones as one."""
    found = _restricted(atoms, -1)
    while alone := reduce(or_, (a.sets for a in found if a.sets.bit_count() == 1 and len(a.units) >= least), 0):
        found = _restricted(found, ~alone)
    return found


def _restricted(atoms: Iterable[Atom], rows: int) -> list[Atom]:
    """The atoms in some rows. Equal ones become one, and those that are zero there are left out."""
    classes: dict[Entries, list[Units]] = {}
    for each in atoms:
        if entries := trimmed(tuple(plane & rows for plane in each.entries)):
            classes.setdefault(entries, []).append(each.units)
    return [Atom(entries, units[0].union(*units[1:])) for entries, units in sorted(classes.items())]


def _rows(atoms: Iterable[Atom]) -> int:
    """Bit n says whether row n is not all zero."""
    return reduce(or_, (each.sets for each in atoms), 0)


def _numbered(atoms: Iterable[Atom]) -> list[Atom]:
    """The atoms in rows that are numbered from 0 without gaps."""
    found = list(atoms)
    rows = _rows(found)
    if not rows & (rows + 1):
        return found
    digits = [*positions(rows)]
    return [replace(each, entries=tuple(_closed_up(plane, digits) for plane in each.entries)) for each in found]


def _closed_up(plane: int, digits: Sequence[int]) -> int:
    """The bits at some places, side by side."""
    text = f"{plane:b}"[::-1].ljust(digits[-1] + 1, "0")
    return int("".join(text[at] for at in reversed(digits)), 2)


def _parted(atoms: Iterable[Atom], least: int) -> tuple[list[Atom], list[Atom]]:
    """Large atoms and small ones, those with the most units first."""
    ordered = sorted(atoms, key=lambda each: -len(each.units))
    return [a for a in ordered if len(a.units) >= least], [a for a in ordered if len(a.units) < least]


def _span(span: Span, atoms: Iterable[Atom]) -> Span:
    for each in atoms:
        span.add(each.entries)
    return span


# --- rows that depend on others ---------------------------------------------------------------------------------------


def _independent_rows(columns: Sequence[Entries], length: int) -> int:
    """Rows that no combination of the others equals, and of which all others are combinations: bit n for row n.

    A row is left out only if the coefficients of its combination hold over the integers at all columns. Rows of which
    none were found stay: a matrix that seems to have a higher rank than it has makes refusals. Among the few rows of a
    relation over GF(2) coefficients are found fast; what is left is looked for among all rows.
    """
    seeds, kept = _seeds(columns, length), (1 << length) - 1
    if len(seeds) == length:
        return kept
    for relation in _relations(seeds, length):
        kept &= ~_dependent(columns, relation & kept)
    return kept if kept.bit_count() == len(seeds) else kept & ~_dependent(columns, kept)


def _seeds(columns: Iterable[Entries], length: int) -> list[Entries]:
    """Columns that are a basis of the span of all over GF(2), and so independent. length: how many rows there are."""
    span = Parities()
    return [each for each in columns if span.rank < length and span.add(each)]


def _relations(columns: Sequence[Entries], length: int) -> Iterator[int]:
    """A basis of the sets of rows whose sum is even at all columns."""
    by_top: dict[int, tuple[int, int]] = {}
    for row in range(length):
        vector = sum((column[0] >> row & 1) << at for at, column in enumerate(columns))
        rows = 1 << row
        while vector and (known := by_top.get(vector.bit_length())):
            vector, rows = vector ^ known[0], rows ^ known[1]
        if vector:
            by_top[vector.bit_length()] = vector, rows
        else:
            yield rows


def _dependent(columns: Iterable[Entries], rows: int) -> int:
    """Rows of some that are combinations of the others of them."""
    digits = [*positions(rows)]
    whole = {trimmed(tuple(plane & rows for plane in each)) for each in columns}
    numbered = [tuple(_closed_up(plane, digits) for plane in each) for each in sorted(whole) if each]
    basis = Residues(len(digits))
    for each in _seeds(numbered, len(digits)):
        basis.add(each)
    while basis.rank < len(digits):
        found, outside = _verified(basis, numbered)
        if outside is None:
            return sum(1 << digits[at] for at in positions(found))
        if not basis.add(outside):
            return 0
    return 0


def _verified(basis: Residues, columns: Sequence[Entries]) -> tuple[int, Entries | None]:
    """Rows that depend on those of the pivots, and a column that shows that some other seemed to and does not."""
    found = 0
    for each in basis.annihilators():
        whole = _whole(each)
        if whole is None:
            continue
        for column in columns:
            if _product(whole, column):
                return 0, column
        found |= 1 << next(iter(whole))
    return found, None


def _product(coefficients: Mapping[int, int], column: Entries) -> int:
    return sum(
        value * (plane >> row & 1) << bit for bit, plane in enumerate(column) for row, value in coefficients.items()
    )


def _whole(residues: Mapping[int, int]) -> dict[int, int] | None:
    """Whole numbers in the proportions of residues, if small fractions have these residues."""
    fractions = {at: _fraction(value) for at, value in residues.items()}
    common = lcm(*(found[1] for found in fractions.values() if found is not None))
    if any(found is None for found in fractions.values()):
        return None
    return {at: found[0] * (common // found[1]) for at, found in fractions.items() if found is not None}


def _fraction(residue: int) -> tuple[int, int] | None:
    """The fraction of small numbers that has a residue modulo p, by Euclid's algorithm."""
    bound = isqrt(PRIME // 2)
    (last, this), (before, now) = (PRIME, residue), (0, 1)
    while this > bound:
        quotient = last // this
        (last, this), (before, now) = (this, last - quotient * this), (now, before - quotient * now)
    if abs(now) > bound or not now:
        return None
    return (this, now) if now > 0 else (-this, -now)


# --- disjoint families ------------------------------------------------------------------------------------------------


def _spread(large: Iterable[Atom], small: Sequence[Atom], rank: int, least: int) -> bool:
    """Whether disjoint families of small atoms, each of which spans all beside the large ones, have k units together.

    Over GF(2), where that is fast. A combination has an atom in each family, and families have no unit in common.
    """
    known, left, total = Parities(), list(small), 0
    _span(known, large)
    while total < least:
        span, family = known.copy(), list[Atom]()
        for each in left:
            if span.rank == rank:
                break
            if span.add(each.entries):
                family.append(each)
        if span.rank < rank:
            return False
        total += min(len(each.units) for each in family)
        left = _without(left, family)
    return True


def _without(atoms: Iterable[Atom], family: Sequence[Atom]) -> list[Atom]:
    """The atoms that have no unit in common with a family."""
    used = {unit for each in family for unit in each.units}
    taken = {id(each) for each in family}
    return [each for each in atoms if id(each) not in taken and used.isdisjoint(each.units)]


# --- all ways ---------------------------------------------------------------------------------------------------------


class _TooMuch(Exception):
    """More would have to be tried than ``MOST_WORK``."""


@dataclass(frozen=True)
class _Column:
    """A small atom as a vector, less what it shares with columns at which the combination is zero."""

    vector: int
    units: Units


class _Search:
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
            raise _TooMuch
        return found


def atoms_of(members: Iterable[tuple[Entries, bytes | None]]) -> list[Atom]:
    """The atoms of rows, of which each is in some sets and has a unit, or none and so does not count."""
    classes: dict[Entries, set[bytes]] = {}
    for entries, unit in members:
        if unit is not None and (found := trimmed(entries)):
            classes.setdefault(found, set()).add(unit)
    return [Atom(entries, frozenset(units)) for entries, units in classes.items()]

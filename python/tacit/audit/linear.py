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

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt, lcm

from tacit.audit.vectors import PRIME, Entries, Parities, Residues, Span, packed

MOST_WORK = 1_000_000
"""Products of vectors and numbers in one check. Beyond them a question is refused."""

Units = frozenset[bytes]


@dataclass(frozen=True)
class Atom:
    """Rows that are equally often in each set. entries: how often, by the sets' numbers. units: all of its units."""

    entries: Mapping[int, int]
    units: Units


def isolates(atoms: Iterable[Atom], least: int) -> bool:
    """Whether some combination isolates fewer than ``least`` units, or so much has to be tried that nobody knows."""
    found = _full_rank(_settled(atoms, least), least)
    while found and (settled := _settled(found, least)) != found:
        found = _full_rank(settled, least)
    rank = len(_rows(found))
    large, small = _parted(_numbered(found), least)
    if _span(Parities(), large).rank == rank or _spread(large, small, rank, least):
        return False
    try:
        return _Search(rank, least).isolates(large, small)
    except _TooMuch:
        return True


def _full_rank(atoms: list[Atom], least: int) -> list[Atom]:
    """The atoms in rows of which none depends on others."""
    numbered = _numbered(atoms)
    return _restricted(numbered, _independent_rows([each.entries for each in numbered], len(_rows(atoms))))


# --- rows and atoms that cannot matter --------------------------------------------------------------------------------


def _settled(atoms: Iterable[Atom], least: int) -> list[Atom]:
    """The atoms in the rows that can have a coefficient other than zero, each class of equal ones as one."""
    found = _restricted(atoms, None)
    while True:
        alone = {next(iter(each.entries)) for each in found if len(each.entries) == 1 and len(each.units) >= least}
        if not alone:
            return found
        found = _restricted(found, _rows(found) - alone)


def _restricted(atoms: Iterable[Atom], rows: frozenset[int] | None) -> list[Atom]:
    """The atoms in some rows, or in all. Equal ones become one, and those that are zero there are left out."""
    classes: dict[tuple[tuple[int, int], ...], set[bytes]] = {}
    for each in atoms:
        entries = tuple(sorted((row, n) for row, n in each.entries.items() if n and (rows is None or row in rows)))
        if entries:
            classes.setdefault(entries, set()).update(each.units)
    return [Atom(dict(entries), frozenset(units)) for entries, units in sorted(classes.items())]


def _rows(atoms: Iterable[Atom]) -> frozenset[int]:
    return frozenset(row for each in atoms for row in each.entries)


def _numbered(atoms: Iterable[Atom]) -> list[Atom]:
    """The atoms in rows that are numbered from 0 without gaps."""
    found = list(atoms)
    number = {row: at for at, row in enumerate(sorted(_rows(found)))}
    return [replace(each, entries={number[row]: often for row, often in each.entries.items()}) for each in found]


def _parted(atoms: Iterable[Atom], least: int) -> tuple[list[Atom], list[Atom]]:
    """Large atoms and small ones, those with the most units first."""
    ordered = sorted(atoms, key=lambda each: -len(each.units))
    return [a for a in ordered if len(a.units) >= least], [a for a in ordered if len(a.units) < least]


def _span(span: Span, atoms: Iterable[Atom]) -> Span:
    for each in atoms:
        span.add(each.entries)
    return span


# --- rows that depend on others ---------------------------------------------------------------------------------------


def _independent_rows(columns: Sequence[Entries], length: int) -> frozenset[int]:
    """Rows that no combination of the others equals, and of which all others are combinations.

    A row is left out only if the coefficients of its combination hold over the integers at all columns. Rows of which
    none were found stay: a matrix that seems to have a higher rank than it has makes refusals.
    """
    parities, basis = Parities(), Residues(length)
    seeds = [each for each in columns if parities.rank < length and parities.add(each)]
    if len(seeds) == length:
        return frozenset(range(length))
    for each in seeds:
        basis.add(each)
    while basis.rank < length:
        left_out, outside = _verified(basis, columns)
        if outside is None or not basis.add(outside):
            return frozenset(range(length)) - left_out
    return frozenset(range(length))


def _verified(basis: Residues, columns: Sequence[Entries]) -> tuple[frozenset[int], Entries | None]:
    """Rows that depend on those of the pivots, and a column that shows that some other seemed to and does not."""
    found = set()
    for each in basis.annihilators():
        whole = _whole(each)
        if whole is None:
            continue
        for column in columns:
            if sum(whole[row] * often for row, often in column.items() if row in whole):
                return frozenset(), column
        found.add(next(iter(whole)))
    return frozenset(found), None


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


def atoms_of(members: Iterable[tuple[frozenset[int], bytes | None]]) -> list[Atom]:
    """The atoms of rows, of which each is in some sets and has a unit, or none and so does not count."""
    classes: dict[frozenset[int], set[bytes]] = {}
    for sets, unit in members:
        if sets and unit is not None:
            classes.setdefault(sets, set()).add(unit)
    return [Atom(Counter(sets), frozenset(units)) for sets, units in classes.items()]

"""Whether answers together isolate fewer units than the floor: the exact check.

A *set* is what one shown number is added up over. An *atom* is a class of rows that are equally often in each set. The
sets are the rows, and the atoms the columns, of a matrix of small whole numbers. Each answer is one row times the
unknown values. A *combination* is a linear combination of rows over the rational numbers. It *isolates* a unit if it is
not zero, and all atoms at which it is not zero have fewer than k units together. Then the asker computes a number that
fewer than k units make. Large atoms, of k units or more, are zero in such a combination.

**As spans of columns.** A combination that is zero at all columns outside some set U, and not at all within, exists
exactly if the columns outside U span less than all columns do. So a family of columns that spans the whole space proves
that no combination is zero at all of them. Coefficients need not be searched for.

**Which errors are safe.** A minor that is not zero modulo p is not zero. So the rank of a whole matrix modulo a prime,
or over GF(2), is never above its rank over the rational numbers. Columns that span all modulo p do span all. If they
seem not to, and do, a question is refused that could have been answered, which is safe. A rank that is too low would be
unsafe in one place, that of the whole matrix. So a row counts as dependent only after whole coefficients have been
found, and multiplied out over the integers (``independent_rows``).

**Steps.** 1. A row that alone meets a large atom has the coefficient zero and is left out; atoms that are equal in the
rows that stay are one atom (``_settled``). 2. Dependent rows are left out. 3. If disjoint families of columns each
span all, every combination has a unit in each of them; with k of them nothing is isolated (``_spread``). 4. Otherwise
all ways are tried (``Search``): of columns that span all, one is in the combination; which is the first? What would
take more than ``MOST_ROWS`` rows after step 1, or more than ``MOST_WORK`` in step 4, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from tacit.audit.atoms import Atom, Units
from tacit.audit.independence import independent_rows
from tacit.audit.search import Search, TooMuch
from tacit.audit.vectors import Entries, Parities, Span, closed_up, positions, trimmed

MOST_ROWS = 1000
"""Sets that have to be looked at together. Beyond them a question is refused."""


def isolates(atoms: Iterable[Atom], least: int) -> bool:
    """Whether some combination isolates fewer than ``least`` units, or so much has to be tried that nobody knows."""
    found = _settled(atoms, least)
    if _rows(found).bit_count() > MOST_ROWS:
        return True
    found = _full_rank(found)
    while found and (settled := _settled(found, least)) != found:
        found = _full_rank(settled)
    rank = _rows(found).bit_count()
    large, small = _parted(_numbered(found), least)
    if _span(Parities(), large).rank == rank or _spread(large, small, rank, least):
        return False
    try:
        return Search(rank, least).isolates(large, small)
    except TooMuch:
        return True


def _full_rank(atoms: list[Atom]) -> list[Atom]:
    """The atoms in rows of which none depends on others."""
    numbered = _numbered(atoms)
    return _restricted(numbered, independent_rows([each.entries for each in numbered], _rows(atoms).bit_count()))


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
    return [replace(each, entries=tuple(closed_up(plane, digits) for plane in each.entries)) for each in found]


def _parted(atoms: Iterable[Atom], least: int) -> tuple[list[Atom], list[Atom]]:
    """Large atoms and small ones, those with the most units first."""
    ordered = sorted(atoms, key=lambda each: -len(each.units))
    return [a for a in ordered if len(a.units) >= least], [a for a in ordered if len(a.units) < least]


def _span(span: Span, atoms: Iterable[Atom]) -> Span:
    for each in atoms:
        span.add(each.entries)
    return span


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

"""Which rows of a matrix of whole numbers are combinations of others. Only what holds over the integers counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isqrt, lcm

from tacit.audit.vectors import PRIME, Entries, Parities, Residues, closed_up, positions, trimmed


def independent_rows(columns: Sequence[Entries], length: int) -> int:
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
    numbered = [tuple(closed_up(plane, digits) for plane in each) for each in sorted(whole) if each]
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

"""The check by its definition: every set of small atoms, and ranks over the rational numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations

from tacit.audit.atoms import Atom


def isolates(atoms: Sequence[Atom], least: int) -> bool:
    """Whether columns of fewer than ``least`` units exist without which the others span less."""
    whole = rank(atoms)
    return any(
        len(frozenset().union(*(each.units for each in inside))) < least
        and rank([each for each in atoms if each not in inside]) < whole
        for inside in chain.from_iterable(combinations(atoms, size) for size in range(len(atoms) + 1))
    )


def rank(atoms: Iterable[Atom]) -> int:
    """The rank of the columns, by Gauss's elimination of fractions."""
    listed = list(atoms)
    rows = range(max((plane.bit_length() for each in listed for plane in each.entries), default=0))
    matrix = [
        [Fraction(sum((plane >> row & 1) << bit for bit, plane in enumerate(each.entries))) for row in rows]
        for each in listed
    ]
    found = 0
    for column in range(len(rows)):
        pivot = next((each for each in matrix[found:] if each[column]), None)
        if pivot is None:
            continue
        matrix.remove(pivot)
        matrix.insert(found, pivot)
        for at in range(found + 1, len(matrix)):
            factor = matrix[at][column] / pivot[column]
            matrix[at] = [a - factor * b for a, b in zip(matrix[at], pivot, strict=True)]
        found += 1
    return found

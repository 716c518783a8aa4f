"""How numbers that are shown depend on single values: found by changing each, without any code of the product.

A *column* has the change of every number when one unknown value is one higher. A combination of numbers that depends on
values of few units exists exactly if the columns of all others span less than all columns do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Final

from ..subjects import Subject
from .surface import NORTH, Data, Rows, with_rows

Vector = tuple[Fraction, ...]
Columns = Mapping[Any, Vector]
BASE: Final = 16
"""More than a row's value counts in any number."""


def effects(
    subject: Subject, sql: str, data: Data, table: str, measures: Collection[str], keys: Sequence[str]
) -> dict[Hashable, Vector]:
    """Of each row of a table, by its key: how often these measures of it count in each number.

    Each row's measures are higher by a power of its own, so that one more answer has the digits of all.
    """
    rows = data[table]
    amounts = {(at, each): BASE**at for at, row in enumerate(rows) for each in measures if row[each] is not None}
    before = _numbers(subject, sql, data)
    after = _numbers(subject, sql, with_rows(data, table, changed_by(rows, amounts)))
    changes = [b - a for a, b in zip(before, after, strict=True)]
    assert all(0 <= each < BASE ** len(rows) for each in changes), (sql, changes)
    return {
        tuple(row[key] for key in keys): tuple(Fraction(each // BASE**at % BASE) for each in changes)
        for at, row in enumerate(rows)
    }


def _numbers(subject: Subject, sql: str, data: Data) -> list[int]:
    """All numbers of an answer, by its keys. What is withheld is zero."""
    answer = subject.answer(sql, NORTH, data)
    values = [at for at, name in enumerate(answer.columns) if name in ("n", "v")]
    rows = sorted(answer.rows, key=lambda row: repr([each for at, each in enumerate(row) if at not in values]))
    return [int(row[at] or 0) for row in rows for at in values]


def isolates(columns: Columns, unit: Callable[[Any], int], least: int) -> bool:
    """Whether a combination of numbers depends on values of fewer units than the floor, and not on none."""
    reduced = _reduced(columns)
    whole = _rank(reduced.values())
    units = sorted({unit(key) for key in columns})
    return any(
        _rank(each for key, each in reduced.items() if unit(key) not in few) < whole
        for few in itertools.combinations(units, min(least - 1, len(units)))
    )


def hiding(columns: Columns, changed: Hashable, others: Collection[Hashable]) -> dict[Hashable, int] | None:
    """Changes of values with which no number changes: of one, and of some others. None if there are none."""
    names = [changed, *others]
    lines = _eliminated([[columns[name][at] for name in reversed(names)] for at in range(len(columns[changed]))])
    solved = dict[Hashable, Fraction]()
    for line in lines:
        place = next(at for at, value in enumerate(line) if value)
        if place == len(others):
            return None
        solved[names[len(others) - place]] = -line[-1] / line[place]
    whole = lcm(*(each.denominator for each in solved.values()))
    return {changed: whole} | {name: int(each * whole) for name, each in solved.items()}


def together(parts: Sequence[Columns]) -> dict[Hashable, Vector]:
    """Columns over the numbers of several answers. Where one has no such value, there are zeros."""
    keys = dict.fromkeys(key for columns in parts for key in columns)
    zeros = [(Fraction(0),) * len(next(iter(columns.values()), ())) for columns in parts]
    return {
        key: tuple(itertools.chain(*(each.get(key, zero) for each, zero in zip(parts, zeros, strict=True))))
        for key in keys
    }


def _reduced(columns: Columns) -> dict[Hashable, Vector]:
    """The columns in rows that are independent and have the same span."""
    lines = _eliminated([list(row) for row in zip(*columns.values(), strict=True)])
    return dict(zip(columns, zip(*lines, strict=True), strict=True)) if lines else dict.fromkeys(columns, ())


def _rank(vectors: Iterable[Sequence[Fraction]]) -> int:
    return len(_eliminated([list(each) for each in vectors]))


def _eliminated(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """The lines that are left of a matrix by Gauss and Jordan: each has its first entry where all others have zero."""
    found = list[list[Fraction]]()
    for line in matrix:
        for known in found:
            line = _less(line, known)
        if any(line):
            found = [_less(known, line) for known in found] + [line]
    return found


def _less(line: list[Fraction], known: list[Fraction]) -> list[Fraction]:
    """A line less so much of another that it is zero where the other begins."""
    place = next(at for at, value in enumerate(known) if value)
    factor = line[place] / known[place]
    return [a - factor * b for a, b in zip(line, known, strict=True)] if factor else line


def changed_by(rows: Sequence[Mapping[str, Any]], amounts: Mapping[tuple[int, str], int]) -> Rows:
    """Rows with some values higher by some amounts, by the row's place and the column."""
    found = [dict(row) for row in rows]
    for (at, column), by in amounts.items():
        found[at][column] += by
    return found

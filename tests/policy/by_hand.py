"""What guards mean, spelt out over rows in Python: no code is shared with what rewrites queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from typing import Literal as OneOf

Value = Any
Function = OneOf["sum", "count", "count_rows", "count_distinct", "min", "max", "middle"]


@dataclass(frozen=True)
class Row:
    """A row of an aggregate's input.

    key: its group. values: the arguments of aggregations by column. units: of each floor, the unit that the row stems
    from, None for none. there: of each floor, whether the row stems from the table at all. bits: of each condition.
    kept: whether no filter leaves the row out. apart: floors of tables that have no row in a group of this key.
    """

    key: tuple[Value, ...]
    values: dict[str, Value]
    units: tuple[Value, ...]
    there: tuple[bool, ...]
    bits: tuple[bool, ...] = ()
    kept: bool = True
    apart: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Question:
    """An aggregation and its floors. refined: the aggregations that have conditions or arguments that may be NULL.

    own: of an aggregation's column, a floor by its place, and the least number of units that contribute. filtered:
    there is a filter, so that those whom it leaves out count where complement says so. written: the places of bits that
    the query's text decides. never: bits that no row has. shared: floors whose units may be in several groups.
    """

    aggregations: tuple[tuple[str, Function, str | None], ...]
    least: tuple[int, ...]
    refined: frozenset[str] = frozenset()
    own: dict[str, tuple[int, int]] = field(default_factory=dict)
    fold: bool = False
    complement: bool = False
    filtered: bool = False
    written: tuple[int, ...] = ()
    never: frozenset[tuple[bool, ...]] = frozenset()
    shared: frozenset[int] = frozenset()


Shown = list[tuple[Value, ...]]


def answer(rows: Sequence[Row], question: Question, grouped: bool) -> Shown:
    """The rows that are shown: keys and values, and with fold whether it is the row of small groups."""
    if question.complement:
        return _with_others(rows, question, grouped)
    if not grouped:
        ok = above(rows, question)
        return [tuple(each if ok else None for each in values(rows, question))]
    groups: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(row.key, []).append(row)
    shown = {key: its for key, its in groups.items() if above(its, question)}
    listed = [(*key, *values(its, question)) for key, its in shown.items()]
    if not question.fold:
        return listed
    small = [row for key, its in groups.items() if key not in shown for row in its]
    if small and not above(small, question):
        sizes = {
            key: max(units(its, floor, question) for floor in range(len(question.least))) for key, its in shown.items()
        }
        joining = [key for key, size in sizes.items() if size == min(sizes.values())]
        small += [row for key in joining for row in shown.pop(key)]
    if small and not (shown and above(small, question)):
        return []
    listed = [(*key, *values(its, question), False) for key, its in shown.items()]
    if small:
        medians = {name for name, function, _ in question.aggregations if function == "middle"}
        found = zip(question.aggregations, values(small, question), strict=True)
        of_small = [None if name in medians else value for (name, _, _), value in found]
        listed.append((*(None for _ in small[0].key), *of_small, True))
    return listed


def _with_others(rows: Sequence[Row], question: Question, grouped: bool) -> Shown:
    """The same where those whom a filter leaves out have to be enough, too."""
    keys = dict.fromkeys(row.key for row in rows if row.kept) if grouped else {(): None}
    found = []
    for key in keys:
        kept = [row for row in rows if row.kept and row.key == key]
        others = [row for row in rows if not row.kept and row.key == key]
        filtered = question.filtered
        ok = above(kept, question) and (
            not filtered or all(units(others, floor, question) >= least for floor, least in enumerate(question.least))
        )
        if ok or not grouped:
            found.append((*key, *(each if ok else None for each in values(kept, question))))
    return found


def units(rows: Sequence[Row], floor: int, question: Question) -> int:
    """How many units of a floor stand behind rows for certain.

    Units that may be in several groups are not counted anew for the row of small groups: there are as many as in that
    of its groups which has most.
    """
    groups: dict[object, set[Value]] = {}
    for row in rows:
        groups.setdefault(row.key if floor in question.shared else None, set()).add(row.units[floor])
    return max((len(found - {None}) for found in groups.values()), default=0)


def above(rows: Sequence[Row], question: Question) -> bool:
    """Whether each floor is kept."""
    return all(units(rows, at, question) >= least or _apart(rows, at) for at, least in enumerate(question.least))


def _apart(rows: Sequence[Row], floor: int) -> bool:
    """Whether keys alone say that no row stems from a table."""
    return bool(rows) and all(floor in row.apart for row in rows)


def values(rows: Sequence[Row], question: Question) -> list[Value]:
    """The values of a group that is shown."""
    return [
        value(rows, function, argument)
        if name not in question.refined or refined(rows, name, argument, question)
        else None
        for name, function, argument in question.aggregations
    ]


def refined(rows: Sequence[Row], name: str, argument: str | None, question: Question) -> bool:
    """Whether enough units contribute, and stand behind each cell of all conditions."""
    least = list(question.least)
    for floor, own in [question.own[name]] if name in question.own else []:
        least[floor] = max(own, least[floor])
    contributing = [row for row in rows if argument is None or row.values[argument] is not None]
    bits = len(rows[0].bits) if rows else 0
    every = tuple(range(bits))
    return all(
        _apart(rows, floor)
        or (
            units(contributing, floor, question) >= own
            and all(units(its, floor, question) >= own for its in _cells(rows, question.written, question))
            and all(
                units(its, floor, question) >= own or not (question.complement or any(row.there[floor] for row in its))
                for its in _cells(rows, every, question)
            )
        )
        for floor, own in enumerate(least)
    )


def _cells(rows: Sequence[Row], places: tuple[int, ...], question: Question) -> list[list[Row]]:
    """The rows of each cell of some conditions, empty ones included but for those that no row can be in."""
    bits = len(rows[0].bits) if rows else 0
    possible = [each for each in product((False, True), repeat=bits) if each not in question.never]
    cells = {tuple(each[place] for place in places) for each in possible}
    return [[row for row in rows if tuple(row.bits[place] for place in places) == cell] for cell in cells]


def value(rows: Sequence[Row], function: Function, argument: str | None) -> Value:
    """An aggregate of SQL."""
    if argument is None:
        return len(rows)
    found = [row.values[argument] for row in rows if row.values[argument] is not None]
    return FUNCTIONS[function](found)


def _middle(found: list[Value]) -> Value:
    listed = sorted(found)
    return (listed[(len(listed) - 1) // 2] + listed[len(listed) // 2]) / 2 if listed else None


FUNCTIONS: dict[Function, Callable[[list[Value]], Value]] = {
    "sum": lambda found: sum(found) if found else None,
    "count": len,
    "count_distinct": lambda found: len(set(found)),
    "min": lambda found: min(found, default=None),
    "max": lambda found: max(found, default=None),
    "middle": _middle,
}

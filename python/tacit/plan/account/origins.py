"""Where what is shown comes from, and how much of that is shown: for programs as data, for people in a clause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tacit.plan.facts.sources import DECIDING, Exposure, Passage, Source, Use, decides, exposure

ORDER: tuple[Exposure, ...] = ("row by row", "one row's value", "each different value", "aggregate")
AVERAGE = "average"
COUNTS = {"count", "count_rows"}
FUNCTIONS = {
    "sum": "the sum of",
    "count": "how many rows have a value in",
    "count_rows": "how many rows there are of",
    "count_distinct": "how many different values there are of",
    "sum_distinct": "the sum of the different values of",
    "min": "the smallest value of",
    "max": "the largest value of",
    "middle": "the middle value of",
    "ranked": "the value at a position in the order of",
    AVERAGE: "the average of",
}
AS_IT_IS = {"cast", "rescale", "group", "single", "limit", "aggregate", *FUNCTIONS}
"""What a value passes without being computed with; others are told as a computation."""
DECIDED_BY: dict[Passage, str] = {
    "filter": "a condition",
    "join": "which rows match",
    "condition": "a CASE",
    "group": "which groups there are",
    "over": "partition or order of a window",
    "sort": "the order",
    "limit": "which rows come first",
}


@dataclass(frozen=True)
class Origin:
    """One source of what is shown, and how much of it.

    owner: None for a kept table of which nothing is known but that. column: None for which rows a table has. shown: of
    its values. decides: it only decides which value is shown, or which rows there are. how: by which part of a query it
    decides. functions: aggregates over it. computed: it is computed with otherwise.
    """

    owner: str | None
    table: str
    column: str | None
    shown: Exposure
    decides: bool
    how: tuple[Passage, ...]
    functions: tuple[str, ...]
    computed: bool


def origins(uses: Iterable[Use], *, rows: bool = False) -> tuple[Origin, ...]:
    """The sources of uses, each once for each exposure. rows: they decide which rows there are."""
    alike: dict[tuple[Source, Exposure, bool], list[Use]] = {}
    for use in uses:
        alike.setdefault((use.source, exposure(use), rows or decides(use)), []).append(use)
    found = [_origin(*key, each) for key, each in alike.items()]
    return tuple(sorted(found, key=lambda each: (each.decides, ORDER.index(each.shown))))


def _origin(source: Source, shown: Exposure, deciding: bool, uses: Sequence[Use]) -> Origin:
    passed = {passage for use in uses for passage in use.through}
    how = _ways(uses) if deciding else ()
    computed = not deciding and bool(passed - AS_IT_IS)
    return Origin(source.owner, source.table, source.column, shown, deciding, how, _functions(passed), computed)


def _ways(uses: Iterable[Use]) -> tuple[Passage, ...]:
    """By which parts of a query a source decides. Rows that it decided on may be grouped later, which adds nothing."""
    ways = {way for use in uses for way in _way({*use.through} & {*DECIDED_BY})}
    return tuple(passage for passage in DECIDED_BY if passage in ways)


def _way(found: set[Passage]) -> set[Passage]:
    return found - {"group"} if found & DECIDING else found


def _functions(passed: Collection[str]) -> tuple[str, ...]:
    """The parts of an average are no functions by themselves, nor is a sum of counts of parts, but in a fraction."""
    counts = COUNTS & {*passed}
    inside = {"sum", *COUNTS} if AVERAGE in passed else {"sum"} if counts and "rounded" not in passed else set()
    return tuple(name for name in FUNCTIONS if name in passed and name not in inside)

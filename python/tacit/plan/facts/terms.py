"""An owner's terms: which exposures of its table it allows, to whom, above which floor, and which programs may compute
on its arrays (docs/rules.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, get_args

Way = Literal["join", "filter", "group", "aggregate", "select", "program"]
"""How a query may use a column. ``select`` shows values row by row and allows every other way of queries. ``program``
is no way of queries."""

WAYS: Final[tuple[Way, ...]] = get_args(Way)

Function = Literal["count", "sum", "avg", "stddev", "count_distinct", "min", "max", "quantile"]
"""What ``aggregate`` may compute of a column."""

FUNCTIONS: Final[tuple[Function, ...]] = get_args(Function)
DEFAULT_FUNCTIONS: Final[frozenset[Function]] = frozenset({"count", "sum", "avg"})

Small = Literal["fold", "drop"]
"""What happens to groups below the floor: added up in one rest row, or left out."""

Differences = Literal["sets", "text", "off"]
"""How the owner's agent looks for what answers tell together: by its rows, by texts alone, or not at all."""


@dataclass(frozen=True)
class ColumnTerms:
    """What an owner allows of one column. Without ways the column is closed.

    functions: for aggregate. least_group: the floor of what the column enters, if above the table's. to: who may see it
    row by row; None for all recipients of the table. partners: "table.column" that it may be joined or compared with
    (``with``); None for any key and no comparison. cuts: the only constants of < <= > >=, in the column's encoding, or
    "month". constants: the only ones of = and IN; None for any.
    """

    ways: frozenset[Way] = frozenset()
    functions: frozenset[Function] = frozenset()
    least_group: int | None = None
    to: frozenset[str] | None = None
    partners: frozenset[str] | None = None
    cuts: tuple[int, ...] | Literal["month"] | None = None
    constants: frozenset[int | bool | str] | None = None

    @property
    def queried(self) -> frozenset[Way]:
        """The ways of queries."""
        return self.ways - {"program"}


@dataclass(frozen=True)
class Terms:
    """What an owner allows of one table, beside the terms of its columns.

    recipients: who may receive what derives from the table. least_group: the floor, in units; None where every open
    column is ``select``. unit: columns that name whom the floor protects; () for the row. until: the last day, in UTC.
    allow: question hashes, and no others; None for any. matches: who may learn which single rows match or are there.
    weights: "table.column" or "table.*" of recipients that may be summed over rows that this table decides.
    questions, refusals: the most answers and refusals of one period; period: its days. complement: units that are not
    counted are protected, too. computing: hashes of the programs that may compute on columns with that way.
    """

    recipients: frozenset[str]
    least_group: int | None = None
    unit: tuple[str, ...] = ()
    small: Small = "fold"
    until: date | None = None
    allow: frozenset[str] | None = None
    matches: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    differences: Differences = "sets"
    questions: int = 100
    refusals: int = 5
    period: int = 30
    complement: bool = False
    computing: frozenset[str] | Literal["any"] = frozenset()


@dataclass(frozen=True)
class ArrayTerms:
    """What an owner allows of an array.

    ways: without ``program`` it is closed. recipients: who may receive what is computed of it. programs: hashes of
    those that may compute on it; None for any. until: the last day, in UTC.
    """

    ways: frozenset[Way] = frozenset()
    recipients: frozenset[str] = frozenset()
    programs: frozenset[str] | None = frozenset()
    until: date | None = None


OPEN_COLUMN: Final = ColumnTerms(frozenset({"select"}), frozenset(FUNCTIONS))
"""The terms of each column of a table that its owner has opened on purpose."""


def open_terms(parties: tuple[str, ...]) -> Terms:
    """The terms of a table that its owner has opened to these parties on purpose."""
    return Terms(frozenset(parties), matches=frozenset(parties), differences="off")


def selecting(table: Terms, column: ColumnTerms) -> frozenset[str]:
    """The parties that may see a column row by row."""
    if "select" not in column.ways:
        return frozenset()
    return table.recipients if column.to is None else column.to

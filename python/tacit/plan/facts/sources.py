"""Where what is shown begins: columns of tables, and the operators between them and what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final
from typing import Literal as OneOf

from tacit.plan.algebra.relations import AggregateFunction, Operator

Passage = (
    Operator
    | AggregateFunction
    | OneOf[
        "scale",  # a product with a constant, or a quotient by one
        "condition",  # of an "if"; its branches pass an "if"
        "filter",
        "join",
        "group",  # GROUP BY and DISTINCT: by these values, or of these rows
        "aggregate",  # all rows become one
        "rows",  # which rows there are has become part of a value: a scalar's, or of a full join's missing side
        "single",  # an aggregate of which each result is of one row at most, and so shows that row's value
        "window",  # a window function: the value of another row, or one computed over some rows, for each row
        "over",  # partition or order of a window: it decides which rows these are
        "sort",
        "limit",
        "program",  # a program on arrays, which may show any element as it is
    ]
)
"""What a value passes on its way to what is shown: an operator of an expression, an aggregate, or a relation's one."""


@dataclass(frozen=True)
class Source:
    """A column of a table; without a column, which rows the table has.

    owner: None for a kept table of which nothing is known but that it was kept.
    """

    owner: str | None
    table: str
    column: str | None


@dataclass(frozen=True)
class Use:
    """A source and what is between it and what is shown, in this order; repeats in a row count once."""

    source: Source
    through: tuple[Passage, ...] = ()

    def json(self) -> dict[str, Any]:
        """As accounts, ledgers and headers of kept tables have it."""
        return {**asdict(self.source), "through": list(self.through)}

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Use:
        """What ``json`` wrote."""
        return cls(Source(said["owner"], said["table"], said["column"]), tuple(said["through"]))


Uses = frozenset[Use]

MOST_WAYS = 16
"""Of one source. Each level of a query can double their number, so that all ways of a deep query are too many."""


def passed(uses: Iterable[Use], by: Passage) -> Uses:
    """The uses after one more operator."""
    return frozenset(each if each.through[-1:] == (by,) else Use(each.source, (*each.through, by)) for each in uses)


Exposure = OneOf["row by row", "each different value", "one row's value", "aggregate"]
"""How much of a source is shown: of each row, each value once, that of one row of many, or a number made of rows."""

OF_ONE_ROW: Final = frozenset[Passage]({"min", "max", "middle", "ranked"})
OF_MANY_ROWS: Final = frozenset[Passage]({"sum", "count", "count_rows", "count_distinct", "sum_distinct", "aggregate"})
DECIDING: Final = frozenset[Passage]({"condition", "filter", "join", "rows", "over", "sort"})


def exposure(use: Use) -> Exposure:
    """How much of its source a use shows at most."""
    passages = frozenset(use.through)
    if passages & OF_MANY_ROWS:
        return "aggregate"
    if passages & OF_ONE_ROW:
        return "one row's value"
    return "each different value" if "group" in passages else "row by row"


def decides(use: Use) -> bool:
    """Whether a source decides which value, or which row, is shown, and is not what that is computed from."""
    return bool(DECIDING & frozenset(use.through))


def few(uses: Uses) -> Uses:
    """The same sources, each exposed as before. More ways of one than ``MOST_WAYS`` are told as few: all operators on
    them, by their names, for each exposure."""
    ways: dict[Source, list[Use]] = {}
    for each in uses:
        ways.setdefault(each.source, []).append(each)
    return frozenset(each for found in ways.values() for each in (found if len(found) <= MOST_WAYS else _merged(found)))


def _merged(ways: Iterable[Use]) -> list[Use]:
    """One use for each exposure: a value row by row is not told as part of a sum."""
    alike: dict[tuple[Exposure, bool], list[Use]] = {}
    for each in ways:
        alike.setdefault((exposure(each), decides(each)), []).append(each)
    return [_one(found[0].source, found) for found in alike.values()]


def _one(source: Source, ways: Iterable[Use]) -> Use:
    return Use(source, tuple(sorted({passage for way in ways for passage in way.through})))


def ordered(uses: Uses) -> tuple[Use, ...]:
    """The uses in the one order in which all parties write them."""
    return tuple(sorted(uses, key=_place))


def _place(use: Use) -> tuple[str, str, str, tuple[Passage, ...]]:
    return use.source.owner or "", use.source.table, use.source.column or "", use.through

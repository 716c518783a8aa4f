"""Where what is shown begins: columns of tables, and the operators between them and what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
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
        "sort",
        "limit",
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


def few(uses: Uses) -> Uses:
    """The same sources. More ways of one than ``MOST_WAYS`` are told as one: all operators on them, by their names."""
    ways: dict[Source, list[Use]] = {}
    for each in uses:
        ways.setdefault(each.source, []).append(each)
    return frozenset(
        each for source, found in ways.items() for each in (found if len(found) <= MOST_WAYS else [_one(source, found)])
    )


def _one(source: Source, ways: Iterable[Use]) -> Use:
    return Use(source, tuple(sorted({passage for way in ways for passage in way.through})))


def ordered(uses: Uses) -> tuple[Use, ...]:
    """The uses in the one order in which all parties write them."""
    return tuple(sorted(uses, key=_place))


def _place(use: Use) -> tuple[str, str, str, tuple[Passage, ...]]:
    return use.source.owner or "", use.source.table, use.source.column or "", use.through

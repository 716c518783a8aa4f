"""Owners' terms of a column in offers: how queries may use it, who may see it, and by which constants it is asked."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final, Literal, cast

from tacit.agent.federation_section import NAME, Section, shown
from tacit.agent.federation_types import encoded_value, text_value, truth_value
from tacit.plan.algebra.types import Boolean, Date, Decimal, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.terms import DEFAULT_FUNCTIONS, FUNCTIONS, WAYS, ColumnTerms, Function, Terms, Way

COLUMN_ENTRIES: Final = ("use", "functions", "least_group", "to", "with", "cuts", "constants")
NEEDED: Final[dict[str, tuple[Way, ...]]] = {
    "functions": ("aggregate",),
    "least_group": ("join", "filter", "group", "aggregate"),
    "to": ("select",),
    "with": ("join", "filter"),
    "cuts": ("filter",),
    "constants": ("filter",),
}
"""The ways of which an entry says more."""
REFERENCE = re.compile(rf"({NAME.pattern})\.({NAME.pattern}|\*)")


def read_column_terms(column: Section, type_: Type, table: Terms, parties: tuple[str, ...]) -> ColumnTerms:
    """What the section of a column says of its use. table: the terms of its table. Raises FederationError."""
    ways = _ways(column)
    for entry, needed in NEEDED.items():
        if column.has(entry) and not ways.intersection(needed):
            advice = f"add {' or '.join(needed)} to use, or remove {entry}"
            raise column.error(f"has {entry}, but use has no {' or '.join(needed)}", advice)
    if column.has("readers"):
        advice = 'write use = ["select"], to = [...] to name who may see it row by row'
        raise column.error("has readers, but its table has no open = true", advice)
    if column.has("to") and "program" in ways:
        advice = "remove program from use, or remove to and list in recipients of the table who may get its results"
        raise column.error("has to, which does not bind programs, and program in use", advice)
    column.not_both("cuts", "constants", "keep one: with cuts only whole intervals are asked for")
    return ColumnTerms(
        ways,
        _functions(column, ways),
        _least_group(column, table),
        _to(column, table, parties),
        _partners(column),
        _cuts(column, type_),
        _constants(column, type_),
    )


def listed(section: Section, entry: str) -> tuple[str, ...] | None:
    """A list of texts that says what alone is allowed; None if the entry is not there."""
    value = section.optional(entry)
    if value is None:
        return None
    names = section.name_list(entry, value)
    if not names:
        raise section.error(f"{entry} is empty", f"list what is allowed, or remove {entry}")
    return names


def check_reference(section: Section, entry: str, names: Collection[str], *, whole: bool) -> None:
    """Refuse names that are no column of a table. whole: whether table.* may stand for all columns."""
    for name in names:
        found = REFERENCE.fullmatch(name)
        if found is None or (found[2] == "*" and not whole):
            advice = "write table.column" + (", or table.* for all its columns and its rows" if whole else "")
            raise section.error(f"{entry} names {name!r}", advice)


def _ways(column: Section) -> frozenset[Way]:
    names = column.names("use", default=())
    column.all_known("use", names, WAYS, "way to use a column")
    return frozenset(cast(Way, name) for name in names)


def _functions(column: Section, ways: frozenset[Way]) -> frozenset[Function]:
    """What is named; the usual ones for aggregate, and all of them for who sees each row."""
    names = listed(column, "functions")
    if names is None:
        if "aggregate" in ways:
            return DEFAULT_FUNCTIONS
        return frozenset(FUNCTIONS) if "select" in ways else frozenset()
    column.all_known("functions", names, FUNCTIONS, "function")
    return frozenset(cast(Function, name) for name in names)


def _least_group(column: Section, table: Terms) -> int | None:
    found = column.count("least_group", least=1)
    if found is not None and table.least_group is None:
        raise column.error("has least_group, and its table has none", "add least_group to the table, too")
    if found is not None and table.least_group is not None and found < table.least_group:
        advice = f"write {table.least_group} or more, or remove it"
        raise column.error(f"least_group is {found}, below the table's {table.least_group}", advice)
    return found


def _to(column: Section, table: Terms, parties: tuple[str, ...]) -> frozenset[str] | None:
    names = listed(column, "to")
    if names is None:
        return None
    column.all_known("to", names, parties, "party")
    for name in names:
        if name not in table.recipients:
            raise column.error(f"to names {name!r}, which is no recipient of the table", "add it to recipients, too")
    return frozenset(names)


def _partners(column: Section) -> frozenset[str] | None:
    names = listed(column, "with")
    if names is None:
        return None
    check_reference(column, "with", names, whole=False)
    return frozenset(names)


def _cuts(column: Section, type_: Type) -> tuple[int, ...] | Literal["month"] | None:
    value = column.optional("cuts")
    if value is None:
        return None
    if not isinstance(type_, Integer | Decimal | Date | Timestamp):
        raise column.error("has cuts, but values of its type are not cut", "remove cuts, or list constants")
    if value == "month":
        if not isinstance(type_, Date | Timestamp):
            raise column.error('cuts is "month", but the type is not DATE or TIMESTAMP', "list where it may be cut")
        return "month"
    cuts = tuple(encoded_value(column, "cuts", each, type_) for each in _values(column, "cuts", value))
    if any(first >= second for first, second in pairwise(cuts)):
        raise column.error("cuts are not ascending", "write each once, the smallest first")
    return cuts


def _constants(column: Section, type_: Type) -> frozenset[int | bool | str] | None:
    value = column.optional("constants")
    if value is None:
        return None
    found = tuple(_constant(column, each, type_) for each in _values(column, "constants", value))
    if len(set(found)) < len(found):
        raise column.error("constants has a value twice", "write it once")
    return frozenset(found)


def _constant(column: Section, value: object, type_: Type) -> int | bool | str:
    match type_:
        case Boolean():
            return truth_value(column, "constants", value)
        case Varchar():
            return text_value(column, "constants", value, type_)
        case Integer() | Decimal() | Date() | Timestamp():
            return encoded_value(column, "constants", value, type_)
    raise column.error("has constants, but values of its type are not compared", "remove constants")


def _values(column: Section, entry: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise column.error(f"{entry} is {shown(value)}", "write a list of values")
    if not value:
        raise column.error(f"{entry} is empty", f"list what is allowed, or remove {entry}")
    return value

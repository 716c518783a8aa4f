"""Owners' terms in offers: to whom a table shows what, above which floor (docs/rules.md).

What no entry allows is closed. A table has terms, or its owner has opened it on purpose with ``open = true``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, cast

from tacit.agent.federation_column_terms import check_reference, listed
from tacit.agent.federation_section import FederationError, Section, either, shown
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.terms import ColumnTerms, Differences, Small, Terms

PROTECTING: Final = ("unit", "small", "complement")
"""Entries that say how a floor protects."""
TABLE_ENTRIES: Final = (
    "recipients", "least_group", *PROTECTING, "until", "allow", "matches", "weights", "differences", "questions",
    "refusals", "period", "programs",
)  # fmt: skip
DIFFERENCES: Final = ("sets", "text", "off")
LISTED = re.compile(r"[pq]:[0-9a-f]{64}")


def is_opened(section: Section, columns: Section) -> bool:
    """Whether a table is opened on purpose. Raises FederationError if it has terms, too, or neither."""
    opened = section.flag("open", default=False)
    used = any("use" in entry for _, entry in columns.items() if isinstance(entry, dict))
    terms = [entry for entry in TABLE_ENTRIES if section.has(entry)] + ["use"] * used
    if opened and terms:
        advice = f"keep open to show every row to all parties, or remove it and keep {terms[0]}"
        raise section.error(f"has open = true and {terms[0]}", advice)
    if not opened and not used:
        advice = (
            "write open = true to show every row to all parties, or use = [...] at each column that queries may use"
        )
        raise section.error("allows no use of any column", advice)
    return opened


def read_terms(section: Section, columns: Iterable[str], parties: tuple[str, ...]) -> Terms:
    """What the section of a table says of all of it. columns: their names. Raises FederationError."""
    allowed = _allow(section)
    terms = Terms(
        recipients=_parties(section, "recipients", parties),
        least_group=section.count("least_group", least=1),
        unit=_unit(section, columns),
        small=cast(Small, section.choice("small", ("fold", "drop"), Terms.small)),
        until=_until(section),
        allow=None if allowed is None else frozenset(each for each in allowed if each.startswith("q:")),
        matches=_parties(section, "matches", parties),
        weights=_weights(section),
        differences=_differences(section),
        questions=_number(section, "questions", Terms.questions),
        refusals=_number(section, "refusals", Terms.refusals),
        period=_number(section, "period", Terms.period),
        complement=section.flag("complement", default=Terms.complement),
        computing=_computing(section, allowed),
    )
    protecting = [entry for entry in PROTECTING if section.has(entry)]
    if terms.least_group is None and protecting:
        raise section.error(f"has {protecting[0]} without least_group", "add least_group = 10, or as many as you want")
    return terms


def check_floor(section: Section, table: Table) -> None:
    """Refuse a floor without a bound of rows, and a table without a floor that is open to more than select."""
    terms = table.terms
    assert terms is not None
    if terms.least_group is not None and table.rows is None:
        advice = "add rows = ..., to which shares are padded, because the exact number would be announced"
        raise section.error("has least_group and no rows", advice)
    for column in table.columns:
        if terms.least_group is None and not _selects_alone(column.terms, terms):
            problem = f"has no least_group, and {column.field.name} is open to more than select"
            raise section.error(problem, "add least_group = 10, or as many as you want")


def check_references(tables: Iterable[Table], offer: Callable[[str], Path]) -> None:
    """Refuse terms that name a table or a column that nobody offers. offer: the file of an owner."""
    tables = tuple(tables)
    known = {table.name: [column.field.name for column in table.columns] for table in tables}
    for table in tables:
        for place, entry, name in _references(table):
            if found := _unknown(name, known):
                problem, advice = found
                raise FederationError(offer(table.owner), f"[{place}]", f"{entry} names {name!r}, {problem}", advice)


def _references(table: Table) -> Iterator[tuple[str, str, str]]:
    """Where, in which entry, which columns of tables are named."""
    place = f"tables.{table.name}"
    for name in sorted(table.terms.weights) if table.terms else ():
        yield place, "weights", name
    for column in table.columns:
        for name in sorted(column.terms.partners or ()):
            yield f"{place}.columns.{column.field.name}", "with", name


def _unknown(name: str, known: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """What is wrong with the name of a column of a table, and what to do."""
    table, _, column = name.partition(".")
    if table not in known:
        return f"but nobody offers a table {table}", _perhaps(table, known)
    if column not in (*known[table], "*"):
        return f"but {table} has no column {column}", _perhaps(column, known[table])
    return None


def _perhaps(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known := tuple(known), n=1)
    return f"perhaps you mean {near[0]}" if near else f"write {either(known)}"


def _selects_alone(column: ColumnTerms, table: Terms) -> bool:
    """Whether whoever may use a column may see it row by row."""
    everybody = column.to is None or column.to >= table.recipients
    return not column.queried or column.queried == {"select"} or ("select" in column.ways and everybody)


def _parties(section: Section, entry: str, parties: tuple[str, ...]) -> frozenset[str]:
    names = section.names(entry, default=())
    section.all_known(entry, names, parties, "party")
    return frozenset(names)


def _unit(section: Section, columns: Iterable[str]) -> tuple[str, ...]:
    value = section.optional("unit")
    if value is None:
        return ()
    names = section.name_list("unit", [value] if isinstance(value, str) else value)
    if not names:
        raise section.error("unit is empty", "name the columns that tell whom the floor protects, or remove unit")
    section.all_known("unit", names, columns, "column of the table")
    return names


def _until(section: Section) -> date | None:
    value = section.optional("until")
    if value is not None and type(value) is not date:
        raise section.error(f"until is {shown(value)}", "write a date without quotes, for example 2027-01-31")
    return value


def _allow(section: Section) -> frozenset[str] | None:
    names = listed(section, "allow")
    for name in names or ():
        if not LISTED.fullmatch(name):
            advice = "write q: for a question or p: for a program, and the 64 hexadecimal digits of its hash"
            raise section.error(f"allow names {name!r}, which is no question and no program", advice)
    return None if names is None else frozenset(names)


def _computing(section: Section, allowed: frozenset[str] | None) -> frozenset[str] | Literal["any"]:
    """The programs that may compute on columns."""
    listed_ = frozenset(each for each in allowed or () if each.startswith("p:"))
    opened = section.optional("programs")
    if opened not in (None, "any"):
        raise section.error(f"programs is {shown(opened)}", f"write {either(['any'])}, or list programs in allow")
    if opened and listed_:
        raise section.error('has programs = "any", and programs in allow', "keep one of the two")
    return "any" if opened else listed_


def _weights(section: Section) -> frozenset[str]:
    names = section.names("weights", default=())
    check_reference(section, "weights", names, whole=True)
    return frozenset(names)


def _differences(section: Section) -> Differences:
    if section.optional("differences") == "inside":
        raise section.error('differences = "inside" is not available yet', f"write {either(DIFFERENCES)}")
    return cast(Differences, section.choice("differences", DIFFERENCES, Terms.differences))


def _number(section: Section, entry: str, default: int) -> int:
    found = section.count(entry, least=1)
    return default if found is None else found

"""Owners' terms in offers: whatever is written is read."""

from __future__ import annotations

from dataclasses import fields
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.plan.facts.terms import (
    DEFAULT_FUNCTIONS,
    FUNCTIONS,
    WAYS,
    ColumnTerms,
    Terms,
)

from .offers import PARTIES, Q, people

names = st.frozensets(st.sampled_from(PARTIES), min_size=1)
ways = st.frozensets(st.sampled_from(WAYS))


P = "p:" + "0123456789abcdef" * 4


@st.composite
def column_terms(draw: st.DrawFn, recipients: frozenset[str]) -> ColumnTerms:
    """Terms of a DATE column that an offer can write."""
    found = draw(ways)
    given = {
        "functions": ("aggregate",), "least_group": ("join", "filter", "group", "aggregate"), "to": ("select",),
        "partners": ("join", "filter"), "cuts": ("filter",), "constants": ("filter",),
    }  # fmt: skip
    values: dict[str, st.SearchStrategy[Any]] = {
        "functions": st.frozensets(st.sampled_from(FUNCTIONS), min_size=1),
        "least_group": st.integers(10, 99),
        "to": st.frozensets(st.sampled_from(sorted(recipients)), min_size=1),
        "partners": st.frozensets(st.sampled_from(["customers.ssn", "people.x"]), min_size=1),
        "cuts": st.sampled_from(["month", (-1,), (-700000, 3, 9)]),
        "constants": st.frozensets(st.integers(-700000, 2900000), min_size=1, max_size=4),
    }
    chosen = {name: draw(values[name]) for name, needed in given.items() if found & {*needed} and draw(st.booleans())}
    if "cuts" in chosen:
        chosen.pop("constants", None)
    if "program" in found:
        chosen.pop("to", None)
    usual = DEFAULT_FUNCTIONS if "aggregate" in found else frozenset(FUNCTIONS if "select" in found else ())
    return ColumnTerms(found, **({"functions": usual} | chosen))


@st.composite
def offers(draw: st.DrawFn) -> tuple[Terms, ColumnTerms]:
    """Terms of a table with a floor and of its column x, a DATE."""
    recipients = draw(names)
    questions = draw(st.none() | st.just(frozenset({Q})))
    programs: tuple[object, ...] = ("any", frozenset(), *([frozenset({P})] if questions else []))
    terms = Terms(
        recipients,
        draw(st.integers(1, 10)),
        draw(st.sampled_from([(), ("x",)])),
        draw(st.sampled_from(["fold", "drop"])),
        draw(st.none() | st.dates()),
        questions,
        draw(st.frozensets(st.sampled_from(PARTIES))),
        draw(st.frozensets(st.sampled_from(["customers.*", "customers.ssn", "people.x"]))),
        draw(st.sampled_from(["sets", "text", "off"])),
        draw(st.integers(1, 999)),
        draw(st.integers(1, 999)),
        draw(st.integers(1, 999)),
        draw(st.booleans()),
        draw(st.sampled_from(programs)),
    )
    return terms, draw(column_terms(recipients))


def toml(value: object) -> str:
    """A term as an offer writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case date():
            return value.isoformat()
        case frozenset() | tuple():
            return f"[{', '.join(toml(each) for each in value)}]"
        case _:
            return str(value)


def days(value: object) -> object:
    """Encoded dates as dates."""
    if isinstance(value, int):
        return date(1970, 1, 1) + timedelta(days=value)
    return type(value)(days(each) for each in value) if isinstance(value, tuple | frozenset) else value


def written(terms: Terms, column: ColumnTerms) -> str:
    """An offer with these terms."""
    general = {each.name: getattr(terms, each.name) for each in fields(terms)}
    programs = general.pop("computing")
    if programs == "any":
        general["programs"] = programs
    elif programs:
        general["allow"] |= programs
    lines = [f"{name} = {toml(value)}" for name, value in general.items() if value not in (None, ())]
    special: dict[str, object] = {
        "use": column.ways, "functions": column.functions if "aggregate" in column.ways else None,
        "least_group": column.least_group, "to": column.to, "with": column.partners, "cuts": days(column.cuts),
        "constants": days(column.constants),
    }  # fmt: skip
    entries = ", ".join(f"{name} = {toml(value)}" for name, value in special.items() if value is not None)
    return "\n".join(["[tables.people]", "rows = 99", *lines, f'columns.x = {{ type = "DATE", {entries} }}'])


@settings(max_examples=150, deadline=None)
@given(offers())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, offer: tuple[Terms, ColumnTerms]) -> None:
    terms, column = offer
    found = people(tmp_path_factory.mktemp("offer"), written(terms, column))
    assert (found.terms, found.columns[0].terms) == (terms, column)
    assert found.columns[0].readers == (
        (column.to or terms.recipients) - {"south"} if "select" in column.ways else set()
    )

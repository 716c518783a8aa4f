"""Owners' terms in offers: what each entry means."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from tacit.agent.federation_column_terms import COLUMN_ENTRIES
from tacit.agent.federation_setup import OFFER
from tacit.agent.federation_terms import TABLE_ENTRIES
from tacit.plan.account.terms_text import Clause, table_clauses
from tacit.plan.facts.terms import (
    DEFAULT_FUNCTIONS,
    FUNCTIONS,
    OPEN_COLUMN,
    ArrayTerms,
    ColumnTerms,
    Terms,
    open_terms,
)

from .offers import EVERYTHING, PARTIES, SOUTH, Q, load, people


def test_every_entry(tmp_path: Path) -> None:
    found = people(tmp_path, EVERYTHING)
    assert found.terms == Terms(
        frozenset({"north", "west"}), 10, ("ssn", "city"), "drop", date(2027, 1, 31), frozenset({Q}),
        frozenset({"north"}), frozenset({"customers.revenue", "customers.*"}), "text", 7, 1, 365, True, "any",
    )  # fmt: skip
    assert [column.terms for column in found.columns] == [
        ColumnTerms(frozenset({"join"}), partners=frozenset({"customers.ssn", "people.ssn"})),
        ColumnTerms(frozenset({"aggregate", "filter"}), frozenset({"max"}), 20, cuts=(250,)),
        ColumnTerms(
            frozenset({"filter", "group", "select"}), frozenset(FUNCTIONS), to=frozenset({"west"}),
            constants=frozenset({"Oslo", "Bodø"}),
        ),
        ColumnTerms(frozenset({"filter"}), cuts="month"),
        ColumnTerms(),
    ]  # fmt: skip
    entries = set(re.findall(r"(\w+) = ", EVERYTHING))
    assert entries >= {*TABLE_ENTRIES, *COLUMN_ENTRIES}


def test_defaults_are_closed(tmp_path: Path) -> None:
    least = '[tables.people]\ncolumns.x = { type = "DATE", use = [] }\ncolumns.y = "DATE"'
    found = people(tmp_path, least)
    assert found.terms == Terms(frozenset())
    assert [column.terms for column in found.columns] == [ColumnTerms(), ColumnTerms()]


def test_usual_functions(tmp_path: Path) -> None:
    pay = people(tmp_path, SOUTH).columns[2].terms
    assert pay == ColumnTerms(frozenset({"aggregate"}), DEFAULT_FUNCTIONS)


def test_a_table_opened_on_purpose(tmp_path: Path) -> None:
    customers = load(tmp_path, SOUTH).catalog.tables[0]
    assert customers.terms == open_terms(PARTIES)
    assert {column.terms for column in customers.columns} == {OPEN_COLUMN}
    assert [column.readers for column in customers.columns] == [{"west"}, frozenset()]


def test_without_a_floor_rows_are_shown(tmp_path: Path) -> None:
    text = (
        '[tables.people]\nrecipients = ["north"]\ncolumns.x = { type = "DATE", use = ["select"] }\ncolumns.y = "DATE"'
    )
    found = people(tmp_path, text)
    assert found.terms == Terms(frozenset({"north"}))
    assert found.columns[0].terms == OPEN_COLUMN


def test_readers_are_those_who_may_see_each_row(tmp_path: Path) -> None:
    found = people(tmp_path, EVERYTHING.replace('["west", "north"]', '["west", "north", "south"]'))
    assert [column.readers for column in found.columns] == [set(), set(), {"west"}, set(), set()]
    found = people(tmp_path, EVERYTHING.replace(', to = ["west"]', ""))
    assert found.columns[2].readers == {"north", "west"}


CUTS = [
    ("age", "[18, 30, 65]", (18, 30, 65)),
    ("age", "[0]", (0,)),
    ("pay", '[-10, "0.5", 0.75]', (-1000, 50, 75)),
    ("seen", '[1969-12-31, "1970-01-02"]', (-1, 1)),
    ("seen", '"month"', "month"),
]


@pytest.mark.parametrize(("column", "cuts", "expected"), CUTS)
def test_cuts_are_encoded_as_bounds_are(tmp_path: Path, column: str, cuts: str, expected: object) -> None:
    found = people(tmp_path, with_entry(column, f"cuts = {cuts}"))
    assert expected in [each.terms.cuts for each in found.columns if each.field.name == column]


CONSTANTS: list[tuple[str, str, set[int | bool | str]]] = [
    ("age", "[37, 38]", {37, 38}),
    ("pay", '["1.25"]', {125}),
    ("seen", "[1970-01-11]", {10}),
    ("vip", "[true]", {True}),
    ("city", '["Oslo", ""]', {"Oslo", ""}),
]


@pytest.mark.parametrize(("column", "constants", "expected"), CONSTANTS)
def test_constants_are_of_the_columns_type(
    tmp_path: Path, column: str, constants: str, expected: set[int | bool | str]
) -> None:
    found = people(tmp_path, with_entry(column, f"constants = {constants}"))
    (terms,) = [each.terms for each in found.columns if each.field.name == column]
    assert terms.constants == frozenset(expected)
    assert {type(each) for each in terms.constants or ()} == {type(each) for each in expected}


MOMENT_CUTS = [
    ('cuts = "month"', "month", None),
    ('cuts = [1969-12-31T23:59:59.5, "1970-01-02"]', (-500_000, 86_400_000_000), None),
    ('constants = [1970-01-01, "1970-01-01 00:00:00.000001"]', None, frozenset({0, 1})),
]


@pytest.mark.parametrize(("entry", "cuts", "constants"), MOMENT_CUTS)
def test_a_timestamp_has_cuts_and_constants_as_a_date_has(
    tmp_path: Path, entry: str, cuts: object, constants: object
) -> None:
    found = people(tmp_path, with_entry("seen", entry).replace('type = "DATE"', 'type = "TIMESTAMP"'))
    terms = next(each.terms for each in found.columns if each.field.name == "seen")
    assert (terms.cuts, terms.constants) == (cuts, constants)


def with_entry(column: str, entry: str) -> str:
    """South's offer with a further entry of a column, which may be asked for by constants."""
    line = next(line for line in SOUTH.splitlines() if line.startswith(f"{column} = "))
    used = re.sub(r"use = \[.*\]", lambda use: use[0] if "filter" in use[0] else f'{use[0][:-1]}, "filter"]', line)
    return SOUTH.replace(line, used.replace(" }", f", {entry} }}"))


def test_the_offer_that_a_party_begins_with(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in OFFER.format(name="south").splitlines()]
    written = "\n".join(line for line in lines if re.match(r"\[|\w+(\.\w+)? = ", line))
    found = people(tmp_path, written)
    assert found.terms == Terms(frozenset({"south"}), 10, ("id",))
    assert [sorted(column.terms.ways) for column in found.columns] == [["join"], ["filter", "group"]]
    (array,) = load(tmp_path, written).catalog.arrays
    assert array.terms == ArrayTerms(frozenset({"program"}), frozenset({"south"}), frozenset())


def test_a_table_that_lists_programs_alone_is_open_to_no_question(tmp_path: Path) -> None:
    listed = f"p:{'0' * 64}"
    found = people(tmp_path, EVERYTHING.replace('programs = "any"\n', "").replace(f'"{Q}"', f'"{listed}"'))
    assert found.terms is not None
    assert (found.terms.allow, found.terms.computing) == (frozenset(), frozenset({listed}))
    assert Clause("questions", "No question: programs alone are listed.") in table_clauses(found, PARTIES)

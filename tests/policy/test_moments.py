"""Owners' rules of columns with moments: they are asked by constants as days are, whatever a query makes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from tacit.plan.account.terms_text import table_clauses
from tacit.plan.algebra.moments import DAY, read_moment
from tacit.plan.algebra.types import Date, Decimal, Field, Integer, Timestamp
from tacit.plan.facts.catalog import Catalog, Column
from tacit.plan.facts.terms import ColumnTerms, Way
from tacit.plan.physical.placed import InputStep, ReleaseStep
from tacit.sql import compile_query

from . import corpus, tables
from .owners import PARTIES, PEOPLE, SINCE, allowed, column, refusal, terms, with_table
from .product import Product
from .reference.offers import texts_of

FIRST, LAST = SINCE[0] * DAY, SINCE[1] * DAY + DAY - 1


def moment(text: str) -> int:
    """An encoded moment."""
    found = read_moment(text)
    assert found is not None
    return found


def with_moments(allowed_of_it: ColumnTerms) -> Catalog:
    """The owners' federation, whose people are there since a moment."""
    since = column("since", Timestamp(FIRST, LAST), allowed_of_it)
    columns = tuple(since if each.field.name == "since" else each for each in PEOPLE.columns)
    return with_table(replace(PEOPLE, columns=columns))


MONTHS = with_moments(terms("filter", cuts="month"))
NOON = with_moments(terms("filter", cuts=(moment("2023-03-15 12:00:00"),)))
NAMED = with_moments(terms("filter", constants=[moment("2023-03-15 12:00:00.5"), moment("2023-03-16")]))
GROUPED = with_moments(terms("filter", "group"))


def asked(condition: str) -> str:
    return f"SELECT COUNT(*) FROM people WHERE {condition}"


ALLOWED = [
    (MONTHS, "since >= TIMESTAMP '2023-03-01 00:00:00' AND since < '2023-04-01'"),
    (MONTHS, "since < DATE '2023-04-01'"),
    (MONTHS, "since <= TIMESTAMP '2023-03-31 23:59:59.999999'"),
    (MONTHS, "since > '2023-03-31 23:59:59.999999'"),
    (MONTHS, "CAST(since AS DATE) <= DATE '2023-03-31'"),
    (MONTHS, "DATE '2023-04-01' <= CAST(since AS DATE)"),
    (MONTHS, "since < '1999-07-07 01:02:03'"),
    (NOON, "since >= TIMESTAMP '2023-03-15 12:00:00'"),
    (NAMED, "since = TIMESTAMP '2023-03-15 12:00:00.5'"),
    (NAMED, "since IN ('2023-03-15 12:00:00.500000', DATE '2023-03-16')"),
    (GROUPED, "CAST(since AS DATE) = DATE '2023-03-15'"),
]


@pytest.mark.parametrize(("catalog", "condition"), ALLOWED)
def test_conditions_that_the_owner_allows(catalog: Catalog, condition: str) -> None:
    assert refusal(asked(condition), catalog) is None


REFUSED = [
    (MONTHS, "since >= TIMESTAMP '2023-03-01 00:00:00.000001'"),
    (MONTHS, "since >= '2023-03-02'"),
    (MONTHS, "since <= TIMESTAMP '2023-04-01 00:00:00'"),
    (MONTHS, "since > DATE '2023-03-01'"),
    (MONTHS, "since = TIMESTAMP '2023-03-01 00:00:00'"),
    (MONTHS, "CAST(since AS DATE) = DATE '2023-03-01'"),
    (MONTHS, "CAST(since AS DATE) < DATE '2023-03-02'"),
    (MONTHS, "CAST(since AS DATE) = CAST('2023-03-01' AS DATE) + 0"),
    (MONTHS, "CAST(since AS DATE) + 1 < DATE '2023-03-02'"),
    (MONTHS, "CAST(CAST(since AS DATE) AS TIMESTAMP) >= '2023-03-15'"),
    (MONTHS, "CAST(CAST(since AS DATE) AS TIMESTAMP) >= CAST(DATE '2023-03-15' AS TIMESTAMP)"),
    (MONTHS, "CASE WHEN TRUE THEN since ELSE since END >= '2023-03-15'"),
    (MONTHS, "COALESCE(since, TIMESTAMP '2023-03-15 00:00:00') = '2023-03-15'"),
    (NOON, "since >= TIMESTAMP '2023-03-15 12:00:00.000001'"),
    (NOON, "CAST(since AS DATE) >= DATE '2023-03-15'"),
    (NAMED, "since = TIMESTAMP '2023-03-15 12:00:00'"),
    (NAMED, "since >= TIMESTAMP '2023-03-16 00:00:00'"),
    (NAMED, "CAST(since AS DATE) = DATE '2023-03-16'"),
]


@pytest.mark.parametrize(("catalog", "condition"), REFUSED)
def test_conditions_that_the_owner_does_not_allow(catalog: Catalog, condition: str) -> None:
    found = refusal(asked(condition), catalog)
    assert found is not None
    assert found.problem.rule == ("constants" if catalog == NAMED else "cuts")
    assert found.problem.column == "since"


def test_a_refusal_names_the_nearest_cuts_and_constants() -> None:
    found = refusal(asked("since >= '2023-03-15 08:00:00'"), MONTHS)
    assert found is not None
    assert str(found) == (
        "refused by south: cuts: people.since may be cut at months, and tested in no other way (line 1, column 35); "
        "write since >= CAST('2023-03-01 00:00:00' AS TIMESTAMP)."
    )
    found = refusal(asked("since = DATE '2023-03-15'"), NAMED)
    assert found is not None
    constants = "2023-03-15 12:00:00.5, 2023-03-16 00:00:00"
    assert f"people.since may be equal to {constants}, and tested in no other way" in str(found)


def test_days_of_moments_are_groups_of_their_column() -> None:
    query = "SELECT CAST(since AS DATE) AS day, COUNT(*) AS n FROM people GROUP BY CAST(since AS DATE)"
    assert refusal(query, GROUPED) is None
    found = refusal(query, MONTHS)
    assert found is not None
    assert found.problem.column == "since"


def test_a_query_for_days_opens_no_moment() -> None:
    """The days of a table's moments are all that its owner shares."""
    shown = with_moments(terms("select"))
    plan = compile_query("SELECT seat, CAST(since AS DATE) AS day FROM people", shown, ("north",))
    released = next(step for step in plan.steps if isinstance(step, ReleaseStep))
    assert {each.name: type(each.type) for each in released.fields} == {"seat": Integer, "day": Date}
    joined = (
        "SELECT c.segment, CAST(p.since AS DATE) AS d, COUNT(*) AS n FROM customers c JOIN people p ON c.ssn = p.ssn "
    )
    plan = compile_query(f"{joined} GROUP BY c.segment, CAST(p.since AS DATE)", GROUPED, ("north",))
    shared = {each.name for step in plan.steps if isinstance(step, InputStep) for each in step.operator.columns}
    assert "since_day" in shared
    assert "since" not in shared


def test_a_day_beside_a_moment_is_cut_where_it_is() -> None:
    """A date is below 12:00 of a day if it is that day or before, so that the cut is at the day after."""
    catalog = with_table(PEOPLE)
    assert refusal(asked("since < TIMESTAMP '2023-03-31 12:00:00'"), catalog) is None
    assert refusal(asked("since < TIMESTAMP '2023-03-01 12:00:00'"), catalog) is not None
    assert refusal(asked("CAST(since AS TIMESTAMP) >= '2023-02-28 00:00:01'"), catalog) is None


def test_conditions_that_exclude_each_other_need_no_guard_of_their_own() -> None:
    both = "SELECT SUM(CASE WHEN since < '2023-01-01' THEN points END) AS a, SUM(CASE WHEN since >= '2023-01-01' "
    assert allowed(f"{both}THEN points END) AS b FROM people", GROUPED).guards


def test_the_offer_in_sentences_names_moments() -> None:
    (people,) = (each for each in NAMED.tables if each.name == "people")
    text = " ".join(clause.text for clause in table_clauses(people, PARTIES))
    assert "2023-03-15 12:00:00.5" in text


def test_the_offer_in_sentences_tells_of_rounding() -> None:
    open_ways: tuple[tuple[Way, ...], ...] = (("aggregate",), ("select",), ())
    columns = [
        Column(Field(f"x{at}", Decimal(8, 4, 0, 99), False), terms=terms(*ways), rounded=True)
        for at, ways in enumerate(open_ways)
    ]
    clauses = {each.subject: each.text for each in table_clauses(replace(PEOPLE, columns=tuple(columns)), PARTIES)}
    said = " Its values are rounded to 4 digits after the point."
    assert [clauses[f"column x{at}"].endswith(said) for at in range(3)] == [True, True, False]


BELOW = [
    "since < TIMESTAMP '{} 12:00:00'",
    "CAST(since AS DATE) <= DATE '{}'",
    "CAST(since AS DATE) + 1 <= DATE '{}' + 1",
    "CAST(CAST(since AS DATE) AS TIMESTAMP) < TIMESTAMP '{} 12:00:00'",
]


@pytest.mark.parametrize("condition", BELOW)
def test_two_questions_that_differ_in_one_day_of_one_person_are_refused(tmp_path: Path, condition: str) -> None:
    offers = texts_of(corpus.FEDERATION)
    since = 'since = { type = "DATE", min = 2020-01-01, max = 2026-12-31, use = ["filter"], cuts = "month" }'
    assert since in offers["south"]
    asked = since.replace("DATE", "TIMESTAMP").replace(', cuts = "month"', "").replace('"filter"', '"filter", "group"')
    product = Product({**offers, "south": offers["south"].replace(since, asked)}, tmp_path)
    data = tables.federation_rows()
    days = sorted({each["since"] for each in data["people"]})
    single = next(day for day in days[50:] if sum(each["since"] == day for each in data["people"]) < 10)
    before = single - timedelta(days=1)
    questions = [f"SELECT COUNT(*) AS n FROM people WHERE {condition.format(day)}" for day in (single, before)]
    assert product.checked(questions, ("north",), data).rule == "differences"
    assert product.checked(questions[:1] * 2, ("north",), data).rule == ""


def test_groups_of_days_below_the_floor_are_not_shown(tmp_path: Path) -> None:
    offers = texts_of(corpus.FEDERATION)
    asked = offers["south"].replace('since = { type = "DATE"', 'since = { type = "TIMESTAMP"')
    asked = asked.replace('use = ["filter"], cuts = "month" }', 'use = ["group"] }')
    product = Product({**offers, "south": asked}, tmp_path)
    data = dict(tables.federation_rows())
    many = {number: 12 if number == 1 else 3 for number in range(1, 6)}
    times = [datetime(2024, 1, day, at) for day, people in many.items() for at in range(people)]
    data["people"] = [{**row, "since": at} for row, at in zip(data["people"], times, strict=False)]
    shown = product.answer("SELECT CAST(since AS DATE) AS d, COUNT(*) AS n FROM people GROUP BY 1", ("north",), data)
    found = {row[0]: row[1] for row in shown.rows}
    assert found[date(2024, 1, 1)] == 12
    assert {day for day in found if day is not None} == {date(2024, 1, 1)}

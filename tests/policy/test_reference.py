"""The reference has the properties that it is to judge the product by, and the searches find what contradicts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import pytest

from . import plain
from .properties import checks, worlds
from .properties.floors import too_few
from .subjects import Reference

LEASTS = (2, 3)


def reference(least: int) -> Reference:
    return Reference(worlds.offers(least))


def none(found: Iterable[tuple[object, ...]]) -> bool:
    """Whether a search finds nothing; what it finds stands in the failure."""
    first = list(islice(found, 2))
    assert first == []
    return True


def test_the_questions_of_the_world_are_allowed_and_answered() -> None:
    subject = reference(2)
    assert none(checks.refused(subject))
    for sql in checks.QUESTIONS:
        found = [*worlds.worlds(1, 20), *worlds.worlds(1, 20, most=14)]
        answers = [subject.answer(sql, worlds.NORTH, data).ordinary() for data in found]
        assert any(None not in row for rows in answers for row in rows), sql


def test_without_rules_answers_are_those_of_one_database() -> None:
    subject = Reference(worlds.opened())
    for data in worlds.worlds(8, 8):
        database = plain.database(subject.offers, data)
        for sql in checks.QUESTIONS:
            answer = subject.answer(sql, worlds.NORTH, data)
            assert "rest" not in answer.columns
            assert plain.same(answer.rows, database.sql(sql).fetchall()), sql


@pytest.mark.parametrize("least", LEASTS)
def test_closed_columns_never_show(least: int) -> None:
    assert none(checks.closed_columns(reference(least), 1, 10))


@pytest.mark.parametrize("least", LEASTS)
def test_keys_that_are_only_joined_may_have_any_names(least: int) -> None:
    assert none(checks.joined_keys(reference(least), checks.QUESTIONS, 2, 25))


@pytest.mark.parametrize("least", LEASTS)
def test_enough_units_stand_behind_what_is_shown(least: int) -> None:
    assert none(too_few(worlds.offers(least), checks.QUESTIONS, 3, 40))


@pytest.mark.parametrize(
    ("table", "questions"), [("people", worlds.PEOPLE_QUESTIONS), ("orders", worlds.ORDER_QUESTIONS)]
)
def test_values_of_few_units_hide_behind_those_of_others(table: str, questions: tuple[str, ...]) -> None:
    simple = [each for each in questions if "p.city, SUM(o.amount)" not in each]
    assert none(checks.isolated_values(reference(2), simple, table, 2, 5, 4))


def test_presence_of_a_unit_is_never_certain_where_membership_is_sensitive() -> None:
    assert none(checks.certain_members(reference(2), worlds.MEMBER_QUESTIONS, 2, 6))


def compared(attribute: str) -> tuple[Reference, Reference]:
    """References under offers, and under ones with an attribute that allows less."""
    return Reference(worlds.looser(attribute, 2)), Reference(worlds.tighter(attribute, 2))


@pytest.mark.parametrize("attribute", worlds.TIGHTER)
def test_a_tighter_offer_allows_and_shows_no_more(attribute: str) -> None:
    tighter = Reference(worlds.tighter(attribute, 2))
    assert none(checks.looser_when_tighter(Reference(worlds.looser(attribute, 2)), tighter, checks.QUESTIONS, 4, 15))


def test_what_is_printed_depends_on_no_data() -> None:
    assert none(checks.printed_lines(reference(2), checks.QUESTIONS, 5, 20))


@pytest.mark.nightly
@pytest.mark.parametrize("least", LEASTS)
@pytest.mark.parametrize(
    ("table", "questions"), [("people", worlds.PEOPLE_QUESTIONS), ("orders", worlds.ORDER_QUESTIONS)]
)
def test_values_hide_in_many_worlds(table: str, questions: tuple[str, ...], least: int) -> None:
    assert none(checks.isolated_values(reference(least), questions, table, least, 11, 25))


@pytest.mark.nightly
@pytest.mark.parametrize("least", LEASTS)
def test_enough_units_stand_behind_what_is_shown_in_many_worlds(least: int) -> None:
    assert none(too_few(worlds.offers(least), checks.QUESTIONS, 13, 1000))


@pytest.mark.nightly
@pytest.mark.parametrize(("least", "keys"), [(2, 7), (3, 7)])
def test_presence_is_never_certain_among_more_keys(least: int, keys: int) -> None:
    assert none(checks.certain_members(reference(least), worlds.MEMBER_QUESTIONS, least, keys))


@pytest.mark.nightly
@pytest.mark.parametrize("attribute", worlds.TIGHTER)
def test_tighter_offers_in_many_worlds(attribute: str) -> None:
    tighter = Reference(worlds.tighter(attribute, 2))
    assert none(checks.looser_when_tighter(Reference(worlds.looser(attribute, 2)), tighter, checks.QUESTIONS, 14, 300))


def broken(*changes: tuple[str, str]) -> Reference:
    """A reference under offers that protect less, which is judged as if they protected all."""
    offers = worlds.offers(2)
    for before, after in changes:
        assert any(before in text for text in offers.values())
        offers = {owner: text.replace(before, after) for owner, text in offers.items()}
    return Reference(offers)


DIFFERENCE = (
    "SELECT (SELECT SUM(salary) FROM people) - (SELECT SUM(salary) FROM people WHERE vip) AS d"
    " FROM (SELECT COUNT(*) AS n FROM customers) c"
)
"""What no floor hides: it is for the owner's agent, who knows both sets, to refuse it."""

UNGUARDED = broken(("least_group = 2", "least_group = 1"))


@pytest.mark.parametrize(
    "found",
    [
        checks.isolated_values(UNGUARDED, worlds.PEOPLE_QUESTIONS[:4], "people", 2, 5, 10),
        checks.isolated_values(UNGUARDED, worlds.ORDER_QUESTIONS[:4], "orders", 2, 5, 10),
        checks.certain_members(broken(("complement = true", "")), worlds.MEMBER_QUESTIONS, 2, 6),
        checks.looser_when_tighter(reference(3), reference(2), checks.QUESTIONS, 4, 15),
        checks.isolated_values(reference(2), [DIFFERENCE], "people", 2, 3, 15),
        checks.refused(broken(('use = ["join"]', 'use = ["group"]'))),
    ],
    ids=["values", "values of orders", "presence", "looser", "differences", "refused"],
)
def test_the_searches_find_what_contradicts_the_properties(found: Iterator[tuple[object, ...]]) -> None:
    assert next(found, None) is not None

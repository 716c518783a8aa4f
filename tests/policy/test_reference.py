"""The reference has the properties that it is to judge the product by, and the searches find what contradicts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from . import plain
from .properties import checks, worlds
from .properties.floors import too_few
from .subjects import Reference

LEASTS = (2, 3)
SHOWN = (*checks.QUESTIONS, *worlds.UNION_QUESTIONS, *worlds.CONDITION_QUESTIONS)
"""Questions of which each row that is shown is looked into."""


def reference(least: int) -> Reference:
    return Reference(worlds.offers(least))


def none(found: Iterable[tuple[object, ...]]) -> bool:
    """Whether a search finds nothing; what it finds stands in the failure."""
    first = list(islice(found, 2))
    assert first == []
    return True


def test_the_questions_of_the_world_are_allowed_and_answered() -> None:
    subject = reference(2)
    assert none(checks.refused(subject, SHOWN))
    for sql in (*checks.QUESTIONS, *worlds.UNION_QUESTIONS):
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
    assert none(too_few(worlds.offers(least), SHOWN, 3, 40))


@pytest.mark.parametrize("least", LEASTS)
def test_nobody_is_told_from_few(least: int) -> None:
    assert none(checks.certain_conditions(reference(least), worlds.CONDITION_QUESTIONS, least, 6))


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
    assert none(too_few(worlds.offers(least), SHOWN, 13, 1000))


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
        checks.certain_conditions(UNGUARDED, worlds.CONDITION_QUESTIONS[3:4], 2, 6),
        checks.looser_when_tighter(reference(3), reference(2), checks.QUESTIONS, 4, 15),
        checks.isolated_values(reference(2), [DIFFERENCE], "people", 2, 3, 15),
        checks.refused(broken(('use = ["join"]', 'use = ["group"]'))),
    ],
    ids=["values", "values of orders", "presence", "conditions", "looser", "differences", "refused"],
)
def test_the_searches_find_what_contradicts_the_properties(found: Iterator[tuple[object, ...]]) -> None:
    assert next(found, None) is not None


def people(*given: str, bonus: str = "") -> dict[str, Any]:
    """A person for each string: a city, and a + for a VIP. bonus: a digit for each, or - for NULL."""
    rows = [
        {"ssn": 1 + at, "city": each[0], "vip": each[1:] == "+", "salary": 10**at, "bonus": 1, "email": "x"}
        for at, each in enumerate(given)
    ]
    for row, digit in zip(rows, bonus, strict=False):
        row["bonus"] = None if digit == "-" else int(digit)
    return {"people": rows}


def orders(*given: str) -> dict[str, Any]:
    """An order for each string: who, and an item."""
    return {"orders": [{"ssn": int(each[0]), "item": each[1], "amount": 10**at} for at, each in enumerate(given)]}


def told(sql: str, data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The answer under floors of two."""
    return sorted(reference(2).answer(sql, worlds.NORTH, data).rows, key=repr)


VIPS = "SELECT COUNT(*) AS n, SUM(CASE WHEN vip THEN salary ELSE 0 END) AS s FROM people"
CITIES = (
    "SELECT COUNT(CASE WHEN city = 'a' THEN 1 END) AS a, COUNT(CASE city WHEN 'b' THEN 1 END) AS b, COUNT(*) AS n "
    "FROM people"
)
BONUS = "SELECT SUM(bonus + 1) AS s, SUM(COALESCE(bonus, 5)) AS t, COUNT(*) AS n FROM people"
VIP_BONUS = "SELECT SUM(CASE WHEN vip THEN bonus END) AS s FROM people"


@pytest.mark.parametrize(
    ("sql", "data", "expected"),
    [
        (VIPS, people("a+", "a+", "a", "a"), (4, 11)),
        (VIPS, people("a+", "a", "a", "a"), (4, None)),
        (VIPS, people("a", "a", "a", "a"), (4, None)),
        (VIPS, people("a+", "a+", "a+", "a+"), (4, None)),
        (VIPS + " WHERE vip", people("a+", "a+", "a", "a"), (2, 11)),
        (VIPS.replace("WHEN vip", "WHEN vip OR TRUE"), people("a", "a"), (2, 11)),
        (CITIES, people("a", "a", "b", "b", "c", "c"), (2, 2, 6)),
        (CITIES, people("a", "a", "b", "b"), (None, None, 4)),
        (CITIES + " WHERE city IN ('a', 'b')", people("a", "a", "b", "b", "c", "c"), (2, 2, 4)),
        (CITIES + " WHERE city > 'a'", people("b", "b", "c", "c"), (None, None, 4)),
        (CITIES + " WHERE NOT city <> 'a'", people("a", "a", "b"), (2, None, 2)),
        (BONUS, people("a", "a", "a", bonus="123"), (9, 6, 3)),
        (BONUS, people("a", "a", "a", "a", bonus="12--"), (5, 13, 4)),
        (BONUS, people("a", "a", "a", bonus="12-"), (None, None, 3)),
        (VIP_BONUS, people("a+", "a+", "a+", "a+", "a", "a", bonus="12--"), (3,)),
        (VIP_BONUS, people("a+", "a+", "a", "a", bonus="12"), (None,)),
    ],
)
def test_possible_cells_of_written_conditions_are_never_empty(
    sql: str, data: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert told(sql, data) == [expected]


def test_what_occurs_is_possible() -> None:
    for sql in SHOWN:
        question = reference(2).question(sql, worlds.NORTH)
        for shown in (each for data in worlds.worlds(9, 20) for each in question.view(data).shown):
            for instance, decisions in question.floors(shown.tree).decisions.items():
                rows = [row for row in shown.rows if instance in row.units]
                assert {decisions.of(row.origin) for row in rows} <= set(decisions.possible), sql


def test_nulls_that_a_recipient_stores_are_as_good_as_written() -> None:
    """Its own column, NULL for the person it asks about, told whether that one is a VIP."""
    offers = worlds.offers(2)
    offers["north"] += 'mark = { type = "INTEGER", min = 0, max = 9, nullable = true }\n'
    sql = "SELECT COUNT(c.mark) AS n FROM customers c JOIN people p ON c.ssn = p.ssn WHERE p.vip"
    customers = [{"ssn": key, "segment": "s", "mark": None if key == 1 else 1} for key in range(1, 7)]
    for first in ("a", "a+"):
        data = {"customers": customers, **people(first, *["a+"] * 5)}
        assert Reference(offers).answer(sql, worlds.NORTH, data).rows == ((None,),)


def test_conditions_are_possible_together_within_what_is_declared() -> None:
    offers = {name: text.replace('max_length = 1, use = ["group", "filter"]', 'values = ["a", "b"], use = ["filter"]')
              for name, text in worlds.offers(2).items()}  # fmt: skip
    answer = Reference(offers).answer(CITIES, worlds.NORTH, people("a", "a", "b", "b"))
    assert answer.rows == ((2, 2, 4),)


BOTH = "SELECT COUNT(*) AS n FROM (SELECT city AS k FROM people UNION ALL SELECT item FROM orders) u"
BY_KEY = "SELECT k, COUNT(*) AS n FROM (SELECT city AS k FROM people UNION ALL SELECT item FROM orders) u GROUP BY k"
BY_SIDE = (
    "SELECT src, k, COUNT(*) AS n FROM (SELECT 'p' AS src, city AS k FROM people "
    "UNION ALL SELECT 'o', item FROM orders) u GROUP BY src, k"
)
BY_ONE_SIDE = BY_SIDE.replace("'o', item", "item AS a, item AS b")


@pytest.mark.parametrize(
    ("sql", "data", "expected"),
    [
        (BOTH, people("a", "a") | orders("1x", "2x"), [(4,)]),
        (BOTH, people("a", "a") | orders(), [(None,)]),
        (BOTH, people("a", "a") | orders("1x", "1x"), [(None,)]),
        (BY_KEY, people("a", "a") | orders("1a", "2a"), [("a", 4, False)]),
        (BY_KEY, people("a", "a", "b", "b") | orders("1a", "2a"), []),
        (BY_SIDE, people("a", "a") | orders("1a", "2a"), [("o", "a", 2, False), ("p", "a", 2, False)]),
        (BY_SIDE, people("a", "a", "a") | orders("1a"), []),
        (
            BY_SIDE,
            people("a", "a", "b", "c") | orders("1a", "2a"),
            [("o", "a", 2, False), ("p", "a", 2, False), (None, None, 2, True)],
        ),
        (BY_SIDE, people("a", "a", "b", "c") | orders("1x"), []),
        (
            BY_ONE_SIDE,
            people("p", "p") | orders("1p", "2p", "3o", "4o"),
            [("o", "o", 2, False), ("p", "p", 4, False)],
        ),
        (BY_ONE_SIDE, people("p", "p") | orders("1o", "2o"), []),
    ],
)
def test_each_side_of_a_union_has_enough_unless_a_constant_says_that_it_has_none(
    sql: str, data: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    assert told(sql, data) == expected


ITEMS = "SELECT SUM(t) AS s, COUNT(*) AS n FROM (SELECT ssn, SUM({}) AS t FROM orders GROUP BY ssn) q"
OF_X = ITEMS.format("CASE WHEN item = 'x' THEN amount ELSE 0 END")
ALL = ("1x", "2x", "3y", "4y", "5x", "5y", "6x", "6y")


@pytest.mark.parametrize(
    ("sql", "data", "expected"),
    [
        (ITEMS.format("amount"), orders("1x", "2x"), (11, 2)),
        (OF_X, orders(*ALL), (1010011, 6)),
        (OF_X, orders(*ALL[:-2]), (None, 5)),
        (OF_X, orders(*ALL[:4]), (None, 4)),
        (OF_X, orders(*ALL[2:]), (None, 4)),
        (OF_X.replace("GROUP", "WHERE item = 'x' GROUP"), orders(*ALL), (1010011, 4)),
    ],
)
def test_units_are_on_either_side_of_a_condition_beneath_or_on_both(
    sql: str, data: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert told(sql, data) == [expected]

"""The product refuses, withholds and answers as the reference does, and has the same properties."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from . import corpus, plain, tables
from .product import Product
from .properties import checks, worlds
from .reference.offers import texts_of
from .subjects import Reference

HOSTILE, USEFUL = corpus.hostile(), corpus.useful()
REFUSED = [each for each in HOSTILE if each.rules[0] not in ("withheld", "differences", "unfound")]
WITHHELD = [each for each in HOSTILE if each.rules == ("withheld",)]
DIFFERENCES = [each for each in HOSTILE if each.rules == ("differences",)]
UNFOUND = [each for each in HOSTILE if each.rules == ("unfound",)]
UNCOUNTED = [each for each in (*USEFUL, *WITHHELD) if "JOIN members m" in each.sql]
"""Joins with a table of which those without partner count, too. Nothing counts these under MPC, so that it refuses."""
ANSWERED = [each for each in (*USEFUL, *WITHHELD) if each not in UNCOUNTED]
QUESTIONS = [each for each in checks.QUESTIONS if "members m ON" not in each and "FROM members)" not in each]
ONE_ROW = (
    "SELECT SUM(t) AS s, COUNT(*) AS n FROM (SELECT ssn, SUM(CASE WHEN vip THEN salary ELSE 0 END) AS t FROM people"
    " GROUP BY ssn) q",
    "SELECT SUM(t) AS s, AVG(u) AS u FROM (SELECT ssn, SUM(CASE WHEN city = 'a' THEN salary ELSE 0 END) AS t,"
    " SUM(CASE WHEN city = 'b' THEN salary ELSE 0 END) AS u FROM people GROUP BY ssn) q",
    "SELECT AVG(t) AS s, COUNT(*) AS n FROM (SELECT ssn, SUM(bonus) AS t FROM people GROUP BY ssn) q",
    "SELECT city, SUM(t) AS s, COUNT(t) AS n FROM (SELECT ssn, city, SUM(CASE WHEN vip THEN salary END) AS t"
    " FROM people GROUP BY ssn, city) q GROUP BY city",
)
"""Questions about units of one row each: their sums are withheld as those of rows are."""
FEW = [*QUESTIONS[1:6:2], *worlds.ORDER_QUESTIONS[2:5:2], "SELECT plan, COUNT(*) AS n FROM members GROUP BY plan"]
"""Questions of the small world, of each kind one."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(texts_of(corpus.FEDERATION))


@pytest.fixture
def small(tmp_path: Path) -> Product:
    return Product(worlds.offers(2), tmp_path)


def none(found: Iterable[tuple[object, ...]]) -> bool:
    """Whether a search finds nothing; what it finds stands in the failure."""
    first = list(islice(found, 2))
    assert first == []
    return True


@pytest.mark.parametrize("question", REFUSED, ids=corpus.identity)
def test_what_is_hostile_is_refused_by_its_rule(product: Product, question: corpus.Question) -> None:
    assert product.verdict(question.sql, question.to).rule in question.rules


@pytest.mark.parametrize("question", UNCOUNTED, ids=corpus.identity)
def test_what_nothing_counts_under_mpc_is_refused(product: Product, question: corpus.Question) -> None:
    assert product.verdict(question.sql, question.to).rule == "floor"


@pytest.mark.parametrize("question", DIFFERENCES, ids=corpus.identity)
def test_differences_are_refused_by_text_or_by_the_owners_agent(product: Product, question: corpus.Question) -> None:
    for sql in question.before:
        assert product.verdict(sql, question.to).allowed
    if product.verdict(question.sql, question.to).rule != "differences":
        asked = (*question.before, question.sql)
        assert product.checked(asked, question.to, tables.federation_rows()).rule == "differences"


@pytest.mark.parametrize("question", UNFOUND, ids=corpus.identity)
def test_differences_by_others_columns_are_not_found(product: Product, question: corpus.Question) -> None:
    """That is no promise, as docs/rules.md says; who finds them moves the line."""
    asked = (*question.before, question.sql)
    assert product.checked(asked, question.to, tables.federation_rows()).allowed


@pytest.mark.parametrize("question", ANSWERED, ids=corpus.identity)
def test_what_is_allowed_is_allowed(product: Product, question: corpus.Question) -> None:
    assert product.verdict(question.sql, question.to).rule == ""


@pytest.mark.parametrize("question", REFUSED, ids=corpus.identity)
def test_no_disguise_makes_it_allowed(product: Product, question: corpus.Question) -> None:
    for sql in corpus.disguises(question.sql):
        assert not product.verdict(sql, question.to).allowed, sql


@pytest.mark.nightly
@pytest.mark.parametrize("question", ANSWERED, ids=corpus.identity)
def test_answers_are_those_of_the_reference(product: Product, reference: Reference, question: corpus.Question) -> None:
    data = tables.federation_rows()
    mine, expected = (each.answer(question.sql, question.to, data) for each in (product, reference))
    assert len(mine.columns) == len(expected.columns)
    assert ("rest" in mine.columns) == ("rest" in expected.columns)
    assert plain.same(mine.rows, expected.rows)


def test_without_rules_answers_are_those_of_the_reference(tmp_path: Path) -> None:
    subjects = Product(worlds.opened(), tmp_path), Reference(worlds.opened())
    assert none(checks.other_answers(*subjects, FEW, 7, 1))


@pytest.mark.parametrize("key", [7, None])
def test_rows_without_a_unit_are_there_in_a_union(tmp_path: Path, key: int | None) -> None:
    offers = {name: text.replace("ssn = {", "ssn = { nullable = true,") for name, text in worlds.offers(2).items()}
    sql = "SELECT k, COUNT(*) AS n FROM (SELECT city AS k FROM people UNION ALL SELECT item FROM orders) u GROUP BY k"
    data = dict(next(worlds.worlds(1, 1)))
    for city, row in zip("aaabbb", data["people"], strict=False):
        row["city"] = city
    data["orders"] = [{"ssn": key, "item": "a", "amount": 1}]
    one, other = (each.answer(sql, worlds.NORTH, data) for each in (Product(offers, tmp_path), Reference(offers)))
    assert plain.same(one.rows, other.rows)
    assert "a" not in {row[0] for row in one.rows}


def test_questions_of_the_small_world_are_allowed(small: Product) -> None:
    assert none(checks.refused(small, QUESTIONS))


def test_answers_in_small_worlds_are_those_of_the_reference(small: Product) -> None:
    assert none(checks.other_answers(small, Reference(worlds.offers(2)), FEW, 6, 2))


def test_units_of_one_row_are_answered_as_rows_are(small: Product) -> None:
    reference = Reference(worlds.offers(2))
    assert none(checks.other_answers(small, reference, ONE_ROW, 6, 3))
    plain_rows = "SELECT SUM(CASE WHEN vip THEN salary ELSE 0 END) AS s, COUNT(*) AS n FROM people"
    found = [[reference.answer(sql, worlds.NORTH, each).rows for each in worlds.worlds(6, 20)]
             for sql in (ONE_ROW[0], plain_rows)]  # fmt: skip
    assert found[0] == found[1]
    assert any(None not in row for rows in found[0] for row in rows)


@pytest.mark.nightly
@pytest.mark.parametrize("nodes", [2, 3])
def test_answers_under_mpc_are_those_of_the_reference(tmp_path: Path, nodes: int) -> None:
    subjects = Product(worlds.offers(2), tmp_path, nodes), Reference(worlds.offers(2))
    assert none(checks.other_answers(*subjects, FEW, 7, 1))


@pytest.mark.nightly
@pytest.mark.parametrize("least", [2, 3])
def test_answers_in_many_small_worlds_are_those_of_the_reference(tmp_path: Path, least: int) -> None:
    subjects = Product(worlds.offers(least), tmp_path), Reference(worlds.offers(least))
    assert none(checks.other_answers(*subjects, QUESTIONS, 16, 30))


@pytest.mark.nightly
def test_closed_columns_never_show(small: Product) -> None:
    assert none(checks.closed_columns(small, 1, 1))


@pytest.mark.nightly
def test_keys_that_are_only_joined_may_have_any_names(small: Product) -> None:
    assert none(checks.joined_keys(small, QUESTIONS, 2, 2))


@pytest.mark.nightly
def test_values_of_few_units_hide_behind_those_of_others(small: Product) -> None:
    """Of one question: each change is hidden by hundreds of tries. The others' answers are the reference's."""
    assert none(checks.isolated_values(small, worlds.ORDER_QUESTIONS[3:4], "orders", 2, 5, 3))


@pytest.mark.nightly
def test_presence_of_a_unit_is_never_certain_where_membership_is_sensitive(small: Product) -> None:
    questions = [each for each in worlds.MEMBER_QUESTIONS if each in QUESTIONS]
    assert none(checks.certain_members(small, questions[:2], 2, 4))


@pytest.mark.nightly
@pytest.mark.parametrize("attribute", worlds.TIGHTER)
def test_a_tighter_offer_allows_and_shows_no_more(tmp_path: Path, attribute: str) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    before = Product(worlds.looser(attribute, 2), tmp_path / "before")
    after = Product(worlds.tighter(attribute, 2), tmp_path / "after")
    assert none(checks.looser_when_tighter(before, after, QUESTIONS, 4, 2))


def test_plans_and_what_is_printed_depend_on_no_data(small: Product) -> None:
    one, other = worlds.worlds(5, 2)
    for sql in FEW:
        assert small.hash(sql, worlds.NORTH, one) == small.hash(sql, worlds.NORTH, other)
    assert none(checks.printed_lines(small, FEW[:2], 5, 2))

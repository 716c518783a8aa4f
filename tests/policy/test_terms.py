"""What the entries of an offer mean for questions: days, listed questions, recipients, weights, bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.policy.question import question_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query

from .owners import OWNERS, PEOPLE, TODAY, allowed, refusal, rule_of, south_says, terms, with_table
from .verdicts import JOINED, NORTH


def test_an_offer_ends_after_its_last_day() -> None:
    catalog = with_table(south_says(until=TODAY))
    assert refusal("SELECT COUNT(*) FROM people", catalog, today=TODAY) is None
    found = refusal("SELECT COUNT(*) FROM people", catalog, today=date(2026, 11, 2))
    assert found is not None
    assert found.problem.rule == "until"
    assert found.problem.sentence == "people was offered until 2026-11-01"


def test_listed_questions_are_allowed_whatever_the_rules_are_called_and_no_others() -> None:
    query = "SELECT COUNT(*) FROM people"
    question = question_hash(bind(query, OWNERS), OWNERS, NORTH)
    assert rule_of(query, south_says(allow=frozenset({question}))) is None
    assert rule_of(query, south_says(allow=frozenset({question}), least_group=50)) is None
    assert rule_of("SELECT COUNT(DISTINCT ssn) FROM people", south_says(allow=frozenset({question}))) == "allow"
    assert question_hash(bind(query, OWNERS), OWNERS, ("north", "west")) != question
    assert question_hash(bind("SELECT COUNT(*) AS n FROM people", OWNERS), OWNERS, NORTH) != question
    assert question_hash(bind("SELECT  COUNT(*)\nFROM people", OWNERS), OWNERS, NORTH) == question


def test_all_recipients_have_to_be_listed() -> None:
    assert refusal("SELECT COUNT(*) FROM visits", to=("north", "south")) is None
    found = refusal("SELECT COUNT(*) FROM visits v JOIN people p ON v.ssn = p.ssn", to=("north", "south", "west"))
    assert found is not None
    assert (found.problem.owner, found.problem.rule) == ("south", "recipient")


def test_an_owner_s_rules_do_not_bind_what_the_owner_alone_receives() -> None:
    query = "SELECT email, salary, ssn FROM people WHERE age = 37 ORDER BY salary"
    assert refusal(query, to=("south",)) is None
    assert allowed(query, to=("south",)).guards == ()
    assert refusal("SELECT salary FROM people", to=("south", "north")) is not None


def test_what_an_owner_lists_may_be_added_up_or_repeat_its_rows() -> None:
    weighted = f"SELECT SUM(c.weight) FROM {JOINED}"
    repeated = "SELECT COUNT(*) FROM copies k JOIN people p ON k.ssn = p.ssn"
    assert rule_of(weighted, south_says(weights=frozenset({"customers.weight"}))) is None
    assert rule_of(weighted, south_says(weights=frozenset({"customers.*"}))) is None
    assert rule_of(weighted, south_says(weights=frozenset({"copies.*"}))) == "weights"
    assert rule_of(repeated, south_says(weights=frozenset({"copies.*"}))) is None


def test_a_table_without_a_bound_on_rows_or_without_open_columns_is_closed() -> None:
    assert rule_of("SELECT COUNT(*) FROM people", replace(PEOPLE, rows=None)) == "sizes"
    shut = replace(PEOPLE, columns=tuple(replace(each, terms=terms()) for each in PEOPLE.columns))
    assert rule_of("SELECT COUNT(*) FROM people", shut) == "closed"
    assert rule_of("SELECT city, COUNT(*) FROM people GROUP BY city", south_says(least_group=None)) == "floor"


def test_repeated_rows_need_a_key_where_rows_are_the_unit() -> None:
    joined = "SELECT COUNT(*) FROM answers a JOIN customers c ON a.k = c.ssn"
    assert allowed(joined).guards[0].floors[0].unit == ()
    repeated = "SELECT COUNT(*) FROM (SELECT ssn FROM people) p JOIN visits v ON p.ssn = v.ssn"
    assert [each.unit for each in allowed(repeated, with_table(south_says(unit=()))).guards[0].floors] == [
        ("seat",), ("ssn",),
    ]  # fmt: skip
    keyless = replace(south_says(unit=()), unique=())
    query = (
        "SELECT COUNT(*) FROM people p JOIN (SELECT ssn, clinic FROM visits GROUP BY ssn, clinic) v ON p.ssn = v.ssn"
    )
    with pytest.raises(QueryError):
        allowed(query, with_table(keyless))


def test_nothing_is_kept_of_a_table_with_rules() -> None:
    with pytest.raises(PolicyRefusal) as caught:
        compile_query("CREATE TABLE k AS SELECT city FROM people", OWNERS, ())
    assert caught.value.problem.rule == "kept"
    assert "keeping is not allowed yet" in str(caught.value)
    assert compile_query("CREATE TABLE k AS SELECT id FROM customers", OWNERS, ()).steps

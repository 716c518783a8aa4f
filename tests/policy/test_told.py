"""What a refusal and an allowed question tell people and programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import PolicyError
from tacit.plan.policy.allowed import disclosed
from tacit.plan.policy.check import check
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query, statements

from .owners import OWNERS, TODAY, allowed, refusal
from .verdicts import NORTH


def test_a_refusal_is_a_policy_error_with_exit_status_three() -> None:
    with pytest.raises(PolicyRefusal) as caught:
        compile_query("SELECT seat, email FROM people", OWNERS, NORTH, today=TODAY)
    assert caught.value.changed_query == "SELECT seat FROM people"
    found = diagnose(caught.value)
    assert isinstance(found, PolicyError)
    assert found.exit_status == 3
    assert str(found) == "refused by south: closed: people.email is closed (line 1, column 14); leave out email."
    assert found.position == (1, 14)


def test_a_refusal_has_all_its_parts_for_programs() -> None:
    found = refusal("SELECT seat, email FROM people")
    assert found is not None
    assert found.json() == {
        "rule": "closed", "owner": "south", "table": "people", "column": "email", "way": "value", "recipient": "north",
        "line": 1, "column_in_text": 14, "sentence": str(found), "change": "leave out email",
        "changed_query": "SELECT seat FROM people", "changed_recipients": ["north"], "static": True,
    }  # fmt: skip


def test_semicolons_divide_statements_and_nothing_else_does() -> None:
    assert statements("SELECT ';' FROM t; -- a ; b\nSELECT 2;; ") == ["SELECT ';' FROM t", " -- a ; b\nSELECT 2"]


def test_disclosures_name_the_rule_that_allows_each() -> None:
    found = disclosed(allowed("SELECT city, AVG(salary) AS pay FROM people WHERE vip GROUP BY city").state, NORTH)
    assert [each.sentence for each in found] == [
        "people.city may be a key of groups where 10 or more units stand behind it (use group)",
        "people.salary may be aggregated where 20 or more units stand behind it (use aggregate, functions avg)",
        "people.vip may be tested in conditions where 10 or more units stand behind it (use filter)",
        "people.city may be a key of groups where 10 or more units stand behind it (use group)",
    ]


def test_tables_without_terms_are_as_they_were() -> None:
    free = replace(OWNERS, tables=tuple(replace(each, terms=None) for each in OWNERS.tables))
    relation = bind("SELECT email, MAX(salary) FROM people GROUP BY email", free)
    found = check(relation, free, NORTH, TODAY)
    assert found.relation is relation
    assert found.guards == ()

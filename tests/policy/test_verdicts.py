"""The static check of owners' rules: what is refused, by which rule, where in the text, and which change passes."""

from __future__ import annotations

import pytest

from .owners import refusal
from .verdicts import ALLOWED, ATTACKS, REFUSED


@pytest.mark.parametrize(
    ("query", "to", "rule", "place", "sentence", "change"), REFUSED, ids=lambda each: str(each)[:60]
)
def test_a_refusal_has_rule_place_sentence_and_a_change_that_passes(
    query: str, to: str, rule: str, place: int | None, sentence: str, change: str
) -> None:
    found = refusal(query, to=tuple(to.split(",")))
    assert found is not None
    assert (found.problem.rule, found.problem.sentence, found.change) == (rule, sentence, change)
    assert found.position == (None if place is None else (1, place))
    where = "" if place is None else f" (line 1, column {place})"
    assert str(found) == f"refused by {found.problem.owner}: {rule}: {sentence}{where}; {change}."
    if found.changed_query is not None:
        assert found.changed_recipients is not None
        assert refusal(found.changed_query, to=found.changed_recipients) is None


@pytest.mark.parametrize("query", ALLOWED)
def test_ordinary_questions_are_allowed(query: str) -> None:
    assert refusal(query) is None


def _query(each: object) -> str | None:
    """A query names its test. Sets of rules have no order to be named in."""
    return each[:90] if isinstance(each, str) else None


@pytest.mark.parametrize(("query", "rules"), ATTACKS, ids=_query)
def test_attacks_are_refused(query: str, rules: set[str]) -> None:
    found = refusal(query)
    assert ("" if found is None else found.problem.rule) in (rules or {""})

"""The files of questions agree with the reference, and what is allowed of them is of use."""

from __future__ import annotations

import duckdb
import pytest

from . import corpus, plain, tables
from .reference.evaluate import Data
from .reference.evaluate import Question as Asked
from .reference.offers import read, texts_of

OFFERS = read(texts_of(corpus.FEDERATION))
HOSTILE, USEFUL = corpus.hostile(), corpus.useful()
REFUSED = [each for each in HOSTILE if each.rules[0] not in ("withheld", "differences", "unfound")]
WITHHELD = [each for each in HOSTILE if each.rules == ("withheld",)]
DIFFERENCES = [each for each in HOSTILE if each.rules in (("differences",), ("unfound",))]

RULES = {
    "closed", "select", "matches", "function", "linear", "weights", "repeats", "floor", "filter", "with", "join",
    "group", "cuts", "constants", "recipient", "withheld", "differences", "unfound",
}  # fmt: skip


@pytest.fixture(scope="module")
def data() -> Data:
    return tables.federation_rows()


@pytest.fixture(scope="module")
def database(data: Data) -> duckdb.DuckDBPyConnection:
    return plain.database(OFFERS, data)


def asked(question: corpus.Question) -> Asked:
    return Asked(question.sql, OFFERS, question.to)


def test_the_files_cover_every_rule() -> None:
    assert {each.rules[0] for each in HOSTILE} == RULES - {"group"}
    assert {rule for each in HOSTILE for rule in each.rules} == RULES
    assert len(HOSTILE) >= 200
    assert len(USEFUL) >= 60
    assert len({(each.sql, each.to, each.before) for each in HOSTILE + USEFUL}) == len(HOSTILE + USEFUL)


@pytest.mark.parametrize("question", REFUSED, ids=corpus.identity)
def test_what_is_hostile_is_refused_by_its_rule(question: corpus.Question) -> None:
    found = asked(question).verdict
    assert not found.allowed
    assert found.rules[0] in question.rules


@pytest.mark.parametrize("question", HOSTILE + USEFUL, ids=corpus.identity)
def test_no_disguise_changes_whether_a_question_is_allowed(question: corpus.Question) -> None:
    one = question.line % len(corpus.disguises(question.sql))
    same_verdict(question, corpus.disguises(question.sql)[one])


@pytest.mark.nightly
@pytest.mark.parametrize("question", HOSTILE + USEFUL, ids=corpus.identity)
def test_none_of_all_disguises_changes_whether_a_question_is_allowed(question: corpus.Question) -> None:
    for sql in corpus.disguises(question.sql):
        same_verdict(question, sql)


def same_verdict(question: corpus.Question, sql: str) -> None:
    """The question in these other words is allowed if it is."""
    assert Asked(sql, OFFERS, question.to).verdict.allowed == asked(question).verdict.allowed, sql


@pytest.mark.parametrize("question", WITHHELD, ids=corpus.identity)
def test_what_is_withheld_is_missing_in_the_answer(
    question: corpus.Question, data: Data, database: duckdb.DuckDBPyConnection
) -> None:
    question_asked = asked(question)
    assert question_asked.verdict.allowed
    view = question_asked.view(data)
    assert not plain.same(view.ordinary(), database.sql(question.sql).fetchall())
    assert view.lines


@pytest.mark.parametrize("question", DIFFERENCES, ids=corpus.identity)
def test_a_difference_is_of_questions_that_no_other_rule_refuses(question: corpus.Question) -> None:
    for sql in question.before:
        assert Asked(sql, OFFERS, question.to).verdict.rules == ()
    assert asked(question).verdict.rules in ((), ("differences",))


@pytest.mark.parametrize("question", USEFUL, ids=corpus.identity)
def test_what_is_useful_is_answered_in_full(
    question: corpus.Question, data: Data, database: duckdb.DuckDBPyConnection
) -> None:
    question_asked = asked(question)
    assert question_asked.verdict.rules == ()
    assert plain.same(question_asked.view(data).ordinary(), database.sql(question.sql).fetchall())

"""The page that people approve: its order, its sentences, and that nothing in a question passes for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tacit.plan import explain_text, learnt, plan_hash
from tacit.plan.account.explain import MOST_TEXT
from tacit.plan.account.origins import AVERAGE, FUNCTIONS
from tacit.plan.account.page import BESIDES_TITLE, GETS_TITLE, TECHNICAL, page
from tacit.plan.account.sentences import BY_OFFER
from tacit.plan.account.statement import NOTHING_ELSE
from tacit.plan.algebra.relations import AggregateFunction
from tacit.plan.facts.allowances import Allowance, Ruling
from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.facts.sources import OF_MANY_ROWS, OF_ONE_ROW
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

from .catalogs import CATALOGS, MATCHING, MIXED
from .golden import cases, files
from .test_golden import GOLDEN

TITLES = ["Who asks", GETS_TITLE, BESIDES_TITLE, "What the nodes see", NOTHING_ELSE]
JARGON = ("ring64", "hash", "announced", "tail", "min(", "rows(", "mpc", "oblivious", "psi", "permit")


def plan(query: str, to: str = "p") -> PlacedPlan:
    return compile_query(query, MIXED, (to,))


def text(query: str, to: str = "p") -> str:
    return "\n".join(page(plan(query, to)))


@pytest.mark.parametrize("path", files(GOLDEN), ids=lambda path: path.stem)
def test_the_order_is_fixed_and_the_words_are_plain(path: Path) -> None:
    for case in cases(path):
        found = compile_query(case.query, CATALOGS[case.catalog], case.recipients)
        lines = page(found)
        assert [line for line in lines if line and not line.startswith(" ")] == TITLES, case.query
        names = {table.name for table in CATALOGS[case.catalog].tables}
        said = " ".join(line for line in lines if not line.startswith("  | "))
        for word in {*JARGON} - names:
            assert word not in said, said
        whole = explain_text(found, ())
        assert whole.index(NOTHING_ELSE) < whole.index(TECHNICAL) < whole.index("Plan hash ")


def test_row_by_row_and_what_decides_rows_are_told() -> None:
    found = text("SELECT v AS total FROM padded ORDER BY s DESC LIMIT 1", "q")
    assert "q gets a table, at most 1 row:" in found
    assert "    total  padded.v of p, row by row\n" in found
    assert "    padded.s of p  the order and which rows come first\n" in found
    assert "a row in the answer tells that all of this holds for it" in found


def test_presence_of_rows_is_told_where_only_own_columns_are_shown() -> None:
    found = text("SELECT id FROM padded WHERE id IN (SELECT id FROM announced WHERE f)")
    assert "    id  padded.id of p (its own), row by row\n" in found
    assert "    announced.f of q          a condition\n" in found
    assert "    announced.id of q         which rows match" in found


def test_a_condition_on_a_row_is_told_as_its_value() -> None:
    found = text("SELECT CASE WHEN f THEN 1 ELSE 0 END AS seven FROM announced")
    assert "    seven  depends on announced.f of q, row by row\n" in found


def test_a_least_number_of_rows_is_told_or_that_there_is_none() -> None:
    query = "SELECT g, SUM(s) AS total FROM announced GROUP BY g"
    assert "No least number of rows is set" in text(query)
    assert "Each row stands for at least 10 rows" in text(f"{query} HAVING COUNT(*) >= 10")
    assert "No least number" not in text("SELECT s FROM announced")


def test_operands_of_quotients_are_told() -> None:
    found = " ".join(text("SELECT AVG(s) AS mean FROM announced").split())
    assert "p gets these numbers too, which the answer alone does not tell; mean is computed from them: sum_s" in found


def test_rules_stand_beside_what_they_allow() -> None:
    rules = (Allowance("q", "total", "announced.s may be summed"), Allowance("q", None, "announced.g may group"))
    question = plan("SELECT g, SUM(s) AS total FROM announced GROUP BY g")
    ruled = replace(question, ruling=Ruling(rules, ("Groups of fewer than 3 rows are not shown.",), ("q",)))
    found = "\n".join(page(ruled))
    assert (
        "    total  the sum of announced.s of q\n           allowed by q's rule: announced.s may be summed\n" in found
    )
    assert "- Allowed by q's rule: announced.g may group." in found
    assert "- Groups of fewer than 3 rows are not shown." in found and "No least number" not in found
    assert "- q may refuse after looking at its own data" in found
    assert "It is allowed by q's rule: announced.g may group." in learnt(ruled)
    assert plan_hash(ruled) != plan_hash(question)


def test_nothing_in_a_question_passes_for_the_page() -> None:
    query = f"SELECT s\n-- \u202ereversed\nAS x FROM announced /*\n\n{NOTHING_ELSE}\n\nWho gets what\n*/"
    lines = page(plan(query))
    assert [line for line in lines if line and not line.startswith(" ")] == TITLES
    assert f"  | {NOTHING_ELSE}" in lines and "  | -- \\u202ereversed" in lines


def test_names_are_told_on_one_line() -> None:
    lines = page(plan(f'SELECT s AS "x\n\n{NOTHING_ELSE}" FROM announced'))
    assert [line for line in lines if line and not line.startswith(" ")] == TITLES
    assert any(f"x\\n\\n{NOTHING_ELSE}" in line for line in lines)


def test_no_sign_steers_a_terminal() -> None:
    query = "SELECT a.s AS \"\x1b[2Jø\" FROM padded a JOIN announced b ON a.id = b.id WHERE a.v = '\x1b[8m\u202e'"
    found = plan(query)
    for told in (explain_text(found, ()), *learnt(found)):
        assert all(line.isprintable() for line in told.splitlines())
    assert "\\x1b[2Jø  padded.s of p" in explain_text(found, ())


def test_long_local_work_is_cut_for_people_alone() -> None:
    sums = " + ".join(f"CASE WHEN s > {at} THEN {at} ELSE k END" for at in range(60))
    found = explain_text(plan(f"SELECT SUM({sums}) AS total FROM announced"), ())
    technical = " ".join(found.partition(TECHNICAL)[2].split())
    assert "... (all of it: --format json)" in technical
    assert max(map(len, technical.split("mpc("))) < MOST_TEXT * 3


def test_matches_name_owners_and_their_consent() -> None:
    query = "SELECT SUM(p.amount) AS total FROM shoppers s JOIN payments p ON s.id = p.payer"
    found = " ".join(" ".join(page(compile_query(query, MATCHING, ("shop",)))).split())
    assert "bank learns which of its rows of payments match rows of shoppers on id = payer" in found
    assert "Allowed by the offers of bank and shop, consenting to show which rows match." in found


def test_each_rule_and_each_aggregate_has_its_words() -> None:
    assert {*DisclosureRule} == {DisclosureRule.QUERY, *BY_OFFER}
    assert {*get_args(AggregateFunction)} == {*FUNCTIONS} - {AVERAGE}
    assert {*get_args(AggregateFunction)} == (OF_ONE_ROW | OF_MANY_ROWS) - {"aggregate"}

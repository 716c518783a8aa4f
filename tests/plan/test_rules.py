"""Each of the planner's rules has a file of cases: a query's tree before the rule and after it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tacit.plan.account.clauses import tree_text
from tacit.plan.account.explain import RulesText, done, stage_texts
from tacit.plan.facts.catalog import Catalog
from tacit.plan.rules.sequence import RULES
from tacit.plan.rules.stage import Stage
from tacit.sql import compile_query

from .catalogs import CREDIT, MIXED
from .golden import cases, check, files

CASES = Path(__file__).parent / "rules"


def test_each_rule_has_a_file() -> None:
    names = {rule.name for rule in RULES}
    assert {path.stem for path in files(CASES)} == names, "tests/plan/rules has a NAME.slt for each rule's name"


@pytest.mark.parametrize("path", files(CASES), ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    check(path, lambda query, catalog, recipients: _around(path.stem, query, catalog, recipients))
    assert any("\n=>\n" in case.expected for case in cases(path)), "no case shows what the rule does"


def _around(rule: str, query: str, catalog: Catalog, recipients: tuple[str, ...]) -> str:
    """The trees before and after each time that a rule changes one; push_up makes two of one."""
    stages: list[tuple[str, Stage]] = []
    compile_query(query, catalog, recipients, lambda name, stage: stages.append((name, stage)))
    shown = [
        f"{tree_text(before.core, done(before))}\n=>\n" + "\nand\n".join(trees.values())
        for (_, before), (name, after) in pairwise(stages)
        if name == rule and (trees := stage_texts(after, before))
    ]
    return "\n\n".join(shown) or "no change"


def test_explain_prints_the_tree_after_each_rule() -> None:
    text = RulesText()
    compile_query("SELECT DISTINCT id AS number FROM padded WHERE s > 1", MIXED, ("q",), text)
    titles = [part.partition("\n")[0] for part in text.text().split("\n\n")]
    expected = ["query", "push_up, at the recipient", "push_up, before it", *(rule.name for rule in RULES[1:])]
    assert [title.partition(":")[0] for title in titles] == expected
    assert "distinct\n  project number" in text.text()


def test_a_recipients_own_tables_need_no_rule_of_the_frontier() -> None:
    text = RulesText()
    compile_query("SELECT COUNT(*) AS n FROM demographics", CREDIT, ("regulator",), text)
    assert "push_down" not in text.text()

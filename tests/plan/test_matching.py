"""Which joins of two owners are matched, and why others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.account.explain import explain_json, explain_text
from tacit.plan.account.serialise import plan_hash
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import Terms
from tacit.plan.physical.cost import ASSUMED_ROWS, predict
from tacit.plan.physical.operators import CircuitPsi
from tacit.plan.physical.placed import LocalStep, PlacedPlan, PsiStep
from tacit.sql import compile_query

from .catalogs import MATCHING

JOIN = "SELECT COUNT(*) AS n FROM shoppers JOIN payments ON id = payer"


def compiled(query: str, catalog: Catalog = MATCHING) -> PlacedPlan:
    return compile_query(query, catalog, ("shop",))


def without(table: str) -> Catalog:
    """The catalog without one table's consents."""
    tables = tuple(replace(each, consents=frozenset()) if each.name == table else each for each in MATCHING.tables)
    return replace(MATCHING, tables=tables)


def is_matched(plan: PlacedPlan) -> bool:
    return any(isinstance(step, PsiStep) for step in plan.steps)


def test_explain_says_why_a_join_is_matched() -> None:
    plan = compiled(JOIN)
    (reason,) = plan.joins
    assert reason.startswith("step 3 is by private set intersection (owner consent: matches): predicted ")
    text = explain_text(plan)
    assert "Joins of two owners" in text and "psi(shop, bank)" in text
    assert explain_json(plan)["plan"]["joins"] == list(plan.joins)


def test_keys_that_could_make_more_rows_than_anybody_has_are_costed_for_assumed_ones() -> None:
    catalog = replace(MATCHING, tables=tuple(replace(each, rows=None) for each in MATCHING.tables))
    groups = "(SELECT DISTINCT payer, amount FROM payments)"
    plan = compiled(f"SELECT COUNT(*) AS n FROM shoppers JOIN {groups} ON id = payer", catalog)
    (step,) = [each for each in predict(plan) if each.step.endswith(".psi")]
    assert (step.rows, step.assumed) == (ASSUMED_ROWS, True)


@pytest.mark.parametrize("table", ["shoppers", "payments"])
def test_explain_says_whose_consent_is_missing(table: str) -> None:
    plan = compiled(JOIN, without(table))
    owner = next(each.owner for each in MATCHING.tables if each.name == table)
    assert not is_matched(plan)
    assert plan.joins == (
        f"step 5 is oblivious: {owner} does not consent to matches of {table}; "
        "circuit-PSI needs keys that are unique on both sides, those of bank may repeat",
    )


def towards(table: str, parties: frozenset[str]) -> Catalog:
    """The catalog with terms of one table that let these parties learn which rows match."""
    terms = Terms(frozenset(MATCHING.parties), matches=parties)
    tables = tuple(replace(each, terms=terms) if each.name == table else each for each in MATCHING.tables)
    return replace(MATCHING, tables=tables)


@pytest.mark.parametrize("table", ["shoppers", "payments"])
def test_consent_to_matches_needs_terms_that_name_every_node(table: str) -> None:
    owner = next(each.owner for each in MATCHING.tables if each.name == table)
    others = frozenset(MATCHING.nodes) - {owner}
    assert is_matched(compiled(JOIN, towards(table, others)))
    for unnamed in others:
        plan = compiled(JOIN, towards(table, others - {unnamed}))
        assert not is_matched(plan)
        assert plan.joins[0].startswith(f"step 5 is oblivious: {owner} does not consent to matches of {table}; ")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "SELECT COUNT(*) AS n FROM shoppers JOIN "
            "(SELECT p.payer FROM accounts a JOIN payments p ON a.payer = p.payer) p ON id = payer",
            "the rows of bank's part are not simply those of accounts and payments",
        ),
        (
            "SELECT id FROM shoppers JOIN (SELECT payer FROM payments ORDER BY amount LIMIT 50000) p ON id = payer",
            "the rows of bank's part are not simply those of payments",
        ),
        ("SELECT COUNT(*) AS n FROM few JOIN others ON few.id = others.id", "s by private set intersection, "),
    ],
)
def test_explain_says_why_a_join_is_oblivious(query: str, why: str) -> None:
    plan = compiled(query)
    assert not is_matched(plan)
    (reason,) = plan.joins
    assert "is oblivious: " in reason and why in reason


UNIQUE = "SELECT SUM(amount) AS t FROM shoppers JOIN accounts ON id = payer"


def circuit(plan: PlacedPlan) -> PsiStep | None:
    """The one join by circuit-PSI, if there is one."""
    found = [step for step in plan.steps if isinstance(step, PsiStep) and isinstance(step.operator, CircuitPsi)]
    return found[0] if found else None


@pytest.mark.parametrize("table", ["shoppers", "accounts"])
def test_unique_keys_are_matched_by_circuit_psi_without_consent(table: str) -> None:
    plan = compiled(UNIQUE, without(table))
    step = circuit(plan)
    assert step is not None
    owner = next(each.owner for each in MATCHING.tables if each.name == table)
    (reason,) = plan.joins
    start = f"step {step.id} is by circuit-PSI, which shows nobody what matches: {owner} does not consent to matches of"
    assert reason.startswith(f"{start} {table}; predicted ") and reason.endswith("s by an oblivious join")
    assert [each.kind for each in plan.disclosures] == ["size", "answer"]
    text = explain_text(plan)
    assert "circuit-psi(bank, shop)" in text and f"{step.id}.circuit_psi" in text
    native = explain_json(plan)["plan"]["steps"][step.id - 1]["operator"]
    assert native["op"] == "circuit_psi" and native["left"]["rows"] is None and native["right"]["rows"] == 100_000


def test_seen_matches_are_faster_where_both_owners_agree() -> None:
    plan = compiled(UNIQUE)
    assert is_matched(plan) and circuit(plan) is None
    (reason,) = plan.joins
    assert "by private set intersection (owner consent: matches): predicted " in reason and "by circuit-PSI" in reason


def test_owners_filter_first_where_nobody_sees_what_matches() -> None:
    query = "SELECT id FROM shoppers JOIN (SELECT DISTINCT payer FROM payments WHERE amount > 5) p ON id = payer"
    plan = compiled(query)
    assert circuit(plan) is not None
    (reason,) = plan.joins
    assert "the rows of bank's part are not simply those of payments" in reason
    assert any("Filter" in repr(step.relation) for step in plan.steps if isinstance(step, LocalStep))
    assert [each.kind for each in plan.disclosures] == ["answer"]


def test_small_joins_are_oblivious_without_consent_too() -> None:
    plan = compiled("SELECT COUNT(*) AS n FROM few JOIN others ON few.id = others.id", without("few"))
    assert not is_matched(plan)
    (reason,) = plan.joins
    assert "lab does not consent to matches of few; predicted " in reason and reason.endswith("s by circuit-PSI")


def test_what_is_matched_does_not_depend_on_conditions() -> None:
    """Both owners give all their rows to be matched, whatever the query's conditions are."""
    plain = compiled("SELECT SUM(amount) AS t FROM shoppers JOIN payments ON id = payer")
    condition = "amount > 900 AND note IS NULL AND city = 'ulm'"
    filtered = compiled(f"SELECT SUM(amount) AS t FROM shoppers JOIN payments ON id = payer WHERE {condition}")
    for plan in (plain, filtered):
        (psi,) = [step for step in plan.steps if isinstance(step, PsiStep)]
        assert [side.rows for side in psi.sides] == [100_000, 500_000]
        assert not any("where" in repr(step.relation).lower() for step in plan.steps if isinstance(step, LocalStep))
        assert not any("Filter" in repr(step.relation) for step in plan.steps if isinstance(step, LocalStep))
    assert plain.disclosures[:-1] == filtered.disclosures[:-1]


def test_consent_to_matches_changes_no_other_plan() -> None:
    query = "SELECT city, COUNT(*) AS n FROM shoppers GROUP BY city"
    assert compiled(query).steps == compiled(query, without("shoppers")).steps
    assert plan_hash(compiled(query)) != plan_hash(compiled(query, without("shoppers")))

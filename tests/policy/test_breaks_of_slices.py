"""What an attacker of slices found about owners' rules, and what keeps it from coming back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from tests.plan.catalogs import EVERYBODY, SLICES

from tacit.plan.facts.terms import Terms
from tacit.plan.physical.placed import KeysStep
from tacit.sql import compile_query

GROUPS = "SELECT pid, COUNT(*) AS n FROM (SELECT * FROM diagnoses_a UNION ALL SELECT * FROM diagnoses_b) d GROUP BY pid"
OFFERED = Terms(recipients=EVERYBODY, matches=EVERYBODY)


@pytest.mark.parametrize(
    ("terms", "sliced"),
    [
        (OFFERED, True),
        (replace(OFFERED, until=date(2020, 1, 1)), False),
        (replace(OFFERED, allow=frozenset({"q:" + "0" * 64})), False),
    ],
    ids=["any time", "until a day that is past", "other questions"],
)
def test_an_owner_that_asks_for_itself_shows_no_keys_that_its_offer_no_longer_shows(terms: Terms, sliced: bool) -> None:
    """Its rules do not bind what it alone receives. But other owners would receive its keys."""
    tables = (replace(each, terms=terms) if each.name == "diagnoses_a" else each for each in SLICES.tables)
    plan = compile_query(GROUPS, replace(SLICES, tables=tuple(tables)), ("hospital_a",))
    assert any(isinstance(step, KeysStep) for step in plan.steps) == sliced

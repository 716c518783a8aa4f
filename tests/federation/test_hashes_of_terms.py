"""Owners' terms in offers: hashes, comparisons and sentences that cover all of them."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest

from tacit.agent.agreement import agreed
from tacit.plan import plan_hash
from tacit.plan.account.serialise import declaration_hash, encoded, offer_hash
from tacit.plan.account.terms_text import table_clauses
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.consents import matches_allowed
from tacit.plan.facts.terms import (
    DEFAULT_FUNCTIONS,
    ColumnTerms,
    Terms,
    open_terms,
)
from tacit.sql import compile_query

from .offers import PARTIES, Q

NUMBERS = Integer(0, 1000, "INTEGER")
TABLE = Table("people", "south", (Column(Field("age", NUMBERS, False), terms=ColumnTerms()),), rows=9, terms=Terms(
    frozenset({"north"}), 10
))  # fmt: skip
OTHER_TERMS: dict[str, Any] = {
    "recipients": frozenset({"north", "west"}),
    "least_group": 11,
    "unit": ("age",),
    "small": "drop",
    "until": date(2027, 1, 31),
    "allow": frozenset({Q}),
    "matches": frozenset({"north"}),
    "weights": frozenset({"customers.revenue"}),
    "differences": "text",
    "questions": 99,
    "refusals": 4,
    "period": 29,
    "complement": True,
}
COMPUTED = ColumnTerms(frozenset({"program"}))
OPEN_AGE = ColumnTerms(frozenset({"join", "filter", "aggregate", "select"}), DEFAULT_FUNCTIONS)
OTHER_COLUMN_TERMS: dict[str, Any] = {
    "ways": frozenset({"join", "filter", "aggregate"}),
    "functions": frozenset({"sum"}),
    "least_group": 20,
    "to": frozenset({"west"}),
    "partners": frozenset({"customers.ssn"}),
    "cuts": (18,),
    "constants": frozenset({18}),
}


def altered() -> dict[str, tuple[Table, Table, str]]:
    """For each term a table, the same table with another term, and how the offer calls what differs."""
    assert TABLE.terms is not None
    (column,) = TABLE.columns
    opened = replace(TABLE, columns=(replace(column, terms=OPEN_AGE),))
    named = {"ways": "use", "partners": "with"}
    tables = {
        f"table {name}": (TABLE, replace(TABLE, terms=replace(TABLE.terms, **{name: value})), f"{name} of table people")
        for name, value in OTHER_TERMS.items()
    }
    computed = replace(TABLE, columns=(replace(column, terms=COMPUTED),))
    by_any = replace(computed, terms=replace(TABLE.terms, computing="any"))
    tables["table computing"] = (computed, by_any, "computing of table people")
    columns = {
        f"column {name}": (
            opened,
            replace(TABLE, columns=(replace(column, terms=replace(OPEN_AGE, **{name: value})),)),
            f"{named.get(name, name)} of column people.age",
        )
        for name, value in OTHER_COLUMN_TERMS.items()
    }
    return tables | columns


ALTERED = altered()


def test_no_term_is_forgotten() -> None:
    """The tests below go through all fields, those that are new as well."""
    assert [*OTHER_TERMS, "computing"] == [each.name for each in fields(Terms)]
    assert [*OTHER_COLUMN_TERMS] == [each.name for each in fields(ColumnTerms)]


@pytest.mark.parametrize("term", ALTERED)
def test_every_hash_covers_every_term(term: str) -> None:
    one, other, called = ALTERED[term]
    assert offer_hash([one]) != offer_hash([other])
    assert declaration_hash(one) != declaration_hash(other)
    catalog = Catalog(PARTIES, "rep3", PARTIES, (replace(one, terms=None),))
    plan = compile_query("SELECT COUNT(*) AS n FROM people", catalog, ("north",))
    first, second = (replace(plan, catalog=replace(catalog, tables=(table,))) for table in (one, other))
    assert plan_hash(first) != plan_hash(second)
    here, there = agreed(first), agreed(second)
    differing = {name for name in here.keys() | there.keys() if here.get(name) != there.get(name)}
    assert differing == {called, "the offer of table people", "the plan"}


@pytest.mark.parametrize("term", ALTERED)
def test_every_term_is_in_the_sentences(term: str) -> None:
    one, other, _ = ALTERED[term]
    assert table_clauses(one, PARTIES) != table_clauses(other, PARTIES)


def test_an_offer_is_the_same_in_any_order() -> None:
    other = replace(TABLE, name="a")
    assert offer_hash([TABLE, other]) == offer_hash([other, TABLE]) != offer_hash([TABLE])
    assert offer_hash([replace(TABLE, path="/srv/people.csv")]) == offer_hash([TABLE])


def test_whether_values_are_rounded_is_in_every_hash_of_an_offer() -> None:
    """Offers without rounded columns are written as they were before there were any."""
    first, *others = TABLE.columns
    rounded = replace(TABLE, columns=(replace(first, rounded=True), *others))
    assert offer_hash([rounded]) != offer_hash([TABLE])
    assert declaration_hash(rounded) != declaration_hash(TABLE)
    assert [each["rounded"] for each in encoded(rounded)["columns"] if "rounded" in each] == [True]
    assert not [each for each in encoded(TABLE)["columns"] if "rounded" in each]


def test_terms_of_many_tables_are_compared_as_a_whole() -> None:
    """Parties send each other small messages."""
    tables = tuple(replace(TABLE, name=f"t{at}") for at in range(200))
    catalog = Catalog(PARTIES, "rep3", PARTIES, tuple(replace(table, terms=None) for table in tables))
    plan = compile_query("SELECT COUNT(*) AS n FROM t1", catalog, ("north",))
    said = agreed(replace(plan, catalog=replace(catalog, tables=tables)))
    assert len([name for name in said if name.startswith("the offer of table ")]) == 200
    assert not [name for name in said if " of table " in name and not name.startswith("the offer")]


def test_who_may_learn_matches() -> None:
    assert TABLE.terms is not None
    towards = replace(TABLE, terms=replace(TABLE.terms, matches=frozenset({"west"})))
    assert [matches_allowed(towards, party) for party in PARTIES] == [False, True, True]
    assert [matches_allowed(TABLE, party) for party in PARTIES] == [False, True, False]
    assert all(matches_allowed(replace(TABLE, terms=open_terms(PARTIES)), party) for party in PARTIES)

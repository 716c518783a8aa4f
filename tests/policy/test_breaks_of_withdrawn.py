"""What kept tables have of columns, and of arrays, that their owners offer no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import open_terms

from .test_breaks_of_kept import NODES, PEOPLE, SSN, THEIRS, W, kept_by, refused, text_of

STAFF = Table(
    "staff", "b", (Column(SSN), Column(W)), (frozenset({"ssn"}),), 20, exact=True, terms=open_terms(NODES)
)  # fmt: skip
KEPT = kept_by("CREATE TABLE k AS SELECT ssn, w FROM staff", Catalog(NODES, "rep3", NODES, (STAFF,)))
NARROW = replace(KEPT, tables=(replace(STAFF, columns=STAFF.columns[:1]),))


@pytest.mark.parametrize("sql", ["SELECT w FROM k", "SELECT SUM(w) AS s FROM k", "SELECT ssn FROM k WHERE w > 5"])
def test_a_column_that_is_withdrawn_is_closed_in_kept_tables(sql: str) -> None:
    """Programs are refused it, and so was a table that is withdrawn."""
    assert refused(sql, KEPT) == ""
    assert refused(sql, replace(KEPT, tables=(PEOPLE,))) == "kept"
    assert refused(sql, NARROW) == "kept"


def test_an_array_that_is_withdrawn_is_no_table_of_that_name() -> None:
    """Its rules were gone with it, as its owner offers an open table of the same name."""
    array = replace(THEIRS, name="staff")
    start = Catalog(NODES, "rep3", NODES, (), arrays=(array,))
    catalog = kept_by("CREATE TABLE k (w) AS " + text_of(lambda x: {"w": x}, "b", "staff"), start)
    sql = "SELECT SUM(w) AS s FROM k"
    closed = replace(array, terms=replace(array.terms, programs=frozenset()))  # type: ignore[type-var]
    assert refused(sql, replace(catalog, arrays=(closed,), tables=(STAFF,))) == "kept"
    assert refused(sql, replace(catalog, arrays=(), tables=(STAFF,))) == "kept"

"""What differs between parties that start different things is found by its public name."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from tacit.agent.agreement import agreed
from tacit.agent.meeting import PLAN
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import ColumnTerms, open_terms
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

PARTIES = ("a", "b", "c")
QUERY = "SELECT SUM(n) AS total FROM t"
TERMS = replace(open_terms(PARTIES), until=date(2027, 1, 31))
TABLE = Table("t", "b", (Column(Field("n", Integer(0, 9), False)),), rows=5, terms=TERMS)


def plan(query: str = QUERY, table: Table = TABLE, to: str = "a", engine: str = "rep3") -> PlacedPlan:
    nodes = PARTIES if engine == "rep3" else PARTIES[:2]
    return compile_query(query, Catalog(PARTIES, engine, nodes, (table,)), (to,))


def differing(other: PlacedPlan) -> set[str]:
    here, there = agreed(plan()), agreed(other)
    return {name for name in (*here, *there) if here.get(name) != there.get(name)}


def test_equal_plans_agree() -> None:
    assert differing(plan()) == set()


def test_each_difference_has_its_name() -> None:
    expires = replace(TABLE, terms=replace(TERMS, until=date(2027, 2, 1)))
    sums = ColumnTerms(frozenset({"select", "aggregate"}), frozenset({"sum"}))
    narrower = replace(TABLE, columns=(replace(TABLE.columns[0], terms=sums),))
    assert differing(plan(QUERY + " ")) == {"the query", PLAN}
    assert differing(plan(to="c")) == {"who gets the answer", PLAN}
    assert differing(plan(engine="two")) == {"the engine", "the nodes", PLAN}
    named = {"use of column t.n", "functions of column t.n"}
    tables = ((expires, {"until of table t"}), (narrower, named), (replace(TABLE, rows=6), set[str]()))
    for table, terms in tables:
        assert differing(plan(table=table)) == {"the offer of table t", PLAN} | terms

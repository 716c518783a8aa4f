"""Constants in the words of another table's column: `with` names the column, and cuts and joins were asked for none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.algebra.types import Field, Integer, Varchar
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, KeptTable, Table
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.terms import DEFAULT_FUNCTIONS, ColumnTerms, Terms, open_terms
from tacit.plan.physical.placed import KeepStep
from tacit.sql import compile_query

from .owners import PARTIES, refusal
from .owners import terms as ways

NUMBER, TEXT = Integer(1, 1000, "INTEGER"), Varchar(8)
OPEN = open_terms(PARTIES)


def column(name: str, type_: Integer | Varchar, terms: ColumnTerms) -> Column:
    return Column(Field(name, type_, False), terms=terms)


PEOPLE = Table(
    "people", "south",
    (
        column("ssn", NUMBER, ways("join")),
        column("team", NUMBER, ways("join", partners=["towns.size"])),
        column("city", TEXT, ways("join", partners=["towns.name"])),
        column("age", NUMBER, ways("filter", cuts=(18, 65), partners=["towns.size"])),
        column("salary", NUMBER, ways("aggregate", functions=DEFAULT_FUNCTIONS)),
    ),
    (frozenset({"ssn"}),), rows=120, terms=Terms(frozenset({"north"}), 10, ("ssn",)),
)  # fmt: skip
TOWNS = Table(
    "towns", "west",
    tuple(column(name, TEXT if name == "name" else NUMBER, ways("select")) for name in ("ssn", "name", "size")),
    (frozenset({"ssn"}), frozenset({"name"})), rows=120, terms=OPEN,
)  # fmt: skip
CATALOG = Catalog(PARTIES, "rep3", PARTIES, (PEOPLE, TOWNS))
BESIDE = "SELECT COUNT(*) FROM people p JOIN towns t ON p.ssn = t.ssn WHERE {}"


def rule(sql: str, catalog: Catalog = CATALOG) -> str:
    found = refusal(sql, catalog)
    return "" if found is None else found.problem.rule


@pytest.mark.parametrize("test", ["p.age > 37", "p.age - 37 > 0"])
def test_constants_are_held_against_cuts(test: str) -> None:
    assert rule(BESIDE.format(test)) == "cuts"


@pytest.mark.parametrize(
    "test",
    [
        "p.age > t.size * 0 + 37",
        "p.age > CASE WHEN t.name = 'a' THEN 37 ELSE t.size END",
        "p.age + t.size > t.size + 37",
        "p.age - 37 > t.size - t.size",
    ],
)
def test_so_are_constants_that_a_partner_stands_beside(test: str) -> None:
    """Each asks who is above 37, which no cut of the owner is at."""
    assert rule(BESIDE.format("p.age > t.size")) == ""
    assert rule(BESIDE.format(test)) == "cuts"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people p WHERE p.team IN (SELECT 5 FROM towns)",
        "SELECT COUNT(*) FROM people p WHERE p.team IN (SELECT size * 0 + 5 FROM towns)",
        "SELECT COUNT(*) FROM people p WHERE p.city IN (SELECT SUBSTRING(name, 1, 0) || 'Oslo' FROM towns)",
    ],
)
def test_a_key_that_is_a_constant_is_a_condition(sql: str) -> None:
    """people.team may be joined with what towns have as their sizes, and not be asked whether it is 5."""
    assert rule("SELECT COUNT(*) FROM people p WHERE p.team IN (SELECT size FROM towns)") == ""
    assert rule(sql) == "filter"


def kept_by(statement: str) -> Catalog:
    """The catalog after a statement that keeps a table."""
    step = compile_query(statement, CATALOG, ("north",)).steps[-1]
    assert isinstance(step, KeepStep)
    about, kind = step.about, Kind("bits", 40, signed=False, nullable=False)
    columns = tuple(KeptColumn(e.field, kind, frozenset(e.readers), e.uses, e.repeats) for e in about.fields)
    kept = KeptTable(
        step.operator.table, "1f" * 16, columns, 120, False, about.single, tuple(map(frozenset, about.unique)),
        about.owners, about.tables, "0" * 64, statement, about.presence, exact=about.exact, told=about.told,
    )  # fmt: skip
    return replace(CATALOG, kept=(kept,))


@pytest.mark.parametrize("value", ["CASE WHEN name = 'a' THEN 'Oslo' ELSE name END", "name"])
def test_keeping_a_key_does_not_change_what_it_is(value: str) -> None:
    written = rule(f"SELECT COUNT(*) FROM people p WHERE p.city IN (SELECT {value} FROM towns)")
    catalog = kept_by(f"CREATE TABLE k AS SELECT {value} AS city FROM towns")
    assert rule("SELECT COUNT(*) FROM people p WHERE p.city IN (SELECT city FROM k)", catalog) == written


POINTS = Table(
    "points", "south",
    (column("ssn", NUMBER, ways("select")), column("points", NUMBER, ways("select", "aggregate"))),
    (frozenset({"ssn"}),), rows=120, terms=Terms(frozenset({"north"}), 10),
)  # fmt: skip


@pytest.mark.parametrize("value", ["a.points * a.points", "a.points * a.points * a.points"])
def test_powers_of_what_is_seen_are_not_added_up_over_rows_that_another_table_decides(value: str) -> None:
    """Who sees points of all learns from few sums of powers who is among people, which matches names nobody for."""
    catalog = replace(CATALOG, tables=(*CATALOG.tables, POINTS))
    assert rule(f"SELECT SUM({value}) FROM people p JOIN points a ON p.ssn = a.ssn", catalog) in ("linear", "weights")

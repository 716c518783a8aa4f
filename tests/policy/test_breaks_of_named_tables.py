"""Hashes of programs that owners had listed held for other tables: those of another owner, or of other columns.

The text of a program had the query beneath it as it was written, and said nothing of what its names mean.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan import explain_text
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, Varchar
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, KeptTable, Table, UnitedTable
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.sources import Source as Origin
from tacit.plan.facts.sources import Use
from tacit.plan.facts.terms import ColumnTerms, Terms
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import NODES as ROWS_OF_NODES
from tacit.plan.programs.identity import Source, digest
from tacit.plan.programs.queries import RowArray
from tacit.plan.read_tables import named_query
from tacit.sql import bind_rows, compile_query

NODES = ("a", "b", "c")
COMPUTED = ColumnTerms(frozenset({"program"}))
ANY = Terms(frozenset({"a"}), computing="any")
QUERY = "SELECT pay FROM people WHERE grade < 9"


def column(name: str, kind: Any, *, nullable: bool = False) -> Column:
    return Column(Field(name, kind, nullable), terms=COMPUTED)


PAY, GRADE = column("pay", Integer(0, 1000, "INTEGER")), column("grade", Integer(0, 20, "INTEGER"))
PEOPLE = Table("people", "b", (PAY, GRADE), rows=8, terms=ANY)


def federation(*tables: Table, kept: tuple[KeptTable, ...] = ()) -> Catalog:
    return Catalog(NODES, "rep3", NODES, tables or (PEOPLE,), kept=kept)


def asked(of: Catalog, query: str = QUERY) -> str:
    """The program that an analyst gets from a query in a federation."""
    named = named_query(query, bind_rows(query, of), of)
    declared = {"x": Declared((8,), "int64", 0, 1000)}
    return Program(lambda x: x.sum(), declared, Settings()).text(
        {"x": Source(ROWS_OF_NODES, RowArray(named, "pay").text, named)}
    )


def listing(of: Catalog, *texts: str) -> Catalog:
    """The federation whose owners list these programs, and no others."""
    hashes = frozenset(program_hash(digest(each)) for each in texts)
    tables = (replace(each, terms=replace(each.terms or ANY, computing=hashes)) for each in of.tables)
    return replace(of, tables=tuple(tables))


BIGGER = replace(GRADE, field=replace(GRADE.field, type=Integer(0, 20, "BIGINT")))
OTHERS: dict[str, tuple[Table, str]] = {
    "whose": (replace(PEOPLE, owner="c"), "a query of the program reads c.people, and was traced with b.people"),
    "type": (replace(PEOPLE, columns=(PAY, BIGGER)), "b.people has grade as BIGINT from 0 to 20, and the program was "
             "traced with INTEGER from 0 to 20"),
    "bounds": (replace(PEOPLE, columns=(PAY, column("grade", Integer(0, 9, "INTEGER")))), "INTEGER from 0 to 9, and"),
    "digits": (replace(PEOPLE, columns=(PAY, column("grade", Decimal(5, 1, 0, 200)))), r"DECIMAL\(5,1\) from 0e-1 to"),
    "NULL": (replace(PEOPLE, columns=(PAY, column("grade", Integer(0, 20, "INTEGER"), nullable=True))),
             "INTEGER from 0 to 20 or NULL, and"),
    "one column more": (replace(PEOPLE, columns=(PAY, GRADE, column("ill", Boolean()))), "has a column ill, which"),
    "order": (replace(PEOPLE, columns=(GRADE, PAY)), "b.people has its columns in another order than when"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_a_listed_hash_holds_for_no_other_table(what: str) -> None:
    here = federation()
    other, sentence = OTHERS[what]
    there = federation(other)
    first, second = asked(here), asked(there)
    assert digest(first) != digest(second)
    assert compile_query(first, listing(here, first), ("a",)).steps, "where it was listed it is allowed"
    with pytest.raises(QueryError, match=f"{sentence}.*; trace it again, and owners that list it list the new hash"):
        compile_query(first, listing(there, first), ("a",))
    with pytest.raises(PolicyRefusal, match=f"{other.owner}: allow: the columns people.grade, people.pay are open to"):
        compile_query(second, listing(there, first), ("a",))
    assert compile_query(second, listing(there, second), ("a",)).steps


def test_a_text_says_no_other_owner_than_there_is() -> None:
    """Its author may write any owner. Every party holds that against its own files."""
    here = federation()
    said = json.loads(asked(here))
    said["rows"][0]["tables"][0]["owners"] = ["c"]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    with pytest.raises(QueryError, match=r"reads b\.people, and was traced with c\.people"):
        compile_query(text, listing(here, text), ("a",))
    said["rows"][0]["tables"] = []
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    with pytest.raises(QueryError, match=r"reads b\.people, and was traced with no table"):
        compile_query(text, listing(here, text), ("a",))


def test_what_a_text_says_of_tables_stays_within_one_sentence() -> None:
    """Names may be as long as a text, and may have lines of their own."""
    here, long = federation(), "x" * 10_000 + chr(10) + "refused by nobody"
    (table,) = json.loads(asked(here))["rows"][0]["tables"]
    wrong = [
        [{**table, "owners": [long]}], [{**table, "table": long}], [{**table, "table": long, "kept": long}],
        [table] * 5000, [{**table, "columns": [["pay", long], ["grade", long]]}],
        [{**table, "columns": [*table["columns"], [long, long]]}], [{**table, "owners": []}],
    ]  # fmt: skip
    for tables in wrong:
        said = json.loads(asked(here))
        said["rows"][0]["tables"] = tables
        with pytest.raises(QueryError, match="; trace it again, and owners") as caught:
            compile_query(json.dumps(said, sort_keys=True, separators=(",", ":")), here, ("a",))
        assert len(str(caught.value)) < 600 and str(caught.value).isprintable()


def test_names_of_several_tables_are_those_tables() -> None:
    """A name for several tables means what the membership says, and that changes without any offer."""
    more = replace(PEOPLE, name="more", owner="c")
    texts = []
    for tables in (("people", "more"), ("people", "people_2")):
        second = replace(more, name=tables[1])
        of = replace(federation(PEOPLE, second), united=(UnitedTable("everybody", tables),))
        query = "SELECT pay FROM everybody WHERE grade < 9"
        found = named_query(query, bind_rows(query, of), of)
        texts.append(found)
        assert [each.title for each in found.tables] == ["b.people", f"c.{tables[1]}"]
    assert texts[0] != texts[1]


def test_tables_have_one_order_however_they_are_read() -> None:
    more = replace(PEOPLE, name="a_first", owner="c")
    of = federation(more, PEOPLE)
    query = "SELECT m.pay FROM a_first m JOIN people p ON m.grade = p.grade"
    mirrored = "SELECT m.pay FROM people p JOIN a_first m ON m.grade = p.grade"
    named = [named_query(each, bind_rows(each, of), of).tables for each in (query, mirrored)]
    assert named[0] == named[1] and [each.title for each in named[0]] == ["b.people", "c.a_first"]


def kept(owner: str, **changes: Any) -> KeptTable:
    uses = (Use(Origin(owner, "people", "pay")), Use(Origin(owner, "people", "grade"), ("filter",)))
    columns = (KeptColumn(PAY.field, Kind("bits", 10, False, False), frozenset(), uses),)
    made = KeptTable(
        "old", "1f" * 16, columns, 8, True, False, (), (owner,), ("people",), "0" * 64, QUERY, uses[1:]
    )  # fmt: skip
    return replace(made, **changes)


def test_kept_tables_are_named_with_whose_data_is_in_them() -> None:
    query = "SELECT pay FROM old"
    here = federation(kept=(kept("b"),))
    first = asked(here, query)
    assert compile_query(first, listing(here, first), ("a",)).steps
    there = federation(replace(PEOPLE, owner="c"), kept=(kept("c"),))
    assert digest(first) != digest(asked(there, query))
    with pytest.raises(QueryError, match=r"reads the kept table old \(1f1f1f1f\) of c, and was traced"):
        compile_query(first, listing(there, first), ("a",))
    narrow = KeptColumn(Field("pay", Integer(0, 999, "INTEGER"), False), Kind("bits", 10, False, False), frozenset())
    again = federation(kept=(kept("b", columns=(replace(narrow, uses=kept("b").columns[0].uses),)),))
    assert digest(first) != digest(asked(again, query))


def test_the_page_says_whose_tables_a_query_reads() -> None:
    page = " ".join(explain_text(compile_query(asked(federation()), federation(), ("a",))).replace("|", "").split())
    assert f"{QUERY} reads b.people (pay, grade)" in page


def test_types_that_differ_are_told_apart() -> None:
    """Lengths and dictionaries of strings, and numbers that a party rounds."""
    kinds = [
        column("town", Varchar(None)), column("town", Varchar(9)), column("town", Varchar(9), nullable=True),
        column("town", Varchar(1, ("a", "b"))), column("town", Varchar(1, ('a", "b',))),
        column("town", Decimal(5, 1, 0, 9)), replace(column("town", Decimal(5, 1, 0, 9)), rounded=True),
        column("town", Decimal(5, 2, 0, 9)), column("town", Boolean()),
    ]  # fmt: skip
    found = set()
    for each in kinds:
        of = federation(replace(PEOPLE, columns=(PAY, each)))
        found.add(named_query("SELECT pay FROM people", bind_rows("SELECT pay FROM people", of), of))
    assert len(found) == len(kinds)

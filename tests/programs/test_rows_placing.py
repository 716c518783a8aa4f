"""Rows of queries and of kept tables beneath a program: what owners' rules say of them, and what the account does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan import explain_text
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, Varchar
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, KeptTable, Table
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.row_arrays import is_exact
from tacit.plan.facts.sources import Source as Origin
from tacit.plan.facts.sources import Use
from tacit.plan.facts.terms import ColumnTerms, Terms
from tacit.plan.physical.operators import Element
from tacit.plan.physical.placed import KeptStep, PlacedPlan, ProgramStep
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import NODES, Source, digest
from tacit.plan.programs.queries import NamedQuery, RowArray
from tacit.plan.read_tables import named_query
from tacit.sql import bind_rows, compile_query

ID = "1f" * 16
ROWS = 8
COMPUTED = ColumnTerms(frozenset({"program"}))
AGE = Field("age", Integer(18, 99, "INTEGER"), False)
TERMS = Terms(frozenset({"a"}), computing="any")
PEOPLE = Table(
    "people", "b", (Column(AGE, terms=COMPUTED), Column(replace(AGE, name="pay"))), rows=ROWS, exact=True, terms=TERMS
)
"""Its column pay is closed to programs."""


def kept(*through: str, **changes: Any) -> KeptTable:
    """A kept table of ages, made of these columns of people, of which all rows are there."""
    uses = tuple(Use(Origin("b", "people", each)) for each in through or ("age",))
    columns = (
        KeptColumn(AGE, Kind("bits", 7, False, False), frozenset(), uses),
        KeptColumn(Field("bmi", Decimal(5, 1, 100, 600), False), Kind("bits", 10, False, False), frozenset(), uses),
        KeptColumn(Field("ill", Boolean(), False), Kind("bits", 1, False, False), frozenset(), uses),
        KeptColumn(replace(AGE, name="seen", nullable=True), Kind("bits", 7, False, True), frozenset(), uses),
        KeptColumn(Field("town", Varchar(9), False), Kind("bits", 72, False, False, "bytes"), frozenset(), uses),
    )
    made = KeptTable(
        "young", ID, columns, ROWS, False, False, (), ("b",), ("people",), "0" * 64, "SELECT ...",
        (Use(Origin("b", "people", None)),),
    )  # fmt: skip
    return replace(made, **changes)


def catalog(table: Table = PEOPLE, found: KeptTable | None = None) -> Catalog:
    return Catalog(("a", "b", "c"), "rep3", ("a", "b", "c"), (table,), kept=(found or kept(),))


def text(function: Any, **columns: tuple[RowArray, Declared]) -> str:
    declared = {name: each for name, (_, each) in columns.items()}
    sources = {name: Source(NODES, array.text, array.rows) for name, (array, _) in columns.items()}
    return Program(function, declared, Settings()).text(sources)


def rows(query: str, column: str | None = "age", of: Catalog | None = None) -> RowArray:
    """A column of a query as it is bound now."""
    known = of or catalog()
    return RowArray(named_query(query, bind_rows(query, known), known), column)


def ages(query: str = "SELECT age FROM young", of: Catalog | None = None) -> tuple[RowArray, Declared]:
    return rows(query, of=of), Declared((ROWS,), "int64", 18, 99)


def total(x: Any) -> Any:
    return x.sum()


def placed(asked: str, of: Catalog | None = None, to: tuple[str, ...] = ("a",)) -> PlacedPlan:
    return compile_query(asked, of or catalog(), to)


def test_a_program_takes_columns_of_a_kept_table() -> None:
    plan = placed(text(total, x=ages()))
    assert [type(each).__name__ for each in plan.steps] == ["KeptStep", "ProgramStep", "ReleaseStep", "ResultStep"]
    assert [step.id for step in plan.steps] == [1, 2, 4, 5]
    program = next(each for each in plan.steps if isinstance(each, ProgramStep))
    assert program.operator.inputs == (Element(1, "age"),)
    assert plan.catalog is not None and [each.id for each in plan.catalog.kept] == [ID]
    (answer,) = (each for each in plan.disclosures if each.kind == "answer")
    assert {use.source.column for _, uses in answer.derivation.outputs for use in uses} == {"age", None}


def test_the_account_names_what_a_kept_table_was_made_of() -> None:
    page = " ".join(explain_text(placed(text(total, x=ages()))).split())
    assert "x: the column age of SELECT age FROM young (8)" in page
    assert "computed by the program from people.age and people of b, any element of which may show in it" in page
    assert f"The kept table young ({ID[:8]}) is read: shares made of people" in page
    assert "b's rule: the column people.age, of which the kept table young is made, may be computed on" in page


def test_two_queries_are_one_behind_the_other() -> None:
    both = text(lambda x, y: (x * y).sum(), x=ages(), y=ages("SELECT age FROM people"))
    plan = placed(both)
    assert [each.id for each in plan.steps][:5] == [1, 2, 3, 4, 6]
    assert sum(isinstance(each, KeptStep) for each in plan.steps) == 1


@pytest.mark.parametrize(
    ("terms", "made_of", "sentence"),
    [
        (replace(TERMS, computing=frozenset()), (), "b: allow: the column people.age, of which the kept table young is "
         "made, is open to no program, and so not to p:"),
        (TERMS, ("age", "pay"), "b: closed: the columns people.age, people.pay, of which the kept table young is made, "
         "are closed"),
        (TERMS, ("age", "gone"), "b: closed: the columns people.age, people.gone, of which"),
        (replace(TERMS, recipients=frozenset({"c"})), (), "b: recipient: a is no recipient of the column people.age, "
         "of which the kept table young is made"),
    ],
)  # fmt: skip
def test_rules_hold_of_what_a_kept_table_was_made_of(terms: Terms, made_of: tuple[str, ...], sentence: str) -> None:
    bound_by = catalog(replace(PEOPLE, terms=terms), kept(*made_of))
    with pytest.raises(PolicyRefusal) as caught:
        placed(text(total, x=ages()), bound_by)
    assert sentence in str(caught.value)


def test_an_owner_lists_a_program_on_a_kept_table() -> None:
    asked = text(total, x=ages())
    listed = replace(TERMS, computing=frozenset({program_hash(digest(asked))}))
    assert placed(asked, catalog(replace(PEOPLE, terms=listed))).ruling.allowances
    # The table is another one by now: the program has another hash, which nobody has listed.
    other = replace(kept(), id="2e" * 16)
    with pytest.raises(QueryError, match="the kept table young is not the one that the program was traced with"):
        placed(asked, catalog(replace(PEOPLE, terms=listed), other))
    again = text(total, x=ages(of=catalog(found=other)))
    with pytest.raises(PolicyRefusal, match=r"allow: the column people\.age"):
        placed(again, catalog(replace(PEOPLE, terms=listed), other))


def test_queries_tell_nodes_nothing_that_rules_do_not_allow() -> None:
    asked = text(total, x=ages("SELECT age FROM people"))
    unsized = replace(PEOPLE, rows=None, exact=False)
    with pytest.raises(PolicyRefusal, match="b: sizes: people declares no number of rows to pad to"):
        placed(asked, catalog(unsized))
    filtered = rows("SELECT age FROM people WHERE age < 40"), Declared((ROWS,), "int64", 0, 99)
    counted = replace(PEOPLE, consents=frozenset({"filter"}))
    plan = placed(text(total, x=filtered), catalog(counted))
    assert all(each.kind != "size" or each.site.name.endswith(".release") for each in plan.disclosures)


WRONG: Mapping[str, tuple[tuple[RowArray, Declared], str]] = {
    "a column with NULL": (
        (rows("SELECT seen FROM young", "seen"), Declared((ROWS,), "int64", 18, 99)),
        "the column seen of the query may be NULL, and arrays have none; write COALESCE",
    ),
    "a column of strings": (
        (rows("SELECT town FROM young", "town"), Declared((ROWS,), "int64", 0, 1)),
        "the column town of the query is VARCHAR, and programs read whole numbers",
    ),
    "a column that is not there": (
        (rows("SELECT age FROM young", "bmi"), Declared((ROWS,), "int64", 0, 1)),
        "the query gives no column 'bmi'; its columns are: age",
    ),
    "other bounds": (
        (rows("SELECT age FROM young"), Declared((ROWS,), "int64", 20, 99)),
        "the program takes x for: .* from 20 to 99.*Trace it again with what the query gives",
    ),
    "other rows": (
        (rows("SELECT age FROM young"), Declared((ROWS + 1,), "int64", 18, 99)),
        "Trace it again with what the query gives",
    ),
    "a table that is not kept": (
        (RowArray(NamedQuery("SELECT age FROM old", ()), "age"), Declared((ROWS,), "int64", 18, 99)),
        "there is no table 'old'",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_one_sentence(what: str) -> None:
    given, sentence = WRONG[what]
    with pytest.raises(QueryError, match=sentence):
        placed(text(total, x=given))


def test_what_a_kept_table_does_not_say_is_closed() -> None:
    silent = replace(kept(), presence=None)
    with pytest.raises(QueryError, match="the kept table young does not say what it is made of; DROP TABLE young"):
        placed(text(total, x=ages()), catalog(found=silent))
    elsewhere = replace(PEOPLE, name="others")
    with pytest.raises(PolicyRefusal, match="b: kept: the kept table young has data of people, which b does not offer"):
        placed(text(total, x=ages()), catalog(elsewhere))


def test_names_of_rows_are_read_as_they_were_written() -> None:
    named = rows('SELECT y."age"\nFROM young y JOIN people p ON y.age = p.age', None)
    assert NamedQuery.of(json.loads(json.dumps(named.rows.json()))) == named.rows
    assert [each.title for each in named.rows.tables] == ["b.people", "the kept table young (1f1f1f1f)"]
    for column in ('a\n"b', "there", None):
        array = replace(named, column=column)
        assert RowArray.of(named.rows, array.text) == array and array.text.isprintable()
    for wrong in ("", "[]", '"a', ' "a"', "1"):
        with pytest.raises(QueryError, match="names by no query"):
            RowArray.of(named.rows, wrong)
    with pytest.raises(QueryError, match="names by no query"):
        RowArray.of(None, '"age"')


SAID = rows("SELECT age FROM young").rows.json()


@pytest.mark.parametrize(
    "wrong",
    [
        [], "SELECT", {}, {**SAID, "query": 1}, {**SAID, "query": "x" * 20_000}, {**SAID, "more": 1},
        {**SAID, "tables": [{}]}, {**SAID, "tables": [{**SAID["tables"][0], "kept": 7}]},
        {**SAID, "tables": [{**SAID["tables"][0], "columns": [["age"]]}]},
        {**SAID, "tables": [{**SAID["tables"][0], "owners": "b"}]},
    ],
)  # fmt: skip
def test_rows_that_are_not_named_as_tables_are_one_sentence(wrong: Any) -> None:
    said = {**json.loads(text(total, x=ages())), "rows": [wrong]}
    with pytest.raises(QueryError, match="the text is no program: the rows of a query are not named as tables"):
        placed(json.dumps(said, sort_keys=True, separators=(",", ":")))


def test_a_text_has_the_rows_that_it_reads_once_and_no_others() -> None:
    asked = text(lambda x, y: (x * y).sum(), x=ages(), y=ages())
    (named,) = json.loads(asked)["rows"]
    for listed in ([named, named], [], None):
        said = {**json.loads(asked), "rows": listed}
        with pytest.raises(QueryError, match="the text is no program"):
            placed(json.dumps(said, sort_keys=True, separators=(",", ":")))


@pytest.mark.parametrize(
    ("query", "exact"),
    [
        ("SELECT age + 1 AS n FROM people", True),
        ("SELECT age FROM young UNION ALL SELECT age FROM people", True),
        ("SELECT COUNT(*) AS n FROM people WHERE age < 20", True),
        ("SELECT age FROM people WHERE age < 20", False),
        ("SELECT age, COUNT(*) AS n FROM people GROUP BY age", False),
        ("SELECT p.age FROM people p JOIN young y ON p.age = y.age", False),
    ],
)
def test_where_all_rows_are_there(query: str, exact: bool) -> None:
    found = catalog()
    assert is_exact(bind_rows(query, found), found) is exact
    padded = catalog(replace(PEOPLE, exact=False), kept(padded=True))
    assert is_exact(bind_rows(query, padded), padded) is (exact and "COUNT" in query)

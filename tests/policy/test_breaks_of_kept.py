"""Questions that told of single people by way of kept tables: constants, programs' results, and orders of rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, KeptTable, Table
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.terms import DEFAULT_FUNCTIONS, ArrayTerms, ColumnTerms, Terms, Way, open_terms
from tacit.plan.physical.placed import KeepStep
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import NODES as ROWS_OF_NODES
from tacit.plan.programs.identity import Source
from tacit.plan.programs.queries import NamedQuery, RowArray
from tacit.plan.read_tables import named_query
from tacit.sql import bind_rows, compile_query

NODES = ("a", "b", "c")
SSN, W = Field("ssn", Integer(1, 1000, "INTEGER"), False), Field("w", Integer(0, 1 << 20, "INTEGER"), False)
ANY = ArrayTerms(frozenset({"program"}), frozenset(NODES), None)


def ruled(name: str, low: int, high: int, *ways: Way) -> Column:
    functions = frozenset(DEFAULT_FUNCTIONS) if "aggregate" in ways else frozenset()
    return Column(Field(name, Integer(low, high, "INTEGER"), False), terms=ColumnTerms(frozenset(ways), functions))


PEOPLE = Table(
    "people",
    "b",
    (
        ruled("ssn", 1, 1000, "join"),
        ruled("salary", 0, 10**6, "aggregate"),
        ruled("town", 0, 50, "group", "filter"),
    ),
    unique=(frozenset({"ssn"}),),
    rows=120,
    terms=Terms(frozenset({"a"}), least_group=10, unit=("ssn",)),
)
OWN = Table(
    "own", "a", (Column(SSN), Column(W)), unique=(frozenset({"ssn"}),), rows=20, exact=True, terms=open_terms(NODES)
)
WEIGHTS = OfferedArray("w", "a", (20,), "int32", Fraction(0), Fraction(1 << 20), terms=ANY)
CATALOG = Catalog(NODES, "rep3", NODES, (PEOPLE, OWN), arrays=(WEIGHTS,))


def kept_by(statement: str, catalog: Catalog = CATALOG) -> Catalog:
    """The catalog after a statement that keeps a table."""
    step = compile_query(statement, catalog, ("a",)).steps[-1]
    assert isinstance(step, KeepStep)
    about, kind = step.about, Kind("bits", 40, signed=False, nullable=False)
    columns = tuple(KeptColumn(e.field, kind, frozenset(e.readers), e.uses, e.repeats) for e in about.fields)
    unique, rows = tuple(map(frozenset, about.unique)), int(step.rows_bound.replace(",", ""))
    kept = KeptTable(
        step.operator.table, "1f" * 16, columns, rows, False, about.single, unique, about.owners, about.tables,
        "0" * 64, statement, about.presence, exact=about.exact, told=about.told, program=about.program,
    )  # fmt: skip
    return replace(catalog, kept=(*catalog.kept, kept))


def text_of(function: Any, owner: str = "a", array: str = "w", size: int = 20, high: int = 1 << 20) -> str:
    """The text of a program on one array."""
    return Program(function, {"x": Declared((size,), "int32", 0, high)}, Settings()).text({"x": Source(owner, array)})


def refused(sql: str, catalog: Catalog) -> str:
    """The rule that refuses a question of a, or nothing."""
    try:
        compile_query(sql, catalog, ("a",))
    except PolicyRefusal as refusal:
        return refusal.rule
    return ""


# 1. Weights, groups and repeated rows that stand in a kept table ------------------------------------------------------

ONCE = "(SELECT ssn, MAX(w) AS w FROM k GROUP BY ssn)"
ASKED = (
    f"SELECT SUM(k.w) AS s FROM people p JOIN {ONCE} k ON p.ssn = k.ssn",
    "SELECT SUM(p.salary) AS s FROM people p JOIN k ON p.ssn = k.ssn",
    f"SELECT SUM(p.salary) AS s FROM people p JOIN {ONCE} k ON p.ssn = k.ssn GROUP BY ROLLUP (k.w)",
    f"SELECT SUM(CASE WHEN p.town = k.w THEN 1 ELSE 0 END) AS s FROM people p JOIN {ONCE} k ON p.ssn = k.ssn",
    "SELECT COUNT(*) AS n FROM people p WHERE p.ssn IN (SELECT ssn FROM k)",
)
KEEPING = (
    "CREATE TABLE k AS SELECT x.ssn, x.w FROM (VALUES (1, 1), (2, 2), (3, 4)) x(ssn, w)",
    "CREATE TABLE k AS SELECT o.ssn, x.w FROM own o JOIN (VALUES (1, 1), (2, 2)) x(ssn, w) ON o.ssn = x.ssn",
    "CREATE TABLE k AS SELECT ssn, w FROM own UNION ALL SELECT 3, 4",
    "CREATE TABLE k (ssn, w) AS " + text_of(lambda x: {"ssn": np.clip(x, 1, 1000), "w": x}),
    "CREATE TABLE k (ssn, w) AS " + text_of(lambda x: {"ssn": np.clip(x, 1, 1000), "w": x}, array="own(w)"),
)


@pytest.mark.parametrize("keeping", KEEPING)
@pytest.mark.parametrize("sql", ASKED)
def test_constants_and_results_that_are_kept_are_constants(keeping: str, sql: str) -> None:
    assert refused(sql, kept_by(keeping)) == "weights"


@pytest.mark.parametrize("keeping", KEEPING)
def test_so_are_tables_made_of_such_tables(keeping: str) -> None:
    catalog = kept_by(keeping.replace("TABLE k", "TABLE first"))
    again = kept_by("CREATE TABLE k AS SELECT ssn, w FROM first", catalog)
    assert refused(ASKED[0], again) == "weights"


def test_what_is_kept_of_owners_tables_alone_meets_their_rules() -> None:
    """Rows of the recipient's own table are weights, and no constants: a count of matches is allowed as before."""
    catalog = kept_by("CREATE TABLE k AS SELECT ssn, w FROM own")
    assert refused(ASKED[0], catalog) == "weights"
    assert refused("SELECT COUNT(*) AS n FROM people p JOIN k ON p.ssn = k.ssn", catalog) == ""
    unsaid = replace(catalog.kept[0], told=None)
    assert refused(ASKED[-1], replace(catalog, kept=(unsaid,))) == "weights"


def test_what_owners_offer_no_more_is_no_table_of_theirs() -> None:
    """Of a column that is gone nobody knows that it holds weights."""
    catalog = kept_by("CREATE TABLE k AS SELECT ssn, w FROM own")
    narrow = replace(catalog, tables=(PEOPLE, replace(OWN, columns=OWN.columns[:1])))
    assert refused(ASKED[0], narrow) == "weights"
    assert refused(ASKED[0], replace(catalog, tables=(PEOPLE,))) in ("weights", "kept")


def test_wholly_open_tables_may_be_beside_them() -> None:
    catalog = kept_by(KEEPING[0])
    assert refused("SELECT SUM(k.w) AS s FROM own o JOIN k ON o.ssn = k.ssn", catalog) == ""
    with pytest.raises(QueryError):
        compile_query("SELECT ssn FROM people", catalog, ("a",))


# 2. Rules of what decides which rows a kept table has, and of whose it is --------------------------------------------

THEIRS = replace(WEIGHTS, owner="b")
NARROWED: tuple[tuple[OfferedArray, ...], ...] = (
    (replace(THEIRS, terms=replace(ANY, recipients=frozenset({"c"}))),),
    (replace(THEIRS, terms=replace(ANY, programs=frozenset({"p:00"}))),),
    (replace(THEIRS, owner="c"),),
    (),
)


@pytest.mark.parametrize("arrays", NARROWED)
@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS n FROM k", "SELECT SUM(w) AS s FROM k"])
def test_rules_hold_of_arrays_that_decide_which_rows_there_are(arrays: tuple[OfferedArray, ...], sql: str) -> None:
    """A count of rows that fulfil a condition asked for an array that its owner had closed, or offers no more."""
    start = replace(CATALOG, arrays=(THEIRS,))
    results = kept_by("CREATE TABLE first (w, v) AS " + text_of(lambda x: {"w": x, "v": x + 1}, "b"), start)
    catalog = kept_by("CREATE TABLE k AS SELECT 1 AS w FROM first WHERE v > 3", results)
    assert refused(sql, catalog) == ""
    assert refused(sql, replace(catalog, arrays=arrays)) in ("kept", "recipient")


# 3. The order of rows, and what nodes are told on the way ------------------------------------------------------------

ID = (frozenset({"id"}),)
AGES = Table(
    "ages", "b", (ruled("id", 1, 1000, "program"), ruled("age", 0, 120, "program")), ID, 8, exact=True,
    terms=Terms(frozenset({"a", "c"}), computing="any"),
)  # fmt: skip
PAY = Table(
    "pay", "c", (ruled("id", 1, 1000, "program"), ruled("pay", 0, 120, "program")), ID, 8, exact=True,
    terms=Terms(frozenset(), computing="any"),
)  # fmt: skip
TWO = Catalog(NODES, "rep3", NODES, (AGES, PAY))
SORTED = (
    "SELECT age, (SELECT SUM(pay) FROM pay) AS s FROM ages",
    "SELECT age, id IN (SELECT id FROM pay WHERE pay > 50) AS r FROM ages",
    "SELECT a.age, ROW_NUMBER() OVER (ORDER BY p.pay) AS r FROM ages a LEFT JOIN pay p ON a.id = p.id",
    "SELECT age FROM (SELECT a.age, ROW_NUMBER() OVER (ORDER BY p.pay) AS r FROM ages a JOIN pay p ON a.id = p.id) x",
)


def of_rows(query: str, column: str, of: Catalog | None = TWO) -> str:
    """The text of a program on rows. of: by what the query is bound; None for a query that is not."""
    declared = {"x": Declared((8,), "int64", 0, 120)}
    named = NamedQuery(query, ()) if of is None else named_query(query, bind_rows(query, of), of)
    source = Source(ROWS_OF_NODES, RowArray(named, column).text, named)
    return Program(lambda x: {"x": x}, declared, Settings()).text({"x": source})


@pytest.mark.parametrize("query", SORTED)
def test_what_sorts_rows_stays_behind_them_where_they_are_kept(query: str) -> None:
    """a read ages in the order of pay, of which it is no recipient: keeping one column had lost the others."""
    assert refused(of_rows(query, "age"), TWO) == "recipient"
    catalog = kept_by("CREATE TABLE k (x) AS " + of_rows(query, "age"), TWO)
    made = {(each.table, each.column) for each in catalog.kept[0].sources}
    assert ("pay", "pay") in made or ("pay", "id") in made
    assert refused(of_rows("SELECT x FROM k", "x", catalog), catalog) == "recipient"


def test_readers_of_columns_are_told_nothing_beneath_programs() -> None:
    """A reader of both keys would join in clear, which the program's recipients are told nothing of."""
    readable = (replace(AGES.columns[0], readers=frozenset(NODES)), AGES.columns[1])
    terms = replace(PAY.terms or Terms(frozenset()), recipients=frozenset({"c"}))
    ages, pay = replace(AGES, terms=terms), replace(PAY, terms=terms)
    read = replace(pay, columns=(replace(PAY.columns[0], readers=frozenset(NODES)), PAY.columns[1]))
    catalog = replace(TWO, tables=(replace(ages, columns=readable), read))
    query = "SELECT a.age FROM ages a LEFT JOIN pay p ON a.id = p.id"
    plan = compile_query(of_rows(query, "age", catalog), catalog, ("c",))
    hidden = compile_query(of_rows(query, "age"), replace(TWO, tables=(ages, pay)), ("c",))
    assert [type(each) for each in plan.steps] == [type(each) for each in hidden.steps]
    assert [each.kind for each in plan.disclosures] == [each.kind for each in hidden.disclosures]
    assert plan.catalog is not None
    assert not any(column.readers for table in plan.catalog.tables for column in table.columns)


# 4. Texts that cost a reader more than they say ----------------------------------------------------------------------


def test_a_query_that_doubles_is_refused_before_rules_are_asked() -> None:
    """Some hundred characters took a reader minutes, beneath a program as well as alone."""
    steps = "".join(f", a{i} AS (SELECT x.age FROM a{i - 1} x JOIN a{i - 1} y ON x.age = y.age)" for i in range(1, 30))
    query = f"WITH a0 AS (SELECT age FROM ages){steps} SELECT age FROM a29"
    for text in (query, of_rows(query, "age", None)):
        with pytest.raises(QueryError, match="the query has more than 1,024 operators"):
            compile_query(text, TWO, ("c",))


def test_steps_that_nothing_reads_are_counted() -> None:
    """Each was below the limit of one query, and a text of some thousand characters had any number of them."""
    doubled = "".join(f", a{i} AS (SELECT x.age FROM a{i - 1} x, a{i - 1} y WHERE x.age = y.age)" for i in range(1, 5))
    unused = "".join(f", u{i} AS (SELECT age FROM a4 WHERE age < {i})" for i in range(120))
    query = f"WITH a0 AS (SELECT age FROM ages){doubled}{unused} SELECT age FROM ages"
    for text in (query, of_rows(query, "age", None)):
        with pytest.raises(QueryError, match="the steps of the query have more than 2,048 operators") as caught:
            compile_query(text, TWO, ("c",))
        place = caught.value.position
        assert place is not None and place[1] < len(query) / 3, "it ends at the limit, and not behind the last step"


def test_a_chain_of_steps_is_a_query() -> None:
    chain = "".join(f", a{i} AS (SELECT age + 1 AS age FROM a{i - 1} WHERE age < {i})" for i in range(1, 30))
    assert compile_query(of_rows(f"WITH a0 AS (SELECT age FROM ages){chain} SELECT age FROM ages", "age"), TWO, ("c",))


def test_a_program_reads_few_queries() -> None:
    declared = {f"x{i}": Declared((8,), "int64", 0, 120) for i in range(17)}
    arrays = {f"x{i}": RowArray(NamedQuery("SELECT age FROM ages" + " " * i, ()), "age") for i in range(17)}
    sources = {name: Source(ROWS_OF_NODES, each.text, each.rows) for name, each in arrays.items()}
    text = Program(lambda **columns: sum(columns.values()), declared, Settings()).text(sources)
    with pytest.raises(QueryError, match="reads the rows of 17 queries, and at most 16"):
        compile_query(text, TWO, ("c",))


def test_digits_without_end_are_no_type() -> None:
    with pytest.raises(QueryError, match="the DECIMAL of x has more than 38 digits"):
        compile_query(f"CREATE TABLE k (x DECIMAL({'9' * 5000}, 2)) AS " + text_of(lambda x: {"x": x}), CATALOG, ("a",))

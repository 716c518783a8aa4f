"""Tiny tables of three owners, and aggregations over them: as SQL with guards, and as rows whose units are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import duckdb
from hypothesis import strategies as st
from tests.plan.catalogs import Columns, catalog, table

from tacit.local.render import render
from tacit.plan.algebra.relations import Aggregate, Call, Expr, Opened, Relation, Scan
from tacit.plan.algebra.trees import children, over_children, scans
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, fields
from tacit.plan.facts.terms import Small
from tacit.plan.policy.guarded import guarded
from tacit.plan.policy.guards import Floor, Guard, Refined
from tacit.sql import bind

from .by_hand import Question, Row, answer

Value = Any
Tables = dict[str, list[tuple[Value, ...]]]

SSN = Integer(0, 9, "INTEGER")
PEOPLE: Columns = [
    ("ssn", SSN, False),
    ("city", Integer(0, 2, "INTEGER"), True),
    ("pay", Integer(-5, 20, "INTEGER"), True),
    ("vip", Boolean(), True),
]
VISITS: Columns = [
    ("id", Integer(0, 99, "INTEGER"), False),
    ("person", SSN, True),
    ("kind", Integer(0, 2, "INTEGER"), True),
    ("cost", Integer(0, 9, "INTEGER"), True),
]
ROWS = 8
CATALOG = catalog(
    ("a", "b", "c"),
    table("people", "b", PEOPLE, [["ssn"]], rows=ROWS),
    table("visits", "a", VISITS, [["id"]], rows=ROWS),
    table("calls", "c", VISITS, rows=ROWS),
)


@dataclass(frozen=True)
class Case:
    """A query with one guarded aggregate, over which only columns are chosen.

    floors: table, unit and least number of units. rows: the aggregate's input with its units. refined: aggregations
    with conditions over the aggregate's input, by the place of the aggregation. own: as of a Question, by place too.
    written, never, shared: as of a Question.
    """

    query: str
    floors: tuple[tuple[str, tuple[str, ...], int], ...]
    rows: Callable[[Tables], list[Row]]
    arguments: tuple[str | None, ...]
    refined: Callable[[Aggregate], dict[int, tuple[Expr, ...]]] = lambda aggregate: {}
    own: tuple[tuple[int, int, int], ...] = ()
    small: Small = "drop"
    complement: bool = False
    written: tuple[int, ...] = ()
    never: frozenset[tuple[bool, ...]] = frozenset()
    shared: frozenset[int] = frozenset()

    @cached_property
    def asked(self) -> Asked:
        """The query over the tables of three owners."""
        return Asked(self, CATALOG)

    @property
    def question(self) -> Question:
        """The same for the evaluation by hand."""
        guard = self.asked.guard
        names = {place: each.name for place, each in enumerate(guard.aggregate.aggregations)}
        return Question(
            tuple(
                (each.name, each.function, argument)
                for each, argument in zip(guard.aggregate.aggregations, self.arguments, strict=True)
            ),
            tuple(least for _, _, least in self.floors),
            frozenset(each.aggregation for each in guard.refined),
            {names[at]: (floor, least) for at, floor, least in self.own},
            self.small == "fold",
            self.complement,
            "WHERE" in self.query,
            self.written,
            self.never,
            self.shared,
        )

    def answer(self, tables: Tables) -> list[tuple[Value, ...]]:
        """What is shown, by hand."""
        return answer(self.rows(tables), self.question, bool(self.asked.guard.aggregate.keys))


@dataclass(frozen=True)
class Asked:
    """A case under a catalog."""

    case: Case
    catalog: Catalog

    @cached_property
    def bound(self) -> Relation:
        """The query without its guard."""
        return bind(self.case.query, self.catalog)

    @cached_property
    def guard(self) -> Guard:
        """The guard of its highest aggregate."""
        case, aggregate = self.case, next(aggregates(self.bound))
        listed = {each.table: each for each in scans(aggregate)}
        floors = tuple(Floor(listed[name], unit, least) for name, unit, least in case.floors)
        conditions = case.refined(aggregate)
        refined = tuple(
            Refined(
                aggregate.aggregations[place].name,
                conditions.get(place, ()),
                tuple(replace(floors[floor], least=least) for at, floor, least in case.own if at == place),
            )
            for place in sorted({*conditions, *(at for at, _, _ in case.own)})
        )
        hidden = {each: frozenset(source for _, source in each.columns) for each in scans(aggregate)}
        return Guard(aggregate, floors, refined, case.small, case.complement, hidden)

    @cached_property
    def relation(self) -> Relation:
        """The guarded query."""
        return guarded(self.bound, (self.guard,), self.catalog)

    @cached_property
    def prepared(self) -> Prepared:
        """The guarded query in DuckDB."""
        return Prepared(self.relation)


def aggregates(relation: Relation) -> Iterator[Aggregate]:
    """All aggregates, the highest first."""
    if isinstance(relation, Aggregate):
        yield relation
    for child in children(relation):
        yield from aggregates(child)


def is_there(aggregate: Aggregate, name: str) -> Call:
    """A column is not NULL."""
    missing = Call("is_null", (column(aggregate.input, name),), Boolean(), False)
    return Call("not", (missing,), Boolean(), False)


def argument(aggregate: Aggregate, place: int) -> str:
    """The input column of an aggregation."""
    found = aggregate.aggregations[place].column
    assert found is not None
    return found


class Prepared:
    """A relation as SQL, prepared once. What is used several times becomes a table of its own, as in a placed plan."""

    def __init__(self, relation: Relation) -> None:
        self.uses: dict[Relation, int] = {}
        self.numbers: dict[Relation, int] = {}
        self.made: list[tuple[int, str]] = []
        self._count(relation)
        self.query = self._rendered(relation)

    def scanned(self, scan: Scan) -> str:
        """The table itself."""
        return scan.table

    def opened(self, opened: Opened) -> str:
        """What is used several times."""
        return f"part_{opened.step}"

    def evaluated(self, tables: Tables, database: duckdb.DuckDBPyConnection) -> list[tuple[Value, ...]]:
        """The rows by DuckDB. database: one with these tables."""
        for declared in CATALOG.tables:
            rows = tables[declared.name]
            database.execute(f"TRUNCATE {declared.name}")
            if rows:
                marks = ", ".join("(" + ", ".join("?" for _ in declared.columns) + ")" for _ in rows)
                database.execute(f"INSERT INTO {declared.name} VALUES {marks}", [each for row in rows for each in row])
        return self.rows(database)

    def rows(self, database: duckdb.DuckDBPyConnection) -> list[tuple[Value, ...]]:
        """The rows over what is in the database."""
        for number, query in self.made:
            database.execute(f"CREATE OR REPLACE TEMP TABLE part_{number} AS {query}")
        return database.execute(self.query).fetchall()

    def _count(self, relation: Relation) -> None:
        self.uses[relation] = self.uses.get(relation, 0) + 1
        if self.uses[relation] == 1:
            for child in children(relation):
                self._count(child)

    def _rendered(self, relation: Relation) -> str:
        return render(over_children(relation, self._leaf), fields(relation), self)

    def _leaf(self, relation: Relation) -> Relation:
        if self.uses[relation] == 1 or isinstance(relation, Scan):
            return over_children(relation, self._leaf)
        if relation not in self.numbers:
            query = self._rendered(relation)
            self.numbers[relation] = len(self.numbers)
            self.made.append((self.numbers[relation], query))
        return Opened(self.numbers[relation], fields(relation))


@contextmanager
def empty_tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with all tables, empty."""
    database = duckdb.connect(config={"threads": 1})
    for declared in CATALOG.tables:
        columns = ", ".join(
            f"{each.field.name} {'BOOLEAN' if isinstance(each.field.type, Boolean) else 'INTEGER'}"
            for each in declared.columns
        )
        database.execute(f"CREATE TABLE {declared.name} ({columns})")
    yield database
    database.close()


@st.composite
def tables(draw: st.DrawFn) -> Tables:
    """Rows of all tables: few persons, so that floors of two and three are met and missed."""
    small = st.integers(0, 2)
    maybe = st.one_of(st.none(), small)
    ssns = draw(st.lists(st.integers(0, 7), unique=True, min_size=draw(st.sampled_from([0, 4, 6])), max_size=ROWS))
    people = [
        (ssn, draw(maybe), draw(st.one_of(st.none(), st.integers(-5, 9))), draw(st.sampled_from([True, False, None])))
        for ssn in ssns
    ]
    person = st.one_of(st.integers(0, 7), st.integers(0, 3), st.none())
    cost = st.one_of(st.none(), small)
    visits = [(at, draw(person), draw(maybe), draw(cost)) for at in range(draw(st.integers(0, ROWS)))]
    calls = [(draw(small), draw(person), draw(maybe), draw(cost)) for _ in range(draw(st.integers(0, ROWS)))]
    return {"people": people, "visits": visits, "calls": calls}

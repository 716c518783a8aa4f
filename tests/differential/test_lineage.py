"""Lineage of generated queries: what it does not list changes nothing, and no rule adds a source.

Tables change in random ways, and DuckDB computes each query's tree again, as it is bound and as the planner leaves it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import duckdb
import pytest
from tests.plan.dependence import Pool, Row, as_sql, seen, source, sources, touched

from tacit.local.macros import MACROS
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import names
from tacit.plan.facts.lineage import Lineage, lineage
from tacit.plan.facts.sources import Source
from tacit.plan.rules.sequence import RULES, applied
from tacit.plan.rules.stage import Predicted, Stage
from tacit.sql import bind

from .asking import stored
from .federations import pooled
from .queries import Question
from .searching import NIGHTLY, search

QUESTIONS = 1000 if NIGHTLY else 30
TOO_LARGE = (duckdb.OutOfRangeException, duckdb.ConversionException)
"""DuckDB refuses numbers that do not fit their types. Then there is nothing to compare."""


@dataclass
class Asked:
    """A question over its data: all trees that mean it, and a database in which tables can change."""

    catalog: Catalog
    bound: Relation
    core: Relation
    pool: Pool
    database: duckdb.DuckDBPyConnection


@contextmanager
def asked(question: Question, keys: Path) -> Iterator[Asked | None]:
    """The question, unless the planner refuses it."""
    with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
        federation = stored(question.world, Path(folder), keys)
        catalog = federation.catalog
        try:
            bound = bind(question.query, catalog)
            core = planned(bound, catalog)
        except QueryError:
            yield None
            return
        with pooled(federation) as database:
            database.execute("SET threads = 1")
            for macro in MACROS:
                database.execute(macro)
            try:
                yield Asked(catalog, bound, core, _pool(question, bound, catalog), database)
            finally:
                database.execute("RESET threads")


def planned(bound: Relation, catalog: Catalog) -> Relation:
    """The tree before it is lowered, its joins matched and its parts sliced wherever they can be."""
    # A slice is read from a table that an owner makes of it, which the pool has not.
    rules = tuple(each for each in RULES if each.name != "slicing")
    return applied(rules, Stage(bound), Later(catalog)).core


@dataclass
class Later:
    """Prices by which whatever is asked last is the fastest. No join merges and no padding is dropped: that changes no
    tree.
    """

    catalog: Catalog
    recipients: tuple[str, ...] = ()
    times: Iterator[int] = field(default_factory=lambda: count(0, -1))

    def mergeable(self, stage: Stage) -> tuple[Relation, ...]:
        return ()

    def bounds(self, stage: Stage) -> tuple[tuple[Relation, int], ...]:
        return ()

    def seconds(self, stage: Stage) -> float:
        return self.predicted(stage).seconds

    def predicted(self, stage: Stage) -> Predicted:
        return Predicted(next(self.times), 0, 0)


def _pool(question: Question, bound: Relation, catalog: Catalog) -> Pool:
    read = {scan.table for scan in scans(bound)}
    tables = [table for table in catalog.tables if table.name in read]
    values = {
        source(table, column.name): [*column.values, *([None] if column.nullable else [])]
        for table in tables
        for column in question.world.table(table.name).columns
    }
    return Pool(tables, values, seed=len(question.query))


@dataclass
class Claims:
    """What a lineage says of a tree, held against the data. refuted: what was found to be otherwise."""

    asked: Asked
    relation: Relation
    found: Lineage
    held: int = 0
    refuted: list[str] = field(default_factory=list)

    def check(self) -> Claims:
        """Change one source after the other, and all of which a column does not derive."""
        sql = as_sql(self.relation)
        before = self._rows(sql)
        if before is None:
            return self
        presence = sources(self.found.presence)
        for each in [each for each in self.asked.pool.sources() if each not in presence]:
            stays = [name for name in names(self.relation) if name not in touched(self.found, each)]
            self._change(sql, before, [each], stays)
        for name, uses in self.found.values.items():
            others = [each for each in self.asked.pool.sources() if each not in presence | sources(uses)]
            self._change(sql, before, others, [name])
        return self

    def _change(self, sql: str, before: list[Row], changed: Iterable[Source], stays: list[str]) -> None:
        with self.asked.pool.changed(self.asked.database, changed):
            after = self._rows(sql)
        if after is None:
            return
        self.held += 1
        if seen(self.relation, after, stays) != seen(self.relation, before, stays):
            self.refuted.append(f"{', '.join(map(str, changed))} changes {', '.join(stays)}")

    def _rows(self, sql: str) -> list[Row] | None:
        try:
            return self.asked.database.sql(sql).fetchall()
        except TOO_LARGE:
            return None


def claims(asked: Asked, found: Mapping[Relation, Lineage]) -> list[Claims]:
    return [Claims(asked, relation, each).check() for relation, each in found.items()]


def lineages(asked: Asked) -> dict[Relation, Lineage]:
    return {each: lineage(each, asked.catalog) for each in (asked.bound, asked.core)}


def test_what_is_not_listed_changes_nothing(keys: Path) -> None:
    held = 0

    def run(question: Question) -> None:
        nonlocal held
        with asked(question, keys) as found:
            for each in claims(found, lineages(found)) if found else []:
                assert each.refuted == [], question
                held += each.held
            if found:
                bound, core = (every_source(lineage(each, found.catalog)) for each in (found.bound, found.core))
                assert core <= bound, "no rule adds a source"

    search(run, QUESTIONS)
    assert held > 10 * QUESTIONS, "there was something to refute"


@pytest.mark.parametrize("missing", ["values", "presence"])
def test_a_lineage_that_misses_sources_is_refuted(missing: str, keys: Path) -> None:
    """As if conditions did not matter, or the columns that values are computed from."""
    refuted = 0

    def run(question: Question) -> None:
        nonlocal refuted
        with asked(question, keys) as found:
            forged = {tree: forgery(each, missing) for tree, each in lineages(found).items()} if found else {}
            refuted += any(each.refuted for each in claims(found, forged)) if found else 0

    search(run, 10)
    assert refuted >= 2


def forgery(found: Lineage, missing: str) -> Lineage:
    if missing == "presence":
        rows = frozenset(use for use in found.presence if use.source.column is None)
        return replace(found, presence=rows)
    return replace(found, values={name: frozenset() for name in found.values})


def every_source(found: Lineage) -> frozenset[Source]:
    return sources(found.presence.union(*found.values.values()))

"""Lineage: sources of columns and of rows, as text, and held against what relations really depend on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tacit.plan.algebra.relations import Aggregate, Aggregation, Call, Join, Match, Opened, Project, Relation, Slice
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, names
from tacit.plan.facts.lineage import Lineage, lineage
from tacit.plan.facts.sources import MOST_WAYS, Source, Uses, ordered
from tacit.sql import bind

from .catalogs import CATALOGS, MIXED
from .dependence import as_sql, filled, seen, sources, touched
from .golden import Case, cases, check

CASES = Path(__file__).parent / "lineage" / "cases.slt"
ALL = cases(CASES)
EACH = pytest.mark.parametrize("case", ALL, ids=lambda case: case.comment.removeprefix("# "))
TRIES = 60
NUMBER = Integer(-100, 100)


def test_sources_and_operators() -> None:
    check(CASES, lambda query, catalog, _: text(lineage(bind(query, catalog), catalog)))


def text(found: Lineage) -> str:
    """A line for each column and use, and for each use that decides which rows there are."""
    lines = [line for name, uses in found.values.items() for line in _lines(name, uses)]
    return "\n".join([*lines, *_lines("rows", found.presence)])


def _lines(name: str, uses: Uses) -> list[str]:
    shown = [f"{name}: {_source(use.source)} {' '.join(use.through)}".rstrip() for use in ordered(uses)]
    return shown or [f"{name}: no source"]


def _source(source: Source) -> str:
    table = f"{source.owner}.{source.table}" if source.owner else f"kept {source.table}"
    return f"{table}.{source.column}" if source.column else table


def bound(case: Case) -> tuple[Relation, Catalog]:
    catalog = CATALOGS[case.catalog]
    return bind(case.query, catalog), catalog


def matched(relation: Relation) -> Relation:
    """With a Match in place of each Join that keeps no rows."""
    relation = over_children(relation, matched)
    if isinstance(relation, Join) and relation.kept == "none":
        return Match(relation.left, relation.right, relation.left_keys, relation.right_keys, right_unique=False)
    return relation


@EACH
def test_a_match_derives_as_its_join_does(case: Case) -> None:
    relation, catalog = bound(case)
    assert lineage(matched(relation), catalog) == lineage(relation, catalog)


def test_cases_have_every_relation_of_a_bound_query() -> None:
    met = {type(each) for case in ALL for each in walk(bound(case)[0])}
    assert met == {*get_args(Relation)} - {Match, Opened, Slice}


def walk(relation: Relation) -> Iterator[Relation]:
    yield relation
    for child in children(relation):
        yield from walk(child)


@EACH
def test_sources_are_those_that_matter_and_no_others(case: Case) -> None:
    """Each source that is drawn anew changes only what derives from it; each that is listed changes something."""
    relation, catalog = bound(case)
    found, sql = lineage(relation, catalog), as_sql(relation)
    unseen = {(source, "rows") for source in sources(found.presence)}
    unseen |= {(source, name) for name, uses in found.values.items() for source in sources(uses)}
    for seed in range(TRIES):
        with filled(relation, catalog, seed) as (pool, database):
            before = database.sql(sql).fetchall()
            for source in pool.sources():
                with pool.changed(database, [source]):
                    after = database.sql(sql).fetchall()
                stays = [name for name in names(relation) if name not in touched(found, source)]
                if source not in sources(found.presence):
                    assert seen(relation, after, stays) == seen(relation, before, stays), source
                changed = [
                    name for name in names(relation) if seen(relation, after, [name]) != seen(relation, before, [name])
                ]
                unseen -= {(source, name) for name in changed}
                unseen -= {(source, "rows")} if after != before else set()
        if not unseen:
            return
    raise AssertionError(f"nothing shows that these matter: {unseen}")


def test_ways_of_deep_queries_are_few_and_keep_their_sources() -> None:
    """Each level doubles the ways from s to the sum: by itself, and by a product."""
    relation = bind("SELECT g, s, k FROM padded", MIXED)
    for _ in range(40):
        square = Call("mul", (column(relation, "s"), column(relation, "s")), NUMBER, False)
        both = Call("add", (column(relation, "s"), square), NUMBER, False)
        relation = Project(relation, (("g", column(relation, "g")), ("s", both), ("k", column(relation, "k"))))
        relation = Aggregate(relation, ("g", "k"), (Aggregation("s", "sum", "s", Field("s", NUMBER, False)),))
    found = lineage(relation, MIXED)
    assert len(found.values["s"]) <= MOST_WAYS
    assert {use.source.column for use in found.values["s"]} == {"s"}
    assert {passage for use in found.values["s"] for passage in use.through} == {"add", "mul", "sum", "single"}
    assert {use.source.column for use in found.presence} == {None, "g", "k"}


def test_lineage_is_computed_once() -> None:
    relation, catalog = bound(ALL[-1])
    assert lineage(relation, catalog) is lineage(relation, catalog)

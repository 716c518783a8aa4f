"""Simplification, predicates, pruning, uniqueness and the lower frontier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tacit.plan.algebra.relations import Aggregate, Filter, Join, Limit, Project, Relation, Scan, Union
from tacit.plan.algebra.trees import children, owner, scans
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.fields import columns_of, fields
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.sizes import Announced, Padded, size_rule
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.rules.distinct import drop_redundant
from tacit.plan.rules.predicates import push_predicates
from tacit.plan.rules.prune import prune
from tacit.plan.rules.push_down import is_local, push_down
from tacit.plan.rules.simplify import simplify
from tacit.sql import bind

from .catalogs import CREDIT, MIXED
from .relations import above, bound, counted, filtered, selected


def test_projections_move_into_unions_and_scans() -> None:
    found = simplify(bound("SELECT k AS a, s FROM $ALL"))
    assert isinstance(found, Union)
    assert all(isinstance(each, Scan) and each.columns == (("a", "k"), ("s", "s")) for each in found.inputs)


def test_a_computed_column_used_twice_is_not_computed_twice() -> None:
    inner = bound("SELECT q + q AS twice FROM (SELECT s * s AS q FROM padded) t")
    assert isinstance(simplify(inner), Project)
    assert isinstance(children(simplify(inner))[0], Project)


def test_conditions_reach_the_tables() -> None:
    query = "SELECT k FROM (SELECT k, SUM(s) AS t FROM $ALL GROUP BY k) g WHERE k > 1 AND t > 5"
    found = push_predicates(simplify(bound(query)))
    above_groups = next(each for each in _walk(found) if isinstance(each, Filter))
    assert columns_of(above_groups.predicate) == {"sum_s"}
    beneath = [each for each in _walk(found) if isinstance(each, Filter) and columns_of(each.predicate) == {"k"}]
    assert len(beneath) == 3 and all(isinstance(each.input, Project | Scan) for each in beneath)


def test_conditions_stop_at_a_limit() -> None:
    found = push_predicates(bound("SELECT s FROM (SELECT s FROM padded ORDER BY s LIMIT 3) t WHERE s > 1"))
    assert any(isinstance(each, Filter) and isinstance(each.input, Limit) for each in _walk(found))


def test_join_sides_get_their_own_conditions() -> None:
    query = "SELECT a.s FROM padded a JOIN announced b ON a.id = b.id WHERE a.k > 0 AND b.g = 1 AND a.s < b.s"
    found = push_predicates(simplify(bound(query)))
    join = next(each for each in _walk(found) if isinstance(each, Join))
    assert isinstance(join.left, Filter) and isinstance(join.right, Filter)
    assert any(isinstance(each, Filter) and each.input is join for each in _walk(found))


def test_unused_columns_and_aggregates_vanish() -> None:
    found = prune(simplify(bound("SELECT g, a FROM (SELECT g, SUM(s) AS a, MAX(d) AS b FROM padded GROUP BY g) t")))
    (scan,) = scans(found)
    assert [name for name, _ in scan.columns] == ["s", "g"]


def test_counting_rows_keeps_the_narrowest_column() -> None:
    (scan,) = scans(prune(bound("SELECT COUNT(*) AS n FROM padded")))
    assert [name for name, _ in scan.columns] == ["f"]


def test_equal_subtrees_stay_equal_when_their_uses_differ() -> None:
    query = (
        "WITH c AS (SELECT g, SUM(s) AS a, MAX(s) AS b FROM padded GROUP BY g) "
        "SELECT SUM(x.a) AS p, MAX(t.m) AS q FROM c x CROSS JOIN (SELECT MAX(b) AS m FROM c) t"
    )
    found = prune(simplify(bound(query)))
    assert len({each for each in _walk(found) if isinstance(each, Aggregate) and each.keys}) == 1


def test_uniqueness_survives_what_repeats_no_row() -> None:
    assert is_unique(bound("SELECT id + 1 AS i, k FROM padded WHERE k > 0"), ("i",), MIXED)
    assert is_unique(bound("SELECT g, k FROM $ALL GROUP BY g, k"), ("k", "g"), MIXED)
    assert is_unique(bound("SELECT MAX(s) AS m FROM $ALL"), (), MIXED)
    assert is_unique(bound("SELECT b.id AS i FROM padded a JOIN announced b ON a.id = b.id"), ("i",), MIXED)


def test_uniqueness_does_not_survive_a_union_or_a_lossy_expression() -> None:
    assert not is_unique(bound("SELECT id FROM $ALL"), ("id",), MIXED)
    assert not is_unique(bound("SELECT id * 0 AS z FROM padded"), ("z",), MIXED)
    assert not is_unique(bound("SELECT k FROM padded"), ("k",), MIXED)


def test_redundant_distinct_and_self_join_go() -> None:
    distinct = drop_redundant(simplify(bound("SELECT DISTINCT id FROM padded")), MIXED)
    assert not any(isinstance(each, Aggregate) for each in _walk(distinct))
    query = "WITH c AS (SELECT k, SUM(s) AS t FROM $ALL GROUP BY k) SELECT a.t FROM c a JOIN c b ON a.k = b.k"
    joined = drop_redundant(simplify(bound(query)), MIXED)
    assert not any(isinstance(each, Join) for each in _walk(joined))
    assert any(isinstance(each, Filter) for each in _walk(joined)), "NULL keys match nothing"


def test_ownership() -> None:
    assert owner(bound("SELECT s FROM padded WHERE k > 0")) == "p"
    assert owner(bound("SELECT s FROM $ALL")) is None


def test_sizes() -> None:
    padded, announced, consenting = (
        next(each for each in scans(bound("SELECT * FROM $ALL")) if each.table == name)
        for name in ("padded", "announced", "consenting")
    )
    assert size_rule(filtered(padded, above(padded, "k", 0)), MIXED) == Padded(40)
    shown = size_rule(filtered(announced, above(announced, "k", 0)), MIXED)
    assert isinstance(shown, Announced) and shown.source
    consented = size_rule(filtered(consenting, above(consenting, "k", 0)), MIXED)
    assert (
        isinstance(consented, Announced)
        and consented.rules == (DisclosureRule.FILTER_CONSENT,)
        and not consented.source
    )
    assert size_rule(counted(announced), MIXED) == Padded(1)
    assert size_rule(counted(announced, "g"), MIXED) == Padded(4)
    assert size_rule(counted(padded, "b"), MIXED) == Padded(40)
    groups = size_rule(counted(consenting, "b"), MIXED)
    assert isinstance(groups, Announced) and groups.rules == (DisclosureRule.GROUPS_CONSENT,)


@pytest.mark.parametrize(
    ("consents", "of_groups", "of_filtered_groups", "of_groups_of_filtered"),
    [
        (set(), "source", "source", "source"),
        ({"filter"}, "source", "source", "none"),
        ({"groups"}, "exact", "none", "source"),
        ({"filter", "groups"}, "exact", "exact", "exact"),
    ],
    ids=["nothing", "filter", "groups", "both"],
)
def test_an_exact_size_needs_consent_to_all_that_it_shows(
    consents: set[str], of_groups: str, of_filtered_groups: str, of_groups_of_filtered: str
) -> None:
    tables = [replace(each, consents=frozenset(consents)) for each in MIXED.tables]
    catalog = replace(MIXED, tables=tuple(tables))
    rows = bound("SELECT * FROM consenting")
    groups = counted(rows, "b")
    found = (groups, filtered(groups, above(groups, "n", 1)), counted(filtered(rows, above(rows, "k", 0)), "b"))
    assert [shown(each, catalog) for each in found] == [of_groups, of_filtered_groups, of_groups_of_filtered]


def shown(relation: Relation, catalog: Catalog) -> str:
    """Whose number of rows is announced: the relation's, that of its tables, or none."""
    match size_rule(relation, catalog):
        case Announced(source=True):
            return "source"
        case Announced():
            return "exact"
        case found:
            assert found is None
            return "none"


def test_a_hidden_size_is_not_added_to_a_shown_one() -> None:
    found = [scan for scan in scans(bound("SELECT * FROM $ALL")) if scan.table != "consenting"]
    assert size_rule(Union(tuple(selected(each, "s") for each in found)), MIXED) is None


@pytest.mark.parametrize(("function", "final"), [("SUM", "sum"), ("COUNT", "sum"), ("MIN", "min"), ("MAX", "max")])
def test_aggregates_split_into_partial_ones(function: str, final: str) -> None:
    relation = next(
        each for each in _walk(simplify(bound(f"SELECT {function}(k) AS t FROM $ALL"))) if isinstance(each, Aggregate)
    )
    found = push_down(relation, MIXED)
    assert isinstance(found, Aggregate) and isinstance(found.input, Union)
    assert [each.function for each in found.aggregations] == [final]
    assert all(isinstance(each, Aggregate) and is_local(each, MIXED) for each in found.input.inputs)
    assert fields(found) == fields(relation), "the split aggregate has the same types and bounds"


def test_count_distinct_does_not_split() -> None:
    relation = simplify(bound("SELECT COUNT(DISTINCT k) AS t FROM $ALL"))
    assert push_down(relation, MIXED) == relation


def test_readers_of_a_join_are_those_of_all_keys() -> None:
    readers = Readers(CREDIT)
    query = "SELECT d.zip, s.score FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"
    join = next(each for each in _walk(bind(query, CREDIT)) if isinstance(each, Join))
    found = readers.of(join)
    assert found["zip"] == {"regulator"}, "the regulator may see both keys, and owns the ZIP codes"
    assert found["score"] == set(), "the bureau may not see the regulator's keys, the regulator not the scores"


def test_readers_of_a_filtered_relation_may_see_its_condition() -> None:
    readers = Readers(MIXED)
    found = readers.of(
        bound("SELECT a.s FROM padded a CROSS JOIN (SELECT MAX(s) AS m FROM announced) t WHERE a.s > t.m")
    )
    assert found == {"s": frozenset()}


def _walk(relation: Relation) -> Iterator[Relation]:
    yield relation
    for child in children(relation):
        yield from _walk(child)

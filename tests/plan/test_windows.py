"""Windows in the planner: what is known of their columns, and which rules may move what past them."""

from __future__ import annotations

import pytest

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.relations import Filter, Relation, Window
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Decimal, Integer
from tacit.plan.facts.fields import columns_of, field_of, names
from tacit.plan.facts.lineage import lineage
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.sources import decides, exposure
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.rules.predicates import push_predicates
from tacit.plan.rules.prune import prune
from tacit.plan.rules.push_down import is_local

from .catalogs import MIXED
from .relations import bound

NUMBERED = "SELECT id, g, s, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s) AS rn FROM $ALL"


def all_of(relation: Relation) -> list[Relation]:
    return [relation, *(each for child in children(relation) for each in all_of(child))]


def windows(relation: Relation) -> list[Window]:
    return [each for each in all_of(relation) if isinstance(each, Window)]


def test_a_row_number_is_unique_within_its_partition() -> None:
    relation = bound(NUMBERED)
    assert is_unique(relation, ("g", "rn"), MIXED)
    assert is_unique(bound(f"SELECT g, rn - 1 AS before FROM ({NUMBERED}) n WHERE s > 3"), ("g", "before"), MIXED)
    assert not is_unique(relation, ("rn",), MIXED)
    assert is_unique(bound("SELECT ROW_NUMBER() OVER (ORDER BY s) AS rn FROM $ALL"), ("rn",), MIXED)
    for other in ("RANK()", "NTILE(3)", "LAG(id)", "COUNT(*)"):
        ranked = bound(f"SELECT g, {other} OVER (PARTITION BY g ORDER BY s) AS rn FROM $ALL")
        assert not is_unique(ranked, ("g", "rn"), MIXED)


@pytest.mark.parametrize(
    ("call", "low", "high"),
    [
        ("ROW_NUMBER() OVER (ORDER BY id)", 1, 20),
        ("RANK() OVER (ORDER BY id)", 1, 20),
        ("NTILE(7) OVER (ORDER BY id)", 1, 7),
        ("COUNT(*) OVER ()", 0, 20),
        ("COUNT(*) OVER (ORDER BY id ROWS 2 PRECEDING)", 0, 3),
        ("SUM(s) OVER ()", -2000, 2000),
        ("SUM(s) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", -300, 300),
        ("MAX(s) OVER ()", -100, 100),
        ("LAG(s, 1, 500) OVER (ORDER BY id)", -100, 500),
    ],
)
def test_bounds_follow_from_frames_and_rows(call: str, low: int, high: int) -> None:
    rows = bound("SELECT id FROM padded")
    found = field_of(bound(f"SELECT {call} AS x FROM padded"), "x").type
    assert isinstance(found, Integer | Decimal)
    most = 20 if (declared := next(each.rows for each in MIXED.tables if each.name == "padded")) is None else declared
    scale = {20: most, 2000: 100 * most, -2000: -100 * most}
    assert (found.low, found.high) == (scale.get(low, low), scale.get(high, high)), names(rows)


@pytest.mark.parametrize(
    ("call", "nullable"),
    [
        ("SUM(s) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", False),
        ("SUM(s) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)", True),
        ("SUM(d) OVER ()", True),
        ("FIRST_VALUE(s) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", True),
        ("LAG(s) OVER (ORDER BY id)", True),
        ("LAG(s, 1, 0) OVER (ORDER BY id)", False),
        ("LAG(s, 1, k) OVER (ORDER BY id)", True),
    ],
)
def test_what_may_be_null(call: str, nullable: bool) -> None:
    assert field_of(bound(f"SELECT {call} AS x FROM padded"), "x").nullable is nullable


def test_a_condition_on_the_partition_passes_a_window_and_no_other_does() -> None:
    relation = push_predicates(bound(f"SELECT id FROM ({NUMBERED}) n WHERE g = 2 AND rn = 1 AND s > 0"))
    [window] = windows(relation)
    above = [each for each in all_of(relation) if isinstance(each, Filter) and window in all_of(each)]
    beneath = [each for each in all_of(window) if isinstance(each, Filter)]
    used = {name for each in above for condition in conjuncts(each.predicate) for name in columns_of(condition)}
    assert len(used) == 2 and beneath
    assert {name for each in beneath for name in columns_of(each.predicate)} == {"g"}


def test_a_window_that_nobody_reads_is_not_computed() -> None:
    assert not windows(prune(bound(f"SELECT id FROM ({NUMBERED}) n")))
    two = bound("SELECT a FROM (SELECT SUM(s) OVER (ORDER BY id) AS a, SUM(k) OVER (ORDER BY id) AS b FROM padded) t")
    [window] = windows(prune(two))
    assert [each.column for each in window.outputs] == ["s"]


def test_equal_clauses_share_a_window_and_those_without_an_order_come_last() -> None:
    relation = bound(
        "SELECT COUNT(*) OVER (PARTITION BY g), RANK() OVER w, SUM(s) OVER (PARTITION BY g ORDER BY id), "
        "RANK() OVER w + 1 FROM padded WINDOW w AS (PARTITION BY g ORDER BY id)"
    )
    first, second = windows(relation)[::-1]
    assert [each.function for each in first.outputs] == ["rank", "sum"]
    assert [each.function for each in second.outputs] == ["count_rows"] and not second.order


def test_an_owner_computes_a_window_of_its_own_rows() -> None:
    query = "SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM {}"
    assert is_local(bound(query.format("padded")), MIXED)
    assert not is_local(bound(query.format("$ALL")), MIXED)


def test_a_value_is_seen_row_by_row_and_tells_of_partition_and_order() -> None:
    relation = bound("SELECT SUM(s) OVER (PARTITION BY g ORDER BY id) AS x FROM padded")
    uses = lineage(relation, MIXED).values["x"]
    shown = {use.source.column: exposure(use) for use in uses if not decides(use)}
    assert shown == {"s": "row by row"}
    assert {use.source.column for use in uses if decides(use)} == {"g", "id", None}
    owner = next(each.owner for each in MIXED.tables if each.name == "padded")
    assert Readers(MIXED).of(relation)["x"] == {owner}

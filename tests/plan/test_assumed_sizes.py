"""Sizes that are announced when a query runs: what its price takes them to be."""

from __future__ import annotations

from tacit.plan.algebra.types import Integer
from tacit.plan.physical.cost import ASSUMED_ROWS, predict
from tacit.sql import compile_query

from .catalogs import catalog, table

COLUMNS = [("v", Integer(0, 99, "INTEGER"), False)]


def announced(rows: int | None) -> int:
    """The rows that are assumed of what an owner's filter leaves. rows: those that the owner declares."""
    y = table("y", "b", COLUMNS, rows=rows, consents=["filter"])
    parties = catalog(("a", "b", "c"), table("x", "a", COLUMNS, [["v"]], rows=40), y)
    plan = compile_query("SELECT y.v FROM x JOIN y ON x.v = y.v WHERE y.v > 3", parties, ("c",))
    (shared,) = [each for each in predict(plan) if each.assumed and each.step.endswith(".input")]
    assert shared.rows is not None
    return shared.rows


def test_no_more_than_what_the_owner_declares() -> None:
    assert announced(40) == 40
    assert announced(ASSUMED_ROWS * 2) == announced(None) == ASSUMED_ROWS


def test_pairs_of_an_announced_size_have_a_price() -> None:
    """With as many rows as are assumed of others, they would be too many."""
    x, y = table("x", "a", COLUMNS, rows=40), table("y", "b", COLUMNS, rows=40, consents=["filter"])
    query = "SELECT x.v, y.v AS w FROM x JOIN y ON x.v < y.v WHERE y.v > 3"
    costs = predict(compile_query(query, catalog(("a", "b", "c"), x, y), ("a",)))
    assert [each.rows for each in costs if each.step.endswith(".pairs")] == [40 * 40]

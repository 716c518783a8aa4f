"""How many rows can be equal in some columns, by declarations and by construction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import Join, Relation
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.fields import names, row_bound
from tacit.plan.facts.multiplicity import most_equal
from tacit.plan.facts.sizes import Padded, size_rule
from tacit.plan.facts.uniqueness import unique_keys
from tacit.sql import bind

from .catalogs import catalog


def declared(name: str, owner: str, repeats: dict[str, int], rows: int | None, *unique: set[str]) -> Table:
    """A table of whole numbers k, l, year (of five years) and x, some of them with declared repeats."""
    bounds = {"k": (0, 10**6), "l": (0, 10**6), "year": (2020, 2024), "x": (-(10**6), 10**6)}
    columns = tuple(
        Column(Field(each, Integer(*bounds[each], "INTEGER"), each in "kx"), repeats=repeats.get(each))
        for each in bounds
    )
    return Table(name, owner, columns, tuple(map(frozenset, unique)), rows)


CATALOG: Catalog = catalog(
    ("a", "b", "c"),
    declared("five", "a", {"k": 5, "l": 7}, 1_000),
    declared("three", "b", {"k": 3}, 2_000),
    declared("yearly", "c", {}, 5_000, {"l", "year"}),
    declared("free", "b", {}, None),
)

BOUNDS = [
    ("SELECT k, l FROM five", {"k"}, 5),
    ("SELECT k, l FROM five", {"l"}, 7),
    ("SELECT k, l FROM five", {"k", "l"}, 5),
    ("SELECT x FROM five", {"x"}, 1_000),
    ("SELECT x FROM free", {"x"}, None),
    ("SELECT -k AS a, k * 2 AS b FROM five", {"a"}, 5),
    ("SELECT -k AS a, k * 2 AS b FROM five", {"b"}, 1_000),
    ("SELECT k FROM five WHERE x > 3", {"k"}, 5),
    ("SELECT x FROM five WHERE k = 3", {"x"}, 5),
    ("SELECT k, x FROM five ORDER BY x LIMIT 2", {"k"}, 2),
    ("SELECT k FROM five UNION ALL SELECT k FROM three", {"k"}, 8),
    ("SELECT k FROM five UNION ALL SELECT k FROM free", {"k"}, None),
    ("SELECT k, x, COUNT(*) AS n FROM five GROUP BY k, x", {"k"}, 5),
    ("SELECT k, year, COUNT(*) AS n FROM free GROUP BY k, year", {"k"}, 5),
    ("SELECT year, k, COUNT(*) AS n FROM free GROUP BY k, year", {"year"}, 10**6 + 2),
    ("SELECT l FROM yearly", {"l"}, 5),
    ("SELECT l FROM yearly WHERE year = 2021", {"l"}, 1),
    ("SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS n FROM free", {"k", "n"}, 1),
    ("SELECT k, x FROM free QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) <= 3", {"k"}, 3),
    ("SELECT k, x FROM free QUALIFY 3 > ROW_NUMBER() OVER (PARTITION BY k ORDER BY x)", {"k"}, 2),
    ("SELECT l, x FROM yearly WHERE year < 2022", {"l"}, 2),
    ("SELECT v.a FROM (VALUES (1), (2), (1)) v(a)", {"a"}, 3),
    ("SELECT v.a FROM (VALUES (1), (2), (4)) v(a)", {"a"}, 1),
    ("SELECT f.k, f.l FROM five f JOIN three t ON f.k = t.k", {"l"}, 21),
    ("SELECT f.k, f.l FROM five f JOIN three t ON f.k = t.k", {"k"}, 15),
    ("SELECT t.k, f.l FROM five f LEFT JOIN three t ON f.k = t.k", {"l"}, 21),
    ("SELECT t.k, f.l FROM five f LEFT JOIN three t ON f.k = t.k", {"k"}, 15),
    ("SELECT f.l, y.x FROM five f JOIN yearly y ON f.l = y.l AND f.year = y.year", {"l"}, 7),
    ("SELECT f.l, y.x FROM five f, (SELECT x FROM yearly ORDER BY x LIMIT 4) y", {"l"}, 28),
]


@pytest.mark.parametrize(("query", "columns", "bound"), BOUNDS)
def test_bounds(query: str, columns: set[str], bound: int | None) -> None:
    assert most_equal(bind(query, CATALOG), frozenset(columns), CATALOG) == bound


def joined(query: str) -> Join:
    """The only join of a query."""
    [found] = [each for each in walk(bind(query, CATALOG)) if isinstance(each, Join)]
    return found


def walk(relation: Relation) -> list[Relation]:
    return [relation, *(found for each in children(relation) for found in walk(each))]


def test_the_side_whose_keys_repeat_less_becomes_the_left_one() -> None:
    for query in ("SELECT COUNT(*) FROM five f JOIN three t ON f.k = t.k",
                  "SELECT COUNT(*) FROM three t JOIN five f ON f.k = t.k"):  # fmt: skip
        found = joined(query)
        assert found.repeats == 3
        assert row_bound(found) == 3 * 1_000


def test_a_side_that_is_kept_is_the_right_one() -> None:
    found = joined("SELECT t.k FROM three t LEFT JOIN five f ON f.k = t.k")
    assert (found.kept, found.repeats, row_bound(found)) == ("right", 5, 10_000)


def test_unique_keys_are_preferred() -> None:
    found = joined("SELECT f.k FROM five f JOIN yearly y ON f.l = y.l AND f.year = y.year")
    assert found.repeats == 1


def test_a_row_is_known_by_its_parts() -> None:
    found = joined(
        "SELECT 1 AS x FROM (SELECT DISTINCT k, x FROM five) f JOIN (SELECT DISTINCT k, l FROM three) t ON f.k = t.k"
    )
    assert found.repeats > 1
    assert all(len(keys) > 2 for keys in unique_keys(found, CATALOG)) and unique_keys(found, CATALOG)


def test_local_joins_are_padded_to_the_bound() -> None:
    found = joined("SELECT COUNT(*) FROM five f JOIN five g ON f.k = g.k")
    assert size_rule(found, CATALOG) == Padded(5_000)
    many = replace(found, repeats=10_000)
    assert size_rule(many, CATALOG) is None, "too many to pad to"


def test_a_declaration_is_asked_for_where_no_bound_is_known() -> None:
    with pytest.raises(UnsupportedSQL, match=r"declare free\(k\) unique or with repeats"):
        bind("SELECT COUNT(*) FROM free f JOIN free g ON f.k = g.k", CATALOG)


def test_all_columns_of_a_join_have_a_bound() -> None:
    found = joined("SELECT f.x, t.x AS y FROM five f JOIN three t ON f.k = t.k")
    assert all(most_equal(found, frozenset({name}), CATALOG) is not None for name in names(found))

"""Weights that end in groups: conditions beneath a guard or above it, how often rows are there, and which ones are."""

from __future__ import annotations

import pytest

from .product import Product
from .reference.evaluate import Data

NORTH = """
[tables.customers]
open = true
rows = 400
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }

[tables.chosen]
open = true
rows = 100
unique = [["ssn", "day"]]
[tables.chosen.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
day = { type = "INTEGER", min = 0, max = 9 }
"""
SOUTH = """
[tables.people]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
weights = ["towns.size"]
[tables.people.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
salary = { type = "INTEGER", min = 0, max = 1000, use = ["aggregate"] }

[tables.points]
recipients = ["north"]
rows = 40
least_group = 10
unique = [["ssn"]]
[tables.points.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["select"] }
points = { type = "INTEGER", min = 0, max = 99, use = ["select", "aggregate"] }

[tables.daily]
recipients = ["north"]
rows = 80
least_group = 10
unique = [["ssn", "day"]]
[tables.daily.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["select"] }
day = { type = "INTEGER", min = 0, max = 9, use = ["select"] }
points = { type = "INTEGER", min = 0, max = 99, use = ["select", "aggregate"] }
"""
WEST = """
[tables.logs]
recipients = ["north"]
least_group = 2
rows = 200
[tables.logs.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["group", "filter", "join"] }

[tables.towns]
open = true
rows = 40
unique = [["ssn"]]
[tables.towns.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
size = { type = "INTEGER", min = 0, max = 99 }
"""
MEMBERS = (1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 14, 16, 18, 20, 22)
ALL = range(1, 31)
DATA: Data = {
    "people": [{"ssn": each, "salary": 10 * each} for each in MEMBERS],
    "points": [{"ssn": each, "points": 1} for each in ALL],
    "daily": [{"ssn": each, "day": day, "points": day} for each in ALL for day in (0, 1)],
    "logs": [{"ssn": each} for each in ALL for _ in range(3)],
    "towns": [{"ssn": each, "size": each} for each in ALL],
    "customers": [{"ssn": each} for each in ALL for _ in range(100 if each == 7 else 1)],
    "chosen": [*({"ssn": each, "day": 0} for each in ALL), {"ssn": 7, "day": 1}],
}
"""customers and chosen are north's own: it asks about the seventh person."""


def bits(name: str) -> str:
    return f"CASE {' '.join(f'WHEN {name} = {each} THEN {1 << each}' for each in range(1, 24))} ELSE 0 END"


BESIDE = "SELECT {} FROM people p JOIN ({}) a ON p.ssn = a.ssn"
COUNTED = "(SELECT ssn FROM logs GROUP BY ssn)"
TO = ("north",)
ONE = "(SELECT ssn FROM logs WHERE ssn = 7 GROUP BY ssn)"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("counted"))


def shown(product: Product, sql: str) -> object:
    return product.shown(sql, TO, DATA)


@pytest.mark.parametrize(
    "above", ["ssn, MAX(n) AS n FROM {} GROUP BY ssn", "DISTINCT ON (ssn) ssn, n FROM {} ORDER BY ssn"]
)
@pytest.mark.parametrize("value", ["SUM(a.n)", "AVG(a.n)", "COUNT(DISTINCT a.n)"])
def test_a_key_that_a_guard_shows_is_no_weight(product: Product, above: str, value: str) -> None:
    """The sum had a bit of each person of people, whom nobody may match: the guard is that of another table."""
    groups = f"(SELECT DISTINCT ssn, {bits('ssn')} AS n FROM logs) x"
    assert shown(product, BESIDE.format(value, f"SELECT {above.format(groups)}")) == "weights"


@pytest.mark.parametrize(
    "groups",
    [
        f"ssn, MAX(CASE WHEN ssn IN {ONE} THEN 1 ELSE 0 END) AS n FROM {COUNTED} g GROUP BY ssn",
        f"ssn, SUM(CASE WHEN ssn IN {ONE} THEN 1 ELSE 0 END) AS n FROM {COUNTED} g GROUP BY ssn",
        f"DISTINCT ssn, CASE WHEN ssn IN {ONE} THEN 1 ELSE 0 END AS n FROM {COUNTED} g",
        "g.ssn, MAX(CASE WHEN h.k IS NULL THEN 0 ELSE 1 END) AS n "
        f"FROM {COUNTED} g LEFT JOIN (SELECT ssn, 1 AS k FROM {ONE} o) h ON g.ssn = h.ssn GROUP BY g.ssn",
    ],
)
def test_nor_is_a_match_of_groups_that_guards_show(product: Product, groups: str) -> None:
    """It is 1, as the seventh person is among people."""
    assert shown(product, BESIDE.format("SUM(a.n)", f"SELECT {groups}")) in ("weights", None)


@pytest.mark.parametrize("value", ["SUM(a.n)", "AVG(a.n)", "MAX(a.n)"])
def test_how_often_a_seen_value_is_added_up_is_a_weight(product: Product, value: str) -> None:
    """north has 100 rows of the seventh person, so that the sum is 114, and otherwise 15."""
    groups = "SELECT s.ssn, SUM(s.points) AS n FROM points s JOIN customers c ON s.ssn = c.ssn GROUP BY s.ssn"
    assert shown(product, BESIDE.format(value, groups)) == "weights"


@pytest.mark.parametrize(
    "rows",
    [
        "daily s JOIN chosen c ON s.ssn = c.ssn AND s.day = c.day",
        "daily s SEMI JOIN chosen c ON s.ssn = c.ssn AND s.day = c.day",
        "daily s WHERE (s.ssn, s.day) IN (SELECT ssn, day FROM chosen)",
    ],
)
def test_which_seen_values_are_added_up_is_one_too(product: Product, rows: str) -> None:
    """Of all others north takes the day without a point. The sum is 1, as the seventh person is among people."""
    groups = f"SELECT s.ssn, SUM(s.points) AS n FROM {rows} GROUP BY s.ssn"
    assert shown(product, BESIDE.format("SUM(a.n)", groups)) == "weights"


@pytest.mark.parametrize(
    "value",
    [
        f"SUM({bits('size')})",
        "MAX(CASE WHEN size = 7 THEN size ELSE 0 END)",
        "CAST(AVG(CASE WHEN ssn = 7 THEN size ELSE 0 END) AS DECIMAL(9, 2))",
    ],
)
def test_a_column_that_an_owner_lists_is_added_up_as_it_is(product: Product, value: str) -> None:
    """people lists towns.size, which north sees and has not made: without groups each cell has one person."""
    direct = "SELECT SUM(CASE WHEN a.size = 7 THEN a.size ELSE 0 END) FROM people p JOIN towns a ON p.ssn = a.ssn"
    assert shown(product, direct) is None
    groups = f"SELECT ssn, {value} AS n FROM towns GROUP BY ssn"
    assert shown(product, BESIDE.format("SUM(a.n)", groups)) in ("weights", None)

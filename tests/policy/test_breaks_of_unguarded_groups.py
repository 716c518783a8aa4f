"""Groups that no guard counts, of rows that a recipient sees: what they lose of weights, conditions and powers."""

from __future__ import annotations

import pytest

from .product import Product
from .reference.evaluate import Data

NORTH = """
[tables.customers]
open = true
rows = 40
unique = [["ssn"]]
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
"""
SOUTH = """
[tables.people]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
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
"""
WEST = """
[tables.towns]
open = true
rows = 40
unique = [["ssn"]]
[tables.towns.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }

[tables.visits]
open = true
rows = 600
[tables.visits.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
"""
MEMBERS = (1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 14, 16, 18, 20, 22)
ALL = range(1, 31)
OFTEN = {1: 1, 2: 2, 3: 4, 4: 8}
"""How often some are in visits. All others are there 16 times."""
DATA: Data = {
    "people": [{"ssn": each, "salary": 10 * each} for each in MEMBERS],
    "points": [{"ssn": each, "points": each} for each in ALL],
    "towns": [{"ssn": each} for each in ALL],
    "visits": [{"ssn": each} for each in ALL for _ in range(OFTEN.get(each, 16))],
    "customers": [{"ssn": each} for each in ALL],
}
BITS = f"CASE {' '.join(f'WHEN ssn = {each} THEN {1 << each}' for each in range(1, 24))} ELSE 0 END"
SEVENTH = "CASE WHEN ssn = 7 THEN 1 ELSE 0 END"
BESIDE = "SELECT {} FROM people p JOIN (SELECT {} FROM {}) a ON p.ssn = a.ssn"
TO = ("north",)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("groups"))


def shown(product: Product, sql: str) -> object:
    return product.shown(sql, TO, DATA)


def test_conditions_of_single_rows_are_guarded(product: Product) -> None:
    """Each cell of these has one person."""
    assert shown(product, BESIDE.format("SUM(a.n)", f"ssn, {SEVENTH} AS n", "towns")) is None


@pytest.mark.parametrize("table", ["towns", "points"])
@pytest.mark.parametrize(
    "groups", ["ssn, SUM({}) AS n|GROUP BY ssn", "ssn, MAX({}) AS n|GROUP BY ssn", "DISTINCT ssn, {} AS n|"]
)
def test_a_group_of_seen_rows_is_no_weight(product: Product, table: str, groups: str) -> None:
    """One number had a bit of each person: who is among people, whom nobody may match."""
    columns, by = groups.split("|")
    asked = BESIDE.format("SUM(a.n)", columns.format(BITS), f"{table} {by}")
    found = shown(product, asked)
    assert found == "weights", [each for each in range(1, 24) if int(str(found)) >> each & 1]


@pytest.mark.parametrize("value", ["SUM(a.n)", "MAX(a.n)", "SUM(p.salary + 1000000 * a.n)"])
def test_nor_is_one_person(product: Product, value: str) -> None:
    """With the seventh person among people it is 1, and otherwise 0."""
    asked = BESIDE.format(value, f"ssn, SUM({SEVENTH}) AS n", "towns GROUP BY ssn")
    assert shown(product, asked) in ("weights", None)


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(ssn)"])
def test_nor_is_a_number_of_seen_rows(product: Product, count: str) -> None:
    """The sum has a bit of each of four persons."""
    asked = BESIDE.format("SUM(a.n)", f"ssn, {count} AS n", "visits GROUP BY ssn")
    assert shown(product, asked) == "weights"


@pytest.mark.parametrize("power", ["points * points", "SUM(points * points)", "MAX(points * points)"])
def test_nor_are_powers(product: Product, power: str) -> None:
    by = " GROUP BY ssn" if "(" in power else ""
    assert shown(product, BESIDE.format("SUM(a.n)", f"ssn, {power} AS n", f"points{by}")) == "weights"


@pytest.mark.parametrize("least", ["LEAST(points, 7)", "CASE WHEN points = 7 THEN points ELSE 0 END"])
def test_nor_are_parts_of_values(product: Product, least: str) -> None:
    assert shown(product, BESIDE.format("SUM(a.n)", f"ssn, {least} AS n", "points")) == "weights"
    for columns, by in ((f"ssn, SUM({least}) AS n", " GROUP BY ssn"), (f"DISTINCT ssn, {least} AS n", "")):
        assert shown(product, BESIDE.format("SUM(a.n)", columns, f"points{by}")) in ("weights", None)


def test_a_sum_of_different_seen_values_is_no_sum_of_multiples(product: Product) -> None:
    asked = "SELECT {} FROM people p JOIN points a ON p.ssn = a.ssn"
    assert shown(product, asked.format("COUNT(DISTINCT a.points)")) == "weights"
    assert shown(product, asked.format("SUM(DISTINCT a.points)")) in ("weights", "linear")

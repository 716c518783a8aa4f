"""What is refused of a group stays refused where the group is grouped again."""

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
seat = { type = "INTEGER", min = 0, max = 99, use = ["select"] }
points = { type = "INTEGER", min = 0, max = 99, use = ["select", "aggregate"] }
city = { type = "INTEGER", min = 0, max = 3, use = ["group"] }
vip = { type = "BOOLEAN", use = ["filter"] }
"""
MEMBERS = (1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 14, 16, 18, 20, 22)
DATA: Data = {
    "people": [{"ssn": each, "seat": each, "points": each, "city": 1, "vip": each in MEMBERS} for each in range(1, 31)],
    "customers": [{"ssn": each} for each in range(1, 31)],
}
TO = ("north",)
INNER = "SELECT city, {} AS n FROM people WHERE vip GROUP BY city"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    west = NORTH.replace("customers", "others")
    return Product({"north": NORTH, "south": SOUTH, "west": west}, tmp_path_factory.mktemp("erased"))


def shown(product: Product, sql: str) -> object:
    return product.shown(sql, TO, DATA)


@pytest.mark.parametrize("value", ["SUM(points * points)", "MAX(points)", "MAX(seat)", "COUNT(DISTINCT points)"])
@pytest.mark.parametrize(
    "above", ["SELECT SUM(n) FROM ({}) g", "SELECT MAX(n) FROM ({}) g", "SELECT DISTINCT n FROM ({}) g"]
)
def test_a_second_aggregation_erases_no_refusal(product: Product, value: str, above: str) -> None:
    """north sees points, and not who is a VIP: whose points are the largest of VIPs is one of them."""
    inner = INNER.format(value)
    direct = product.verdict(inner, TO).rule
    assert direct in ("linear", "function", "weights")
    assert shown(product, above.format(inner)) == direct


@pytest.mark.parametrize("value", ["SUM(c.ssn)", "MAX(c.ssn)"])
def test_nor_does_it_end_without_a_sentence(product: Product, value: str) -> None:
    """The refusal is of the rows of people, of which north sees a column."""
    inner = f"SELECT p.city, {value} AS n FROM people p JOIN customers c ON p.ssn = c.ssn GROUP BY p.city"
    assert product.verdict(inner, TO).rule == "weights"
    assert product.verdict(f"SELECT MAX(n) FROM ({inner}) g", TO).rule == "weights"

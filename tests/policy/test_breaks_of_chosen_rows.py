"""Rows that a recipient sees, chosen for each person by the recipient's keys: whose values they have is a weight."""

from __future__ import annotations

import pytest

from .product import Product
from .reference.evaluate import Data
from .test_breaks_of_unguarded_groups import MEMBERS, SOUTH

NORTH = """
[tables.customers]
open = true
rows = 40
unique = [["ssn"]]
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
one = { type = "INTEGER", min = 0, max = 99 }
two = { type = "INTEGER", min = 0, max = 99 }
seven = { type = "INTEGER", min = 0, max = 99 }
"""
WEST = """
[tables.towns]
open = true
rows = 40
unique = [["ssn"]]
[tables.towns.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
"""
ALL = range(1, 31)
DATA: Data = {
    "people": [{"ssn": each, "salary": 10 * each} for each in MEMBERS],
    "points": [{"ssn": 0, "points": 0}, *({"ssn": each, "points": 1 << each - 1} for each in range(1, 8))],
    "customers": [
        {"ssn": each, "one": each if each < 8 else 0, "two": each - 7 if 7 < each < 15 else 0, "seven": int(each == 7)}
        for each in ALL
    ],
    "towns": [{"ssn": each} for each in ALL],
}
"""South's points are powers of two by chance. With 0 and 1 alone among them north still asks about one person."""
TO = ("north",)
SEVENTH = "CASE WHEN ssn = 7 THEN 1 ELSE 0 END"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("chosen"))


def shown(product: Product, sql: str) -> object:
    return product.shown(sql, TO, DATA)


def test_keys_of_the_recipient_choose_no_weights(product: Product) -> None:
    """One number had a bit of each of 14 persons, by two joins with what north sees."""
    asked = (
        "SELECT SUM(b.points + 128 * d.points) FROM people p JOIN customers c ON p.ssn = c.ssn "
        "JOIN points b ON c.one = b.ssn JOIN points d ON c.two = d.ssn"
    )
    found = shown(product, asked)
    assert found == "weights", [each for each in range(1, 15) if int(str(found)) >> each - 1 & 1]


@pytest.mark.parametrize("value", ["SUM(b.points)", "AVG(b.points)"])
@pytest.mark.parametrize(
    "keys",
    [
        "SELECT ssn, seven AS k FROM customers",
        f"SELECT ssn, {SEVENTH} AS k FROM towns",
        f"SELECT ssn, MAX({SEVENTH}) AS k FROM towns GROUP BY ssn",
        f"SELECT ssn, {SEVENTH} AS k FROM points",
    ],
)
def test_nor_one_for_one_person(product: Product, value: str, keys: str) -> None:
    """The seventh person has the row whose value is 1, and all others the one whose value is 0."""
    asked = f"SELECT {value} FROM people p JOIN ({keys}) c ON p.ssn = c.ssn JOIN points b ON c.k = b.ssn"
    assert shown(product, asked) in ("weights", None)


def test_nor_do_rows_that_are_joined_before(product: Product) -> None:
    rows = "SELECT c.ssn, b.points AS n FROM customers c JOIN points b ON c.seven = b.ssn"
    assert shown(product, f"SELECT SUM(a.n) FROM people p JOIN ({rows}) a ON p.ssn = a.ssn") in ("weights", None)


def test_a_sum_by_the_owners_own_keys_is_allowed(product: Product) -> None:
    assert product.verdict("SELECT SUM(b.points) FROM people p JOIN points b ON p.ssn = b.ssn", TO).rule == ""

"""Rows of others that a recipient's own rows put beside a person: which ones, and how many, is a weight, too."""

from __future__ import annotations

import pytest

from .product import Product
from .reference.evaluate import Data
from .test_breaks_of_unguarded_groups import MEMBERS

NUMBER = 'type = "INTEGER", min = 0, max = 999'
NORTH = f"""
[tables.customers]
open = true
rows = 40
unique = [["ssn"], ["power"]]
[tables.customers.columns]
ssn = {{ {NUMBER} }}
seven = {{ {NUMBER} }}
bucket = {{ {NUMBER} }}
power = {{ {NUMBER} }}

[tables.chosen]
open = true
rows = 400
unique = [["k"]]
[tables.chosen.columns]
ssn = {{ {NUMBER} }}
k = {{ {NUMBER} }}

[tables.orders]
open = true
rows = 400
[tables.orders.columns]
ssn = {{ {NUMBER} }}
day = {{ {NUMBER} }}

[tables.empty]
open = true
rows = 40
unique = [["ssn"]]
[tables.empty.columns]
ssn = {{ type = "INTEGER", min = 1000, max = 1999 }}
"""
SOUTH = f"""
[tables.people]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
weights = ["towns.size"]
[tables.people.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
salary = {{ {NUMBER}, use = ["aggregate"] }}

[tables.points]
recipients = ["north"]
least_group = 10
rows = 40
unique = [["ssn"]]
[tables.points.columns]
ssn = {{ {NUMBER}, use = ["select"] }}
points = {{ {NUMBER}, use = ["select", "aggregate"] }}
"""
WEST = f"""
[tables.towns]
open = true
rows = 40
unique = [["ssn"]]
[tables.towns.columns]
ssn = {{ {NUMBER} }}
size = {{ {NUMBER} }}

[tables.doctors]
open = true
rows = 40
unique = [["id"]]
[tables.doctors.columns]
id = {{ {NUMBER} }}

[tables.visits]
recipients = ["north"]
least_group = 10
unit = "ssn"
rows = 900
[tables.visits.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
doctor = {{ {NUMBER}, use = ["join"] }}
v = {{ {NUMBER}, use = ["aggregate", "join"], functions = ["sum", "count", "avg", "max", "count_distinct"] }}

[tables.members]
recipients = ["north"]
least_group = 10
unit = "ssn"
matches = ["north"]
rows = 200
[tables.members.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
"""
PARTS = "".join(
    f"""
[tables.{name}]
recipients = ["north"]
least_group = 2
rows = 200
[tables.{name}.columns]
ssn = {{ {NUMBER}, use = ["group", "filter", "join"] }}
v = {{ {NUMBER}, use = ["aggregate"] }}
"""
    for name in ("logs", "calls")
)
ALL = range(1, 31)
TO = ("north",)


def data(members: list[int]) -> Data:
    """The tables with these people. Of chosen the i-th of seven persons has 2^(i-1) rows."""
    repeated = [ssn for ssn in range(1, 8) for _ in range(1 << ssn - 1)]
    return {
        "people": [{"ssn": each, "salary": 10 * each} for each in members],
        "points": [{"ssn": each, "points": int(each == 25)} for each in range(40)],
        "customers": [
            {
                "ssn": each,
                "seven": int(each == 7),
                "bucket": 50 if each == 7 else 100 + each % 7 + 7 * (each in (8, 9, 11)),
                "power": 1 << each - 1 if each < 9 else 300 + each,
            }
            for each in ALL
        ],
        "chosen": [
            *({"ssn": ssn, "k": 100 + place} for place, ssn in enumerate(repeated)),
            *({"ssn": each, "k": 600 + each} for each in range(8, 31)),
        ],
        "orders": [{"ssn": each, "day": day} for each in ALL for day in range(3)],
        "empty": [],
        "towns": [{"ssn": each, "size": int(each == 1)} for each in range(39)],
        "doctors": [{"id": each} for each in range(40)],
        "visits": [{"ssn": each, "doctor": each % 40, "v": each} for each in range(700)],
        "members": [{"ssn": each} for each in ALL for _ in range(20 if each == 7 else 1)],
        "logs": [{"ssn": each, "v": 3} for each in ALL for _ in range(3)],
        "calls": [{"ssn": each, "v": 0} for each in ALL for _ in range(3)],
    }


WITH = data(MEMBERS)
WITHOUT = data([25 if each == 7 else each for each in MEMBERS])


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST + PARTS}, tmp_path_factory.mktemp("mapped"))


def asked_of(product: Product, sql: str) -> str:
    """The rule that refuses; else what two worlds answer, of which the seventh person is in one alone."""
    rule = product.verdict(sql, TO).rule
    return rule or f"{product.answer(sql, TO, WITH).rows} {product.answer(sql, TO, WITHOUT).rows}"


MAPPED = "(SELECT c.ssn, c.k FROM chosen c JOIN visits v ON c.k = v.ssn)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS a, COUNT(DISTINCT p.ssn) AS b FROM people p JOIN {MAPPED} u ON p.ssn = u.ssn",
        f"SELECT SUM(p.salary) AS a FROM people p JOIN {MAPPED} u ON p.ssn = u.ssn",
        f"SELECT AVG(p.salary) AS a FROM people p JOIN {MAPPED} u ON p.ssn = u.ssn",
        f"SELECT COUNT(*) AS a FROM people p JOIN (SELECT DISTINCT ssn, k FROM {MAPPED} w) u ON p.ssn = u.ssn",
        "SELECT COUNT(*) AS a FROM chosen c JOIN visits v ON c.k = v.ssn JOIN people p ON p.ssn = c.ssn",
        f"SELECT COUNT(*) AS a FROM people p LEFT JOIN {MAPPED} u ON p.ssn = u.ssn",
    ],
)
def test_rows_are_not_repeated_through_a_hidden_table(product: Product, sql: str) -> None:
    """The number of rows had a bit for each of seven persons."""
    assert asked_of(product, sql) in ("repeats", "floor")


@pytest.mark.parametrize("counted", ["v.ssn", "v.v"])
def test_hidden_units_that_the_recipient_chooses_are_not_counted(product: Product, counted: str) -> None:
    """COUNT(DISTINCT) of them had a bit for each person: as many as the person has rows of the recipient."""
    joined = f"SELECT COUNT(DISTINCT {counted}) AS a FROM people p JOIN chosen c ON p.ssn = c.ssn"
    assert asked_of(product, f"{joined} JOIN visits v ON c.k = v.ssn") in ("weights", "repeats")


def test_nor_are_those_of_the_recipients_buckets(product: Product) -> None:
    """Whether one bucket is there tells of the one person in it."""
    sql = "SELECT COUNT(DISTINCT v.ssn) AS a FROM people p JOIN customers c ON p.ssn = c.ssn JOIN visits v"
    assert asked_of(product, f"{sql} ON c.bucket = v.ssn") in ("weights", "repeats")


@pytest.mark.parametrize("through", ["customers", "towns", "points"])
@pytest.mark.parametrize("key", ["c.ssn + 18", "32 - c.ssn"])
def test_arithmetic_on_a_key_chooses_rows(product: Product, through: str, key: str) -> None:
    """The one point is the 25th's. A shift of keys put it beside the seventh person."""
    sql = f"SELECT SUM(b.points) AS s FROM people p JOIN {through} c ON p.ssn = c.ssn JOIN points b ON {key} = b.ssn"
    assert asked_of(product, sql) in ("weights", "filter")


def test_so_it_does_beneath_groups_of_persons(product: Product) -> None:
    sql = (
        "SELECT SUM(x.n) AS s FROM (SELECT p.ssn AS s, SUM(b.points) AS n FROM people p JOIN towns c ON p.ssn = c.ssn "
        "JOIN points b ON c.ssn + 18 = b.ssn GROUP BY p.ssn) x"
    )
    assert asked_of(product, sql) == "weights"


def test_keys_that_a_union_puts_together_are_not_equal(product: Product) -> None:
    """An input without rows made a chosen key look like the person's."""
    sql = (
        "SELECT SUM(b.points) AS s FROM people p JOIN (SELECT ssn AS j, seven * 25 AS k FROM customers UNION ALL "
        "SELECT ssn, ssn FROM empty) u ON p.ssn = u.j JOIN points b ON u.k = b.ssn"
    )
    assert asked_of(product, sql) == "weights"


@pytest.mark.parametrize("value", ["SUM(v.v)", "MAX(v.v)", "AVG(v.v)"])
def test_a_hidden_value_that_equals_a_known_one_is_known(product: Product, value: str) -> None:
    """Visits had each number once, so that their sum was that of the recipient's powers of two."""
    sql = f"SELECT {value} AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN visits v ON c.power = v.v"
    assert asked_of(product, sql) in ("weights", "repeats")
    beside = f"SELECT {value} AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN visits v"
    assert asked_of(product, f"{beside} ON c.ssn = v.ssn AND c.power = v.v") == "weights"


def test_hidden_values_are_not_the_recipients_to_choose(product: Product) -> None:
    """Who knows some of them from other questions would read whose row is there."""
    sql = "SELECT SUM(v.v) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN visits v ON c.power = v.ssn"
    assert asked_of(product, sql) == "weights"


@pytest.mark.parametrize("value", ["SUM(u.w)", "AVG(u.w)", "MAX(u.w)", "SUM(p.salary + 1000 * u.w)"])
@pytest.mark.parametrize("parts", [("1", "0"), ("v", "0"), ("v", "v")])
def test_inputs_of_a_union_are_parts_of_the_table_beside(product: Product, value: str, parts: tuple[str, str]) -> None:
    """The first input's rows are one person's. Who meets them was counted together with who meets the others."""
    one, other = parts
    union = f"SELECT ssn, {one} AS w FROM logs WHERE ssn = 7 UNION ALL SELECT ssn, {other} AS w FROM calls"
    assert asked_of(product, f"SELECT {value} AS s FROM people p JOIN ({union}) u ON p.ssn = u.ssn") in (
        "floor", "function", "linear", "weights",
    )  # fmt: skip


@pytest.mark.parametrize("key", ["c.seven", "c.ssn - 6"])
def test_listed_weights_are_of_rows_that_nobody_chooses(product: Product, key: str) -> None:
    """People lists towns.size. The recipient's keys chose the town of size 1 for one person alone."""
    sql = f"SELECT SUM(b.size) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN towns b ON {key} = b.ssn"
    assert asked_of(product, sql) == "weights"


def test_rows_whose_matches_a_recipient_may_learn_repeat_as_known_ones(product: Product) -> None:
    assert asked_of(product, "SELECT COUNT(*) AS a FROM people p JOIN members m ON p.ssn = m.ssn") == "repeats"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(b.size) AS s FROM people p JOIN towns b ON p.ssn = b.ssn",
        "SELECT SUM(b.points) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN points b ON c.ssn = b.ssn",
        "SELECT SUM(v.v) AS s, COUNT(*) AS n FROM people p JOIN visits v ON p.ssn = v.ssn",
        "SELECT SUM(v.v) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN visits v ON c.ssn = v.ssn",
        "SELECT COUNT(*) AS n FROM people p JOIN visits v ON p.ssn = v.ssn JOIN doctors d ON v.doctor = d.id",
        "SELECT COUNT(*) AS n FROM people p JOIN (SELECT v.ssn FROM visits v JOIN doctors d ON v.doctor = d.id) u"
        " ON p.ssn = u.ssn",
        "SELECT COUNT(DISTINCT p.ssn) AS n FROM people p JOIN members m ON p.ssn = m.ssn",
        "SELECT COUNT(DISTINCT c.ssn) AS n FROM customers c JOIN people p ON c.ssn = p.ssn",
        "SELECT AVG(p.salary) AS s FROM people p WHERE p.ssn IN (SELECT ssn FROM orders WHERE day < 2)",
        "SELECT AVG(p.salary) AS s FROM people p JOIN (SELECT ssn FROM logs UNION SELECT ssn FROM calls) u"
        " ON p.ssn = u.ssn",
    ],
)
def test_rows_beside_a_person_by_equal_keys_are_allowed(product: Product, sql: str) -> None:
    assert product.verdict(sql, TO).rule == ""

"""Keys of joins that are computed: constants without a literal, on either side, and beside `with` and `constants`."""

from __future__ import annotations

import pytest

from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import DEFAULT_FUNCTIONS, Terms

from .owners import OPEN, PARTIES, SHOWN, column, refusal, table
from .owners import terms as ways

NUMBER = Integer(1, 1000, "INTEGER")
SIZE = ["towns.size"]
PEOPLE = table(
    "people", "south", Terms(frozenset({"north"}), 10, ("ssn",), differences="off"),
    [
        column("ssn", NUMBER, ways("join")),
        column("team", NUMBER, ways("join", partners=SIZE)),
        column("desk", NUMBER, ways("join", partners=["customers.worth"])),
        column("vip", Boolean(), ways("join", partners=SIZE)),
        column("pay", NUMBER, ways("join", "aggregate", functions=DEFAULT_FUNCTIONS | {"max"}, partners=SIZE)),
        column("kind", NUMBER, ways("join", "filter", constants=[1], partners=SIZE)),
        column("age", NUMBER, ways("join", "filter", cuts=(18, 65), partners=SIZE)),
    ],
    ["ssn"],
)  # fmt: skip
TOWNS = table("towns", "west", OPEN, [column(each, NUMBER, SHOWN) for each in ("ssn", "name", "size")], ["ssn", "name"])
CASES = table(
    "cases", "west", Terms(frozenset({"north"}), 10, ("ssn",), differences="off"),
    [column("ssn", NUMBER, ways("join")), column("code", NUMBER, ways("join", partners=["customers.worth"]))],
    ["ssn"],
)  # fmt: skip
CUSTOMERS = table("customers", "north", OPEN, [column(each, NUMBER, SHOWN) for each in ("ssn", "worth")], ["ssn"])
CATALOG = Catalog(PARTIES, "rep3", PARTIES, (PEOPLE, TOWNS, CASES, CUSTOMERS))


def rule(sql: str, catalog: Catalog = CATALOG) -> str:
    found = refusal(sql, catalog)
    return "" if found is None else found.problem.rule


IN = "SELECT COUNT(*) FROM people p WHERE {} IN ({})"


@pytest.mark.parametrize(
    "choices",
    [
        "SELECT 5 FROM towns",
        "SELECT size // size + size // size FROM towns",
        "SELECT CAST(size = size AS INTEGER) FROM towns",
        "SELECT COUNT(size) FROM towns WHERE ssn <= 5",
        "SELECT MAX(x) FROM (SELECT 5 AS x, name FROM towns) t GROUP BY name",
        "SELECT MAX(size * 0 + 5) FROM towns GROUP BY name",
        "SELECT size - 5 FROM towns",
    ],
)
def test_numbers_that_are_computed_are_constants(choices: str) -> None:
    """Each asks who is in a team that the question says, whatever sizes towns have."""
    assert rule(IN.format("p.team", choices)) == "filter"


def test_so_are_conditions() -> None:
    assert rule(IN.format("p.vip", "SELECT size > 0 FROM towns")) == "filter"


@pytest.mark.parametrize("key", ["p.team + 5", "p.team // 100", "p.team * 0 + 5", "CAST(p.team > 5 AS INTEGER)"])
def test_on_which_side_they_stand_does_not_matter(key: str) -> None:
    """`team + 5 = size` is `team = size - 5`."""
    assert rule(IN.format(key, "SELECT size FROM towns")) == "filter"


@pytest.mark.parametrize(("name", "expected"), [("kind", "constants"), ("age", "cuts")])
@pytest.mark.parametrize("value", ["37", "size * 0 + 37", "size // size"])
def test_a_key_that_is_a_constant_is_held_against_those_that_are_listed(name: str, expected: str, value: str) -> None:
    assert rule(f"SELECT COUNT(*) FROM people p WHERE p.{name} = 37") == expected
    assert rule(IN.format(f"p.{name}", f"SELECT {value} FROM towns")) == expected


@pytest.mark.parametrize("function", ["SUM", "MAX"])
def test_an_aggregate_of_one_row_meets_what_the_column_may_meet(function: str) -> None:
    """Each sum is of one row, and is the key itself."""
    assert rule("SELECT COUNT(*) FROM people p JOIN customers c ON p.pay = c.ssn") == "with"
    rows = f"(SELECT ssn, {function}(pay) AS k FROM people GROUP BY ssn)"
    assert rule(f"SELECT COUNT(*) FROM {rows} p JOIN customers c ON p.k = c.ssn") == "with"


def test_columns_that_meet_in_a_key_meet() -> None:
    """Neither owner lets its column meet the other one's: a key of both is 7 where they are equal."""
    beside = "SELECT COUNT(*) FROM people p JOIN cases v ON p.ssn = v.ssn WHERE {}"
    assert rule(beside.format("p.desk = v.code")) == "with"
    assert rule(beside.format("p.desk - v.code + 7 IN (SELECT worth FROM customers WHERE worth = 7)")) == "with"


def test_plain_keys_are_joined() -> None:
    assert rule(IN.format("p.team", "SELECT size FROM towns")) == ""
    assert rule(IN.format("p.desk", "SELECT worth FROM customers")) == ""
    assert rule(IN.format("p.desk", "SELECT worth + 1 FROM customers")) == ""

"""How many rows each unit counts with, which values a key leaves together, and known rows that ask of one person."""

from __future__ import annotations

import pytest

from . import test_breaks_of_left_out_rows as left_out
from .product import Product
from .reference.evaluate import Data

TO = ("north",)
NUMBER = 'type = "INTEGER", min = 0, max = 9999'
VISITS = f"""
[tables.visits]
recipients = ["north"]
least_group = 10
unit = "patient"
rows = 4000
unique = [["patient", "day"]]
[tables.visits.columns]
patient = {{ {NUMBER}, use = ["join"] }}
day = {{ {NUMBER}, use = ["filter", "group", "aggregate"] }}
age = {{ {NUMBER}, use = ["filter", "group", "aggregate"] }}
room = {{ {NUMBER}, use = ["filter"] }}
sick = {{ type = "BOOLEAN", use = ["aggregate"], functions = ["count", "sum"] }}
cost = {{ {NUMBER}, use = ["aggregate"], functions = ["quantile", "sum", "avg", "count"] }}
maybe = {{ {NUMBER}, nullable = true, use = ["filter", "aggregate"], functions = ["max", "min", "count"] }}
"""
OWN = f"""
[tables.own]
open = true
rows = 40
unique = [["ssn"]]
[tables.own.columns]
ssn = {{ {NUMBER} }}
a = {{ {NUMBER} }}
b = {{ {NUMBER} }}
"""


CARDS = f"""
[tables.cards]
recipients = ["north"]
least_group = 10
unit = "card"
unique = [["card"]]
rows = 40
[tables.cards.columns]
card = {{ {NUMBER}, use = ["join"] }}
x = {{ {NUMBER}, use = ["join", "filter"] }}
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": "", "south": VISITS, "west": ""}, tmp_path_factory.mktemp("visits"))


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Product:
    more = f'town = {{ {NUMBER}, use = ["join", "filter"] }}\nseat = {{ {NUMBER}, use = ["select"] }}\n'
    offers = {"north": left_out.NORTH + OWN, "south": left_out.SOUTH + more, "west": left_out.WEST + CARDS}
    return Product(offers, tmp_path_factory.mktemp("people"))


MARKED = "CASE WHEN day = 0 THEN 1 WHEN age = 61 THEN 1 END"


def stays(cost: int) -> Data:
    """All of 25 patients have 40 days. The seventh alone is 61."""
    return {
        "visits": [
            {"patient": each, "day": day, "age": 61 if each == 7 else 30, "room": each, "sick": each == 7,
             "cost": cost if each == 7 else 10, "maybe": 1}
            for each in range(25) for day in range(40)
        ]
    }  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT_IF(sick) AS a, COUNT(*) AS n, COUNT(DISTINCT patient) AS m FROM visits WHERE day = 0 OR age = 61",
        "SELECT MEDIAN(cost) AS m FROM visits WHERE day = 0 OR age = 61",
        "SELECT COUNT_IF(sick) FILTER (WHERE day = 0 OR age = 61) AS a FROM visits",
        "SELECT COUNT_IF(sick) AS a FROM visits WHERE NOT (day > 0 AND age <> 61)",
        "SELECT COUNT_IF(sick) AS a FROM visits WHERE day * (age - 61) = 0",
        "SELECT COUNT_IF(sick) AS a FROM visits WHERE CASE WHEN age = 61 THEN 0 ELSE day END = 0",
        "SELECT CASE WHEN age = 61 THEN 0 ELSE day END AS k, COUNT_IF(sick) AS a FROM visits GROUP BY k",
        "SELECT COUNT(1 // (1 // (1 + day) + age // 61)) AS a, COUNT(DISTINCT patient) AS m FROM visits",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, day = 1 AND age = 61 AS k FROM visits) x",
        "SELECT day, SUM(cost) AS s FROM visits WHERE NOT (room = 7 AND day = 1) GROUP BY day",
        f"SELECT COUNT_IF(sick) AS a FROM (SELECT sick, {MARKED} AS x FROM visits) t WHERE x IS NOT NULL",
        f"SELECT COUNT_IF(sick) AS a FROM (SELECT sick, {MARKED} IS NULL AS b FROM visits) t WHERE NOT b",
        f"SELECT SUM(cost) AS a FROM (SELECT cost, {MARKED} AS x FROM visits) t WHERE x IS NOT NULL",
        "SELECT COUNT_IF(sick) AS a FROM (SELECT sick, CASE WHEN day > 0 THEN CASE WHEN age < 61 THEN 1 END END AS x"
        " FROM visits) t WHERE x IS NULL",
        "SELECT COUNT(*) AS n FROM (SELECT LAG(maybe) OVER (PARTITION BY patient ORDER BY day) AS x FROM visits) t"
        " WHERE x IS NULL",
        "SELECT COUNT(x) AS n FROM (SELECT LAG(maybe) OVER (PARTITION BY patient ORDER BY day) AS x FROM visits) t",
        "SELECT SUM(k) AS s FROM (SELECT patient, day, MAX(maybe) FILTER (WHERE day > 0) AS n, COUNT(*) AS k FROM"
        " visits GROUP BY patient, day) t WHERE n IS NULL",
    ],
)
def test_conditions_choose_no_number_of_rows(visits: Product, sql: str) -> None:
    """One patient counted with 40 rows, and all others with one: a guard counts units, and sees no more of them."""
    assert visits.verdict(sql, TO).rule in ("weights", "filter", "linear", "function")


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE day < 30 AND age < 50", (720, 7200)),
        ("SELECT COUNT(*) AS n FROM visits WHERE day < 10 OR day > 30", (475,)),
        ("SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE day = 0 OR age < 60", (25,)),
        ("SELECT AVG(cost) FILTER (WHERE day < 20) AS a FROM visits WHERE age < 60", (10,)),
    ],
)
def test_conditions_one_by_one_are_allowed(visits: Product, sql: str, answer: tuple[int, ...]) -> None:
    assert tuple(visits.answer(sql, TO, stays(4321)).rows[0]) == answer


DOUBLE = "CAST(pay - 4750 AS DOUBLE) * 4.23036e304 * 0.0e0"
CASES = " ".join(f"WHEN age = {each} THEN {each}" for each in range(31, 61))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(pay) AS s, COUNT(*) AS n FROM (SELECT pay, {DOUBLE} AS f FROM people) x WHERE f > 0",
        f"SELECT SUM(pay) AS s FROM (SELECT pay, {DOUBLE} AS f FROM people) x GROUP BY f > 0",
        f"SELECT CASE {CASES} ELSE 0 END AS g, SUM(age) AS s FROM people WHERE age >= 30 GROUP BY g",
        f"SELECT SUM(age) AS s FROM people GROUP BY {', '.join(f'age = {each}' for each in range(31, 61))}",
        "SELECT SUM(pay) AS s FROM people GROUP BY pay = 500",
    ],
)
def test_what_is_left_of_equalities_and_infinities_is_no_interval(people: Product, sql: str) -> None:
    """19 persons had a value that the question's text tells, and one another."""
    assert people.verdict(sql, TO).rule == "floor"


PERSON = "people p JOIN own c ON p.ssn = c.ssn"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people p JOIN chosen c ON p.ssn = c.ssn AND p.town = c.day",
        "SELECT COUNT(*) AS n FROM people p WHERE (p.ssn, p.town) IN (SELECT ssn, day FROM chosen)",
        f"SELECT COUNT(*) AS n FROM {PERSON} JOIN days d ON p.town = d.day WHERE c.a <> 60 OR d.x = 2",
        f"SELECT COUNT(DISTINCT p.ssn) AS n FROM {PERSON} JOIN days d ON d.day = p.town * c.a",
        f"SELECT COUNT(*) AS n, COUNT(1 // (c.a * (p.age - 61) + c.b)) AS m FROM {PERSON}",
        f"SELECT COUNT(1 % (c.a * (p.age - 61) + c.b)) AS m FROM {PERSON}",
        f"SELECT COUNT_IF(c.b = 1 OR (c.a = 1 AND p.sick)) AS m FROM {PERSON}",
        f"SELECT SUM(CAST(c.b = 1 OR (c.a = 1 AND p.sick) AS INTEGER)) AS m FROM {PERSON}",
        "SELECT COUNT(*) AS n FROM people p JOIN chosen c ON p.seat = c.ssn AND p.town = c.day",
        "SELECT COUNT(*) AS n FROM people p JOIN cards v ON p.town = v.card JOIN chosen c ON p.ssn = c.ssn"
        " AND v.x = c.day",
        f"SELECT COUNT(*) AS n FROM {PERSON} JOIN cards v ON p.town = v.card JOIN days d ON v.x = d.day"
        " WHERE c.a = 1 OR d.x = 1",
        f"SELECT CASE WHEN c.a = 1 THEN 1 ELSE d.x END AS g, SUM(p.pay) AS s FROM {PERSON} JOIN days d ON p.town ="
        " d.day GROUP BY g HAVING COUNT(*) > 0",
        f"SELECT c.a * d.x AS g, SUM(p.pay) AS s FROM {PERSON} JOIN days d ON p.town = d.day GROUP BY g",
        f"SELECT SUM(pay) AS s FROM (SELECT p.pay, CASE WHEN c.a = 1 THEN 1 WHEN p.age = 61 THEN 1 END AS x FROM"
        f" {PERSON}) t WHERE x IS NOT NULL",
    ],
)
def test_known_rows_ask_nothing_of_one_person(people: Product, sql: str) -> None:
    """For all but the seventh person the recipient's rows say what the condition, or the NULL, will be."""
    assert people.verdict(sql, TO).rule in ("filter", "weights", "linear", "repeats")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT c.a, COUNT(*) AS n, SUM(p.pay) AS s FROM {PERSON} WHERE p.town < 3 AND c.b = 1 GROUP BY c.a",
        "SELECT AVG(pay) AS s FROM people WHERE pay > 0 AND pay < 5000",
        "SELECT CASE WHEN age < 31 THEN 0 WHEN age < 60 THEN 1 ELSE 2 END AS g, AVG(age) AS s FROM people GROUP BY g",
    ],
)
def test_ordinary_questions_stay_allowed(people: Product, sql: str) -> None:
    assert people.verdict(sql, TO).rule == ""

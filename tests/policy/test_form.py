"""The second check of rules alone: the first one, the derivation, has lost its reasons about rows that are known.

Each question is an attack that a reader found, or stands for one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tacit.plan.policy import aggregated, grouped
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.policy.state import NOTHING
from tacit.sql import compile_query

from .product import Product
from .test_breaks_of_left_out_rows import DAYS, HOURS, NORTH, PERSON, SOUTH, TO, WEST

LOST = (
    (grouped, "left_out"), (grouped, "repeating"), (aggregated, "repeating"), (aggregated, "repeats"),
    (aggregated, "_weights"), (aggregated, "_of_parts"), (aggregated, "_branched"),
)  # fmt: skip
"""The functions of the derivation that give these reasons."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("form"))


@pytest.fixture
def refused(product: Product, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """What the second check says of a question."""
    for module, name in LOST:
        monkeypatch.setattr(module, name, lambda *_: NOTHING)

    def said(sql: str) -> str:
        try:
            compile_query(sql, product.federation.catalog, TO)
        except PolicyRefusal as refusal:
            assert refusal.problem.way == "form", refusal
            return refusal.problem.sentence
        return ""

    return said


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        (
            f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT h.ssn FROM {HOURS} AND h.day = c.k) x",
            "DISTINCT takes rows of hours and of customers together",
        ),
        (f"SELECT SUM(h.v) AS s FROM {HOURS} AND h.day = c.k", "known rows meet hours.day and another column"),
        (f"SELECT SUM(h.v) AS s FROM {DAYS} WHERE d.x < c.k", "known rows meet hours.day and another column"),
        ("SELECT COUNT(*) AS n FROM people p JOIN visits v ON p.ssn = v.doctor", "north chooses which rows of visits"),
        (f"SELECT SUM(o.v) AS s FROM {PERSON} JOIN once o ON c.k = o.ssn", "known rows meet people.ssn and another"),
        (
            "SELECT SUM(u.v) AS s FROM people p JOIN (SELECT ssn, v FROM once UNION ALL SELECT ssn, v FROM hours) u"
            " ON p.ssn = u.ssn",
            "values of several inputs of a UNION stand beside rows of people",
        ),
        ("SELECT SUM(p.pay) AS s FROM people p JOIN chosen c ON p.ssn = c.ssn", "chosen may count a row of people"),
        (
            "SELECT COUNT(*) AS n FROM people p JOIN (SELECT ssn FROM customers UNION ALL SELECT ssn FROM chosen) c"
            " ON p.ssn = c.ssn",
            "customers may count a row of people several times",
        ),
        (f"SELECT SUM(c.k) AS s FROM {PERSON}", "values that are known, customers.k, are added"),
        (f"SELECT SUM(CASE WHEN p.sick THEN c.k ELSE 0 END) AS s FROM {PERSON}", "values that are known, customers.k"),
        (
            f"SELECT AVG(s) AS a FROM (SELECT p.ssn, SUM(c.k) AS s FROM {PERSON} GROUP BY p.ssn) x",
            "values that are known, customers.k, are added",
        ),
        (
            "SELECT MAX(g.n) AS m FROM people p JOIN (SELECT ssn, COUNT(*) AS n FROM chosen GROUP BY ssn) g"
            " ON p.ssn = g.ssn",
            "values that are known, the number of rows of chosen, are added",
        ),
        (f"SELECT COUNT(*) AS n FROM {PERSON} WHERE c.k = 1 OR p.age > 40", "is of people.age and of customers.k"),
        (
            f"SELECT c.k = 1 OR p.sick AS g, COUNT(*) AS n FROM {PERSON} GROUP BY g",
            "is of people.sick and of customers",
        ),
        (
            "SELECT SUM(pay) AS s FROM people WHERE pay = 500 OR age = 61",
            "people.pay is added up or shown, and decides",
        ),
        (
            "SELECT SUM(pay) AS s FROM people WHERE ssn IN (SELECT ssn FROM people WHERE pay <> 500)",
            "people.pay is added up or shown, and decides",
        ),
        (
            "SELECT SUM(q.pay) AS s FROM people p JOIN people q ON p.ssn = q.ssn WHERE p.pay = 500 OR p.age = 61",
            "people.pay is added up or shown, and decides",
        ),
    ],
)
def test_what_is_not_in_the_form_is_refused(refused: Callable[[str], str], sql: str, sentence: str) -> None:
    assert sentence in refused(sql)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT c.k, COUNT(*) AS n, SUM(p.pay) AS s FROM {PERSON} GROUP BY c.k",
        f"SELECT d.x, COUNT(DISTINCT p.ssn) AS n FROM {DAYS} WHERE c.k < 50 GROUP BY d.x",
        f"SELECT COUNT(*) AS n, SUM(h.v) AS s FROM {HOURS} WHERE h.day < 10 AND c.k < 50",
        f"SELECT AVG(s) AS a FROM (SELECT h.ssn, SUM(h.v) AS s FROM {HOURS} WHERE c.k < 50 GROUP BY h.ssn) x",
        f"SELECT SUM(CASE WHEN c.k = 1 THEN p.pay ELSE 0 END) AS s FROM {PERSON} WHERE p.age > 40",
        "SELECT COUNT(*) AS n FROM people WHERE ssn NOT IN (SELECT ssn FROM customers)",
        "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pay AS x FROM people UNION ALL SELECT k FROM customers) u",
        "SELECT AVG(pay) AS s FROM people WHERE pay >= 100 AND pay < 5000 AND (age < 40 OR age > 60)",
        "SELECT age // 10 AS g, AVG(age) AS s FROM people GROUP BY age // 10",
    ],
)
def test_what_is_in_the_form_is_allowed(refused: Callable[[str], str], sql: str) -> None:
    assert refused(sql) == ""

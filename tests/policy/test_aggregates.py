"""Owners' rules of aggregates that are made of others: variances, quantiles, truth values, distinct sums, and of
grouping sets and set operations."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import corpus, tables
from .product import Product
from .reference.offers import texts_of

NORTH = ("north",)
SALARY = 'salary = { type = "INTEGER", min = 0, max = 100000, use = ["aggregate"], least_group = 20 }'


def _product(folder: Path, salary: str, floor: int = 10) -> Product:
    """The federation of the corpus, with other terms of people's salaries, and another floor of people."""
    folder.mkdir()
    texts = dict(texts_of(corpus.FEDERATION))
    assert SALARY in texts["south"]
    text = texts["south"].replace(SALARY, salary).replace("least_group = 10", f"least_group = {floor}", 1)
    return Product({**texts, "south": text}, folder)


def _salary(functions: str, least: str = ", least_group = 20") -> str:
    return SALARY.replace(", least_group = 20 }", f", functions = [{functions}]{least} }}")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return _product(tmp_path_factory.mktemp("plain") / "f", SALARY)


@pytest.fixture(scope="module")
def spread(tmp_path_factory: pytest.TempPathFactory) -> Product:
    """Where salaries may be asked for their standard deviation and for quantiles."""
    return _product(tmp_path_factory.mktemp("spread") / "f", _salary('"stddev", "quantile", "count", "sum"'))


@pytest.mark.parametrize(
    ("rule", "sql"),
    [
        ("function", "SELECT STDDEV(salary) AS s FROM people"),
        ("function", "SELECT VAR_POP(salary) AS s FROM people"),
        ("function", "SELECT city, STDDEV(salary) AS s FROM people GROUP BY city"),
        ("function", "SELECT STDDEV(salary) FILTER (WHERE vip) AS s FROM people"),
        ("linear", "SELECT STDDEV(salary * 1000) AS s FROM people"),
        ("linear", "SELECT STDDEV(t) AS s FROM (SELECT ssn, SUM(amount) AS t FROM orders GROUP BY ssn) x"),
        ("linear", "SELECT COVAR_POP(salary, points) AS c FROM people"),
        ("function", "SELECT CORR(salary, points) AS c FROM people"),
        ("linear", "SELECT SUM(DISTINCT salary) AS s FROM people"),
        ("linear", "SELECT AVG(DISTINCT points) AS s FROM people"),
        ("function", "SELECT QUANTILE_DISC(salary, 0.5) AS q FROM people"),
        ("function", "SELECT PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY salary) AS q FROM people"),
        ("function", "SELECT ANY_VALUE(salary) AS q FROM people"),
        ("function", "SELECT BOOL_OR(vip) AS b FROM people"),
        ("function", "SELECT BOOL_AND(tester) AS b FROM people"),
        ("function", "SELECT COUNT_IF(vip) AS n FROM people"),
        ("floor", "SELECT ssn FROM customers INTERSECT SELECT ssn FROM people"),
        ("floor", "SELECT ssn FROM customers EXCEPT SELECT ssn FROM people"),
        ("floor", "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people INTERSECT SELECT ssn FROM customers) x"),
        ("repeats", "SELECT city FROM people INTERSECT SELECT city FROM people WHERE vip"),
        (
            "differences",
            "SELECT segment, COUNT(DISTINCT p.ssn) AS n FROM customers c JOIN people p ON c.ssn = p.ssn "
            "GROUP BY ROLLUP (segment)",
        ),
    ],
)
def test_what_rules_do_not_name_is_refused(plain: Product, rule: str, sql: str) -> None:
    assert plain.verdict(sql, NORTH).rule == rule


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT STDDEV(salary) AS s FROM people",
        "SELECT city, VARIANCE(salary) AS s, COUNT(*) AS n FROM people GROUP BY city",
        "SELECT STDDEV_POP(salary) FILTER (WHERE vip) AS s FROM people",
        "SELECT QUANTILE_DISC(salary, 0.3) AS q FROM people",
        "SELECT QUANTILE_CONT(salary, 0.9) AS q FROM people",
    ],
)
def test_named_functions_are_allowed(spread: Product, sql: str) -> None:
    assert spread.verdict(sql, NORTH).allowed


@pytest.mark.parametrize(
    ("rule", "sql"),
    [
        ("function", "SELECT AVG(salary) AS a FROM people"),
        ("linear", "SELECT SUM(salary * salary) AS s FROM people"),
        ("linear", "SELECT STDDEV(salary) AS s, SUM(salary * salary) AS q FROM people"),
        ("function", "SELECT STDDEV(salary) AS s, MAX(salary) AS q FROM people"),
        ("linear", "SELECT STDDEV(salary + 1) AS s FROM people"),
        # Of 20 values the place is the first or the last one.
        ("function", "SELECT QUANTILE_DISC(salary, 0.05) AS q FROM people"),
        ("function", "SELECT QUANTILE_DISC(salary, 0.96) AS q FROM people"),
        ("function", "SELECT PERCENTILE_DISC(0.96) WITHIN GROUP (ORDER BY salary DESC) AS q FROM people"),
        ("function", "SELECT QUANTILE_CONT(salary, 0.04) AS q FROM people"),
        ("function", "SELECT QUANTILE_CONT(salary, 0) AS q FROM people"),
    ],
)
def test_a_named_function_allows_no_other(spread: Product, rule: str, sql: str) -> None:
    assert spread.verdict(sql, NORTH).rule == rule


def test_two_units_have_no_variance(tmp_path: Path) -> None:
    """A sum and a sum of squares give both values."""
    sql = "SELECT STDDEV(salary) AS s FROM people"
    verdicts = [
        _product(tmp_path / str(floor), _salary('"stddev"', ""), floor).verdict(sql, NORTH).rule for floor in (2, 3)
    ]
    assert verdicts == ["floor", ""]


@pytest.mark.parametrize(
    ("rule", "sql"),
    [
        ("", "SELECT city, COUNT(*) AS n FROM people GROUP BY ROLLUP (city)"),
        ("", "SELECT city, vip, COUNT(*) AS n FROM people GROUP BY CUBE (city, vip)"),
        ("differences", "SELECT illness, COUNT(*) AS n FROM people GROUP BY ROLLUP (illness)"),
        ("differences", "SELECT city, tester, COUNT(*) AS n FROM people GROUP BY GROUPING SETS (city, (city, tester))"),
    ],
)
def test_totals_beside_their_parts_are_held_against_each_other(plain: Product, rule: str, sql: str) -> None:
    """A total less the groups that are shown is what groups below the floor hold."""
    assert plain.verdict(sql, NORTH).allowed
    assert plain.checked((sql,), NORTH, tables.federation_rows()).rule == rule


def test_a_variance_is_withheld_below_the_floor(spread: Product) -> None:
    data = tables.federation_rows()
    sql = "SELECT STDDEV(salary) FILTER (WHERE tester) AS few, STDDEV(salary) FILTER (WHERE vip) AS many FROM people"
    found = spread.answer(sql, NORTH, data).rows
    salaries = [row["salary"] for row in data["people"] if row["vip"]]
    assert found[0][0] is None
    assert found[0][1] is None or isinstance(found[0][1], float)
    assert len(salaries) >= 20


def test_quantiles_of_large_groups_are_answered(spread: Product) -> None:
    data = tables.federation_rows()
    salaries = sorted(int(str(row["salary"])) for row in data["people"])
    found = spread.answer("SELECT QUANTILE_DISC(salary, 0.3) AS q, COUNT(*) AS n FROM people", NORTH, data).rows
    assert found == ((salaries[-(-3 * len(salaries) // 10) - 1], len(salaries)),)

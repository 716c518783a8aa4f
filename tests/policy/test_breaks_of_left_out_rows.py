"""Rows beside a person that a recipient leaves out: by keys of two columns, by conditions, by what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import compile_query

from . import test_breaks_of_mapped_rows as mapped
from .product import Product
from .reference.evaluate import Data
from .test_breaks_of_kept_rows import kept_by

NUMBER = 'type = "INTEGER", min = 0, max = 9999'
NORTH = f"""
[tables.customers]
open = true
rows = 40
unique = [["ssn"]]
[tables.customers.columns]
ssn = {{ {NUMBER} }}
k = {{ {NUMBER} }}

[tables.chosen]
open = true
rows = 400
unique = [["ssn", "day"]]
[tables.chosen.columns]
ssn = {{ {NUMBER} }}
day = {{ {NUMBER} }}

[tables.days]
open = true
rows = 70
unique = [["day"]]
[tables.days.columns]
day = {{ {NUMBER} }}
x = {{ {NUMBER} }}
"""
SOUTH = f"""
[tables.people]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
[tables.people.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
pay = {{ {NUMBER}, use = ["aggregate", "filter"], functions = ["sum", "avg", "count", "quantile"] }}
age = {{ {NUMBER}, use = ["filter", "aggregate", "group"] }}
sick = {{ type = "BOOLEAN", use = ["filter", "aggregate"], functions = ["count", "min", "max", "sum"] }}
"""
WEST = f"""
[tables.hours]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn", "day"]]
rows = 4000
differences = "off"
[tables.hours.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
day = {{ {NUMBER}, use = ["join", "filter"] }}
v = {{ {NUMBER}, use = ["aggregate", "join"] }}
n = {{ {NUMBER}, use = ["filter", "group"], with = ["customers.k"] }}

[tables.once]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
[tables.once.columns]
ssn = {{ {NUMBER}, use = ["join"] }}
v = {{ {NUMBER}, use = ["aggregate", "join"] }}
n = {{ {NUMBER}, use = ["aggregate", "filter"], with = ["customers.k"] }}

[tables.visits]
recipients = ["north"]
least_group = 5
unit = "patient"
rows = 900
[tables.visits.columns]
patient = {{ {NUMBER} }}
doctor = {{ {NUMBER}, use = ["join", "filter"] }}
"""
TO = ("north",)
SEVENTH = 4321


def data(members: list[int], pay: int = SEVENTH) -> Data:
    """All have 60 days. The recipient's rows say of the seventh person something else than of others."""
    everybody = range(1, 31)
    return {
        "people": [
            {"ssn": each, "pay": pay if each == 7 else 500, "age": 61 if each == 7 else 30, "sick": each == 7}
            for each in members
        ],
        "customers": [{"ssn": each, "k": 60 if each == 7 else 1} for each in everybody],
        "chosen": [{"ssn": each, "day": day} for each in everybody for day in (0, 1) if (each, day) != (7, 1)],
        "days": [{"day": each, "x": each} for each in range(60)],
        "hours": [{"ssn": each, "day": day, "v": day, "n": day} for each in everybody for day in range(60)],
        "once": [{"ssn": each, "v": 2, "n": 1} for each in everybody],
        "visits": [{"patient": each, "doctor": doctor} for doctor in everybody for each in range(5 + doctor)],
    }


MEMBERS = list(range(1, 21))
PERSON = "people p JOIN customers c ON p.ssn = c.ssn"
HOURS = f"{PERSON} JOIN hours h ON h.ssn = c.ssn"
DAYS = f"{HOURS} JOIN days d ON h.day = d.day"
RANKED = (
    "(SELECT ssn, r, COUNT(*) AS v FROM (SELECT ssn, ROW_NUMBER() OVER (PARTITION BY ssn ORDER BY day) AS r FROM hours)"
    " w GROUP BY ssn, r)"
)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("left"))


@pytest.fixture(scope="module")
def asked(product: Product) -> Callable[[str], str]:
    """The rule that refuses; else what two worlds answer, in which the seventh person is paid something else."""

    def found(sql: str) -> str:
        rule = product.verdict(sql, TO).rule
        worlds = (data(MEMBERS), data(MEMBERS, 1234))
        return rule or " ".join(str(product.answer(sql, TO, each).rows) for each in worlds)

    return found


REFUSED = ("weights", "repeats", "floor")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c.day AS g, SUM(p.pay) AS s, COUNT(*) AS n FROM people p JOIN hours h ON p.ssn = h.ssn "
        "JOIN chosen c ON h.ssn = c.ssn AND h.day = c.day GROUP BY c.day",
        f"SELECT MEDIAN(p.pay) AS m FROM {HOURS} AND h.day = c.k",
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT p.ssn) AS m FROM {HOURS} AND h.day = c.k",
        f"SELECT SUM(h.v) AS s FROM {HOURS} AND h.day = c.k",
        "SELECT SUM(h.v) AS s FROM people p, customers c, hours h WHERE p.ssn = c.ssn AND h.ssn = p.ssn"
        " AND h.day = c.k",
        "SELECT SUM(h.v) AS s FROM people p NATURAL JOIN chosen c NATURAL JOIN (SELECT ssn, day, v FROM hours) h",
        "SELECT COUNT(*) AS n FROM hours h JOIN chosen c ON h.ssn = c.ssn AND h.day = c.day",
        "SELECT COUNT(*) AS n FROM people p JOIN hours h ON p.ssn = h.ssn WHERE (h.ssn, h.day) IN (SELECT ssn, day FROM"
        " chosen)",
        "SELECT SUM(x.n) AS n FROM (SELECT p.ssn, COUNT(*) AS n FROM people p JOIN hours h ON p.ssn = h.ssn JOIN chosen"
        " c ON h.ssn = c.ssn AND h.day = c.day GROUP BY p.ssn) x",
        "SELECT COUNT(*) AS n FROM people p JOIN (SELECT DISTINCT h.ssn, h.day FROM hours h JOIN chosen c ON h.ssn ="
        " c.ssn AND h.day = c.day) u ON p.ssn = u.ssn",
    ],
)
def test_keys_of_two_columns_leave_out_rows_of_one_person(asked: Callable[[str], str], sql: str) -> None:
    """One is the person's, the other one chooses among rows beside it. Two groups differed by one person's pay."""
    assert asked(sql) in REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT p.ssn) AS m FROM {DAYS} WHERE d.day < c.k",
        f"SELECT MEDIAN(p.pay) AS m FROM {DAYS} WHERE d.day < c.k",
        f"SELECT SUM(h.v) AS s FROM {DAYS} WHERE d.x = 0 OR (c.k = 60 AND d.x = 1)",
        f"SELECT d.x AS g, SUM(p.pay) AS s FROM {DAYS} WHERE d.x = 0 OR (d.x = 1 AND c.k = 1) GROUP BY d.x",
        f"SELECT SUM(CASE WHEN d.day < c.k THEN 1 ELSE 0 END) AS n FROM {DAYS}",
        f"SELECT COUNT(*) AS n FROM {HOURS} WHERE h.day < 1 OR (c.k = 60 AND h.day < 2)",
        f"SELECT COUNT(*) AS n FROM {HOURS} WHERE h.n < c.k",
        f"SELECT d.day + c.k AS g, COUNT(*) AS n FROM {DAYS} GROUP BY d.day + c.k",
        f"SELECT SUM(h.v) AS n FROM {RANKED} h JOIN customers c ON h.ssn = c.ssn WHERE h.r <= c.k",
        f"SELECT COUNT(*) AS n FROM people p JOIN {RANKED} h ON p.ssn = h.ssn JOIN customers c ON h.ssn = c.ssn"
        " WHERE h.r <= c.k AND h.v < 99",
        "SELECT SUM(h.v) AS n FROM (SELECT ssn, n, COUNT(*) AS v FROM hours GROUP BY ssn, n) h JOIN customers c"
        " ON h.ssn = c.ssn WHERE h.n < c.k",
    ],
)
def test_so_do_conditions(asked: Callable[[str], str], sql: str) -> None:
    """Between two of the recipient's own columns, or its own and one beside."""
    assert asked(sql) in REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(pay) AS s, COUNT(*) AS n FROM people WHERE pay = 500 OR age = 61",
        "SELECT SUM(pay) AS s, COUNT(*) AS n FROM people WHERE CASE WHEN age = 61 THEN TRUE ELSE pay = 500 END",
        "SELECT AVG(pay) AS s FROM people WHERE pay = 500 OR pay > 900",
        "SELECT MEDIAN(pay) AS s FROM people WHERE pay = 500 OR age = 61",
        "SELECT COUNT_IF(sick) AS s, COUNT(*) AS n FROM people WHERE NOT sick OR age = 61",
        "SELECT BOOL_OR(sick) AS s FROM people WHERE NOT sick OR age = 61",
        "SELECT SUM(p.pay) AS s FROM people p JOIN customers c ON p.ssn = c.ssn WHERE p.pay = 500 OR p.age = 61",
        "SELECT SUM(x.s) AS s FROM (SELECT ssn, SUM(pay) AS s, MAX(age) AS a FROM people GROUP BY ssn) x"
        " WHERE x.s = 500 OR x.a = 61",
        "SELECT SUM(age) AS s FROM (SELECT age, age = 30 OR pay > 900 AS g FROM people) x GROUP BY g",
        "SELECT SUM(pay) FILTER (WHERE pay = 500 OR age = 61) AS s FROM people",
        "SELECT SUM(CASE WHEN pay = 500 OR age = 61 THEN pay END) AS s FROM people",
        "SELECT SUM(pay) AS s FROM (SELECT pay, pay = 500 OR age = 61 AS b FROM people) x WHERE b",
        "SELECT SUM(pay) AS s FROM (SELECT pay, CASE WHEN pay = 500 OR age = 61 THEN 1 ELSE 0 END AS b FROM people) x"
        " WHERE b = 1",
        "SELECT SUM(pay) AS s FROM people WHERE ssn IN (SELECT ssn FROM people WHERE pay = 500 OR age = 61)",
        "SELECT SUM(q.pay) AS s FROM people p JOIN people q ON p.ssn = q.ssn WHERE p.pay = 500 OR p.age = 61",
        "SELECT SUM(pay) AS s FROM people WHERE (pay - 500) * (age - 61) = 0",
        "SELECT SUM(pay) AS s FROM people WHERE pay * (age - 61) = 500 * (age - 61)",
        "SELECT SUM(pay) AS s FROM people WHERE pay - 500 <= 1000 * (age - 30) AND 500 - pay <= 1000 * (age - 30)",
        "SELECT SUM(pay) AS s FROM people WHERE (pay - 500) * (pay - 900) >= 0",
        "SELECT SUM(pay) AS s FROM people WHERE pay % 1000 = 500",
        "SELECT SUM(pay) AS s FROM people WHERE pay IN (500, 4321)",
        "SELECT SUM(pay) AS s, COUNT(*) AS n FROM people GROUP BY (pay - 500) * (age - 61) = 0",
        "SELECT SUM(age) AS s, COUNT(*) AS n FROM people GROUP BY (age - 30) * (age - 61)",
        "SELECT SUM(x.s) AS s FROM (SELECT ssn, SUM(pay) AS s, COUNT(*) FILTER (WHERE pay = 500 OR age = 61) AS b FROM"
        " people GROUP BY ssn) x WHERE b = 1",
        "SELECT SUM(x.s) AS s FROM (SELECT ssn, SUM(pay) FILTER (WHERE pay = 500 OR age = 61) AS s FROM people"
        " GROUP BY ssn) x",
        "SELECT SUM(pay) AS s FROM (SELECT pay, CASE WHEN pay < 500 THEN 9 WHEN pay < 501 THEN 2 WHEN pay < 1000 THEN 8"
        " ELSE 3 END AS b FROM people) x WHERE b <= 3",
        "SELECT SUM(pay) AS s FROM (SELECT pay, CASE WHEN pay < 500 THEN 9 WHEN pay < 501 THEN 2 ELSE 3 END AS b FROM"
        " people) x GROUP BY b // 4",
        "SELECT SUM(pay) AS s FROM (SELECT pay, FIRST_VALUE((age - 61) * (pay - 500)) OVER (PARTITION BY ssn ORDER BY"
        " ssn) AS b FROM people) x WHERE b = 0",
        "SELECT SUM(pay) AS s FROM people WHERE pay <> 501 AND NOT pay = 502",
        "SELECT MEDIAN(s + 1000 * b) AS m FROM (SELECT ssn, SUM(pay) AS s, COUNT(*) FILTER (WHERE age >= 30) AS b FROM"
        " people GROUP BY ssn) x",
        "SELECT SUM(p.pay) AS s FROM people p JOIN days d ON CASE WHEN p.pay = 500 OR p.age = 61 THEN 1 ELSE 0 END ="
        " d.day WHERE d.day = 1",
    ],
)
def test_a_condition_that_tells_most_values_leaves_the_others(asked: Callable[[str], str], sql: str) -> None:
    """All but one were 500, by the question's own words. The sum was 19 times that, and one person's pay."""
    assert asked(sql) in (*REFUSED, "function", "filter", "group")


@pytest.mark.parametrize("keys", ["c.k, p.pay = 500", "p.age = 61, p.pay = 500", "p.pay = 500, p.age"])
def test_a_rest_row_is_no_interval(product: Product, keys: str) -> None:
    """The seventh person's small group was folded into that of the 500s, whose pay the key tells."""
    sql = f"SELECT {keys}, SUM(p.pay) AS s, COUNT(*) AS n FROM {PERSON} GROUP BY {keys}"
    assert product.verdict(sql, TO).rule == "floor"
    brackets = sql.replace("p.pay = 500", "p.pay > 500")
    one, other = (product.answer(brackets, TO, data(MEMBERS, pay)).rows for pay in (SEVENTH, 1234))
    assert one == other


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(o.v) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN once o ON c.ssn = o.ssn AND"
        " o.v = c.k + 1",
        "SELECT SUM(o.v) AS s FROM once o JOIN customers c ON o.ssn = c.ssn AND o.v = c.k + 1",
        "SELECT SUM(CASE WHEN c.ssn IS NOT NULL THEN o.v END) AS s FROM once o LEFT JOIN customers c ON o.ssn = c.ssn"
        " AND o.v = c.k + 1",
        "SELECT SUM(o.v) AS s FROM once o WHERE (o.ssn, o.v) IN (SELECT ssn, k + 1 FROM customers)",
        "SELECT SUM(o.v) AS s FROM once o JOIN customers c ON o.ssn = c.ssn AND o.v + 1 = c.k",
        "SELECT SUM(o.v) AS s FROM people p JOIN customers c ON p.ssn = c.ssn JOIN once o ON c.ssn = o.ssn"
        " AND o.v + 1 = c.k",
        "SELECT SUM(o.n) AS s FROM once o JOIN customers c ON o.ssn = c.ssn WHERE o.n >= c.k AND o.n <= c.k",
        "SELECT SUM(v) AS s FROM (SELECT ssn, v, FIRST_VALUE(v) OVER (PARTITION BY ssn ORDER BY ssn) AS w FROM once) x"
        " JOIN customers c ON c.ssn = x.ssn AND c.k = x.w",
        "SELECT SUM(v) AS s FROM (SELECT ssn, SUM(v) AS v, SUM(v) FILTER (WHERE n >= 0) AS w FROM once GROUP BY ssn) x"
        " JOIN customers c ON c.ssn = x.ssn AND c.k = x.w",
        "SELECT SUM(CASE WHEN o.n >= c.k AND o.n <= c.k THEN o.n END) AS s FROM once o JOIN customers c"
        " ON o.ssn = c.ssn",
    ],
)
def test_what_equals_a_computed_known_value_is_known(asked: Callable[[str], str], sql: str) -> None:
    assert asked(sql) in REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people p JOIN visits v ON p.ssn = v.doctor",
        "SELECT MEDIAN(p.pay) AS m FROM people p JOIN visits v ON p.ssn = v.doctor",
        "SELECT COUNT(*) AS n FROM people p JOIN (SELECT doctor AS d FROM visits WHERE doctor = 7 UNION ALL SELECT"
        " doctor FROM visits) u ON p.ssn = u.d",
    ],
)
def test_groups_of_other_units_have_known_sizes(asked: Callable[[str], str], sql: str) -> None:
    """How many patients a doctor has another question may tell, as the floor is of patients."""
    assert asked(sql) in REFUSED


def kept_rule(catalog: Catalog, made: str, sql: str) -> str:
    try:
        compile_query(sql, kept_by(made, catalog), TO, today=date(2026, 1, 1))
    except PolicyRefusal as refusal:
        return str(refusal.rule)
    return ""


@pytest.mark.parametrize(
    ("made", "sql"),
    [
        ("SELECT c.ssn AS ssn, d.ssn AS g FROM customers c, customers d WHERE d.ssn <= 2 AND NOT (c.ssn = 7 AND"
         " d.ssn = 2)", "SELECT k.g, SUM(p.salary) AS s FROM people p JOIN k ON p.ssn = k.ssn GROUP BY k.g"),
        ("SELECT c.ssn FROM customers c JOIN customers d ON c.ssn >= d.ssn",
         "SELECT COUNT(*) AS n, COUNT(DISTINCT p.ssn) AS m FROM people p JOIN k ON p.ssn = k.ssn"),
        ("SELECT ssn FROM customers UNION ALL SELECT ssn FROM customers WHERE ssn = 7",
         "SELECT COUNT(*) AS n FROM people p JOIN k ON p.ssn = k.ssn"),
        ("SELECT c.ssn AS j, d.ssn AS q FROM customers c JOIN customers d ON c.seven * 24 + 1 = d.ssn",
         "SELECT SUM(b.points) AS s FROM people p JOIN k ON p.ssn = k.j JOIN points b ON k.q = b.ssn"),
    ],
)  # fmt: skip
def test_rows_of_ones_own_that_are_kept_have_no_unique_keys(
    tmp_path_factory: pytest.TempPathFactory, made: str, sql: str
) -> None:
    """A kept table had the unique keys of the table that it is made of, and its columns were equal to each other."""
    offers = {"north": mapped.NORTH, "south": mapped.SOUTH, "west": mapped.WEST + mapped.PARTS}
    catalog = Product(offers, tmp_path_factory.mktemp("kept")).federation.catalog
    assert kept_rule(catalog, f"CREATE TABLE k AS {made}", sql) in REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT c.k, COUNT(*) AS n, SUM(p.pay) AS s FROM {PERSON} GROUP BY c.k",
        f"SELECT d.x, COUNT(DISTINCT p.ssn) AS n FROM {DAYS} WHERE c.k < 50 GROUP BY d.x",
        f"SELECT COUNT(*) AS n, SUM(h.v) AS s FROM {HOURS} WHERE h.day < 10 AND c.k < 50",
        f"SELECT COUNT(*) AS n FROM {PERSON} WHERE c.k = 1 AND p.age > 40",
        "SELECT AVG(pay) AS s FROM people WHERE pay >= 100 AND pay < 5000 AND (age < 40 OR age > 60)",
        "SELECT CASE WHEN age < 40 THEN 1 ELSE 2 END AS g, AVG(age) AS s FROM people GROUP BY CASE WHEN age < 40 THEN 1"
        " ELSE 2 END",
        "SELECT SUM(o.v) AS s FROM people p JOIN once o ON p.ssn = o.ssn",
        "SELECT age // 10 AS g, AVG(age) AS s FROM people GROUP BY age // 10",
        "SELECT SUM(pay) FILTER (WHERE pay > 500 AND age < 61) AS s FROM people",
        "SELECT COUNT(*) AS n, AVG(age) AS s FROM people WHERE pay = 500 OR NOT sick",
    ],
)
def test_rows_that_stay_for_all_alike_are_allowed(product: Product, sql: str) -> None:
    assert product.verdict(sql, TO).rule == ""


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM {PERSON} WHERE c.k = 1 OR p.age > 40",
        f"SELECT SUM(p.pay) AS s FROM {PERSON} WHERE NOT (c.k = 60 AND p.age > 40)",
        f"SELECT c.k = 1 OR p.age > 40 AS g, COUNT(*) AS n FROM {PERSON} GROUP BY g",
        f"SELECT COUNT(*) AS n FROM {PERSON} JOIN once o ON o.ssn = c.ssn WHERE (c.k = 60 AND o.n = 1) OR p.age > 40",
    ],
)
def test_known_rows_fill_no_floor(product: Product, sql: str) -> None:
    """All but the seventh person are counted whatever their age. Who knows that these are there reads one bit."""
    assert product.verdict(sql, TO).rule == "filter"

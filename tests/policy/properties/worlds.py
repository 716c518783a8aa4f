"""A world of few people: its offers, questions that its owners allow, and its data."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..reference.evaluate import Data

Rows = list[dict[str, Any]]

NORTH = ("north",)

CUSTOMERS = """
[tables.customers]
open = true
unique = [["ssn"]]
rows = 8
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
segment = { type = "VARCHAR", values = ["s", "t"] }
"""

PEOPLE = """
[tables.people]
recipients = ["north"]
least_group = LEAST
unit = "ssn"
unique = [["ssn"]]
rows = 8
[tables.people.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
city = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
vip = { type = "BOOLEAN", use = ["filter", "group"] }
salary = { type = "INTEGER", min = -1000, max = 1000, use = ["aggregate"] }
bonus = { type = "INTEGER", min = -1000, max = 1000, nullable = true, use = ["aggregate"] }
email = { type = "VARCHAR", max_length = 1 }

[tables.orders]
recipients = ["north"]
least_group = LEAST
unit = "ssn"
rows = 8
[tables.orders.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
item = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
amount = { type = "INTEGER", min = -1000, max = 1000, use = ["aggregate"] }
"""

MEMBERS = """
[tables.members]
recipients = ["north"]
least_group = LEAST
unit = "ssn"
unique = [["ssn"]]
rows = 8
complement = true
[tables.members.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
plan = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
fee = { type = "INTEGER", min = -1000, max = 1000, use = ["aggregate"] }
"""

JOINED = "FROM customers c JOIN people p ON c.ssn = p.ssn"
PEOPLE_QUESTIONS = (
    "SELECT COUNT(*) AS n, SUM(salary) AS s FROM people",
    "SELECT city, COUNT(*) AS n, SUM(salary) AS s FROM people GROUP BY city",
    "SELECT city, SUM(salary) AS s, AVG(bonus) AS b FROM people GROUP BY city",
    "SELECT SUM(salary) AS s, SUM(CASE WHEN vip THEN salary ELSE 0 END) AS v FROM people",
    "SELECT city, SUM(CASE WHEN vip THEN salary END) AS v, COUNT(bonus) AS b FROM people GROUP BY city",
    "SELECT city, SUM(x) AS s FROM (SELECT city, CASE WHEN vip THEN salary ELSE 0 END AS x FROM people) q"
    " GROUP BY city",
    "SELECT SUM(salary) AS s FROM people WHERE vip OR city = 'a'",
    "SELECT city FROM people GROUP BY city HAVING SUM(salary) > 1",
    "SELECT city, SUM(salary) AS s FROM people GROUP BY city ORDER BY SUM(salary) DESC, city LIMIT 1",
    "SELECT vip, city, SUM(salary) AS s FROM people GROUP BY vip, city ORDER BY city",
    "SELECT DISTINCT city FROM people",
    "SELECT MAX(s) AS m, COUNT(*) AS n FROM (SELECT city, SUM(salary) AS s FROM people GROUP BY city) q",
    f"SELECT c.segment, COUNT(*) AS n, SUM(p.salary) AS s {JOINED} GROUP BY c.segment",
    f"SELECT p.city, COUNT(DISTINCT p.ssn) AS n, SUM(p.bonus) AS s {JOINED} GROUP BY p.city",
    f"SELECT SUM(p.salary) AS s, SUM(CASE WHEN c.segment = 's' THEN p.salary ELSE 0 END) AS t {JOINED}",
    "SELECT COUNT(*) AS n FROM customers WHERE ssn IN (SELECT ssn FROM people WHERE vip)",
)
ORDER_QUESTIONS = (
    "SELECT item, SUM(amount) AS s, COUNT(*) AS n FROM orders GROUP BY item",
    "SELECT AVG(t) AS s FROM (SELECT ssn, SUM(amount) AS t FROM orders GROUP BY ssn) q",
    "SELECT SUM(t) AS s FROM (SELECT ssn, SUM(amount) AS t FROM orders WHERE item = 'x' GROUP BY ssn) q",
    "SELECT SUM(t) AS s FROM (SELECT ssn, SUM(CASE WHEN item = 'x' THEN amount ELSE 0 END) AS t"
    " FROM orders GROUP BY ssn) q",
    "SELECT SUM(t) AS s, SUM(u) AS u, COUNT(*) AS n FROM (SELECT ssn, SUM(amount) AS t,"
    " SUM(CASE WHEN item = 'x' THEN amount ELSE 0 END) AS u FROM orders GROUP BY ssn) q",
    "SELECT SUM(t) AS s, SUM(u) AS u FROM (SELECT ssn, SUM(CASE WHEN item = 'x' THEN amount ELSE 0 END) AS t,"
    " SUM(CASE WHEN item = 'y' THEN amount ELSE 0 END) AS u FROM orders WHERE item IN ('x', 'y') GROUP BY ssn) q",
    "SELECT c.segment, SUM(o.amount) AS s, COUNT(*) AS n FROM orders o JOIN customers c ON c.ssn = o.ssn"
    " GROUP BY c.segment",
    "SELECT p.city, SUM(o.amount) AS s FROM orders o JOIN people p ON p.ssn = o.ssn GROUP BY p.city",
)
MEMBER_QUESTIONS = (
    "SELECT COUNT(*) AS n FROM customers c JOIN members m ON c.ssn = m.ssn",
    "SELECT c.segment, COUNT(*) AS n FROM customers c JOIN members m ON c.ssn = m.ssn GROUP BY c.segment",
    "SELECT m.plan, COUNT(*) AS n FROM customers c JOIN members m ON c.ssn = m.ssn GROUP BY m.plan",
    "SELECT plan, COUNT(*) AS n FROM members GROUP BY plan",
    "SELECT COUNT(*) AS n FROM members WHERE plan = 'a'",
    "SELECT COUNT(*) AS n, SUM(CASE WHEN plan = 'a' THEN 1 ELSE 0 END) AS a FROM members",
    "SELECT COUNT(*) AS n FROM customers WHERE ssn IN (SELECT ssn FROM members)",
    "SELECT COUNT(*) AS n, SUM(CASE WHEN c.segment = 's' THEN 1 ELSE 0 END) AS s"
    " FROM customers c JOIN members m ON c.ssn = m.ssn",
    "SELECT SUM(x) AS s FROM (SELECT CASE WHEN c.segment = 's' THEN 1 ELSE 0 END AS x"
    " FROM customers c JOIN members m ON c.ssn = m.ssn) q",
    "SELECT c.segment, COUNT(*) AS n FROM customers c JOIN members m ON c.ssn = m.ssn WHERE m.plan = 'a'"
    " GROUP BY c.segment",
)
UNION_QUESTIONS = (
    "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people WHERE vip UNION ALL SELECT ssn FROM orders) q",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT salary AS x FROM people UNION ALL SELECT fee FROM members) q",
    "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM (SELECT city AS k, salary AS x FROM people"
    " UNION ALL SELECT plan, fee FROM members) q GROUP BY k",
    "SELECT src, COUNT(*) AS n, SUM(x) AS s FROM (SELECT 'p' AS src, salary AS x FROM people"
    " UNION ALL SELECT 'o', amount FROM orders) q GROUP BY src",
    "SELECT src, k, COUNT(*) AS n FROM (SELECT 'p' AS src, city AS k FROM people"
    " UNION ALL SELECT 'o', item FROM orders) q GROUP BY src, k",
    "SELECT src, SUM(CASE WHEN c THEN x ELSE 0 END) AS s FROM (SELECT 'p' AS src, vip AS c, salary AS x FROM people"
    " UNION ALL SELECT 'o', item = 'x', amount FROM orders) q GROUP BY src",
)
CONDITION_QUESTIONS = (
    *PEOPLE_QUESTIONS[3:6],
    "SELECT SUM(CASE WHEN city = 'b' AND vip THEN 1 ELSE 0 END) AS s FROM people",
    "SELECT COUNT(*) AS n, COUNT(CASE WHEN vip AND NOT city = 'a' THEN 1 END) AS s FROM people",
    "SELECT SUM(CASE WHEN vip THEN 1 ELSE 0 END) AS v, SUM(CASE WHEN vip AND city = 'a' THEN 1 ELSE 0 END) AS a"
    " FROM people",
    "SELECT COUNT(NULLIF(vip AND city = 'b', TRUE)) AS n FROM people",
    "SELECT AVG(n) AS n FROM (SELECT ssn, SUM(CASE WHEN city = 'b' AND vip THEN 1 ELSE 0 END) AS n FROM people"
    " GROUP BY ssn) q",
    "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people WHERE city = 'b' AND vip UNION ALL SELECT ssn FROM customers) q",
    "SELECT src, COUNT(*) AS n FROM (SELECT 't' AS src FROM people WHERE city = 'b' AND vip"
    " UNION ALL SELECT segment FROM customers) q GROUP BY src",
)

TIGHTER: dict[str, Callable[[str], str]] = {
    "floor": lambda text: text.replace("least_group = 2", "least_group = 3"),
    "floor of a column": lambda text: text.replace('use = ["aggregate"]', 'use = ["aggregate"], least_group = 3'),
    "functions": lambda text: text.replace('use = ["aggregate"]', 'use = ["aggregate"], functions = ["count"]'),
    "uses": lambda text: text.replace('use = ["group", "filter"]', 'use = ["group"]'),
    "partners": lambda text: text.replace('use = ["join"]', 'use = ["join"], with = ["customers.ssn"]'),
    "constants": lambda text: text.replace('use = ["group", "filter"]', 'use = ["group", "filter"], constants = ["a"]'),
    "recipients": lambda text: text.replace('recipients = ["north"]', 'recipients = ["west"]', 1),
    "complement": lambda text: text.replace(
        'small = "drop"\n[tables.people', 'small = "drop"\ncomplement = true\n[tables.people'
    ),
}
"""How an offer becomes tighter, by the name of what changes."""


def offers(least: int) -> dict[str, str]:
    """The offers of the world with this floor."""
    return {
        "north": CUSTOMERS,
        "south": PEOPLE.replace("LEAST", str(least)),
        "west": MEMBERS.replace("LEAST", str(least)),
    }


def looser(attribute: str, least: int) -> dict[str, str]:
    """The offers before an attribute allows less. Where complements count, small groups are left out anyway."""
    found = offers(least)
    if attribute != "complement":
        return found
    return {owner: text.replace("rows = 8\n[tables.people", 'rows = 8\nsmall = "drop"\n[tables.people')
            for owner, text in found.items()}  # fmt: skip


def tighter(attribute: str, least: int) -> dict[str, str]:
    """The offers with an attribute that allows less."""
    before = looser(attribute, least)
    found = {owner: TIGHTER[attribute](text) for owner, text in before.items()}
    assert found != before
    return found


def opened() -> dict[str, str]:
    """The same tables, which their owners show to everybody."""
    terms = re.compile(r", (use|functions) = \[[^\]]*\]|^(recipients|least_group|unit|complement|open) = .*\n", re.M)
    return {
        owner: re.sub(r"^(\[tables\.\w+\])$", r"\1\nopen = true", terms.sub("", text), flags=re.M)
        for owner, text in offers(2).items()
    }


def world(chance: random.Random, most: int = 6) -> dict[str, Rows]:
    """Some data."""
    keys = range(1, most + 3)
    known = sorted(chance.sample(keys, chance.randint(2, most)))
    people = [
        {
            "ssn": key,
            "city": chance.choice("aab"),
            "vip": chance.random() < 0.5,
            "salary": chance.randint(0, 2),
            "bonus": chance.choice((None, 0, 1, 1)),
            "email": chance.choice("xy"),
        }
        for key in known
    ]
    orders = [
        {"ssn": chance.choice(known), "item": chance.choice("xyy"), "amount": chance.randint(0, 2)}
        for _ in range(chance.randint(0, most + 1))
    ]
    customers = [{"ssn": key, "segment": chance.choice("sst")} for key in keys if chance.random() < 0.8]
    members = [
        {"ssn": key, "plan": chance.choice("ab"), "fee": chance.randint(0, 2)} for key in keys if chance.random() < 0.6
    ]
    return {"people": people, "orders": orders, "customers": customers, "members": members}


def worlds(seed: int, count: int, most: int = 6) -> Iterator[dict[str, Rows]]:
    """Some data, again and again the same. most: units of a table."""
    chance = random.Random(seed)
    return (world(chance, most) for _ in range(count))


def with_rows(data: Data, table: str, rows: Rows) -> dict[str, Any]:
    """The data with other rows of a table."""
    return {**data, table: rows}


def renamed(data: Data, names: Mapping[int, int]) -> dict[str, Rows]:
    """The data with other keys."""
    return {table: [{**row, "ssn": names[row["ssn"]]} for row in rows] for table, rows in data.items()}

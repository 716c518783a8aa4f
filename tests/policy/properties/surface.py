"""Questions that have every construct which docs/sql.md lists, put together by chance, over a world of few people."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from typing import Any

from tests.docs.sql_constructs import SECTIONS

NORTH = ("north",)
Rows = list[dict[str, Any]]
Data = Mapping[str, Sequence[Mapping[str, Any]]]

CUSTOMERS = """
[tables.customers]
open = true
unique = [["ssn"]]
rows = 8
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
segment = { type = "VARCHAR", max_length = 1 }
worth = { type = "INTEGER", min = 0, max = 9 }

[tables.copies]
open = true
rows = 8
[tables.copies.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
copy = { type = "INTEGER", min = 0, max = 9 }
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
since = { type = "DATE", use = ["filter", "group"] }
salary = { type = "INTEGER", min = -1000, max = 1000, use = ["aggregate"], functions = FEW }
bonus = { type = "INTEGER", min = -1000, max = 1000, nullable = true, use = ["aggregate"] }
age = { type = "INTEGER", min = 0, max = 99, use = ["filter", "aggregate", "join"], functions = ALL, with = MET }
smokes = { type = "BOOLEAN", use = ["aggregate"], functions = ["min", "max"] }
email = { type = "VARCHAR", max_length = 1 }
"""

STAYS = """
[tables.stays]
recipients = ["north"]
least_group = LEAST
unit = "ssn"
unique = [["ssn", "day"]]
rows = 8
[tables.stays.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
day = { type = "INTEGER", min = 0, max = 99, use = ["filter"] }
kind = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
cost = { type = "INTEGER", min = -1000, max = 1000, use = ["aggregate"] }
ward = { type = "VARCHAR", max_length = 1 }
"""

FEW = ["count", "sum", "avg", "stddev"]
ALL = ["count", "sum", "avg", "min", "max", "quantile", "count_distinct"]
MET = ["people.age", "customers.worth"]

MEASURES = {"people": ("salary", "bonus"), "stays": ("cost",)}
"""Columns of which only sums, averages and variances are shown."""

CLOSED = {"people": "email", "stays": "ward"}


def offers(least: int) -> dict[str, str]:
    """The offers of the world with this floor."""
    texts = {"north": CUSTOMERS, "south": PEOPLE, "west": STAYS}
    words = {"LEAST": str(least), "FEW": str(FEW), "ALL": str(ALL), "MET": str(MET)}
    return {
        owner: reduce(lambda found, each: found.replace(*each), words.items(), text) for owner, text in texts.items()
    }


TIGHTER: dict[str, Callable[[str], str]] = {
    "floor": lambda text: text.replace("least_group = 3", "least_group = 4"),
    "functions": lambda text: text.replace(str(FEW), '["count"]'),
    "uses": lambda text: text.replace('use = ["group", "filter"]', 'use = ["group"]'),
    "partners": lambda text: text.replace('use = ["join"]', 'use = ["join"], with = ["people.ssn"]'),
    "constants": lambda text: text.replace('use = ["group", "filter"]', 'use = ["group", "filter"], constants = ["a"]'),
    "cuts": lambda text: text.replace('use = ["filter"] }', 'use = ["filter"], cuts = [2] }'),
    "complement": lambda text: text.replace("least_group = 3", "least_group = 3\ncomplement = true"),
}
"""How offers become tighter, by the name of what changes."""


def tighter(attribute: str, least: int) -> dict[str, str]:
    """The offers with an attribute that allows less."""
    before = offers(least)
    found = {owner: TIGHTER[attribute](text) for owner, text in before.items()}
    assert found != before
    return found


def large() -> dict[str, Rows]:
    """A world of few groups with many people each."""
    found = [
        {
            "ssn": key, "city": "abc"[key % 3], "vip": key % 2 == 0, "since": date(2020 + key % 2, 1, 1),
            "salary": key, "bonus": None if key % 5 == 0 else key, "age": 20 + key, "smokes": key % 7 == 0,
            "email": "x",
        }
        for key in range(1, 121)
    ]  # fmt: skip
    stays = [
        {"ssn": key, "day": day, "kind": "uv"[(key + day) % 2], "cost": key + day, "ward": "x"}
        for key in range(1, 61)
        for day in range(1, 2 + key % 3)
    ]
    customers = [
        {"ssn": key, "segment": "st"[key // 20 % 2], "worth": key % 10} for key in range(1, 121) if key % 4 in (1, 2)
    ]
    return {"people": found, "stays": stays, "customers": customers, "copies": []}


def worlds(seed: int, count: int) -> Iterator[dict[str, Rows]]:
    """Some data, again and again the same."""
    chance = random.Random(seed)
    return (_world(chance) for _ in range(count))


def _world(chance: random.Random) -> dict[str, Rows]:
    known = sorted(chance.sample(range(1, 9), chance.randint(4, 7)))
    people = [
        {
            "ssn": key,
            "city": chance.choice("aaab"),
            "vip": chance.random() < 0.5,
            "since": date(2020 + chance.randint(0, 1), 1, 1),
            "salary": chance.randint(0, 2),
            "bonus": chance.choice((None, 0, 1, 1)),
            "age": chance.choice((20, 30, 30, 40)),
            "smokes": chance.random() < 0.5,
            "email": chance.choice("xy"),
        }
        for key in known
    ]
    days = sorted({(chance.choice(known), chance.randint(1, 3)) for _ in range(8)})
    stays = [
        {
            "ssn": key,
            "day": day,
            "kind": chance.choice("uuv"),
            "cost": chance.randint(0, 2),
            "ward": chance.choice("xy"),
        }
        for key, day in days
    ]
    keys = [key for key in range(1, 9) if chance.random() < 0.6]
    customers = [{"ssn": key, "segment": chance.choice("sst"), "worth": chance.randint(0, 3)} for key in keys]
    copies = [{"ssn": chance.choice(range(1, 9)), "copy": number} for number in range(4)]
    return {"people": people, "stays": stays, "customers": customers, "copies": copies}


def with_one_apart() -> dict[str, Rows]:
    """A world of four people with one measure each, of whom the first is alone in a city."""
    data = next(worlds(5, 1))
    people = [{**row, "city": "a" if at else "b", "bonus": None} for at, row in enumerate(data["people"][:4])]
    return with_rows(data, "people", people)


def with_rows(data: Data, table: str, rows: Rows) -> dict[str, Any]:
    """The data with other rows of a table."""
    return {**data, table: rows}


def renamed(data: Data, names: Mapping[int, int]) -> dict[str, Rows]:
    """The data with other keys."""
    return {table: [{**row, "ssn": names[row["ssn"]]} for row in rows] for table, rows in data.items()}


# --- questions

_JOINED = (
    r"(?:(?:customers|stays) a {0}JOIN (?:customers|stays|copies) b"
    r"|stays s {0}JOIN copies c|copies c {0}JOIN stays s) ON"
)
REPEATED = {
    "join of keys that repeat on both sides": _JOINED.format(""),
    "LEFT JOIN of such keys": _JOINED.format("LEFT "),
    "RIGHT JOIN of such keys": _JOINED.format("RIGHT "),
    "FULL JOIN of such keys": _JOINED.format("FULL "),
}
"""Joins that docs/sql.md tells by the tables of its examples, as questions of this world have them."""
PATTERNS = {
    each.name: re.compile("|".join([each.pattern, *([REPEATED[each.name]] if each.name in REPEATED else [])]), re.I)
    for _, listed in SECTIONS
    for each in listed
}
TRIES = 4000


@dataclass(frozen=True)
class Source:
    """What stands after FROM. p, s, c: whether rows of people, stays or customers are in it, by these names."""

    text: str
    p: bool = False
    s: bool = False
    c: bool = False


@dataclass(frozen=True)
class Select:
    """A question in parts. over: a window over its groups. end: what stands behind GROUP BY."""

    source: Source
    values: tuple[str, str]
    conditions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    grouping: str = ""
    over: str = ""
    end: str = ""

    @property
    def sql(self) -> str:
        """Its text. Of several keys the first is shown."""
        return self.text(self.keys[:1])

    def text(self, shown: Sequence[str]) -> str:
        """The same with these keys in each row."""
        keys = "".join(f"{key} AS {name}, " for key, name in zip(shown, "kl", strict=False))
        word = "AND" if " WHERE p." in self.source.text else "WHERE"
        where = f" {word} {' AND '.join(self.conditions)}" if self.conditions else ""
        values = f"{self.values[0]} AS n, {self.values[1]} AS v{self.over}"
        groups = f" GROUP BY {self.grouping}{self.end}" if self.keys else ""
        return f"SELECT {keys}{values} FROM {self.source.text}{where}{groups}"


SOURCES = (
    Source("people p", p=True),
    Source("people p", p=True),
    Source("stays s", s=True),
    Source("customers c JOIN people p ON c.ssn = p.ssn", p=True, c=True),
    Source("people p JOIN stays s ON s.ssn = p.ssn", p=True, s=True),
    Source("people p LEFT JOIN customers c ON c.ssn = p.ssn", p=True, c=True),
    Source("customers c RIGHT JOIN people p ON c.ssn = p.ssn", p=True, c=True),
    Source("stays s LEFT JOIN customers c ON c.ssn = s.ssn", s=True, c=True),
    Source("customers c LEFT JOIN people p ON c.ssn = p.ssn", p=True, c=True),
    Source("people p LEFT JOIN stays s ON s.ssn = p.ssn", p=True, s=True),
    Source("people p LEFT JOIN copies c ON c.ssn = p.ssn", p=True),
    Source("people p FULL JOIN customers c ON c.ssn = p.ssn", p=True, c=True),
    Source("people p JOIN customers c USING (ssn)", p=True, c=True),
    Source("people p, customers c WHERE p.ssn = c.ssn", p=True, c=True),
    Source("people p SEMI JOIN customers c ON c.ssn = p.ssn", p=True),
    Source("people p ANTI JOIN customers c ON c.ssn = p.ssn", p=True),
    Source("customers c ANTI JOIN people p ON c.ssn = p.ssn", c=True),
    Source("people p NATURAL JOIN (SELECT ssn, segment, worth FROM customers) c", p=True, c=True),
    Source("people p CROSS JOIN (SELECT COUNT(*) AS segment, MAX(worth) AS worth FROM customers) c", p=True),
    Source("people p CROSS JOIN customers c", p=True, c=True),
    Source("people p JOIN customers c ON p.age > c.worth", p=True, c=True),
    Source("people p JOIN customers c ON p.age BETWEEN c.worth AND c.worth + 9", p=True, c=True),
    Source("people p JOIN customers c ON p.ssn = c.ssn AND p.age = c.worth", p=True, c=True),
    Source("(SELECT ssn, city, vip, since, salary, bonus, age, smokes FROM people WHERE NOT vip) p", p=True),
    Source("(SELECT *, RANK() OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT * FROM stays QUALIFY ROW_NUMBER() OVER (PARTITION BY ssn ORDER BY day) = 1) s", s=True),
    Source("(SELECT *, DENSE_RANK() OVER (PARTITION BY ssn ORDER BY day DESC) AS n FROM stays) s", s=True),
    Source("(SELECT *, NTILE(2) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT *, LAG(day) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT *, LEAD(day) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT *, FIRST_VALUE(day) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT *, LAST_VALUE(day) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source("(SELECT *, COUNT(*) OVER (PARTITION BY ssn) AS n FROM stays) s", s=True),
    Source("(SELECT *, COUNT(*) OVER (PARTITION BY ssn ORDER BY day) AS n FROM stays) s", s=True),
    Source(
        "(SELECT *, COUNT(*) OVER (PARTITION BY ssn ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n "
        "FROM stays) s",
        s=True,
    ),
    Source("(SELECT *, RANK() OVER (ORDER BY day) AS n FROM stays) s", s=True),
    Source("stays s JOIN copies c ON c.ssn = s.ssn", s=True),
    Source("stays s LEFT JOIN copies c ON c.ssn = s.ssn", s=True),
    Source("copies c RIGHT JOIN stays s ON c.ssn = s.ssn", s=True),
    Source("stays s FULL JOIN copies c ON c.ssn = s.ssn", s=True),
)
UNITED = (
    "SELECT ssn, city AS k, salary AS x FROM people UNION ALL SELECT ssn, kind, cost FROM stays",
    "SELECT ssn, city AS k, salary AS x FROM people UNION SELECT ssn, kind, cost FROM stays",
)
COUNTED = "(SELECT city AS k, COUNT(*) AS m FROM people GROUP BY city)"
OPERATORS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
GROUPED = (
    "SELECT city AS k FROM people GROUP BY city",
    "SELECT city AS k FROM people WHERE NOT vip GROUP BY city",
    "SELECT city AS k FROM people GROUP BY city HAVING SUM(salary) > 1",
)
OTHERS = (
    "SELECT kind AS k FROM stays GROUP BY kind",
    "SELECT kind AS k FROM stays WHERE day > 1 GROUP BY kind",
    "SELECT segment AS k FROM customers GROUP BY segment",
)
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "p": (
        "p.city = 'a'",
        "p.city IN ('a', 'b')",
        "p.vip OR p.city = 'b'",
        "NOT p.vip",
        "p.city LIKE 'a%'",
        "p.city ILIKE 'A'",
        "UPPER(p.city) = 'A'",
        "LOWER(p.city) = 'a'",
        "LENGTH(p.city) = 1",
        "SUBSTRING(p.city, 1, 1) = 'a'",
        "p.city || 'x' = 'ax'",
        "COALESCE(p.city, 'b') = 'a'",
        "NULLIF(p.city, 'b') IS NOT NULL",
        "p.vip IS NOT TRUE",
        "p.city IS DISTINCT FROM 'b'",
        "p.since < DATE '2021-01-01' + INTERVAL 1 DAY",
        "EXTRACT(YEAR FROM p.since) = 2020",
        "DATE_TRUNC('year', p.since) = DATE '2020-01-01'",
        "p.age BETWEEN 20 AND 30",
        "p.age + 1 > 25",
        "p.age % 20 = 0",
        "p.age // 10 = 3",
        "ABS(p.age - 30) < 5",
        "GREATEST(p.age, 30) = 30",
        "LEAST(p.age, 30) = 30",
        "CAST(p.age AS BIGINT) * 2 >= 60",
        "CASE WHEN p.vip THEN p.age ELSE 0 END < 35",
        "p.age > (SELECT AVG(age) FROM people)",
        "p.age > (SELECT MAX(q.age) FROM people q WHERE q.ssn = p.ssn)",
        "p.age > ALL (SELECT worth FROM customers)",
        "p.ssn IN (SELECT ssn FROM customers)",
        "p.ssn = ANY (SELECT ssn FROM customers WHERE worth > 0)",
        "p.ssn NOT IN (SELECT ssn FROM customers)",
        "EXISTS (SELECT 1 FROM customers k WHERE k.ssn = p.ssn AND k.segment = 's')",
        "NOT EXISTS (SELECT 1 FROM customers k WHERE k.ssn = p.ssn)",
        "(p.vip OR p.ssn IN (SELECT ssn FROM customers))",
        "p.ssn NOT IN (SELECT ssn FROM stays)",
        "EXISTS (SELECT 1 FROM stays t WHERE t.ssn = p.ssn)",
    ),
    "s": (
        "s.kind = 'u'",
        "s.day > 1",
        "s.ssn IN (SELECT ssn FROM customers)",
        "s.ssn NOT IN (SELECT ssn FROM customers)",
    ),
    "n": ("s.n = 1", "s.n > 1", "s.n IS NULL"),
    "c": ("c.segment = 's'", "c.worth > 0", "c.segment IS NULL"),
}  # fmt: skip
AGGREGATES: Mapping[str, tuple[str, ...]] = {
    "": ("COUNT(*)",),
    "p": (
        "SUM(p.salary)",
        "AVG(p.salary)",
        "COUNT(p.bonus)",
        "SUM(p.bonus)",
        "SUM(p.salary + 2 * p.bonus)",
        "COUNT(DISTINCT p.ssn)",
        "COUNT(DISTINCT p.age)",
        "SUM(CASE WHEN p.vip THEN p.salary ELSE 0 END)",
        "SUM(p.salary) FILTER (WHERE p.vip)",
        "COUNT(*) FILTER (WHERE p.city = 'a')",
        "SUM(CASE WHEN p.ssn IN (SELECT ssn FROM customers) THEN p.salary ELSE 0 END)",
        "SUM(DISTINCT p.salary)",
        "VAR_SAMP(p.salary)",
        "VAR_POP(p.salary)",
        "STDDEV_SAMP(p.salary)",
        "STDDEV_POP(p.salary)",
        "COVAR_POP(p.salary, p.bonus)",
        "CORR(p.salary, p.bonus)",
        "MIN(p.age)",
        "MAX(p.age)",
        "MEDIAN(p.age)",
        "QUANTILE_DISC(p.age, 0.5)",
        "QUANTILE_CONT(p.age, 0.5)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY p.age)",
        "BOOL_AND(p.smokes)",
        "BOOL_OR(p.smokes)",
        "ANY_VALUE(p.age)",
        "ROUND(AVG(p.salary), 1)",
        "FLOOR(AVG(p.salary))",
        "CEIL(AVG(p.salary))",
        "ABS(SUM(p.salary))",
        "CAST(SUM(p.salary) AS DOUBLE)",
    ),
    "s": ("SUM(s.cost)", "COUNT(DISTINCT s.ssn)", "SUM(CASE WHEN s.kind = 'u' THEN s.cost ELSE 0 END)"),
    "n": ("COUNT(CASE WHEN s.n = 1 THEN 1 END)", "COUNT(s.n)", "SUM(s.n)", "MAX(s.n)"),
    "c": ("COUNT(c.segment)", "SUM(c.worth)", "SUM(CASE WHEN c.segment = 's' THEN 1 ELSE 0 END)"),
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "p": ("p.city", "p.vip", "EXTRACT(YEAR FROM p.since)"),
    "s": ("s.kind",),
    "n": ("s.n",),
    "c": ("c.segment",),
}
GROUPINGS: tuple[Callable[[list[str]], str], ...] = (
    lambda keys: ", ".join(keys),
    lambda keys: ", ".join(keys),
    lambda keys: ", ".join(keys),
    lambda keys: f"ROLLUP ({', '.join(keys)})",
    lambda keys: f"CUBE ({', '.join(keys)})",
    lambda keys: f"GROUPING SETS (({keys[0]}), ())",
)
ENDS = (
    " HAVING COUNT(*) > 1",
    " ORDER BY n NULLS LAST, k",
    " ORDER BY n DESC NULLS FIRST, k LIMIT 1",
    " ORDER BY n, k LIMIT 1 OFFSET 1",
)
OVER = (
    "RANK() OVER (ORDER BY COUNT(*) DESC)",
    "SUM(COUNT(*)) OVER (PARTITION BY {key})",
    "COUNT(*) * 100 / SUM(COUNT(*)) OVER ()",
    "LAG(COUNT(*)) OVER (ORDER BY {key})",
)


def constructs(sql: str) -> frozenset[str]:
    """The constructs of docs/sql.md that a question has."""
    return frozenset(name for name, pattern in PATTERNS.items() if pattern.search(sql))


def generated(
    seed: int, least: int, wanted: Callable[[str], bool] = lambda sql: True, never: frozenset[str] = frozenset()
) -> list[str]:
    """Different questions, again and again the same, so that each construct is in that many of them at least.

    wanted: which questions count. never: constructs that none of these have.
    """
    chance, found, counts = random.Random(seed), dict[str, None](), Counter[str]()
    listed = PATTERNS.keys() - never
    for _ in range(TRIES):
        if all(counts[name] >= least for name in listed):
            break
        sql = _question(chance)
        has = constructs(sql)
        if sql not in found and not has & never and any(counts[name] < least for name in has) and wanted(sql):
            found[sql] = None
            counts.update(has)
    return list(found)


def _question(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.06:
        return _over_inputs(chance)
    if kind < 0.10:
        return f"{chance.choice(GROUPED)} {chance.choice(OPERATORS)} {chance.choice(OTHERS)}"
    if kind < 0.16:
        return _over_groups(chance)
    if kind < 0.18:
        return _beside_constants(chance)
    if kind < 0.20:
        operator = chance.choice(("", "LEFT ", "RIGHT ", "FULL "))
        repeated = f"SELECT a.segment AS k FROM customers a {operator}JOIN copies b ON a.worth = b.copy"
        return f"{repeated} {chance.choice(OPERATORS)} {chance.choice(GROUPED)}"
    if kind < 0.22:
        return _first_of_each(chance)
    if kind > 0.92:
        return _divided(chance)
    found = selected(chance, chance.choice(SOURCES)).sql
    return f"WITH w AS ({found}) SELECT * FROM w" if kind < 0.26 else found


def _over_inputs(chance: random.Random) -> str:
    grouping = chance.choice((("", ""), ("k, ", " GROUP BY k"), ("DISTINCT k, ", " GROUP BY k")))
    return f"SELECT {grouping[0]}COUNT(*) AS n, SUM(x) AS v FROM ({chance.choice(UNITED)}) u{grouping[1]}"


def _over_groups(chance: random.Random) -> str:
    return chance.choice(
        (
            "SELECT MAX(n) AS n, COUNT(*) AS v FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) g",
            f"SELECT g.k, c.segment FROM {COUNTED} g LEFT JOIN customers c ON c.ssn = g.m",
            f"SELECT c.segment, g.m FROM customers c LEFT JOIN {COUNTED} g ON c.ssn = g.m",
            f"SELECT g.k, c.worth FROM {COUNTED} g JOIN customers c ON g.m > c.worth",
            f"SELECT g.k, c.worth FROM {COUNTED} g JOIN customers c ON g.m BETWEEN c.worth AND c.ssn",
            f"SELECT g.k, c.worth FROM {COUNTED} g FULL JOIN customers c ON g.m = c.ssn",
            "SELECT DISTINCT city FROM people",
            "SELECT p.city, s.salary FROM people p JOIN people s USING (ssn)",
            "SELECT city FROM people EXCEPT ALL SELECT segment FROM customers",
        )
    )


def _beside_constants(chance: random.Random) -> str:
    """Rows that the question itself has could be weights."""
    number, aggregate = chance.randint(1, 9), chance.choice(AGGREGATES["p"])
    return chance.choice(
        (
            f"VALUES ('{chance.choice('abc')}') {chance.choice(OPERATORS)} {chance.choice(GROUPED)}",
            f"SELECT v.a, g.k FROM (VALUES ({number}), (0)) v(a) JOIN {COUNTED} g ON g.m = v.a",
            f"SELECT {aggregate} AS n FROM (VALUES ({number}), (0)) v(a) JOIN people p ON p.ssn = v.a",
            f"SELECT 1 + 1 AS n, (SELECT {aggregate} FROM people p) AS v",
        )
    )


def _first_of_each(chance: random.Random) -> str:
    """The first row of each group, of groups or of single rows."""
    key, value = chance.choice(KEYS["p"]), chance.choice(("COUNT(*)", "SUM(p.salary)", "AVG(p.salary)"))
    groups = f"(SELECT {key} AS k, {value} AS m FROM people p GROUP BY {key}) g"
    return chance.choice(
        (
            f"SELECT DISTINCT ON (g.m) g.k, g.m FROM {groups} ORDER BY g.m, g.k",
            f"SELECT DISTINCT ON ({key}) p.salary FROM people p ORDER BY {key}, p.salary",
        )
    )


def _divided(chance: random.Random) -> str:
    """Quotients, roundings and parts of days that no single owner computes."""
    by_city, end = "SELECT city AS k, COUNT(*) AS n FROM people GROUP BY city", chance.choice(("", " WHERE NOT vip"))
    measure = chance.choice(("salary", "bonus"))
    days = "(SELECT city AS k, since AS d, COUNT(*) AS m FROM people GROUP BY city, since) g"
    return chance.choice(
        (
            "SELECT COUNT(*) AS n FROM people p JOIN customers c ON c.ssn = p.ssn WHERE p.age % c.worth = "
            f"{chance.randint(0, 9)}",
            f"SELECT g.k, g.m // c.worth AS n FROM {COUNTED} g JOIN customers c ON c.ssn = g.m",
            f"{by_city} HAVING SUM(salary) % {chance.randint(2, 9)} = 1",
            f"{by_city} HAVING ROUND(SUM(salary), -1) > {chance.randint(1, 99)}",
            f"SELECT city AS k, SUM(salary / 2) AS a, AVG(bonus / {chance.randint(2, 9)}) AS n FROM people{end} "
            "GROUP BY city",
            f"SELECT a, COUNT(*) AS n FROM (SELECT city, ROUND(AVG({measure}){chance.choice(('', ', 1'))}) AS a FROM "
            f"people{end} GROUP BY city) g GROUP BY a",
            f"SELECT a, COUNT(*) AS n FROM (SELECT city, AVG({measure}) AS a FROM people{end} GROUP BY city) g "
            "GROUP BY a",
            f"SELECT MAX(a) AS n FROM (SELECT city, AVG({measure}) AS a FROM people{end} GROUP BY city) g",
            f"SELECT city AS k, RANK() OVER (ORDER BY AVG({measure}) DESC) AS n FROM people{end} GROUP BY city",
            f"SELECT g.m / NULLIF(c.worth, 0) AS q, COUNT(*) AS n FROM {COUNTED} g JOIN customers c ON c.ssn = g.m "
            f"WHERE c.worth < {chance.randint(2, 9)} GROUP BY q",
            f"SELECT SUM(g.m / NULLIF(c.worth, 0)) AS n FROM {COUNTED} g JOIN customers c ON c.ssn = g.m "
            f"WHERE c.worth < {chance.randint(2, 9)}",
            f"{by_city} HAVING ROUND(AVG(salary), 1) > {chance.randint(1, 99)}",
            f"SELECT city, FLOOR(AVG(salary)) AS a, CAST(AVG(bonus) AS INTEGER) AS n FROM people{end} GROUP BY city",
            f"SELECT CAST(g.m / NULLIF(c.worth, 0) AS BIGINT) AS n FROM {COUNTED} g JOIN customers c ON c.ssn = g.m",
            "SELECT COUNT(*) AS n FROM people p JOIN customers c ON c.ssn = p.ssn WHERE "
            f"CAST(p.age / NULLIF(c.worth, 0) AS INTEGER) > {chance.randint(0, 9)}",
            "SELECT SUM(CAST(salary / NULLIF(bonus, 0) AS DECIMAL(18,4))) AS n FROM people",
            "SELECT SUM(ROUND(salary / 3)) AS n FROM people",
            f"SELECT k, COUNT(*) AS n FROM {days} GROUP BY k HAVING MAX(d) + INTERVAL 1 MONTH > "
            f"DATE '2021-01-{chance.randint(10, 28)}'",
            f"{by_city} HAVING YEAR(MAX(since)) > {chance.randint(2019, 2021)}",
            f"SELECT k, COUNT(*) AS n FROM {days} GROUP BY k HAVING YEAR(MAX(d)) > {chance.randint(2019, 2021)}",
            f"SELECT city, AVG(salary) AS a FROM people{end} GROUP BY city ORDER BY a LIMIT {chance.randint(1, 3)}",
            f"SELECT AVG(salary) AS n FROM people{end} UNION ALL SELECT AVG(cost) FROM stays WHERE day > "
            f"{chance.randint(0, 3)}",
        )
    )


def selected(chance: random.Random, source: Source) -> Select:
    """A question about a source."""
    there = [each for each in "psc" if getattr(source, each)] + (["n"] if "AS n FROM stays" in source.text else [])
    places = [each for each in there if each in CONDITIONS]
    conditions = [chance.choice(CONDITIONS[chance.choice(places)]) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    first = chance.choice(AGGREGATES[chance.choice([*there, *there, ""])])
    second = chance.choice(AGGREGATES[chance.choice([*there, ""])])
    asked = Select(source, (first, second), tuple(dict.fromkeys(conditions)))
    keys = [chance.choice(KEYS[chance.choice(there)])] if chance.random() < 0.6 else []
    if not keys:
        return asked
    keys += [each for each in [chance.choice(KEYS[chance.choice(there)])] if each not in keys and chance.random() < 0.3]
    grouping = chance.choice(GROUPINGS)(keys)
    alone = len(keys) == 1 and grouping == keys[0]  # so that no two groups are equal in an order
    over = f", {chance.choice(OVER).format(key=keys[0])} AS o" if alone and chance.random() < 0.2 else ""
    end = chance.choice(ENDS) if alone and chance.random() < 0.4 else ""
    return replace(asked, keys=tuple(keys), grouping=grouping, over=over, end=end)

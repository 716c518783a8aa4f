"""Questions that are put together by chance of what tells persons apart, over the world of membership.

What a recipient knows of persons is a relation of two columns: ssn, and n, a number that may differ from person to
person. It is a table, or made of such relations: groups, windows, unions, joins, subqueries and conditions, to a depth.
A question joins hidden persons with one or two of these, and aggregates.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from .membership import PERSONS, RECIPIENTS

SOURCES: Final = (
    "customers", "customers", "copies", "chosen", "clients", "points", "points", "daily", "towns", "towns", "visits",
    "logs", "cases", "guests",
)  # fmt: skip
NUMBERS: Final = {
    "customers": ("weight", "one"),
    "copies": ("weight",),
    "chosen": ("day",),
    "clients": ("weight",),
    "points": ("points",),
    "daily": ("points", "day"),
    "towns": ("size",),
    "cases": ("fee",),
    "guests": ("weight",),
}
"""Columns of sources beside ssn."""

COUNTED: Final = (
    "(SELECT ssn FROM logs GROUP BY ssn)",
    "(SELECT DISTINCT ssn FROM logs)",
    "(SELECT ssn, COUNT(*) AS size FROM logs GROUP BY ssn)",
)
"""Groups that a guard shows, each of one person."""


def questions(seed: int, count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Questions about hidden persons, with their recipients, again and again the same.

    Then a fourth as many about known rows that hidden persons choose or mark.
    """
    chance = random.Random(seed)
    for _ in range(count):
        yield _Maker(chance).question(), chance.choice(RECIPIENTS)
    for _ in range(count // 4):
        yield _Maker(chance).about_known(), chance.choice(RECIPIENTS)


class _Maker:
    """Makes one question. Names of tables in it are numbered."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.number = 0

    def name(self) -> str:
        self.number += 1
        return f"t{self.number}"

    def one_of(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def person(self) -> int:
        return self.chance.choice(PERSONS)

    def often(self, part: float) -> bool:
        return self.chance.random() < part

    # --- what recipients know

    def known(self, depth: int) -> str:
        """A relation of ssn and n, as a subquery."""
        if depth <= 0:
            return self.source()
        made: list[Callable[[int], str]] = [
            self.projected, self.grouped, self.grouped, self.grouped, self.distinct, self.first, self.windowed,
            self.united, self.matched, self.chosen, self.chosen, self.looked_up, self.filtered, self.source,
        ]  # fmt: skip
        return self.chance.choice(made)(depth)

    def source(self, depth: int = 0) -> str:
        """A table, a group that a guard shows, or constants, with a number."""
        name = self.name()
        if self.often(0.1):
            return f"(SELECT {name}.ssn, {self.value(f'{name}.ssn')} AS n FROM {self.one_of(*COUNTED)} {name})"
        if self.often(0.04):
            rows = ", ".join(f"({each}, {1 << each})" for each in PERSONS)
            return f"(SELECT * FROM (VALUES {rows}) {name}(ssn, n))"
        table = self.chance.choice(SOURCES)
        columns = [f"{name}.{each}" for each in NUMBERS.get(table, ("ssn",))]
        return f"(SELECT {name}.ssn, {self.value(f'{name}.ssn', *columns)} AS n FROM {table} {name})"

    def value(self, ssn: str, *columns: str) -> str:
        """A number of a row that says whose it is, or a column as it is."""
        if columns and self.often(0.4):
            return self.one_of(*columns)
        column, one = self.one_of(ssn, *columns), self.person()
        bits = " ".join(f"WHEN {each} THEN {1 << each}" for each in PERSONS)
        few = ", ".join(str(each) for each in sorted({self.person() for _ in range(2)}))
        return self.one_of(
            f"CASE {ssn} {bits} ELSE 0 END",
            f"CASE {ssn} {bits} ELSE 0 END",
            f"CASE WHEN {ssn} = {one} THEN {self.one_of('1', str(one), column)} ELSE 0 END",
            f"CASE WHEN {ssn} = {one} THEN {self.one_of('1', str(one), column)} ELSE 0 END",
            f"CASE WHEN {ssn} IN ({few}) THEN 1 END",
            f"CASE WHEN {column} >= {one} THEN 1 ELSE 0 END",
            f"CASE WHEN {ssn} IN (SELECT ssn FROM {self.one_of('logs', 'points', 'towns', 'customers')} "
            f"WHERE ssn = {one} GROUP BY ssn) THEN 1 ELSE 0 END",
            f"CAST({ssn} = {one} AS INTEGER)",
            f"LEAST({column}, {one})",
            f"GREATEST({column} - {one}, 0)",
            f"ABS({column} - {one})",
            f"NULLIF({column}, {one})",
            f"COALESCE(NULLIF({column}, {one}), 99)",
            f"{column} * {column}",
            f"{column} % {one + 1}",
            f"{column} // {one}",
            f"{column} - {one}",
            f"{column} * 2 + {ssn}",
            column,
            "1",
        )

    def inner(self, depth: int) -> tuple[str, str]:
        """A relation below, and its name."""
        return self.known(depth - 1), self.name()

    def projected(self, depth: int) -> str:
        below, t = self.inner(depth)
        return f"(SELECT {t}.ssn, {self.value(f'{t}.ssn', f'{t}.n')} AS n FROM {below} {t})"

    def aggregate(self, ssn: str, n: str) -> str:
        value = self.value(ssn, n)
        end = self.one_of("", "", "", f" FILTER (WHERE {ssn} = {self.person()})", f" FILTER (WHERE {n} > 0)")
        return self.one_of(
            f"SUM({value})", f"SUM({value})", f"MAX({value})", f"MAX({value})", f"MIN({value})",
            f"CAST(AVG({value}) AS DECIMAL(18, 4))", "COUNT(*)", "COUNT(*)", f"COUNT({value})",
            f"COUNT(DISTINCT {value})", f"SUM(DISTINCT {value})", f"MEDIAN({value})",
        ) + end  # fmt: skip

    def grouped(self, depth: int) -> str:
        below, t = self.inner(depth)
        having = self.one_of("", "", "", "", " HAVING COUNT(*) > 1", f" HAVING MAX({t}.n) > {self.person()}")
        return (
            f"(SELECT {t}.ssn, {self.aggregate(f'{t}.ssn', f'{t}.n')} AS n FROM {below} {t} GROUP BY {t}.ssn{having})"
        )

    def distinct(self, depth: int) -> str:
        below, t = self.inner(depth)
        return f"(SELECT DISTINCT {t}.ssn, {self.value(f'{t}.ssn', f'{t}.n')} AS n FROM {below} {t})"

    def first(self, depth: int) -> str:
        below, t = self.inner(depth)
        return f"(SELECT DISTINCT ON ({t}.ssn) {t}.ssn, {t}.n FROM {below} {t} ORDER BY {t}.ssn)"

    def windowed(self, depth: int) -> str:
        below, t = self.inner(depth)
        over = self.one_of(
            f"SUM({t}.n) OVER (PARTITION BY {t}.ssn)",
            f"MAX({t}.n) OVER (PARTITION BY {t}.ssn)",
            f"COUNT(*) OVER (PARTITION BY {t}.ssn)",
            f"ROW_NUMBER() OVER (ORDER BY {t}.ssn)",
            f"RANK() OVER (ORDER BY {t}.ssn)",
            f"SUM({t}.n) OVER (ORDER BY {t}.ssn)",
        )
        return f"(SELECT {t}.ssn, {over} AS n FROM {below} {t})"

    def united(self, depth: int) -> str:
        one, other = self.known(depth - 1), self.known(depth - 1)
        word = self.one_of("UNION ALL", "UNION ALL", "UNION")
        return f"(SELECT ssn, n FROM {one} {self.name()} {word} SELECT ssn, n FROM {other} {self.name()})"

    def matched(self, depth: int) -> str:
        """A number that says of a row whether another relation has one, or which."""
        (one, a), (other, b) = self.inner(depth), self.inner(depth)
        value = self.one_of(
            f"CASE WHEN {b}.n IS NULL THEN 0 ELSE 1 END",
            f"COALESCE({b}.n, 0)",
            f"CASE WHEN {b}.n = {a}.n THEN 1 ELSE 0 END",
        )
        few = f"(SELECT ssn, n FROM {other} {self.name()} WHERE ssn = {self.person()})" if self.often(0.5) else other
        return f"(SELECT {a}.ssn, {value} AS n FROM {one} {a} LEFT JOIN {few} {b} ON {a}.ssn = {b}.ssn)"

    def chosen(self, depth: int) -> str:
        """Rows of one relation that another one chooses or repeats."""
        (one, a), (other, b) = self.inner(depth), self.inner(depth)
        on = self.one_of(f"{a}.ssn = {b}.ssn", f"{a}.n = {b}.ssn", f"{a}.ssn = {b}.ssn AND {a}.n = {b}.n")
        if self.often(0.2):
            return f"(SELECT {a}.ssn, {a}.n FROM {one} {a} SEMI JOIN {other} {b} ON {on})"
        value = self.one_of(f"{b}.n", f"{a}.n", f"{a}.n + {b}.n", f"{a}.n * {b}.n")
        return f"(SELECT {a}.ssn, {value} AS n FROM {one} {a} JOIN {other} {b} ON {on})"

    def looked_up(self, depth: int) -> str:
        (one, a), (other, b) = self.inner(depth), self.inner(depth)
        value = self.one_of(
            f"(SELECT {self.one_of('MAX', 'SUM', 'COUNT')}({b}.n) FROM {other} {b} WHERE {b}.ssn = {a}.ssn)",
            f"CASE WHEN {a}.n > (SELECT {self.one_of('AVG', 'MIN')}({b}.n) FROM {other} {b}) THEN 1 ELSE 0 END",
            f"CASE WHEN {a}.n IN (SELECT {b}.n FROM {other} {b}) THEN 1 ELSE 0 END",
        )
        return f"(SELECT {a}.ssn, {value} AS n FROM {one} {a})"

    def filtered(self, depth: int) -> str:
        below, t = self.inner(depth)
        condition = self.one_of(
            f" WHERE {t}.ssn <> {self.person()}",
            f" WHERE {t}.n > {self.person()}",
            f" WHERE ({t}.ssn, {t}.n) IN (SELECT ssn, day FROM chosen)",
            f" WHERE {t}.ssn NOT IN (SELECT ssn FROM customers WHERE ssn < {self.person()})",
            f" ORDER BY {t}.ssn LIMIT {self.person()}",
        )
        return f"(SELECT {t}.ssn, {t}.n FROM {below} {t}{condition})"

    # --- hidden persons

    def hidden(self) -> tuple[str, str, str]:
        """A relation of hidden persons named p, what its rows are joined with, and a condition on them."""
        staff = "ssn, seat, city, age, salary"
        return self.chance.choice(
            (
                ("people p", "", ""),
                ("people p", "", ""),
                ("people p", "", ""),
                ("people p", " JOIN cases v ON v.ssn = p.ssn", ""),
                (f"(SELECT {staff} FROM staff WHERE vip) p", "", ""),
                (f"(SELECT {staff} FROM staff WHERE vip) p", "", ""),
                ("staff p", "", "p.vip"),
                ("staff p JOIN people q ON q.ssn = p.ssn", "", ""),
            )
        )

    def question(self) -> str:
        hidden, others, condition = self.hidden()
        first = self.known(self.chance.choice((0, 1, 1, 2, 2, 3)))
        is_staff = "staff" in hidden
        key = "p.seat" if is_staff and self.often(0.3) else "p.ssn"
        if self.often(0.06):
            key = self.one_of("{0} + {1}", "{0} // {1}", "{0} % {1}", "CAST({0} > {1} AS INTEGER)").format(
                key, self.person()
            )
        values, known = ["a.n"], ["a"]
        joins = f" {self.one_of('JOIN', 'JOIN', 'JOIN', 'JOIN', 'JOIN', 'LEFT JOIN')} {first} a ON {key} = a.ssn"
        if self.often(0.3):
            second = self.known(self.chance.choice((0, 0, 1, 2)))
            on = self.one_of(
                "a.n = b.ssn", "a.n = b.ssn", "p.ssn = b.ssn", "a.ssn = b.ssn", "p.ssn = b.ssn AND a.n = b.n"
            )
            joins += f" JOIN {second} b ON {on}"
            values += ["b.n", "a.n + 5000 * b.n"]
            known.append("b")
        if is_staff and self.often(0.3):
            joins, values, known = "", [self.value("p.seat")], ["p"]
        joins = others + joins
        conditions = [condition] if condition else []
        if self.often(0.2):
            conditions.append(self.condition(values[0], joins, hidden.startswith("staff")))
        if self.often(0.15):
            return self.by_person(hidden + joins, self.chance.choice(values), conditions)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return self.aggregated(hidden + joins + where, values, known, joins)

    def about_known(self) -> str:
        """Rows that a recipient knows, of which hidden persons say which are there, or what stands beside each."""
        known, hidden = (
            self.known(self.chance.choice((0, 0, 1, 2))),
            self.one_of("people", "(SELECT * FROM staff WHERE vip)"),
        )
        value = self.one_of("a.n", "a.n", self.value("a.ssn", "a.n"))
        there = self.one_of(
            f"a.ssn IN (SELECT ssn FROM {hidden} p)",
            f"EXISTS (SELECT 1 FROM {hidden} p WHERE p.ssn = a.ssn)",
            f"a.ssn NOT IN (SELECT ssn FROM {hidden} p)",
            f"a.n IN (SELECT ssn FROM {hidden} p)",
            f"a.ssn = ANY (SELECT ssn FROM {hidden} p WHERE city = 'a')",
        )
        one, other = (
            self.outer(value).replace("p.ssn", "a.ssn"),
            self.one_of("COUNT(*)", f"SUM({value})", f"MAX({value})"),
        )
        return self.one_of(
            f"SELECT {one} AS v0 FROM {known} a WHERE {there}",
            f"SELECT {other} AS v0 FROM {known} a WHERE {there}",
            f"SELECT SUM(CASE WHEN {there} THEN {value} ELSE 0 END) AS v0 FROM {known} a",
            f"SELECT {other} FILTER (WHERE {there}) AS v0 FROM {known} a",
            f"SELECT {one} AS v0 FROM {known} a LEFT JOIN {hidden} p ON p.ssn = a.ssn",
            f"SELECT {other} AS v0 FROM {known} a SEMI JOIN {hidden} p ON p.ssn = a.ssn",
            f"SELECT {other} AS v0 FROM {known} a ANTI JOIN {hidden} p ON p.ssn = a.ssn",
            f"SELECT {other} AS v0 FROM {hidden} p JOIN {known} a USING (ssn)",
            f"SELECT SUM((SELECT {self.one_of('COUNT(*)', 'SUM(p.salary)')} FROM {hidden} p WHERE p.ssn = a.ssn)) "
            f"AS v0 FROM {known} a",
            f"SELECT k, COUNT(*) AS v0 FROM (SELECT {value} AS k FROM {known} a WHERE {there}) q GROUP BY k",
            f"SELECT SUM(n) AS v0 FROM (SELECT a.n FROM {hidden} p JOIN {known} a ON p.ssn = a.ssn UNION ALL "
            f"SELECT {self.one_of('n', '0 - n')} FROM {self.known(0)} b) q",
            f"SELECT COUNT(*) AS v0, COUNT(DISTINCT ssn) AS v1 FROM (SELECT ssn FROM {hidden} p "
            f"{self.one_of('UNION ALL', 'UNION', 'INTERSECT', 'EXCEPT')} SELECT ssn FROM {known} a) q",
            f"SELECT q.n, SUM(q.m) AS v0 FROM (SELECT a.ssn, a.n, COUNT(*) AS m FROM {hidden} p JOIN {known} a "
            f"ON p.ssn = a.ssn GROUP BY a.ssn, a.n) q GROUP BY q.n",
            f"SELECT SUM(a.n) AS v0 FROM {known} a WHERE a.n > (SELECT COUNT(*) FROM {hidden} p "
            f"JOIN {self.known(1)} b ON p.ssn = b.ssn)",
            f"SELECT a.ssn, g.m FROM {known} a JOIN (SELECT {self.one_of('b.n', 'b.ssn', 'p.city')} AS k, "
            f"COUNT(*) AS m FROM {hidden} p JOIN {self.known(1)} b ON p.ssn = b.ssn GROUP BY k) g ON g.m = a.n",
        )

    def condition(self, value: str, joins: str, is_whole: bool) -> str:
        vip = ["NOT (p.seat = {0} AND p.vip)", "(p.vip OR p.seat <> {0})", "p.seat <> {0}"] if is_whole else []
        found = self.one_of(
            *vip,
            "p.city = 'a'",
            "p.age > 30",
            f"{value} > {{0}}",
            f"{value} = {{0}}",
            f"{value} <> {{0}}",
            "p.ssn IN (SELECT ssn FROM customers WHERE weight > {0})",
            "p.ssn NOT IN (SELECT ssn FROM customers WHERE ssn = {0})",
            f"p.ssn IN (SELECT {self.one_of('ssn', 'n')} FROM {self.known(1)} x)",
            *(["v.kind = 'u'"] if " cases v " in joins else []),
        )
        return found.format(self.person())

    def by_person(self, rows: str, value: str, conditions: list[str]) -> str:
        """Rows of each person first, and then of all persons. Sometimes the rows of two questions beside each other."""
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        inner = self.one_of(f"SUM({value})", f"MAX({value})", "COUNT(*)", f"COUNT(DISTINCT {value})", "SUM(p.salary)")
        outer = self.one_of("SUM(q.n)", "AVG(q.n)", "MAX(q.n)", "COUNT(DISTINCT q.n)", "SUM(q.n * q.n)", "MEDIAN(q.n)")
        key = self.one_of("", "", "q.n")
        by = self.one_of("p.ssn", "p.ssn", "p.ssn, p.city", "a.ssn") if " a ON " in rows else "p.ssn"
        below = f"SELECT {by}, {inner} AS n FROM {rows}{where} GROUP BY {by}"
        if self.often(0.3):
            below = f"SELECT {value} AS n FROM {rows}{where} UNION ALL SELECT 0 AS n FROM cases"
        groups = f" GROUP BY {key}" if key else ""
        return f"SELECT {f'{key}, COUNT(*) AS m' if key else f'{outer} AS m'} FROM ({below}) q{groups}"

    def aggregated(self, rows: str, values: list[str], known: list[str], joins: str) -> str:
        found = [self.outer(self.chance.choice(values)) for _ in range(self.chance.choice((1, 1, 1, 2)))]
        listed = ", ".join(f"{each} AS v{at}" for at, each in enumerate(found))
        if not self.often(0.3):
            return f"SELECT {listed} FROM {rows}"
        key = self.one_of(
            self.chance.choice(values),
            f"{self.chance.choice(values)} % {self.chance.choice((2, 3))}",
            f"CASE WHEN {self.chance.choice(values)} > {self.person()} THEN 1 ELSE 0 END",
            "p.city",
            "p.city",
            f"{known[0]}.ssn",
            *(["v.kind"] if " cases v " in joins else []),
        )
        grouping = self.one_of("{0}", "{0}", "{0}", "ROLLUP ({0})", "GROUPING SETS (({0}), ())").format(key)
        if known == ["p"] or any(f" {each} " in rows for each in ("points", "staff", "daily")):
            grouping = key  # totals beside groups by columns of people's owner are for its agent to refuse
        end = self.one_of("", "", "", " HAVING COUNT(*) >= 3", " ORDER BY v0, k LIMIT 1")
        return f"SELECT {key} AS k, {listed} FROM {rows} GROUP BY {grouping}{end}"

    def outer(self, value: str) -> str:
        """An aggregate of all persons."""
        one = self.person()
        return self.one_of(
            f"SUM({value})", f"SUM({value})", f"SUM({value})", f"AVG({value})", f"MAX({value})", f"MIN({value})",
            f"COUNT(DISTINCT {value})", f"SUM(DISTINCT {value})", f"MEDIAN({value})", f"STDDEV_POP({value})",
            f"COUNT({value})", "COUNT(*)", "COUNT(DISTINCT p.ssn)", "SUM(p.salary)", "AVG(p.salary)",
            f"SUM({value} * {value})", f"SUM(p.salary + 100000 * {value})", f"SUM(p.salary * {value})",
            f"SUM(CASE WHEN {value} = {one} THEN 1 ELSE 0 END)", f"SUM(CASE WHEN p.city = 'a' THEN {value} ELSE 0 END)",
            f"COUNT(*) FILTER (WHERE {value} > {one})", f"SUM(p.salary) FILTER (WHERE {value} > {one})",
            f"SUM({value}) - COUNT(*)", f"SUM(COALESCE({value}, {one}))", f"BOOL_OR({value} > {one})",
        )  # fmt: skip

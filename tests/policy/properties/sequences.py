"""Sequences of questions about one owner's table, with edits of single rows between them. Half are made as trackers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from ..rendered import Rendered
from .surface import CONDITIONS, MEASURES, NORTH, SOURCES, Data, Rows, Select, Source, selected, with_rows, worlds

KEYS: Final = {"people": ("ssn",), "stays": ("ssn", "day")}
"""What names a row."""

AGGREGATED: Final = {"people": ("salary", "bonus", "age", "smokes"), "stays": ("cost",)}
"""Columns with the way aggregate."""

MOST_ROWS = 8
"""Of each table, as its offer says."""

MANY: Final = 6
"""Units of a table, so that a part of them and the others reach the floor."""

MOST_WORLDS, MOST_TRIES = 100_000, 1000
EVERY_KEY = range(1, 13)

MEASURED: Final = re.compile(r"[ps]\.(?:salary|bonus|cost)")
NOT_LINEAR: Final = re.compile(r"VAR|STDDEV|CORR|COVAR|SUM\(DISTINCT")
"""Of whole numbers not every variance has another explanation."""

POST: Final = re.compile(r"^(?:ROUND|FLOOR|CEIL|ABS)\((.*?\(p\.\w+\))(?:, 1)?\)$")
"""What is computed of one number after it is shown."""

AVERAGE: Final = re.compile(r"^AVG\(")
SUMS: Final = (
    (re.compile(r"^(?:AVG|SUM)\(p\.age\)"), "SUM({})"),
    (AVERAGE, "SUM("),
    (re.compile(r"^COUNT\(\*\)"), "SUM({})"),
    (re.compile(r"^COUNT\(DISTINCT [ps]\.\w+\)"), "SUM({})"),
    (re.compile(r"^COUNT\((p\.bonus)\)"), r"SUM(\1)"),
    (re.compile(r"^(?:COUNT|MAX)\(s\.n\)"), "SUM(CASE WHEN s.n IS NOT NULL THEN s.cost END)"),
    (re.compile(r"^COUNT\(CASE WHEN s\.n = 1 THEN 1 END\)"), "SUM(CASE WHEN s.n = 1 THEN s.cost END)"),
    (re.compile(r"^(?:MIN|MAX|MEDIAN|QUANTILE_\w+|PERCENTILE_\w+|BOOL_\w+|ANY_VALUE)\(.*\)$"), "SUM({})"),
)
"""The sum of a measure over the rows that a value is of. {} is a measure that is never NULL, as an age is."""


@dataclass(frozen=True)
class Step:
    """A question, and the data when it is asked."""

    asked: Select
    data: Data


def sequences(subject: Rendered, table: str, seed: int, count: int, joined: bool = False) -> Iterator[list[Step]]:
    """Sequences of two to four questions that rules allow. joined: beside a table of the recipient with every key."""
    chance = random.Random(seed)
    for data in islice((each for each in worlds(seed, MOST_WORLDS) if _units(each[table]) >= MANY), count):
        if joined:
            data = with_rows(data, "customers", [{"ssn": key, "segment": "s", "worth": 1} for key in EVERY_KEY])
        asking = Asking(subject, table, chance, data)
        asked = asking.trackers() if joined or chance.random() < 0.5 else asking.any()
        if joined:
            source = asking.beside()
            asked = [replace(each, source=source, keys=(), grouping="") for each in asked]
        steps = list[Step]()
        for each in asked:
            if steps and chance.random() < 0.4:
                data = with_rows(data, table, _edited(chance, data[table], table))
            steps += [Step(each, data)] if asking.is_allowed(each) else []
        if len(steps) > 1:
            yield steps


def single(subject: Rendered, seed: int, count: int) -> Iterator[Step]:
    """Questions about any tables that rules allow, each with other data."""
    chance = random.Random(seed)
    for data in worlds(seed, count):
        asked = (selected(chance, chance.choice(SOURCES)) for _ in range(MOST_TRIES))
        yield next(
            Step(each, data)
            for each in asked
            if MEASURED.search(each.sql)
            and not NOT_LINEAR.search(each.sql)
            and subject.verdict(each.sql, NORTH).allowed
        )


@dataclass(frozen=True)
class Asking:
    """Whoever asks about a table, and knows which conditions are of few."""

    subject: Rendered
    table: str
    chance: random.Random
    data: Data

    def is_allowed(self, asked: Select) -> bool:
        return self.subject.verdict(asked.sql, NORTH).allowed

    def any(self) -> list[Select]:
        return [self.alone() for _ in range(self.chance.randint(2, 4))]

    def alone(self) -> Select:
        """A question that reads this table alone, and of which numbers are linear in measures."""
        while True:
            found = selected(self.chance, self.chance.choice([s for s in SOURCES if _tables(s.text) == {self.table}]))
            if _tables(found.sql) == {self.table} and not NOT_LINEAR.search(found.sql) and self.is_allowed(found):
                return found

    def beside(self) -> Source:
        """A join with the recipient's table that leaves all rows of the other."""
        name = self.table[0]
        texts = (
            f"{self.table} {name} JOIN customers c ON c.ssn = {name}.ssn",
            f"{self.table} {name} JOIN customers c USING (ssn)",
            f"{self.table} {name} SEMI JOIN customers c ON c.ssn = {name}.ssn",
            f"{self.table} {name} LEFT JOIN customers c ON c.ssn = {name}.ssn",
        )
        return Source(self.chance.choice(texts), p=name == "p", s=name == "s", c=True)

    def trackers(self) -> list[Select]:
        """A question, and others that differ from it by little."""
        other, name = self.alone(), "p.salary" if self.table == "people" else "s.cost"
        values = f"SUM({name})", other.values[1]
        first = replace(other, values=values, keys=(), grouping="", over="", end="")
        make = self.chance.choice(
            (self._narrower, self._complements, self._shifted, self._again, self._general, self._parts)
        )
        return make(first)

    def _narrower(self, asked: Select) -> list[Select]:
        """The same with one condition more, and with two."""
        one, two = self._of_few(), self._any()
        return [asked, _with(asked, one), _with(asked, one, two), _with(asked, two)]

    def _complements(self, asked: Select) -> list[Select]:
        """All, those of whom a condition holds, and the others."""
        one = self._of_few()
        return self.chance.sample([asked, _with(asked, f"({one})"), _with(asked, f"NOT ({one})")], 3)

    def _shifted(self, asked: Select) -> list[Select]:
        """The same up to one bound, and up to others."""
        column, bounds = ("p.age", (20, 25, 30, 40, 50)) if self.table == "people" else ("s.day", (1, 2, 3, 4))
        return [_with(asked, f"{column} < {bound}") for bound in self.chance.sample(bounds, 3)]

    def _again(self, asked: Select) -> list[Select]:
        """The same, which tells something if rows are edited, and in groups."""
        key = "p.city" if self.table == "people" else "s.kind"
        return self.chance.sample([asked, asked, asked, replace(asked, keys=(key,), grouping=key)], 4)

    def _parts(self, asked: Select) -> list[Select]:
        """Groups, of which small ones are in a rest, and some of the groups."""
        key, values = ("p.city", "ab") if self.table == "people" else ("s.kind", "uv")
        parts = [_with(asked, f"{key} = '{each}'") for each in values]
        return [replace(asked, keys=(key,), grouping=key), *parts, asked]

    def _general(self, asked: Select) -> list[Select]:
        """A general tracker: what holds or a condition, or not that one; and that condition, and its opposite."""
        one, two = self._any(), self._of_few()
        texts = [f"({one})", f"NOT ({one})", f"({two} OR {one})", f"({two} OR NOT ({one}))"]
        return [_with(asked, each) for each in texts]

    def _any(self) -> str:
        return self.chance.choice([each for each in CONDITIONS[self.table[0]] if "SELECT" not in each])

    def _of_few(self) -> str:
        """A condition that a few units fulfil, or do not."""
        listed = [each for each in CONDITIONS[self.table[0]] if "SELECT" not in each]
        whole = self._units("TRUE")
        few = [each for each in listed if 0 < min(self._units(each), self._units(f"NOT ({each})")) < whole / 2]
        return self.chance.choice(few or listed)

    def _units(self, condition: str) -> int:
        self.subject.load(self.data)
        counted = f"SELECT COUNT(DISTINCT ssn) FROM {self.table} {self.table[0]} WHERE {condition}"
        return int(self.subject.database.execute(counted).fetchall()[0][0])


def _units(rows: Sequence[Any]) -> int:
    return len({row["ssn"] for row in rows})


def _with(asked: Select, *conditions: str) -> Select:
    return replace(asked, conditions=tuple(dict.fromkeys((*asked.conditions, *conditions))))


def _tables(sql: str) -> set[str]:
    return {*re.findall(r"\b(?:people|stays|customers|copies)\b", sql)}


# --- edits


def _edited(chance: random.Random, rows: Sequence[Any], table: str) -> Rows:
    """The rows with one that is changed in one column, left out, or added."""
    other = chance.choice(next(worlds(chance.randrange(2**32), 1))[table])
    at, kind = chance.randrange(len(rows)), chance.choice(("changed", "changed", "left out", "added"))
    if kind == "added" and len(rows) < MOST_ROWS:
        key = {"people": {"ssn": _free(chance, rows)}, "stays": {"ssn": rows[at]["ssn"], "day": 9}}[table]
        known = {tuple(row[each] for each in KEYS[table]) for row in rows}
        added = {**other, **key}
        return [*rows, *([] if tuple(added[each] for each in KEYS[table]) in known else [added])]
    if kind == "left out":
        return [dict(row) for place, row in enumerate(rows) if place != at]
    measure = chance.choice(MEASURES[table])
    changes = {measure: (rows[at][measure] or 0) + 1}
    if chance.random() < 0.5:
        column = chance.choice([each for each in other if each not in KEYS[table]])
        changes = {column: other[column]}
    return [{**row, **changes} if place == at else dict(row) for place, row in enumerate(rows)]


def _free(chance: random.Random, rows: Sequence[Any]) -> int:
    return chance.choice([key for key in EVERY_KEY if key not in {row["ssn"] for row in rows}])


# --- numbers


def linear(asked: Select) -> str:
    """The same numbers before anything is computed of them, of all groups that could be shown, with all their keys."""
    first, second = (AVERAGE.sub("SUM(", POST.sub(r"\1", each)) for each in asked.values)
    return replace(asked, values=(first, second), end=_unordered(asked.end)).text(
        [each for each in asked.keys if each in asked.grouping]
    )


def compared(asked: Select) -> list[Select]:
    """A question, and the one whose number single rows are compared with: it counts as shown."""
    inner = Select(Source("people p", p=True), ("AVG(p.age)", "AVG(p.age)"))
    return [asked, *([inner] if "(SELECT AVG(age) FROM people)" in asked.sql else [])]


def as_sums(asked: Select, table: str) -> str:
    """The same with sums of measures over the rows that its numbers are of."""
    measure = "p.salary" if table == "people" else "s.cost"
    first, second = (_as_sum(POST.sub(r"\1", each), measure) for each in asked.values)
    return replace(asked, values=(first, second), end=_unordered(asked.end)).text(
        [each for each in asked.keys if each in asked.grouping]
    )


def _as_sum(value: str, measure: str) -> str:
    for pattern, sum_ in SUMS:
        if pattern.search(value):
            return pattern.sub(sum_.format(measure), value)
    return value


def _unordered(end: str) -> str:
    """Without an order. Under a LIMIT small groups are left out, as they are under a condition."""
    return " HAVING COUNT(*) > 0" if "LIMIT" in end else end if "HAVING" in end else ""


def measured(value: str, table: str) -> frozenset[str]:
    """The aggregated columns that a value is of."""
    return frozenset(each for each in AGGREGATED[table] if re.search(rf"\b{table[0]}\.{each}\b", value))

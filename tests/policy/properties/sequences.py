"""Sequences of questions about one owner's table, with edits of single rows between them. Half are made as trackers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .surface import CONDITIONS, SOURCES, Data, Rows, Select, Source, selected, with_rows, worlds

KEYS: Final = {"people": ("ssn",), "stays": ("ssn", "day")}
"""What names a row."""

AGGREGATED: Final = {"people": ("salary", "bonus", "age", "smokes"), "stays": ("cost",)}
"""Columns with the way aggregate."""

MOST_ROWS = 8
"""Of each table, as its offer says."""

EVERY_KEY = range(1, 13)

NOT_LINEAR: Final = re.compile(r"VAR|STDDEV|CORR|COVAR|SUM\(DISTINCT")
"""Of whole numbers not every variance has another explanation."""

POST: Final = re.compile(r"^(?:ROUND|FLOOR|CEIL|ABS)\((.*?\(p\.\w+\))(?:, 1)?\)$")
"""What is computed of one number after it is shown."""

AVERAGE: Final = re.compile(r"^AVG\(")
SUMS: Final = (
    (AVERAGE, "SUM("),
    (re.compile(r"^COUNT\(\*\)"), "SUM({})"),
    (re.compile(r"^COUNT\(DISTINCT [ps]\.\w+\)"), "SUM({})"),
    (re.compile(r"^COUNT\((p\.bonus)\)"), r"SUM(\1)"),
    (re.compile(r"^(?:COUNT|MAX)\(s\.n\)"), "SUM(CASE WHEN s.n IS NOT NULL THEN s.cost END)"),
    (re.compile(r"^COUNT\(CASE WHEN s\.n = 1 THEN 1 END\)"), "SUM(CASE WHEN s.n = 1 THEN s.cost END)"),
    (re.compile(r"^(?:MIN|MAX|MEDIAN|QUANTILE_\w+|PERCENTILE_\w+|BOOL_\w+|ANY_VALUE)\(.*\)$"), "SUM({})"),
)
"""The sum of a measure over the rows that a value is of. {} is a measure that is never NULL."""


@dataclass(frozen=True)
class Step:
    """A question, and the data when it is asked."""

    asked: Select
    data: Data


def sequences(
    seed: int, count: int, table: str, allowed: Callable[[str], bool], joined: bool = False
) -> Iterator[list[Step]]:
    """Sequences of two to four questions that rules allow. joined: beside a table of the recipient with every key."""
    chance = random.Random(seed)
    for data in worlds(seed, count):
        if joined:
            data = with_rows(data, "customers", [{"ssn": key, "segment": "s", "worth": 1} for key in EVERY_KEY])
        asked = _trackers(chance, table, allowed) if joined or chance.random() < 0.5 else _any(chance, table, allowed)
        if joined:
            asked = [replace(each, source=_beside(chance, table)) for each in asked]
            asked = [each for each in asked if allowed(each.sql)]
        steps = [Step(asked[0], data)] if asked else []
        for each in asked[1:4]:
            if chance.random() < 0.4:
                data = with_rows(data, table, _edited(chance, data[table], table))
            steps.append(Step(each, data))
        if len(steps) > 1:
            yield steps


def _any(chance: random.Random, table: str, allowed: Callable[[str], bool]) -> list[Select]:
    return [_alone(chance, table, allowed) for _ in range(chance.randint(2, 4))]


def _alone(chance: random.Random, table: str, allowed: Callable[[str], bool]) -> Select:
    """A question that reads this table alone, and of which numbers are linear in measures."""
    while True:
        found = selected(chance, chance.choice([each for each in SOURCES if _tables(each.text) == {table}]))
        if _tables(found.sql) == {table} and not NOT_LINEAR.search(found.sql) and allowed(found.sql):
            return found


def _tables(sql: str) -> set[str]:
    return {*re.findall(r"\b(?:people|stays|customers|copies)\b", sql)}


def _beside(chance: random.Random, table: str) -> Source:
    """A join with the recipient's table that leaves all rows of the other."""
    name = table[0]
    texts = (
        f"{table} {name} JOIN customers c ON c.ssn = {name}.ssn",
        f"{table} {name} JOIN customers c USING (ssn)",
        f"{table} {name} SEMI JOIN customers c ON c.ssn = {name}.ssn",
        f"{table} {name} LEFT JOIN customers c ON c.ssn = {name}.ssn",
    )
    return Source(chance.choice(texts), p=table == "people", s=table == "stays", c=True)


# --- trackers


def _trackers(chance: random.Random, table: str, allowed: Callable[[str], bool]) -> list[Select]:
    """A question, and others that differ from it by little."""
    first = replace(_alone(chance, table, allowed), keys=(), grouping="", over="", end="")
    make = chance.choice((_narrower, _complements, _shifted, _again, _general))
    found = [each for each in make(chance, first, table) if allowed(each.sql)]
    return found + ([_alone(chance, table, allowed)] if len(found) < 2 else [])


def _condition(chance: random.Random, table: str) -> str:
    listed = [each for each in CONDITIONS[table[0]] if "SELECT" not in each]
    return chance.choice(listed)


def _with(asked: Select, *conditions: str) -> Select:
    return replace(asked, conditions=tuple(dict.fromkeys((*asked.conditions, *conditions))))


def _narrower(chance: random.Random, asked: Select, table: str) -> list[Select]:
    """The same with one condition more, and with two."""
    one, two = (_condition(chance, table) for _ in range(2))
    return [asked, _with(asked, one), _with(asked, one, two)]


def _complements(chance: random.Random, asked: Select, table: str) -> list[Select]:
    """All, those of whom a condition holds, and the others."""
    one = _condition(chance, table)
    return chance.sample([asked, _with(asked, f"({one})"), _with(asked, f"NOT ({one})")], 3)


def _shifted(chance: random.Random, asked: Select, table: str) -> list[Select]:
    """The same up to one bound, and up to others."""
    column, bounds = ("p.age", (20, 25, 30, 40, 50)) if table == "people" else ("s.day", (1, 2, 3, 4))
    return [_with(asked, f"{column} < {bound}") for bound in chance.sample(bounds, 3)]


def _again(chance: random.Random, asked: Select, table: str) -> list[Select]:
    """The same, which tells something if rows are edited, and in groups."""
    key = "p.city" if table == "people" else "s.kind"
    return chance.sample([asked, asked, asked, replace(asked, keys=(key,), grouping=key)], 3)


def _general(chance: random.Random, asked: Select, table: str) -> list[Select]:
    """A general tracker: what holds or a condition, what holds or not that condition, the condition and its opposite."""
    one, two = (_condition(chance, table) for _ in range(2))
    texts = [f"({two} OR {one})", f"({two} OR NOT ({one}))", f"({one})", f"NOT ({one})"]
    return [_with(asked, each) for each in texts]


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
    column = chance.choice([each for each in other if each not in KEYS[table]])
    return [{**row, column: other[column]} if place == at else dict(row) for place, row in enumerate(rows)]


def _free(chance: random.Random, rows: Sequence[Any]) -> int:
    return chance.choice([key for key in EVERY_KEY if key not in {row["ssn"] for row in rows}])


# --- numbers


def linear(asked: Select) -> str:
    """The same numbers before anything is computed of them, of all groups that could be shown, with all their keys."""
    first, second = (AVERAGE.sub("SUM(", POST.sub(r"\1", each)) for each in asked.values)
    return replace(asked, values=(first, second), end=_unordered(asked.end)).text(asked.keys)


def as_sums(asked: Select, table: str) -> str:
    """The same with sums of measures over the rows that its numbers are of."""
    measure = "p.salary" if table == "people" else "s.cost"
    first, second = (_as_sum(POST.sub(r"\1", each), measure) for each in asked.values)
    return replace(asked, values=(first, second), end=_unordered(asked.end)).text(asked.keys)


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

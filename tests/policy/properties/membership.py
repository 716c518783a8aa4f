"""Whether an allowed question singles out persons: which of few possible ones are there is all that answers depend on.

The world has UNITS possible persons. Everything that a recipient may know is fixed: its own tables, open ones, columns
that it sees, and groups that guards show. Persons are alike in all that rules let questions name: each column of a
table with rules has one value, or is constant in each of four quarters of FLOOR persons. Only rows that a recipient
knows tell persons of a quarter apart. Hidden is a set of persons: who is in a table, or of whom a condition holds.

Lemma. Let small groups be dropped, and let an answer be computed of the numbers of members in cells of the possible
persons, each of which is shown only if it is FLOOR at least. Then for each person whose presence changes any answer,
there are FLOOR - 1 others such that exchanging the person for one of these changes no answer.

Argument. A cell with fewer possible persons than FLOOR is never shown, so that its persons change nothing. Any other
cell has FLOOR possible persons, and its number of members stays where two of them are exchanged. Conditions within
aggregates make parts of a row. If a part has fewer possible persons than FLOOR, no part is ever shown, and the row is
one cell. Otherwise its parts are the cells. Numbers of several levels, and whatever is computed of shown groups, follow
from these cells. What is shown of quarters follows from the numbers of members in quarters, which are cells, too.

Where small groups are folded, cells with few possible persons enter a rest row, and whether there is one is a bit that
rules do not promise to hide. There the number of different answers is bounded. If each person is in one group, an
answer follows from the number of members in each cell of FLOOR possible persons or more, and from their sum in all
others. With k persons in a cell there are k + 1 numbers. The product is largest for cells of FLOOR persons:
(FLOOR + 1) ** (UNITS / FLOOR) = 256, and a weight for each person gives up to 2 ** UNITS answers.

Both are necessary conditions. A sample of sets finds witnesses against them, and never a false one.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final

import duckdb

from ..rendered import Rendered

UNITS: Final = 12
FLOOR: Final = 3
MOST_ANSWERS: Final = (FLOOR + 1) ** (UNITS // FLOOR)
PERSONS: Final = tuple(range(1, UNITS + 1))
Members = frozenset[int]
Rows = list[dict[str, Any]]

NORTH: Final = """
[tables.customers]
open = true
rows = 40
unique = [["ssn"]]
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
segment = { type = "VARCHAR", max_length = 1 }
weight = { type = "INTEGER", min = 0, max = 5000 }
one = { type = "INTEGER", min = 0, max = 99 }

[tables.copies]
open = true
rows = 100
[tables.copies.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
weight = { type = "INTEGER", min = 0, max = 5000 }

[tables.chosen]
open = true
rows = 40
unique = [["ssn", "day"]]
[tables.chosen.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
day = { type = "INTEGER", min = 0, max = 9 }

[tables.clients]
recipients = ["north"]
least_group = 3
unit = "ssn"
unique = [["ssn"]]
rows = 40
[tables.clients.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join", "group", "filter"] }
weight = { type = "INTEGER", min = 0, max = 5000, use = ["aggregate"] }
"""
SOUTH: Final = """
[tables.people]
recipients = RECIPIENTS
least_group = 3
unit = "ssn"
unique = [["ssn"]]
rows = 40 SMALL WEIGHTS
[tables.people.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] WITH }
city = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] CONSTANTS }
age = { type = "INTEGER", min = 0, max = 99, use = ["filter"] CUTS }
salary = { type = "INTEGER", min = 0, max = 1000, use = ["aggregate"], functions = FUNCTIONS }

[tables.staff]
recipients = RECIPIENTS
least_group = 3
unit = "ssn"
unique = [["ssn"], ["seat"]]
rows = 40 SMALL WEIGHTS
[tables.staff.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] WITH }
seat = { type = "INTEGER", min = 0, max = 99, use = SEEN }
city = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
age = { type = "INTEGER", min = 0, max = 99, use = ["filter"] }
vip = { type = "BOOLEAN", use = ["filter"] }
salary = { type = "INTEGER", min = 0, max = 1000, use = ["aggregate"] }

[tables.points]
recipients = RECIPIENTS
least_group = 3
unique = [["ssn"]]
rows = 40 SMALL
[tables.points.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["select"] }
points = { type = "INTEGER", min = 0, max = 99, use = ["select", "aggregate"] }

[tables.daily]
recipients = RECIPIENTS
least_group = 3
unique = [["ssn", "day"]]
rows = 80 SMALL
[tables.daily.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["select"] }
day = { type = "INTEGER", min = 0, max = 9, use = ["select"] }
points = { type = "INTEGER", min = 0, max = 99, use = ["select", "aggregate"] }
"""
WEST: Final = """
[tables.towns]
open = true
rows = 40
unique = [["ssn"]]
[tables.towns.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
size = { type = "INTEGER", min = 0, max = 99 }

[tables.visits]
open = true
rows = 100
[tables.visits.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }

[tables.logs]
recipients = RECIPIENTS
least_group = 2
rows = 80 SMALL
[tables.logs.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["group", "filter", "join"] }

[tables.cases]
recipients = RECIPIENTS
least_group = 3
unit = "ssn"
unique = [["ssn"]]
rows = 40 SMALL
[tables.cases.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
kind = { type = "VARCHAR", max_length = 1, use = ["group", "filter"] }
fee = { type = "INTEGER", min = 0, max = 1000, use = ["aggregate"] }

[tables.guests]
open = true
rows = 40
unique = [["ssn"]]
[tables.guests.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
weight = { type = "INTEGER", min = 0, max = 5000 }
"""
WORDS: Final = {
    "RECIPIENTS": '["north", "west"]',
    "SMALL": '\nsmall = "drop"',
    "WEIGHTS": "",
    "WITH": "",
    "CONSTANTS": "",
    "CUTS": "",
    "FUNCTIONS": '["count", "sum", "avg", "stddev"]',
    "SEEN": '["select"]',
}
PARTNERS: Final = ', with = ["customers.ssn", "towns.ssn", "points.ssn", "logs.ssn", "cases.ssn", "guests.ssn"]'
VARIANTS: Final[dict[str, dict[str, str]]] = {
    "drop": {},
    "weights": {"WEIGHTS": '\nweights = ["towns.size"]'},
    "bound": {"WITH": PARTNERS, "CONSTANTS": ', constants = ["a"]', "CUTS": ", cuts = [30]"},
    "values": {"FUNCTIONS": '["count", "sum", "avg", "min", "max", "quantile", "count_distinct"]', "SEEN": '["join"]'},
    "fold": {"SMALL": ""},
}
"""What differs from WORDS, by the name of the offers."""
RECIPIENTS: Final = (("north",), ("north",), ("north", "west"))


def offers(variant: str) -> dict[str, str]:
    """The offers of that name."""
    words = {**WORDS, **VARIANTS[variant]}
    texts = {"north": NORTH, "south": SOUTH, "west": WEST}
    return {owner: reduce(lambda found, each: found.replace(*each), words.items(), t) for owner, t in texts.items()}


def _quarter(person: int) -> int:
    return (person - 1) // FLOOR


def _alike(person: int) -> dict[str, Any]:
    """What persons of a quarter have in common."""
    quarter = _quarter(person)
    return {"ssn": person, "city": "ab"[quarter % 2], "age": 20 + 20 * (quarter // 2), "salary": 7}


KNOWN: Final[dict[str, Rows]] = {
    "customers": [
        {"ssn": each, "segment": "st"[_quarter(each) // 2], "weight": 1 << each, "one": each if each == 7 else 0}
        for each in PERSONS
    ],
    "copies": [{"ssn": each, "weight": 1 << each} for each in PERSONS for _ in range(each)],
    "chosen": [*({"ssn": each, "day": 0} for each in PERSONS), {"ssn": 7, "day": 1}],
    "clients": [{"ssn": each, "weight": 1 << each} for each in PERSONS],
    "points": [{"ssn": 0, "points": 0}, *({"ssn": each, "points": 1} for each in PERSONS)],
    "daily": [{"ssn": each, "day": day, "points": day} for each in PERSONS for day in (0, 1)],
    "towns": [{"ssn": each, "size": 1} for each in PERSONS],
    "visits": [{"ssn": each} for each in PERSONS for _ in range(each)],
    "logs": [{"ssn": each} for each in PERSONS for _ in range(3)],
    "cases": [{"ssn": each, "kind": "uv"[_quarter(each) % 2], "fee": 5} for each in PERSONS],
    "guests": [{"ssn": each, "weight": 1 << each} for each in PERSONS],
}
"""Of no table but these do recipients know anything. Points of persons are equal, as their sum is allowed."""


def world(members: Members) -> dict[str, Rows]:
    """The rows where these are in people, and are the VIPs of staff."""
    staff = [{**_alike(each), "seat": each, "vip": each in members} for each in PERSONS]
    return {**KNOWN, "people": [_alike(each) for each in sorted(members)], "staff": staff}


@dataclass
class Asked:
    """A question that is allowed, with its answers so far. apart: each is asked for alone, as users do."""

    subject: Rendered
    sql: str
    to: tuple[str, ...]
    apart: bool = False
    found: dict[Members, object] = field(default_factory=dict)

    def answers(self, sets: Iterable[Members]) -> list[object]:
        """What recipients see, for each of these sets. An error shows, too."""
        listed = list(sets)
        new = list(dict.fromkeys(each for each in listed if each not in self.found))
        if new:
            self.found.update(zip(new, self._together(new) or map(self.alone, new), strict=True))
        return [self.found[each] for each in listed]

    def alone(self, members: Members) -> object:
        """The same for one set, by the question as it is."""
        try:
            return _rounded(self.subject.answer(self.sql, self.to, world(members)).rows)
        except duckdb.Error as error:
            return type(error).__name__

    def _together(self, sets: list[Members]) -> list[object]:
        """The same of all sets by one query, in which the hidden rows are those of each set in turn; [] where DuckDB
        cannot do that.
        """
        prepared = self.subject.prepared(self.sql, self.to)
        if self.apart or len(sets) == 1:
            return []
        self.subject.load(world(frozenset(PERSONS)))
        parts = {f'FROM "part_{number}" AS t': f"FROM ({text}) AS t" for number, text in reversed(prepared.made)}
        query = reduce(lambda found, each: found.replace(*each), [*parts.items(), *HIDDEN.items()], prepared.query)
        listed = ", ".join(f"({at}, {sorted(each)}::INTEGER[])" for at, each in enumerate(sets))
        rows: list[list[tuple[Any, ...]]] = [[] for _ in sets]
        try:
            text = f"SELECT w.number, q.* FROM (VALUES {listed}) w(number, members), LATERAL ({query}) q"
            for number, *row in self.subject.database.execute(text).fetchall():
                rows[number].append(tuple(row))
        except duckdb.Error:
            return []
        return [_rounded(each) for each in rows]


HIDDEN: Final = {
    'FROM "people" AS t': "FROM (SELECT * FROM people WHERE list_contains(w.members, ssn)) AS t",
    'FROM "staff" AS t': "FROM (SELECT * REPLACE (list_contains(w.members, ssn) AS vip) FROM staff) AS t",
}
"""Scans of the tables in which a set is hidden, and what stands in place of each."""


def _rounded(rows: Iterable[tuple[Any, ...]]) -> object:
    """Averages may differ in their last bits."""
    return tuple(sorted(tuple(f"{each:.9g}" if isinstance(each, float) else str(each) for each in row) for row in rows))


def singled_out(asked: Asked, bases: Iterable[Members]) -> list[int]:
    """Persons who change an answer and are exchangeable with fewer than FLOOR - 1 others, as the lemma forbids.

    bases: sets of members. Of each set one member after the other is left out.
    """
    tried = list(bases)
    asked.answers(each for base in tried for each in _neighbours(base))
    changing: set[int] = set()
    apart: dict[int, set[int]] = {each: set() for each in PERSONS}
    for base in tried:
        whole, *without = asked.answers(_neighbours(base))
        changing |= {each for each, seen in zip(sorted(base), without, strict=True) if seen != whole}
        for one, seen in zip(sorted(base), without, strict=True):
            apart[one] |= {other for other, also in zip(sorted(base), without, strict=True) if also != seen}
    return sorted(each for each in changing if len(apart[each]) > UNITS - FLOOR)


def _neighbours(base: Members) -> list[Members]:
    return [base, *(base - {each} for each in sorted(base))]


def samples(seed: int) -> list[Members]:
    """All persons, and some sets."""
    chance = random.Random(seed)
    return [frozenset(PERSONS), *(frozenset(chance.sample(PERSONS, size)) for size in (10, 9, 8, 6, 5))]


EVERY: Final = [frozenset(each) for size in range(UNITS + 1) for each in itertools.combinations(PERSONS, size)]


def broken(asked: Asked, folds: bool, bases: Iterable[Members]) -> str:
    """What an allowed question tells beyond the lemma; "" if nothing is found. folds: small groups are folded."""
    tried = list(bases)
    if not singled_out(asked, tried):
        return ""
    # One query of all sets may take other rows under a LIMIT than the question does.
    found = singled_out(replace(asked, apart=True, found={}), tried)
    if not found or not folds:
        return f"singles out {found}" if found else ""
    count = len(set(asked.answers(EVERY)))
    return f"{count} answers" if count > MOST_ANSWERS else ""

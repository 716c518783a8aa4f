"""A table of people with one owner, whose file a test writes anew between questions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit.audit.check import Question, judge, question
from tacit.audit.history import History
from tacit.plan.algebra.types import Boolean, Field, Integer, Varchar
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import FUNCTIONS, ColumnTerms, Terms
from tacit.sql import bind

ANY = ColumnTerms(frozenset({"filter", "group", "join", "aggregate"}), frozenset(FUNCTIONS))
NUMBER = Integer(0, 1_000_000, "INTEGER")
TERMS = Terms(frozenset({"north"}), 3, ("id",))
COLUMNS = (
    Field("id", NUMBER, False),
    Field("city", Varchar(10), True),
    Field("vip", Boolean(), False),
    Field("pay", NUMBER, True),
)
Person = Mapping[str, object]


def people(*cities: str, start: int = 0) -> list[Person]:
    """People of these cities, in this order, with numbers of their own."""
    return [{"id": at, "city": city, "vip": False, "pay": 100 + at} for at, city in enumerate(cities, start)]


@dataclass
class Owner:
    """South, with a table of people and one of visits; north has customers. history: what south has answered."""

    folder: Path
    terms: Terms = TERMS
    columns: Mapping[str, ColumnTerms] = field(default_factory=dict)
    unique: tuple[frozenset[str], ...] = (frozenset({"id"}),)
    history: History = field(default_factory=History)
    now: float = 1_000_000.0

    @property
    def catalog(self) -> Catalog:
        columns = tuple(Column(each, terms=self.columns.get(each.name, ANY)) for each in COLUMNS)
        visits = tuple(Column(Field(name, NUMBER, False), terms=ANY) for name in ("person", "spent"))
        customers = tuple(Column(Field(name, NUMBER, False), terms=ANY) for name in ("ssn", "segment"))
        return Catalog(
            ("north", "south"),
            "two",
            ("north", "south"),
            (
                Table("people", "south", columns, self.unique, path=str(self.folder / "people.csv"), terms=self.terms),
                Table("visits", "south", visits, path=str(self.folder / "visits.csv")),
                Table("customers", "north", customers, (frozenset({"ssn"}),)),
            ),
        )

    def has(self, found: Iterable[Person], visits: Iterable[tuple[int, int]] = ()) -> None:
        """Write the files anew."""
        with (self.folder / "people.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, [each.name for each in COLUMNS])
            writer.writeheader()
            writer.writerows(found)
        with (self.folder / "visits.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("person", "spent"), *visits])

    def question(self, sql: str, to: tuple[str, ...] = ("north",)) -> Question | None:
        """What a question asks."""
        catalog = self.catalog
        return question(bind(sql, catalog), to, catalog, "south", {})

    def answers(self, sql: str) -> None:
        """Ask a question. Raises Refused if it is not answered."""
        found = self.question(sql)
        assert found is not None
        self.history = judge(self.history, found, self.now)

    def sets(self, sql: str) -> list[dict[int, int]]:
        """How often each row counts in each set of a question, in no order."""
        found = self.question(sql)
        assert found is not None
        return [dict(each.rows) for each in found.asked[0].sets]

    def with_terms(self, **changed: object) -> Owner:
        """The same owner under other terms."""
        return replace(self, terms=replace(self.terms, **changed))  # type: ignore[arg-type]  # names of attributes

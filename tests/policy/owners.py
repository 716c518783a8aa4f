"""A federation whose owners' terms are all different, built by hand: north asks, south and west set rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Type, Varchar
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import DEFAULT_FUNCTIONS, ColumnTerms, Terms, open_terms
from tacit.plan.policy.check import Allowed, check
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind
from tacit.sql.changes import advise

PARTIES = ("north", "south", "west")
TODAY = date(2026, 11, 1)
SSN = Integer(1, 99_999, "BIGINT")
AMOUNT = Integer(0, 100_000, "INTEGER")
SMALL = Integer(0, 120, "INTEGER")
TEXT = Varchar(8)
SINCE = (date(2020, 1, 1).toordinal() - date(1970, 1, 1).toordinal(), 20_800)


def terms(*ways: Any, **others: Any) -> ColumnTerms:
    """What is allowed of a column."""
    given: dict[str, Any] = {"functions": DEFAULT_FUNCTIONS, **others} if "aggregate" in ways else others
    lists = ("functions", "to", "partners", "constants")
    found: dict[str, Any] = {name: frozenset(each) if name in lists else each for name, each in given.items()}
    return ColumnTerms(frozenset(ways), **found)


def column(name: str, type_: Type, allowed: ColumnTerms, nullable: bool = False) -> Column:
    """A column with its terms."""
    return Column(Field(name, type_, nullable), terms=allowed)


def table(
    name: str, owner: str, rules: Terms | None, columns: Iterable[Column], unique: Iterable[str] = (), **others: Any
) -> Table:
    """A table of at most 640 rows."""
    keys = tuple(frozenset({each}) for each in unique)
    return Table(name, owner, tuple(columns), keys, **{"rows": 640, "terms": rules, **others})


OPEN = open_terms(PARTIES)
SHOWN = terms("select")
PARTNERS = ["customers.ssn", "copies.ssn", "people.ssn", "visits.ssn"]

CUSTOMERS = table(
    "customers", "north", OPEN,
    [column("id", SSN, SHOWN), column("ssn", SSN, SHOWN), column("segment", TEXT, SHOWN),
     column("revenue", AMOUNT, SHOWN), column("weight", AMOUNT, SHOWN)],
    ["id", "ssn"],
)  # fmt: skip
COPIES = table("copies", "north", OPEN, [column("ssn", SSN, SHOWN), column("copy", SMALL, SHOWN)])
EMPTY = table("empty", "north", OPEN, [column("x", AMOUNT, SHOWN), column("k", SSN, SHOWN)], ["k"])
PEOPLE = table(
    "people", "south",
    Terms(frozenset({"north"}), 10, ("ssn",), weights=frozenset({"customers.revenue"})),
    [
        column("ssn", SSN, terms("join", partners=PARTNERS)),
        column("email", TEXT, terms()),
        column("seat", SMALL, SHOWN),
        column("salary", AMOUNT, terms("aggregate", least_group=20)),
        column("bonus", AMOUNT, terms("aggregate", functions=["count", "max"]), nullable=True),
        column("vip", Boolean(), terms("filter")),
        column("age", SMALL, terms("filter", cuts=(18, 30, 45, 65))),
        column("since", Date(*SINCE), terms("filter", cuts="month")),
        column("rate", Decimal(5, 2, 0, 9999), terms("filter", cuts=(150, 300))),
        column("grade", TEXT, terms("filter", constants=["A", "B"])),
        column("points", AMOUNT, terms("aggregate", "filter")),
        column("city", TEXT, terms("group", "filter")),
        column("score", SMALL, terms("aggregate", "filter", partners=["customers.revenue"])),
    ],
    ["ssn", "seat"],
)  # fmt: skip
VISITS = table(
    "visits", "west",
    Terms(frozenset({"north", "south"}), 15, ("ssn",)),
    [
        column("ssn", SSN, terms("join")),
        column("clinic", TEXT, terms("group", "filter")),
        column("cost", AMOUNT, terms("aggregate")),
    ],
)  # fmt: skip
MEMBERS = table(
    "members", "west",
    Terms(frozenset({"north"}), 10, ("ssn",), matches=frozenset({"north"}), complement=True),
    [column("ssn", SSN, terms("join")), column("fee", AMOUNT, terms("aggregate"))],
    ["ssn"],
)  # fmt: skip
ROWS = table(
    "answers", "west",
    Terms(frozenset({"north"}), 5, small="drop"),
    [column("k", SSN, terms("join")), column("score", SMALL, terms("aggregate"))],
)  # fmt: skip
ROOMS = table(
    "rooms", "west", Terms(frozenset({"north", "south"})),
    [column("room", SMALL, SHOWN), column("floor", SMALL, terms("select", to=["north"]))],
    ["room"],
)  # fmt: skip

OWNERS = Catalog(PARTIES, "rep3", PARTIES, (CUSTOMERS, COPIES, EMPTY, PEOPLE, VISITS, MEMBERS, ROWS, ROOMS))


def with_table(changed: Table) -> Catalog:
    """The federation with another version of a table."""
    return replace(OWNERS, tables=tuple(changed if each.name == changed.name else each for each in OWNERS.tables))


def allowed(query: str, catalog: Catalog = OWNERS, to: tuple[str, ...] = ("north",), today: date = TODAY) -> Allowed:
    """What the rules say of a query. Raises PolicyRefusal."""
    return check(bind(query, catalog), catalog, to, today)


def refusal(
    query: str, catalog: Catalog = OWNERS, to: tuple[str, ...] = ("north",), today: date = TODAY
) -> PolicyRefusal | None:
    """Why a query is refused, with a change that passes; None if it is allowed."""
    try:
        allowed(query, catalog, to, today)
    except PolicyRefusal as found:
        advise(found, query, catalog, to, today)
        return found
    return None


def south_says(**changes: object) -> Table:
    """The table of people under other terms."""
    assert PEOPLE.terms is not None
    return replace(PEOPLE, terms=replace(PEOPLE.terms, **changes))  # type: ignore[arg-type] # names and values by kind


def rule_of(query: str, changed: Table, to: tuple[str, ...] = ("north",)) -> str | None:
    found = refusal(query, with_table(changed), to)
    return None if found is None else found.problem.rule

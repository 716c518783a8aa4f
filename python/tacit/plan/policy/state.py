"""What is known of a relation while its exposures are derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import KeptScan, Relation, Scan
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.terms import Function
from tacit.plan.policy.guards import Guard

Role = OneOf[
    "value",  # a value of a row, of which nothing is computed yet
    "filter",
    "join",
    "distinct",  # decides which rows are one: a key of groups that need not be shown
    "group",
    "aggregate",
    "count",  # how many rows there are, of which nothing is told but a weight for others
    "sort",  # decides which of single rows come first
    "linear",  # what follows is allowed of no column: see tacit.plan.policy.sentences
    "weights",
    "chosen",  # which of its values stand beside rows of another instance
    "repeats",
    "rows",  # of one unit
    "single",  # a value that is one unit's
    "cuts",
    "constants",
    "with",
    "matches",
    "floor",
    "kept",
    "window",
]
"""In which role a column of a table decides a value, or which rows there are."""


@dataclass(frozen=True)
class Instance:
    """A table at one place of a query; a self-join has two. number: its place among all."""

    number: int
    scan: Scan | KeptScan = field(compare=False)
    table: Table = field(compare=False)

    @property
    def owner(self) -> str:
        """Whose table it is."""
        return self.table.owner


@dataclass(frozen=True)
class Item:
    """A column of an instance in a role. column: None for the presence of its rows.

    function: of an aggregate. detail: the other side, for sentences. position: of the place in the text to blame.
    """

    instance: Instance
    column: str | None
    role: Role
    function: Function | None = None
    detail: str = ""
    position: Position | None = field(default=None, compare=False)


Items = frozenset[Item]
Atom = tuple[int, str]
"""An instance's number and a column of its table."""

NOTHING: Items = frozenset()
NO_COPIES: frozenset[Atom] = frozenset()


@dataclass(frozen=True)
class Derived:
    """What a column, or an expression, derives from.

    linear: a sum of it is no more than a sum of multiples. constant: it is the same in all rows. copies: the columns of
    which it is an unchanged copy, of each input of a union one. copied: each of its values stands so in a column of a
    table. told: some of its values stand in the text of the question. atoms: columns that it determines and is
    determined by. conditions: names of Boolean columns beside it that decide it. averaged: of a sum, what its average
    derives from. square: it is a column's value times itself. squared: of a sum of such values, what the variance of
    the column derives from. least: a count is never less where it is shown, by the floor of this instance. mixed:
    inputs of a union have it, so that equal values of it match their rows. moved: some rows have other values than a
    sum of multiples, by constants, conditions or a union, so that a position among all is any among some. optional: the
    matches of rows that all stay of which it tells whether there is one. blended: it is computed of several of these,
    or of one and of something else. branched: the columns of which an interval of it may be more, or less, than an
    interval. keyed: those of which one value of it may be. tested: those that its conditions test in another way than
    by intervals.
    """

    items: Items = NOTHING
    linear: bool = True
    constant: bool = False
    copies: frozenset[Atom] = NO_COPIES
    copied: bool = False
    atoms: frozenset[Atom] = frozenset()
    conditions: tuple[str, ...] = ()
    averaged: Items | None = None
    square: bool = False
    squared: Items | None = None
    least: tuple[int, Instance] | None = None
    told: bool = False
    mixed: bool = False
    moved: bool = False
    optional: frozenset[str] = frozenset()
    blended: bool = False
    branched: frozenset[Atom] = NO_COPIES
    keyed: frozenset[Atom] = NO_COPIES
    tested: frozenset[Atom] = NO_COPIES

    @property
    def plain(self) -> Atom | None:
        """The one column of which it is an unchanged copy."""
        return next(iter(self.copies)) if len(self.copies) == 1 else None


@dataclass(frozen=True)
class Sums:
    """An aggregation of which a guard counts units. merged: of which instances. chosen: what decides its rows."""

    merged: frozenset[Instance]
    chosen: Items


@dataclass(frozen=True)
class State:
    """What a relation exposes.

    relation: the bound one, with further columns for conditions. columns: of each column. rows: what decides which rows
    there are, and how often. one: instances of which a row stems from one unit at most. many: those that a guard has
    counted. beside: pairs of instances that are joined. apart: pairs of instances in different inputs of a union.
    limited: instances of whose rows a LIMIT says how many there are. repeated: instances whose rows others repeat, and
    by which. identity: instances of whose rows each is in at most one row. units: instances that were grouped by unit.
    whole: those of them that have one row for each unit. equal: columns that joins make equal. met: these, and those
    that do where rows have a match. compared: columns, each with those that a condition or a computed key compares it
    with. read: columns that are read together, by keys of joins, conditions or computed values. branched: columns of
    whose values a condition or a key leaves more, or less, than an interval. sums: of all guarded aggregations.
    """

    relation: Relation
    columns: Mapping[str, Derived]
    rows: Items = NOTHING
    one: frozenset[Instance] = frozenset()
    many: frozenset[Instance] = frozenset()
    beside: frozenset[tuple[Instance, Instance]] = frozenset()
    apart: frozenset[tuple[Instance, Instance]] = frozenset()
    limited: frozenset[Instance] = frozenset()
    repeated: Mapping[Instance, frozenset[Instance]] = field(default_factory=dict)
    identity: frozenset[Instance] = frozenset()
    units: frozenset[Instance] = frozenset()
    whole: frozenset[Instance] = frozenset()
    equal: frozenset[tuple[Atom, Atom]] = frozenset()
    met: frozenset[tuple[Atom, Atom]] = frozenset()
    compared: frozenset[tuple[Atom, frozenset[Atom]]] = frozenset()
    read: frozenset[frozenset[Atom]] = frozenset()
    branched: frozenset[Atom] = frozenset()
    guards: tuple[Guard, ...] = ()
    sums: tuple[Sums, ...] = ()

    def over(self, relation: Relation, rows: Items = NOTHING) -> State:
        """The same of another relation with the same columns, of whose rows more is decided."""
        return replace(self, relation=relation, rows=self.rows | rows)


def selected(state: State) -> Items:
    """That rows are chosen where a LIMIT tells their number, and so that of the rows which are left out."""
    return frozenset(Item(each, None, "floor", detail="limited") for each in state.limited)


def union(sets: Iterable[Items]) -> Items:
    """All items; of equal ones the first, so that its place is blamed."""
    found: dict[Item, Item] = {}
    for items in sets:
        for each in ordered(items):
            found.setdefault(each, each)
    return frozenset(found.values())


def ordered(items: Items) -> list[Item]:
    """In the one order in which all parties go through them."""
    return sorted(items, key=lambda each: (*(each.position or (0, 0)), each.instance.number, *_named(each)))


def _named(item: Item) -> tuple[str, str, str, str]:
    return item.column or "", item.role, item.function or "", item.detail

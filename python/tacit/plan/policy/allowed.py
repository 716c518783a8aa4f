"""Which rule of which owner allows each disclosure of an answer, for who wants to know before the query runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from tacit.plan.facts.allowances import Allowance
from tacit.plan.facts.terms import OPEN_COLUMN, Function, Way
from tacit.plan.policy.exposure import floor_of
from tacit.plan.policy.offers import protected, shown
from tacit.plan.policy.release import derived_exposure
from tacit.plan.policy.state import Item, State, ordered

SAID: Final[dict[Way, str]] = {
    "select": "seen row by row",
    "aggregate": "aggregated",
    "group": "a key of groups",
    "filter": "tested in conditions",
    "join": "matched",
    "program": "computed on by programs",
}
"""What each way is called in sentences."""


@dataclass(frozen=True)
class Disclosed:
    """A use of an owner's column that its rules allow.

    output: the answer's column that it is for; None where it decides which rows there are. floor: the fewest units
    behind what is shown; None where rows are shown one by one. rule: the entry of the offer that allows it.
    """

    output: str | None
    owner: str
    table: str
    column: str
    way: Way
    function: Function | None
    floor: int | None
    rule: str

    def json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)

    @property
    def sentence(self) -> str:
        """For people, about the column."""
        few = "" if self.floor is None else f" where {self.floor} or more units stand behind it"
        return f"{self.table}.{self.column} may be {SAID[self.way]}{few} ({self.rule})"


def disclosed(state: State, recipients: tuple[str, ...]) -> tuple[Disclosed, ...]:
    """What an allowed query discloses of other owners' columns: of outputs in their order, then of rows."""
    items: list[tuple[str | None, Item]] = [
        (name, each) for name, found in state.columns.items() for each in ordered(found.items)
    ]
    items += [(None, each) for each in ordered(state.rows)]
    bound = [
        (name, each, each.column)
        for name, each in items
        if each.column is not None and protected(each.instance.table, recipients)
    ]
    return tuple(dict.fromkeys(_of(name, each, column, state, recipients) for name, each, column in bound))


def allowances(state: State, recipients: tuple[str, ...]) -> tuple[Allowance, ...]:
    """The same as accounts print it. Of a table that is opened on purpose one sentence says it all."""
    found = disclosed(state, recipients)
    opened = _opened(state)
    tables = dict.fromkeys((each.owner, each.table) for each in found if each.table in opened)
    columns = [Allowance(each.owner, each.output, each.sentence) for each in found if each.table not in opened]
    rows = [Allowance(owner, None, f"each row of {table} may be seen (open = true)") for owner, table in tables]
    return (*columns, *rows)


def _opened(state: State) -> set[str]:
    """The tables that are opened on purpose."""
    items = [*state.rows, *(each for found in state.columns.values() for each in found.items)]
    tables = {each.instance.table.name: each.instance.table for each in items}
    return {name for name, table in tables.items() if all(each.terms == OPEN_COLUMN for each in table.columns)}


def _of(output: str | None, item: Item, column: str, state: State, recipients: tuple[str, ...]) -> Disclosed:
    table = item.instance.table
    single = item.instance in state.one
    open_row = shown(table, column, recipients)
    floor = None if single else floor_of(table, column)
    way: Way = "select" if open_row else "join" if single else next(iter(derived_exposure(item, state).ways))
    rule = "matches" if single and not open_row else _rule(way, item.function)
    return Disclosed(output, table.owner, table.name, column, way, item.function, floor, rule)


def _rule(way: Way, function: Function | None) -> str:
    return f"use {way}" if way != "aggregate" or function is None else f"use {way}, functions {function}"

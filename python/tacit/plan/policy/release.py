"""What recipients see of a query's answer, held against what each owner allows.

Of an instance of which a row stems from one unit, everything is seen row by row: that needs ``select``, whatever the
way. Of one whose units a guard has counted, each column is seen in its way, above the floor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tacit.plan.algebra.relations import KeptScan
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.terms import Function, Way
from tacit.plan.policy.exposure import Exposure, floor_of, offered, terms_of
from tacit.plan.policy.offers import partly_open, protected, shown
from tacit.plan.policy.refusal import Problem, Rule
from tacit.plan.policy.sentences import problem
from tacit.plan.policy.state import Instance, Item, State, ordered

WAY: dict[str, Way] = {
    "value": "select",
    "sort": "select",
    "filter": "filter",
    "join": "join",
    "group": "group",
    "aggregate": "aggregate",
}
"""The way that an owner has to allow for a role."""


WHATEVER_IS_SHOWN: Final = ("linear", "single")
"""Problems of aggregates over rows that something else decides, also of columns that are seen row by row."""

FIRST: dict[Rule, int] = {"closed": 0, "select": 1}
"""The problems that are told before others: what is wrong with a column whatever is done with it."""


def problems_of(state: State, tables: Iterable[Table], recipients: tuple[str, ...]) -> tuple[Problem, ...]:
    """All that some owner does not allow some recipient: of outputs in their order, then of rows."""
    outputs = [each for found in state.columns.values() for each in ordered(found.items)]
    # What a wider type mends is told after what no type does.
    items = sorted([*outputs, *ordered(state.rows)], key=lambda each: each.detail == "overflow")
    found = [
        each
        for item in dict.fromkeys(items)
        if item.role != "count" and protected(item.instance.table, recipients)
        for each in _of_item(item, state, recipients, item in outputs)
    ]
    found += [each for one in _single(state, recipients) for each in _of_presence(one, state, items, recipients)]
    found += [
        each for table in tables for each in (*_of_closed(table, recipients), *_of_several(table, state, recipients))
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda each: FIRST.get(each.rule, len(FIRST))))


def derived_exposure(item: Item, state: State) -> Exposure:
    """In which way, and above which floor, an item is seen."""
    if item.instance in state.one:
        return Exposure(frozenset({"select"}))
    way = _way(item)
    functions = frozenset[Function]() if item.function is None else frozenset({item.function})
    columns = () if item.column is None else (item.column,)
    return Exposure(frozenset({way}), functions, floor_of(item.instance.table, *columns))


def _way(item: Item) -> Way:
    """A key of groups that is not shown may be used as a key of joins is. One of TRUE and FALSE is a condition."""
    if item.column is None or item.role not in ("distinct", "group"):
        return WAY[item.role]
    ways = terms_of(item.instance.table, item.column).ways
    if "group" in ways:
        return "group"
    if item.role == "distinct" and "join" in ways:
        return "join"
    field = next(each.field for each in item.instance.table.columns if each.field.name == item.column)
    return "filter" if isinstance(field.type, Boolean) and "filter" in ways else "group"


def _of_item(item: Item, state: State, recipients: tuple[str, ...], output: bool) -> list[Problem]:
    table = item.instance.table
    if item.role not in WHATEVER_IS_SHOWN and _is_seen(item, recipients):
        return []
    if item.role not in WAY and item.role != "distinct":
        return [problem(item, item.role, each) for each in recipients if each != table.owner][:1]
    assert item.column is not None, "only what is refused anyway has no column"
    derived = derived_exposure(item, state)
    return [
        problem(item, _reason(item, state, output), each)
        for each in recipients
        if not derived <= offered(table, item.column, each) and not _matched(item, state, each)
    ]


def _matched(item: Item, state: State, recipient: str) -> bool:
    """Whether a recipient may learn which single rows match, and a column decides nothing but that."""
    terms = item.instance.table.terms
    single = item.instance in state.one and item.instance not in state.units
    if terms is None or item.column is None or not single or item.role not in ("join", "distinct"):
        return False
    return recipient in terms.matches and "join" in terms_of(item.instance.table, item.column).ways


def _reason(item: Item, state: State, output: bool) -> str:
    """What is wrong: with the column at all, with its group, with its row, or with its use."""
    table = item.instance.table
    assert item.column is not None, "only columns have ways"
    terms = terms_of(table, item.column)
    if not terms.queried:
        return "closed"
    if item.instance in state.one:
        if item.instance in state.units:
            return "one"
        shows = item.role in ("value", "aggregate", "group") or (output and item.role == "filter")
        return "row" if shows else f"row {item.role}"
    if item.role == "aggregate" and "aggregate" in terms.ways:
        return "function"
    return item.role


def _single(state: State, recipients: tuple[str, ...]) -> list[Instance]:
    bound = (each for each in state.one if protected(each.table, recipients))
    return sorted(bound, key=lambda each: each.number)


def _of_presence(instance: Instance, state: State, items: list[Item], recipients: tuple[str, ...]) -> list[Problem]:
    """Which single rows there are is told by ``select`` of a column, by ``matches``, or not at all."""
    terms = instance.table.terms
    assert terms is not None, "only tables with terms are bound"
    own = [each for each in items if each.instance == instance]
    if instance in state.units and not all(_is_seen(each, recipients) for each in own):
        found = Item(instance, None, "floor", position=_place(state))
        return [problem(found, "one", each) for each in recipients if each != instance.owner]
    if partly_open(instance.table, recipients) or any(each.role == "join" for each in own):
        return []  # what is joined is told by the keys of joins
    told = Item(instance, None, "join", position=_place(state))
    return [
        problem(told, "present", each) for each in recipients if each != instance.owner and each not in terms.matches
    ]


def _is_seen(item: Item, recipients: tuple[str, ...]) -> bool:
    return item.column is not None and shown(item.instance.table, item.column, recipients)


def _place(state: State) -> tuple[int, int] | None:
    """Where the answer's first column is named."""
    places = (each.position for found in state.columns.values() for each in ordered(found.items))
    return next((each for each in places if each is not None), None)


def _of_closed(table: Table, recipients: tuple[str, ...]) -> list[Problem]:
    """Not even the number of rows of a table is told of which no column is open."""
    if any(each.terms.queried for each in table.columns):
        return []
    first = next(each for each in recipients if each != table.owner)
    sentence = f"no column of {table.name} is open"
    return [Problem("closed", table.owner, table.name, None, "count", sentence, first)]


def _is_beyond(instance: Instance, table: Table) -> bool:
    """Whether a table's owner does not see which rows these are: of another owner, or kept ones of its own."""
    return instance.owner != table.owner or isinstance(instance.scan, KeptScan)


def _of_several(table: Table, state: State, recipients: tuple[str, ...]) -> list[Problem]:
    """A table that is aggregated more than once, where other owners' tables or kept ones decide of which rows.

    Two sums may differ by few units. Its owner, who compares sets of rows, does not know these.
    """
    times = [(each, one) for each in state.sums for one in each.merged if one.table.name == table.name]
    chosen = [item for each, _ in times for item in ordered(each.chosen) if _is_beyond(item.instance, table)]
    if len(times) < 2 or not chosen:
        return []
    first = chosen[0]
    what = first.instance.table.name if first.column is None else f"{first.instance.table.name}.{first.column}"
    sentence = (
        f"{table.name} is aggregated {len(times)} times over rows that {what} decides, which may differ by few units"
    )
    return [
        Problem("differences", table.owner, table.name, None, "count", sentence, each, what, first.position)
        for each in recipients
        if each != table.owner
    ]

"""Joins that keep rows without a match, marks, pairs, and joins whose keys repeat on both sides.

Nobody counts the units whose absence they show, or how often they count each.

Owners who show all their columns row by row allow them. Every other owner whose rules bind the query refuses.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Join, Mark, Pairs
from tacit.plan.policy.expressions import turned
from tacit.plan.policy.offers import protected, wholly_open
from tacit.plan.policy.state import Derived, Item, Items, State, selected, union
from tacit.plan.policy.united import together


def outer(relation: Join, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """A join that keeps rows: its columns are NULL where there is no match, and so tell of the rows of both sides."""
    keys = _keys([(left, relation.left_keys), (right, relation.right_keys)])
    whole = _with_rows(together(left, right), union([keys, _uncounted(left, right, recipients, relation.position)]))
    columns = {name: _telling(each, whole.rows) for name, each in {**left.columns, **right.columns}.items()}
    return replace(whole, relation=replace(relation, left=left.relation, right=right.relation), columns=columns)


def multiplied(relation: Join, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """A join whose keys repeat on both sides. Each row of either side is there as often as it has partners."""
    keys = _keys([(left, relation.left_keys), (right, relation.right_keys)])
    refused = _uncounted(left, right, recipients, relation.position, "many")
    whole = _with_rows(together(left, right), union([keys, refused]))
    relation = replace(relation, left=left.relation, right=right.relation)
    return replace(whole, relation=relation, columns={**left.columns, **right.columns})


def marked(relation: Mark, input: State, choices: State, recipients: tuple[str, ...]) -> State:
    """The rows of input. The mark tells of the rows of choices. It is a condition, which decides who contributes."""
    keys = _keys([(input, relation.input_keys), (choices, relation.choice_keys)])
    whole = _with_rows(
        together(input, choices), union([keys, _uncounted(input, choices, recipients, relation.position)])
    )
    relation = replace(relation, input=input.relation, choices=choices.relation)
    mark = Derived(whole.rows, conditions=(relation.name,), moved=True)
    return replace(whole, relation=relation, columns={**input.columns, relation.name: mark})


def paired(relation: Pairs, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """Every row of each side is there as often as the other side has rows."""
    whole = _with_rows(together(left, right), _uncounted(left, right, recipients, relation.position))
    relation = replace(relation, left=left.relation, right=right.relation)
    return replace(whole, relation=relation, columns={**left.columns, **right.columns})


def _with_rows(whole: State, more: Items) -> State:
    """Rows of all instances may be repeated: what joins with them later is repeated by each of them."""
    return replace(whole, rows=union([whole.rows, more, selected(whole)]))


def _keys(sides: list[tuple[State, tuple[str, ...]]]) -> Items:
    return union(
        turned(state.columns[key].items, state.one, ("value", "aggregate"), "join")
        for state, keys in sides
        for key in keys
    )


def _telling(column: Derived, rows: Items) -> Derived:
    return replace(column, items=union([column.items, rows]), plain=None, constant=False)


def _uncounted(
    one: State, other: State, recipients: tuple[str, ...], position: Position | None, why: str = "absent"
) -> Items:
    """The tables of which units would be told that are not there, or are there several times."""
    instances = one.one | one.many | other.one | other.many
    bound = (each for each in instances if protected(each.table, recipients))
    closed = (each for each in bound if not wholly_open(each.table, recipients))
    return frozenset(Item(each, None, "floor", detail=why, position=position) for each in closed)

"""Which rows stand beside a unit's row by owners' data alone, and which ones a recipient may choose.

By equal columns a row of a table that no recipient knows stands beside a unit's row, and rows of further such tables
beside that one. Where the way leads through rows that a recipient knows, from one of their columns to another, these
say which row is beside which unit, and how many are. So do computed keys, and a UNION.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tacit.plan.policy.determined import closed, has_row
from tacit.plan.policy.offers import knows
from tacit.plan.policy.state import Atom, Instance, State

Atoms = frozenset[Atom]


def is_chosen(other: Instance, one: Instance, state: State, recipients: tuple[str, ...]) -> bool:
    """Whether a recipient may say which rows of another instance stand beside a row of this one."""
    columns = _reached(one, state, recipients)
    return not any(number == other.number for number, _ in columns)


def multipliers(one: Instance, added: State, state: State, recipients: tuple[str, ...]) -> frozenset[Instance]:
    """The instances of a state that was added by a join of which a row of this instance may have several beside it.

    Not those of which it has as many as it has of rows that no recipient knows.
    """
    columns = _extended(_reached(one, state, recipients), state, lambda each, found: has_row(each, found))
    return frozenset(each for each in added.one | added.many if not has_row(each, columns))


def _reached(one: Instance, state: State, recipients: tuple[str, ...]) -> Atoms:
    """The columns that are equal to one of this instance, and to those of unknown rows beside it."""
    others = tuple(each for each in recipients if each != one.owner)
    start = frozenset((one.number, each.field.name) for each in one.table.columns)
    return _extended(closed(start, state.met), state, partial(_is_unknown, state=state, recipients=others))


def _is_unknown(instance: Instance, columns: Atoms, state: State, recipients: tuple[str, ...]) -> bool:
    """Whether rows beside are of an instance that no recipient knows."""
    if not any(number == instance.number for number, _ in columns) or instance in state.many:
        return False
    return not any(knows(instance.table, None, each) for each in recipients)


def _extended(columns: Atoms, state: State, holds: Callable[[Instance, Atoms], bool]) -> Atoms:
    """With all columns of instances of which something holds, again and again."""
    left = state.one | state.many
    while found := frozenset(each for each in left if holds(each, columns)):
        left -= found
        columns |= {(each.number, column.field.name) for each in found for column in each.table.columns}
        columns = closed(columns, state.met)
    return columns

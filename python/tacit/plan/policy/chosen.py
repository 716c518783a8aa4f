"""Which rows stand beside a unit's row by owners' data alone, and which ones a recipient may choose.

By equal columns a row of a table that no recipient knows stands beside a unit's row, and rows of further such tables
beside that one. Each way into a table is by its unit, or by a column that meets no known one in any question. Of other
groups of its rows an answer may tell how many they are, or their sums. Where the way leads through rows that a
recipient knows, from one of their columns to another, these say which row is beside which unit, and how many are. So do
computed keys, and a UNION.

Rows that a recipient knows may also leave rows out. Where they meet a unit by one column, and rows beside it by another
one, they do so for each unit on its own. That is all the same for keys of joins, conditions and computed values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from tacit.plan.policy.determined import closed, has_row
from tacit.plan.policy.offers import knows
from tacit.plan.policy.state import Atom, Derived, Instance, Item, Items, State

Atoms = frozenset[Atom]


def atoms_of(items: Items) -> Atoms:
    """The columns that items are of; an instance without a column for the number of its rows."""
    return frozenset((each.instance.number, each.column or "") for each in items)


def read_together(parts: Iterable[Derived], units: frozenset[Instance] = frozenset()) -> frozenset[Atoms]:
    """What is read together: all that keys of a join, a condition or a computed value derive from.

    units: instances of which a row is a whole unit, so that no row of theirs stands beside others of the unit.
    """
    items = (item for each in parts for item in each.items if item.instance not in units)
    found = atoms_of(frozenset(items))
    return frozenset({found} if len(found) > 1 else ())


def compared(parts: Iterable[Derived]) -> frozenset[tuple[Atom, Atoms]]:
    """Each column of a condition or of an equality of keys, and the others that it is compared with there.

    Who knows one of the others may know the column, too: from an equality, or from two inequalities.
    """
    found = frozenset[Atom]().union(*(atoms_of(each.items) for each in parts))
    return frozenset((each, found - {each}) for each in found if len(found) > 1)


def by_table(atoms: Atoms, state: State) -> frozenset[tuple[str | None, str]]:
    """Columns, and what joins make equal, by the names of their tables: instances of one have the same values."""
    tables = {each.number: each.table.name for each in state.one | state.many}
    return frozenset((tables.get(number), name) for number, name in closed(atoms, state.met) if name)


def is_chosen(other: Instance, one: Instance, state: State, recipients: tuple[str, ...]) -> bool:
    """Whether a recipient may say which rows of another instance stand beside a row of this one."""
    others = tuple(each for each in recipients if each != one.owner)
    return other != one and not _is_entered(other, _reached(one, state, recipients), state, others)


def multipliers(one: Instance, added: State, state: State, recipients: tuple[str, ...]) -> frozenset[Instance]:
    """The instances of a state that was added by a join of which a row of this instance may have several beside it.

    Not those of which it has as many as it has of rows that no recipient knows.
    """
    columns = _extended(_reached(one, state, recipients), state, has_row)
    return frozenset(each for each in added.one | added.many if not has_row(each, columns))


def whole_units(single: Iterable[Instance], keys: Iterable[Derived], state: State) -> frozenset[Instance]:
    """Of instances of which a group has one unit each, those that have one group for each unit."""
    atoms = frozenset[Atom]().union(*(atoms_of(each.items) for each in keys))
    return frozenset(each for each in single if atoms <= _extended(closed(_unit(each), state.met), state, has_row))


def left_out(one: Instance, state: State, recipients: tuple[str, ...]) -> Items:
    """That a recipient may say for each unit of an instance which rows beside it, or of its own, stay."""
    others = tuple(each for each in recipients if each != one.owner)
    instances = {each.number: each for each in state.one | state.many}
    known = {number for number, each in instances.items() if each != one and _is_known(each, state, others)}
    unit = closed(_unit(one), state.met)
    alone = _extended(unit, state, lambda each, found: each.number not in known and has_row(each, found))
    for touched in _touched(state.read, known):
        hidden = sorted(each for each in touched - unit if each[0] in instances)
        several = [each for each in hidden if not has_row(instances[each[0]], alone)]
        ways = {closed(frozenset({each}), state.met) for each in several}
        if several and (touched & unit or len(several) < len(hidden) or len(ways) > 1):
            number, column = several[0]
            name = f"{instances[number].table.name}.{column or '*'}"
            return frozenset({Item(one, None, "chosen", detail=f"{others[0]} {name}")})
    return frozenset()


def _touched(read: frozenset[Atoms], known: set[int]) -> list[Atoms]:
    """Of each set of known instances that are read together, directly or by others, the columns of further instances
    that are read with them.
    """
    found: list[tuple[set[int], Atoms]] = []
    for atoms in sorted(map(sorted, read)):
        numbers = {number for number, _ in atoms if number in known}
        if not numbers:
            continue
        beside = frozenset(each for each in atoms if each[0] not in known)
        joined = [each for each in found if each[0] & numbers]
        found = [each for each in found if each not in joined]
        found.append((numbers.union(*(a for a, _ in joined)), beside.union(*(b for _, b in joined))))
    return [beside for _, beside in found]


def _reached(one: Instance, state: State, recipients: tuple[str, ...]) -> Atoms:
    """The columns that are equal to one of this instance, and to those of unknown rows beside it."""
    others = tuple(each for each in recipients if each != one.owner)
    start = frozenset((one.number, each.field.name) for each in one.table.columns)
    return _extended(closed(start, state.met), state, partial(_is_unknown, state=state, recipients=others))


def _is_unknown(instance: Instance, columns: Atoms, state: State, recipients: tuple[str, ...]) -> bool:
    """Whether rows beside are of an instance that no recipient knows."""
    return not _is_known(instance, state, recipients) and _is_entered(instance, columns, state, recipients)


def _is_known(instance: Instance, state: State, recipients: tuple[str, ...]) -> bool:
    return instance in state.many or any(knows(instance.table, None, each) for each in recipients)


def _is_entered(instance: Instance, columns: Atoms, state: State, recipients: tuple[str, ...]) -> bool:
    """Whether these columns say which unit of an instance it is, or one does that only unknown columns may meet."""
    if has_row(instance, columns) or (bool(_named(instance)) and _unit(instance) <= columns):
        return True
    columns_of = ((each.table, column.field.name) for each in state.one for column in each.table.columns)
    names = {f"{table.name}.{name}" for table, name in columns_of if not any(knows(table, name, r) for r in recipients)}
    return any(
        (instance.number, each.field.name) in columns
        and each.terms.partners is not None
        and each.terms.partners <= names
        and "group" not in each.terms.ways
        for each in instance.table.columns
    )


def _named(instance: Instance) -> tuple[str, ...]:
    return instance.table.terms.unit if instance.table.terms else ()


def _unit(instance: Instance) -> Atoms:
    """The columns that name a unit; all where each row is one."""
    names = _named(instance) or [each.field.name for each in instance.table.columns]
    return frozenset((instance.number, each) for each in names)


def _extended(columns: Atoms, state: State, holds: Callable[[Instance, Atoms], bool]) -> Atoms:
    """With all columns of instances of which something holds, again and again."""
    left = state.one | state.many
    while found := frozenset(each for each in left if holds(each, columns)):
        left -= found
        columns |= {(each.number, column.field.name) for each in found for column in each.table.columns}
        columns = closed(columns, state.met)
    return columns

"""Which units a set of columns determines: by copies, by unique keys and by equalities of joins."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.algebra.relations import KeptScan
from tacit.plan.facts.deliveries import delivered_table
from tacit.plan.policy.state import Atom, Instance, State


def determines(atoms: Iterable[Atom], instance: Instance, state: State) -> bool:
    """Whether rows in which these columns are equal stem from one unit of an instance."""
    found, rows = _closure(frozenset(atoms), state)
    unit = instance.table.terms.unit if instance.table.terms else ()
    return instance in rows or (bool(unit) and all((instance.number, each) in found for each in unit))


def determined_by(instance: Instance, atoms: Iterable[Atom], state: State) -> bool:
    """Whether each of these columns has one value beside a row of an instance."""
    start = frozenset((instance.number, each.field.name) for each in instance.table.columns)
    found, rows = _closure(start, state)
    numbers = {each.number for each in rows}
    return all(each in found or each[0] in numbers for each in atoms)


def units_named(atoms: frozenset[Atom], state: State) -> frozenset[Instance]:
    """The instances of which a column is the unit, as itself or as its equal in a join."""
    same = closed(atoms, state.equal)
    return frozenset(
        each
        for each in _instances(state)
        if each.table.terms and len(each.table.terms.unit) == 1 and (each.number, each.table.terms.unit[0]) in same
    )


def _closure(atoms: frozenset[Atom], state: State) -> tuple[frozenset[Atom], frozenset[Instance]]:
    """All columns that these determine, and the instances of which they determine a row."""
    found, rows = closed(atoms, state.equal), frozenset[Instance]()
    while True:
        new = frozenset(each for each in _instances(state) if each not in rows and has_row(each, found))
        if not new:
            return found, rows
        rows |= new
        columns = {(each.number, column.field.name) for each in new for column in each.table.columns}
        found = closed(found | columns, state.equal)


def has_row(instance: Instance, atoms: frozenset[Atom]) -> bool:
    """Whether these columns say which row of an instance it is, by one of its unique keys; kept rows may repeat."""
    if isinstance(instance.scan, KeptScan) and delivered_table(instance.scan.table) is None:
        return False
    return any(all((instance.number, each) in atoms for each in keys) for keys in instance.table.unique)


def closed(atoms: frozenset[Atom], pairs: frozenset[tuple[Atom, Atom]]) -> frozenset[Atom]:
    """With all that are in a pair with one of them, again and again."""
    while True:
        more = {b for a, b in pairs if a in atoms} | {a for a, b in pairs if b in atoms}
        if more <= atoms:
            return atoms
        atoms |= more


def _instances(state: State) -> list[Instance]:
    return sorted(state.one | state.many, key=lambda each: each.number)

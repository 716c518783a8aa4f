"""Generated joins beside those on a unique key by ON and USING: NATURAL, CROSS, by a comparison, by an expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .columns import WHOLE
from .expressions import Name, Writer
from .worlds import Table, World


@dataclass(frozen=True)
class Joined:
    """What FROM says of a further table, and its columns."""

    text: str
    names: tuple[Name, ...]


def pairs(writer: Writer, world: World, scope: Sequence[Name], alias: str) -> Joined:
    """Every row beside every row of a table that declares its rows, or those that a comparison keeps."""
    bounded = [each for each in world.tables if each.rows_bound is not None]
    other = writer.pick(bounded)
    names = _qualified(other, alias)
    own, theirs = _numbers(names), _numbers(scope)
    written = f"{other.name} {alias}"
    if not (own and theirs) or writer.often(4):
        return Joined(writer.note("CROSS JOIN", f" CROSS JOIN {written}"), names)
    a, b = writer.pick(theirs).text, writer.pick(own).text
    if writer.often(2):
        band = writer.note("band join", f"{a} BETWEEN {b} AND {b} + 3")
        return Joined(f" JOIN {written} ON {band}", names)
    condition = writer.note("theta join", f"{a} {writer.pick(['<', '<=', '>', '>=', '<>'])} {b}")
    return Joined(f" JOIN {written} ON {condition}", names)


def natural(writer: Writer, table: Table, keys: Sequence[str], alias: str, fresh: str) -> Joined:
    """A table by the columns that both sides have: its key, with other columns under names of their own."""
    names = _qualified(table, alias)
    listed = [name.bare for name in names if name.bare in keys]
    kept = [name for name in names if name.bare in keys]
    for number, name in enumerate(each for each in names if each.bare not in keys):
        listed.append(f"{name.bare} AS {fresh}_{number}")
        kept.append(Name(f"{alias}.{fresh}_{number}", name.family, name.origin))
    kind = writer.pick(["NATURAL JOIN", "NATURAL LEFT JOIN"])
    text = f" {kind} (SELECT {', '.join(listed)} FROM {table.name}) {alias}"
    return Joined(writer.note(kind, text), tuple(kept))


def condition(writer: Writer, left: Name, right: Name) -> str:
    """Their equality, sometimes of expressions."""
    if _has_room(left) and _has_room(right) and writer.often(4):
        return writer.note("expression as a key", f"{left.text} + 4 = {right.text} + 4")
    return f"{left.text} = {right.text}"


def _has_room(name: Name) -> bool:
    """Whether a whole number has a greater one of its type beside every value."""
    if name.family != "whole" or name.origin is None:
        return False
    values = [value for value in name.origin.values if isinstance(value, int)]
    return max(values) + 4 <= WHOLE[name.origin.sql][1]


def _qualified(table: Table, alias: str) -> tuple[Name, ...]:
    return tuple(Name(f"{alias}.{column.name}", column.family, column) for column in table.columns)


def _numbers(names: Sequence[Name]) -> list[Name]:
    return [name for name in names if name.family in ("whole", "decimal")]

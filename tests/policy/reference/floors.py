"""What of one aggregation is shown: floors, cells of conditions, small groups, those that are not counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .derive import Guard
from .tree import Group
from .values import aggregate, argument, value

Key = tuple[Any, ...]
Bits = tuple[Any, ...]
"""How conditions decide something: pairs of a text and a bit, or sets of such tuples."""


@dataclass(frozen=True)
class Row:
    """A row with where it comes from. units: of each instance. bits: how conditions below decided its columns."""

    values: Mapping[str, Any]
    units: Mapping[str, frozenset[Hashable]]
    bits: Mapping[str, Bits] = field(default_factory=dict)
    rest: bool = False


@dataclass(frozen=True, eq=False)
class Lost:
    """What is not counted: a row that a condition dropped, or a tested key without partner, as an instance's owner has
    it. values: what is known of it; bits: how conditions would have decided."""

    instance: str
    name: Hashable
    values: Mapping[str, Any]
    bits: Mapping[str, Bits] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """Rows that are added up, of one group or, in the rest, of several, and what might have been among them."""

    keys: tuple[Key, ...]
    rows: tuple[Row, ...]
    lost: tuple[Lost, ...] = ()

    def units(self, instance: str) -> int:
        return len(units(self.rows, instance))

    def __add__(self, other: Cell) -> Cell:
        return Cell(self.keys + other.keys, self.rows + other.rows, self.lost + other.lost)


@dataclass(frozen=True)
class Shown:
    """A row that an aggregation shows, for who checks it: its rows, and which of its aggregates are not NULL."""

    tree: Group
    rows: tuple[Row, ...]
    aggregates: tuple[str, ...]
    rest: bool


def units(rows: Iterable[Row], instance: str) -> frozenset[Hashable]:
    return frozenset(unit for row in rows for unit in row.units.get(instance, ()))


@dataclass(frozen=True)
class Floors:
    """The guard of one aggregation.

    some: instances that are on one side of a UNION: none of their rows is as good as enough. counted: instances of
    which those that are not counted count, too.
    """

    tree: Group
    guard: Guard
    some: frozenset[str]
    counted: Mapping[str, int]

    def enough(self, rows: Sequence[Row], floors: Mapping[str, int]) -> bool:
        """Whether so many units of each instance stand behind rows. One on a side of a UNION may have no rows."""
        found = {instance: len(units(rows, instance)) for instance in floors}
        absent = {each for each in self.some if not any(each in row.units for row in rows)}
        return all(found[each] >= least or each in absent for each, least in floors.items())

    def may_show(self, cell: Cell) -> bool:
        """Whether the cell is a row of the answer."""
        return self.enough(cell.rows, self.guard.floors) and self._others(cell.lost)

    def _others(self, lost: Iterable[Lost]) -> bool:
        """Whether enough are not counted, where that matters."""
        names = {(each.instance, each.name) for each in lost}
        return all(sum(name[0] == each for name in names) >= least for each, least in self.counted.items())

    def fold(self, cells: list[Cell]) -> tuple[list[Cell], Cell | None]:
        """The groups that are shown, and the rest of all others."""
        shown = [cell for cell in cells if self.may_show(cell)]
        small = [cell for cell in cells if cell not in shown]
        if not small:
            return shown, None
        rest = _sum(small)
        if not self.may_show(rest) and shown:
            least = min(map(self._size, shown))
            rest = _sum([rest, *(cell for cell in shown if self._size(cell) == least)])
            shown = [cell for cell in shown if self._size(cell) > least]
        return (shown, rest) if shown and self.may_show(rest) else ([], None)

    def _size(self, cell: Cell) -> tuple[int, ...]:
        return tuple(cell.units(instance) for instance in self.guard.floors)

    def aggregates(self, cell: Cell) -> dict[str, Any]:
        """The aggregates of a row, NULL where too few units contribute."""
        refused = {name for name, _ in self.tree.aggregates if not self._contributed(name, cell)}
        if not self.may_show(cell):
            refused = {name for name, _ in self.tree.aggregates}
        rows = [row.values for row in cell.rows]
        return {name: None if name in refused else aggregate(each, rows) for name, each in self.tree.aggregates}

    def _contributed(self, name: str, cell: Cell) -> bool:
        expression = dict(self.tree.aggregates)[name]
        floors = self.guard.contributors[name]
        star = expression.this.key == "star"
        rows = [row for row in cell.rows if star or value(argument(expression), row.values) is not None]
        if not self.enough(rows, floors):
            return False
        if name not in self.guard.conditional:
            return True
        cells = self.cells(cell.rows, self.guard.conditional)
        others = all(self._others(self._lost_in(bits, cell)) for bits in cells)
        return (not self.counted or (others and _complete(cells))) and all(
            self.enough(each, floors) for each in cells.values()
        )

    def _lost_in(self, bits: Bits, cell: Cell) -> list[Lost]:
        """What might have been in a cell, for all that is known of it."""
        names = sorted(self.guard.conditional)
        against = {(text, not bit) for text, bit in filter(_is_bit, bits)}
        return [each for each in cell.lost if not against & {bit for name in names for bit in each.bits.get(name, ())}]

    def cells(self, rows: Iterable[Row], names: Iterable[str]) -> dict[Bits, list[Row]]:
        """The rows by how all conditions of these aggregates decide them."""
        found: dict[Bits, list[Row]] = {}
        for row in rows:
            bits = [bit for name in sorted(names) for bit in row.bits[name]]
            found.setdefault(tuple(bits), []).append(row)
        return found


def _complete(cells: Iterable[Bits]) -> bool:
    """Whether every combination of conditions occurs. Each is a text and a bit; those without text follow others."""
    found = {frozenset(filter(_is_bit, cell)) for cell in cells}
    names = {bit[0] for cell in found for bit in cell}
    return len(found) == 1 << len(names)


def _is_bit(bit: Any) -> bool:
    return isinstance(bit[0], str) and bool(bit[0])


def _sum(cells: list[Cell]) -> Cell:
    first, *others = cells
    for cell in others:
        first += cell
    return first

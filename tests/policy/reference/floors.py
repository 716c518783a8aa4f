"""What of one aggregation is shown: floors, cells of conditions, small groups, those that are not counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .decisions import Decisions, Origin, Outcome
from .derive import Guard
from .tree import Group
from .values import aggregate, argument, value

Key = tuple[Any, ...]
Units = defaultdict[Outcome, frozenset[Hashable]]


@dataclass(frozen=True)
class Row:
    """A row with where it comes from. units: of each instance."""

    values: Mapping[str, Any]
    units: Mapping[str, frozenset[Hashable]]
    origin: Origin = field(default_factory=dict)
    rest: bool = False


@dataclass(frozen=True, eq=False)
class Lost:
    """What is not counted: a row that a condition dropped, or a tested key without partner, as an instance's owner has
    it. values, origin: what is known of it."""

    instance: str
    name: Hashable
    values: Mapping[str, Any]
    origin: Origin


@dataclass(frozen=True)
class Cell:
    """Rows that are added up, of one group or, in the rest, of several, and what might have been among them.

    groups: its rows by group.
    """

    keys: tuple[Key, ...]
    groups: tuple[tuple[Row, ...], ...]
    lost: tuple[Lost, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for group in self.groups for row in group)

    def units(self, instance: str) -> int:
        return len(units(self.rows, instance))

    def __add__(self, other: Cell) -> Cell:
        return Cell(self.keys + other.keys, self.groups + other.groups, self.lost + other.lost)


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

    constants: of instances on one side of a UNION, those that the query has in keys of their rows, by the keys' places.
    decisions: what decides the conditional aggregates, as each instance has it. complement: instances whose empty cells
    matter, too. counted: those of which those that are not counted count. apart: those no unit of which is in two
    groups, by what is declared; of others the rest has as many units as the group of it that has most.
    """

    tree: Group
    guard: Guard
    constants: Mapping[str, Mapping[int, Any]]
    decisions: Mapping[str, Decisions]
    complement: frozenset[str]
    counted: Mapping[str, int]
    apart: frozenset[str]

    def enough(self, cell: Cell, counts: Callable[[Row], bool], floors: Mapping[str, int]) -> bool:
        """Whether so many units of each instance stand behind rows of these groups that count."""
        groups = [[row for row in group if counts(row)] for group in cell.groups]
        return all(
            self._size_of([units(group, each) for group in groups], each) >= least or self._absent(each, cell.keys)
            for each, least in floors.items()
        )

    def _size_of(self, groups: Iterable[frozenset[Hashable]], instance: str) -> int:
        """How many units of an instance there are for certain, by group."""
        if instance in self.apart:
            return len(frozenset().union(*groups))
        return max(map(len, groups), default=0)

    def _absent(self, instance: str, keys: Iterable[Key]) -> bool:
        """Whether the query itself tells that groups have no row of an instance: they have other keys than these."""
        return any(all(key[at] != each for key in keys) for at, each in self.constants[instance].items())

    def may_show(self, cell: Cell) -> bool:
        """Whether the cell is a row of the answer."""
        return self.enough(cell, lambda _: True, self.guard.floors) and self._others(cell.lost)

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

    def _size(self, cell: Cell) -> int:
        """Units of the table that has most."""
        return max(cell.units(instance) for instance in self.guard.floors)

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
        if not self.enough(cell, lambda row: star or value(argument(expression), row.values) is not None, floors):
            return False
        present = {each: least for each, least in floors.items() if not self._absent(each, cell.keys)}
        return name not in self.guard.conditional or all(
            self._parted(each, least, cell) for each, least in present.items()
        )

    def _parted(self, instance: str, least: int, cell: Cell) -> bool:
        """Whether so many units of an instance are in each cell of the conditions of all conditional aggregates.

        None may be empty that is possible by what the query says; by stored NULLs, one may unless complements count.
        """
        decisions = self.decisions[instance]
        cells = self._sizes(instance, cell, lambda outcome: outcome)
        written = self._sizes(instance, cell, decisions.of_written)
        if instance in self.complement:
            others = [self._others(self._lost_in(each, instance, cell)) for each in decisions.possible]
            if not all(others) or any(cells[each] < least for each in decisions.possible):
                return False
        possible = {decisions.of_written(each) for each in decisions.possible}
        return all(written[each] >= least for each in possible) and all(size >= least for size in cells.values())

    def _sizes(self, instance: str, cell: Cell, told: Callable[[Outcome], Outcome]) -> Counter[Outcome]:
        """How many units are in each cell, of those that can be told apart."""
        groups = []
        for group in cell.groups:
            found = Units(frozenset)
            for outcome, its in self.cells(instance, Cell((), (group,))).items():
                found[told(outcome)] |= its
            groups.append(found)
        outcomes = {outcome for found in groups for outcome in found}
        return Counter({each: self._size_of([found[each] for found in groups], instance) for each in outcomes})

    def cells(self, instance: str, cell: Cell) -> Units:
        """Units of an instance by how conditions decide its rows."""
        found = Units(frozenset)
        for row in cell.rows:
            if instance in row.units:
                found[self.decisions[instance].of(row.origin)] |= row.units[instance]
        return found

    def _lost_in(self, outcome: Outcome, instance: str, cell: Cell) -> list[Lost]:
        """What might have been in a cell, for all that is known of it."""
        return [each for each in cell.lost if not self.decisions[instance].contradicted(outcome, each.origin)]


def _sum(cells: list[Cell]) -> Cell:
    first, *others = cells
    for cell in others:
        first += cell
    return first

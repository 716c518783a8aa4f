"""What a guard counts beside the aggregates of a query, in the same aggregation, and the conditions on these counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from tacit.plan.algebra.relations import (
    Aggregate,
    AggregateFunction,
    Aggregation,
    Call,
    ColumnRef,
    Expr,
    Project,
    Relation,
)
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.fields import aggregation_field, column, fields, names
from tacit.plan.policy.conditions import TRUE, choose, every, negated, present, same, whole
from tacit.plan.policy.units import Track, Uncountable

LARGEST_UNIT = 1 << 120
"""Combinations of a unit's columns, so that one number tells them apart."""


@dataclass(frozen=True)
class Check:
    """One or several floors that count the same units.

    once: no unit has two rows of a group. apart: no unit is in two groups, so that units of groups add up.
    """

    track: Track
    least: int
    once: bool
    apart: bool


@dataclass
class Counter:
    """An aggregation to which counts are added. outputs: further columns of its input.

    shared: counts of units that may be in several groups, and so do not add up over groups.
    """

    input: Relation
    keys: tuple[str, ...]
    prefix: str
    aggregations: list[Aggregation] = field(default_factory=list)
    outputs: dict[str, Expr] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)

    def relation(self) -> Aggregate:
        """The aggregation."""
        return Aggregate(self.rows(), self.keys, tuple(self.aggregations))

    def rows(self) -> Relation:
        """Its input."""
        kept = ((each.name, column(self.input, each.name)) for each in fields(self.input))
        return Project(self.input, (*kept, *self.outputs.items())) if self.outputs else self.input

    def add(self, aggregation: Aggregation, cell: Expr) -> None:
        """An aggregation of the query over the rows of a cell, under its own name."""
        if cell == TRUE:
            self.aggregations.append(aggregation)
            return
        plain, name = aggregation.column is None, aggregation.column or ""
        argument = self._input(choose(cell, TRUE if plain else column(self.input, name)))
        function: AggregateFunction = "count" if plain else aggregation.function
        self.aggregations.append(replace(aggregation, function=function, column=argument))

    def units(self, check: Check, cell: Expr = TRUE) -> ColumnRef:
        """How many units a cell has."""
        counted = self._units(check, cell)
        if not check.apart:
            self.shared.add(counted.name)
        return counted

    def _units(self, check: Check, cell: Expr) -> ColumnRef:
        track, found = check.track, [column(self.input, each) for each in check.track.columns]
        there = [] if track.there is None else [column(self.input, track.there)]
        if check.once:
            named = there if track.by_rows else [*there, *found]
            return self.count(every(cell, *dict.fromkeys(map(present, named))))
        if not found:
            raise Uncountable(track.instance[0], "rows may repeat, and no unique key tells them apart")
        unit = found[0] if len(found) == 1 else _joint(track, found)
        return self._add("count_distinct", self._input(choose(cell, unit)))

    def stems(self, check: Check, cell: Expr = TRUE) -> Expr:
        """How many rows of a cell stem from the instance."""
        there = check.track.there
        return self.count(every(cell, TRUE if there is None else present(column(self.input, there))))

    def count(self, condition: Expr) -> ColumnRef:
        """How many rows fulfil a condition that is never NULL."""
        match condition:
            case _ if condition == TRUE:
                return self._add("count_rows", None)
            case Call("not", (Call("is_null", (ColumnRef(name),)),)):
                return self._add("count", name)
            case _:
                return self._add("count", self._input(choose(condition, TRUE)))

    def _add(self, function: AggregateFunction, argument: str | None) -> ColumnRef:
        """A count, which may be one that the query has already."""
        found = next((each for each in self.aggregations if (each.function, each.column) == (function, argument)), None)
        if found is None:
            taken = {*self.keys, *(each.name for each in self.aggregations)}
            found = Aggregation(unused(f"{self.prefix}count", taken), function, argument)
            self.aggregations.append(found)
        output = aggregation_field(found, self.rows(), bool(self.keys))
        return ColumnRef(output.name, output.type, output.nullable)

    def _input(self, expr: Expr) -> str:
        """The input column with an expression's value."""
        if isinstance(expr, ColumnRef):
            return expr.name
        known = {each: name for name, each in self.outputs.items()}
        if expr not in known:
            name = unused(f"{self.prefix}cell", {*names(self.input), *self.outputs})
            self.outputs[name] = expr
            return name
        return known[expr]


def _joint(track: Track, columns: list[ColumnRef]) -> Expr:
    """One number for each combination of whole numbers, NULL where one of them is missing."""
    number: Expr = whole(0)
    size = 1
    for each in columns:
        if not isinstance(each.type, Integer):
            raise Uncountable(track.instance[0], f"units may repeat, and their column {each.name} is no number")
        low, span = each.type.low, each.type.high - each.type.low + 1
        size *= span
        if size > LARGEST_UNIT:
            raise Uncountable(track.instance[0], "units may repeat, and their columns have too many combinations")
        wide = Call("cast", (each,), Integer(low, each.type.high, "HUGEINT"), each.nullable)
        above = Call("sub", (wide, whole(low)), Integer(0, span - 1, "HUGEINT"), each.nullable)
        if number == whole(0):
            number = above
            continue
        scaled = Call("mul", (number, whole(span)), Integer(0, size - span, "HUGEINT"), number.nullable)
        nullable = number.nullable or each.nullable
        number = Call("add", (scaled, above), Integer(0, size - 1, "HUGEINT"), nullable)
    return number


def nobody(counter: Counter, check: Check, units: Expr, cell: Expr) -> Expr:
    """Whether no row of a cell stems from the instance. units: of the cell."""
    track, named = check.track, [column(counter.input, each) for each in check.track.columns]
    certain = track.there is None and not any(each.nullable for each in named)
    certain |= track.there in track.columns and len(named) == 1
    certain |= track.by_rows and check.once
    return same(units if certain else counter.stems(check, cell), whole(0))


def cells(conditions: Sequence[Expr]) -> Iterator[Expr]:
    """All combinations of conditions and their opposites, that of all opposites last."""
    return (cell(conditions, chosen) for chosen in product((True, False), repeat=len(conditions)))


def cell(conditions: Sequence[Expr], chosen: Sequence[bool]) -> Expr:
    """That of several conditions the chosen ones hold, and no other one."""
    pairs = zip(conditions, chosen, strict=True)
    return every(*(each if yes else negated(each) for each, yes in pairs))


def units_by_cell(
    counter: Counter, check: Check, within: Expr, listed: Sequence[Expr], *, whole: bool
) -> list[tuple[Expr, Expr]]:
    """Each cell, and its units. Cells are apart. whole: they are all that there are, and counts of rows add up.

    Then, where no unit has two rows in a group, the units of the last cell are those of no other one.
    """
    found: list[tuple[Expr, Expr]] = []
    for each in listed:
        if check.once and whole and len(listed) > 1 and each == listed[-1]:
            rest: Expr = counter.units(check, within)
            for _, known in found:
                rest = Call("sub", (rest, known), Integer(0, _most(rest), "BIGINT"), False)
            found.append((every(within, each), rest))
        else:
            inside = every(within, each)
            found.append((inside, counter.units(check, inside)))
    return found


def _most(count: Expr) -> int:
    assert isinstance(count.type, Integer)
    return count.type.high


def unused(prefix: str, taken: set[str]) -> str:
    """A name with the prefix that is not taken."""
    number = 1
    while f"{prefix}{number}" in taken:
        number += 1
    return f"{prefix}{number}"

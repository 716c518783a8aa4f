"""The answer that the rules allow of a query, on tables in clear, with why-provenance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cmp_to_key
from typing import Any

from .decisions import constants, decisions
from .derive import Derivation
from .floors import Cell, Floors, Key, Lost, Row, Shown, units
from .offers import Offers
from .tree import Expr, Filter, Group, Join, NotTold, Project, Relation, Scan, Sort, Union, names_in, parse
from .values import value
from .verdict import Verdict, verdict

Data = Mapping[str, Sequence[Mapping[str, Any]]]
"""Each table's rows."""


@dataclass(frozen=True)
class View:
    """What recipients see. lines: printed beside the answer, whatever the data. shown: for checks, seen by nobody."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[str, ...]
    shown: tuple[Shown, ...]

    def ordinary(self) -> list[tuple[Any, ...]]:
        """The rows without the column that marks the rest."""
        return [row[:-1] if self.columns[-1:] == ("rest",) else row for row in self.rows]

    def seen(self) -> tuple[Hashable, ...]:
        """All of it, in no order."""
        return self.columns, tuple(sorted(self.rows, key=repr)), self.lines


class Question:
    """A query to recipients under offers: its verdict, and its answers."""

    def __init__(self, sql: str, offers: Offers, to: tuple[str, ...]) -> None:
        self.tree = parse(sql, {name: table.columns for name, table in offers.items()})
        self.derivation = Derivation(self.tree, offers, to)
        self.folded = _folded(self.tree, self.derivation)
        self.floors = cache(self._floors)

    @property
    def verdict(self) -> Verdict:
        """Whether the query is allowed, from its text alone."""
        return verdict(self.derivation)

    def view(self, data: Data) -> View:
        """What recipients see of these tables."""
        run = _Run(self, data)
        rows, _ = run.rows(self.tree)
        columns = tuple(name for name, _ in self.tree.outputs)
        tail = [(row.rest,) if self.folded else () for row in rows]
        answer = tuple((*(row.values[name] for name in columns), *end) for row, end in zip(rows, tail, strict=True))
        return View((*columns, *(("rest",) if self.folded else ())), answer, self._lines(), tuple(run.shown))

    def _floors(self, tree: Group) -> Floors:
        child, guard = self.derivation.groups[tree], self.derivation.guards[tree]
        tables = self.derivation.tables
        complement = frozenset(each for each in guard.floors if tables[each].complement)
        touched = {pair.instance for pair in child.presence if pair.way in ("join", "filter")}
        return Floors(
            tree,
            guard,
            {each: constants(self.derivation, tree, each) for each in guard.floors},
            {each: decisions(self.derivation, tree, guard.conditional, each) for each in guard.floors},
            complement,
            {each: guard.floors[each] for each in touched & complement},
            frozenset(each for each in guard.floors if self.derivation.is_apart(tree, each)),
        )

    def _lines(self) -> tuple[str, ...]:
        floors = {(each, least) for guard in self.derivation.guards.values() for each, least in guard.floors.items()}
        tables = self.derivation.tables
        lines = {
            f"groups of fewer than {least} {', '.join(table.unit) or 'rows'} of {table.name} are not shown"
            for each, least in floors
            for table in [tables[each]]
        }
        return tuple(sorted(lines))


def _folded(tree: Relation, derivation: Derivation) -> Group | None:
    """The aggregation whose small groups are added up: only projections and orders stand above it."""
    while isinstance(tree, Project) or (isinstance(tree, Sort) and tree.limit is None and not tree.offset):
        tree = tree.child
    if not isinstance(tree, Group) or not tree.keys or not derivation.guards[tree].floors:
        return None
    tables = [derivation.tables[each] for each in derivation.guards[tree].floors]
    return None if any(table.drop or table.complement for table in tables) else tree


class _Run:
    """One evaluation. shown: what aggregations have shown."""

    def __init__(self, question: Question, data: Data) -> None:
        self.question, self.derivation, self.data = question, question.derivation, data
        self.shown: list[Shown] = []

    def rows(self, tree: Relation) -> tuple[list[Row], list[Lost]]:
        """The rows of a relation, and what was lost on the way."""
        match tree:
            case Scan():
                return self._scan(tree), []
            case Filter():
                return self._filter(tree)
            case Join():
                return self._join(tree)
            case Group():
                return self._group(tree), []
            case Project():
                rows, lost = self.rows(tree.child)
                outputs = dict(tree.outputs)
                return [_projected(each, outputs) for each in rows], [_projected_lost(each, outputs) for each in lost]
            case Union():
                sides = [self._side(side, tree.outputs) for side in tree.sides]
                return sides[0] + sides[1], []
            case Sort():
                return self._sort(tree), []

    def _scan(self, tree: Scan) -> list[Row]:
        table, name = self.derivation.tables[tree.instance], tree.instance
        rows = []
        for at, given in enumerate(self.data[tree.table]):
            unit = tuple(given[column] for column in table.unit) or (at,)
            named = frozenset() if None in unit else frozenset({unit})
            values = {f"{name}.{column}": given.get(column) for column in table.columns}
            rows.append(Row(values, {name: named}, values))
        return rows

    def _filter(self, tree: Filter) -> tuple[list[Row], list[Lost]]:
        rows, lost = self.rows(tree.child)
        state = self.derivation.state(tree.child)
        read = {pair.instance for name in names_in(tree.condition) for pair in state.outputs[name].pairs}
        passed = [row for row in rows if value(tree.condition, row.values)]
        dropped = [row for row in rows if not value(tree.condition, row.values)]
        lost = [each for each in lost if _may_hold(tree.condition, each)]
        for instance in read & state.single & self._counted():
            lost += [Lost(instance, unit, row.values, row.origin) for row in dropped for unit in row.units[instance]]
        return passed, lost

    def _join(self, tree: Join) -> tuple[list[Row], list[Lost]]:
        left, lost_left = self.rows(tree.left)
        right, lost_right = self.rows(tree.right)
        if tree.kind == "one":
            return [_beside(a, b) for a in left for b in right], lost_left + lost_right
        if len((self.derivation.state(tree).single) & self._counted()) > 1:
            raise NotTold("a join of several tables of which those that are not counted count")
        ones, others = [a for a, _ in tree.pairs], [b for _, b in tree.pairs]
        by_key = _by_key(right, others)
        found = [(row, by_key.get(_key(row, ones), [])) for row in left]
        lost = self._misses(tree.right, left, ones, by_key) + self._misses(
            tree.left, right, others, _by_key(left, ones)
        )
        if tree.kind == "semi":
            return [_within(row, partners) for row, partners in found if partners], lost
        return [_beside(row, partner) for row, partners in found for partner in partners], lost

    def _misses(self, tree: Relation, tested: list[Row], by: list[Expr], known: Mapping[Key, list[Row]]) -> list[Lost]:
        """Keys that one side tests and the other does not have."""
        counted = self.derivation.state(tree).single & self._counted()
        missed = [(_key(row, by), row) for row in tested if _key(row, by) not in known]
        return [Lost(instance, key, row.values, row.origin) for instance in counted for key, row in missed]

    def _counted(self) -> frozenset[str]:
        tables = self.derivation.tables
        return frozenset(each for each in tables if tables[each].complement and self.derivation.binding(each))

    def _side(self, tree: Project, outputs: tuple[str, ...]) -> list[Row]:
        found = []
        for row in self.rows(tree)[0]:
            values = dict(zip(outputs, (row.values[name] for name, _ in tree.outputs), strict=True))
            found.append(replace(row, values=values, origin={**row.origin, **values}))
        return found

    def _group(self, tree: Group) -> list[Row]:
        rows, lost = self.rows(tree.child)
        found: dict[Key, list[Row]] = {} if tree.keys else {(): []}
        for row in rows:
            found.setdefault(_key(row, [each for _, each in tree.keys], null=True), []).append(row)
        floors = self.question.floors(tree)
        keys = [each for _, each in tree.keys]
        cells = [Cell((key,), (tuple(each),), _lost_of(key, keys, lost)) for key, each in found.items()]
        if not floors.guard.floors:
            return [self._shown(floors, cell, cell.keys[0], False) for cell in cells]
        if tree is self.question.folded:
            shown, rest = floors.fold(cells)
            ordinary = [self._shown(floors, cell, cell.keys[0], False) for cell in shown]
            return ordinary + ([self._shown(floors, rest, (None,) * len(keys), True)] if rest else [])
        return [self._shown(floors, cell, cell.keys[0], False) for cell in cells if floors.may_show(cell) or not keys]

    def _shown(self, floors: Floors, cell: Cell, key: Key, rest: bool) -> Row:
        tree = floors.tree
        values = floors.aggregates(cell)
        if floors.guard.floors:
            names = tuple(name for name, each in values.items() if each is not None)
            self.shown.append(Shown(tree, cell.rows, names, rest))
        instances = {each for row in cell.rows for each in row.units}
        named = dict(zip((name for name, _ in tree.keys), key, strict=True))
        sources = {each: units(cell.rows, each) for each in instances}
        return Row({**named, **values}, sources, {**values, tree: cell.rows}, rest)

    def _sort(self, tree: Sort) -> list[Row]:
        rows, _ = self.rows(tree.child)

        def compare(one: Row, other: Row) -> int:
            for term, descends, nulls_first in tree.terms:
                a, b = value(term, one.values), value(term, other.values)
                if a == b:
                    continue
                if a is None or b is None:
                    return -1 if (a is None) == nulls_first else 1
                return (1 if a > b else -1) * (-1 if descends else 1)
            return 0

        ordinary = sorted((row for row in rows if not row.rest), key=cmp_to_key(compare))
        end = None if tree.limit is None else tree.offset + tree.limit
        return ordinary[tree.offset : end] + [row for row in rows if row.rest]


def _projected(row: Row, outputs: Mapping[str, Expr]) -> Row:
    return replace(row, values={name: value(each, row.values) for name, each in outputs.items()})


def _projected_lost(lost: Lost, outputs: Mapping[str, Expr]) -> Lost:
    known = {name: each for name, each in outputs.items() if set(names_in(each)) <= set(lost.values)}
    return replace(lost, values={name: value(each, lost.values) for name, each in known.items()})


def _key(row: Row, by: Iterable[Expr], null: bool = False) -> Key:
    key = tuple(value(each, row.values) for each in by)
    return key if null or None not in key else (id(row),)


def _by_key(rows: list[Row], by: list[Expr]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(_key(row, by), []).append(row)
    return found


def _beside(one: Row, other: Row) -> Row:
    return Row(
        {**one.values, **other.values},
        {**one.units, **other.units},
        {**one.origin, **other.origin},
        one.rest or other.rest,
    )


def _within(row: Row, partners: list[Row]) -> Row:
    instances = {each for partner in partners for each in partner.units}
    return replace(row, units={**row.units, **{each: units(partners, each) for each in instances}})


def _may_hold(condition: Expr, lost: Lost) -> bool:
    """Whether what is lost might pass a further condition, for all that is known of it."""
    return not set(names_in(condition)) <= set(lost.values) or bool(value(condition, lost.values))


def _lost_of(key: Key, by: list[Expr], lost: list[Lost]) -> tuple[Lost, ...]:
    """What is lost and, for all that is known of it, might belong to a group."""
    return tuple(
        each
        for each in lost
        if all(
            not set(names_in(expression)) <= set(each.values) or value(expression, each.values) == part
            for expression, part in zip(by, key, strict=True)
        )
    )

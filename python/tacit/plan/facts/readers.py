"""Readers: the parties that may see a column in clear.

The owner of a table reads its columns, and so do the readers the catalog names. A column of a result is read by those
who may read everything it depends on. These are the columns it is computed from, and all columns that decide which rows
it has (conditions, both sides' join keys, group keys, order). A constant or a count tells which rows there are, or how
many: it is read by those who read a column of each table. A kept table's columns have the readers that they had when
they were kept.
"""

from __future__ import annotations

from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
)
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import columns_of, names

Parties = frozenset[str]


class Readers:
    """Readers of every column of any relation over a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.everyone: Parties = frozenset(catalog.parties)
        self.declared = {
            (table.name, column.field.name): column.readers | {table.owner}
            for table in catalog.tables
            for column in table.columns
        }
        self.kept = {(table.name, each.field.name): each.readers for table in catalog.kept for each in table.columns}
        self.found: dict[Relation, dict[str, Parties]] = {}

    def of(self, relation: Relation) -> dict[str, Parties]:
        """Column to readers."""
        if relation not in self.found:
            self.found[relation] = self._of(relation)
        return self.found[relation]

    def _of(self, relation: Relation) -> dict[str, Parties]:
        match relation:
            case Scan(table, _, columns):
                return {name: self.declared[table, source] for name, source in columns}
            case KeptScan(table, columns):
                return {name: self.kept[table, source] for name, source in columns}
            case Constants(_, found):
                return {each.name: self.everyone for each in found}
            case Opened(_, found):
                return {each.name: frozenset() for each in found}
            case Filter(input, predicate):
                return self._limited(input, [self._expr(predicate, self.of(input))])
            case Project(input, outputs):
                rows = self.of_rows(input)
                return {name: self._expr(each, self.of(input)) & rows for name, each in outputs}
            case Union(inputs):
                return {name: self._all([self.of(each)[name] for each in inputs]) for name in names(relation)}
            case (
                Join(left, right, left_keys, right_keys)
                | FullJoin(left, right, left_keys, right_keys)
                | Match(left, right, left_keys, right_keys)
            ):
                keys = [self.of(left)[key] for key in left_keys] + [self.of(right)[key] for key in right_keys]
                return self._limited(left, keys) | self._limited(right, keys)
            case Mark(input, choices, input_keys, choice_keys, name):
                keys = [self.of(input)[key] for key in input_keys] + [self.of(choices)[key] for key in choice_keys]
                return self.of(input) | {name: self.of_rows(input) & self.of_rows(choices) & self._all(keys)}
            case Pairs(left, right):
                return self._limited(left, [self.of_rows(right)]) | self._limited(right, [self.of_rows(left)])
            case Broadcast(input, scalar):
                return self.of(input) | self.of(scalar)
            case Aggregate(input, keys, aggregations):
                shared = self._all([self.of(input)[key] for key in keys])
                rows = self._all(list(self.of(input).values())) & self.of_rows(input)
                values = {
                    each.name: shared & (rows if each.column is None else self.of(input)[each.column])
                    for each in aggregations
                }
                return dict.fromkeys(keys, shared) | values
            case Window(input):
                return self.of(input) | self._window(relation)
            case Sort(input, keys):
                return self._limited(input, [self.of(input)[key.column] for key in keys])
            case Limit(input, _, _) | Slice(input):
                return self.of(input)

    def _window(self, relation: Window) -> dict[str, Parties]:
        """A window's outputs tell of other rows of the partition, and which there are."""
        own = self.of(relation.input)
        by = [*relation.partition, *(key.column for key in relation.order)]
        shared = self._all([own[name] for name in by]) & self.of_rows(relation.input)
        return {
            each.name: shared & self._all([own[name] for name in (each.column, each.default) if name is not None])
            for each in relation.outputs
        }

    def of_rows(self, relation: Relation) -> Parties:
        """The parties that may know which rows a relation has, and how many: who reads a column sees its rows."""
        match relation:
            case Scan(table):
                readers = (found for (name, _), found in self.declared.items() if name == table)
                return frozenset[str]().union(*readers)
            case KeptScan(table):
                return frozenset[str]().union(*(found for (name, _), found in self.kept.items() if name == table))
            case Constants():
                return self.everyone
            case Opened():
                return frozenset()
            case Filter(input, predicate):
                return self.of_rows(input) & self._expr(predicate, self.of(input))
            case Project() | Limit() | Broadcast() | Window() | Mark() | Slice():
                return self.of_rows(relation.input)
            case Pairs(left, right):
                return self.of_rows(left) & self.of_rows(right)
            case Sort(input, keys):
                return self.of_rows(input) & self._all([self.of(input)[key.column] for key in keys])
            case Aggregate(input, keys, _):
                return self.of_rows(input) & self._all([self.of(input)[key] for key in keys]) if keys else self.everyone
            case Union(inputs):
                return self._all([self.of_rows(each) for each in inputs])
            case (
                Join(left, right, left_keys, right_keys)
                | FullJoin(left, right, left_keys, right_keys)
                | Match(left, right, left_keys, right_keys)
            ):
                by = [self.of(left)[key] for key in left_keys] + [self.of(right)[key] for key in right_keys]
                return self.of_rows(left) & self.of_rows(right) & self._all(by)

    def _expr(self, expr: Expr, columns: dict[str, Parties]) -> Parties:
        return self._all([columns[name] for name in columns_of(expr)])

    def _limited(self, relation: Relation, by: list[Parties]) -> dict[str, Parties]:
        return {name: found & self._all(by) for name, found in self.of(relation).items()}

    def _all(self, sets: list[Parties]) -> Parties:
        return self.everyone.intersection(*sets)

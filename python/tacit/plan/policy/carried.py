"""Conditions beneath groups of one unit each: in which cells of them a unit has rows.

Sums of sums of a unit's rows may differ by rows of few units, though all units have rows in both. So units are told
apart by the cells of all conditions in which they have rows. A unit that has one row alone is in one cell, which is
told by the conditions themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.plan.algebra.relations import Aggregate, Aggregation, Expr, Project, Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.conditions import TRUE, positive, present
from tacit.plan.policy.counting import cells
from tacit.plan.policy.names import Names
from tacit.plan.policy.state import Derived, Instance, Item, Items, State, union

MOST_BELOW = 2
"""Conditions and NULLs beneath the aggregates of one unit. Each doubles the cells, and so the conditions above."""


@dataclass(frozen=True)
class Carried:
    """outputs: conditions as columns of an aggregate's input. aggregations: whether a row of a unit fulfils each.

    whom: of the aggregate's columns those that some of these decide, each with their names. columns: what they derive
    from. too_many: there are more than are told apart.
    """

    outputs: Mapping[str, Expr] = field(default_factory=dict)
    aggregations: tuple[Aggregation, ...] = ()
    whom: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, Derived] = field(default_factory=dict)
    too_many: bool = False

    def of(self, name: str) -> tuple[str, ...]:
        """The conditions of a column of the aggregate."""
        return self.whom.get(name, ())

    def input(self, relation: Relation) -> Relation:
        """The aggregate's input with the conditions."""
        own = tuple((name, column(relation, name)) for name in names(relation))
        return Project(relation, (*own, *self.outputs.items())) if self.outputs else relation


NOTHING_CARRIED = Carried()


def carried_by(relation: Aggregate, below: State, fresh: Names, catalog: Catalog) -> Carried:
    """What decides the columns of an aggregate of which each group is one unit."""
    sources = {key: key for key in relation.keys}
    sources |= {each.name: each.column for each in relation.aggregations if each.column is not None}
    tests = {name: _tests(source, below) for name, source in sources.items()}
    every = list(dict.fromkeys(each for found in tests.values() for each in found))
    one_row = is_unique(below.relation, relation.keys, catalog)
    if not every:
        return NOTHING_CARRIED
    if len(every) > MOST_BELOW and not one_row:
        return Carried(too_many=True)
    listed = every if one_row else list(cells(every))
    outputs = {fresh.fresh("cell"): each for each in listed}
    aggregations = tuple(Aggregation(fresh.fresh("condition"), "max", each) for each in outputs)
    told = {test: each.name for test, each in zip(listed, aggregations, strict=True)}
    whom = {
        name: tuple(told[each] for each in (found if one_row else listed)) for name, found in tests.items() if found
    }
    known = Derived(union(_items(sources[name], below) for name in whom))
    return Carried(outputs, aggregations, whom, {each.name: known for each in aggregations})


def too_many(single: frozenset[Instance]) -> Items:
    """That more conditions decide about a unit's rows than are told apart."""
    return frozenset(Item(each, None, "floor", detail=f"conditions {MOST_BELOW}") for each in single)


def _tests(source: str, below: State) -> tuple[Expr, ...]:
    """Conditions, never NULL, of which a column's value depends on, and whether it is there."""
    conditions = [positive(column(below.relation, each)) for each in below.columns[source].conditions]
    there = present(column(below.relation, source))
    return tuple(each for each in (*conditions, there) if each != TRUE)


def _items(source: str, below: State) -> Items:
    return union(below.columns[each].items for each in below.columns[source].conditions)

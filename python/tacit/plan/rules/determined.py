"""Keys that other keys determine are no keys of a sort.

A group is told by the keys that determine the others, which are carried: any row of the group has their value. An order
ends where equal rows are equal in all that follows, and a partition needs no column that its others determine. Values
that never repeat within a group are distinct.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.relations import Aggregate, Aggregation, Relation, Sort, SortKey, Window
from tacit.plan.algebra.trees import over_children
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.dependencies import determined, determining
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.rules.push_down import is_local


def drop_determined(relation: Relation, catalog: Catalog) -> Relation:
    """The tree under MPC with no more keys than tell rows apart. What an owner computes stays as it is."""
    if is_local(relation, catalog):
        return relation
    relation = over_children(relation, lambda each: drop_determined(each, catalog))
    match relation:
        case Aggregate(input, keys, aggregations):
            told = tuple(_told(each, relation, catalog) for each in aggregations)
            return replace(relation, aggregations=told, carried=_carried(input, keys, catalog))
        case Sort(input, sort_keys):
            return replace(relation, keys=_needed(input, (), sort_keys, catalog) or sort_keys[:1])
        case Window(input, partition, order):
            needed = _needed(input, partition, order, catalog)
            return replace(relation, partition=determining(input, partition, catalog), order=needed or order[:1])
        case _:
            return relation


def _carried(input: Relation, keys: tuple[str, ...], catalog: Catalog) -> tuple[str, ...]:
    """The keys that others determine. One stays, also of constants: no rows are no group."""
    needed = determining(input, keys, catalog) or keys[:1]
    return tuple(key for key in keys if key not in needed)


def _told(each: Aggregation, relation: Aggregate, catalog: Catalog) -> Aggregation:
    """An aggregate of different values as one of all, where no group has a value twice."""
    if each.column is None or not is_unique(relation.input, (*relation.keys, each.column), catalog):
        return each
    match each.function:
        case "count_distinct":
            return replace(each, function="count")
        case "sum_distinct":
            return replace(each, function="sum")
        case _:
            return each


def _needed(
    input: Relation, known: tuple[str, ...], keys: tuple[SortKey, ...], catalog: Catalog
) -> tuple[SortKey, ...]:
    """The terms of an order that tell rows apart which agree in the known columns and in the terms before."""
    found = list[SortKey]()
    for key in keys:
        if key.column not in determined(input, (*known, *(each.column for each in found)), catalog):
            found.append(key)
    return tuple(found)

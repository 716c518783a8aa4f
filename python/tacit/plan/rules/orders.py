"""Columns in such an order that one sort serves several operators.

Groups come in the order of their keys, and keys may be in any: they are in that of an ORDER BY above by all of them. So
may the columns of a partition: those by which more windows divide the same rows come first, so that these are in the
order of the next window already.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import Aggregate, ColumnRef, Project, Relation, Sort, SortKey, Window
from tacit.plan.algebra.trees import over_children
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names
from tacit.plan.rules.push_down import is_local


def share_orders(relation: Relation, catalog: Catalog) -> Relation:
    """The tree under MPC with keys and partitions in the order that another operator wants."""
    if is_local(relation, catalog):
        return relation
    match relation:
        case Sort(input, keys):
            wanted = tuple(key.column for key in keys if _is_plain(key, input))
            below = _grouped(input, wanted) if len(wanted) == len(keys) else input
            return replace(relation, input=share_orders(below, catalog))
        case Window():
            return _stacked(relation, catalog)
        case _:
            return over_children(relation, lambda each: share_orders(each, catalog))


def _is_plain(key: SortKey, relation: Relation) -> bool:
    """Whether a term is as groups are ordered by a key."""
    return not key.descending and not (key.nulls_first and field_of(relation, key.column).nullable)


def _grouped(relation: Relation, wanted: tuple[str, ...]) -> Relation:
    """A relation whose groups are by the wanted columns in their order, where they are by all of these."""
    match relation:
        case Project(input, outputs):
            sources = dict(outputs)
            below = [sources[name] for name in wanted]
            renamed = tuple(each.name for each in below if isinstance(each, ColumnRef))
            return replace(relation, input=_grouped(input, renamed)) if len(renamed) == len(wanted) else relation
        case Aggregate() if wanted != relation.determining and sorted(wanted) == sorted(relation.determining):
            ordered = (*wanted, *relation.carried)
            changed = replace(relation, keys=ordered, positions=())
            return Project(changed, tuple((each.name, reference(each)) for each in fields(relation)))
        case _:
            return relation


def _stacked(top: Window, catalog: Catalog) -> Relation:
    """Windows over the same rows."""
    stack = _stack(top)
    often = Counter(name for each in stack for name in each.partition)
    changed = share_orders(stack[-1].input, catalog)
    for each in reversed(stack):
        partition = tuple(sorted(each.partition, key=lambda name: (-often[name], names(top).index(name))))
        changed = replace(each, input=changed, partition=partition)
    return changed


def _stack(relation: Relation) -> list[Window]:
    """Windows of which one is over the other."""
    return [relation, *_stack(relation.input)] if isinstance(relation, Window) else []

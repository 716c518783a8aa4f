"""Redundant work that declared uniqueness removes.

DISTINCT over rows that never repeat is a projection. A join of a relation with itself on a unique key pairs each row
with itself, so it is a projection of the rows whose key is not NULL.
"""

from __future__ import annotations

from tacit.plan.algebra.expressions import conjunction, reference
from tacit.plan.algebra.relations import Aggregate, Call, ColumnRef, Filter, Join, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields
from tacit.plan.facts.uniqueness import is_unique


def drop_redundant(relation: Relation, catalog: Catalog) -> Relation:
    """The tree without redundant DISTINCTs and self-joins."""
    relation = over_children(relation, lambda each: drop_redundant(each, catalog))
    match relation:
        case Aggregate(input, keys, ()) if keys and is_unique(input, keys, catalog):
            return Project(input, tuple((key, reference(field_of(input, key))) for key in keys))
        case Join(kept="none"):
            return _self_join(relation, catalog) or relation
        case _:
            return relation


def _self_join(join: Join, catalog: Catalog) -> Relation | None:
    left, right = _renaming(join.left), _renaming(join.right)
    if left[0] != right[0]:
        return None
    base = left[0]
    keys = [(left[1][a], right[1][b]) for a, b in zip(join.left_keys, join.right_keys, strict=True)]
    if any(a != b for a, b in keys) or not is_unique(base, tuple(a for a, _ in keys), catalog):
        return None
    present = [_is_present(reference(field_of(base, key))) for key, _ in keys if field_of(base, key).nullable]
    rows = Filter(base, conjunction(present)) if present else base
    sources = left[1] | right[1]
    return Project(rows, tuple((each.name, reference(field_of(base, sources[each.name]))) for each in fields(join)))


def _renaming(relation: Relation) -> tuple[Relation, dict[str, str]]:
    """What a relation renames: the relation beneath, and output name to its name there."""
    match relation:
        case Project(input, outputs) if all(isinstance(each, ColumnRef) for _, each in outputs):
            return input, {name: each.name for name, each in outputs if isinstance(each, ColumnRef)}
        case _:
            return relation, {each.name: each.name for each in fields(relation)}


def _is_present(column: ColumnRef) -> Call:
    return Call("not", (Call("is_null", (column,), Boolean(), False),), Boolean(), False)

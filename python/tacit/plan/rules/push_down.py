"""Frontier push-down: what one party can compute from its own tables alone leaves MPC.

A subtree of one owner becomes local where tacit.plan.facts.sizes says how many rows of it to share. An aggregation
over a union of owners is split: each owner aggregates its own rows, and MPC aggregates the partial results.
"""

from __future__ import annotations

from tacit.plan.algebra.relations import Aggregate, Relation, Union
from tacit.plan.algebra.trees import over_children, owner
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.sizes import size_rule
from tacit.plan.rules.split import split_aggregate


def push_down(relation: Relation, catalog: Catalog) -> Relation:
    """The tree with as much as possible in subtrees that satisfy is_local."""
    if is_local(relation, catalog):
        return relation
    if isinstance(relation, Aggregate) and isinstance(relation.input, Union):
        relation = split_aggregate(relation, lambda part: is_local(part, catalog), catalog) or relation
    return over_children(relation, lambda each: push_down(each, catalog))


def is_local(relation: Relation, catalog: Catalog) -> bool:
    """Whether a relation is computed by its owner before it enters MPC."""
    return owner(relation) is not None and size_rule(relation, catalog) is not None

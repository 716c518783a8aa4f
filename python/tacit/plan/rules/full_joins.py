"""Full joins that universal ids do not do: then the nodes keep the rows of both sides.

Ids are of two owners' whole tables, and show how many keys match, which both owners have to allow. Every other full
join shows nothing.
"""

from __future__ import annotations

from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import FullJoin, Join, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.facts.catalog import Catalog
from tacit.plan.rules.matching import refuse_full_join
from tacit.plan.rules.push_down import is_local


def settle_full_joins(relation: Relation, catalog: Catalog) -> Relation:
    """The tree with a join that keeps both sides in place of each full join that ids do not do."""
    if is_local(relation, catalog):
        return relation
    relation = over_children(relation, lambda each: settle_full_joins(each, catalog))
    if isinstance(relation, FullJoin) and not _by_ids(relation, catalog):
        sides = (relation.left, relation.right, relation.left_keys, relation.right_keys)
        return Join(*sides, relation.position, "both")
    return relation


def _by_ids(join: FullJoin, catalog: Catalog) -> bool:
    try:
        refuse_full_join(join, catalog)
    except UnsupportedSQL:
        return False
    return True

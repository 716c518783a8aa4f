"""Joins that find a row of one table are done where that table's key is, not on all rows of a later join.

Of ``nation JOIN (customer JOIN lineitem)`` the nation is one of the customer: it is found once for each customer, and
not once for each line. Where both have one owner, the owner finds it alone. A join of a table with few rows costs
little, and so rows of a large one are moved less often.

A join moves only to where it has no more rows. It does not move into a join that may be done by matching, or by one
owner alone, if that may not be done so afterwards. Where its owner would announce how many rows it has, it stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import Join, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names, row_bound
from tacit.plan.facts.sizes import Announced, size_rule
from tacit.plan.rules.matching import is_matchable
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.simplify import shared


def sink_lookups(relation: Relation, catalog: Catalog) -> Relation:
    """The tree with joins where their keys are. What several others read stays as it is."""
    return _Sinking(catalog, shared(relation)).of(relation)


@dataclass(frozen=True)
class _Sinking:
    catalog: Catalog
    shared: frozenset[Relation]

    def of(self, relation: Relation) -> Relation:
        """The same columns, in their order."""
        found = self._changed(relation)
        if names(found) == names(relation):
            return found
        return Project(found, tuple((each.name, reference(each)) for each in fields(relation)))

    def _changed(self, relation: Relation) -> Relation:
        if is_local(relation, self.catalog):
            return relation
        if isinstance(relation, Join) and relation.kept == "none":
            return self._sunk(over_children(relation, self._changed))
        return over_children(relation, self.of)

    def _sunk(self, join: Relation) -> Relation:
        """A join, or what it becomes in a side of the join to its right."""
        assert isinstance(join, Join)
        inner = join.right
        if not isinstance(inner, Join) or inner.kept != "none" or inner in self.shared:
            return join
        keys = [_of_left(inner, key) for key in join.right_keys]
        if None not in keys:
            found = replace(join, right=inner.left, right_keys=tuple(key for key in keys if key is not None))
            moved = replace(inner, left=self._sunk(found))
            if self._has_fewer_rows(found, inner) and self._may(found, inner, moved):
                return moved
        if set(join.right_keys) <= set(names(inner.right)):
            found = replace(join, right=inner.right)
            deeper = self._sunk(found)
            moved = replace(inner, right=deeper)
            if (deeper != found or is_local(found, self.catalog)) and self._may(found, inner, moved):
                return moved
        return join

    def _has_fewer_rows(self, found: Join, inner: Join) -> bool:
        """Whether a join with the left side of another one has no more rows than with that one's."""
        rows, others = row_bound(found.right), row_bound(inner.right)
        return is_local(found, self.catalog) or (rows is not None and others is not None and rows <= others)

    def _may(self, found: Join, inner: Join, moved: Join) -> bool:
        """Whether nothing more is announced, and the other join is done by its owner or by matching as before."""
        catalog = self.catalog
        size = size_rule(found, catalog) if is_local(found, catalog) else None
        announced = isinstance(size, Announced) and not size.source
        alone = not is_local(inner, catalog) or is_local(moved, catalog)
        return not announced and alone and (not is_matchable(inner, catalog) or is_matchable(moved, catalog))


def _of_left(inner: Join, key: str) -> str | None:
    """The column of the left side that a key of a join's rows is, or is equal to."""
    if key in names(inner.left):
        return key
    equal = dict(zip(inner.right_keys, inner.left_keys, strict=True)).get(key)
    if equal is None:
        return None
    types = field_of(inner.left, equal).type, field_of(inner.right, key).type
    return equal if types[0] == types[1] or all(isinstance(each, Integer) for each in types) else None

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
from tacit.plan.algebra.relations import Filter, Join, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names, row_bound
from tacit.plan.facts.sizes import Announced, size_rule
from tacit.plan.rules.matching import is_matchable
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.simplify import shared

SMALL = 8
"""A join costs little beside one that has this many times its rows.

It is done with the left side, even where an owner could do it alone deeper on the right: groups may be by its columns.
"""


def sink_lookups(relation: Relation, catalog: Catalog) -> Relation:
    """The tree with joins where their keys are. What several others read stays as it is."""
    return _Sinking(catalog, set(shared(relation))).of(relation)


@dataclass(frozen=True)
class _Sinking:
    """shared: what several others read, as it was and as it has become."""

    catalog: Catalog
    shared: set[Relation]

    def of(self, relation: Relation) -> Relation:
        """The same columns, in their order."""
        found = self._changed(relation)
        if names(found) == names(relation):
            return found
        return Project(found, tuple((each.name, reference(each)) for each in fields(relation)))

    def _changed(self, relation: Relation) -> Relation:
        found = relation if self._is_alone(relation) else self._moved(relation)
        if relation in self.shared:
            self.shared.add(found)
        return found

    def _moved(self, relation: Relation) -> Relation:
        if isinstance(relation, Join) and _finds_one(relation):
            return self._sunk(replace(relation, left=self.of(relation.left), right=self._changed(relation.right)))
        if isinstance(relation, Filter):
            return replace(relation, input=self._changed(relation.input))
        return over_children(relation, self.of)

    def _sunk(self, join: Join) -> Relation:
        """A join, or what it becomes beneath the conditions and in a side of the join to its right."""
        rows = join.right
        if rows in self.shared:
            return join
        if isinstance(rows, Filter):
            found = replace(join, right=rows.input)
            deeper = self._sunk(found)
            alone = self._is_alone(found) and not self._is_alone(join) and not self._announces(found)
            return replace(rows, input=deeper) if deeper != found or alone else join
        if not isinstance(rows, Join) or not _finds_one(rows):
            return join
        left, right = self._left(join, rows), self._right(join, rows)
        if left is not None and _is_small(join, rows) and not (right is not None and self._is_alone(right.right)):
            return left
        return right or left or join

    def _left(self, join: Join, inner: Join) -> Join | None:
        """The join in the left side of another one, where that has no more rows than the right one."""
        keys = _keys(inner, join.right_keys, inner.left)
        if keys is None or inner.kept == "right":
            return None
        found = replace(join, right=inner.left, right_keys=keys)
        rows, others = row_bound(found.right), row_bound(inner.right)
        fewer = self._is_alone(found) or (rows is not None and others is not None and rows <= others)
        moved = replace(inner, left=self._sunk(found))
        return moved if fewer and self._may(found, inner, moved) else None

    def _right(self, join: Join, inner: Join) -> Join | None:
        """The join in the right side of another one, where its owner does it, or where it comes to fewer rows."""
        keys = _keys(inner, join.right_keys, inner.right)
        if keys is None:
            return None
        found = replace(join, right=inner.right, right_keys=keys)
        deeper = self._sunk(found)
        moved = replace(inner, right=deeper)
        gains = deeper != found or self._is_alone(found)
        return moved if gains and self._may(found, inner, moved) else None

    def _is_alone(self, relation: Relation) -> bool:
        """Whether an owner computes a relation alone."""
        return is_local(relation, self.catalog)

    def _announces(self, found: Join) -> bool:
        """Whether the owner of a join that it computes alone would tell how many rows it has."""
        size = size_rule(found, self.catalog) if self._is_alone(found) else None
        return isinstance(size, Announced) and not size.source

    def _may(self, found: Join, inner: Join, moved: Join) -> bool:
        """Whether nothing more is announced, and the other join is done by its owner or by matching as before."""
        alone = not self._is_alone(inner) or self._is_alone(moved)
        matched = not is_matchable(inner, self.catalog) or is_matchable(moved, self.catalog)
        return alone and matched and not self._announces(found)


def _finds_one(join: Join) -> bool:
    """Whether a join brings at most one row to each row of its right side, and keeps no other."""
    return join.kept in ("none", "right") and join.repeats == 1


def _is_small(join: Join, inner: Join) -> bool:
    """Whether a join with the left side of another one costs little beside that one."""
    rows = [row_bound(each) for each in (join.left, inner.left, inner.right)]
    known = [each for each in rows if each is not None]
    return len(known) == len(rows) and SMALL * (known[0] + known[1]) <= known[2]


def _keys(inner: Join, keys: tuple[str, ...], side: Relation) -> tuple[str, ...] | None:
    """Columns of one side of a join that keys of its rows are, or are equal to; None if some are not."""
    equal: dict[str, str] = {}
    if inner.kept == "none":
        pairs = list(zip(inner.left_keys, inner.right_keys, strict=True))
        equal = {a: b for a, b in (*pairs, *((b, a) for a, b in pairs)) if _same_type(inner, a, b)}
    mine = set(names(side))
    found = [key if key in mine else equal.get(key) for key in keys]
    known = tuple(each for each in found if each is not None and each in mine)
    return known if len(known) == len(keys) else None


def _same_type(inner: Join, one: str, other: str) -> bool:
    types = field_of(inner, one).type, field_of(inner, other).type
    return types[0] == types[1] or all(isinstance(each, Integer) for each in types)

"""Where rows of different keys never meet: a part of a query as the union of what it is of the rows of each key.

A key is the values of some columns of the part. Filters and projections work row by row. Joins, groups, marks and
windows keep keys apart that are among the columns they work by. Beneath them are the leaves: what one owner computes
alone, by columns that have the values of the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import (
    Aggregate,
    ColumnRef,
    Filter,
    Join,
    Literal,
    Mark,
    Project,
    Relation,
    Union,
    Window,
)
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import fields, names

Keys = tuple[str, ...]
FALSE = Literal(False, Boolean())


class Undivided(Exception):
    """Rows of different keys meet."""


@dataclass(frozen=True)
class Division:
    """A part of a query over other leaves.

    is_leaf: whether a relation with these key columns is one. leaf: what takes its place; None for no rows.
    """

    is_leaf: Callable[[Relation, Keys], bool]
    leaf: Callable[[Relation, Keys], Relation | None]

    def of(self, relation: Relation, keys: Keys) -> Relation | None:
        """The part over what takes the place of its leaves; None if that has no rows. Raises Undivided."""
        if self.is_leaf(relation, keys):
            return self.leaf(relation, keys)
        match relation:
            case Filter(input):
                return self._over(relation, input, keys)
            case Project(input, outputs):
                return self._over(relation, input, _sources(outputs, keys))
            case Aggregate(input, by, _) if set(keys) <= set(by):
                return self._over(relation, input, keys)
            case Window(input, by) if set(keys) <= set(by):
                return self._over(relation, input, keys)
            case Union(inputs):
                return self._union(inputs, keys)
            case Mark():
                return self._mark(relation, keys)
            case Join():
                return self._join(relation, keys)
            case _:
                raise Undivided

    def _over(self, relation: Filter | Project | Aggregate | Window, input: Relation, keys: Keys) -> Relation | None:
        below = self.of(input, keys)
        return None if below is None else replace(relation, input=below)

    def _union(self, inputs: tuple[Relation, ...], keys: Keys) -> Relation | None:
        found = [each for each in (self.of(input, keys) for input in inputs) if each is not None]
        if len(found) < 2:
            return found[0] if found else None
        return Union(tuple(found))

    def _mark(self, mark: Mark, keys: Keys) -> Relation | None:
        own, its = _paired(keys, mark.input_keys, mark.choice_keys)
        input, choices = self.of(mark.input, own), self.of(mark.choices, its)
        if input is None:
            return None
        if choices is None:
            return _beside(input, ((mark.name, FALSE),))
        return replace(mark, input=input, choices=choices)

    def _join(self, join: Join, keys: Keys) -> Relation | None:
        """Without rows of one side those of the other stay that the join keeps."""
        if join.kept == "both" or (join.kept != "none" and not set(keys) <= set(names(_kept(join)))):
            raise Undivided  # a key that is NULL beside rows without a match is not that of these rows
        mine, its = _paired(keys, (*join.left_keys, *join.right_keys), (*join.right_keys, *join.left_keys))
        sides = [
            tuple(own if own in names(side) else other for own, other in zip(mine, its, strict=True))
            for side in (join.left, join.right)
        ]
        left, right = self.of(join.left, sides[0]), self.of(join.right, sides[1])
        if left is not None and right is not None:
            return replace(join, left=left, right=right)
        nulls = {each.name: Literal(None, each.type) for each in fields(join)}
        if left is not None and join.keeps_left:
            return Project(left, tuple((each, _column(left, each) or nulls[each]) for each in names(join)))
        if right is not None and join.keeps_right:
            return Project(right, tuple((each, _column(right, each) or nulls[each]) for each in names(join)))
        return None


def _kept(join: Join) -> Relation:
    return join.left if join.keeps_left else join.right


def _sources(outputs: tuple[tuple[str, object], ...], keys: Keys) -> Keys:
    """The columns that keys are copies of. Raises Undivided."""
    found = [dict(outputs)[key] for key in keys]
    sources = tuple(each.name for each in found if isinstance(each, ColumnRef))
    if len(sources) < len(keys):
        raise Undivided
    return sources


def _paired(keys: Keys, mine: Keys, its: Keys) -> tuple[Keys, Keys]:
    """Keys with those that a join or mark compares them with. Raises Undivided."""
    if not set(keys) <= set(mine):
        raise Undivided
    return keys, tuple(its[mine.index(key)] for key in keys)


def _column(relation: Relation, name: str) -> ColumnRef | None:
    return next((reference(each) for each in fields(relation) if each.name == name), None)


def _beside(input: Relation, more: tuple[tuple[str, Literal], ...]) -> Relation:
    return Project(input, (*((each.name, reference(each)) for each in fields(input)), *more))

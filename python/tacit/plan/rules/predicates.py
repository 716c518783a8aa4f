"""Predicate push-down: every condition moves towards the tables as far as it can.

A condition passes projections (its columns become their expressions), unions (into every input) and sorts. It passes
the input of a broadcast or a mark, the side of a join that has all its columns, and an aggregation if it uses only
group keys. It passes a window if it uses only what the rows of a partition agree in. It stops at a limit, and where its
columns are NULL beside rows that a join keeps. It stops above groups of several owners' rows that others read, too:
beneath these it would make other groups, and all of them would be computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import conjunction, conjuncts, substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Expr,
    Filter,
    Join,
    Literal,
    Mark,
    Pairs,
    Project,
    Relation,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children, over_children, owner
from tacit.plan.facts.fields import columns_of, names
from tacit.plan.rules.simplify import shared


def push_predicates(relation: Relation) -> Relation:
    """The tree with all filters pushed down."""
    return _Sinking(frozenset(filter(_has_groups_of_several, shared(relation)))).sink(relation, [])


def _has_groups_of_several(relation: Relation) -> bool:
    """Whether groups of several owners' rows are beneath."""
    if isinstance(relation, Aggregate) and owner(relation) is None:
        return True
    return any(map(_has_groups_of_several, children(relation)))


@dataclass(frozen=True)
class _Sinking:
    """groups: what several others read of the groups of several owners' rows."""

    groups: frozenset[Relation]

    def sink(self, relation: Relation, conditions: list[Expr]) -> Relation:
        """A relation with conditions on it, as far down as they can be."""
        if conditions and relation in self.groups:
            return _kept(self.sink(relation, []), conditions)
        return self._sunk(relation, conditions)

    def _sunk(self, relation: Relation, conditions: list[Expr]) -> Relation:
        match relation:
            case Filter(input, predicate):
                return self.sink(input, conditions + conjuncts(predicate))
            case Project(input, outputs):
                return Project(self.sink(input, [substitute(each, dict(outputs)) for each in conditions]), outputs)
            case Sort(input, keys):
                return Sort(self.sink(input, conditions), keys)
            case Union(inputs):
                return Union(tuple(self.sink(each, conditions) for each in inputs))
            case Join(left, right):
                mine, rest = _using(conditions, () if relation.keeps_right else names(left))
                its, rest = _using(rest, () if relation.keeps_left else names(right))
                return _kept(replace(relation, left=self.sink(left, mine), right=self.sink(right, its)), rest)
            case Pairs(left, right):
                mine, rest = _using(conditions, names(left))
                its, rest = _using(rest, names(right))
                return _kept(replace(relation, left=self.sink(left, mine), right=self.sink(right, its)), rest)
            case Mark(input, choices):
                mine, rest = _using(conditions, names(input))
                return _kept(replace(relation, input=self.sink(input, mine), choices=self.sink(choices, [])), rest)
            case Broadcast(input, scalar):
                mine, rest = _using(conditions, names(input))
                return _kept(Broadcast(self.sink(input, mine), self.sink(scalar, [])), rest)
            case Window(input, partition):
                mine, rest = _using(conditions, partition)
                return _kept(replace(relation, input=self.sink(input, mine)), rest)
            case Aggregate(input, keys, aggregations):
                mine, rest = _using(conditions, keys)
                return _kept(Aggregate(self.sink(input, mine), keys, aggregations), rest)
            case _:
                return _kept(over_children(relation, lambda each: self.sink(each, [])), conditions)


def _using(conditions: list[Expr], columns: tuple[str, ...]) -> tuple[list[Expr], list[Expr]]:
    """Conditions that use some of these columns and no others; and the rest."""
    mine = [each for each in conditions if columns_of(each) and columns_of(each) <= set(columns)]
    return mine, [each for each in conditions if each not in mine]


def _kept(relation: Relation, conditions: list[Expr]) -> Relation:
    unmet = [each for each in conditions if not (isinstance(each, Literal) and each.value is True)]
    return Filter(relation, conjunction(unmet)) if unmet else relation

"""Predicate push-down: every condition moves towards the tables as far as it can.

A condition passes projections (its columns become their expressions), unions (into every input) and sorts. It passes
the input of a broadcast or a mark, the side of a join that has all its columns, and an aggregation if it uses only
group keys. It passes a window if it uses only what the rows of a partition agree in. It stops at a limit, and where its
columns are NULL beside rows that a join keeps.
"""

from __future__ import annotations

from dataclasses import replace

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
from tacit.plan.algebra.trees import over_children
from tacit.plan.facts.fields import columns_of, names


def push_predicates(relation: Relation) -> Relation:
    """The tree with all filters pushed down."""
    return _sink(relation, [])


def _sink(relation: Relation, conditions: list[Expr]) -> Relation:
    match relation:
        case Filter(input, predicate):
            return _sink(input, conditions + conjuncts(predicate))
        case Project(input, outputs):
            return Project(_sink(input, [substitute(each, dict(outputs)) for each in conditions]), outputs)
        case Sort(input, keys):
            return Sort(_sink(input, conditions), keys)
        case Union(inputs):
            return Union(tuple(_sink(each, conditions) for each in inputs))
        case Join(left, right):
            mine, rest = _using(conditions, () if relation.keeps_right else names(left))
            its, rest = _using(rest, () if relation.keeps_left else names(right))
            return _kept(replace(relation, left=_sink(left, mine), right=_sink(right, its)), rest)
        case Pairs(left, right):
            mine, rest = _using(conditions, names(left))
            its, rest = _using(rest, names(right))
            return _kept(replace(relation, left=_sink(left, mine), right=_sink(right, its)), rest)
        case Mark(input, choices):
            mine, rest = _using(conditions, names(input))
            return _kept(replace(relation, input=_sink(input, mine), choices=_sink(choices, [])), rest)
        case Broadcast(input, scalar):
            mine, rest = _using(conditions, names(input))
            return _kept(Broadcast(_sink(input, mine), _sink(scalar, [])), rest)
        case Window(input, partition):
            mine, rest = _using(conditions, partition)
            return _kept(replace(relation, input=_sink(input, mine)), rest)
        case Aggregate(input, keys, aggregations):
            mine, rest = _using(conditions, keys)
            return _kept(Aggregate(_sink(input, mine), keys, aggregations), rest)
        case _:
            return _kept(over_children(relation, push_predicates), conditions)


def _using(conditions: list[Expr], columns: tuple[str, ...]) -> tuple[list[Expr], list[Expr]]:
    """Conditions that use some of these columns and no others; and the rest."""
    mine = [each for each in conditions if columns_of(each) and columns_of(each) <= set(columns)]
    return mine, [each for each in conditions if each not in mine]


def _kept(relation: Relation, conditions: list[Expr]) -> Relation:
    unmet = [each for each in conditions if not (isinstance(each, Literal) and each.value is True)]
    return Filter(relation, conjunction(unmet)) if unmet else relation

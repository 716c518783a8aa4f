"""Grouping sets over rows that several owners decide, as sums of the groups that the finest set shows.

A guard on each set would not do: a total less the groups that are shown is what the small groups hold, perhaps one
unit. No owner sees all of these rows, so that none can hold the sets against each other. So one guard stands above the
groups by all keys. All other sets add up what it shows. Whoever gets the answer could do that alone: the sets tell no
more than the finest one, whatever is subtracted from what. That holds for sets that overlap, too, as those of CUBE do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tacit.plan.algebra import whole
from tacit.plan.algebra.expressions import joined, reference
from tacit.plan.algebra.relations import (
    Aggregate,
    AggregateFunction,
    Aggregation,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Literal,
    Pairs,
    Project,
    Relation,
    Union,
)
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean, Field, Integer
from tacit.plan.facts.fields import field_of, fields, names

ADDED: dict[AggregateFunction, AggregateFunction] = {
    "count": "sum",
    "count_rows": "sum",
    "sum": "sum",
    "min": "min",
    "max": "max",
}
"""What makes an aggregate of groups from that of their parts."""


@dataclass(frozen=True)
class _Set:
    """A grouping set as it is bound: its groups, with NULL for the keys that it lacks."""

    groups: Aggregate
    outputs: tuple[tuple[str, Expr], ...]


def with_sums_of_groups(relation: Relation, party: str) -> Relation:
    """The query with all grouping sets made of the finest one, where all aggregates follow from that. Others stay.

    party: who would compute the numbers of the sets, which everybody knows.
    """
    if isinstance(relation, Union) and (sets := _sets(relation)):
        return _summed(relation, sets, party)
    return over_children(relation, lambda each: with_sums_of_groups(each, party))


def _sets(union: Union) -> tuple[_Set, ...]:
    """The grouping sets that a union is of; none of another one, or where one does not follow from the finest.

    The finest one has to be among them: an owner's agent, which compares groups by its own keys, sees the groups whose
    sums the others are.
    """
    found = []
    for each in union.inputs:
        match each:
            case Project(Aggregate() as groups, outputs) if all(_is_itself(*output) for output in outputs):
                found.append(_Set(groups, outputs))
            case _:
                return ()
    first = found[0].groups
    alike = all((each.groups.input, each.groups.aggregations) == (first.input, first.aggregations) for each in found)
    added = all(each.function in ADDED for each in first.aggregations)
    keys = {key for each in found for key in each.groups.keys}
    finest = any({*each.groups.keys} == keys for each in found)
    return tuple(found) if len(found) > 1 and alike and added and finest and keys else ()


def _is_itself(name: str, value: Expr) -> bool:
    """Whether an output is a column under its own name, or a constant: NULL, or what GROUPING says."""
    return isinstance(value, Literal) or (isinstance(value, ColumnRef) and value.name == name)


def _summed(union: Union, sets: Sequence[_Set], party: str) -> Relation:
    first = sets[0].groups
    keys = tuple(dict.fromkeys(key for each in sets for key in each.groups.keys))
    places = {key: place for each in sets for key, place in zip(each.groups.keys, each.groups.positions, strict=False)}
    fine = Aggregate(first.input, keys, first.aggregations, tuple(places.get(key) for key in keys))
    level = _unused({*names(fine), *(name for name, _ in sets[0].outputs)})
    last = len(sets) - 1
    number = Field(level, Integer(0, last, "INTEGER"), False)
    listed = Constants(tuple((Literal(each, number.type),) for each in range(last + 1)), (number,), party)
    rows = Pairs(fine, listed)
    outputs: list[tuple[str, Expr]] = [(level, reference(number))]
    for key in keys:
        lacking = [at for at, each in enumerate(sets) if key not in each.groups.keys]
        outputs.append((key, _null_in(lacking, reference(field_of(fine, key)), reference(number))))
    outputs += [(each.name, reference(field_of(fine, each.name))) for each in fine.aggregations]
    sums = tuple(
        Aggregation(
            each.name,
            ADDED[each.function],
            each.name,
            Field(each.name, field_of(fine, each.name).type, True),
            each.position,
        )
        for each in fine.aggregations
    )
    groups = Aggregate(Project(rows, tuple(outputs)), (level, *keys), sums, (None, *fine.positions))
    return Project(groups, tuple((each.name, _shown(each, sets, groups, level)) for each in fields(union)))


def _shown(output: Field, sets: Sequence[_Set], groups: Aggregate, level: str) -> Expr:
    """An output: a key, an aggregate, or what GROUPING says, which each set has its own constant for."""
    if output.name in names(groups):
        return reference(field_of(groups, output.name))
    found = [dict(each.outputs)[output.name] for each in sets]
    column = reference(field_of(groups, level))
    return reduce(
        lambda rest, at: Call("if", (_is(column, at), found[at], rest), output.type, output.nullable),
        range(len(found) - 1),
        found[-1],
    )


def _null_in(levels: Sequence[int], value: ColumnRef, level: ColumnRef) -> Expr:
    if not levels:
        return value
    tests = joined("or", [_is(level, each) for each in levels])
    return Call("if", (tests, Literal(None, value.type), value), value.type, True)


def _is(level: ColumnRef, number: int) -> Call:
    return Call("eq", (level, whole.number(number)), Boolean(), False)


def _unused(taken: set[str]) -> str:
    known, number = {each.lower() for each in taken}, 1
    while f"level_{number}" in known:
        number += 1
    return f"level_{number}"

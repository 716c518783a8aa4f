"""UNION ALL: each row is one of one input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import permutations, product

from tacit.plan.algebra.relations import Expr, Literal, Project, Relation, Union
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import column, names
from tacit.plan.policy.names import Names
from tacit.plan.policy.offers import knows
from tacit.plan.policy.state import NO_COPIES, Derived, Instance, Item, Items, State, union

FALSE = Literal(False, Boolean())


def united(visible: tuple[str, ...], parts: Sequence[State], recipients: tuple[str, ...], fresh: Names) -> State:
    """The state of a union. A constant in one input tells which rows are its own: recipients know those of their tables
    and those that they are shown."""
    conditions = {name: _conditions(name, parts, fresh) for name in visible}
    known = frozenset(Item(each, None, "count") for part in parts for each in part.one if each.owner in recipients)
    seen = frozenset(
        Item(each, None, "count")
        for part in parts
        for each in part.one | part.many
        if each in part.many or any(knows(each.table, None, who) for who in recipients)
    )
    columns = {
        name: _either([each.columns[name] for each in parts], known, seen, conditions[name], hidden=not seen)
        for name in visible
    }
    for name, hidden in conditions.items():
        for place, each in enumerate(hidden):
            tests = [part.columns[part.columns[name].conditions[place]] for part in parts if _has(part, name, place)]
            columns[each] = Derived(union(found.items for found in tests))
    whole = reduce(together, parts)
    whole = replace(whole, apart=whole.apart | _apart(parts))
    return replace(whole, relation=Union(tuple(_aligned(each, conditions) for each in parts)), columns=columns)


def together(one: State, other: State) -> State:
    """What two relations expose together; the first one's relation and columns stand."""
    return replace(
        one,
        rows=union([one.rows, other.rows]),
        one=one.one | other.one,
        many=one.many | other.many,
        beside=one.beside | other.beside,
        apart=one.apart | other.apart,
        limited=one.limited | other.limited,
        repeated={**one.repeated, **other.repeated},
        identity=one.identity | other.identity,
        units=one.units | other.units,
        whole=one.whole | other.whole,
        equal=one.equal | other.equal,
        met=one.met | other.met,
        compared=one.compared | other.compared,
        read=one.read | other.read,
        branched=one.branched | other.branched,
        guards=(*one.guards, *other.guards),
        sums=(*one.sums, *other.sums),
    )


def _apart(parts: Sequence[State]) -> frozenset[tuple[Instance, Instance]]:
    """Instances in different inputs, both ways."""
    return frozenset(
        (a, b) for one, other in permutations(parts, 2) for a, b in product(one.one | one.many, other.one | other.many)
    )


def _conditions(name: str, parts: Sequence[State], fresh: Names) -> tuple[str, ...]:
    """New names for conditions that decide a column, as many as any input has."""
    most = max(len(each.columns[name].conditions) for each in parts)
    return tuple(fresh.fresh("condition") for _ in range(most))


def _has(part: State, name: str, place: int) -> bool:
    return place < len(part.columns[name].conditions)


def _either(
    parts: Sequence[Derived], known: Items, seen: Items, conditions: tuple[str, ...], *, hidden: bool
) -> Derived:
    """known: rows of recipients' own. seen: rows that recipients are shown, so that a constant in them is a weight.

    hidden: no recipient knows any of the rows, so that none has chosen which column stands beside which.
    """
    told = any(each.told for each in parts)
    return Derived(
        union([*(each.items for each in parts), known, seen if told else frozenset()]),
        all(each.linear for each in parts),
        copies=frozenset().union(*(each.copies for each in parts))
        if hidden and all(each.copies for each in parts)
        else NO_COPIES,
        copied=all(each.copied for each in parts),
        atoms=frozenset().union(*(each.atoms for each in parts)),
        conditions=conditions,
        told=told,
        mixed=len(parts) > 1,
        moved=len(parts) > 1,
        optional=frozenset().union(*(each.optional for each in parts)),
        branched=frozenset().union(*(each.branched for each in parts)),
        keyed=frozenset().union(*(each.keyed for each in parts)),
        tested=frozenset().union(*(each.tested for each in parts)),
        blended=any(each.blended for each in parts) or len({each.optional for each in parts}) > 1,
    )


def _aligned(part: State, conditions: dict[str, tuple[str, ...]]) -> Relation:
    """An input with the visible columns and the conditions; those that it has not are FALSE."""
    if names(part.relation) == tuple(conditions) and not any(conditions.values()):
        return part.relation
    outputs: list[tuple[str, Expr]] = [(name, column(part.relation, name)) for name in conditions]
    for name, hidden in conditions.items():
        own = part.columns[name].conditions
        outputs += [
            (each, column(part.relation, own[place]) if place < len(own) else FALSE)
            for place, each in enumerate(hidden)
        ]
    return Project(part.relation, tuple(outputs))

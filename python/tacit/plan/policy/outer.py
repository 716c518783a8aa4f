"""Joins that keep rows without a match, marks, pairs, and joins whose keys repeat on both sides.

A side is free if none of its rows is a single one of a table whose owner's rules bind the query. What a guard has
counted, and what recipients may see, they can compute with themselves. Where both sides are free nobody is told of.

Beside rows that all stay, a free side tells as much as a table with a row for each key in an inner join. Recipients
could have written that table, so the rules of inner joins hold. They need not know all keys, though: so guards count
those who match, and those who do not. Another side, of which rows may be left out, would tell which of its units are
missing. Nothing counts these, and its owner refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Join, Mark, Pairs
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.expressions import placed
from tacit.plan.policy.joined import by_matches, met, met_by, repeating_left, sides_of
from tacit.plan.policy.offers import protected, wholly_open
from tacit.plan.policy.state import NO_COPIES, Derived, Instance, Item, Items, State, selected, union
from tacit.plan.policy.united import together


def outer(relation: Join, left: State, right: State, catalog: Catalog, recipients: tuple[str, ...]) -> State:
    """A join that keeps rows: columns are NULL where there is no match, and so tell of the rows of both sides."""
    pairs = [(left.columns[a], right.columns[b]) for a, b in zip(relation.left_keys, relation.right_keys, strict=True)]
    keys = _keys(pairs, left, right, recipients, relation.position)
    loose = [side for side, stays in ((left, relation.keeps_left), (right, relation.keeps_right)) if not stays]
    absent = _absent(loose or [left, right], recipients, relation.position)
    whole = _beside(left, right, union([keys, absent]), pairs)
    told = [(left, relation.keeps_right), (right, relation.keeps_left)]
    match = _match(whole, recipients)
    columns = {
        name: _telling(each, whole.rows, match) if optional else each
        for side, optional in told
        for name, each in side.columns.items()
    }
    whole = replace(whole, relation=replace(relation, left=left.relation, right=right.relation), columns=columns)
    if is_unique(relation.right, relation.right_keys, catalog):
        return whole
    return repeating_left(whole, left, right, recipients)


def multiplied(relation: Join, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """A join whose keys repeat on both sides. Each row of either side is there as often as it has partners."""
    pairs = [(left.columns[a], right.columns[b]) for a, b in zip(relation.left_keys, relation.right_keys, strict=True)]
    keys = _keys(pairs, left, right, recipients, relation.position)
    instances = left.one | left.many | right.one | right.many
    refused = _refused(instances, "many", recipients, relation.position)
    whole = _beside(left, right, union([keys, refused]), pairs)
    told = [(left, relation.keeps_right), (right, relation.keeps_left)]
    columns = {
        name: _telling(each, whole.rows, _match(whole, recipients)) if optional else each
        for side, optional in told
        for name, each in side.columns.items()
    }
    relation = replace(relation, left=left.relation, right=right.relation)
    return replace(whole, relation=relation, columns=columns)


def marked(relation: Mark, input: State, choices: State, recipients: tuple[str, ...]) -> State:
    """The rows of input. The mark tells of the rows of choices. It is a condition, which decides who contributes."""
    keys = zip(relation.input_keys, relation.choice_keys, strict=True)
    pairs = [(input.columns[a], choices.columns[b]) for a, b in keys]
    found = _keys(pairs, input, choices, recipients, relation.position)
    whole = _beside(input, choices, union([found, _absent([choices], recipients, relation.position)]), pairs)
    relation = replace(relation, input=input.relation, choices=choices.relation)
    mark = Derived(
        _tested(whole.rows, choices), conditions=(relation.name,), moved=True, optional=_match(whole, recipients)
    )
    return replace(whole, relation=relation, columns={**input.columns, relation.name: mark}, identity=input.identity)


def paired(relation: Pairs, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """Every row of each side is there as often as the other side has rows."""
    whole = _beside(left, right, _absent([left, right], recipients, relation.position))
    relation = replace(relation, left=left.relation, right=right.relation)
    return replace(whole, relation=relation, columns={**left.columns, **right.columns})


def bound(instances: frozenset[Instance], recipients: tuple[str, ...]) -> frozenset[Instance]:
    """Those of which owners' rules bind the query, and recipients may not see all."""
    ruled = (each for each in instances if protected(each.table, recipients))
    return frozenset(each for each in ruled if not wholly_open(each.table, recipients))


def _beside(one: State, other: State, more: Items, keys: Sequence[tuple[Derived, Derived]] = ()) -> State:
    """Rows of all instances may be repeated: what joins with them later is repeated by each of them."""
    whole = together(one, other)
    beside = whole.beside | frozenset(sides_of(one, other)) | frozenset(sides_of(other, one))
    return met_by(replace(whole, rows=union([whole.rows, more, selected(whole)]), beside=beside), keys)


def _keys(
    pairs: list[tuple[Derived, Derived]], one: State, other: State, recipients: tuple[str, ...], place: Position | None
) -> Items:
    matches = by_matches([each for pair in pairs for each in pair], together(one, other))
    return placed(union([matches, *(met(a, b, one, other, recipients) for a, b in pairs)]), place)


def _telling(column: Derived, rows: Items, match: frozenset[str]) -> Derived:
    """A column that is NULL beside rows without a match."""
    return replace(
        column,
        items=union([column.items, rows]),
        copies=NO_COPIES,
        constant=False,
        moved=True,
        optional=column.optional | match,
    )


def _match(whole: State, recipients: tuple[str, ...]) -> frozenset[str]:
    """A name of a match that no other one has, where it tells of single rows. Each has an instance more beneath."""
    numbers = sorted(each.number for each in whole.one | whole.many)
    return frozenset({" ".join(map(str, numbers))} if bound(whole.one, recipients) else ())


def _tested(rows: Items, choices: State) -> Items:
    """What decides a mark: of choices it tells a bit, and no value that could be a weight."""
    return frozenset(
        replace(each, role="filter") if each.instance in choices.one and each.role in ("value", "join") else each
        for each in rows
    )


def _absent(loose: list[State], recipients: tuple[str, ...], position: Position | None) -> Items:
    """The tables of which units would be told that are not there. loose: sides of which not all rows stay."""
    instances = frozenset(each for side in loose for each in side.one)
    return _refused(instances, "absent", recipients, position)


def _refused(instances: frozenset[Instance], why: str, recipients: tuple[str, ...], position: Position | None) -> Items:
    closed = bound(instances, recipients)
    return frozenset(Item(each, None, "floor", detail=why, position=position) for each in closed)

"""Joins: which columns meet, whose rows repeat, and who learns which rows match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from tacit.plan.algebra.relations import Broadcast, FullJoin, Join
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.chosen import compared, multipliers, read_together
from tacit.plan.policy.exposure import terms_of
from tacit.plan.policy.expressions import Expressions, met_names, placed, turned
from tacit.plan.policy.offers import protected
from tacit.plan.policy.state import NO_COPIES, NOTHING, Atom, Derived, Instance, Item, Items, State, selected, union
from tacit.plan.policy.united import together


def joined(
    relation: Join | FullJoin, left: State, right: State, catalog: Catalog, recipients: tuple[str, ...]
) -> State:
    """The state of a join, whose left side has unique keys."""
    pairs = [(left.columns[a], right.columns[b]) for a, b in zip(relation.left_keys, relation.right_keys, strict=True)]
    keys = union(placed(met(a, b, left, right, recipients), relation.position) for a, b in pairs)
    whole = together(left, right)
    whole = replace(
        whole,
        relation=replace(relation, left=left.relation, right=right.relation),
        columns=_columns(left, right, mixed=any(each.mixed for pair in pairs for each in pair)),
        rows=union([whole.rows, keys, selected(whole)]),
        beside=whole.beside | frozenset(sides_of(left, right)) | frozenset(sides_of(right, left)),
    )
    matches = by_matches([each for pair in pairs for each in pair], whole)
    whole = met_by(replace(whole, rows=union([whole.rows, matches])), pairs)
    if isinstance(relation, FullJoin):
        return _optional(whole, left, right, recipients)
    whole = replace(whole, equal=whole.equal | copies(pair for pair in pairs if pair[0].plain and pair[1].plain))
    if is_unique(relation.right, relation.right_keys, catalog):
        return whole
    return repeating_left(whole, left, right, recipients)


def met_by(state: State, pairs: Sequence[tuple[Derived, Derived]]) -> State:
    """The state of a join by keys, of rows that may stay without a match."""
    return replace(
        state,
        met=state.met | copies(pairs),
        compared=state.compared.union(*(compared(each) for each in pairs if not (each[0].copies and each[1].copies))),
        read=state.read.union(*map(read_together, pairs)),
        branched=state.branched.union(*(each.branched for pair in pairs for each in pair)),
    )


def copies(pairs: Iterable[tuple[Derived, Derived]]) -> frozenset[tuple[Atom, Atom]]:
    """The columns of tables that keys of joins are unchanged copies of. Computed keys are chosen by who computes."""
    return frozenset(pair for a, b in pairs for pair in product(a.copies, b.copies))


def repeating_left(whole: State, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """The state of a join in which rows of the left side may have several partners."""
    more = {
        each: left.repeated.get(each, frozenset()) | multipliers(each, right, whole, recipients) for each in left.one
    }
    return replace(whole, identity=right.identity, repeated={**whole.repeated, **more})


def by_matches(keys: Iterable[Derived], state: State) -> Items:
    """The instances of single rows of which a key takes those that have a match elsewhere, or those that have none."""
    found = state.one if any(each.optional for each in keys) else frozenset[Instance]()
    return frozenset(Item(each, None, "floor", detail="absent") for each in found)


def _columns(left: State, right: State, *, mixed: bool) -> dict[str, Derived]:
    """Both sides' columns. mixed: rows of several inputs of a union meet the same row of the other side."""
    whole = {**left.columns, **right.columns}
    return {name: replace(each, mixed=True) for name, each in whole.items()} if mixed else whole


def broadcast(input: State, scalar: State, recipients: tuple[str, ...]) -> State:
    """The scalar is one row whatever the data, so that what decided its rows is in its value alone.

    What its recipient computes alone is a constant to everybody, as if it stood in the question.
    """
    columns = {
        name: replace(
            each,
            items=_foreign(union([each.items, scalar.rows]), recipients),
            constant=True,
            copies=NO_COPIES,
            told=True,
        )
        for name, each in scalar.columns.items()
    }
    whole = together(input, scalar)
    relation = Broadcast(input.relation, scalar.relation)
    return replace(
        whole, relation=relation, columns={**input.columns, **columns}, rows=input.rows, identity=input.identity
    )


def _foreign(items: Items, recipients: tuple[str, ...]) -> Items:
    return frozenset(each for each in items if protected(each.instance.table, recipients))


def sides_of(one: State, other: State) -> Iterable[tuple[Instance, Instance]]:
    """Pairs of one side's instances with those of single rows of the other."""
    return product(one.one | one.many, other.one)


def met(a: Derived, b: Derived, left: State, right: State, recipients: tuple[str, ...]) -> Items:
    """Both sides of an equality of keys, and which owner does not allow its column to meet the other."""
    sides = [_as_keys(each.items, state) for each, state in ((a, left), (b, right))]
    tested = _as_tested(a, b, left, recipients), _as_tested(b, a, right, recipients)
    return union([*sides, *tested, _strangers(a, b, recipients), _strangers(b, a, recipients)])


def _as_tested(one: Derived, other: Derived, state: State, recipients: tuple[str, ...]) -> Items:
    """To join with computed values is to compare with constants. Own tables may have any values."""
    own = any(
        each.instance.owner in recipients and not protected(each.instance.table, recipients) for each in other.items
    )
    if own or (one.copied and other.copied and not other.told):
        return NOTHING
    tested = turned(one.items, state.one, ("value", "aggregate"), "filter")
    return union([tested, Expressions(state, recipients).closed_to(one)])


def _as_keys(items: Items, state: State) -> Items:
    """Values of single rows become keys of joins; keys of groups are not shown by it."""
    single = turned(items, state.one, ("value", "aggregate"), "join")
    return turned(single, state.many, ("group",), "distinct")


MEETING: Final = ("value", "group", "aggregate")
"""Roles of a column whose values meet others."""


def _strangers(one: Derived, other: Derived, recipients: tuple[str, ...]) -> Items:
    """Columns whose owner does not let them meet the other side, or what they are computed with on their own."""
    found: set[Item] = set()
    for each in one.items:
        if each.column is None or each.role not in MEETING or not protected(each.instance.table, recipients):
            continue
        beside = frozenset(item for item in one.items if item.instance != each.instance)
        met = sorted(met_names(other.items | beside))
        partners = terms_of(each.instance.table, each.column).partners
        missing = [] if partners is None else [name for name in met if name not in partners]
        found |= {replace(each, role="with", function=None, detail=name) for name in missing[:1]}
    return frozenset(found)


def _optional(whole: State, left: State, right: State, recipients: tuple[str, ...]) -> State:
    """Of a full join: columns are NULL beside rows without a partner, so that they tell which rows have one.

    Owners learn the number of their common keys, and who compares learns which keys miss: both need ``matches``.
    """
    columns = {
        name: replace(each, items=union([each.items, whole.rows]), copies=NO_COPIES, constant=False)
        for name, each in whole.columns.items()
    }
    pairs = [*sides_of(left, right), *sides_of(right, left)]
    told = frozenset(
        Item(mine, None, "matches", detail=other.owner)
        for mine, other in pairs
        if mine.owner != other.owner and protected(mine.table, recipients) and not _may_match(mine, other, recipients)
    )
    return replace(whole, columns=columns, rows=union([whole.rows, told]))


def _may_match(mine: Instance, other: Instance, recipients: tuple[str, ...]) -> bool:
    terms = mine.table.terms
    return terms is not None and {other.owner, *recipients} - {mine.owner} <= terms.matches

"""GROUP BY: per unit it changes nothing of what a row tells; else a guard counts the units of each group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Aggregate, Aggregation, FullJoin, Join, KeptScan, Relation, Scan, Union
from tacit.plan.algebra.trees import children
from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.aggregated import Ruled, aggregated, averaged, matched_by_union, squared
from tacit.plan.policy.carried import NOTHING_CARRIED, Carried, carried_by, too_many
from tacit.plan.policy.chosen import atoms_of, left_out, whole_units
from tacit.plan.policy.determined import determined_by, determines, units_named
from tacit.plan.policy.exposure import floor_of
from tacit.plan.policy.expressions import placed, turned
from tacit.plan.policy.guarding import guard_of, uncountable, unknown_to
from tacit.plan.policy.guards import Guard
from tacit.plan.policy.names import Names
from tacit.plan.policy.offers import knows, partly_open, protected, shown
from tacit.plan.policy.overflows import sums_beyond_bounds
from tacit.plan.policy.padding import is_padded
from tacit.plan.policy.repeated import repeating
from tacit.plan.policy.state import NOTHING, Derived, Instance, Item, Items, State, Sums, ordered, selected, union

DECIDING: Final = ("filter", "join", "distinct", "sort", "group", "aggregate")
"""Roles of a column by which it decides a value, or which rows there are."""
REFUSED: Final = ("floor", "window")
"""Roles of what is refused of rows anyway, for a reason that says more."""


@dataclass(frozen=True)
class Groups:
    """How an aggregate treats the instances beneath. single: its groups have one unit of each at most.

    merged: a guard counts their units. relation: the aggregate over the input as it was built anew.
    """

    relation: Aggregate
    below: State
    single: frozenset[Instance]
    merged: frozenset[Instance]
    recipients: tuple[str, ...]

    @property
    def is_guarded(self) -> bool:
        """Whether a guard counts the units of some table."""
        return bool(self.single or self.merged)

    @property
    def tells_of_rows(self) -> bool:
        """Whether aggregates tell of single rows, which no guard has counted."""
        return bool(self.single) or not self.merged


def grouped(relation: Aggregate, below: State, recipients: tuple[str, ...], names: Names, catalog: Catalog) -> State:
    """The state of an aggregate."""
    below = replace(below, branched=below.branched.union(*(below.columns[key].keyed for key in relation.keys)))
    ruled = frozenset(each for each in below.one if _needs_guard(each, relation, below, recipients))
    atoms = frozenset().union(*(below.columns[key].atoms for key in relation.keys))
    single = frozenset(each for each in ruled if determines(atoms, each, below))
    relation = replace(relation, input=below.relation)
    groups = Groups(relation, below, single, ruled - single, recipients)
    carried = carried_by(relation, below, names, catalog) if single else NOTHING_CARRIED
    whole = replace(
        relation, input=carried.input(below.relation), aggregations=(*relation.aggregations, *carried.aggregations)
    )
    columns = _columns(groups, carried)
    keys = union(placed(below.columns[key].items, position) for key, position in _placed_keys(relation))
    matched = any(below.columns[key].mixed for key in relation.keys)
    lost = uncountable(groups.merged, below) | (too_many(single) if carried.too_many else NOTHING)
    lost |= matched_by_union(single) if matched else NOTHING
    lost |= selected(replace(below, limited=below.limited & groups.merged)) if relation.keys else NOTHING
    fixed = frozenset(each for each in ruled if _keys_follow(each, groups))
    # Groups of the same rows may differ by few units.
    lost |= repeating(groups.merged - fixed, below, recipients) if relation.keys else NOTHING
    beyond = sums_beyond_bounds(relation, below, recipients)
    if not any(each.role in REFUSED for each in lost | below.rows):
        lost |= union(left_out(each, below, recipients) for each in groups.merged)
    rows = union([below.rows, turned(keys, below.one, ("value", "aggregate"), "distinct"), lost, beyond])
    state = replace(
        below,
        relation=whole,
        columns=columns,
        rows=rows,
        one=below.one - groups.merged,
        many=below.many | groups.merged,
        repeated={each: by for each, by in below.repeated.items() if each not in fixed},
        limited=below.limited - groups.merged,
        identity=below.identity | fixed,
        units=below.units | (single if relation.aggregations else frozenset()),
        whole=below.whole | whole_units(single, (below.columns[key] for key in relation.keys), below),
    )
    if not groups.merged or lost:
        return state
    guard = guard_of(whole, relation, below, groups.merged, recipients, catalog)
    padded = frozenset(
        Item(each, None, "floor", detail="padded")
        for each in groups.merged
        if any(_padded(each, guard, groups, catalog, who) for who in recipients if who != each.owner)
    )
    state = state.over(whole, padded)
    named = (below.columns[name].items for name in [*relation.keys, *_arguments(relation)])
    chosen = union([rows, *named, _joined_with(groups.merged, below)])
    return replace(state, guards=(*below.guards, guard), sums=(*below.sums, Sums(groups.merged, chosen)))


def _joined_with(merged: frozenset[Instance], below: State) -> Items:
    """The rows of others that meet those of merged instances. They decide of these, also by constants alone."""
    return frozenset(Item(other, None, "count") for other, mine in below.beside if mine in merged)


def _padded(instance: Instance, guard: Guard, groups: Groups, catalog: Catalog, recipient: str) -> bool:
    """Whether a recipient knows some of the rows of an instance that a guard counts."""
    if not isinstance(instance.scan, Scan):
        return False
    hidden = unknown_to(recipient, groups.below.one | groups.below.many, groups.recipients)
    shown = [each.aggregate for each in groups.below.guards]
    return is_padded(groups.relation, guard, instance.scan, hidden, catalog, shown)


def _needs_guard(instance: Instance, relation: Aggregate, below: State, recipients: tuple[str, ...]) -> bool:
    """Whether recipients could not see the rows themselves."""
    if not protected(instance.table, recipients):
        return False
    named = [*relation.keys, *_arguments(relation)]
    return not all_seen(instance, union([below.rows, *(below.columns[name].items for name in named)]), recipients)


def all_seen(instance: Instance, items: Items, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients see all of these items of an instance row by row; without any, which rows there are."""
    own = [each for each in items if each.instance == instance and each.role != "count"]
    if not own:
        return partly_open(instance.table, recipients)
    return all(each.column is not None and shown(instance.table, each.column, recipients) for each in own)


def _placed_keys(relation: Aggregate) -> list[tuple[str, Position | None]]:
    """Keys, and where the query names them."""
    places = relation.positions or (None,) * len(relation.keys)
    return list(zip(relation.keys, places, strict=True))


def _arguments(relation: Aggregate) -> list[str]:
    return [name for each in relation.aggregations for name in _arguments_of(each)]


def _arguments_of(each: Aggregation) -> list[str]:
    return [name for name in (each.column, *each.counted) if name is not None]


def _columns(groups: Groups, carried: Carried) -> dict[str, Derived]:
    below, relation = groups.below, groups.relation
    columns = {}
    for key, position in _placed_keys(relation):
        found = below.columns[key]
        items = turned(placed(_known(found.items, groups), position), groups.merged, ("value", "aggregate"), "group")
        linear = found.linear and (groups.is_guarded or not found.conditions)
        columns[key] = replace(found, items=items, linear=linear, conditions=carried.of(key))
    ruled = Ruled(groups.single, groups.merged)
    for each in relation.aggregations:
        items = _known(aggregated(each, below, ruled, groups.recipients), groups)
        columns[each.name] = Derived(
            items,
            _linear(each, groups),
            averaged=_known_beside(averaged(each, below, ruled, groups.recipients), groups),
            squared=_known_beside(squared(each, below, ruled, groups.recipients), groups),
            conditions=carried.of(each.name),
            least=_least(each, groups),
            moved=_moves(each, below),
            branched=atoms_of(items),
            keyed=atoms_of(items),
            tested=frozenset().union(*(below.columns[name].tested for name in _arguments_of(each))),
            optional=_optional(each, groups),
            blended=each.column is not None and below.columns[each.column].blended and groups.tells_of_rows,
        )
    return {**columns, **carried.columns}


def _moves(each: Aggregation, below: State) -> bool:
    """Whether an aggregate may put others among its values: as its argument does, or as it counts some rows alone."""
    found = [below.columns[name] for name in _arguments_of(each)]
    counts = each.function in ("count", "count_rows", "count_distinct") and any(one.conditions for one in found)
    return counts or any(one.moved for one in found)


def _linear(each: Aggregation, groups: Groups) -> bool:
    """Whether an aggregate of rows that no guard counts is a sum of multiples of a column, or their number.

    What other rows choose or repeat is no multiple of each value.
    """
    if groups.is_guarded or each.column is None:
        return True
    found = groups.below.columns[each.column]
    is_multiple = each.function == "sum" and found.linear and not found.conditions and not found.moved
    mine, others = {item.instance for item in found.items}, groups.below.one | groups.below.many
    return is_multiple and not any((other, one) in groups.below.beside for one in mine for other in others)


def _optional(each: Aggregation, groups: Groups) -> frozenset[str]:
    """The matches that an aggregate of one unit's rows, or of rows that are seen, tells of."""
    if each.column is None or not groups.tells_of_rows:
        return frozenset()
    return groups.below.columns[each.column].optional


def _known(items: Items, groups: Groups) -> Items:
    """Where no guard counts, conditions end. What they test of what a recipient sees is a value then that it knows.

    Which groups a guard shows, and of which units, the recipient knows too.
    """
    if not groups.is_guarded:
        items = frozenset(
            replace(each, role="value", function=None) if each.role in DECIDING and _knows(each, groups) else each
            for each in ordered(items)
        )
        items |= {Item(each.instance, None, "count") for each in items if each.instance in groups.below.many}
    return items | {Item(each, None, "count") for each in groups.merged}


def _known_beside(items: Items | None, groups: Groups) -> Items | None:
    return None if items is None else _known(items, groups)


def _knows(item: Item, groups: Groups) -> bool:
    """Whether a recipient knows of each row what an item tells of it."""
    if item.column is None or item.instance in groups.below.many:
        return False
    return any(knows(item.instance.table, item.column, who) for who in groups.recipients)


def _keys_follow(instance: Instance, groups: Groups) -> bool:
    """Whether all rows of a row of this instance are in one group, so that nothing repeats it any more."""
    found = [groups.below.columns[key] for key in groups.relation.keys]
    items = [each for key in found for each in key.items]
    if any(each.role not in ("value", "filter") or each.column is None for each in items):
        return False
    atoms = [(each.instance.number, each.column) for each in items if each.column is not None]
    return bool(found) and determined_by(instance, atoms, groups.below)


def _least(aggregation: Aggregation, groups: Groups) -> tuple[int, Instance] | None:
    """A count is never below the floor where it is shown, if each row has a row of the instance."""
    if not groups.merged or _may_lack(groups.relation.input):
        return None
    counted = groups.merged
    if aggregation.function == "count_distinct" and aggregation.column is not None:
        counted &= units_named(groups.below.columns[aggregation.column].atoms, groups.below)
    elif aggregation.function not in ("count", "count_rows"):
        return None
    floors = [(floor_of(each.table), each) for each in counted]
    return None if not floors else max(floors, key=lambda each: (each[0], -each[1].number))


def _may_lack(relation: Relation) -> bool:
    """Whether rows may have no row of a table beneath."""
    outer = isinstance(relation, Join) and relation.kept != "none"
    return outer or isinstance(relation, Union | FullJoin | KeptScan) or any(map(_may_lack, children(relation)))

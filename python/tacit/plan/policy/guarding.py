"""The guard of an aggregate: which units it counts, and who contributes to what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tacit.plan.algebra.relations import Aggregate, Aggregation, Call, Expr, Scan
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column
from tacit.plan.facts.terms import Small
from tacit.plan.policy.chosen import atoms_of, by_table
from tacit.plan.policy.exposure import floor_of
from tacit.plan.policy.guards import Floor, Guard, Hidden, Refined
from tacit.plan.policy.offers import knows, protected
from tacit.plan.policy.state import Instance, Item, Items, State, union


def guard_of(
    whole: Aggregate,
    relation: Aggregate,
    below: State,
    merged: frozenset[Instance],
    recipients: tuple[str, ...],
    catalog: Catalog,
) -> Guard:
    """The guard above an aggregate. whole: the aggregate as the query has it now."""
    instances = sorted(merged, key=lambda each: each.number)
    decide = union([below.rows, *(below.columns[key].items for key in relation.keys)])
    floors = tuple(_floor(each, below, decide) for each in instances)
    refined = [_refined(each, relation, below, instances, floors) for each in relation.aggregations]
    terms = [each.table.terms for each in instances if each.table.terms]
    folds = bool(relation.keys) and all(each.small == "fold" for each in terms) and not _adds_keys(relation, below)
    small: Small = "fold" if folds else "drop"
    complement = any(each.complement for each in terms)
    hidden = hidden_from(recipients, below.one | below.many, recipients)
    listed = tuple(each for each in refined if each is not None)
    return Guard(whole, floors, listed, small, complement, hidden, recipients, catalog)


def _adds_keys(relation: Aggregate, below: State) -> bool:
    """Whether an aggregate is of what keys of groups tell: a row of several small groups tells of those of one."""

    def named(columns: Iterable[str]) -> frozenset[tuple[str | None, str]]:
        return by_table(atoms_of(union(below.columns[each].items for each in columns)), below)

    summed = (each.column for each in relation.aggregations if each.function not in ("count", "count_rows"))
    return not named(relation.keys).isdisjoint(named(each for each in summed if each is not None))


def hidden_from(parties: Sequence[str], instances: frozenset[Instance], recipients: tuple[str, ...]) -> Hidden:
    """Of tables whose owners' rules bind the query, the columns that none of these recipients may see row by row."""
    found: dict[Scan, frozenset[str]] = {}
    for each in instances:
        if isinstance(each.scan, Scan) and protected(each.table, recipients):
            others = [party for party in parties if party != each.owner]
            named = [column.field.name for column in each.table.columns]
            found[each.scan] = frozenset(
                name for name in named if not any(knows(each.table, name, who) for who in others)
            )
    return found


def unknown_to(recipient: str, instances: frozenset[Instance], recipients: tuple[str, ...]) -> Hidden:
    """The columns of others that a recipient does not know: it sees some, and of some keys it learns which match."""
    foreign = frozenset(each for each in instances if each.owner != recipient)
    hidden = hidden_from((recipient,), foreign, recipients)
    keys = {each.scan: _matched(each, recipient) for each in foreign}
    return {scan: names - keys[scan] for scan, names in hidden.items()}


def _matched(instance: Instance, recipient: str) -> frozenset[str]:
    """The keys of which a recipient may learn which single rows match."""
    terms = instance.table.terms
    if terms is None or recipient not in terms.matches:
        return frozenset()
    return frozenset(each.field.name for each in instance.table.columns if "join" in each.terms.ways)


def uncountable(merged: frozenset[Instance], below: State) -> Items:
    """Instances whose units no guard can count, each with the reason."""
    reasons = {each: _reason(each, below) for each in merged}
    return frozenset(Item(each, None, "floor", detail=reason) for each, reason in reasons.items() if reason)


def _reason(instance: Instance, below: State) -> str:
    terms = instance.table.terms
    if not isinstance(instance.scan, Scan):
        return "delivered"
    if floor_of(instance.table) == 1 and (terms is None or terms.least_group is None):
        return "none"
    return "" if _unit(instance, below) is not None else "rows"


def _unit(instance: Instance, below: State) -> tuple[str, ...] | None:
    """The columns that name a unit; () for rows that never repeat; None where repeated rows have no key."""
    terms = instance.table.terms
    if terms is not None and terms.unit:
        return terms.unit
    if instance in below.identity:
        return ()
    keys = sorted((len(each), sorted(each)) for each in instance.table.unique)
    return tuple(keys[0][1]) if keys else None


def _floor(instance: Instance, below: State, items: Items, least: int = 0) -> Floor:
    assert isinstance(instance.scan, Scan), "units of other scans are not counted"
    return Floor(
        instance.scan, _unit(instance, below) or (), max(least, floor_of(instance.table, *_of(instance, items)))
    )


def _of(instance: Instance, items: Items) -> list[str]:
    return sorted({each.column for each in items if each.instance == instance and each.column is not None})


def _refined(
    each: Aggregation, relation: Aggregate, below: State, instances: list[Instance], floors: tuple[Floor, ...]
) -> Refined | None:
    """Who contributes to an aggregate, where that is not the whole group, or where its column has a higher floor."""
    names = each.counted if each.column is None else (each.column,)
    items = union(below.columns[name].items for name in names)
    own = [(_floor(one, below, items), floor) for one, floor in zip(instances, floors, strict=True)]
    higher = tuple(mine for mine, floor in own if mine.least > floor.least)
    conditions = _conditions(each.column, relation, below) if each.column is not None else ()
    return Refined(each.name, conditions, higher) if conditions or higher else None


def _conditions(name: str, relation: Aggregate, below: State) -> tuple[Expr, ...]:
    """What decides whether a row contributes: conditions of CASE, and that the argument is not NULL."""
    argument = column(relation.input, name)
    conditions = tuple(column(relation.input, each) for each in below.columns[name].conditions)
    if not argument.nullable:
        return conditions
    missing = Call("is_null", (argument,), Boolean(), False)
    return (*conditions, Call("not", (missing,), Boolean(), False))

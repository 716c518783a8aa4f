"""Joins and groups whose rows one party orders by keys that it may see, instead of a sort of secret shares.

A node may order the rows of a join, mark or aggregation if it reads every key column of all inputs, in the sense of
tacit.plan.facts.readers. That is whatever the keys are computed from, and whatever decides which rows there are. Owners
say so in their offers: of a table that is opened by ``readers``, of one with terms by ``select`` and ``matches``. Rows
of kept tables are not shown: their owners said it of an earlier run.

There is one such party in a query. Each that may order something is tried, with every step that it makes faster. The
plan is taken that the cost model finds fastest. Where plans take about as long, it is the party that sees keys of the
fewest tables of others. Among these it is one that gets the answer, then the first one of the membership.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import (
    Aggregate,
    AggregateFunction,
    ColumnRef,
    Filter,
    Join,
    Limit,
    Mark,
    Project,
    Relation,
    Sort,
    Union,
)
from tacit.plan.algebra.trees import children, kept_scans, scans
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.consents import matches_allowed
from tacit.plan.facts.fields import field_of, names
from tacit.plan.facts.readers import Readers
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.stage import Predicted, Pricing, Stage, Trusted

ALIKE = 0.01
"""Predicted times that differ by less than this share count as equal: predictions are no more exact."""

PLAIN: frozenset[AggregateFunction] = frozenset({"count_rows", "count", "sum"})
"""What is computed of groups without an order of values in them."""

Steps = tuple[Relation, ...]


@dataclass(frozen=True)
class _Choice:
    """A stage in which a party orders rows, and what its plan is predicted to take."""

    stage: Stage
    party: str
    predicted: Predicted


def choose_trusted(stage: Stage, pricing: Pricing) -> Stage:
    """The stage with the party that orders rows, if one may and is faster."""
    chosen = _chosen(replace(stage, trusted=None), _permitted(stage, pricing), pricing)
    return replace(stage, trusted=None) if chosen is None else chosen.stage


def tell_trusted(stage: Stage, pricing: Pricing) -> Stage:
    """The same, and why each step that a party may order, or nearly may, is done as it is."""
    permitted, plain = _permitted(stage, pricing), replace(stage, trusted=None)
    chosen = _chosen(plain, permitted, pricing)
    if chosen is not None:
        return _explained(chosen, pricing.predicted(plain))
    steps = dict.fromkeys(step for found in permitted.values() for step in found)
    if not steps:
        return replace(plain, why={**plain.why, **_unreadable(plain, pricing.catalog)})
    reason = f"by a sort of secret shares: predicted {pricing.predicted(plain).text} in all, and no party that may "
    return replace(plain, why={**plain.why, **dict.fromkeys(steps, f"{reason}order the rows saves time")})


def _permitted(stage: Stage, pricing: Pricing) -> dict[str, Steps]:
    """The steps that each node may order."""
    catalog = pricing.catalog
    if catalog.engine != "rep3":
        return {}
    readers, steps = Readers(catalog), _candidates(stage.core, catalog)
    found = {party: tuple(each for each in steps if may_order(party, each, readers)) for party in catalog.nodes}
    return {party: each for party, each in found.items() if each}


def _chosen(stage: Stage, permitted: dict[str, Steps], pricing: Pricing) -> _Choice | None:
    """The party by which the plan takes less time; None if there is none."""
    if not permitted:
        return None
    choices = [_fastest(stage, party, steps, pricing) for party, steps in permitted.items()]
    before = pricing.predicted(stage).seconds
    faster = [each for each in choices if each.predicted.seconds < before]
    return _preferred(faster, pricing) if faster else None


def _candidates(relation: Relation, catalog: Catalog) -> Steps:
    """The steps under MPC that bring rows of equal keys together, from the inputs up, each once."""
    return tuple(dict.fromkeys(each for each in _walk(relation) if _is_candidate(each, catalog)))


def _walk(relation: Relation) -> Iterator[Relation]:
    for child in children(relation):
        yield from _walk(child)
    yield relation


def _is_candidate(relation: Relation, catalog: Catalog) -> bool:
    if is_local(relation, catalog) or kept_scans(relation):
        return False
    match relation:
        case Join():
            return relation.repeats == 1
        case Mark():
            return True
        case Aggregate(input, keys, aggregations, carried=()):
            plain = all(each.function in PLAIN for each in aggregations)
            return bool(keys) and plain and all(_is_as_shared(input, key, catalog) for key in keys)
        case _:
            return False


def _is_as_shared(relation: Relation, name: str, catalog: Catalog) -> bool:
    """Whether a column is one that an owner shares: of a computed one nodes may hold NULLs where it has none."""
    if is_local(relation, catalog):
        return True
    match relation:
        case Filter(input) | Sort(input) | Limit(input):
            return _is_as_shared(input, name, catalog)
        case Project(input, outputs):
            source = dict(outputs)[name]
            return isinstance(source, ColumnRef) and _is_as_shared(input, source.name, catalog)
        case Union(inputs):
            return all(_is_as_shared(each, name, catalog) for each in inputs)
        case Join(left, right, left_keys, right_keys, kept="none"):
            side, keys = (left, left_keys) if name in names(left) else (right, right_keys)
            # Of keys that are equal nodes hold no NULLs.
            return not (name in keys and field_of(side, name).nullable) and _is_as_shared(side, name, catalog)
        case _:
            return False


def _keyed(relation: Relation) -> tuple[tuple[Relation, tuple[str, ...]], ...]:
    """The inputs whose keys a step compares."""
    match relation:
        case Join(left, right, left_keys, right_keys):
            return (left, left_keys), (right, right_keys)
        case Mark(input, choices, input_keys, choice_keys):
            return (choices, choice_keys), (input, input_keys)
        case Aggregate(input, keys):
            return ((input, keys),)
        case _:
            return ()


def may_order(party: str, relation: Relation, readers: Readers) -> bool:
    """Whether a party may see the keys of all rows of a step's inputs."""
    return all(_may_see(party, side, keys, readers) for side, keys in _keyed(relation))


def _may_see(party: str, side: Relation, keys: tuple[str, ...], readers: Readers) -> bool:
    found = readers.of(side)
    named = {scan.table for scan in scans(side)}
    shown = all(matches_allowed(table, party) for table in readers.catalog.tables if table.name in named)
    return shown and party in readers.of_rows(side) and all(party in found[key] for key in keys)


def _fastest(stage: Stage, party: str, steps: Steps, pricing: Pricing) -> _Choice:
    """The stage in which a party orders all of these steps but those that are faster without it.

    Two steps together may save what neither does alone: a join and the groups above it, which one sort else does both.
    """
    stage = _ordering(stage, party, frozenset(steps))
    best = pricing.predicted(stage)
    for step in steps:
        less = _ordering(stage, party, _steps(stage) - {step})
        predicted = pricing.predicted(less)
        if predicted.seconds < best.seconds:
            stage, best = less, predicted
    return _Choice(stage, party, best)


def _ordering(stage: Stage, party: str, steps: frozenset[Relation]) -> Stage:
    return replace(stage, trusted=Trusted(party, steps) if steps else None, merged=stage.merged - steps)


def _preferred(choices: list[_Choice], pricing: Pricing) -> _Choice:
    least = min(each.predicted.seconds for each in choices)
    alike = [each for each in choices if each.predicted.seconds <= least * (1 + ALIKE)]
    return min(alike, key=lambda each: _rank(each, pricing))


def _rank(choice: _Choice, pricing: Pricing) -> tuple[int, bool, int]:
    """Less for a party that learns less: by tables of others, then by whether it gets the answer, then by place."""
    sides = (side for step in _steps(choice.stage) for side, _ in _keyed(step))
    others = {scan.table for side in sides for scan in scans(side) if scan.owner != choice.party}
    place = pricing.catalog.parties.index(choice.party)
    return len(others), choice.party not in pricing.recipients, place


def _steps(stage: Stage) -> frozenset[Relation]:
    return frozenset() if stage.trusted is None else stage.trusted.steps


def _explained(choice: _Choice, before: Predicted) -> Stage:
    """The chosen stage with the reason at each step that its party orders."""
    done = f"ordered by {choice.party}, which may read its keys: predicted {choice.predicted.text} in all, "
    reason = f"{done}{before.text} by sorts of secret shares"
    return replace(choice.stage, why={**choice.stage.why, **dict.fromkeys(_ordered(choice.stage), reason)})


def _ordered(stage: Stage) -> Steps:
    """The steps that a stage's party orders, as the core has them."""
    return tuple(each for each in dict.fromkeys(_walk(stage.core)) if each in _steps(stage))


def _unreadable(stage: Stage, catalog: Catalog) -> dict[Relation, str]:
    """Why nobody orders steps of which a party reads the keys of one input, beside its own."""
    readers, told = Readers(catalog), dict[Relation, str]()
    for step in _candidates(stage.core, catalog) if catalog.engine == "rep3" else ():
        nearly = [party for party in catalog.nodes if _reads_some(party, step, readers)]
        if nearly:
            reason = stage.why.get(step, "by a sort of secret shares")
            told[step] = f"{reason}; {' and '.join(nearly)} may not read all keys and what decides which rows there are"
    return told


def _reads_some(party: str, step: Relation, readers: Readers) -> bool:
    """Whether a party reads the keys of an input that is not its own."""
    return any(
        _may_see(party, side, keys, readers) and any(scan.owner != party for scan in scans(side))
        for side, keys in _keyed(step)
    )

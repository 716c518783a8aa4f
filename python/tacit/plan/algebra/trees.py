"""Walking and rebuilding relation trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Constants,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
)


def children(relation: Relation) -> tuple[Relation, ...]:
    """The relations directly beneath."""
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return ()
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit() | Slice():
            return (relation.input,)
        case Union(inputs):
            return inputs
        case Join(left, right) | FullJoin(left, right) | Match(left, right) | Pairs(left, right):
            return left, right
        case Mark(input, choices):
            return input, choices
        case Broadcast(input, scalar):
            return input, scalar


def over_children(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """The same operator over changed inputs."""
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return relation
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit() | Slice():
            return replace(relation, input=change(relation.input))
        case Union(inputs):
            return replace(relation, inputs=tuple(map(change, inputs)))
        case Mark():
            return replace(relation, input=change(relation.input), choices=change(relation.choices))
        case Join() | FullJoin() | Match() | Pairs():
            return replace(relation, left=change(relation.left), right=change(relation.right))
        case Broadcast(input, scalar):
            return Broadcast(change(input), change(scalar))


@once
def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every table scan beneath, in order."""
    own = (relation,) if isinstance(relation, Scan) else ()
    return own + tuple(scan for child in children(relation) for scan in scans(child))


@once
def kept_scans(relation: Relation) -> tuple[KeptScan, ...]:
    """Every scan of a kept table beneath, in order."""
    own = (relation,) if isinstance(relation, KeptScan) else ()
    return own + tuple(scan for child in children(relation) for scan in kept_scans(child))


@once
def slices(relation: Relation) -> tuple[Slice, ...]:
    """Every slice beneath, in order."""
    own = (relation,) if isinstance(relation, Slice) else ()
    return own + tuple(found for child in children(relation) for found in slices(child))


@once
def constants(relation: Relation) -> tuple[Constants, ...]:
    """All constants beneath, in order."""
    own = (relation,) if isinstance(relation, Constants) else ()
    return own + tuple(found for child in children(relation) for found in constants(child))


@once
def size(relation: Relation) -> int:
    """How many operators a tree has: one that stands in several places counts in each."""
    return 1 + sum(size(child) for child in children(relation))


@once
def owner(relation: Relation) -> str | None:
    """Ownership: the one party that can compute a relation from its own tables alone, or None.

    Constants anybody can compute. Alone they are their own party's.
    """
    found = {scan.owner for scan in scans(relation)} or {each.party for each in constants(relation)}
    return found.pop() if len(found) == 1 and not kept_scans(relation) else None

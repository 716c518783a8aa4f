"""How many groups keys make at most: their public domains say it, and the tables that the keys come from.

The rows of a join have no more different suppliers than the table of suppliers has rows.
"""

from __future__ import annotations

from math import prod

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
from tacit.plan.facts.fields import added, columns_of, group_domain, least, names, row_bound

Names = frozenset[str]


def most_groups(relation: Aggregate) -> int | None:
    """A public upper bound on the number of groups, or None if there is none."""
    return most_values(relation.input, Names(relation.determining))


@once
def most_values(relation: Relation, columns: Names) -> int | None:
    """No more different values than this have the columns together, NULL among them; None if there is no bound."""
    if not columns:
        return 1
    known = least(row_bound(relation), group_domain(relation, tuple(sorted(columns))))
    return least(known, _inherited(relation, columns))


def _inherited(relation: Relation, columns: Names) -> int | None:
    match relation:
        case Filter(input) | Sort(input) | Limit(input) | Slice(input):
            return most_values(input, columns)
        case Mark(input) | Window(input) if columns <= Names(names(input)):
            return most_values(input, columns)
        case Aggregate(input, keys) if columns <= Names(keys):
            return most_values(input, columns)
        case Project(input, outputs):
            return most_values(input, Names().union(*(columns_of(each) for name, each in outputs if name in columns)))
        case Union(inputs):
            return added([most_values(each, columns) for each in inputs])
        case Join(left, right):
            return _of_sides(left, right, columns, absent=(relation.keeps_right, relation.keeps_left))
        case Match(left, right) | Pairs(left, right):
            return _of_sides(left, right, columns)
        case FullJoin(left, right):
            return _of_sides(left, right, columns, absent=(True, True))
        case Broadcast(input, scalar):
            return _of_sides(input, scalar, columns, absent=(False, True))
        case Scan() | KeptScan() | Constants() | Opened() | Aggregate() | Mark() | Window():
            return None


def _of_sides(
    left: Relation, right: Relation, columns: Names, absent: tuple[bool, bool] = (False, False)
) -> int | None:
    """Of columns of two sides: each value of one beside each of the other. absent: where NULLs may stand for a side."""
    found: list[int | None] = []
    for side, missing in zip((left, right), absent, strict=True):
        own = columns & Names(names(side))
        if own:
            found.append(added([most_values(side, own), int(missing)]))
    return prod(each for each in found if each is not None) if None not in found else None

"""The size of a local part's result that its own filters do not show."""

from __future__ import annotations

from collections.abc import Mapping

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
    Sort,
    Union,
    Window,
)


def unfiltered_rows(relation: Relation, tables: Mapping[str, int]) -> int:
    """A bound on the rows of a relation that depends on the tables' row counts only (and the query's own LIMIT)."""
    match relation:
        case Scan(table):
            return tables[table]
        case Constants():
            return len(relation.rows)
        case Filter(input) | Project(input) | Window(input) | Sort(input) | Broadcast(input) | Mark(input):
            return unfiltered_rows(input, tables)
        case Aggregate(input, keys):
            return unfiltered_rows(input, tables) if keys else 1
        case Union(inputs):
            return sum(unfiltered_rows(each, tables) for each in inputs)
        case Join(_, right) if not relation.keeps_left:
            return unfiltered_rows(right, tables) * relation.repeats
        case Pairs(left, right):
            return unfiltered_rows(left, tables) * unfiltered_rows(right, tables)
        case Join(left, right) | FullJoin(left, right):
            return unfiltered_rows(left, tables) + unfiltered_rows(right, tables)
        case Limit(input, count):
            rows = unfiltered_rows(input, tables)
            return rows if count is None else min(rows, count)
        case KeptScan() | Opened() | Match():
            raise TypeError("a local part reads its owner's tables only")

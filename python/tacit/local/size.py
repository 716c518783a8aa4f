"""The size of a local part's result that its own filters do not show."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


def unfiltered_rows(relation: Relation, tables: Mapping[str, int], sliced: Callable[[Slice], int]) -> int:
    """A bound on the rows of a relation that depends on the tables' row counts only (and the query's own LIMIT).

    sliced: how many rows a slice has, which stands for a table.
    """
    match relation:
        case Slice():
            return sliced(relation)
        case Scan(table):
            return tables[table]
        case Constants():
            return len(relation.rows)
        case Filter(input) | Project(input) | Window(input) | Sort(input) | Broadcast(input) | Mark(input):
            return unfiltered_rows(input, tables, sliced)
        case Aggregate(input, keys):
            return unfiltered_rows(input, tables, sliced) if keys else 1
        case Union(inputs):
            return sum(unfiltered_rows(each, tables, sliced) for each in inputs)
        case Join(_, right) if not relation.keeps_left:
            return unfiltered_rows(right, tables, sliced) * relation.repeats
        case Pairs(left, right):
            return unfiltered_rows(left, tables, sliced) * unfiltered_rows(right, tables, sliced)
        case Join(left, right) | FullJoin(left, right):
            return unfiltered_rows(left, tables, sliced) + unfiltered_rows(right, tables, sliced)
        case Limit(input, count):
            rows = unfiltered_rows(input, tables, sliced)
            return rows if count is None else min(rows, count)
        case KeptScan() | Opened() | Match():
            raise TypeError("a local part reads its owner's tables only")

"""How many rows a relation is expected to have whose size is announced: a guess, by which plans are chosen.

Of a slice nobody knows it before the owners have told each other their keys. Half of each owner's rows are taken to
have a key that another owner has too. Where there can be few keys it is as many as chance alone would give.
"""

from __future__ import annotations

from math import exp

from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.algebra.relations import Aggregate, Join, Limit, Relation, Scan, Slice, Union
from tacit.plan.algebra.trees import children
from tacit.plan.facts.fields import group_domain, row_bound

ASSUMED_ROWS = 100_000
"""Rows of a table that declares no number of them."""

SHARED = 0.5
"""The least part of an owner's rows that is taken to have a key that another owner has too."""


def expected_rows(relation: Relation) -> int:
    """The number of rows that a local relation is taken to have."""
    match relation:
        case Scan(rows=rows):
            return ASSUMED_ROWS if rows is None else rows
        case Slice(input, keys):
            shared = shared_part(relation.others, group_domain(input, keys))
            return round(expected_rows(input) * (shared if relation.shared else 1 - shared))
        case Union(inputs):
            return sum(map(expected_rows, inputs))
        case Join(_, right):
            return expected_rows(right) * relation.repeats
        case Aggregate(input, keys):
            domain = group_domain(input, keys)
            return expected_rows(input) if domain is None else min(domain, expected_rows(input))
        case Limit(input, count):
            return expected_rows(input) if count is None else min(count, expected_rows(input))
        case _:
            found = [expected_rows(each) for each in children(relation)]
            return min(found[0] if found else ASSUMED_ROWS, row_bound(relation) or UNDECLARED_ROWS)


def shared_part(others: tuple[Relation, ...], domain: int | None) -> float:
    """The part of an owner's rows that is taken to have a key of others. domain: how many keys there can be."""
    if domain is None:
        return SHARED
    return max(SHARED, 1 - exp(-sum(map(expected_rows, others)) / domain))

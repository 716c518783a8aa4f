"""Slices of an owner's rows, by the keys that other owners have opened (tacit.plan.rules.slicing).

A slice is kept in a table of its own, as several relations read it. Within one query it would stand there several
times. DuckDB 2.0.0 computes such parts once. Where none of the other owners has a key, it takes a condition on one of
these parts for a condition on all, and rows are lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.local.database import quoted
from tacit.plan.algebra.relations import Slice
from tacit.plan.facts.fields import names


def slice_query(relation: Slice, rows: str, keys: Sequence[str]) -> str:
    """The rows whose key is, or is not, among those of others. NULL is a key as any other.

    rows: a query for the rows that are sliced. keys: one for those of each other owner.
    """
    others = zip(relation.others, keys, strict=True)
    listed = " UNION ALL ".join(f"SELECT {_numbered(names(each))} FROM ({query}) AS k" for each, query in others)
    equal = " AND ".join(f"l.{quoted(own)} IS NOT DISTINCT FROM r.k{place}" for place, own in enumerate(relation.keys))
    among = "" if relation.shared else "NOT "
    return f"SELECT l.* FROM ({rows}) AS l WHERE {among}EXISTS (SELECT 1 FROM ({listed}) AS r WHERE {equal})"


def _numbered(keys: tuple[str, ...]) -> str:
    """Key columns by their place, as owners call them differently."""
    return ", ".join(f"k.{quoted(name)} AS k{place}" for place, name in enumerate(keys))

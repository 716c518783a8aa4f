"""Relations of a query with the number of the row of one table instance from which each of their rows stems."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tacit.audit.pieces import Columns, Pieces
from tacit.plan.algebra.relations import Aggregate, Expr, Relation, Scan
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.fields import columns_of

MARK = secrets.token_hex(8)
"""In the names of columns that are added here, so that no query can have chosen them."""
ROW = f"row {MARK}"
"""The column with the numbers of rows."""
ROW_FIELD = Field(ROW, Integer(0, 2**62), False)

Path = tuple[int, ...]
"""The way down a tree to a table instance: which child at each node."""


class Unclear(Exception):
    """A query of which the owner alone cannot tell what rows it selects."""


@dataclass(frozen=True)
class Origin:
    """Where an output's values come from. known: the owner can compute them.

    source: the column of the table of which it is a copy. reads: columns of the table that it is computed from. pieces:
    of a known one, over the columns of the tracked relation.
    """

    known: bool
    source: str | None
    reads: Columns
    pieces: Pieces = ()


@dataclass(frozen=True)
class Tracked:
    """A tracked relation. outputs: of the query's columns. used: columns of the table that decide which rows there are.

    alone: nothing but the owner's tables decides it.
    """

    relation: Relation
    outputs: Mapping[str, Origin]
    used: Columns
    alone: bool

    def knows(self, expr: Expr) -> bool:
        """Whether the owner can compute an expression over the outputs."""
        return all(self.outputs[name].known for name in columns_of(expr))

    def reads(self, expr: Expr) -> Columns:
        """The columns of the table that an expression is computed from."""
        return self.read(columns_of(expr))

    def read(self, listed: Iterable[str]) -> Columns:
        """The columns of the table that outputs are computed from."""
        return frozenset().union(*(self.outputs[name].reads for name in listed))


@dataclass(frozen=True)
class Site:
    """Where the units of a table instance are merged: an aggregate and its input, tracked.

    drops: groups below the floor are left out, as a condition or a limit follows.
    """

    aggregate: Aggregate
    tracked: Tracked
    drops: bool


def instances(relation: Relation, me: str) -> Iterator[tuple[Path, Scan]]:
    """Every instance of a table of this owner."""
    if isinstance(relation, Scan) and relation.owner == me:
        yield (), relation
    for at, child in enumerate(children(relation)):
        yield from (((at, *path), scan) for path, scan in instances(child, me))


def along(relation: Relation, path: Path) -> list[tuple[Relation, Path]]:
    """The relations on the way down, each with the rest of the way."""
    found = [(relation, path)]
    for at, step in enumerate(path):
        relation = children(relation)[step]
        found.append((relation, path[at + 1 :]))
    return found

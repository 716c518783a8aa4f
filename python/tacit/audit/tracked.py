"""Relations of a query with the number of the row of one table instance from which each of their rows stems."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tacit.audit.pieces import Columns, Piece, Pieces, aggregated, not_null
from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Expr,
    Join,
    KeptScan,
    Limit,
    Mark,
    Pairs,
    Relation,
    Scan,
    Window,
)
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.fields import columns_of, field_of

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
    over the columns of the tracked relation; of one that is not known, as if others' conditions always held or never.
    mixed: not known, though what the owner knows is in it. fixed: not known, and the same in all rows. plain: a stored
    column in other words, so that no two of its values became one.
    """

    known: bool
    source: str | None
    reads: Columns
    pieces: Pieces = ()
    mixed: bool = False
    fixed: bool = False
    plain: bool = False


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

    drops: groups below the floor are left out, as the groups are not the answer itself.
    """

    aggregate: Aggregate
    tracked: Tracked
    drops: bool


def pieces_of(aggregation: Aggregation, tracked: Tracked) -> Pieces:
    """The pieces of an aggregate over tracked rows."""
    if aggregation.column is None:
        return (Piece(None, frozenset()),)
    origin, field = tracked.outputs[aggregation.column], None
    if origin.known:
        field = field_of(tracked.relation, aggregation.column)
    there = Piece(not_null(reference(field)) if field and field.nullable else None, origin.reads)
    known = aggregated(aggregation.function, origin.pieces, there)
    return known if origin.known or aggregation.function == "sum" else (*origin.pieces, there)


NAMES: Final[dict[type, str]] = {
    Aggregate: "a group-by below another one", Join: "a join that keeps rows", KeptScan: "a kept table",
    Limit: "a LIMIT", Mark: "a subquery in a condition or a value", Pairs: "a cross join", Window: "a window",
}  # fmt: skip


def unclear(relation: Relation) -> Unclear:
    """That an operator selects what is not known here."""
    return Unclear(NAMES.get(type(relation), "a part of the query"))


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

"""What every party publicly declares: who takes part, which tables they own, and what may be assumed about the data."""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit.plan.types import Field


@dataclass(frozen=True)
class Column:
    """A column of an owner's table.

    readers: parties other than the owner that may see the column's values in clear.
    """

    field: Field
    readers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Table:
    """An owner's table.

    rows: declared public bound on the number of rows (shares are padded to it and the true count stays hidden), or
        None: the exact count is announced to all nodes, which is a disclosure.
    unique: sets of columns whose values never repeat together (checked by the owner at load).
    consents: what the owner agrees to show: "filter" (how many rows a local filter leaves), "groups" (how many groups a
    local aggregation has), "matches" (which rows match another owner's in a join; see tacit.plan.matching).
    path: where the owner finds the data; never part of the plan.
    """

    name: str
    owner: str
    columns: tuple[Column, ...]
    unique: tuple[frozenset[str], ...] = ()
    rows: int | None = None
    consents: frozenset[str] = frozenset()
    path: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Link:
    """The network between any two nodes, as all declare it. latency: seconds, one way. bandwidth: bytes a second."""

    latency: float
    bandwidth: float


ENGINES = {"rep3": 3, "two": 2}
"""The engines a federation can choose, with the number of nodes each needs."""


@dataclass(frozen=True)
class Catalog:
    """All tables of a federation, the parties in their fixed order, the engine and its nodes (in engine order).

    link: the network between the nodes, by which an engine chooses how it computes; None if they declare none.
    """

    parties: tuple[str, ...]
    engine: str
    nodes: tuple[str, ...]
    tables: tuple[Table, ...]
    link: Link | None = None

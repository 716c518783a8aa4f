"""Deliveries: kept tables that are an owner's whole table, which queries read in its place.

A delivery is called OWNER.TABLE, as no other kept table can be.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import UTC, datetime

from tacit.plan.facts.catalog import KeptTable, Table


def delivery_name(table: Table) -> str:
    """What the delivery of a table is called."""
    return f"{table.owner}.{table.name}"


def delivered_table(kept: str) -> str | None:
    """The table of which a kept table is the delivery, by its name; None if it is none."""
    _, dot, table = kept.rpartition(".")
    return table if dot else None


def day(kept: KeptTable) -> str:
    """When a delivery was made."""
    return datetime.fromtimestamp(kept.made or 0, UTC).date().isoformat()


def approving(owners: Iterable[str], declared: str | None, nodes: Container[str]) -> tuple[str, ...]:
    """Who has to approve each use of a kept table and is no node: the owners of what is in it, but of a delivery.

    declared: the hash of the offer that a delivery was made under; None of any other kept table. Whether one is made of
    deliveries does not matter: an owner that offers a table so has said nothing of what others keep of it.
    """
    return () if declared is not None else tuple(owner for owner in owners if owner not in nodes)

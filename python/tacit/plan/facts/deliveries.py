"""Deliveries: kept tables that are an owner's whole table, which queries read in its place.

A delivery is called OWNER.TABLE, as no other kept table can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from tacit.plan.facts.catalog import Catalog, KeptTable, Table


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


def approving(owners: Iterable[str], tables: Iterable[str], catalog: Catalog) -> tuple[str, ...]:
    """Who has to approve each use of a kept table and is no node: its owners, but those that deliver all that is in it.

    owners, tables: of which it is made.
    """
    offered = {table.name: table for table in catalog.tables}
    made_of = [offered.get(name) for name in tables]

    def need_not(owner: str) -> bool:
        """A table that nobody offers any more could be anybody's."""
        return all(table is not None and (table.owner != owner or table.delivered) for table in made_of)

    return tuple(owner for owner in owners if owner not in catalog.nodes and not need_not(owner))

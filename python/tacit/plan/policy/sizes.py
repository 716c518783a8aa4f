"""Sizes that owners consent to announce, where their tables have a floor.

The number of rows that a condition leaves is an answer of its own, to all nodes and without a guard. A table with a
floor is padded to its declared rows instead, and what is made of it under MPC to its bound, whatever its owner consents
to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.plan.facts.catalog import Catalog, Table

SIZES: Final = frozenset({"filter", "groups", "sizes"})


def with_hidden_sizes(catalog: Catalog) -> Catalog:
    """The catalog without consents to sizes of tables with a floor."""
    return replace(catalog, tables=tuple(map(_hidden, catalog.tables)))


def _hidden(table: Table) -> Table:
    floor = table.terms is not None and table.terms.least_group is not None
    return replace(table, consents=table.consents - SIZES) if floor else table

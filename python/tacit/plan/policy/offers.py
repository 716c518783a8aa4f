"""Whether an owner's rules bind a query, and which tables they leave wholly open."""

from __future__ import annotations

from tacit.plan.facts.catalog import Table
from tacit.plan.policy.exposure import offered


def protected(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether an owner's rules bind a query: not where the owner alone gets the answer."""
    return table.terms is not None and set(recipients) != {table.owner}


def shown(table: Table, column: str, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see a column row by row."""
    return all("select" in offered(table, column, each).ways for each in recipients)


def wholly_open(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see all columns row by row."""
    return bool(recipients) and all(shown(table, each.field.name, recipients) for each in table.columns)


def partly_open(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see a column row by row, and hence which rows there are."""
    return bool(recipients) and any(shown(table, each.field.name, recipients) for each in table.columns)

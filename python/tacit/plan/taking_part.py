"""Whether an engine can serve a federation, and who takes part in what is asked."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.deliveries import approving
from tacit.plan.physical.engines import NODES, PROGRAMS_ALONE, alternatives, alternatives_of_queries


def check_engine(catalog: Catalog) -> None:
    """Raises QueryError where the engine does not have its number of nodes."""
    if len(catalog.nodes) != NODES.get(catalog.engine):
        raise QueryError(
            f"the engine {catalog.engine!r} with {len(catalog.nodes)} nodes is not available; "
            f"use {alternatives()} nodes."
        )


def check_queries(catalog: Catalog) -> None:
    """Raises QueryError where the engine runs programs alone."""
    if catalog.engine in PROGRAMS_ALONE:
        raise QueryError(
            f"the engine {catalog.engine!r} runs programs on arrays and no queries on tables; "
            f"use {alternatives_of_queries()} nodes for queries."
        )


def check_recipients(recipients: tuple[str, ...], what: str) -> None:
    """Raises QueryError where nobody gets an answer. what: is asked."""
    if not recipients:
        raise QueryError(f"the {what} has no recipient; name at least one party that gets the answer.")


def check_party(party: str, role: str, catalog: Catalog) -> None:
    """Raises QueryError for a name that is not one of the parties."""
    if party not in catalog.parties:
        raise QueryError(f"the {role} {party!r} is not one of the parties {', '.join(catalog.parties)}.")


def check_kept_owners(kept: Iterable[KeptTable], catalog: Catalog) -> None:
    """Raises QueryError where somebody would have to approve what reads a kept table, and is no party."""
    for table in kept:
        for party in approving(table.owners, table.declared, catalog.nodes):
            if party not in catalog.parties:
                raise QueryError(
                    f"the kept table {table.name!r} has data of {party!r}, which would have to approve the query and "
                    f"is not one of the parties {', '.join(catalog.parties)}; DROP TABLE {table.name}."
                )

"""The kept tables that queries may read: as one party's files say, or as those of all parties on this machine do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.agent.federation import Federation
from tacit.agent.kept_descriptions import Descriptions
from tacit.agent.kept_store import KeptStore, Part
from tacit.plan.account.serialise import declaration_hash
from tacit.plan.facts.catalog import Catalog, KeptTable, Table
from tacit.plan.facts.deliveries import day, delivered_table, delivery_name

Parts = Mapping[str, Part]
"""The parts of one table, by party."""


def with_kept(federation: Federation, party: str | None, here: tuple[str, ...]) -> Catalog:
    """The federation's catalog with its kept tables. party: whose files count; None: all nodes' that are here.

    Where there is no node, descriptions count.
    """
    catalog = federation.catalog
    asked = here if party is None else (party,)
    nodes = tuple(node for node in catalog.nodes if node in asked)
    found = parts_of(federation, nodes) if nodes else described_tables(federation)
    kept, broken = [], []
    for name, parts in found.items():
        offered = _offered(name, catalog)
        if delivered_table(name) and offered is None:
            continue  # its owner has withdrawn it
        problem = _problem(name, parts, nodes, catalog)
        table = next(iter(parts.values())).table
        if problem is None and offered is not None and table is not None:
            problem = _outdated(table, offered)
        if problem is not None or table is None:
            broken.append((name if offered is None else offered.name, problem or ""))
        else:
            kept.append(table)
    return replace(catalog, kept=tuple(kept), broken=tuple(broken))


def _offered(kept: str, catalog: Catalog) -> Table | None:
    """The table in place of which a kept table is read, if its owner offers it so."""
    found = (each for each in catalog.tables if each.delivered and delivery_name(each).lower() == kept.lower())
    return next(found, None)


def _outdated(delivery: KeptTable, offered: Table) -> str | None:
    """Why a delivery cannot be read in place of a table, in a sentence."""
    if delivery.declared == declaration_hash(offered):
        return None
    changed = f"the offer of {offered.owner} has changed since it delivered {offered.name} on {day(delivery)}"
    return f"{changed}; {offered.owner} and every node run `tacit deliver {offered.name}` again."


def parts_of(federation: Federation, nodes: tuple[str, ...]) -> dict[str, dict[str, Part]]:
    """The parts that these nodes have, by table and node."""
    found: dict[str, dict[str, Part]] = {}
    for node in nodes:
        for part in KeptStore(federation, node).parts():
            found.setdefault(part.name.lower(), {})[node] = part
    return {next(iter(parts.values())).name: parts for _, parts in sorted(found.items())}


def described_tables(federation: Federation) -> dict[str, dict[str, Part]]:
    """What descriptions say, as parts_of has it: of each table one."""
    return {found.name: {"its description": found} for found in Descriptions(federation).all()}


def _problem(name: str, parts: Parts, nodes: tuple[str, ...], catalog: Catalog) -> str | None:
    """Why a table cannot be read, in a sentence."""
    table = delivered_table(name)
    drop, again = "drop it", f"DROP TABLE {name} and make it again"
    if table is not None:
        drop = again = f"run `tacit deliver {table}` again at its owner and every node"
    for part in parts.values():
        if part.table is None:
            return part.problem
        if (part.engine, part.nodes) != (catalog.engine, catalog.nodes):
            made = f"{', '.join(part.nodes)} (engine {part.engine})"
            return f"the kept table {name!r} is shared among {made}, not among the nodes of this federation; {drop}."
    missing = [node for node in nodes if node not in parts]
    if missing:
        has = " and ".join(parts)
        none = " and ".join(missing)
        return f"the kept table {name!r} has a part at {has} but none at {none}; put that back, or {again}."
    if len({part.table for part in parts.values()}) > 1:
        return f"the parts of the kept table {name!r} at {' and '.join(parts)} are not of one run; {again}."
    if any(name.lower() == table.name.lower() for table in catalog.tables):
        return f"{name!r} is both an owner's table and a kept one; rename the former, or DROP TABLE {name}."
    return None

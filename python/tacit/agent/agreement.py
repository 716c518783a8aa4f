"""What all parties of a query have to have alike, in a form that they may compare before they connect.

Names and short hashes: by 16 bits parties find what differs, and nobody can tell a query by them. That plans are equal
is decided when they connect, by their whole hashes.
"""

from __future__ import annotations

import hashlib

from tacit.agent.meeting import PLAN
from tacit.plan import plan_hash
from tacit.plan.account.serialise import canonical, declaration_hash, encoded, tacit_version
from tacit.plan.physical.placed import PlacedPlan

DIGITS = 4
"""Hexadecimal digits of a hash that parties compare."""


def agreed(plan: PlacedPlan) -> dict[str, str]:
    """Everything that a plan follows from but kept tables, by its public name, and the plan."""
    catalog = plan.catalog
    found = {
        "the version of tacit": tacit_version(),
        "the query": _short(plan.query),
        "who gets the answer": " and ".join(plan.recipients),
        "the engine": plan.engine,
        "the nodes": " and ".join(plan.nodes),
    }
    if catalog is not None:
        found["the declared link"] = "none" if catalog.link is None else _short(canonical(encoded(catalog.link)))
        found["prices.toml"] = "none" if catalog.prices is None else _short(catalog.prices)
        found |= {f"the offer of table {table.name}": _tag(declaration_hash(table)) for table in catalog.tables}
        if catalog.kept:  # parts of different runs are told by the nodes when they connect, with what to do
            return found
    return {**found, PLAN: _tag(plan_hash(plan).hex())}


def _short(text: str) -> str:
    return _tag(hashlib.sha256(text.encode()).hexdigest())


def _tag(hash: str) -> str:
    return f"#{hash[:DIGITS]}"

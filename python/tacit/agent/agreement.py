"""What all parties of a query have to have alike, in a form that they may compare before they connect.

Names and short hashes: by 16 bits parties find what differs, and nobody can tell a query by them. That plans are equal
is decided when they connect, by their whole hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import MISSING, fields

from tacit.agent.meeting import PLAN
from tacit.plan import plan_hash
from tacit.plan.account.serialise import canonical, declaration_hash, encoded, tacit_version
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import OPEN_COLUMN, ArrayTerms, ColumnTerms, Terms
from tacit.plan.physical.placed import PlacedPlan

DIGITS = 4
"""Hexadecimal digits of a hash that parties compare."""
MOST_TERMS = 200
"""Terms that are named one by one; of more, parties compare whole tables alone, so that a message stays small."""
LONGEST_TERM = 60
"""Characters of a term that parties see as it is, and not as a hash."""
ENTRIES = {"ways": "use", "partners": "with", "programs": "allow"}
"""What offers call a term otherwise than its field."""


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
        memory = catalog.program_memory
        found["the memory of programs"] = "none" if memory is None else f"{memory}"
        found["prices.toml"] = "none" if catalog.prices is None else _short(catalog.prices)
        found |= {f"the offer of table {table.name}": _tag(declaration_hash(table)) for table in catalog.tables}
        found |= {
            f"the offer of array {each.owner}.{each.name}": _tag(declaration_hash(each)) for each in catalog.arrays
        }
        found |= _terms(catalog)
        if catalog.kept:  # parts of different runs are told by the nodes when they connect, with what to do
            return found
    return {**found, PLAN: _tag(plan_hash(plan).hex())}


def _terms(catalog: Catalog) -> dict[str, str]:
    """What owners say in the terms of their tables, by names that point at it."""
    found: dict[str, str] = {}
    for table in catalog.tables:
        if table.terms is not None:
            found |= {f"{name} of table {table.name}": value for name, value in _said(table.terms)}
        for column in (each for each in table.columns if each.terms != OPEN_COLUMN):
            where = f"column {table.name}.{column.field.name}"
            found |= {f"{name} of {where}": value for name, value in _said(column.terms)}
    for array in catalog.arrays:
        if array.terms is not None:
            where = f"array {array.owner}.{array.name}"
            found |= {f"{name} of {where}": value for name, value in _said(array.terms)}
    return found if len(found) <= MOST_TERMS else {}


def _said(terms: Terms | ColumnTerms | ArrayTerms) -> Iterator[tuple[str, str]]:
    """Each term that is not the default, as the offer calls it."""
    for each in fields(terms):
        value = getattr(terms, each.name)
        if each.default is MISSING or value != each.default:
            text = canonical(encoded(value))
            yield ENTRIES.get(each.name, each.name), text if len(text) <= LONGEST_TERM else _short(text)


def _short(text: str) -> str:
    return _tag(hashlib.sha256(text.encode()).hexdigest())


def _tag(hash: str) -> str:
    return f"#{hash[:DIGITS]}"

"""Which question a query is, whatever the rules, engine and costs are under which it is asked."""

from __future__ import annotations

import hashlib

from tacit.plan.account.serialise import canonical, encoded
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans
from tacit.plan.facts.catalog import Catalog


def question_hash(query: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> str:
    """SHA-256 over a bound query, the columns of the tables that it reads, and its recipients, in hexadecimal."""
    read = {scan.table for scan in scans(query)} | {scan.table for scan in kept_scans(query)}
    tables = {each.name: [encoded(column.field) for column in each.columns] for each in catalog.tables}
    kept = {each.name: [each.id, *(encoded(column.field) for column in each.columns)] for each in catalog.kept}
    schema = {name: columns for name, columns in (tables | kept).items() if name in read}
    said = {"query": encoded(query), "schema": schema, "recipients": sorted(recipients)}
    return hashlib.sha256(canonical(said).encode()).hexdigest()

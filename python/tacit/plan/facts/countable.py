"""Which relations' rows all nodes may count: whose owners consent to that, and whose terms allow it.

The number of rows under MPC is an answer to all nodes: COUNT(*) of these rows. All owners of the tables beneath have to
consent to "sizes". Of a table with terms each node has to be allowed to receive such an answer. It is among the
recipients and in ``matches``, and may ``select`` all columns that decide which rows there are. A floor promises that
nothing is shown of few rows, so that a table with one is never counted. Slices and rows of kept tables are not counted
either: consents are to a run over tables.
"""

from __future__ import annotations

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans, slices
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.consents import lasts, rows_allowed
from tacit.plan.facts.lineage import lineage
from tacit.plan.facts.sources import Source
from tacit.plan.facts.terms import selecting

CONSENT = "sizes"


def may_be_counted(relation: Relation, catalog: Catalog, alone: str | None) -> bool:
    """Whether all nodes may learn how many rows there are. alone: the owner that alone gets the answer, if one does:
    its own rules have not been held against the question."""
    named = {scan.table for scan in scans(relation)}
    if not named or kept_scans(relation) or slices(relation):
        return False
    tables = {table.name: table for table in catalog.tables if table.name in named}
    if not all(CONSENT in table.consents and rows_allowed(table, catalog.nodes) for table in tables.values()):
        return False
    if not all(lasts(table) for table in tables.values() if table.owner == alone):
        return False
    deciding = {use.source for use in lineage(relation, catalog).presence}
    return all(_is_shown(each, tables, catalog) for each in deciding)


def _is_shown(source: Source, tables: dict[str, Table], catalog: Catalog) -> bool:
    """Whether a column, or the rows, of a table may be seen row by row by all nodes, in answers."""
    table = tables[source.table]
    if table.terms is None:
        return True
    recipients = table.terms.recipients
    if source.column is not None:
        column = next(each for each in table.columns if each.field.name == source.column)
        recipients = selecting(table.terms, column.terms)
    return set(catalog.nodes) <= recipients | {table.owner}

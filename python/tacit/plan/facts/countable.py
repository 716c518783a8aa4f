"""Which relations' rows all nodes may count: whose owners consent to that, and whose terms allow it.

The number of rows under MPC is an answer to all nodes: COUNT(*) of these rows. A recipient that is no node learns it
from the number of rows that it gets. All owners of the tables beneath have to consent to "sizes". Of a table with terms
each of these parties has to be allowed to receive such an answer. It is among the
recipients and in ``matches``, and may ``select`` all columns that decide which rows there are. A floor promises that
nothing is shown of few rows, so that a table with one is never counted. Slices and rows of kept tables are not counted
either: consents are to a run over tables.
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans, slices
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.consents import lasts, rows_allowed
from tacit.plan.facts.lineage import lineage
from tacit.plan.facts.sources import Source
from tacit.plan.facts.terms import selecting

CONSENT = "sizes"


def may_be_counted(relation: Relation, catalog: Catalog, recipients: Iterable[str]) -> bool:
    """Whether all nodes, and these recipients of the answer, may learn how many rows there are.

    Of an owner that alone gets the answer rules have not been held against the question, and none is counted.
    """
    to = frozenset(recipients)
    parties = to | set(catalog.nodes)
    named = {scan.table for scan in scans(relation)}
    if not named or kept_scans(relation) or slices(relation):
        return False
    tables = {table.name: table for table in catalog.tables if table.name in named}
    if not all(CONSENT in table.consents and rows_allowed(table, parties) for table in tables.values()):
        return False
    if not all(lasts(table) and not _is_checked(table) for table in tables.values() if to == {table.owner}):
        return False
    deciding = {use.source for use in lineage(relation, catalog).presence}
    return all(_is_shown(each, tables, parties) for each in deciding)


def _is_checked(table: Table) -> bool:
    """Whether the owner's agent counts and compares questions about a table."""
    return table.terms is not None and table.terms.differences != "off"


def _is_shown(source: Source, tables: dict[str, Table], parties: frozenset[str]) -> bool:
    """Whether a column, or the rows, of a table may be seen row by row by all parties, in answers."""
    table = tables[source.table]
    if table.terms is None:
        return True
    recipients = table.terms.recipients
    if source.column is not None:
        column = next(each for each in table.columns if each.field.name == source.column)
        recipients = selecting(table.terms, column.terms)
    return parties <= recipients | {table.owner}

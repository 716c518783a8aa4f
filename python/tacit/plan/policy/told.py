"""Kept tables with values that no owner's table has: constants of a query, or results of a program.

Such a table is what its maker has written, as rows of constants in a question are. No owner's rules of its own tables
say what it may be beside others.
"""

from __future__ import annotations

from tacit.plan.algebra.relations import Relation, Union
from tacit.plan.algebra.trees import children, constants
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.deliveries import delivered_table
from tacit.plan.facts.fields import names
from tacit.plan.facts.lineage import lineage
from tacit.plan.facts.row_arrays import read_tables


def is_told(relation: Relation, catalog: Catalog) -> bool:
    """Whether constants, or results of a program, are in a query's rows, or in some rows of a column of a UNION."""
    return bool(constants(relation) or told_tables(relation, catalog)) or _mixes(relation, catalog)


def _mixes(relation: Relation, catalog: Catalog) -> bool:
    """Whether a column of a UNION has constants beside values of tables."""
    if isinstance(relation, Union):
        parts = [lineage(each, catalog).values for each in relation.inputs]
        if any(len({bool(part[name]) for part in parts}) > 1 for name in names(relation)):
            return True
    return any(_mixes(each, catalog) for each in children(relation))


def told_tables(relation: Relation, catalog: Catalog) -> tuple[KeptTable, ...]:
    """The kept tables that a query reads and that have such values, by their names."""
    return tuple(each for each in read_tables(relation, catalog) if _is_told(each, catalog))


def _is_told(kept: KeptTable, catalog: Catalog) -> bool:
    """What the table's file says. Where it does not, or not all that is behind it is in owners' tables, it may be
    anything.
    """
    tables = {each.name for each in catalog.tables}
    if delivered_table(kept.name) in tables:
        return False
    if kept.told is not False or not kept.tables or not tables.issuperset(kept.tables):
        return True
    offered: set[tuple[str | None, str, str | None]] = {(each.owner, each.name, None) for each in catalog.tables}
    for table in catalog.tables:
        offered |= {(table.owner, table.name, each.field.name) for each in table.columns}
    sources = {(each.owner, each.table, each.column) for each in kept.sources}
    return not offered.issuperset(sources) or any("program" in each.through for each in kept.uses)

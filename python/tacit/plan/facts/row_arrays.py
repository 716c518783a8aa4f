"""Columns of a query's rows as arrays that programs read: one row of the query a row of each array.

Their owner is all nodes together, as these hold the rows in shares. What the numbers of a column are is public: the
integers by which tables are shared, and of a DECIMAL how many of their digits are behind its point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Aggregate, Constants, KeptScan, Project, Relation, Scan, Sort, Union, Window
from tacit.plan.algebra.trees import kept_scans
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, sql_name
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.table_arrays import is_number


@dataclass(frozen=True)
class RowColumn:
    """What is public of a column's numbers: integers within bounds, or bits.

    scale: how many of their decimal digits are behind the point.
    """

    dtype: str
    low: Fraction | None
    high: Fraction | None
    scale: int = 0


PRESENT: Final = RowColumn("bool", None, None)
"""The bits that say which rows there are."""


def row_column(field: Field, *, exact: bool) -> RowColumn:
    """The numbers of a column. exact: there is no row but those of the query; otherwise some are zero.

    Raises QueryError for a column that no program reads.
    """
    if field.nullable:
        raise QueryError(
            f"the column {field.name} of the query may be NULL, and arrays have none; write COALESCE({field.name}, 0)."
        )
    if not is_number(field):
        kind = sql_name(field.type)
        raise QueryError(
            f"the column {field.name} of the query is {kind}, and programs read whole numbers, DECIMALs and BOOLEANs "
            "of 64 bits; leave it out, or cast it."
        )
    match field.type:
        case Boolean():
            return PRESENT
        case Decimal(_, scale, low, high):
            return RowColumn("int64", *_bounds(low, high, exact), scale)
        case Integer(low, high):
            return RowColumn("int64", *_bounds(low, high, exact))
        case _:
            raise AssertionError("it is a number")


def _bounds(low: int, high: int, exact: bool) -> tuple[Fraction, Fraction]:
    return (Fraction(low), Fraction(high)) if exact else (Fraction(min(low, 0)), Fraction(max(high, 0)))


def read_tables(relation: Relation, catalog: Catalog) -> tuple[KeptTable, ...]:
    """The kept tables that a query reads, by their names."""
    names = {scan.table for scan in kept_scans(relation)}
    return tuple(sorted((each for each in catalog.kept if each.name in names), key=lambda each: each.name))


def is_exact(relation: Relation, catalog: Catalog) -> bool:
    """Whether a query has as many rows as its public bound says, whatever the data are."""
    match relation:
        case Scan(table):
            return any(each.name == table and each.exact for each in catalog.tables)
        case KeptScan(table):
            return any(each.name == table and (each.exact or not each.padded) for each in catalog.kept)
        case Constants():
            return True
        case Project(input) | Sort(input) | Window(input):
            return is_exact(input, catalog)
        case Union(inputs):
            return all(is_exact(each, catalog) for each in inputs)
        case Aggregate(_, keys):
            return not keys
        case _:
            return False

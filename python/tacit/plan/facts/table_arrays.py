"""Columns of owners' tables as arrays that programs read: side by side, one row of the table a row of the array.

A program names such an array as ``scores(x1,x2)``; ``scores()`` is of which of its rows there are. Its shape, type and
bounds follow from what the owner declares of the table, and what it allows from the table's terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, sql_name
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import OPEN_COLUMN, ArrayTerms, Terms, Way, open_terms

NAME = re.compile(r"([A-Za-z_]\w*)\(((?:\w+(?:,\w+)*)?)\)", re.ASCII)
WHOLE = {"TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64", "HUGEINT": "int64"}
MOST = 1 << 63
"""Encodings of columns that are read are nearer to zero than this."""


@dataclass(frozen=True)
class TableArray(OfferedArray):
    """Columns of a table. table: its name. columns: in their order; none for which rows there are."""

    table: str = ""
    columns: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in a noun."""
        if not self.columns:
            return f"which rows the table {self.table} has"
        listed = ", ".join(f"{self.table}.{each}" for each in self.columns)
        return f"the column{'s' * (len(self.columns) > 1)} {listed}"

    @property
    def place(self) -> str:
        """Its section in its owner's offer."""
        return f"tables.{self.table}"

    @property
    def usable(self) -> str:
        """What its owner writes so that programs may use it."""
        which = "any column" if not self.columns else " and ".join(self.columns)
        return f'use = ["program"] at {which}'


def offered_array(catalog: Catalog, owner: str, name: str) -> OfferedArray | None:
    """The array of a name that an owner offers: one of its own, or columns of its table. None if there is none.

    Raises QueryError if its table has no such columns, or none that programs can read.
    """
    for array in catalog.arrays:
        if (array.owner, array.name) == (owner, name):
            return array
    found = NAME.fullmatch(name)
    tables = [each for each in catalog.tables if found and (each.owner, each.name) == (owner, found[1])]
    if not found or not tables:
        return None
    return table_array(tables[0], tuple(found[2].split(",")) if found[2] else ())


def table_array(table: Table, names: tuple[str, ...]) -> TableArray:
    """Columns of a table as an array: of one column a vector, of several a matrix, of none a bit for each row.

    A table has as many rows as are declared. Raises QueryError for what no program reads.
    """
    columns = [_column(table, each) for each in names]
    if table.rows is None or table.delivered:
        problem = "declares no number of rows" if table.rows is None else "is delivered"
        raise QueryError(
            f"the table {table.name} {problem}, so that no program reads it; offer an array of it instead."
        )
    if len(set(names)) != len(names):
        raise QueryError(f"a column of {table.name} is named twice; name each once.")
    fields = [each.field for each in columns]
    bounds = [_bounds(each) for each in fields]
    dtype = _dtype(fields)
    shape = (table.rows,) if len(names) < 2 else (table.rows, len(names))
    return TableArray(
        f"{table.name}({','.join(names)})",
        table.owner,
        shape,
        dtype,
        None if dtype == "bool" else min(low for low, _ in bounds),
        None if dtype == "bool" else max(high for _, high in bounds),
        terms=terms_of(table, columns),
        path=table.path,
        table=table.name,
        columns=names,
    )


def numbers(table: Table) -> tuple[str, ...]:
    """The columns that programs can read, and may."""
    opened = [each for each in table.columns if "program" in _ways(table, [each])]
    return tuple(each.field.name for each in opened if is_number(each.field) and not each.field.nullable)


def _column(table: Table, name: str) -> Column:
    found = next((each for each in table.columns if each.field.name == name), None)
    if found is None:
        known = ", ".join(each.field.name for each in table.columns)
        raise QueryError(f"the table {table.name} has no column {name!r}; its columns are: {known}.")
    if found.field.nullable:
        raise QueryError(
            f"the column {table.name}.{name} may have NULL, and arrays have none; its owner fills it in, and declares "
            "it without nullable = true."
        )
    if not is_number(found.field):
        kind = sql_name(found.field.type)
        raise QueryError(
            f"the column {table.name}.{name} is {kind}, and programs read numbers of 64 bits; leave it out."
        )
    return found


def is_number(field: Field) -> bool:
    """Whether a column has whole numbers, DECIMALs or BOOLEANs of 64 bits."""
    match field.type:
        case Integer(low, high) | Decimal(_, _, low, high):
            return low >= -MOST and high < MOST
        case _:
            return field.type == Boolean()


def _dtype(fields: list[Field]) -> str:
    """NumPy's type of columns side by side."""
    if all(field.type == Boolean() for field in fields):
        return "bool"
    if any(isinstance(field.type, Decimal) for field in fields):
        return "float64"
    names = [WHOLE[field.type.sql] if isinstance(field.type, Integer) else "int8" for field in fields]
    return max(names, key=lambda name: int(name.removeprefix("int")))


def _bounds(field: Field) -> tuple[Fraction, Fraction]:
    match field.type:
        case Integer(low, high):
            return Fraction(low), Fraction(high)
        case Decimal(_, scale, low, high):
            return Fraction(low, 10**scale), Fraction(high, 10**scale)
        case _:
            return Fraction(0), Fraction(1)


def terms_of(table: Table, columns: Sequence[Column]) -> ArrayTerms | None:
    """What the table's owner allows of an array of these columns."""
    terms = table.terms
    if terms is None:
        return None
    listed = None if terms.computing == "any" or _is_opened(table, terms) else terms.computing
    return ArrayTerms(_ways(table, columns), terms.recipients, listed, terms.until)


def _ways(table: Table, columns: Sequence[Column]) -> frozenset[Way]:
    """Whether programs may use columns: all of them, or where there are none any of the table's."""
    if table.terms is None or _is_opened(table, table.terms):
        return frozenset({"program"})
    each = ["program" in column.terms.ways for column in columns or table.columns]
    return frozenset({"program"} if (all(each) if columns else any(each)) else ())


def _is_opened(table: Table, terms: Terms) -> bool:
    """Whether the owner shows every row to all parties, so that a program tells nobody more."""
    every = all(column.terms == OPEN_COLUMN for column in table.columns)
    return every and terms == open_terms(tuple(terms.recipients))

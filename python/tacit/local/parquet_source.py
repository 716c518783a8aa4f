"""Opens a Parquet file: a view over it with the declared types, so that only what a query needs is ever read."""

from __future__ import annotations

import re

import duckdb

from tacit.local.database import quoted
from tacit.local.errors import DataError
from tacit.local.source import Source, data_path, positions
from tacit.local.sql_types import NO_COLUMNS
from tacit.local.stored import parquet, parquet_types, stamp
from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Varchar, sql_name
from tacit.plan.facts.catalog import Table

INTEGER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|HUGEINT")
DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")


def open_parquet(database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], relation: str) -> Source:
    """Create the database's view ``relation`` over the fields' columns. Raises DataError if they are not there."""
    path = data_path(table)
    opened = stamp(path)
    types = parquet_types(database, path)
    present = list(types)
    outputs = []
    for name, place in positions(path, fields, present).items():
        field = next(each for each in fields if each.name == name)
        outputs.append(_output(path, field, present[place], types[present[place]]))
    rows = parquet(path)
    select = f"SELECT {', '.join(outputs) or f'TRUE AS {NO_COLUMNS}'} FROM {rows}"
    database.execute(f"CREATE VIEW {quoted(relation)} AS {select}").fetchall()
    numbered = parquet(path, ", file_row_number = true")
    return Source(table, path, fields, relation, rows, numbered, "file_row_number", opened)


def _output(path: str, field: Field, name: str, stored: str) -> str:
    """The column in its declared type. Raises DataError if the stored type's values are not exactly of that type."""
    declared = sql_name(field.type)
    if stored == declared:
        return f"{quoted(name)} AS {quoted(field.name)}"
    if not _exact(stored, field):
        advice = f"store it as {declared}, or declare its real type in the offer"
        raise DataError(path, f"the file has {stored} where {declared} is declared", advice, column=field.name)
    return f"CAST({quoted(name)} AS {declared}) AS {quoted(field.name)}"


def _exact(stored: str, field: Field) -> bool:
    """Every stored value within the declared bounds is a value of the declared type."""
    match field.type:
        case Integer():
            return INTEGER.fullmatch(stored) is not None
        case Decimal(_, scale):
            found = DECIMAL.fullmatch(stored)
            return INTEGER.fullmatch(stored) is not None or (found is not None and int(found[1]) <= scale)
        case Varchar():
            return stored.startswith("ENUM(")
        case Boolean() | Date() | _:
            return False

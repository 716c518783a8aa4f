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
NOTHING = '"NULL"'
"""DuckDB's type of a column without a value."""
WHOLE = 2**53
"""DOUBLEs up to here have one whole number each."""


def open_parquet(database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], relation: str) -> Source:
    """Create the database's view ``relation`` over the fields' columns. Raises DataError if they are not there."""
    path = data_path(table)
    opened = stamp(path)
    types = parquet_types(database, path)
    present = list(types)
    outputs = []
    for name, place in positions(path, fields, present).items():
        field = next(each for each in fields if each.name == name)
        outputs.append(_output(database, path, field, present[place], types[present[place]]))
    rows = parquet(path)
    select = f"SELECT {', '.join(outputs) or f'TRUE AS {NO_COLUMNS}'} FROM {rows}"
    database.execute(f"CREATE VIEW {quoted(relation)} AS {select}").fetchall()
    numbered = parquet(path, ", file_row_number = true")
    return Source(table, path, fields, relation, rows, numbered, "file_row_number", opened)


def _output(database: duckdb.DuckDBPyConnection, path: str, field: Field, name: str, stored: str) -> str:
    """The column in its declared type. Raises DataError if the stored type's values are not exactly of that type."""
    declared = sql_name(field.type)
    if stored == declared:
        return f"{quoted(name)} AS {quoted(field.name)}"
    if not _exact(stored, field):
        advice = f"store it as {declared}, or declare its real type in the offer"
        problem = f"the file has {stored} where {declared} is declared"
        if stored == NOTHING:
            problem, advice = (
                "all values are missing",
                "fill them in, or declare the column nullable = true in the offer",
            )
        raise DataError(path, problem, advice, column=field.name)
    if stored == "DOUBLE":
        _check_whole(database, path, name, field)
    return f"CAST({quoted(name)} AS {declared}) AS {quoted(field.name)}"


def _check_whole(database: duckdb.DuckDBPyConnection, path: str, name: str, field: Field) -> None:
    """Whole numbers may be stored as DOUBLE, as pandas stores those of a column with a NULL. Raises DataError."""
    value, position = quoted(name), "file_row_number"
    broken = f"{value} <> trunc({value}) OR abs({value}) > {WHOLE} OR isnan({value})"
    rows = parquet(path, f", {position} = true")
    found = database.execute(f"SELECT {position} + 1, {value} FROM {rows} WHERE {broken} ORDER BY 1 LIMIT 1").fetchall()
    for row, wrong in found:
        declared = sql_name(field.type)
        problem = f"{wrong} is not a whole number up to 2^53, stored as DOUBLE where {declared} is declared"
        advice = f"round it, or store the column as {declared}"
        raise DataError(path, problem, advice, row=row, column=field.name)


def _exact(stored: str, field: Field) -> bool:
    """Every stored value within the declared bounds is a value of the declared type."""
    if stored == NOTHING:
        return field.nullable
    match field.type:
        case Integer():
            return stored == "DOUBLE" or INTEGER.fullmatch(stored) is not None
        case Decimal(_, scale):
            found = DECIMAL.fullmatch(stored)
            return INTEGER.fullmatch(stored) is not None or (found is not None and int(found[1]) <= scale)
        case Varchar():
            return stored.startswith("ENUM(")
        case Boolean() | Date() | _:
            return False

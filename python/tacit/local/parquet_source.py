"""Opens a Parquet file: a view over it with the declared types, so that only what a query needs is ever read."""

from __future__ import annotations

import duckdb

from tacit.local.database import quoted
from tacit.local.errors import DataError
from tacit.local.parquet_types import Reading, reading
from tacit.local.rounded import read_as
from tacit.local.source import Source, data_path, positions
from tacit.local.sql_types import NO_COLUMNS
from tacit.local.stored import parquet, parquet_types, stamp
from tacit.plan.algebra.types import Field, Timestamp
from tacit.plan.facts.catalog import Table

POSITION = "file_row_number"


def open_parquet(database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], relation: str) -> Source:
    """Create the database's view ``relation`` over the fields' columns. Raises DataError if they are not there."""
    path = data_path(table)
    opened = stamp(path)
    outputs, converted = [], []
    for field, name, read in readings(database, table, fields):
        _check(database, path, name, field, read)
        outputs.append(f"{read.value} AS {quoted(field.name)}")
        converted += [] if read.compared else [f"{read.value} AS {quoted(name)}"]
    rows, numbered = parquet(path), parquet(path, f", {POSITION} = true")
    select = f"SELECT {', '.join(outputs) or f'TRUE AS {NO_COLUMNS}'} FROM {rows}"
    database.execute(f"CREATE VIEW {quoted(relation)} AS {select}").fetchall()
    raw, numbered = (_with(each, converted) for each in (rows, numbered))
    return Source(table, path, fields, relation, raw, numbered, POSITION, opened)


def readings(
    database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...]
) -> list[tuple[Field, str, Reading]]:
    """Columns with their names in the file, and how each is read. Raises DataError if one is of another type."""
    path = data_path(table)
    types = parquet_types(database, path)
    places, names = positions(path, fields, [*types]), [*types]
    found = [(field, names[places[field.name]]) for field in fields]
    return [
        (field, name, reading(path, name, types[name], read_as(table, field.name, field.type), field))
        for field, name in found
    ]


def _with(rows: str, converted: list[str]) -> str:
    """The rows of a file with columns whose own values are not compared with declared bounds."""
    return f"(SELECT * REPLACE ({', '.join(converted)}) FROM {rows})" if converted else rows


def _check(database: duckdb.DuckDBPyConnection, path: str, name: str, field: Field, read: Reading) -> None:
    """Refuse the first value that is none of the declared type. Raises DataError."""
    if isinstance(field.type, Timestamp) and _is_int96(database, path, name):
        problem = "the file has timestamps of the old form INT96, which may be finer than microseconds"
        raise DataError(path, problem, "store it as a Parquet timestamp in microseconds", column=field.name)
    if read.wrong is None:
        return
    rows = parquet(path, f", {POSITION} = true")
    first = f"SELECT {POSITION} + 1, CAST({quoted(name)} AS VARCHAR) FROM {rows} WHERE {read.wrong} ORDER BY 1 LIMIT 1"
    for row, value in database.execute(first).fetchall():
        raise DataError(path, f"{value} {read.problem}", read.advice, row=row, column=field.name)


def _is_int96(database: duckdb.DuckDBPyConnection, path: str, name: str) -> bool:
    schema = parquet(path).replace("read_parquet", "parquet_schema", 1)
    found = database.execute(f"SELECT name, type FROM {schema}").fetchall()
    return (name, "INT96") in found

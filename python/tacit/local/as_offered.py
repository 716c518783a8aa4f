"""An owner's file as its offer declares it: opened, checked, and each of its columns beside the file's own rows.

A query reads declared columns and nothing else. A match reads whole rows as they are stored, and what its keys and
numbers are by expressions over the same columns. Both read a column by the same rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from tacit.local import csv_text
from tacit.local.checks import check_source
from tacit.local.csv_form import CsvForm
from tacit.local.csv_source import open_csv
from tacit.local.database import connect, quoted
from tacit.local.errors import told
from tacit.local.parquet_source import open_parquet, readings
from tacit.local.rounded import read_as
from tacit.local.source import Source, data_path, positions, used_fields
from tacit.plan.algebra.types import Field, sql_name
from tacit.plan.facts.catalog import Table


@dataclass(frozen=True)
class OfferedColumn:
    """A column that an offer declares. value: the expression of its values over the file's own columns.

    type: as DuckDB calls it. It is exact for a file that was checked, and fails for no value of it.
    """

    name: str
    value: str
    type: str


def opened_table(database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], form: CsvForm) -> Source:
    """Open columns of an owner's table in a database. form: of a CSV file. Raises DataError."""
    relation = f"source {table.name}"
    if _is_parquet(table):
        return open_parquet(database, table, fields, relation)
    return open_csv(database, table, fields, relation, form)


def check_table(table: Table, form: CsvForm) -> int:
    """Check all that is offered of an owner's table against its file. form: of a CSV file.

    Returns its rows; raises DataError.
    """
    return check_columns(table, (column.field.name for column in table.columns), form)


def check_columns(table: Table, names: Iterable[str], form: CsvForm, memory: str | None = None) -> int:
    """Check what a query that uses some columns would, unique keys included. memory: most of the database, with unit.

    Returns the table's rows; raises DataError.
    """
    fields = used_fields(table, {*names}.union(table.relied_on))
    limits = {} if memory is None else {"memory_limit": memory}
    with (
        tempfile.TemporaryDirectory(prefix="tacit-") as spill,
        connect(temp_directory=spill, **limits) as database,
        told(data_path(table)),
    ):
        return check_source(database, opened_table(database, table, fields, form))


def offered_columns(
    database: duckdb.DuckDBPyConnection, table: Table, names: Iterable[str], form: CsvForm
) -> tuple[OfferedColumn, ...]:
    """Those of some columns that the table's offer declares. form: of a CSV file. Raises DataError."""
    fields = used_fields(table, names)
    if _is_parquet(table):
        values = {field: each.value for field, _, each in readings(database, table, fields)}
    else:
        values = _of_csv(table, fields, form)
    return tuple(OfferedColumn(field.name, value, sql_name(field.type)) for field, value in values.items())


def _of_csv(table: Table, fields: tuple[Field, ...], form: CsvForm) -> dict[Field, str]:
    path = data_path(table)
    present = csv_text.header(path, form)
    found = positions(path, fields, present)
    return {
        field: csv_text.typed(quoted(present[found[field.name]]), read_as(table, field.name, field.type), form)
        for field in fields
    }


def _is_parquet(table: Table) -> bool:
    return data_path(table).lower().endswith(".parquet")

"""Columns of an owner's table as programs read them: one column of integers, row by row, in the order of its file.

The table was opened and checked as for a query. Rows that are declared and not there are of one public number.
"""

from __future__ import annotations

import duckdb

from tacit.local.database import quoted
from tacit.local.encode import BIGINT, WIDE, encoded
from tacit.local.source import Source
from tacit.plan.algebra.types import Boolean, Decimal, Field
from tacit.plan.facts.table_arrays import TableArray
from tacit.plan.programs.declared import declared

VALUE = "value"
"""The one column."""


def load_columns(
    database: duckdb.DuckDBPyConnection, source: Source, array: TableArray, fraction: int, relation: str
) -> int:
    """Write the nearest integers to the elements times 2^fraction to the new table ``relation``; returns their number.

    Of two nearest integers it is the upper one, as for arrays. Raises DataError if the file changes meanwhile.
    """
    facts = declared(array.name, array.shape, array.dtype, (array.low, array.high), None, fraction)
    kind = "BOOLEAN" if facts.dtype == "bool" else "BIGINT" if facts.low in BIGINT and facts.high in BIGINT else WIDE
    fields = {field.name: field for field in source.fields}
    row = [_element(fields[name], facts.fraction, kind) for name in array.columns] or ["TRUE"]
    name = quoted(relation)
    rows = f"SELECT CAST(unnest([{', '.join(row)}]) AS {kind}) AS {VALUE} FROM {quoted(source.relation)}"
    database.execute(f"CREATE OR REPLACE TABLE {name} AS {rows}").fetchall()
    (found,) = database.execute(f"SELECT count(*) FROM {name}").fetchall()[0]
    filler = "FALSE" if kind == "BOOLEAN" else str(max(facts.low, min(facts.high, 0)))
    rest = f"SELECT CAST({filler} AS {kind}) FROM range({array.size - int(found)})"
    database.execute(f"INSERT INTO {name} {rest}").fetchall()
    source.verify_unchanged()
    return array.size


def _element(field: Field, fraction: int, kind: str) -> str:
    """The integer of a column's value, whose encoding is the value times 10^scale."""
    value = encoded(field.name, field.type)
    if kind == "BOOLEAN":
        return value
    if field.type == Boolean():
        value = f"CAST({value} AS BIGINT)"
    unit = 10**field.type.scale if isinstance(field.type, Decimal) else 1
    doubled = f"(CAST({value} AS HUGEINT) * {2 << fraction}::HUGEINT + {unit}::HUGEINT)"
    return _floor(doubled, f"{2 * unit}::HUGEINT")


def _floor(top: str, bottom: str) -> str:
    """The integer below top / bottom, for bottom > 0; DuckDB's own quotient is cut towards zero."""
    return f"(({top} - (({top} % {bottom}) + {bottom}) % {bottom}) // {bottom})"

"""Opens a CSV file: its used columns are read once, with their types checked, into a table of the party's database.

Reading a CSV costs far more than writing the table. What follows (checks, local parts) is then nearly free, sees the
same rows, and knows a row's number by its row id.
"""

from __future__ import annotations

import duckdb

from tacit.local import csv_text
from tacit.local.errors import DataError
from tacit.local.source import Source, data_path, positions, stamp
from tacit.local.sql_types import NO_COLUMNS, quoted
from tacit.plan.algebra.types import Field, sql_name
from tacit.plan.facts.catalog import Table

LINE_PROBLEMS = {
    "MISSING COLUMNS": ("has fewer values than the header has names", "add what is missing (an empty value is NULL)"),
    "TOO MANY COLUMNS": (
        "has more values than the header has names",
        "put values that contain a comma in double quotes",
    ),
    "UNQUOTED VALUE": ("has a quote that does not end its value", 'close it, and write a quote within a value as ""'),
    "LINE SIZE OVER MAXIMUM": ("is longer than 2 MB", "check for a quote that is never closed"),
    "INVALID ENCODING": ("is not UTF-8 text", "save the file as UTF-8"),
    "INVALID STATE": ("is not CSV", "put values that contain a comma or a quote in double quotes"),
}
"""DuckDB's kinds of malformed lines, as a person says them, with what to do."""


def open_csv(database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], relation: str) -> Source:
    """Read the fields' columns into the database's new table ``relation``. Raises DataError with the first bad row."""
    path = data_path(table)
    opened = stamp(path)
    file = _File(path, fields)
    try:
        database.execute(f"CREATE TABLE {quoted(relation)} AS {file.select()}").fetchall()
    except duckdb.Error:
        file.explain_failure()
        raise
    name = quoted(relation)
    return Source(table, path, fields, relation, name, name, "rowid", opened, may_have_nul=file.has_nul)


def check_lines(database: duckdb.DuckDBPyConnection, path: str, width: int) -> None:
    """Find the first malformed line of a file of ``width`` columns. database: with one thread. Raises DataError."""
    reader = csv_text.reader(path, width, ", store_rejects = true, rejects_limit = 1")
    counts = ", ".join(f"count({csv_text.at(index)})" for index in range(width))
    database.execute(f"SELECT {counts} FROM {reader}").fetchall()
    first = "SELECT error_type, line_byte_position FROM reject_errors ORDER BY line_byte_position LIMIT 1"
    for kind, byte in database.execute(first).fetchall():
        what, advice = LINE_PROBLEMS.get(kind, LINE_PROBLEMS["INVALID STATE"])
        raise DataError(path, f"line {csv_text.line_number(path, byte - 1)} {what}", advice)


class _File:
    """A CSV file and the columns to read from it."""

    def __init__(self, path: str, fields: tuple[Field, ...]) -> None:
        present = csv_text.header(path)
        self._path = path
        self._width = len(present)
        self._marks = csv_text.marks(path, [field.type for field in fields])
        found = positions(path, fields, present)
        self._columns = [(csv_text.at(found[field.name]), field) for field in fields]

    @property
    def has_nul(self) -> bool:
        """Whether there is a NUL character in the file."""
        return "\0" in self._marks

    def select(self) -> str:
        """The query for the typed columns. It fails if any value is not exactly of its column's type."""
        outputs = [f"CAST({at} AS {sql_name(field.type)}) AS {quoted(field.name)}" for at, field in self._columns]
        query = (
            f"SELECT {', '.join(outputs) or f'TRUE AS {NO_COLUMNS}'} FROM {csv_text.reader(self._path, self._width)}"
        )
        conditions = [csv_text.inexact(at, field.type, self._marks) for at, field in self._columns]
        inexact = " OR ".join(condition for condition in conditions if condition is not None)
        return f"{query} WHERE CASE WHEN {inexact} THEN error('inexact value') ELSE TRUE END" if inexact else query

    def explain_failure(self) -> None:
        """Find the first malformed line, or else the first wrong value, and raise it as DataError.

        One thread of a database of its own reads the file in order; speed does not matter any more.
        """
        with duckdb.connect(config={"threads": 1}) as database:
            check_lines(database, self._path, self._width)
            self._wrong_value(database)

    def _wrong_value(self, database: duckdb.DuckDBPyConnection) -> None:
        wrong = [csv_text.wrong(at, field.type, self._marks) for at, field in self._columns]
        if not wrong:
            return
        which = " ".join(f"WHEN {condition} THEN {at}" for at, condition in enumerate(wrong))
        value = " ".join(f"WHEN {condition} THEN {at}" for (at, _), condition in zip(self._columns, wrong, strict=True))
        rows = f"SELECT row_number() OVER () AS position, * FROM {csv_text.reader(self._path, self._width)}"
        found = f"SELECT position, CASE {which} END, CASE {value} END FROM ({rows}) WHERE {' OR '.join(wrong)}"
        for row, column, text in database.execute(f"{found} ORDER BY position LIMIT 1").fetchall():
            field = self._columns[column][1]
            advice = "correct the value, or declare the column's real type in the offer"
            raise DataError(self._path, csv_text.problem(text, field.type), advice, row=row, column=field.name)

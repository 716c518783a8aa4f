"""Opens a CSV file: its used columns are read once, with their types checked, into a table of the party's database.

Reading a CSV costs far more than writing the table. What follows (checks, local parts) is then nearly free, sees the
same rows, and knows a row's number by its row id.
"""

from __future__ import annotations

import duckdb

from tacit.local import csv_text
from tacit.local.csv_form import CsvForm
from tacit.local.database import connect, quoted
from tacit.local.errors import DataError
from tacit.local.rounded import read_as
from tacit.local.source import Source, data_path, positions
from tacit.local.sql_types import NO_COLUMNS
from tacit.local.stored import check_lines, stamp
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Table


def open_csv(
    database: duckdb.DuckDBPyConnection, table: Table, fields: tuple[Field, ...], relation: str, form: CsvForm
) -> Source:
    """Read the fields' columns into the database's new table ``relation``. Raises DataError with the first bad row.

    form: how the file is written.
    """
    path = data_path(table)
    opened = stamp(path)
    file = _File(path, table, fields, form)
    try:
        database.execute(f"CREATE TABLE {quoted(relation)} AS {file.select()}").fetchall()
    except duckdb.Error:
        file.explain_failure()
        raise
    name = quoted(relation)
    return Source(table, path, fields, relation, name, name, "rowid", opened, may_have_nul=file.has_nul)


class _File:
    """A CSV file and the columns to read from it."""

    def __init__(self, path: str, table: Table, fields: tuple[Field, ...], form: CsvForm) -> None:
        present = csv_text.header(path, form)
        self._path, self._form = path, form
        self._width = len(present)
        types = {field.name: read_as(table, field.name, field.type) for field in fields}
        self._marks = csv_text.marks(path, types.values(), form)
        found = positions(path, fields, present)
        self._columns = [(csv_text.at(found[name]), name, type_) for name, type_ in types.items()]

    @property
    def has_nul(self) -> bool:
        """Whether there is a NUL character in the file."""
        return "\0" in self._marks

    def select(self) -> str:
        """The query for the typed columns. It fails if any value is not exactly of its column's type."""
        outputs = [f"{csv_text.typed(at, type_, self._form)} AS {quoted(name)}" for at, name, type_ in self._columns]
        rows = csv_text.reader(self._path, self._width, form=self._form)
        query = f"SELECT {', '.join(outputs) or f'TRUE AS {NO_COLUMNS}'} FROM {rows}"
        conditions = [csv_text.inexact(at, type_, self._marks, self._form) for at, _, type_ in self._columns]
        inexact = " OR ".join(condition for condition in conditions if condition is not None)
        return f"{query} WHERE CASE WHEN {inexact} THEN error('inexact value') ELSE TRUE END" if inexact else query

    def explain_failure(self) -> None:
        """Find the first malformed line, or else the first wrong value, and raise it as DataError.

        One thread of a database of its own reads the file in order; speed does not matter any more.
        """
        with connect(threads=1) as database:
            check_lines(database, self._path, self._width, self._form)
            self._wrong_value(database)

    def _wrong_value(self, database: duckdb.DuckDBPyConnection) -> None:
        wrong = [csv_text.wrong(at, type_, self._marks, self._form) for at, _, type_ in self._columns]
        if not wrong:
            return
        which = " ".join(f"WHEN {condition} THEN {at}" for at, condition in enumerate(wrong))
        value = " ".join(
            f"WHEN {condition} THEN {at}" for (at, *_), condition in zip(self._columns, wrong, strict=True)
        )
        read = csv_text.reader(self._path, self._width, form=self._form)
        rows = f"SELECT row_number() OVER () AS position, * FROM {read}"
        found = f"SELECT position, CASE {which} END, CASE {value} END FROM ({rows}) WHERE {' OR '.join(wrong)}"
        for row, column, text in database.execute(f"{found} ORDER BY position LIMIT 1").fetchall():
            _, name, type_ = self._columns[column]
            advice = "correct the value, or declare the column's real type in the offer"
            raise DataError(self._path, csv_text.problem(text, type_), advice, row=row, column=name)

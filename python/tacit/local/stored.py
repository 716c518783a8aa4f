"""An owner's input as it is stored: what a Parquet or CSV file holds, or an Arrow stream, and what is wrong with it.

Tables of queries and inputs of matches are both read by this. Nothing here loads the parser of SQL.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tacit.local import csv_text
from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import connect, file, quoted
from tacit.local.engine import ArrowStream
from tacit.local.errors import DataError

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


@dataclass(frozen=True)
class Stored:
    """An input whose columns are all there, under their own names and in their own types.

    name: of the file, for people. relation: the FROM item. types: DuckDB's type of each column. stamp: what changes
    when the file is written or replaced. is_csv: all columns are text. form: of a CSV file. file: where it is, None of
    an Arrow stream.
    """

    name: str
    relation: str
    types: dict[str, str]
    rows: int
    stamp: str
    is_csv: bool = False
    form: CsvForm = USUAL
    file: Path | None = None

    @property
    def changed(self) -> bool:
        """Whether its file is not the one any more that was opened."""
        try:
            return self.file is not None and _stamp(self.file) != self.stamp
        except DataError:
            return True

    def check_lines(self) -> None:
        """Refuse a CSV file with a malformed line. Raises DataError with the first one."""
        if self.is_csv:
            _check_csv(self.name, self.form)


def stored_file(database: duckdb.DuckDBPyConnection, path: Path, form: CsvForm = USUAL) -> Stored:
    """A file as it is. form: how it is written, if it is CSV. Raises DataError."""
    name, is_csv = str(path), path.suffix.lower() == ".csv"
    opened = _stamp(path)
    if is_csv:
        types = dict.fromkeys(_names(name, form), "VARCHAR")
        relation = _all_as_text(name, list(types), form)
    elif path.suffix.lower() == ".parquet":
        relation, types = parquet(name), parquet_types(database, name)
    else:
        raise DataError(name, "the file is neither Parquet nor CSV", "name a .parquet or .csv file")
    try:
        rows = _rows(database, relation)
    except duckdb.Error:
        if is_csv:
            _check_csv(name, form)
        raise DataError(name, "the file cannot be read", "save it anew") from None
    return Stored(name, relation, types, rows, opened, is_csv, form, path.resolve())


def stored_stream(database: duckdb.DuckDBPyConnection, stream: ArrowStream) -> Stored:
    """An Arrow stream, which is read once."""
    database.register("given", stream)
    database.execute("CREATE TABLE input AS FROM given")
    return Stored("the table", "input", _types(database, "input"), _rows(database, "input"), "memory")


def stamp(path: str, advice: str = "put the file there, or correct its path in the private file") -> tuple[int, ...]:
    """What changes when a file is written or replaced: device, inode, size and time.

    advice: for a file that cannot be read. Raises DataError for such a one.
    """
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
    except OSError as error:
        raise DataError(path, f"the file cannot be read ({error.strerror})", advice) from None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _stamp(path: Path) -> str:
    """The same as a text, with the file's own path. Raises DataError."""
    _, _, size, written = stamp(str(path), "put the file there, or name another")
    return f"{path.resolve()} {size} {written}"


def parquet(path: str, more: str = "") -> str:
    """The FROM item of a Parquet file."""
    return f"read_parquet({file(path)}{more})"


def parquet_types(database: duckdb.DuckDBPyConnection, path: str) -> dict[str, str]:
    """The stored type of each column. Raises DataError."""
    try:
        return _types(database, parquet(path))
    except duckdb.Error:
        raise DataError(path, "the file is not Parquet", "store the table as Parquet, or name a .csv file") from None


def check_lines(database: duckdb.DuckDBPyConnection, path: str, width: int, form: CsvForm) -> None:
    """Find the first malformed line of a CSV file of ``width`` columns. database: with one thread. Raises DataError."""
    reader = csv_text.reader(path, width, ", store_rejects = true, rejects_limit = 1", form)
    counts = ", ".join(f"count({csv_text.at(index)})" for index in range(width))
    try:
        database.execute(f"SELECT {counts} FROM {reader}").fetchall()
    except duckdb.InvalidInputException:
        raise csv_text.unreadable(path) from None
    first = "SELECT error_type, line_byte_position FROM reject_errors ORDER BY line_byte_position LIMIT 1"
    for kind, byte in database.execute(first).fetchall():
        what, advice = LINE_PROBLEMS.get(kind, LINE_PROBLEMS["INVALID STATE"])
        raise DataError(path, f"line {csv_text.line_number(path, byte - 1)} {what}", advice)


def _check_csv(path: str, form: CsvForm) -> None:
    with connect(threads=1) as database:
        check_lines(database, path, len(csv_text.header(path, form)), form)


def _names(path: str, form: CsvForm) -> list[str]:
    """The names of a CSV file's columns, all different. Raises DataError."""
    names = csv_text.header(path, form)
    for name, times in Counter(name.lower() for name in names).items():
        if not name:
            raise DataError(path, "a column has no name", "name it in the first line")
        if times > 1:
            raise DataError(path, f"{times} columns are called {name}", "rename all but one")
    return names


def _all_as_text(path: str, names: list[str], form: CsvForm) -> str:
    columns = ", ".join(f"{csv_text.at(index)} AS {quoted(name)}" for index, name in enumerate(names))
    return f"(SELECT {columns} FROM {csv_text.reader(path, len(names), form=form)})"


def _types(database: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    described = database.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: type_ for name, type_, *_ in described}


def _rows(database: duckdb.DuckDBPyConnection, relation: str) -> int:
    (rows,) = database.execute(f"SELECT count(*) FROM {relation}").fetchall()[0]
    return int(rows)

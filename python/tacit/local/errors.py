"""What can be wrong with an owner's data: the owner's own error, told before anything is shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb


class DataError(Exception):
    """A table's file that cannot be read, or data that breaks what the offer declares.

    The sentence names the file, the row (row 1 is the first row of data) or line, the column, what is wrong and what to
    do. It may quote the wrong value, so it is for the owner's eyes only.
    """

    def __init__(
        self, file: str, problem: str, advice: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        where = file if row is None else f"{file}, row {row}"
        where = where if column is None else f"{where}, column {column}"
        super().__init__(f"{where}: {problem}; {advice}.")
        self.file = file
        self.row = row
        self.column = column


@contextmanager
def told(where: str, columns: Sequence[str] = ()) -> Iterator[None]:
    """Turn what DuckDB says about the user's data or machine into a DataError, without the values that DuckDB quotes. A
    query's errors are printed and kept where others may read them.

    where: which part of the work it is. columns: those that are computed with.
    """
    try:
        yield
    except (duckdb.OutOfRangeException, duckdb.ConversionException):
        value = f"a value computed from {' and '.join(columns)}" if columns else "a computed value"
        advice = "cast to a wider type in the query, or look for extreme values in the data"
        raise DataError(where, f"{value} is out of its type's range", advice) from None
    except duckdb.OutOfMemoryException:
        raise DataError(where, "there is not enough memory", "free some, or ask about fewer rows or columns") from None
    except duckdb.IOException as error:
        raise DataError(where, _first_line(error), "make sure that the disk has room and works") from None


def _first_line(error: duckdb.Error) -> str:
    """The message without its class and its picture of the query."""
    return str(error).partition("\n")[0].partition(": ")[2].rstrip(".") or type(error).__name__

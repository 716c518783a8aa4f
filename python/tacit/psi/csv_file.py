"""A CSV file as an input of a match: read as tables of queries are (tacit.local), and all of it as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tacit.agent.faults import Fault, RunError
from tacit.local import csv_text
from tacit.local.csv_source import check_lines
from tacit.local.errors import DataError
from tacit.local.sql_types import quoted


def csv_relation(path: Path) -> str:
    """The FROM item with the columns of the header. Raises RunError."""
    with _told():
        names = csv_text.header(str(path))
    for name, times in Counter(name.lower() for name in names).items():
        if not name or times > 1:
            problem = f"{times} columns are called {name}; rename all but one" if name else "a column has no name"
            raise RunError(Fault.INPUT, f"{path}: {problem}.")
    columns = ", ".join(f"{csv_text.at(index)} AS {quoted(name)}" for index, name in enumerate(names))
    return f"(SELECT {columns} FROM {csv_text.reader(str(path), len(names))})"


def check_csv(path: Path) -> None:
    """Refuse a file with a malformed line. Raises RunError with the first one."""
    with _told(), duckdb.connect(config={"threads": 1}) as database:
        check_lines(database, str(path), len(csv_text.header(str(path))))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise RunError(Fault.INPUT, str(error)) from None

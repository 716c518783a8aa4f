"""What one database answers that has all tables in clear."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import duckdb

from .reference.evaluate import Data
from .reference.offers import Offers


def database(offers: Offers, data: Data) -> duckdb.DuckDBPyConnection:
    """A database of all tables."""
    connection = duckdb.connect()
    for name, table in offers.items():
        columns = ", ".join(f"{column} {each.type}" for column, each in table.columns.items())
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = f"({', '.join('?' * len(table.columns))})"
        rows = [[row.get(column) for column in table.columns] for row in data[name]]
        for few in (rows[at : at + 100] for at in range(0, len(rows), 100)):
            values = [value for row in few for value in row]
            connection.execute(f"INSERT INTO {name} VALUES {', '.join([marks] * len(few))}", values)
    return connection


def same(one: Iterable[tuple[Any, ...]], other: Iterable[tuple[Any, ...]]) -> bool:
    """Whether two answers have equal rows, in any order. Averages may differ in their last bits."""
    return sorted(map(_rounded, one)) == sorted(map(_rounded, other))


def _rounded(row: tuple[Any, ...]) -> str:
    return repr([round(float(each), 6) if isinstance(each, int | float) else str(each) for each in row])

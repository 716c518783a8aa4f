"""A party's database: how DuckDB is opened, and how its SQL writes names and strings."""

from __future__ import annotations

import re

import duckdb

SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "async_threads": 0,
}
"""Nothing is fetched from the network, and no Python variable is mistaken for a table. No thread of DuckDB's own writes
files: in 2.0, a write that such a thread fails can wait for itself for ever (a full disk, now and then)."""


def connect(**settings: str | int | bool) -> duckdb.DuckDBPyConnection:
    """A new database in memory. settings: DuckDB's own, besides those of all."""
    return duckdb.connect(config={**SETTINGS, **settings})


def file(path: str) -> str:
    """A path to read, as a string literal: the file of this very name, also where that is a pattern to DuckDB."""
    return text(re.sub(r"([*?\[])", r"[\1]", path))


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string constant."""
    return "'" + value.replace("'", "''") + "'"

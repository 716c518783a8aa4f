"""The rows of a party's own input, read once: into bins, or with their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import duckdb

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.psi.parameters import Parameters
from tacit.psi.source import Source

Table = TypeVar("Table", _native.Binned, _native.KeyedTable)

Counts = tuple[int, int, list[int]]
"""Rows, rows with NULL in a key column, and by key column the rows without a valid value."""

Folder = tuple[str, str, bytes]
"""Where the files of bins go, the name of the run, and the key under which they are encrypted."""


def partition(
    source: Source,
    key: bytes,
    normalisers: Sequence[str],
    tell: Callable[[str], None],
    *,
    memory: int,
    keep_keyless: bool,
    bins: int = 1,
    folder: Folder | None = None,
) -> tuple[_native.Binned, Counts]:
    """Put an input into bins. folder: where they go, None for memory. Raises RunError that names what is wrong."""

    def put() -> _native.Binned:
        return _native.Binned.partition(
            source.select(),
            key=key,
            columns=source.key_columns(normalisers),
            payload=source.places(source.columns),
            bins=bins,
            folder=folder,
            flush_bytes=max(1 << 20, min(1 << 29, memory // 4)),
            keep_keyless=keep_keyless,
        )

    return _read(source, put, tell)


def keyed(
    source: Source, key: bytes, parameters: Parameters, tell: Callable[[str], None]
) -> tuple[_native.KeyedTable, Counts]:
    """Read an input whose rows may have several keys. The counts: with several, rows without any of them count as NULL.

    Raises RunError that names what is wrong.
    """

    def put() -> _native.KeyedTable:
        keys = parameters.by_key(source.key_columns(parameters.normalisers))
        return _native.KeyedTable.read(source.select(), key=key, keys=keys, payload=source.places(source.columns))

    table, (rows, null, invalid) = _read(source, put, tell)
    return table, (rows, null, invalid if parameters.keys == 1 else [])


def _read(source: Source, put: Callable[[], Table], tell: Callable[[str], None]) -> tuple[Table, Counts]:
    """Read the rows once, and say what is wrong with them."""
    try:
        table = put()
    except (_native.InputError, duckdb.Error) as error:
        problem = str(error) if isinstance(error, _native.InputError) else "its rows cannot be read; save it anew"
        raise source.unreadable(problem) from None
    rows, null, invalid = table.counts
    if rows != source.rows or source.stored.changed:
        raise RunError(Fault.INPUT, f"{source.name}: it changed while it was read; run the same command again.")
    for column, (count, first) in zip(source.key, invalid, strict=True):
        if count:
            more = f"; {count - 1:,} more are not" if count > 1 else ""
            tell(f"{source.name}, column {column}: the value in row {first} is not valid{more}")
    return table, (rows, null, [count for count, _ in invalid])

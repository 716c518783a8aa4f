"""From an opened input to bins: reading it, counting rows without a key, and saying what is wrong with it."""

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
    columns = list(zip(source.places(source.key), normalisers, strict=True))

    def put() -> _native.Binned:
        return _native.Binned.partition(
            source.select(),
            key=key,
            columns=columns,
            payload=source.places(source.columns),
            bins=bins,
            folder=folder,
            flush_bytes=max(1 << 20, min(1 << 29, memory // 4)),
            keep_keyless=keep_keyless,
        )

    table = _read(source, put, tell)
    return table, _counted(source, table.counts, tell)


def keyed(
    source: Source, key: bytes, parameters: Parameters, tell: Callable[[str], None]
) -> tuple[_native.KeyedTable, Counts]:
    """Read an input whose rows may have several keys. The counts: with several, rows without any of them count as NULL.

    Raises RunError that names what is wrong.
    """
    columns = list(zip(source.places(source.key), parameters.normalisers, strict=True))

    def put() -> _native.KeyedTable:
        payload = source.places(source.columns)
        keys = parameters.by_key(columns)
        return _native.KeyedTable.read(source.select(), key=key, keys=keys, payload=payload)

    table = _read(source, put, tell)
    rows, null, invalid = _counted(source, table.counts, tell)
    return table, (rows, null, invalid if parameters.keys == 1 else [])


def _read(source: Source, put: Callable[[], Table], tell: Callable[[str], None]) -> Table:
    for column, kind in source.casts.items():
        tell(f"{source.name}, column {column}: its texts are read as {kind}")
    try:
        return put()
    except (_native.InputError, duckdb.Error) as error:
        source.explain_failure()
        problem = str(error) if isinstance(error, _native.InputError) else "its rows cannot be read; save it anew"
        raise RunError(Fault.INPUT, f"{source.name}: {problem}.") from None


def _counted(
    source: Source, counts: tuple[int, int, list[tuple[int, int | None]]], tell: Callable[[str], None]
) -> Counts:
    rows, null, invalid = counts
    if rows != source.rows:
        raise RunError(Fault.INPUT, f"{source.name}: it changed while it was read; run the same command again.")
    for column, (count, first) in zip(source.key, invalid, strict=True):
        if count:
            tell(f"{source.name}, column {column}: {count:,} values are not valid, the first in row {first}")
    return rows, null, [count for count, _ in invalid]

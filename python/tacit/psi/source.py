"""A party's own input: its columns looked up and typed, its rows read into bins or with their keys.

What stands in the file is for tacit.local.stored to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import duckdb

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.local.database import connect, quoted
from tacit.local.engine import ArrowStream
from tacit.local.errors import DataError
from tacit.local.stored import Stored, stored_file, stored_stream
from tacit.psi.parameters import Parameters

KINDS = (
    (re.compile(r"VARCHAR|UUID|ENUM\(.*"), "text"),
    (re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(.*"), "number"),
    (re.compile(r"FLOAT|DOUBLE"), "floating-point number"),
    (re.compile(r"BOOLEAN"), "boolean"),
    (re.compile(r"DATE"), "date"),
    (re.compile(r"TIMESTAMP WITH TIME ZONE"), "timestamp with time zone"),
    (re.compile(r"TIMESTAMP(_S|_MS|_NS)?"), "timestamp"),
    (re.compile(r"TIME"), "time"),
    (re.compile(r"BLOB"), "bytes"),
)
"""The kind of a DuckDB type: keys match within one kind only."""

CASTS = {
    "number": "DECIMAL(38, 9)",
    "floating-point number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
    "time": "TIME",
}
"""What the text of a key is read as where the parties declare that kind."""

INTEGER = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|BOOLEAN")
"""The types of columns that are computed with."""

WIDTHS = (
    (re.compile(r"BOOLEAN|U?TINYINT"), 1),
    (re.compile(r"U?SMALLINT"), 2),
    (re.compile(r"U?INTEGER|FLOAT|DATE"), 4),
    (re.compile(r"U?BIGINT|DOUBLE|TIME.*"), 8),
    (re.compile(r"U?HUGEINT|DECIMAL\(.*"), 16),
)
"""Bytes that a value of a DuckDB type takes in Arrow; of other types it depends on the value."""

OFFSET_BYTES = 4
"""What Arrow adds to each text."""

SAMPLED_ROWS = 50_000

Table = TypeVar("Table", _native.Binned, _native.KeyedTable)

Counts = tuple[int, int, list[int]]
"""Rows, rows with NULL in a key column, and by key column the rows without a valid value."""

Folder = tuple[str, str, bytes]
"""Where the files of bins go, the name of the run, and the key under which they are encrypted."""


@dataclass
class Source:
    """An opened input. stored: what there is. columns: the payload, in order.

    numbers: those of them that are computed with, as 64-bit integers. casts: the key columns that are text and read as
    another kind, as the parties declare.
    """

    database: duckdb.DuckDBPyConnection
    stored: Stored
    key: tuple[str, ...]
    columns: tuple[str, ...]
    casts: dict[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in sentences."""
        return self.stored.name

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.stored.rows

    def kinds(self) -> list[str]:
        """The kind of every key column."""
        return [self.casts.get(column) or kind_of(self.stored.types[column]) or "" for column in self.key]

    def check_kinds(self, theirs: Sequence[str], peer: str) -> None:
        """Refuse key columns of another kind than the peer's. Raises RunError."""
        for column, mine, other in zip(self.key, self.kinds(), theirs, strict=True):
            if mine != other:
                kind = other if mine == "text" else mine
                castable = "text" in (mine, other) and kind in CASTS
                declare = f"declare --kind {column}={kind} at all parties, or " if castable else ""
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}, column {column}: it is {mine} here and {other} at {peer}; {declare}store it as one "
                    "kind.",
                )

    def select(self, limit: str = "") -> duckdb.DuckDBPyRelation:
        """Key columns that are not kept, then the payload; texts of a key as the kind that is declared."""
        expressions = [
            f"CAST({quoted(column)} AS {CASTS[self.casts[column]]}) AS {quoted(column)}"
            if column in self.casts
            else self._portable(column)
            for column in self.read_columns
        ]
        return self.database.sql(f"SELECT {', '.join(expressions)} FROM {self.stored.relation} {limit}")

    @property
    def bytes(self) -> int:
        """About what key and payload take uncompressed; texts and the like as in the first rows."""
        widths = {column: width_of(self.stored.types[column]) for column in self.read_columns}
        known = sum(width for width in widths.values() if width is not None)
        lengths = [
            f"coalesce(avg(strlen(CAST({quoted(c)} AS VARCHAR))), 0)" for c, width in widths.items() if width is None
        ]
        if not lengths or self.rows == 0:
            return known * self.rows
        sample = f"(SELECT * FROM {self.stored.relation} LIMIT {SAMPLED_ROWS})"
        (found,) = self.database.execute(f"SELECT {', '.join(lengths)} FROM {sample}").fetchall()
        return int((known + sum(length + OFFSET_BYTES for length in found)) * self.rows)

    @property
    def read_columns(self) -> list[str]:
        """The columns that are read: each once, key or payload."""
        return list(dict.fromkeys([*self.key, *self.columns]))

    def compute_with(self, columns: Sequence[str], verb: str) -> None:
        """Keep no payload but integers to compute with. verb: what is done with them. Raises RunError."""
        self.columns = self.numbers = tuple(columns)
        for column in columns:
            if column not in self.stored.types:
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}: there is no column {column!r} to {verb}; it has {', '.join(self.stored.types)}.",
                )
            if column in self.key:
                raise RunError(Fault.INPUT, f"{self.name}, column {column}: it is part of the key; {verb} another one.")
            if not (self.stored.is_csv or INTEGER.fullmatch(self.stored.types[column])):
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}, column {column}: it has type {self.stored.types[column]}; {verb} integers only.",
                )

    def places(self, columns: Sequence[str]) -> list[int]:
        """Where columns are among those read."""
        return [self.read_columns.index(column) for column in columns]

    def key_columns(self, normalisers: Sequence[str]) -> list[tuple[int, str]]:
        """Where the key columns are among those read, and their normalisers."""
        return list(zip(self.places(self.key), normalisers, strict=True))

    def explain_failure(self) -> None:
        """Find the first malformed line, or else the first value that is none of what its column is read as.

        Raises RunError.
        """
        with _told():
            self.stored.check_lines()
        wanted = {
            column: (f"TRY_CAST({quoted(column)} AS {CASTS[kind]})", f"no {kind}, as --kind declares")
            for column, kind in self.casts.items()
        }
        wanted |= {column: (self._integer(column), "no integer of 64 bits") for column in self.numbers}
        for column, (read, problem) in wanted.items():
            bad = f"{quoted(column)} IS NOT NULL AND {read} IS NULL"
            numbered = f"SELECT row_number() OVER () AS row, * FROM {self.stored.relation}"
            found = self.database.execute(f"SELECT row FROM ({numbered}) WHERE {bad} LIMIT 1").fetchall()
            if found:
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}, row {found[0][0]}, column {column}: the value is {problem}; correct it.",
                )

    def _integer(self, column: str) -> str:
        """A column as an integer of 64 bits, NULL where it is none. A cast of a text would round 2.5 to 3."""
        read = f"TRY_CAST({quoted(column)} AS BIGINT)"
        if self.stored.types[column] != "VARCHAR":
            return read
        return f"CASE WHEN regexp_full_match({quoted(column)}, '\\s*[+-]?[0-9]+\\s*') THEN {read} END"

    def _portable(self, column: str) -> str:
        """A column as an Arrow type that every step can carry exactly."""
        stored = self.stored.types[column]
        if column in self.numbers:
            integer, wrong = self._integer(column), f"{quoted(column)} IS NOT NULL AND {self._integer(column)} IS NULL"
            return f"CASE WHEN {wrong} THEN error('no integer') ELSE {integer} END AS {quoted(column)}"
        if stored in ("HUGEINT", "UHUGEINT"):
            return f"CAST({quoted(column)} AS DECIMAL(38, 0)) AS {quoted(column)}"
        if stored.startswith("ENUM(") or stored == "UUID":
            return f"CAST({quoted(column)} AS VARCHAR) AS {quoted(column)}"
        return quoted(column)


def kind_of(stored: str) -> str | None:
    """The kind of a DuckDB type; None if values of it cannot be matched."""
    return next((kind for pattern, kind in KINDS if pattern.fullmatch(stored)), None)


def width_of(stored: str) -> int | None:
    """Bytes of a value of a DuckDB type; None where values differ."""
    return next((width for pattern, width in WIDTHS if pattern.fullmatch(stored)), None)


def open_source(
    data: Path | ArrowStream,
    key: Sequence[str],
    columns: Sequence[str] | None,
    memory: int,
    kinds: Sequence[str] = (),
) -> Source:
    """Open a file (.parquet, .csv) or an Arrow stream. columns: the payload, by default all. kinds: as agreed.

    Raises RunError.
    """
    limit = f"{max(256, memory // 4 >> 20)}MB"
    database = connect(memory_limit=limit, preserve_insertion_order=True)
    with _told():
        stored = stored_file(database, data) if isinstance(data, Path) else stored_stream(database, data)
    name, types = stored.name, stored.types
    source = Source(database, stored, tuple(key), tuple(types if columns is None else columns))
    for column in source.read_columns:
        if column not in types:
            near = get_close_matches(column, types, n=1)
            hint = f"perhaps you mean {near[0]}" if near else f"it has {', '.join(types)}"
            raise RunError(Fault.INPUT, f"{name}: there is no column {column!r}; {hint}.")
    for column in key:
        if kind_of(types[column]) is None:
            raise RunError(
                Fault.INPUT, f"{name}, column {column}: values of type {types[column]} cannot be matched; cast them."
            )
    for column, kind in zip(key, kinds, strict=False):
        if kind and types[column] == "VARCHAR":
            source.casts[column] = kind
        elif kind and kind_of(types[column]) != kind:
            raise RunError(
                Fault.INPUT,
                f"{name}, column {column}: it is {kind_of(types[column])}, not {kind}, as --kind declares; store it as "
                f"{kind}, or declare another kind at all parties.",
            )
    return source


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong with an owner's input, as a fault of a run."""
    try:
        yield
    except DataError as error:
        raise RunError(Fault.INPUT, str(error)) from None


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
    for column, kind in source.casts.items():
        tell(f"{source.name}, column {column}: its texts are read as {kind}")
    try:
        table = put()
    except (_native.InputError, duckdb.Error) as error:
        source.explain_failure()
        problem = str(error) if isinstance(error, _native.InputError) else "its rows cannot be read; save it anew"
        raise RunError(Fault.INPUT, f"{source.name}: {problem}.") from None
    rows, null, invalid = table.counts
    if rows != source.rows:
        raise RunError(Fault.INPUT, f"{source.name}: it changed while it was read; run the same command again.")
    for column, (count, first) in zip(source.key, invalid, strict=True):
        if count:
            tell(f"{source.name}, column {column}: {count:,} values are not valid, the first in row {first}")
    return table, (rows, null, [count for count, _ in invalid])

"""A party's own input: a Parquet or CSV file or an Arrow table, read by DuckDB, its columns looked up and typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.agent.faults import Fault, RunError

if TYPE_CHECKING:
    import duckdb

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

SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}


@dataclass
class Source:
    """An opened input. relation: the FROM item. types: DuckDB's type of every column, by name. rows: how many it has.

    columns: the payload, in order. numbers: those of them that are computed with, as 64-bit integers. is_csv: all
    columns are text. casts: the key columns that are text and read as another kind, as the parties declare.
    """

    database: duckdb.DuckDBPyConnection
    relation: str
    name: str
    types: dict[str, str]
    key: tuple[str, ...]
    columns: tuple[str, ...]
    rows: int
    stamp: str
    is_csv: bool
    casts: dict[str, str]
    numbers: tuple[str, ...] = ()

    def kinds(self) -> list[str]:
        """The kind of every key column."""
        return [self.casts.get(column) or kind_of(self.types[column]) or "" for column in self.key]

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
        return self.database.sql(f"SELECT {', '.join(expressions)} FROM {self.relation} {limit}")

    @property
    def bytes(self) -> int:
        """About what key and payload take uncompressed; texts and the like as in the first rows."""
        widths = {column: width_of(self.types[column]) for column in self.read_columns}
        known = sum(width for width in widths.values() if width is not None)
        lengths = [
            f"coalesce(avg(strlen(CAST({quoted(c)} AS VARCHAR))), 0)" for c, width in widths.items() if width is None
        ]
        if not lengths or self.rows == 0:
            return known * self.rows
        sample = f"(SELECT * FROM {self.relation} LIMIT {SAMPLED_ROWS})"
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
            if column not in self.types:
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}: there is no column {column!r} to {verb}; it has {', '.join(self.types)}.",
                )
            if column in self.key:
                raise RunError(Fault.INPUT, f"{self.name}, column {column}: it is part of the key; {verb} another one.")
            if not (self.is_csv or INTEGER.fullmatch(self.types[column])):
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}, column {column}: it has type {self.types[column]}; {verb} integers only.",
                )

    def places(self, columns: Sequence[str]) -> list[int]:
        """Where columns are among those read."""
        return [self.read_columns.index(column) for column in columns]

    def explain_failure(self) -> None:
        """Find the first malformed line, or else the first value that is none of what its column is read as.

        Raises RunError.
        """
        if self.is_csv:
            from tacit.psi.csv_file import check_csv

            check_csv(Path(self.name))
        wanted = {column: (CASTS[kind], f"no {kind}, as --kind declares") for column, kind in self.casts.items()}
        wanted |= dict.fromkeys(self.numbers, ("BIGINT", "no integer of 64 bits"))
        for column, (kind, problem) in wanted.items():
            bad = f"{quoted(column)} IS NOT NULL AND TRY_CAST({quoted(column)} AS {kind}) IS NULL"
            numbered = f"SELECT row_number() OVER () AS row, * FROM {self.relation}"
            found = self.database.execute(f"SELECT row FROM ({numbered}) WHERE {bad} LIMIT 1").fetchall()
            if found:
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}, row {found[0][0]}, column {column}: the value is {problem}; correct it.",
                )

    def _portable(self, column: str) -> str:
        """A column as an Arrow type that every step can carry exactly."""
        stored = self.types[column]
        if column in self.numbers:
            return f"CAST({quoted(column)} AS BIGINT) AS {quoted(column)}"
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
    data: Path | Any,
    key: Sequence[str],
    columns: Sequence[str] | None,
    threads: int,
    memory: int,
    kinds: Sequence[str] = (),
) -> Source:
    """Open a file (.parquet, .csv) or an Arrow stream. columns: the payload, by default all. kinds: as agreed.

    Raises RunError.
    """
    import duckdb

    limit = f"{max(256, memory // 4 >> 20)}MB"
    database = duckdb.connect(config={**SETTINGS, "threads": threads, "memory_limit": limit})
    database.execute("SET preserve_insertion_order = true")
    relation, rows, stamp, name = _file(database, data) if isinstance(data, Path) else _table(database, data)
    described = database.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {column: stored for column, stored, *_ in described}
    source = Source(
        database, relation, name, types, tuple(key), tuple(types if columns is None else columns), rows, stamp,
        isinstance(data, Path) and data.suffix.lower() == ".csv", {},
    )  # fmt: skip
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
    source.casts = _casts(source, kinds)
    return source


def _casts(source: Source, kinds: Sequence[str]) -> dict[str, str]:
    """The key columns to read as another kind than they are stored in. Raises RunError for one that cannot be."""
    declared = {column: kind for column, kind in zip(source.key, kinds, strict=False) if kind}
    for column, kind in declared.items():
        stored = source.types[column]
        if stored != "VARCHAR" and kind_of(stored) != kind:
            raise RunError(
                Fault.INPUT,
                f"{source.name}, column {column}: it is {kind_of(stored)}, not {kind}, as --kind declares; store it as "
                f"{kind}, or declare another kind at all parties.",
            )
    return {column: kind for column, kind in declared.items() if source.types[column] == "VARCHAR"}


def _file(database: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, int, str, str]:
    import duckdb

    try:
        facts = path.stat()
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}).") from None
    stamp = f"{path.resolve()} {facts.st_size} {facts.st_mtime_ns}"
    try:
        match path.suffix.lower():
            case ".parquet":
                relation = f"read_parquet({text(str(path))})"
                (rows,) = database.execute(f"SELECT count(*) FROM {relation}").fetchall()[0]
            case ".csv":
                from tacit.psi.csv_file import check_csv, csv_relation  # slow to load, and not needed for Parquet

                relation = csv_relation(path)
                (rows,) = database.execute(f"SELECT count(*) FROM {relation}").fetchall()[0]
            case _:
                raise RunError(Fault.INPUT, f"{path}: name a .parquet or .csv file.")
    except duckdb.Error:
        if path.suffix.lower() == ".csv":
            check_csv(path)
        problem = "is not a proper CSV file" if path.suffix.lower() == ".csv" else "is not a Parquet file"
        raise RunError(Fault.INPUT, f"{path}: the file {problem}; save it anew.") from None
    return relation, int(rows), stamp, str(path)


def _table(database: duckdb.DuckDBPyConnection, data: Any) -> tuple[str, int, str, str]:
    database.register("given", data)
    database.execute("CREATE TABLE input AS FROM given")
    (rows,) = database.execute("SELECT count(*) FROM input").fetchall()[0]
    return "input", int(rows), "memory", "the table"


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string constant."""
    return "'" + value.replace("'", "''") + "'"

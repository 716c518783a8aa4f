"""A party's own input: its columns looked up and typed.

What stands in the file is for tacit.local.stored to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import duckdb

from tacit.agent.faults import Fault, RunError
from tacit.local.as_offered import OfferedColumn, check_columns, offered_columns
from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import connect, quoted
from tacit.local.engine import ArrowStream
from tacit.local.stored import Stored, stored_file, stored_stream
from tacit.plan.facts.catalog import Table
from tacit.psi.exact import CASTS, Exact, TextKey, input_faults
from tacit.psi.kinds import kind_of, portable, width_of
from tacit.psi.number_columns import NumberColumn

OFFSET_BYTES = 4
"""What Arrow adds to each text."""

CAST_WIDTH = 16
"""Bytes of a text that is read as another kind, at most."""

SAMPLED_ROWS = 50_000

MOMENT = "TIMESTAMP"
"""DuckDB's type of moments."""


@dataclass(frozen=True)
class OwnTable:
    """This party's own table of an offer. table: with its file. computed: columns that are computed with.

    moments: key columns of days that another table has moments for: SQL compares the first moments of days with them.
    """

    table: Table
    computed: Sequence[str] = ()
    moments: frozenset[str] = frozenset()


@dataclass
class Source:
    """An opened input. stored: what there is. columns: the payload, in order.

    numbers: those of them that are computed with, as 64-bit integers of their last places. casts: the key columns that
    are text and read as another kind, as the parties declare. offered: columns as an offer declares them, if the input
    is one of its tables. Keys of another kind than is stored are read apart, so that the payload stays as it is.
    """

    database: duckdb.DuckDBPyConnection
    stored: Stored
    key: tuple[str, ...]
    columns: tuple[str, ...]
    casts: dict[str, TextKey] = field(default_factory=dict)
    numbers: tuple[NumberColumn, ...] = ()
    offered: Mapping[str, OfferedColumn] = field(default_factory=dict)

    def key_types(self) -> list[str]:
        """As what the key columns are read."""
        casts = {column: cast.kind for column, cast in self.casts.items()}
        return [casts.get(column, self._type(column)) for column in self.key]

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
        casts = {column: cast.kind for column, cast in self.casts.items()}
        return [casts.get(column) or kind_of(self._type(column)) or "" for column in self.key]

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
        """Key columns that are not kept as they are, then the payload."""
        expressions = [f"{expression} AS {quoted(name)}" for name, expression in self._read.items()]
        return self.database.sql(f"SELECT {', '.join(expressions)} FROM {self.stored.relation} {limit}")

    @property
    def bytes(self) -> int:
        """About what key and payload take uncompressed; texts and the like as in the first rows."""
        columns = [*dict.fromkeys([*self.key, *self.columns])]
        widths = {column: width_of(self.stored.types[column]) for column in columns}
        apart = sum(map(self._is_apart, self.key))
        known = sum(width for width in widths.values() if width is not None) + CAST_WIDTH * apart
        lengths = [
            f"coalesce(avg(strlen(CAST({quoted(c)} AS VARCHAR))), 0)" for c, width in widths.items() if width is None
        ]
        if not lengths or self.rows == 0:
            return known * self.rows
        sample = f"(SELECT * FROM {self.stored.relation} LIMIT {SAMPLED_ROWS})"
        (found,) = self.database.execute(f"SELECT {', '.join(lengths)} FROM {sample}").fetchall()
        return int((known + sum(length + OFFSET_BYTES for length in found)) * self.rows)

    @property
    def keeps_key(self) -> bool:
        """Whether the payload has the key as it is matched."""
        return set(self.key) <= set(self.columns) and not any(map(self._is_apart, self.key))

    @property
    def stamp(self) -> str:
        """Which input it is, and as what its keys are read."""
        return json.dumps([self.stored.stamp, repr(self.stored.form), [self._key(column) for column in self.key]])

    @property
    def _read(self) -> dict[str, str]:
        """The columns that are read, each with its expression: the key, then the rest of the payload."""
        key = {self._key_name(column): self._key(column) for column in self.key}
        return key | {column: self._portable(column) for column in self.columns}

    def _key_name(self, column: str) -> str:
        """What a column is called as a part of the key."""
        name = column
        while self._is_apart(column) and name in self.stored.types:
            name += " as key"
        return name

    def _is_apart(self, column: str) -> bool:
        """Whether a key column is matched as something else than is stored."""
        return self._key(column) != self._portable(column)

    def _key(self, column: str) -> str:
        """A column as it is matched. Equal values of one kind are equal keys, whatever their types are."""
        if column in self.casts:
            return self._exact.of_kind(self.casts[column])
        found = self.offered.get(column)
        if found is None or kind_of(found.type) == kind_of(self.stored.types[column]):
            return self._portable(column)
        return portable(found.value, found.type)

    def _type(self, column: str) -> str:
        """As what a column counts: as its offer declares it, or as it is stored."""
        return self.offered[column].type if column in self.offered else self.stored.types[column]

    @property
    def _exact(self) -> Exact:
        return Exact(self.database, self.stored, self.offered)

    def compute_with(self, columns: Sequence[str], verb: str) -> None:
        """Keep no payload but numbers to compute with. verb: what is done with them. Raises RunError."""
        for column in columns:
            if column not in self.stored.types:
                raise RunError(
                    Fault.INPUT,
                    f"{self.name}: there is no column {column!r} to {verb}; it has {', '.join(self.stored.types)}.",
                )
            if column in self.key:
                raise RunError(Fault.INPUT, f"{self.name}, column {column}: it is part of the key; {verb} another one.")
        self.columns = tuple(columns)
        self.numbers = tuple(self._exact.number(column, verb) for column in columns)

    def places(self, columns: Sequence[str]) -> list[int]:
        """Where columns of the payload are among those read."""
        read = list(self._read)
        return [read.index(column) for column in columns]

    def key_columns(self, normalisers: Sequence[str]) -> list[tuple[int, str]]:
        """Where the key columns are among those read, and their normalisers."""
        return list(zip(self.places([self._key_name(column) for column in self.key]), normalisers, strict=True))

    def read_as(self, kinds: Sequence[str]) -> None:
        """Read texts of key columns as the kinds that the parties declare, exactly. Raises RunError.

        kinds: of each key column, "" for what it is.
        """
        for column, kind in zip(self.key, kinds, strict=False):
            found = kind_of(self._type(column))
            if kind and self.stored.types[column] == "VARCHAR" and found == "text":
                self.casts[column] = self._exact.text_key(column, kind)
            elif kind and found != kind:
                where = "offer" if column in self.offered else "store"
                problem = f"{self.name}, column {column}: it is {found}, not {kind}, as --kind declares"
                raise RunError(Fault.INPUT, f"{problem}; {where} it as {kind}, or declare another kind at all parties.")

    @property
    def notes(self) -> list[str]:
        """What its owner should know of it."""
        return [note for cast in self.casts.values() for note in cast.notes]

    def unreadable(self, problem: str) -> RunError:
        """Why its rows cannot be read: the first malformed line, or else a problem."""
        return self._exact.unreadable(problem)

    def _portable(self, column: str) -> str:
        """A column as an Arrow type that every step can carry exactly."""
        for number in self.numbers:
            if number.name == column:
                return self._exact.places(number)
        return portable(quoted(column), self.stored.types[column])


def open_source(
    data: Path | ArrowStream,
    key: Sequence[str],
    columns: Sequence[str] | None,
    memory: int,
    kinds: Sequence[str] = (),
    form: CsvForm = USUAL,
    own: OwnTable | None = None,
) -> Source:
    """Open a file (.parquet, .csv) or an Arrow stream. columns: the payload, by default all. kinds: as agreed.

    form: how a CSV file is written. own: the table of an offer that it is, if it is one. Raises RunError.
    """
    limit = f"{max(256, memory // 4 >> 20)}MB"
    database = connect(memory_limit=limit, preserve_insertion_order=True)
    with input_faults():
        stored = stored_file(database, data, form) if isinstance(data, Path) else stored_stream(database, data)
        stored = stored if own is None else _named_as_offered(stored, own.table)
        offered = () if own is None else tuple(_offered(database, own, key, form, limit))
    name, types = stored.name, stored.types
    if form != USUAL and not stored.is_csv:
        raise RunError(Fault.INPUT, f"{name}: --csv says how CSV files are written; leave it out.")
    source = Source(database, stored, tuple(key), tuple(types if columns is None else columns))
    source.offered = {each.name: each for each in offered}
    for column in dict.fromkeys([*source.key, *source.columns]):
        if column not in types:
            near = get_close_matches(column, types, n=1)
            hint = f"perhaps you mean {near[0]}" if near else f"it has {', '.join(types)}"
            raise RunError(Fault.INPUT, f"{name}: there is no column {column!r}; {hint}.")
    for column in key:
        if kind_of(types[column]) is None and column not in source.offered:
            raise RunError(
                Fault.INPUT, f"{name}, column {column}: values of type {types[column]} cannot be matched; cast them."
            )
    source.read_as(kinds)
    return source


def _named_as_offered(stored: Stored, table: Table) -> Stored:
    """The same with columns named as the offer does: SQL compares names without case."""
    names = {column.field.name.lower(): column.field.name for column in table.columns}
    return replace(stored, types={names.get(name.lower(), name): type_ for name, type_ in stored.types.items()})


def _offered(
    database: duckdb.DuckDBPyConnection, own: OwnTable, key: Sequence[str], form: CsvForm, memory: str
) -> Iterator[OfferedColumn]:
    """The columns of a match as its table's offer declares them, checked as a query checks them. Raises DataError."""
    used = (*key, *own.computed)
    check_columns(own.table, used, form, memory)
    for column in offered_columns(database, own.table, used, form):
        moment = column.name in own.moments
        value = f"CAST({column.value} AS {MOMENT})"
        yield replace(column, value=value, type=MOMENT) if moment else column

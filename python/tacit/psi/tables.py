"""Matching from Python: an Arrow table in, the joint rows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.local.database import connect
from tacit.psi.account import recorded
from tacit.psi.match import Match
from tacit.psi.output import Readings
from tacit.psi.parameters import LEAST
from tacit.psi.prepared import DEFAULT_BUDGET, Query
from tacit.psi.prepared import prepare as prepare_table
from tacit.psi.prepared_file import held, read_prepared
from tacit.psi.report import Report
from tacit.psi.request import Limits, Request
from tacit.psi.start import Start

Keys = Sequence[str] | Sequence[Sequence[str]]
"""The columns of one key, or of several keys, of which any one is enough."""


class Matched(Readings):
    """The joint rows' part of this party. Exports the Arrow PyCapsule stream; each reading is a new one.

    report: what was found and what it cost. Empty rows at a party that does not learn the matches.
    """

    def __init__(self, rows: Callable[[], _native.MatchedRows], report: Report) -> None:
        super().__init__(rows)
        self.report = report

    def __repr__(self) -> str:
        with connect() as database:
            return str(self._read(database))

    def _repr_html_(self) -> str:
        from tacit.agent.answer import table_html  # which loads what queries need

        with connect() as database:
            rows = self._read(database)
            return table_html(rows, len(rows))

    def _read(self, database: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The rows, read once into a database."""
        database.register("matched", Readings(self._rows))
        database.execute("CREATE TABLE shown AS FROM matched")
        return database.table("shown")


def intersect(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    other: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    to: str = "all",
    join: str = "inner",
    protocol: str = "auto",
    bins: int | None = None,
    memory: int = 3 << 30,
    wait: float | None = None,
    workers: int | None = None,
    plugin: Any = None,
) -> Matched:
    """Match a table with the other parties', which call the same with their own. Options are those of ``tacit psi``.

    table: a path to Parquet or CSV, or anything that exports an Arrow stream. kinds: what texts of key columns are read
    as, like ``{"id": "number"}``, equal at all parties. csv: how a CSV file is written, like ``{"delimiter": ";"}``.
    tables: those of offers that are matched; table is None where one of them is this party's own.
    other: whom to match with, by default all of the federation file. wait: for how many seconds the others are waited
    for. Raises RunError and native errors.
    """
    request = Request(
        me=me, keys=_keys(key), other=other, normalise=normalise, kinds=kinds, csv=csv,
        tables=tables, to=to, join=join, protocol=protocol,
        bins=bins, plugin=None if plugin is None else str(plugin.name), limits=Limits(memory, workers),
    )  # fmt: skip
    return _match(table, columns, federation, request, wait, plugin)


def identify(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Keys,
    other: str | None = None,
    columns: Sequence[str] | None = None,
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    protocol: str = "auto",
    memory: int = 3 << 30,
    wait: float | None = None,
) -> Matched:
    """Give every row of both parties a universal id, as ``tacit psi --reveal ids``: nobody learns which rows match.

    key: the columns of a key, or a list of keys, the most important first, like ``[["email"], ["last", "dob"]]``.
    """
    request = Request(
        me=me, keys=_keys(key), other=other, normalise=normalise, kinds=kinds, csv=csv,
        tables=tables, protocol=protocol, reveal="ids",
        limits=Limits(memory),
    )  # fmt: skip
    return _match(table, columns, federation, request, wait)


def share(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Keys,
    other: str | None = None,
    columns: Sequence[str] = (),
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    pairs: str = "all",
    drop_contaminated: str | None = None,
    memory: int = 3 << 30,
    wait: float | None = None,
) -> Matched:
    """Additive shares of both parties' columns of the pairs of rows that match, as ``tacit psi --reveal shares``.

    columns: those of both parties, alike at both, as PARTY.COLUMN or TABLE.COLUMN; without either, of this party.
    key: as of ``identify``. pairs: all, or one for each row at most. drop_contaminated: both, or a party.
    """
    request = Request(
        me=me, keys=_keys(key), other=other, normalise=normalise, kinds=kinds, csv=csv,
        tables=tables, reveal="shares", pairs=pairs,
        drop=drop_contaminated, shared=columns, limits=Limits(memory),
    )  # fmt: skip
    return _match(table, None, federation, request, wait)


def aggregate(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    reveal: str = "cardinality",
    other: str | None = None,
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    to: str = "both",
    least: int = LEAST,
    memory: int = 3 << 30,
    wait: float | None = None,
) -> Report:
    """How many keys both have, and the sum of a column over them, as ``tacit psi --reveal``: ``keys`` and ``sum``.

    reveal: cardinality, or sum(PARTY.COLUMN). least: how many keys have to match for a sum; with fewer it is None. The
    sum of a column with decimals is a ``Decimal``.
    """
    if reveal != "cardinality" and not reveal.startswith("sum("):
        raise RunError(Fault.INPUT, f"{reveal!r} is no number; write cardinality or sum(PARTY.COLUMN).")
    request = Request(
        me=me, keys=[key], other=other, normalise=normalise, kinds=kinds, csv=csv,
        tables=tables, to=to, reveal=reveal, least=least,
        limits=Limits(memory),
    )  # fmt: skip
    return _match(table, (), federation, request, wait).report


def prepare(
    table: Any,
    file: str | Path,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    budget: int = DEFAULT_BUDGET,
    memory: int = 3 << 30,
) -> None:
    """Prepare a table into a file, to be asked about up to ``budget`` rows in all, as ``tacit psi --prepare``."""
    members = Members.load(Path(federation))
    request = Request(
        me=me, keys=[key], normalise=normalise, kinds=kinds, csv=csv, tables=tables, limits=Limits(memory)
    ).resolved(members)  # fmt: skip
    private_key = members.private(me).read_key()
    prepare_table(request.open(table, (), members), request, Path(file), private_key, budget)


def answer(
    file: str | Path,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    other: str | None = None,
    tables: Sequence[str] = (),
    key: Sequence[str] = (),
    most: int | None = None,
    memory: int = 3 << 30,
    wait: float | None = None,
) -> Report:
    """Answer one query about a prepared table, of ``most`` rows at most, as ``tacit psi --prepared``."""
    members = Members.load(Path(federation))
    with Start(members, me, other, wait) as start, held(Path(file)):
        prepared = read_prepared(Path(file), members.private(me).read_key(), memory)
        request = Request(me=me, keys=[key], tables=tables).resolved(members)
        query = Query.answering(start, prepared, request.matched(start.parties))
        report, _, _ = recorded(query, lambda: query.answer(prepared, most))
    return report


def ask(
    table: Any,
    file: str | Path,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    other: str | None = None,
    columns: Sequence[str] | None = None,
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    csv: Mapping[str, object] | None = None,
    tables: Sequence[str] = (),
    memory: int = 3 << 30,
    wait: float | None = None,
) -> Matched:
    """The rows whose keys the other party's prepared table had. file: where what it publishes is kept."""
    asked = Request(
        me=me, keys=[key], other=other, normalise=normalise, kinds=kinds, csv=csv, tables=tables, limits=Limits(memory)
    )  # fmt: skip
    with Start(Members.load(Path(federation)), me, other, wait) as start:
        request = asked.resolved(start.members)
        query = Query.asking(start, request)
        source = request.open(table, columns, start.members)
        report, rows, _ = recorded(query, lambda: query.ask(source, Path(file), memory))
    return Matched(rows, report)


def _keys(key: Keys) -> list[Sequence[str]]:
    """The columns of each key."""
    columns = [column for column in key if isinstance(column, str)]
    keys = [columns_of for columns_of in key if not isinstance(columns_of, str)]
    if columns and keys:
        raise RunError(
            Fault.INPUT, "key has both columns and keys; write [[column, ...], [column, ...]] for several keys."
        )
    found = [*keys] or [columns]
    if not all(found):
        raise RunError(Fault.INPUT, "a key has no column; name one or more.")
    return found


def _match(
    table: Any,
    columns: Sequence[str] | None,
    federation: str | Path,
    request: Request,
    wait: float | None,
    plugin: Any = None,
) -> Matched:
    members = Members.load(Path(federation))
    with Start(members, request.me, request.other, wait) as start:
        request = request.resolved(members)
        parameters = request.parameters(members)
        source = request.open(table, columns, members)
        match = Match(start, parameters, source, request.limits, plugin=plugin)
        report, rows, _ = recorded(match, lambda: (match.run(), match.rows))
    return Matched(rows, report)

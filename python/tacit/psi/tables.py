"""Matching from Python: an Arrow table in, the joint rows out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger
from tacit.psi.account import approved_entry, completed_entry, recorded
from tacit.psi.match import Limits, Match, Report
from tacit.psi.members import Members
from tacit.psi.parameters import Parameters, recipients, revealed
from tacit.psi.source import open_source


class Matched:
    """The joint rows' part of this party. Exports the Arrow PyCapsule stream; each reading is a new one.

    report: what was found and what it cost. Empty rows at a party that does not learn the matches.
    """

    def __init__(self, match: Match, report: Report) -> None:
        self._match = match
        self.report = report

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream."""
        return self._match.rows().__arrow_c_stream__(requested_schema)


def intersect(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    other: str | None = None,
    columns: Sequence[str] | None = None,
    normalise: Mapping[str, str] | None = None,
    to: str = "both",
    join: str = "inner",
    protocol: str = "auto",
    bins: int | None = None,
    memory: int = 3 << 30,
    workers: int | None = None,
    plugin: Any = None,
) -> Matched:
    """Match a table with the other party's, which calls the same with its own. Options are those of ``tacit psi``.

    table: a path to Parquet or CSV, or anything that exports an Arrow stream. Raises RunError and native errors.
    """
    members = Members.load(Path(federation))
    parties = members.pair(me, other)
    name = None if plugin is None else str(plugin.name)
    parameters = Parameters(
        parties, _normalisers(key, normalise), recipients(parties, to), join, protocol, bins, name
    )  # fmt: skip
    return _run(table, members, me, parameters, key, columns, Limits(memory, workers), plugin)


def identify(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    other: str | None = None,
    columns: Sequence[str] | None = None,
    normalise: Mapping[str, str] | None = None,
    protocol: str = "auto",
    memory: int = 3 << 30,
) -> Matched:
    """Give every row of both parties a universal id, as ``tacit psi --reveal ids``: nobody learns which rows match."""
    members = Members.load(Path(federation))
    parties = members.pair(me, other)
    parameters = Parameters(parties, _normalisers(key, normalise), parties, protocol=protocol, reveal="ids")
    return _run(table, members, me, parameters, key, columns, Limits(memory))


def share(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    other: str | None = None,
    columns: Sequence[str] = (),
    normalise: Mapping[str, str] | None = None,
    memory: int = 3 << 30,
) -> Matched:
    """Additive shares of both parties' columns of the pairs of rows that match, as ``tacit psi --reveal shares``."""
    members = Members.load(Path(federation))
    parties = members.pair(me, other)
    parameters = Parameters(parties, _normalisers(key, normalise), parties, reveal="shares")
    return _run(table, members, me, parameters, key, columns, Limits(memory))


def aggregate(
    table: Any,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    reveal: str = "cardinality",
    other: str | None = None,
    normalise: Mapping[str, str] | None = None,
    to: str = "both",
    memory: int = 3 << 30,
) -> Report:
    """How many keys both have, and the sum of a column over them, as ``tacit psi --reveal``: ``keys`` and ``sum``.

    reveal: cardinality, or sum(PARTY.COLUMN).
    """
    members = Members.load(Path(federation))
    parties = members.pair(me, other)
    what, summed = revealed(reveal, parties)
    if what not in ("cardinality", "sum"):
        raise RunError(Fault.INPUT, f"{reveal!r} is no number; write cardinality or sum({parties[1]}.COLUMN).")
    parameters = Parameters(
        parties, _normalisers(key, normalise), recipients(parties, to), reveal=what, summed=summed
    )  # fmt: skip
    return _run(table, members, me, parameters, key, (), Limits(memory)).report


def _normalisers(key: Sequence[str], normalise: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple((normalise or {}).get(column, "exact") for column in key)


def _run(
    table: Any,
    members: Members,
    me: str,
    parameters: Parameters,
    key: Sequence[str],
    columns: Sequence[str] | None,
    limits: Limits,
    plugin: Any = None,
) -> Matched:
    data = Path(table) if isinstance(table, str | Path) else table
    source = open_source(data, key, columns, limits.offered(), limits.memory)
    match = Match(members, me, parameters, source, limits, plugin=plugin)
    ledger = Ledger(members.parties[me].ledger)
    approved = ledger.append("approved", approved_entry(me, parameters))
    with recorded(ledger, approved, me):
        report = match.run()
    ledger.append("completed", completed_entry(approved, report))
    return Matched(match, report)

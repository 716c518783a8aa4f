"""Matching from Python: an Arrow table in, the joint rows out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.agent.ledger import Ledger
from tacit.psi.account import approved_entry, completed_entry, recorded
from tacit.psi.match import Limits, Match, Report
from tacit.psi.members import Members
from tacit.psi.parameters import Parameters, recipients
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
    chosen = tuple((normalise or {}).get(column, "exact") for column in key)
    name = None if plugin is None else str(plugin.name)
    parameters = Parameters(parties, chosen, recipients(parties, to), join, protocol, bins, name)
    limits = Limits(memory, workers)
    data = Path(table) if isinstance(table, str | Path) else table
    source = open_source(data, key, columns, limits.offered(), memory)
    match = Match(members, me, parameters, source, limits, plugin=plugin)
    ledger = Ledger(members.parties[me].ledger)
    approved = ledger.append("approved", approved_entry(me, parameters))
    with recorded(ledger, approved, me):
        report = match.run()
    ledger.append("completed", completed_entry(approved, report))
    return Matched(match, report)

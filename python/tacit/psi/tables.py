"""Matching from Python: an Arrow table in, the joint rows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.agent.prices import shared_prices
from tacit.psi.account import approved_entry, completed_entry, recorded
from tacit.psi.agreement import Agreement
from tacit.psi.group import GroupMatch, GroupParameters, refuse
from tacit.psi.match import Limits, Match, Report
from tacit.psi.members import matching, pair
from tacit.psi.parameters import LEAST, Parameters, dropped, keys_of, kinds_of, recipients, revealed
from tacit.psi.prepared import DEFAULT_BUDGET, Query, query_parameters
from tacit.psi.prepared import prepare as prepare_table
from tacit.psi.prepared_file import held, read_prepared
from tacit.psi.source import Source, open_source

if TYPE_CHECKING:
    from tacit import _native


Keys = Sequence[str] | Sequence[Sequence[str]]
"""The columns of one key, or of several keys, of which any one is enough."""


class Matched:
    """The joint rows' part of this party. Exports the Arrow PyCapsule stream; each reading is a new one.

    report: what was found and what it cost. Empty rows at a party that does not learn the matches.
    """

    def __init__(self, rows: Callable[[], _native.MatchedRows], report: Report) -> None:
        self._rows = rows
        self.report = report

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream."""
        return self._rows().__arrow_c_stream__(requested_schema)


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
    to: str = "all",
    join: str = "inner",
    protocol: str = "auto",
    bins: int | None = None,
    memory: int = 3 << 30,
    workers: int | None = None,
    plugin: Any = None,
) -> Matched:
    """Match a table with the other parties', which call the same with their own. Options are those of ``tacit psi``.

    table: a path to Parquet or CSV, or anything that exports an Arrow stream. kinds: what texts of key columns are read
    as, like ``{"id": "number"}``, equal at all parties. other: whom to match with, by default all
    of the federation file. Raises RunError and native errors.
    """
    members = Members.load(Path(federation))
    everybody = matching(members, me, other)
    if len(everybody) > 2:
        refuse(everybody, {
            f"join={join!r}": join != "inner",
            "protocol": protocol != "auto",
            "bins": bins is not None,
            "workers": workers is not None,
            "plugin": plugin is not None,
        })  # fmt: skip
        declared = kinds_of(key, kinds or {})
        agreed = GroupParameters(
            everybody, _normalisers(key, normalise), recipients(everybody, to), kinds=declared,
            prices=shared_prices(members.path),
        )  # fmt: skip
        source = _open(table, key, columns, memory, declared)
        return _recorded(GroupMatch(members, me, agreed, source, Limits(memory)), agreed)
    parties = pair(members, me, other)
    name = None if plugin is None else str(plugin.name)
    parameters = Parameters(
        parties, _normalisers(key, normalise), recipients(parties, to), join, protocol, bins, name,
        kinds=kinds_of(key, kinds or {}), prices=shared_prices(members.path),
    )  # fmt: skip
    return _run(table, members, me, parameters, key, columns, Limits(memory, workers), plugin)


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
    protocol: str = "auto",
    memory: int = 3 << 30,
) -> Matched:
    """Give every row of both parties a universal id, as ``tacit psi --reveal ids``: nobody learns which rows match.

    key: the columns of a key, or a list of keys, the most important first, like ``[["email"], ["last", "dob"]]``.
    """
    members = Members.load(Path(federation))
    parties = pair(members, me, other)
    flat, widths = _keys(key)
    parameters = Parameters(
        parties, _normalisers(flat, normalise), parties, protocol=protocol, reveal="ids", widths=widths,
        kinds=kinds_of(flat, kinds or {}), prices=shared_prices(members.path),
    )  # fmt: skip
    return _run(table, members, me, parameters, flat, columns, Limits(memory))


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
    pairs: str = "all",
    drop_contaminated: str | None = None,
    memory: int = 3 << 30,
) -> Matched:
    """Additive shares of both parties' columns of the pairs of rows that match, as ``tacit psi --reveal shares``.

    key: as of ``identify``. pairs: all, or one for each row at most. drop_contaminated: both, or a party.
    """
    members = Members.load(Path(federation))
    parties = pair(members, me, other)
    flat, widths = _keys(key)
    parameters = Parameters(
        parties, _normalisers(flat, normalise), parties, reveal="shares", widths=widths, pairs=pairs,
        dropped=dropped(parties, drop_contaminated), kinds=kinds_of(flat, kinds or {}),
        prices=shared_prices(members.path),
    )  # fmt: skip
    return _run(table, members, me, parameters, flat, columns, Limits(memory))


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
    to: str = "both",
    least: int = LEAST,
    memory: int = 3 << 30,
) -> Report:
    """How many keys both have, and the sum of a column over them, as ``tacit psi --reveal``: ``keys`` and ``sum``.

    reveal: cardinality, or sum(PARTY.COLUMN). least: how many keys have to match for a sum; with fewer it is None.
    """
    members = Members.load(Path(federation))
    parties = pair(members, me, other)
    what, summed = revealed(reveal, parties)
    if what not in ("cardinality", "sum"):
        raise RunError(Fault.INPUT, f"{reveal!r} is no number; write cardinality or sum({parties[1]}.COLUMN).")
    parameters = Parameters(
        parties, _normalisers(key, normalise), recipients(parties, to), reveal=what, summed=summed,
        least=least, kinds=kinds_of(key, kinds or {}), prices=shared_prices(members.path),
    )  # fmt: skip
    return _run(table, members, me, parameters, key, (), Limits(memory)).report


def prepare(
    table: Any,
    file: str | Path,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    key: Sequence[str],
    normalise: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    budget: int = DEFAULT_BUDGET,
    memory: int = 3 << 30,
) -> None:
    """Prepare a table into a file, to be asked about up to ``budget`` rows in all, as ``tacit psi --prepare``."""
    private_key = Members.load(Path(federation)).private(me).read_key()
    source = _open(table, key, (), memory, kinds_of(key, kinds or {}))
    prepare_table(source, _normalisers(key, normalise), Path(file), private_key, budget, memory, lambda line: None)


def answer(
    file: str | Path,
    *,
    federation: str | Path = "federation.toml",
    me: str,
    other: str | None = None,
    most: int | None = None,
    memory: int = 3 << 30,
) -> Report:
    """Answer one query about a prepared table, of ``most`` rows at most, as ``tacit psi --prepared``."""
    members = Members.load(Path(federation))
    parties = pair(members, me, other)
    (asker,) = (name for name in parties if name != me)
    with held(Path(file)):
        prepared = read_prepared(Path(file), members.private(me).read_key(), memory)
        query = Query(members, me, query_parameters(parties, asker, tuple(prepared.about.normalisers)))
        return _asked(query, lambda: Matched(_nothing, query.answer(prepared, most))).report


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
    memory: int = 3 << 30,
) -> Matched:
    """The rows whose keys the other party's prepared table had. file: where what it publishes is kept."""
    members = Members.load(Path(federation))
    query = Query(members, me, query_parameters(pair(members, me, other), me, _normalisers(key, normalise)))
    source = _open(table, key, columns, memory, kinds_of(key, kinds or {}))

    def run() -> Matched:
        report, found = query.ask(source, Path(file), memory)
        return Matched(lambda: found.output("inner", True, 0), report)

    return _asked(query, run)


def _asked(query: Query, run: Callable[[], Matched]) -> Matched:
    """A query with the ledger's entries."""
    ledger = Ledger(query.members.private(query.me).ledger)
    approved = ledger.append("approved", approved_entry(query.me, query.parameters))
    with recorded(ledger, approved):
        matched = run()
    ledger.append("completed", completed_entry(approved, query.parameters, matched.report))
    return matched


def _nothing() -> _native.MatchedRows:
    raise RunError(Fault.INPUT, "who answers a query gets no rows.")


def _open(table: Any, key: Sequence[str], columns: Sequence[str] | None, memory: int, kinds: tuple[str, ...]) -> Source:
    data = Path(table) if isinstance(table, str | Path) else table
    return open_source(data, key, columns, Limits().offered(), memory, kinds)


def _normalisers(key: Sequence[str], normalise: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple((normalise or {}).get(column, "exact") for column in key)


def _keys(key: Keys) -> tuple[list[str], tuple[int, ...]]:
    """The columns of all keys, and how many each has, if there are several."""
    columns = [column for column in key if isinstance(column, str)]
    keys = [columns_of for columns_of in key if not isinstance(columns_of, str)]
    if columns and keys:
        raise RunError(
            Fault.INPUT, "key has both columns and keys; write [[column, ...], [column, ...]] for several keys."
        )
    return keys_of(keys or [columns])


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
    source = open_source(data, key, columns, limits.offered(), limits.memory, parameters.kinds)
    return _recorded(Match(members, me, parameters, source, limits, plugin=plugin), parameters)


def _recorded(match: Match | GroupMatch, parameters: Agreement) -> Matched:
    """A match with the ledger's entries."""
    ledger = Ledger(match.members.private(match.me).ledger)
    approved = ledger.append("approved", approved_entry(match.me, parameters))
    with recorded(ledger, approved, lambda: match.may_ask):
        report = match.run()
    ledger.append("completed", completed_entry(approved, parameters, report))
    return Matched(match.rows, report)

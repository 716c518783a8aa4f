"""A large table that is prepared once and asked about many times by parties with few rows (unbalanced intersection).

The owner evaluates its keys under a key of its own and keeps a file. What it publishes of it goes to each party that
asks, once. A query then costs a few bytes for each row asked about, however large the prepared table is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.private_key import PrivateKey
from tacit.plan.facts.catalog import Table
from tacit.psi.offered import Keys, TableKeys, declared, made_of, offered_by
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.prepared_file import (
    COPIES,
    Description,
    PreparedFile,
    read_published,
    write_prepared,
    write_privately,
)
from tacit.psi.reading import Counts, partition
from tacit.psi.report import Found, Report
from tacit.psi.request import Request
from tacit.psi.run import Run
from tacit.psi.source import Source
from tacit.psi.start import Start, Tell, silent

DEFAULT_BUDGET = 1 << 20
"""Rows that may be asked about in all, unless the owner says otherwise."""

BYTES_PER_ROW = 224
"""What preparing or asking keeps in memory for each row, besides the table."""

TOKEN_KEY = 16


def prepare(
    source: Source, request: Request, path: Path, private_key: PrivateKey, budget: int, tell: Tell = silent
) -> Description:
    """Prepare a table into a file. source: without a payload. budget: how many rows may be asked about in all.

    Raises RunError.
    """
    memory = request.limits.memory
    _check_memory(source, 0, memory, "preparing it needs")
    token_key = secrets.token_bytes(TOKEN_KEY)
    normalisers = request.normalisers()
    table, _ = partition(source, token_key, normalisers, tell, memory=memory, keep_keyless=False)
    for note in source.notes:
        tell(note)
    tell(f"preparing {source.rows:,} rows")
    prepared, published = _native.PreparedSet.prepare(table, source.rows, budget)
    own, file = request.named.own, source.stored.file
    about = Description(
        source.rows, budget, source.kinds(), list(normalisers), token_key.hex(), None if file is None else str(file),
        None if own is None else own.name, list(source.key),
        source.key_types() if own is None else declared(own, source.key),
    )  # fmt: skip
    write_prepared(path, private_key, about, prepared.secret(), published)
    return about


def query_parameters(
    parties: tuple[str, str], asker: str, normalisers: tuple[str, ...], tables: Keys = ()
) -> Parameters:
    """What both parties of a query agree on. tables: the prepared one, if its owner offers it."""
    return Parameters(parties, normalisers, (asker,), protocol=UNBALANCED, tables=tables)


class Query(Run):
    """One query about a prepared table."""

    kind, done, advice = "query", "this party is done", ""

    @classmethod
    def answering(cls, start: Start, file: PreparedFile, named: Keys = ()) -> Query:
        """The end that answers. named: the tables that options name, if they name any. Raises RunError."""
        parties = _two(start)
        (asker,) = (name for name in parties if name != start.me)
        tables = _prepared_table(start, file.about, named)
        return cls(start, query_parameters(parties, asker, tuple(file.about.normalisers), tables))

    @classmethod
    def asking(cls, start: Start, request: Request) -> Query:
        """The end that asks. Raises RunError."""
        tables = request.matched(start.parties)
        return cls(start, query_parameters(_two(start), request.me, request.normalisers(), tables))

    def answer(self, file: PreparedFile, most: int | None) -> tuple[Report, int]:
        """Answer the peer's query. most: how many rows it may ask about at once, if the owner limits that.

        Returns what is left of the budget too.
        """
        begin, about = time.monotonic(), file.about
        left = about.budget - file.answered
        most_now = left if most is None else min(most, left)
        offer = _native.Offer(
            rows=about.rows,
            most=most_now,
            budget=about.budget,
            kinds=about.kinds,
            token_key=bytes.fromhex(about.token_key),
            published=file.published,
        )
        with self.connected() as pair:
            assert isinstance(pair, _native.Pair)
            rows, has = pair.offer(offer)
            if rows > most_now:
                raise _refused(
                    pair,
                    f"{self.peer} asks about {rows:,} rows, but it may ask about {most_now:,}: {left:,} of the "
                    f"budget of {about.budget:,} are left; prepare the table anew for more.",
                )
            self._costs(about.rows, about.budget, rows, has)
            prepared = _native.PreparedSet.load(file.secret, file.answered)
            file.record(self.members.private(self.me).read_key(), file.answered + rows)
            pair.answer(prepared, rows, None if has else file.published)
            return self._report(pair, begin, (about.rows, 0, []), (), Found()), left - rows

    def ask(self, source: Source, held: Path, memory: int) -> tuple[Report, Callable[[], _native.MatchedRows]]:
        """Ask about a table's rows. held: where what is published is kept, for the next query.

        Returns a reading of the rows that match too.
        """
        begin = time.monotonic()
        known = read_published(held)
        with self.connected() as pair:
            assert isinstance(pair, _native.Pair)
            theirs = pair.question(source.rows, len(source.key), known)
            source.check_kinds(theirs.kinds, self.peer)
            if source.rows > theirs.most:
                raise _refused(
                    pair,
                    f"{source.name}: {self.peer} answers at most {theirs.most:,} rows now; ask about fewer.",
                )
            published = COPIES * _native.published_bytes(theirs.rows, theirs.budget)
            _check_memory(source, published, memory, "asking about it needs", ", with what the other party publishes")
            fresh = known is not None and theirs.publishes(known)
            self._costs(theirs.rows, theirs.budget, source.rows, fresh)
            chosen = self.parameters.normalisers
            table, counts = partition(source, theirs.token_key, chosen, self.tell, memory=memory, keep_keyless=False)
            received = pair.ask(table, source.rows, known if fresh else None, theirs)
            if received is not None:
                write_privately(held, received)
            report = self._report(pair, begin, counts, source.key, Found(table.totals()["keys"]))
            return report, lambda: table.output("inner", True, 0)

    def _report(self, pair: _native.Pair, begin: float, counts: Counts, key: tuple[str, ...], found: Found) -> Report:
        unconfirmed = self._confirm(pair)
        return replace(Report.of(counts, key, found, pair.metrics(), begin), unconfirmed=unconfirmed)

    def _costs(self, rows: int, budget: int, asked: int, has: bool) -> None:
        published, cost = _native.published_bytes(rows, budget), _native.query_cost(asked)
        kept = "is here already" if has else "is sent now, to be kept"
        self.tell(f"offline: what is published, {published:,} B for {rows:,} rows, {kept}")
        self.tell(f"online: {cost['receiver']:,} B to ask about {asked:,} rows, {cost['sender']:,} B to answer")


def _prepared_table(start: Start, about: Description, named: Keys) -> Keys:
    """The table that was prepared, as its owner offers it now: by its name, or by the file that it was made of.

    named: all tables that are named, of which it has to be one. Raises RunError if it is not offered any more.
    """
    if about.table is not None:
        table: Table | None = offered_by(start.members, start.me, about.table)
    else:
        table = None if about.input is None else made_of(start.members, start.me, Path(about.input))
    prepared = () if table is None else (TableKeys(table.owner, table.name, tuple(about.key)),)
    if table is not None and declared(table, about.key) != about.types:
        before, now = ", ".join(about.types) or "they were stored", ", ".join(declared(table, about.key)) or "nothing"
        problem = f"keys of {table.name} were prepared as {before}, and are offered as {now}"
        raise RunError(Fault.INPUT, f"{problem}; prepare it anew.")
    if named and tuple(each for each in named if each.owner == start.me) != prepared:
        what = "a file that no offer names" if table is None else f"{table.name} by {', '.join(about.key)}"
        raise RunError(Fault.INPUT, f"what was prepared is {what}; --tables and --key have to name that, and others'.")
    return named or prepared


def _two(start: Start) -> tuple[str, str]:
    """Who asks and who answers, in the file's order. Raises RunError."""
    parties = start.parties
    if len(parties) != 2:
        raise RunError(
            Fault.INPUT, f"{start.members.path}: this is for two parties; name the one to match with, --with PARTY."
        )
    first, second = parties
    return first, second


def _check_memory(source: Source, others: int, memory: int, what: str, why: str = "") -> None:
    """Refuse what does not fit beside ``others`` bytes. what, why: for the sentence. Raises RunError."""
    need = BYTES_PER_ROW * source.rows + 2 * source.bytes + others
    if need > memory:
        raise RunError(
            Fault.INPUT,
            f"{source.name}: {what} {need >> 20:,} MiB{why}, more than the {memory >> 20:,} MiB declared; declare more "
            "--memory.",
        )


def _refused(pair: _native.Pair, sentence: str) -> RunError:
    """A refusal that both parties find out for themselves, once both have had the time to."""
    pair.refuse()
    return RunError(Fault.POLICY, sentence)

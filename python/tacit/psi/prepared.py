"""A large table that is prepared once and asked about many times by parties with few rows (unbalanced intersection).

The owner evaluates its keys under a key of its own and keeps a file. What it publishes of it goes to each party that
asks, once. A query then costs a few bytes for each row asked about, however large the prepared table is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.private_key import PrivateKey
from tacit.psi.match import Report, connect
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.prepared_file import (
    COPIES,
    Description,
    PreparedFile,
    read_published,
    write_prepared,
    write_privately,
)
from tacit.psi.source import Counts, Source, partition
from tacit.psi.whole import Found

DEFAULT_BUDGET = 1 << 20
"""Rows that may be asked about in all, unless the owner says otherwise."""

BYTES_PER_ROW = 224
"""What preparing or asking keeps in memory for each row, besides the table."""

TOKEN_KEY = 16

Tell = Callable[[str], None]
Result = TypeVar("Result")


def prepare(
    source: Source,
    normalisers: tuple[str, ...],
    path: Path,
    private_key: PrivateKey,
    budget: int,
    memory: int,
    tell: Tell,
) -> Description:
    """Prepare a table into a file. budget: how many rows may be asked about in all. Raises RunError."""
    need = BYTES_PER_ROW * source.rows + 2 * source.bytes
    if need > memory:
        raise RunError(
            Fault.INPUT,
            f"{source.name}: preparing it needs {need >> 20:,} MiB, more than the {memory >> 20:,} MiB declared; "
            "declare more --memory.",
        )
    source.columns = ()
    token_key = secrets.token_bytes(TOKEN_KEY)
    kinds = source.kinds()
    table, _ = partition(source, token_key, normalisers, tell, memory=memory, keep_keyless=False)
    tell(f"preparing {source.rows:,} rows")
    prepared, published = _native.PreparedSet.prepare(table, source.rows, budget)
    secret = prepared.secret()
    about = Description(source.rows, budget, kinds, list(normalisers), token_key.hex())
    write_prepared(path, private_key, about, secret, published)
    return about


def query_parameters(parties: tuple[str, str], asker: str, normalisers: tuple[str, ...]) -> Parameters:
    """What both parties of a query agree on."""
    return Parameters(parties, normalisers, (asker,), protocol=UNBALANCED)


class Query:
    """One query about a prepared table. tell: is told every step in a line."""

    def __init__(self, members: Members, me: str, parameters: Parameters, tell: Tell = lambda line: None) -> None:
        self.members, self.me, self.parameters, self.tell = members, me, parameters, tell
        self.peer = parameters.parties[1 - parameters.parties.index(me)]

    def answer(self, file: PreparedFile, most: int | None) -> Report:
        """Answer the peer's query. most: how many rows it may ask about at once, if the owner limits that."""
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

        def work(pair: _native.Pair) -> Report:
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
            return _report(pair, begin, (about.rows, 0, []), (), None, _confirmed(pair))

        return self._connected(work)

    def ask(self, source: Source, held: Path, memory: int) -> tuple[Report, _native.Binned]:
        """Ask about a table's rows. held: where what is published is kept, for the next query."""
        begin = time.monotonic()
        known = read_published(held)

        def work(pair: _native.Pair) -> tuple[Report, _native.Binned]:
            theirs = pair.question(source.rows, len(source.key), known)
            source.check_kinds(theirs.kinds, self.peer)
            if source.rows > theirs.most:
                raise _refused(
                    pair,
                    f"{source.name}: {self.peer} answers at most {theirs.most:,} rows now; ask about fewer.",
                )
            _check_memory(source, _native.published_bytes(theirs.rows, theirs.budget), memory)
            fresh = known is not None and theirs.publishes(known)
            self._costs(theirs.rows, theirs.budget, source.rows, fresh)
            chosen = self.parameters.normalisers
            table, counts = partition(source, theirs.token_key, chosen, self.tell, memory=memory, keep_keyless=False)
            received = pair.ask(table, source.rows, known if fresh else None, theirs)
            if received is not None:
                write_privately(held, received)
            report = _report(pair, begin, counts, source.key, table.totals()["keys"], _confirmed(pair))
            return report, table

        return self._connected(work)

    def _connected(self, work: Callable[[_native.Pair], Result]) -> Result:
        self.tell(f"connecting with {self.peer}")
        pair = connect(self.members, self.parameters, self.me)
        try:
            return work(pair)
        except BaseException:
            pair.abort("the query failed")
            raise

    def _costs(self, rows: int, budget: int, asked: int, has: bool) -> None:
        published, cost = _native.published_bytes(rows, budget), _native.query_cost(asked)
        kept = "is here already" if has else "is sent now, to be kept"
        self.tell(f"offline: what is published, {published:,} B for {rows:,} rows, {kept}")
        self.tell(f"online: {cost['receiver']:,} B to ask about {asked:,} rows, {cost['sender']:,} B to answer")


def _check_memory(source: Source, published: int, memory: int) -> None:
    """Refuse a query that does not fit, beside what the other party publishes. Raises RunError."""
    need = BYTES_PER_ROW * source.rows + 2 * source.bytes + COPIES * published
    if need > memory:
        raise RunError(
            Fault.INPUT,
            f"{source.name}: asking about it needs {need >> 20:,} MiB, with what the other party publishes, more than "
            f"the {memory >> 20:,} MiB declared; declare more --memory.",
        )


def _confirmed(pair: _native.Pair) -> str | None:
    """End in order. Whatever becomes of the peer now, this party has what it was to have."""
    try:
        pair.done()
        pair.close()
    except _native.PeerGoneError as error:
        return str(error)
    return None


def _report(
    pair: _native.Pair, begin: float, counts: Counts, key: tuple[str, ...], keys: int | None, unconfirmed: str | None
) -> Report:
    return Report.of(counts, key, Found(keys), pair.metrics(), begin, unconfirmed=unconfirmed)


def _refused(pair: _native.Pair, sentence: str) -> RunError:
    """A refusal that both parties find out for themselves, once both have had the time to."""
    pair.refuse()
    return RunError(Fault.POLICY, sentence)

"""One party's match from connecting to the joint rows: announce, choose, put into bins, match, confirm."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.psi.choice import BYTES_PER_TOKEN, Choice, choose
from tacit.psi.members import Members
from tacit.psi.parameters import Parameters
from tacit.psi.source import Source
from tacit.psi.state import State, check_disk, folder_of, fresh_folder, read_state, remove_folder, write_state

TOKEN_BYTES = 16 + 4
"""A token, and its row in the result, on disk."""

MOST_ROWS = 1 << 36
"""More than any table that disks hold."""

BYTES_PER_ROW = 64
"""Tokens and places of a row in memory."""

Tell = Callable[[str], None]
Told = Callable[[Mapping[str, int], int], None]


@dataclass(frozen=True)
class Limits:
    """This party's own: bytes of memory and workers."""

    memory: int = 3 << 30
    workers: int | None = None

    def offered(self) -> int:
        """How many workers this party offers. Two parties on one machine of two cores keep both busy with one each."""
        return self.workers or max(1, (os.cpu_count() or 1) // 2)


@dataclass(frozen=True)
class Report:
    """What a match found. null and invalid: rows without a key (invalid: by key column)."""

    rows: int
    null: int
    invalid: dict[str, int]
    keys: int
    pairs: int
    sum: int | None
    rate: float
    bytes_sent: int
    bytes_received: int
    rounds: int
    seconds: float
    resumed: int
    unconfirmed: str | None


class Match:
    """One party's match. parameters: equal at both parties. output: names the file that the rows will go to, if any.

    tell: is told every step in a line. watch: is told of progress: metrics, and how many bins there are.
    """

    def __init__(
        self,
        members: Members,
        me: str,
        parameters: Parameters,
        source: Source,
        limits: Limits,
        output: Path | None = None,
        plugin: object | None = None,
        tell: Tell = lambda line: None,
        watch: Told = lambda metrics, bins: None,
    ) -> None:
        self.members, self.me, self.parameters, self.source = members, me, parameters, source
        self.limits, self.output, self.plugin, self.tell, self.watch = limits, output, plugin, tell, watch
        self.number = parameters.parties.index(me)
        self.peer = parameters.parties[1 - self.number]
        self.choice: Choice | None = None
        self.peer_rows = 0
        self.folder = None if output is None else folder_of(output)
        self._columns = [*source.key, "/", *source.columns]
        self._table: _native.Binned | None = None
        self._state: State | None = None
        self._counts: tuple[int, int, list[int]] = (source.rows, 0, [])
        self._found: dict[str, int | None] | None = None
        if parameters.reveal != "intersection":
            owner, column = parameters.summed or ("", None)
            source.sum_only(column if owner == me else None)

    def run(self, announce: Callable[[Choice], None] = lambda choice: None) -> Report:
        """Match. announce: called with what was chosen before any token is made. Raises RunError and native errors."""
        begin = time.monotonic()
        state = None
        if self.folder is not None:
            state = read_state(self.folder, self.parameters.plan_hash, self.source.stamp, self._columns)
        if state is not None and state.agreed:
            self.tell("all bins are done already: only the output is left to be written")
            self._reopen(state)
            return self._report({}, begin, state.bins, None)
        self.tell(f"connecting with {self.peer}")
        pair = self._connect()
        try:
            return self._matched(pair, state, announce, begin)
        except BaseException:
            pair.abort("the match failed")
            raise

    def rows(self) -> _native.MatchedRows:
        """The joint rows' part of this party; after ``run``."""
        assert self._table is not None, "run() comes first"
        return self._table.output(self.parameters.join, self.number == 0, self.peer_rows)

    def learns(self) -> bool:
        """Whether this party gets rows."""
        return self.me in self.parameters.to

    def remove_files(self) -> None:
        """Remove what the match kept on disk."""
        if self.folder is not None:
            remove_folder(self.folder)

    def _connect(self) -> _native.Pair:
        network = self.members.network
        return _native.Pair.connect(
            [self.members.native_party(name) for name in self.parameters.parties],
            self.number,
            self.members.private_key(self.me),
            self.parameters.plan_hash,
            connect_timeout=network.connect_timeout,
            idle_timeout=network.idle_timeout,
            latency=network.latency,
            bandwidth=network.bandwidth,
        )

    def _matched(
        self, pair: _native.Pair, state: State | None, announce: Callable[[Choice], None], begin: float
    ) -> Report:
        mine = self._announcement(state)
        theirs = heard(pair.exchange(json.dumps(mine).encode()), self.peer, len(self.source.key))
        self.peer_rows = int(theirs["rows"])
        self._check_kinds(theirs["kinds"])
        facts = (mine, theirs) if self.number == 0 else (theirs, mine)
        if self.parameters.reveal != "intersection":
            return self._aggregated(pair, theirs["kinds"], begin)
        choice = self.choice = choose(self.parameters, facts)
        resumes = _same_run(mine["resume"], theirs["resume"], choice.bins)
        announce(choice)
        if resumes and state is not None:
            todo = self._resume(state, theirs["resume"])
        else:
            todo = list(range(choice.bins))
            self._partition(pair, choice, theirs["kinds"])
        pair.exchange(b"ready")
        pair.add_workers(choice.workers)
        assert self._table is not None
        self.tell(f"matching {len(todo)} bins")
        with _Watching(pair, self.watch, choice.bins, choice.bins - len(todo)):
            pair.run(
                self._table,
                choice.protocol,
                sender=choice.sender == self.number,
                both_learn=self.parameters.both_learn,
                rows=(self.source.rows, self.peer_rows),
                todo=todo,
                plugin=self.plugin,
            )
        unconfirmed = self._confirm(pair)
        return self._report(pair.metrics(), begin, choice.bins - len(todo), unconfirmed)

    def _aggregated(self, pair: _native.Pair, peer_kinds: list[str], begin: float) -> Report:
        """How many keys match, and a sum over them, in place of the rows."""
        self.tell(f"putting {self.source.rows:,} rows into one bin, in memory")
        self._table = self._binned(pair.agree_key(), 1, None, peer_kinds)
        receives = self.me == self.parameters.receiver
        rows, summed = (self.source.rows, self.peer_rows), self.parameters.summed is not None
        self.tell("counting what both have")
        keys, total = pair.aggregate(self._table, not receives, rows, summed)
        told = {"keys": keys, "sum": total} if receives and self.parameters.both_learn else {}
        heard = json.loads(pair.exchange(json.dumps(told).encode()))
        self._found = {"keys": keys, "sum": total} if receives else {"keys": heard.get("keys"), "sum": heard.get("sum")}
        return self._report(pair.metrics(), begin, 0, self._confirm(pair))

    def _announcement(self, state: State | None) -> dict[str, Any]:
        resume = None
        if state is not None and self.folder is not None:
            done = _native.Binned.reopen(*self._reopening(state)).done()
            bits = bytes(done).hex()
            resume = {"run": state.run, "bins": state.bins, "done": bits}
        return {
            "rows": self.source.rows,
            "memory": self.limits.memory,
            "workers": self.limits.offered(),
            "kinds": self.source.kinds(),
            "csv": self.source.is_csv,
            "resume": resume,
        }

    def _check_kinds(self, theirs: list[str]) -> None:
        for column, mine, other in zip(self.source.key, self.source.kinds(), theirs, strict=True):
            if mine != other and not (mine == "text" or other == "text"):
                self._refuse_kinds(column, mine, other)
            if mine == "text" != other and not self.source.is_csv:
                self._refuse_kinds(column, mine, other)

    def _refuse_kinds(self, column: str, mine: str, other: str) -> None:
        raise RunError(
            Fault.INPUT,
            f"{self.source.name}, column {column}: it is {mine} here and {other} at {self.peer}; "
            "store it as one kind at both.",
        )

    def _partition(self, pair: _native.Pair, choice: Choice, peer_kinds: list[str]) -> None:
        """Agree on a key and put the input into bins, in memory if they fit."""
        key = pair.agree_key()
        run = secrets.token_hex(16) if self.number == 0 else ""
        run = run or pair.exchange(b"").decode()
        if self.number == 0:
            pair.exchange(run.encode())
        capacity = choice.capacities[self.number]
        working = BYTES_PER_TOKEN * capacity * choice.workers
        held = BYTES_PER_ROW * self.source.rows + 2 * self.source.bytes
        on_disk = working + held > self.limits.memory
        if on_disk:
            self._prepare_disk()
        where = f"in {self.folder}" if on_disk else "in memory"
        self.tell(f"putting {self.source.rows:,} rows into {choice.bins} bins, {where}")
        self._table = self._binned(key, choice.bins, self.folder if on_disk else None, peer_kinds)
        if on_disk and self.folder is not None:
            self._table.sync()
            self._state = State(
                self.parameters.plan_hash.hex(), run, key.hex(), self.source.stamp, self._columns, choice.bins,
                (self.source.rows, self.peer_rows), self._counts,
            )  # fmt: skip
            write_state(self.folder, self._state)

    def _binned(self, key: bytes, bins: int, folder: Path | None, peer_kinds: list[str]) -> _native.Binned:
        """Read the input into bins, and count and tell the rows without a key."""
        columns = list(zip(self.source.places(self.source.key), self.parameters.normalisers, strict=True))
        try:
            table = _native.Binned.partition(
                self.source.select(peer_kinds),
                key=key,
                columns=columns,
                payload=self.source.places(self.source.columns),
                bins=bins,
                folder=None if folder is None else str(folder),
                flush_bytes=max(1 << 20, min(1 << 29, self.limits.memory // 4)),
                keep_keyless=self.parameters.join != "inner",
            )
        except (_native.InputError, duckdb.Error) as error:
            if folder is not None:
                self.remove_files()
            self.source.check_casts(peer_kinds)
            problem = str(error) if isinstance(error, _native.InputError) else "its rows cannot be read; save it anew"
            raise RunError(Fault.INPUT, f"{self.source.name}: {problem}.") from None
        rows, null, invalid = table.counts
        if rows != self.source.rows:
            raise RunError(
                Fault.INPUT, f"{self.source.name}: it changed while it was read; run the same command again."
            )
        self._counts = (rows, null, [count for count, _ in invalid])
        for column, (count, first) in zip(self.source.key, invalid, strict=True):
            if count:
                self.tell(
                    f"{self.source.name}, column {column}: {count:,} values are not valid, the first in row {first}"
                )
        return table

    def _prepare_disk(self) -> None:
        if self.folder is None:
            raise RunError(
                Fault.INPUT,
                f"{self.source.rows:,} rows do not fit into {self.limits.memory >> 20:,} MiB; declare more memory, "
                "or use `tacit psi`, which works on disk.",
            )
        needed = TOKEN_BYTES * self.source.rows + 2 * self.source.bytes
        self.tell(f"needs at most {needed / 1e9:.2f} GB of disk in {self.folder.parent}, the output included")
        check_disk(self.folder, needed)
        fresh_folder(self.folder)

    def _reopening(self, state: State) -> tuple[Any, list[int], int, str]:
        empty = self.source.select(["text"] * len(self.source.key), "LIMIT 0")
        return empty, self.source.places(self.source.columns), state.bins, str(self.folder)

    def _reopen(self, state: State) -> None:
        self._table = _native.Binned.reopen(*self._reopening(state))
        self._state, self.peer_rows = state, state.rows[1]
        self._counts = (state.counts[0], state.counts[1], list(state.counts[2]))

    def _resume(self, state: State, theirs: Mapping[str, Any]) -> list[int]:
        """The bins that one of the parties has no result of. They run anew, with fresh randomness."""
        self._reopen(state)
        assert self._table is not None
        both = zip(self._table.done(), bytes.fromhex(theirs["done"]), strict=True)
        todo = [bin for bin, (mine, other) in enumerate(both) if not (mine and other)]
        self.tell(f"resuming: {state.bins - len(todo)} of {state.bins} bins are done")
        return todo

    def _confirm(self, pair: _native.Pair) -> str | None:
        """Tell each other that all is done. This party has its results, whatever becomes of the peer now."""
        try:
            pair.exchange(b"done")
            if self._state is not None and self.folder is not None:
                write_state(self.folder, replace(self._state, agreed=True))
            pair.close()
        except _native.PeerGoneError as error:
            return str(error)
        return None

    def _report(self, metrics: Mapping[str, int], begin: float, resumed: int, unconfirmed: str | None) -> Report:
        assert self._table is not None
        if self._found is not None:
            totals = {"keys": self._found["keys"] or 0, "pairs": 0}
        else:
            totals = self._table.totals() if self.learns() else {"keys": 0, "pairs": 0}
        rows, null, invalid = self._counts
        with_key = rows - null - sum(invalid)
        return Report(
            rows,
            null,
            dict(zip(self.source.key, invalid, strict=False)),
            totals["keys"],
            totals["pairs"],
            None if self._found is None else self._found["sum"],
            totals["keys"] / with_key if with_key else 0.0,
            metrics.get("bytes_sent", 0),
            metrics.get("bytes_received", 0),
            metrics.get("rounds", 0),
            time.monotonic() - begin,
            resumed,
            unconfirmed,
        )


def heard(message: bytes, peer: str, keys: int) -> dict[str, Any]:
    """A peer's announcement, in which nothing is believed that could not be. Raises RunError."""
    try:
        told: dict[str, Any] = json.loads(message)
        rows, memory, workers, kinds, resume = (told[name] for name in ("rows", "memory", "workers", "kinds", "resume"))
        numbers = all(type(number) is int for number in (rows, memory, workers))
        fits = numbers and 0 <= rows <= MOST_ROWS and memory > 0 and workers > 0
        fits = fits and len(kinds) == keys and all(isinstance(kind, str) for kind in kinds)
        if resume is not None:
            fits = fits and len(bytes.fromhex(resume["done"])) == resume["bins"] and isinstance(resume["run"], str)
        if fits:
            return told
    except (ValueError, KeyError, TypeError):
        pass
    raise RunError(Fault.PEER, f"party {peer!r} announces what no honest party announces; nothing was sent.")


def _same_run(mine: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, bins: int) -> bool:
    """Whether both parties hold the same run, in the bins that would be chosen now."""
    if mine is None or theirs is None:
        return False
    return bool(mine["run"] == theirs["run"] and mine["bins"] == theirs["bins"] == bins)


class _Watching:
    """While it is open, tells a few times a second how far a run is."""

    def __init__(self, pair: _native.Pair, watch: Told, bins: int, before: int) -> None:
        self._pair, self._watch, self._bins, self._before = pair, watch, bins, before
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="progress", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._tell()

    def _look(self) -> None:
        while not self._stop.wait(0.2):
            self._tell()

    def _tell(self) -> None:
        metrics = dict(self._pair.metrics())
        metrics["bins"] += self._before
        self._watch(metrics, self._bins)

"""One party's match from connecting to the joint rows: announce, choose, put into bins, match, confirm."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.psi.announcement import announcement
from tacit.psi.choice import BYTES_PER_TOKEN, Choice, Facts, choose
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.source import Counts, Folder, Source, keyed, partition
from tacit.psi.state import (
    State,
    begin_in_memory,
    begun_in_memory,
    check_disk,
    folder_of,
    fresh_folder,
    read_state,
    remove_folder,
    sealing_key,
    write_state,
)
from tacit.psi.watching import Told, Watching
from tacit.psi.whole import ID_COLUMN, Found, check_memory, choose_whole, reveal

OUTPUT_BYTES = 64
"""What the output has for a row of either table besides its columns."""

TOKEN_BYTES = 16
"""A token on disk, where the rows do not hold the key as it is."""

RESULT_BYTES = 4
"""A row that matched, on disk."""

BYTES_PER_ROW = 64
"""Tokens and places of a row in memory."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Limits:
    """This party's own: memory, workers, and whether bins are matched again that the other may have results of."""

    memory: int = 3 << 30
    workers: int | None = None
    repeat_bins: bool = False

    def __post_init__(self) -> None:
        most = _native.MOST_WORKERS
        if self.workers is not None and not 1 <= self.workers <= most:
            raise RunError(Fault.INPUT, f"--workers is {self.workers}; write a number from 1 to {most}.")

    def offered(self) -> int:
        """How many workers this party offers. Two parties on one machine of two cores keep both busy with one each."""
        return self.workers or max(1, (os.cpu_count() or 1) // 2)


@dataclass(frozen=True)
class Report:
    """What a match found. null and invalid: rows without a key (invalid: by key column). What nobody learns is None.

    keys: how many keys both have. rate: keys for each row with a key. union: how many universal ids there are.
    repeated: rows of this party that share keys with several rows of the other, of shares and of ids by several keys.
    resumed: bins that were done before. again: how often a bin was begun again that had been begun before, over all
    attempts. may_ask: how many items each party may have asked about by deviating, in sentences.
    """

    rows: int
    null: int
    invalid: dict[str, int]
    keys: int | None
    pairs: int
    sum: int | None
    union: int | None
    repeated: int
    rate: float | None
    bytes_sent: int
    bytes_received: int
    rounds: int
    seconds: float
    resumed: int
    unconfirmed: str | None
    protocol: str | None = None
    again: int = 0
    may_ask: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        counts: Counts,
        key: tuple[str, ...],
        found: Found,
        metrics: Mapping[str, int],
        begin: float,
        *,
        resumed: int = 0,
        unconfirmed: str | None = None,
        protocol: str | None = None,
        again: int = 0,
        may_ask: tuple[str, ...] = (),
    ) -> Report:
        """From what was counted of a party's rows and what was found. begin: when, by the monotonic clock."""
        rows, null, invalid = counts
        with_key = rows - null - sum(invalid)
        return cls(
            rows=rows,
            null=null,
            invalid=dict(zip(key, invalid, strict=False)),
            keys=found.keys,
            pairs=found.pairs,
            sum=found.sum,
            union=found.union,
            repeated=found.repeated,
            rate=None if found.keys is None or found.union is not None else found.keys / max(1, with_key),
            bytes_sent=metrics.get("bytes_sent", 0),
            bytes_received=metrics.get("bytes_received", 0),
            rounds=metrics.get("rounds", 0),
            seconds=time.monotonic() - begin,
            resumed=resumed,
            unconfirmed=unconfirmed,
            protocol=protocol,
            again=again,
            may_ask=may_ask,
        )


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
        self._key = sealing_key(members.private(me).read_key())
        self._again = 0
        self._columns = [*source.key, "/", *source.columns]
        self._table: _native.Binned | None = None
        self._state: State | None = None
        self._counts: Counts = (source.rows, 0, [])
        self._found: Found | None = None
        if parameters.protocol == UNBALANCED:
            raise RunError(Fault.INPUT, "the protocol unbalanced is for prepared tables: name one with --prepared.")
        match parameters.reveal:
            case "ids" if ID_COLUMN in source.columns:
                raise RunError(
                    Fault.INPUT, f"{source.name}: it has a column {ID_COLUMN} already; leave it out with --columns."
                )
            case "shares":
                source.compute_with(source.columns, "share")
            case "cardinality" | "sum":
                owner, column = parameters.summed or ("", "")
                source.compute_with((column,) if owner == me else (), "sum")

    def run(self, announce: Callable[[Choice], None] = lambda choice: None) -> Report:
        """Match. announce: called with what was chosen before any token is made. Raises RunError and native errors."""
        begin = time.monotonic()
        state = None
        if self.folder is not None:
            state = read_state(
                self.folder, self._key, self.parameters.plan_hash, self.source.stored.stamp, self._columns
            )
        if state is not None and state.agreed:
            self.tell("all bins are done already: only the output is left to be written")
            self._reopen(state)
            return self._report({}, begin, state.bins, None)
        self._check_begun()
        self.tell(f"connecting with {self.peer}")
        pair = connect(self.members, self.parameters, self.me)
        try:
            return self._matched(pair, state, announce, begin)
        except BaseException:
            pair.abort("the match failed")
            raise

    def rows(self) -> _native.MatchedRows:
        """The joint rows' part of this party; after ``run``."""
        if self._found is not None and self._found.output is not None:
            return self._found.output()
        assert self._table is not None, "run() comes first"
        return self._table.output(self.parameters.join, self.number == 0, self.peer_rows)

    @property
    def may_ask(self) -> tuple[str, ...]:
        """How many items each party may ask about by deviating, in sentences, as soon as that is known."""
        return () if self.choice is None else self.choice.may_ask

    def learns(self) -> bool:
        """Whether this party gets rows."""
        return self.me in self.parameters.to and self.parameters.gives_rows

    def if_unwritten(self) -> str:
        """What is left to do if the rows cannot be written."""
        if self._state is not None:
            return "the matches are kept: free space and run it again"
        repeat = ", here with --repeat-bins" if self.parameters.malicious else ""
        return f"free space, and run it again at both parties{repeat}"

    def remove_files(self) -> None:
        """Remove what the match kept on disk."""
        if self.folder is not None:
            remove_folder(self.folder)

    def _matched(
        self, pair: _native.Pair, state: State | None, announce: Callable[[Choice], None], begin: float
    ) -> Report:
        mine = self._announcement(state)
        facts = pair.announce(mine)
        theirs = facts[1 - self.number]
        self.peer_rows = theirs.rows
        self.source.check_kinds(theirs.kinds, self.peer)
        if self.parameters.reveal != "intersection":
            return self._whole(pair, facts, announce, begin)
        choice = self.choice = choose(self.parameters, facts)
        resumes = mine.resumes_with(theirs, choice.bins)
        announce(choice)
        if resumes and state is not None:
            todo = self._resume(state, theirs.done, choice)
        else:
            if state is not None:
                before = self._reopened(state)
                done, begun = before.done(), before.begun()
                unfinished = sum(bool(times) and not result for result, times in zip(done, begun, strict=True))
                self._check_disowned(sum(done), sum(done), unfinished, choice)
                self._again += sum(max(times, result) for result, times in zip(done, begun, strict=True))
            todo = list(range(choice.bins))
            self._partition(pair, choice)
        pair.ready()
        if self._state is None and self.folder is not None and self.parameters.malicious:
            begin_in_memory(self.folder, self._key, self.parameters.plan_hash, choice.bins)
        pair.add_workers(choice.workers)
        assert self._table is not None
        self.tell(f"matching {len(todo)} bins")
        with Watching(pair, self.watch, choice.bins, choice.bins - len(todo)):
            pair.run(
                self._table,
                choice.protocol,
                sender=choice.sender == self.number,
                todo=todo,
                plugin=None if self.plugin is None else (self.plugin, str(self.parameters.plugin)),
            )
        unconfirmed = self._confirm(pair)
        return self._report(pair.metrics(), begin, choice.bins - len(todo), unconfirmed)

    def _check_begun(self) -> None:
        """Refuse to repeat a match in memory that did not end: the peer may have its results, and ask about more.

        Raises RunError.
        """
        if self.folder is None or not self.parameters.malicious:
            return
        self._again = begun_in_memory(self.folder, self._key).get(self.parameters.plan_hash.hex(), 0)
        if self._again and not self.limits.repeat_bins:
            raise RunError(
                Fault.POLICY,
                f"this match was begun here before, in memory, and did not end; {self.peer} may have its results, and "
                f"could ask again with other rows; if you know why, start with --repeat-bins ({self.folder} has the "
                "record).",
            )

    def _whole(
        self,
        pair: _native.Pair,
        facts: Facts,
        announce: Callable[[Choice], None],
        begin: float,
    ) -> Report:
        """What is revealed in place of the rows that match."""
        choice = self.choice = choose_whole(self.parameters, facts)
        announce(choice)
        if self.folder is not None and self.learns():
            check_disk(self.folder, 2 * self.source.bytes + OUTPUT_BYTES * (self.source.rows + self.peer_rows))
        check_memory(self.parameters, choice, self.limits.memory, self.source.bytes)
        self.tell(f"reading {self.source.rows:,} rows into memory")
        table: _native.Binned | _native.KeyedTable
        key, _ = pair.agree()
        if self.parameters.reveal == "shares" or self.parameters.keys > 1:
            table, self._counts = keyed(self.source, key, self.parameters, self.tell)
        else:
            table = self._table = self._binned(key, 1, None)
        self.tell("matching")
        self._found = reveal(pair, table, self.parameters, choice, self.number, facts)
        return self._report(pair.metrics(), begin, 0, self._confirm(pair))

    def _announcement(self, state: State | None) -> _native.Announcement:
        resume = None if state is None else (state.run, self._reopened(state).done())
        columns = self.source.columns if self.parameters.reveal == "shares" else ()
        network = self.members.private(self.me).network
        return announcement(self.source, network, self.limits.memory, self.limits.offered(), columns, resume)

    def _partition(self, pair: _native.Pair, choice: Choice) -> None:
        """Agree on a key and put the input into bins, in memory if they fit."""
        key, run = pair.agree()
        capacity = choice.capacities[self.number]
        working = BYTES_PER_TOKEN * capacity * choice.workers
        held = BYTES_PER_ROW * self.source.rows + 2 * self.source.bytes
        on_disk = working + held > self.limits.memory
        if on_disk:
            self._prepare_disk()
        where = f"in {self.folder}" if on_disk else "in memory"
        self.tell(f"putting {self.source.rows:,} rows into {choice.bins} bins, {where}")
        self._table = self._binned(key, choice.bins, self._folder(run) if on_disk else None)
        if on_disk and self.folder is not None:
            self._table.sync()
            self._state = State(
                self.parameters.plan_hash.hex(), run, key.hex(), self.source.stored.stamp, self._columns, choice.bins,
                (self.source.rows, self.peer_rows), self._counts,
            )  # fmt: skip
            write_state(self.folder, self._key, self._state)

    def _folder(self, run: str) -> Folder:
        """Where the files of a run are, and their key."""
        return str(self.folder), run, self._key

    def _binned(self, key: bytes, bins: int, folder: Folder | None) -> _native.Binned:
        """Read the input into bins."""
        try:
            table, self._counts = partition(
                self.source,
                key,
                self.parameters.normalisers,
                self.tell,
                memory=self.limits.memory,
                keep_keyless=self.parameters.keeps_keyless,
                bins=bins,
                folder=folder,
            )
        except RunError:
            if folder is not None:
                with suppress(RunError):
                    self.remove_files()
            raise
        return table

    def _prepare_disk(self) -> None:
        if self.folder is None:
            raise RunError(
                Fault.INPUT,
                f"{self.source.rows:,} rows do not fit into {self.limits.memory >> 20:,} MiB; declare more memory, "
                "or use `tacit psi`, which works on disk.",
            )
        exact = all(normaliser == "exact" for normaliser in self.parameters.normalisers)
        kept = exact and set(self.source.key) <= set(self.source.columns)
        each = RESULT_BYTES + (0 if kept else TOKEN_BYTES)
        needed = each * self.source.rows + 2 * self.source.bytes
        self.tell(f"needs about {needed / 1e9:.2f} GB of disk in {self.folder.parent}, the output included")
        check_disk(self.folder, needed)
        fresh_folder(self.folder)

    def _reopened(self, state: State) -> _native.Binned:
        return _native.Binned.reopen(
            self.source.select("LIMIT 0"),
            key=bytes.fromhex(state.key),
            columns=self._key_columns(),
            payload=self.source.places(self.source.columns),
            bins=state.bins,
            folder=self._folder(state.run),
        )

    def _key_columns(self) -> list[tuple[int, str]]:
        """Where the key columns are, and their normalisers."""
        return list(zip(self.source.places(self.source.key), self.parameters.normalisers, strict=True))

    def _reopen(self, state: State) -> None:
        self._table = self._reopened(state)
        self._state, self.peer_rows = state, state.rows[1]
        self._counts = (state.counts[0], state.counts[1], list(state.counts[2]))

    def _resume(self, state: State, told: list[bool], choice: Choice) -> list[int]:
        """The bins that one of the parties has no result of. They run anew, with fresh randomness.

        told: of each bin whether the other party has a result.
        """
        self._reopen(state)
        assert self._table is not None
        both = list(zip(self._table.done(), told, strict=True))
        disowned = [bin for bin, (mine, other) in enumerate(both) if mine and not other]
        confirmed = self._table.confirmed() if disowned else []
        begun = self._table.begun()
        unfinished = sum(bool(begun[bin]) and not mine for bin, (mine, _) in enumerate(both))
        self._check_disowned(len(disowned), sum(confirmed[bin] for bin in disowned), unfinished, choice)
        self._table.confirm(told)
        todo = [bin for bin, (mine, other) in enumerate(both) if not (mine and other)]
        again = f"; {len(disowned)} of the others are done here, but not at {self.peer}" if disowned else ""
        again += f"; {unfinished} of the others were begun here before" if unfinished else ""
        self.tell(f"resuming: {state.bins - len(todo)} of {state.bins} bins are done{again}")
        return todo

    def _check_disowned(self, disowned: int, lost: int, unfinished: int, choice: Choice) -> None:
        """Refuse to match bins again that the other party may have results of: it could ask again with other rows.

        disowned: bins with a result here that the other party has none of. lost: those of which it had one. unfinished:
        bins begun here without a result: the other may have had its own when it broke off. A crash leaves at most the
        bins that were under way, one a worker, unfinished, or with a result at one party alone: nobody has confirmed
        them. Raises RunError.
        """
        withstands = dict(_native.matching_protocols()).get(choice.protocol)
        anew = f"to match anew, remove {self.folder} here and start again at both parties"
        if disowned and withstands == "malicious":
            raise RunError(
                Fault.PEER,
                f"{self.peer} says that it has no results of {disowned} bins that are done here; under "
                f"{choice.protocol} no bin is matched twice, since it could ask with other rows: {anew}.",
            )
        if unfinished and withstands == "malicious" and not self.limits.repeat_bins:
            raise RunError(
                Fault.POLICY,
                f"the match broke off with bins under way here, {unfinished} of them; {self.peer} may have its results "
                f"of these, and could ask again with other rows; if you know why, start with --repeat-bins; {anew}.",
            )
        if lost and not self.limits.repeat_bins:
            raise RunError(
                Fault.PEER,
                f"{self.peer} says that it has no results of {lost} bins that it had before: it lost its files, or "
                f"asks again, perhaps with other rows; if you trust it, start with --repeat-bins; {anew}.",
            )

    def _confirm(self, pair: _native.Pair) -> str | None:
        """Tell each other that all is done. This party has its results, whatever becomes of the peer now."""
        try:
            pair.done()
            if self._state is not None and self.folder is not None:
                write_state(self.folder, self._key, replace(self._state, agreed=True))
            pair.close()
        except _native.PeerGoneError as error:
            return str(error)
        return None

    def _report(self, metrics: Mapping[str, int], begin: float, resumed: int, unconfirmed: str | None) -> Report:
        found = self._found
        if found is None and self.learns():
            assert self._table is not None
            totals = self._table.totals()
            found = Found(totals["keys"], pairs=totals["pairs"])
        protocol = None if self.choice is None else self.choice.protocol
        begun = [] if self._table is None else self._table.begun()
        again = self._again + sum(max(0, times - 1) for times in begun)
        return Report.of(
            self._counts, self.source.key, found or Found(), metrics, begin,
            resumed=resumed, unconfirmed=unconfirmed, protocol=protocol, again=again, may_ask=self.may_ask,
        )  # fmt: skip


def connect(members: Members, parameters: Parameters, me: str) -> _native.Pair:
    """Connect with the other party, which compares parameters. Raises native errors."""
    network = members.private(me).network
    return _native.Pair.connect(
        [members.native_party(name) for name in parameters.parties],
        parameters.parties.index(me),
        members.private(me).read_key(),
        parameters.plan,
        connect_timeout=network.connect_timeout,
        idle_timeout=network.idle_timeout,
        latency=network.latency,
        bandwidth=network.bandwidth,
    )

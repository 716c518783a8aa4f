"""One party's match from connecting to the joint rows: announce, choose, read, match, confirm."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_private import predicted_on
from tacit.plan.facts.catalog import Link
from tacit.psi.choice import BYTES_PER_TOKEN, Choice, Chosen, Facts, GroupChoice, choose
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.reading import Counts, Folder, keyed, partition
from tacit.psi.report import Found, Report
from tacit.psi.request import Limits
from tacit.psi.run import Run, Watch, watched
from tacit.psi.source import Source
from tacit.psi.start import Start
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
from tacit.psi.whole import ID_COLUMN, check_memory, choose_leader, choose_whole, computed_columns, reveal

OUTPUT_BYTES = 64
"""What the output has for a row of either table besides its columns."""

TOKEN_BYTES = 16
"""A token on disk, where the rows do not hold the key as it is."""

RESULT_BYTES = 4
"""A row that matched, on disk."""

BYTES_PER_ROW = 64
"""Tokens and places of a row in memory."""


Announce = Callable[[Chosen], None]
"""Takes what was chosen."""


class Match(Run):
    """One party's match. output: names the file that the rows will go to, if any.

    watch: is told of progress: metrics, and how many bins there are. announce: is told what was chosen, before any
    token is made.
    """

    def __init__(
        self,
        start: Start,
        parameters: Parameters,
        source: Source,
        limits: Limits,
        output: Path | None = None,
        plugin: object | None = None,
        watch: Watch = lambda metrics, bins: None,
        announce: Announce = lambda choice: None,
    ) -> None:
        super().__init__(start, parameters)
        self.source, self.limits, self.output, self.plugin = source, limits, output, plugin
        self.watch, self.announce = watch, announce
        self.peer_rows = 0
        self.folder = None if output is None or parameters.several else folder_of(output)
        self._key = sealing_key(self.members.private(self.me).read_key())
        self._again = self._resumed = 0
        self._columns = [*source.key, "/", *source.columns]
        self._choice: Choice | GroupChoice | None = None
        self._table: _native.Binned | None = None
        self._state: State | None = None
        self._counts: Counts = (source.rows, 0, [])
        self._found: Found | None = None
        fit(source, parameters, self.me)

    def run(self) -> Report:
        """Match. Raises RunError and native errors."""
        begin = time.monotonic()
        state = None
        if self.folder is not None:
            state = read_state(self.folder, self._key, self.parameters.plan_hash, self.source.stamp, self._columns)
        if state is not None and state.agreed:
            self.tell("all bins are done already: only the output is left to be written")
            self.approve()
            self._reopen(state)
            self._resumed = state.bins
            return self._report({}, begin, None)
        self._check_begun()
        with self.connected() as connection:
            facts = tuple(connection.announce(self._announcement(state)))
            for party, theirs in zip(self.parameters.parties, facts, strict=True):
                if party != self.me:
                    self.source.check_kinds(theirs.kinds, party)
            if isinstance(connection, _native.Group):
                self._in_common(connection, facts)
            else:
                self.peer_rows = facts[1 - self.number].rows
                if self.parameters.reveal == "intersection":
                    self._in_bins(connection, facts, state)
                else:
                    self._whole(connection, facts)
            unconfirmed = self._confirm(connection)
            return self._report(connection.metrics(), begin, unconfirmed)

    def rows(self) -> _native.MatchedRows:
        """The joint rows' part of this party; after ``run``."""
        if self._found is not None and self._found.output is not None:
            return self._found.output()
        assert self._table is not None, "run() comes first"
        return self._table.output(self.parameters.join, self.number == 0, self.peer_rows)

    def learns(self) -> bool:
        """Whether this party gets rows."""
        return self.me in self.parameters.to and self.parameters.gives_rows

    def if_unwritten(self) -> str:
        """What is left to do if the rows cannot be written."""
        if self._state is not None:
            return "the matches are kept: free space and run it again"
        repeat = ", here with --repeat-bins" if self.parameters.malicious else ""
        return f"free space, and run it again at {'all' if self.parameters.several else 'both'} parties{repeat}"

    def remove_files(self) -> None:
        """Remove what the match kept on disk."""
        if self.folder is not None:
            remove_folder(self.folder)

    def _in_bins(self, pair: _native.Pair, facts: Facts, state: State | None) -> None:
        """The rows that match, bin by bin."""
        mine, theirs = facts[self.number], facts[1 - self.number]
        choice = self._choice = choose(self.parameters, facts, self._network())
        self.may_ask = choice.may_ask
        self.announce(choice)
        if state is not None and mine.resumes_with(theirs, choice.bins):
            todo = self._resume(state, theirs.done, choice)
        else:
            if state is not None:
                self._begin_anew(state, choice)
            todo = list(range(choice.bins))
            self._partition(pair, choice)
        pair.ready()
        if self._state is None and self.folder is not None and self.parameters.malicious:
            begin_in_memory(self.folder, self._key, self.parameters.plan_hash, choice.bins)
        pair.add_workers(choice.workers)
        assert self._table is not None
        self.tell(f"matching {_bins(len(todo))}")
        self._resumed = choice.bins - len(todo)
        with watched(pair, self.watch, choice.bins, self._resumed):
            pair.run(
                self._table,
                choice.protocol,
                sender=choice.sender == self.number,
                todo=todo,
                plugin=None if self.plugin is None else (self.plugin, str(self.parameters.plugin)),
            )

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

    def _whole(self, pair: _native.Pair, facts: Facts) -> None:
        """What is revealed in place of the rows that match."""
        columns = computed_columns(self.parameters, facts)
        choice = choose_whole(self.parameters, facts, self._network())
        key = self._begin_whole(pair, choice)
        table: _native.Binned | _native.KeyedTable
        if self.parameters.reveal == "shares" or self.parameters.keys > 1:
            table, self._counts = keyed(self.source, key, self.parameters, self.tell)
        else:
            table = self._table = self._binned(key, 1, None)
        self.tell("matching")
        self._found = reveal(pair, table, self.parameters, choice, self.number, columns)

    def _in_common(self, group: _native.Group, facts: Facts) -> None:
        """The rows whose keys all of more than two parties have."""
        try:
            choice = choose_leader(self.parameters, facts, self._network())
        except RunError:
            group.refuse()
            raise
        key = self._begin_whole(group, choice)
        table = self._table = self._binned(key, 1, None)
        group.ready()
        self.tell("matching")
        with watched(group, self.watch, 1):
            group.intersect(table, leader=choice.leader)

    def _begin_whole(self, connection: _native.Pair | _native.Group, choice: Choice | GroupChoice) -> bytes:
        """Refuse tables that do not fit, or agree on the key of their tokens."""
        self._choice = choice
        self.announce(choice)
        if self.output is not None and self.learns():
            needed = 2 * self.source.bytes + OUTPUT_BYTES * (self.source.rows + self.peer_rows)
            check_disk(folder_of(self.output), needed)
        check_memory(self.parameters, choice, self.limits.memory, self.source.bytes)
        self.tell(f"reading {self.source.rows:,} rows into memory")
        key, _ = connection.agree()
        return key

    def _network(self) -> Link:
        """The network that this party expects to run on."""
        return predicted_on(self.members.link, (self.members.private(self.me).network,))

    def _announcement(self, state: State | None) -> _native.Announcement:
        """What this party tells the others of itself before anything else."""
        resume = None if state is None else (state.run, self._reopened(state).done())
        return announcement(self.parameters, self.source, self.limits, resume)

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
        self.tell(f"putting {self.source.rows:,} rows into {_bins(choice.bins)}, {where}")
        self._table = self._binned(key, choice.bins, self._folder(run) if on_disk else None)
        if on_disk and self.folder is not None:
            self._table.sync()
            self._state = State(
                self.parameters.plan_hash.hex(), run, key.hex(), self.source.stamp, self._columns, choice.bins,
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
        kept = exact and self.source.keeps_key
        each = RESULT_BYTES + (0 if kept else TOKEN_BYTES)
        needed = each * self.source.rows + 2 * self.source.bytes
        self.tell(f"needs about {needed / 1e9:.2f} GB of disk in {self.folder.parent}, the output included")
        check_disk(self.folder, needed)
        fresh_folder(self.folder)

    def _reopened(self, state: State) -> _native.Binned:
        return _native.Binned.reopen(
            self.source.select("LIMIT 0"),
            key=bytes.fromhex(state.key),
            columns=self.source.key_columns(self.parameters.normalisers),
            payload=self.source.places(self.source.columns),
            bins=state.bins,
            folder=self._folder(state.run),
        )

    def _reopen(self, state: State) -> None:
        self._table = self._reopened(state)
        self._state, self.peer_rows = state, state.rows[1]
        self._counts = (state.counts[0], state.counts[1], list(state.counts[2]))

    def _begin_anew(self, state: State, choice: Choice) -> None:
        """Leave a run that this party cannot resume. Raises RunError if the peer may have results of it."""
        before = self._reopened(state)
        done, begun = before.done(), before.begun()
        unfinished = sum(bool(times) and not result for result, times in zip(done, begun, strict=True))
        self._check_disowned(sum(done), sum(done), unfinished, choice)
        self._again += sum(max(times, result) for result, times in zip(done, begun, strict=True))

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

    def _keep_confirmed(self) -> None:
        if self._state is not None and self.folder is not None:
            write_state(self.folder, self._key, replace(self._state, agreed=True))

    def _report(self, metrics: Mapping[str, int], begin: float, unconfirmed: str | None) -> Report:
        found = self._found
        if found is None and self.learns():
            assert self._table is not None
            totals = self._table.totals()
            found = Found(totals["keys"], pairs=totals["pairs"])
        begun = [] if self._table is None else self._table.begun()
        return replace(
            Report.of(self._counts, self.source.key, found or Found(), metrics, begin),
            resumed=self._resumed,
            unconfirmed=unconfirmed,
            protocol=None if self._choice is None else self._choice.protocol,
            again=self._again + sum(max(0, times - 1) for times in begun),
            may_ask=self.may_ask,
        )


def _bins(count: int) -> str:
    return f"{count} bin{'' if count == 1 else 's'}"


def fit(source: Source, parameters: Parameters, me: str) -> None:
    """Keep of an input what a match needs of it. Raises RunError if it lacks something."""
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


def announcement(
    parameters: Parameters, source: Source, limits: Limits, resume: tuple[str, list[bool]] | None = None
) -> _native.Announcement:
    """What a party tells the others of itself before anything else. resume: the run that it has results of."""
    return _native.Announcement(
        rows=source.rows,
        memory=min(limits.memory, _native.MOST_MEMORY),
        workers=1 if parameters.several else limits.offered(),
        kinds=source.kinds(),
        columns=[number.announced() for number in source.numbers],
        resume=resume,
    )

"""A match of more than two parties: the rows whose keys all of them have."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.psi.agreement import Agreement, together
from tacit.psi.announcement import announcement
from tacit.psi.choice import Chosen, network_text
from tacit.psi.disclosures import Disclosure, Facts, MatchingKeys, PooledKeys, Refusal, parts
from tacit.psi.match import OUTPUT_BYTES, Limits, Report, Tell
from tacit.psi.source import Counts, Source, partition
from tacit.psi.state import check_disk, folder_of
from tacit.psi.watching import Told, Watching
from tacit.psi.whole import Found

PROTOCOL = "multi-party"

BYTES_PER_ROW = 192
"""What a run keeps in memory at most for each row of a party's table and of the leader's, besides the table itself."""

LEAST_BYTES = 64 << 20
"""What a run keeps for whatever tables."""


@dataclass(frozen=True)
class GroupParameters(Agreement):
    """Equal at all of more than two parties."""

    def reveals(self) -> str:
        """What is revealed, as the plan says it."""
        return "common"

    def what(self) -> str:
        """What is asked for, in a word or two."""
        return "inner join"

    def protocol_name(self) -> str:
        """The one protocol there is."""
        return PROTOCOL

    def disclosures(self) -> tuple[Disclosure, ...]:
        """What each party learns besides its own data."""
        keys, own = parts(self.parties, "keys"), parts(self.parties, "rows", "keys", "declarations")
        return (
            *(Disclosure((party,), self._learnt(party), keys) for party in self.to),
            *self._told_of_refusal(),
            Disclosure(self.parties, PooledKeys(self.to), keys),
            Disclosure(self.parties, Facts(limits=True, kinds=self.parties), own),
        )

    def _told_of_refusal(self) -> tuple[Disclosure, ...]:
        """Keys that repeat at several recipients can make more rows than fit; then all see the match end."""
        others = tuple(name for name in self.parties if name not in self.to)
        if len(self.to) == 1 or not others:
            return ()
        return (Disclosure(others, Refusal(), parts(self.parties, "rows", "keys")),)

    def _learnt(self, party: str) -> MatchingKeys:
        others = tuple(name for name in self.parties if name != party)
        return MatchingKeys(others, tuple(name for name in self.to if name != party))


def refuse(parties: Sequence[str], options: Mapping[str, bool]) -> None:
    """Refuse what only two parties can do. options: by their names, whether they are used. Raises RunError."""
    used = [option for option, given in options.items() if given]
    if used:
        raise RunError(
            Fault.INPUT,
            f"{together(tuple(parties))} can only find the rows whose keys all of them have; leave out {used[0]}, "
            "or name one party to match with, --with PARTY.",
        )


@dataclass(frozen=True)
class GroupChoice(Chosen):
    """leader: the party that finds the matches."""

    leader: int


def choose_leader(parameters: GroupParameters, facts: Sequence[_native.Announcement]) -> GroupChoice:
    """From what all announce, in their order. Raises RunError if it does not fit into memory."""
    rows = [each.rows for each in facts]
    found = _native.choose_leader(parameters.plan, facts)
    memory = min(each.memory for each in facts)
    check_memory(max(rows), rows[found["leader"]], memory, 0)
    name, seconds = found["protocol"], found["seconds"]
    alone = "it alone learns the matches" if len(parameters.to) == 1 else "this way it takes the least time"
    why = (
        f"protocol {name}: the one for more than two parties, {seconds:.2f} s predicted {network_text(facts)}",
        f"{parameters.parties[found['leader']]} finds the matches: {alone}",
        "1 bin, in memory: there are none on disk for more than two parties",
    )
    return GroupChoice(name, 1, 1, tuple(found["sent"]), found["rounds"], seconds, why, found["leader"])


def check_memory(rows: int, leader_rows: int, memory: int, table: int) -> None:
    """Refuse what does not fit into ``memory`` bytes beside a party's own table of ``table`` bytes. Raises RunError."""
    need = LEAST_BYTES + BYTES_PER_ROW * (rows + leader_rows) + 2 * table
    if need > max(memory, LEAST_BYTES):
        where = "at all parties" if table == 0 else "here"
        raise RunError(
            Fault.INPUT,
            f"a match of more than two parties works in memory and needs {need >> 20:,} MiB for these tables, more "
            f"than the {memory >> 20:,} MiB declared; declare more --memory {where}.",
        )


class GroupMatch:
    """One party's match with several others. output: names the file that the rows will go to, if any.

    tell: is told every step in a line. watch: is told of progress.
    """

    peer = "another party"
    may_ask: tuple[str, ...] = ()

    def __init__(
        self,
        members: Members,
        me: str,
        parameters: GroupParameters,
        source: Source,
        limits: Limits,
        output: Path | None = None,
        tell: Tell = lambda line: None,
        watch: Told = lambda metrics, bins: None,
    ) -> None:
        self.members, self.me, self.parameters, self.source = members, me, parameters, source
        self.limits, self.output, self.tell, self.watch = limits, output, tell, watch
        self.number = parameters.parties.index(me)
        self.others = [party for party in parameters.parties if party != me]
        self._table: _native.Binned | None = None
        self._counts: Counts = (source.rows, 0, [])

    def run(self, announce: Callable[[Chosen], None] = lambda choice: None) -> Report:
        """Match. announce: called with what was chosen before any token is made. Raises RunError and native errors."""
        begin = time.monotonic()
        self.tell(f"connecting with {together(self.others)}")
        group = self._connect()
        try:
            return self._matched(group, announce, begin)
        except BaseException:
            group.abort("the match failed")
            raise

    def rows(self) -> _native.MatchedRows:
        """The joint rows' part of this party; after ``run``."""
        assert self._table is not None, "run() comes first"
        return self._table.output("inner", self.number == 0, 0)

    def learns(self) -> bool:
        """Whether this party gets rows."""
        return self.me in self.parameters.to

    def if_unwritten(self) -> str:
        """What is left to do if the rows cannot be written."""
        return "free space, and run it again at all parties"

    def remove_files(self) -> None:
        """Nothing is kept on disk."""

    def _connect(self) -> _native.Group:
        network = self.members.private(self.me).network
        return _native.Group.connect(
            [self.members.native_party(name) for name in self.parameters.parties],
            self.number,
            self.members.private(self.me).read_key(),
            self.parameters.plan,
            connect_timeout=network.connect_timeout,
            idle_timeout=network.idle_timeout,
            latency=network.latency,
            bandwidth=network.bandwidth,
        )

    def _matched(self, group: _native.Group, announce: Callable[[Chosen], None], begin: float) -> Report:
        network = self.members.private(self.me).network
        facts = group.announce(announcement(self.source, network, self.limits.memory, workers=1))
        for party, theirs in zip(self.parameters.parties, facts, strict=True):
            if party != self.me:
                self.source.check_kinds(theirs.kinds, party)
        try:
            choice = choose_leader(self.parameters, facts)
        except RunError:
            group.refuse()
            raise
        announce(choice)
        if self.output is not None and self.learns():
            check_disk(folder_of(self.output), 2 * self.source.bytes + OUTPUT_BYTES * self.source.rows)
        leader_rows = facts[choice.leader].rows
        check_memory(self.source.rows, leader_rows, self.limits.memory, self.source.bytes)
        self.tell(f"reading {self.source.rows:,} rows into memory")
        key, _ = group.agree()
        table, self._counts = partition(
            self.source, key, self.parameters.normalisers, self.tell,
            memory=self.limits.memory, keep_keyless=False,
        )  # fmt: skip
        self._table = table
        group.ready()
        self.tell("matching")
        with Watching(group, self.watch, 1, 0):
            group.intersect(table, leader=choice.leader)
        metrics = group.metrics()
        return self._report(table, metrics, begin, self._confirm(group))

    def _confirm(self, group: _native.Group) -> str | None:
        """Tell each other that all is done. This party has its results, whatever becomes of the others now."""
        try:
            group.done()
            group.close()
        except _native.PeerGoneError as error:
            return str(error)
        return None

    def _report(
        self, table: _native.Binned, metrics: Mapping[str, int], begin: float, unconfirmed: str | None
    ) -> Report:
        totals = table.totals()
        found = Found(totals["keys"] if self.learns() else None, pairs=totals["pairs"])
        return Report.of(
            self._counts, self.source.key, found, metrics, begin, unconfirmed=unconfirmed, protocol=PROTOCOL
        )

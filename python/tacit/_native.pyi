"""The native module: handles on sessions and shared tables. One coarse method per operator, without the GIL."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypedDict, final, type_check_only

__all__ = [
    "BYTES_PER_TOKEN",
    "MOST_BINS",
    "MOST_BUDGET",
    "MOST_MEMORY",
    "MOST_PREPARED",
    "MOST_WORKERS",
    "UNDECLARED_LINK",
    "Announcement",
    "Binned",
    "Calibration",
    "CheatingError",
    "Group",
    "Identified",
    "InputError",
    "InternalError",
    "KeptFile",
    "KeptShares",
    "KeyedTable",
    "MatchPlan",
    "MatchedRows",
    "Offer",
    "Opened",
    "Pair",
    "Party",
    "PeerError",
    "PeerGoneError",
    "PolicyError",
    "PreparedSet",
    "Session",
    "SharedRows",
    "SharedTable",
    "TacitError",
    "WithheldError",
    "attends",
    "choose_bins",
    "choose_leader",
    "choose_whole",
    "circuit_psi_rows",
    "cost",
    "default_prices",
    "engines",
    "fingerprint",
    "generate_keys",
    "ids_methods",
    "kept_header",
    "key_kinds",
    "matching_protocols",
    "matching_questions",
    "measure_links",
    "measured",
    "operators",
    "permits",
    "processors",
    "published_bytes",
    "query_cost",
    "read_sealed",
    "reason_for_peers",
    "seal",
    "sign",
    "signed_by",
    "unseal",
    "version",
    "write_sealed",
]

BYTES_PER_TOKEN: int
"""What a worker keeps at most for each token of a bin while it is matched."""

MOST_BINS: int
MOST_BUDGET: int
MOST_MEMORY: int
MOST_PREPARED: int
MOST_WORKERS: int

UNDECLARED_LINK: tuple[float, float]
"""Latency (seconds) and bandwidth (bytes a second) that are reckoned with where nobody declares a network."""

@type_check_only
class ArrowStream(Protocol):
    """Anything that exports the Arrow PyCapsule stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class TacitError(Exception):
    """Base of all native errors. Subclasses are by whose fault it is.

    ``peer`` and ``step`` name the peer and the step concerned, or are None.
    """

    peer: str | None
    step: str | None

class InputError(TacitError):
    """The user's or owner's input is wrong (bad plan JSON, data outside declared bounds, wrong Arrow type)."""

class PolicyError(TacitError):
    """A value would be opened that the approved disclosures do not contain."""

class WithheldError(TacitError):
    """A bound that the program checks does not hold, as all parties are told alike. Nothing else is revealed."""

class PeerError(TacitError):
    """A peer misbehaves: wrong key, other version, other plan, broken protocol. Attribute ``peer``."""

class PeerGoneError(TacitError):
    """A peer cannot be reached, died, aborted or timed out. Attribute ``peer``."""

class CheatingError(TacitError):
    """A peer sent what no honest party sends, where a protocol checks that. Attributes ``peer`` and ``step``."""

class InternalError(TacitError):
    """tacit's own fault."""

@final
class Party:
    """Static description of one party for ``Session.connect``."""

    def __new__(cls, name: str, address: str, certificate_pem: str) -> Self: ...

@type_check_only
class Present(TypedDict):
    """A party of a run. previous: the hash of its last ledger entry. All in hexadecimal but the name."""

    name: str
    previous: str
    signature: str

@type_check_only
class Attendance(TypedDict):
    """Who takes part in a run. approval: the digest of what all approved under the plan. All in hexadecimal."""

    run: str
    plan_hash: str
    approval: str
    parties: list[Present]

@final
class Session:
    """One party's end of a connected group of nodes running one placed plan.

    It has the whole plan from its begin. Every step is executed by the id of its operator, in the plan's order.
    """

    @staticmethod
    def connect(
        parties: list[Party],
        me: str,
        nodes: list[str],
        private_key_pem: str | bytes | bytearray,
        plan_hash: bytes,
        permits: str,
        operators: str,
        *,
        engine: str,
        tls: bool = True,
        connect_timeout: float = 30.0,
        idle_timeout: float = 30.0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        record: bool = False,
        link: tuple[float, float] | None = None,
        prices: str | None = None,
        kept: list[KeptShares] | None = None,
        clients: list[str] = ...,
        ledger: bytes | None = None,
        memory: tuple[int, Path] | None = None,
        threads: int = 1,
    ) -> Session:
        """Connect to all peers over TLS 1.3, compare versions, kept tables, plan hashes and approvals, set the engine
        up.

        permits: JSON list. operators: JSON list of all that the session will execute, in order; it executes nothing
        else. What is approved is both, the nodes with their certificates, the engine, the link and the kept tables.
        engine: one of ``engines()``. One that can makes what it needs for the operators ahead, meanwhile, in a second
        session with connections of its own.
        link: latency (seconds, one way) and bandwidth (bytes a second) between the nodes, as all declare them.
        prices: the table of prices that all share, as JSON (docs/platform-engineer.md); None for the default.
        memory: this party's budget in bytes, and the folder of what does not fit; no other party is told.
        kept: for each operator that reads a kept table, in order, the shares that it will take.
        clients: owners and recipients that are no nodes, in an order that is the same everywhere.
        ledger: the hash of this party's last ledger entry, if all sign that they take part. A peer that does not ends
        the run.
        threads: how many of them compute at this party. What is sent does not depend on it.
        """

    @staticmethod
    def in_memory(
        nodes: list[str],
        permits: str,
        operators: str,
        *,
        engine: str,
        idle_timeout: float = 30.0,
        record: bool = False,
        link: tuple[float, float] | None = None,
        prices: str | None = None,
        ahead: bool = True,
        clients: list[str] = ...,
        memory: tuple[int, Path] | None = None,
    ) -> list[Session]:
        """The ends of all nodes of an engine, then of its clients, in this process (tests).

        Each is driven by its own thread.

        Nodes that wait for each other, none of which can go on, know it after 15 times the idle timeout.
        ahead: whether an engine that can makes ahead what it needs.
        """

    @staticmethod
    def clear(parties: list[str], permits: str, operators: str) -> Session:
        """The reference engine without any security: one session plays every party. Only for tests."""

    @property
    def me(self) -> str: ...
    def attendance(self) -> Attendance | None:
        """Who takes part, each by its signature; None where nobody signed."""

    def input(self, step: int, data: ArrowStream | None, *, pad_to: int | None = None) -> SharedTable:
        """Share the owner's table (data only at the owner).

        pad_to: for an operator with "pad_to_source": the rows of the unfiltered source, which is what is announced.
        """

    def psi(
        self,
        step: int,
        left: ArrowStream | None,
        right: ArrowStream | None,
        *,
        pad_to: tuple[int | None, int | None] | None = None,
    ) -> SharedTable:
        """Join two owners' tables by a psi or circuit_psi (data of its own side only at each owner).

        pad_to: for sides with "pad_to_source": the rows of the unfiltered source, which is what is announced.
        """

    def run(self, step: int) -> SharedTable:
        """Execute a secure operator on the tables of the steps that it names."""

    def kept(self, step: int, shares: KeptShares) -> SharedTable:
        """Take up a kept table. shares: what its file gave for the operator."""

    def keep(self, step: int, path: str, key: bytes, about: str) -> str:
        """Keep a table: write this node's shares to a file under a key of 32 bytes, and know that all nodes have.

        about: what the planner has to know of the table, as JSON. Returns what the file says of itself, as JSON.
        """

    def release(self, step: int) -> Opened | None:
        """Open to the operator's recipients; None at other parties."""

    def metrics(self, *, nested: bool = False) -> list[dict[str, Any]]:
        """Per step so far: {"step","bytes_sent","bytes_received","rounds","rounds_ahead","seconds","waiting_seconds"}.

        rounds_ahead: those of the second session, where there is one; its bytes are counted with the others.

        May be called from any thread during a run. nested: one entry for each step inside the plan's steps
        ("3.join/sort"), each without what is nested in it. Empty for ``clear``.
        """

    def transcript(self) -> list[dict[str, Any]]:
        """With record=True: messages {"step","round","peer","direction","bytes"}, then opened values {"step","opened"}.

        direction: "sent" or "received". bytes: the message's length. opened: the clear content, as bytes.
        """

    def close(self) -> None:
        """End in order, with an acknowledgement from every peer."""

    def abort(self, reason: str) -> None:
        """End at once and tell every peer; without effect on a session that has ended.

        Every error of ``input``, ``run`` and ``release``, and Ctrl-C, has ended the session already. May be called from
        any thread during a run.
        """

@final
class SharedTable:
    """What is public of a shared table. The session holds its shares, as long as the plan needs them."""

    @property
    def rows(self) -> int | None:
        """The public bound on the number of rows; None at a client, which knows none."""

    @property
    def columns(self) -> list[str]: ...

@final
class Opened:
    """Opened rows; exports the Arrow PyCapsule stream interface."""

    @property
    def rows(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class KeptFile:
    """The file of a kept table at one node."""

    @staticmethod
    def open(path: str, key: bytes) -> KeptFile:
        """Open a file and check all but its shares. key: 32 bytes."""

    @property
    def header(self) -> str:
        """What it says of itself, as JSON."""

    def read(self, operator: str) -> KeptShares:
        """Read the shares that a kept operator takes."""

@final
class KeptShares:
    """This node's shares of a kept table, for one session. Shows nothing."""

    @staticmethod
    def none_of(description: str) -> KeptShares:
        """None of a table that a description (its header as JSON) is of: what a party without a part approves."""

@final
class Announcement:
    """What a party tells the others of a match before anything else."""

    def __new__(
        cls,
        *,
        rows: int,
        memory: int,
        workers: int,
        kinds: list[str],
        columns: list[str] = ...,
        resume: tuple[str, list[bool]] | None = None,
    ) -> Announcement:
        """Of this party. memory: bytes. kinds: of its key columns. columns: that it shares. resume: the run that it
        holds results of, and of which bins."""

    @property
    def rows(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def kinds(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def done(self) -> list[bool]:
        """Of each bin of an earlier run whether there is a result; none without such a run."""

    def resumes_with(self, other: Announcement, bins: int) -> bool:
        """Whether both parties hold results of one run in these bins."""

@final
class Binned:
    """A party's rows in bins, and the result of every bin that has been matched."""

    @staticmethod
    def partition(
        data: ArrowStream,
        *,
        key: bytes,
        columns: list[tuple[int, str]],
        payload: list[int],
        bins: int,
        folder: tuple[str, str, bytes] | None = None,
        flush_bytes: int = ...,
        keep_keyless: bool = False,
    ) -> Binned:
        """Put a table into bins. columns: place and normaliser of every key column; payload: places of columns to keep.

        folder: where the bins' files go, the run's name and their key; None keeps everything in memory.
        """

    @staticmethod
    def reopen(
        data: ArrowStream,
        *,
        key: bytes,
        columns: list[tuple[int, str]],
        payload: list[int],
        bins: int,
        folder: tuple[str, str, bytes],
    ) -> Binned:
        """The bins and results that an earlier run has left in a folder. data: the same columns, its rows ignored; the
        rest as it was given to ``partition``."""

    @property
    def counts(self) -> tuple[int, int, list[tuple[int, int | None]]]:
        """Rows in all, rows with NULL in a key column, and by key column the rows without canonical spelling and the
        first of them (from 1)."""

    def done(self) -> list[bool]:
        """Of every bin whether it has a result."""

    def begun(self) -> list[int]:
        """Of every bin how often it was begun; 0 of bins in memory."""

    def confirmed(self) -> list[bool]:
        """Of every bin whether the peer has shown or said that it has a result of it."""

    def confirm(self, told: list[bool]) -> None:
        """Keep which bins the peer says that it has results of."""

    def sync(self) -> None:
        """Force the bins to the disk."""

    def totals(self) -> dict[str, int]:
        """{"keys","pairs","peer_rows"} that matched, after all bins are done."""

    def output(self, join: str, first: bool, peer_rows: int) -> MatchedRows:
        """The rows of a join (inner, left, right, full, anti). peer_rows: all rows of the other party."""

@final
class Offer:
    """What the owner of a prepared table offers."""

    def __new__(
        cls, *, rows: int, most: int, budget: int, kinds: list[str], token_key: bytes, published: bytes
    ) -> Offer:
        """Of this party's table. most: rows that may be asked about now; budget: in all. published: the published
        set."""

    @property
    def rows(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def budget(self) -> int: ...
    @property
    def kinds(self) -> list[str]: ...
    @property
    def token_key(self) -> bytes: ...
    def publishes(self, held: bytes) -> bool:
        """Whether bytes are the published set of this offer."""

@final
class Identified:
    """A party's rows with universal ids, and the ids of the other party's."""

    @property
    def union(self) -> int:
        """How many ids there are."""

    def output(self, column: str) -> MatchedRows:
        """The rows of the union in the order of their ids. column: the name of the column of ids."""

    @property
    def contaminated(self) -> tuple[int, int]:
        """With several keys, rows of the sender and of the receiver that share keys with several of the other's."""

@final
class KeyedTable:
    """A party's rows with one key or several, in memory."""

    @staticmethod
    def read(data: ArrowStream, *, key: bytes, keys: list[list[tuple[int, str]]], payload: list[int]) -> KeyedTable:
        """Read a table. keys: place and normaliser of every column of every key, the most important key first.

        payload: places of columns to keep.
        """

    @property
    def counts(self) -> tuple[int, int, list[tuple[int, int | None]]]:
        """Rows in all, rows without any key, and by column of every key the values that are not valid and the first."""

@final
class PreparedSet:
    """The owner's prepared set with its key."""

    @staticmethod
    def prepare(table: Binned, rows: int, budget: int) -> tuple[PreparedSet, bytes]:
        """Prepare a table of ``rows`` rows for ``budget`` asked items in all: the set to keep, and the published
        one."""

    @staticmethod
    def load(secret: bytes, answered: int) -> PreparedSet:
        """The set whose secret part is in a file, after ``answered`` asked items."""

    def secret(self) -> bytes:
        """The secret part, for a file that only the owner may read."""

@final
class SharedRows:
    """A party's shares of the pairs of rows that match."""

    @property
    def pairs(self) -> int: ...
    @property
    def contaminated(self) -> tuple[int, int]:
        """Rows of the sender and of the receiver that are in more than one pair."""

    def output(self) -> MatchedRows:
        """The shares, one row a pair: the sender's columns, then the receiver's."""

@final
class MatchedRows:
    """Rows that come out of a match; exports the Arrow PyCapsule stream interface, once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Group:
    """More than two connected parties that compared version and plan."""

    @staticmethod
    def connect(
        parties: list[Party],
        me: int,
        private_key_pem: str | bytes | bytearray,
        plan: MatchPlan,
        *,
        connect_timeout: float = 30.0,
        idle_timeout: float = 30.0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        ledger: bytes | None = None,
    ) -> Group:
        """Connect to all others over TLS 1.3 and compare versions and plans.

        ledger: the hash of this party\'s last ledger entry, if all sign that they take part.
        """

    def attendance(self) -> Attendance | None:
        """Who takes part, each by its signature; None where nobody signed."""

    def announce(self, mine: Announcement) -> list[Announcement]:
        """Tell everybody of this party. Everybody's announcement, in the parties' order."""

    def agree(self) -> tuple[bytes, str]:
        """Agree with everybody on a fresh key for tokens, to which all contribute, and on the run's name."""

    def ready(self) -> None:
        """Wait until everybody's input is ready."""

    def intersect(self, table: Binned, *, leader: int) -> None:
        """Find the rows whose keys all tables have. leader: by number."""

    def done(self) -> None:
        """Wait until everybody has its results."""

    def refuse(self) -> None:
        """Wait until all have had the time to find for themselves what this party is about to refuse."""

    def metrics(self) -> dict[str, int]:
        """{"bins","bytes_sent","bytes_received","rounds"}. From any thread, also during a run."""

    def close(self) -> None:
        """End in order, with an acknowledgement from every peer."""

    def abort(self, reason: str) -> None:
        """End at once and tell the peers why; without effect on a connection that has ended."""

@final
class MatchPlan:
    """A plan of a match: parties compare its hash, and their connection runs nothing else.

    hash: 32 bytes that are equal exactly if the plans and the versions of tacit are.
    """

    @property
    def hash(self) -> bytes: ...
    def __new__(cls, text: str) -> MatchPlan:
        """From JSON, as tacit.psi.parameters writes it. Raises InputError for what is no plan that parties can run."""

@final
class Pair:
    """Two connected parties that compared version and plan."""

    @staticmethod
    def connect(
        parties: list[Party],
        me: int,
        private_key_pem: str | bytes | bytearray,
        plan: MatchPlan,
        *,
        connect_timeout: float = 30.0,
        idle_timeout: float = 30.0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        ledger: bytes | None = None,
    ) -> Pair:
        """Connect to the other of two parties over TLS 1.3 and compare versions and plans.

        ledger: the hash of this party\'s last ledger entry, if all sign that they take part.
        """

    def attendance(self) -> Attendance | None:
        """Who takes part, each by its signature; None where nobody signed."""

    def announce(self, mine: Announcement) -> tuple[Announcement, Announcement]:
        """Tell the peer of this party. Both announcements, in the parties' order."""

    def agree(self) -> tuple[bytes, str]:
        """Agree with the peer on a fresh key for tokens, to which both contribute, and on the run's name."""

    def ready(self) -> None:
        """Wait until the peer's input is ready, too."""

    def add_workers(self, count: int) -> None:
        """Connect further workers, until there are ``count``. Both parties call it when both are ready."""

    def done(self) -> None:
        """Wait until the peer has its results, too."""

    def refuse(self) -> None:
        """Wait until the peer has had the time to find for itself what this party is about to refuse."""

    def run(
        self,
        table: Binned,
        protocol: str,
        *,
        sender: bool,
        todo: list[int],
        plugin: tuple[object, str] | None = None,
    ) -> None:
        """Match a table's bins. todo: the bins to do.

        plugin: a protocol written elsewhere (tacit.psi.plugin), and its name, in place of a named one.
        """

    def aggregate(self, table: Binned, sender: bool) -> tuple[int, int | None] | None:
        """How many keys match, and the sum of the sender's first payload column over them, if the plan says so.

        None at a party that learns nothing.
        """

    def identify(self, table: Binned, method: str, sender: bool) -> Identified:
        """Give every row of both parties a universal id."""

    def identify_by_keys(self, table: KeyedTable, sender: bool) -> Identified:
        """Give every row a universal id by the first of several keys that two rows share."""

    def share(self, table: KeyedTable, *, sender: bool, names: list[str]) -> SharedRows:
        """Share both payloads of the pairs of rows that match. names: of all columns of shares, the sender's first."""

    def offer(self, offer: Offer) -> tuple[int, bool]:
        """Offer a prepared table to be asked about.

        Returns how many rows the peer asks about, and whether it has what is published.
        """

    def question(self, rows: int, keys: int, held: bytes | None) -> Offer:
        """Ask about a prepared table with ``rows`` rows and ``keys`` key columns. held: what was published before."""

    def answer(self, set: PreparedSet, asked: int, published: bytes | None) -> None:
        """Answer a query about ``asked`` items, after the published set if the client does not have it."""

    def ask(self, table: Binned, rows: int, held: bytes | None, offer: Offer) -> bytes | None:
        """Ask which keys of a table of ``rows`` rows the prepared set of an offer has.

        held: the published set; it is received and returned if this party does not have it.
        """

    def metrics(self) -> dict[str, int]:
        """{"bins","bytes_sent","bytes_received","rounds"} of all workers. From any thread, also during a run."""

    def close(self) -> None:
        """End in order, with an acknowledgement from the peer."""

    def abort(self, reason: str) -> None:
        """End at once and tell the peer why; without effect on a connection that has ended."""

def choose_bins(
    plan: MatchPlan, announced: tuple[Announcement, Announcement], network: tuple[float, float] | None = None
) -> dict[str, Any]:
    """How the rows of two tables are matched: protocol, roles, bins and workers, as both parties choose alike.

    network: latency and bandwidth that this party expects, by default those of the plan. They decide nothing.
    Returns {"protocol","sender","bins","workers","capacities","sent","rounds","seconds","expected","others","limit",
    "tokens","need","memory"}. seconds: on the plan's network, by which protocols are chosen. expected: on ``network``.
    others: what was not chosen, with its seconds. limit: what decides the number of bins: "asked", "none", "caches" or
    "memory". need: bytes of all workers, which do not fit if they are more than memory.
    """

def choose_leader(
    plan: MatchPlan, announced: Sequence[Announcement], network: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Who of more than two parties finds the matches. Times are as those of ``choose_bins``.

    Returns {"protocol","leader","sent","rounds","seconds","expected"}.
    """

def choose_whole(
    plan: MatchPlan, announced: tuple[Announcement, Announcement], network: tuple[float, float] | None = None
) -> dict[str, Any]:
    """How two parties learn what they reveal in place of rows. Times are as those of ``choose_bins``.

    Returns {"protocol","sender","sent","rounds","seconds","expected"}.
    """

@final
class Calibration:
    """Plans that run among nodes of this process, and the prices that follow from what they take of the processor."""

    def __new__(cls, prices: str | None = None) -> Calibration:
        """prices: the table (JSON) that prices which nothing measures follow; None for the default."""

    def run(self, engine: str, operators: str, *, nodes: list[str], link: tuple[float, float] | None = None) -> None:
        """Measure a plan: operators (a JSON list in execution order) whose inputs have declared sizes.

        link: latency and bandwidth by which protocols are chosen.
        """

    def prices(self, date: str, machine: str) -> tuple[str, list[dict[str, Any]]]:
        """Measure intersections. Returns the table of prices (JSON), and the steps that were measured.

        A step is {"name","taken","predicted","fitted"}: seconds of a node's processor, measured and predicted by the
        prices of before and by the new ones.
        """

@type_check_only
class OperatorCost(TypedDict):
    """What one operator costs. bytes_sent: by each node, then by each client.

    rounds: those that are waited for; rounds_ahead: those in which something is made ahead meanwhile. circuits: those
    that are garbled or not by the link; garbled: those of them that are. memory: bytes of a node at the step's peak,
    with the tables that later steps take; memory_alone: without them. failure: the probability, at most, that the
    result is wrong.
    """

    step: str
    rows: int
    rounds: int
    rounds_ahead: int
    bytes_sent: list[int]
    circuits: int
    garbled: int
    seconds: float
    memory: int
    memory_alone: int
    failure: float

def cost(
    engine: str,
    operators: str,
    rows: dict[int, int],
    *,
    nodes: list[str],
    clients: list[str] = ...,
    link: tuple[float, float] | None = None,
    network: tuple[float, float] | None = None,
    prices: str | None = None,
    ahead: bool = True,
) -> list[OperatorCost]:
    """Cost of input, secure and release operators (a JSON list in execution order), without data.

    nodes: the names of the nodes in engine order, as the operators name owners and recipients.
    clients: those of owners and recipients that are no nodes.
    rows: row count per input step id; for a psi or circuit_psi also by those of the local steps of its
    sides, for a psi by its own id too.
    link: latency and bandwidth between the nodes, as for ``Session.connect``. network: those on which seconds are
    predicted, if they are others. Without a link, it is ``UNDECLARED_LINK``.
    prices: as for ``Session.connect``.
    ahead: whether an engine that can makes ahead what it needs, as in a session.
    Returns the cost of each operator, in their order.
    """

def default_prices() -> str:
    """The table of prices that holds where parties share none, as JSON."""

def engines() -> list[tuple[str, int]]:
    """All engines, each with its number of nodes. The first is for federations that name none."""

def processors() -> int:
    """How many processors this process may use."""

def ids_methods() -> list[str]:
    """The names of the ways to compute universal ids."""

def key_kinds() -> list[str]:
    """The names of the kinds of key columns."""

def kept_header(path: str) -> str:
    """What the file of a kept table says of itself, as JSON, unchecked."""

def measure_links(
    parties: list[Party],
    me: str,
    private_key_pem: str | bytes | bytearray,
    *,
    connect_timeout: float = 30.0,
    idle_timeout: float = 30.0,
    latency: float = 0.0,
    bandwidth: float | None = None,
) -> tuple[list[tuple[str, str, float, float]], tuple[float, float]]:
    """Connect to all others over TLS 1.3 and measure the links of all pairs. All parties call it with the same ones.

    latency and bandwidth: of a network to simulate. Returns every pair in the parties' order as (name, name, latency,
    bandwidth), and the highest latency and the lowest bandwidth of all. Latency is in seconds, one way; bandwidth is in
    bytes a second, of the slower direction.
    """

def measured(prices: str | None = None) -> tuple[str, str]:
    """When, and on which machine, a table of prices (JSON) was measured. Refuses a malformed one."""

def operators(listed: str) -> list[str]:
    """Operators (a JSON list in execution order) as they are understood, each as JSON: what parties compare."""

def permits(engine: str, operators: str, *, nodes: list[str], clients: list[str] = ...) -> str:
    """The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows."""

def published_bytes(rows: int, budget: int) -> int:
    """Bytes of a published set of ``rows`` rows, for ``budget`` asked items in all."""

def query_cost(asked: int) -> dict[str, int]:
    """The declared cost of a query about ``asked`` rows; the owner is the sender: {"rounds","sender","receiver"}."""

def reason_for_peers(kind: str) -> str:
    """What peers are told when this party ends because of a fault of this kind, a value of ``Fault``."""

def circuit_psi_rows(left: int, right: int) -> int:
    """How many rows a circuit_psi of these numbers of items on both sides has."""

def matching_questions(receiver: int, bins: int) -> int:
    """About how many items of each bin a receiver may ask that deviates from ``vole-malicious``."""

def matching_protocols() -> list[tuple[str, str]]:
    """The names of all protocols, each with the adversary it withstands; the default first."""

def generate_keys(name: str) -> tuple[bytearray, str]:
    """A fresh (private key PEM, self-signed certificate PEM) for a party."""

def fingerprint(certificate_pem: str) -> str:
    """SHA-256 of the certificate, as shown to people."""

def sign(private_key_pem: str | bytes | bytearray, context: str, content: bytes) -> bytes:
    """The signature (DER) of bytes by a party's private key.

    context: "entry", "approval", "attendance", "record" or "answer"; a signature of one kind is none of another.
    """

def signed_by(certificate_pem: str, context: str, content: bytes, signature: bytes) -> bool:
    """Whether the key of a certificate has signed bytes, as a testimony of this kind."""

def attends(
    certificate_pem: str, run: bytes, plan_hash: bytes, approval: bytes, ledger: bytes, signature: bytes
) -> bool:
    """Whether the key of a certificate has signed that its party takes part in a run.

    ledger: the hash of its last ledger entry.
    """

def write_sealed(path: str, key: bytes, label: str, content: bytes) -> None:
    """Write a file encrypted under a key of 32 bytes, whole or not at all; on disk when this returns."""

def read_sealed(path: str, key: bytes, label: str) -> bytes | None:
    """Read a file that ``write_sealed`` has written with the same label; None if there is none."""

def seal(key: bytes, label: str, content: bytes) -> bytes:
    """Encrypt bytes under a key of 32 bytes, for a part of a file."""

def unseal(key: bytes, label: str, sealed: bytes) -> bytes:
    """Decrypt what ``seal`` has made with the same key and label."""

def version() -> str: ...

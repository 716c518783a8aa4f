"""One party's part in a match, whatever it finds: connected, watched, and ended in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tacit import _native
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Content
from tacit.agent.record import COMPLETED
from tacit.agent.recording import Recording
from tacit.psi.disclosures import together
from tacit.psi.parameters import Parameters
from tacit.psi.report import Report
from tacit.psi.rules import runnable
from tacit.psi.start import Start

Watch = Callable[[Mapping[str, int], int], None]
"""Takes metrics, and how many bins there are."""


class Run:
    """One party's part. parameters: equal at all parties. There is none that an owner's rules do not allow."""

    kind = "match"
    """What it is called."""

    done, advice = "this party's output is complete", "; should it start again, run the same command again"
    """What is said where a peer was lost at the end."""

    may_ask: tuple[str, ...] = ()
    """How many items each party may ask about by deviating, in sentences, as soon as that is known."""

    def __init__(self, start: Start, parameters: Parameters) -> None:
        self.start, self.parameters = start, parameters
        self.judged = runnable(parameters, start.members)
        self.shared = False
        self.members, self.me, self.tell = start.members, start.me, start.tell
        self.number = parameters.parties.index(self.me)
        self.others = [party for party in parameters.parties if party != self.me]
        self.recording: Recording | None = None
        self.approval: Content = lambda entries: {}

    @property
    def peer(self) -> str:
        """The other party, for people."""
        return "another party" if self.parameters.several else self.others[0]

    @contextmanager
    def connected(self) -> Iterator[_native.Pair | _native.Group]:
        """Meet the others, connect, and compare parameters. A failure ends all. Raises RunError and native errors.

        The run counts once all have met. Owners may have changed their rules while this party waited. Once all are
        connected, each is told at once of a refusal, and nothing of a table has left.
        """
        self.start.meet(self.parameters)
        self.approve()
        self.tell(f"connecting with {together(self.others)}")
        private = self.members.private(self.me)
        end: type[_native.Pair | _native.Group] = _native.Group if self.parameters.several else _native.Pair
        connection = end.connect(
            [self.members.native_party(name) for name in self.parameters.parties],
            self.number,
            private.read_key(),
            self.parameters.plan,
            connect_timeout=private.network.connect_timeout,
            idle_timeout=private.network.idle_timeout,
            latency=private.network.latency,
            bandwidth=private.network.bandwidth,
            ledger=None if self.recording is None else self.recording.head,
        )
        try:
            if self.recording is not None:
                self.recording.begin(connection.attendance())
            runnable(self.parameters, self.members)
            self.shared = True
            yield connection
            if self.recording is not None:
                self.recording.close(COMPLETED)
        except BaseException as error:
            connection.abort(diagnose(error).fault.reason_for_peers)
            raise

    def approve(self) -> None:
        """Record that this party approves the run, before anything is shared. Raises RunError and LedgerError."""
        if self.recording is not None:
            self.recording.approve(self.approval)

    def check_confirmed(self, report: Report) -> None:
        """Refuse to call an end one that a peer has not confirmed. Raises RunError."""
        if report.unconfirmed is not None:
            lost = f"{self.peer} was lost before it confirmed ({report.unconfirmed})"
            raise RunError(Fault.PEER_GONE, f"{self.done}, but {lost}{self.advice}.")

    def _confirm(self, connection: _native.Pair | _native.Group) -> str | None:
        """Tell each other that all is done. This party has its results, whatever becomes of the others now."""
        try:
            connection.done()
            self._keep_confirmed()
            connection.close()
        except _native.PeerGoneError as error:
            return str(error)
        return None

    def _keep_confirmed(self) -> None:
        """Keep that all parties have their results."""


@contextmanager
def watched(connection: _native.Pair | _native.Group, watch: Watch, bins: int, before: int = 0) -> Iterator[None]:
    """Tell a few times a second how far a run is. before: how many bins were done when it began."""
    stop = threading.Event()

    def tell() -> None:
        metrics = dict(connection.metrics())
        metrics["bins"] += before
        watch(metrics, bins)

    def look() -> None:
        while not stop.wait(0.2):
            tell()

    thread = threading.Thread(target=look, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        tell()

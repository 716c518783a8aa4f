"""The native module: handles on sessions and shared tables. One coarse method per operator, without the GIL."""

from typing import Any, Protocol, Self, final, type_check_only

__all__ = [
    "InputError",
    "InternalError",
    "Opened",
    "Party",
    "PeerError",
    "PeerGoneError",
    "PolicyError",
    "Session",
    "SharedTable",
    "TacitError",
    "cost",
    "fingerprint",
    "generate_keys",
    "version",
]

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

class PeerError(TacitError):
    """A peer misbehaves: wrong key, other version, other plan, broken protocol. Attribute ``peer``."""

class PeerGoneError(TacitError):
    """A peer cannot be reached, died, aborted or timed out. Attribute ``peer``."""

class InternalError(TacitError):
    """tacit's own fault."""

@final
class Party:
    """Static description of one party for ``Session.connect``."""

    def __new__(cls, name: str, address: str, certificate_pem: str) -> Self: ...

@final
class Session:
    """One party's end of a connected group of nodes running one placed plan."""

    @staticmethod
    def connect(
        parties: list[Party],
        me: str,
        nodes: list[str],
        private_key_pem: str,
        plan_hash: bytes,
        permits: str,
        *,
        tls: bool = True,
        connect_timeout: float = 30.0,
        idle_timeout: float = 30.0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        record: bool = False,
    ) -> Session:
        """Connect to all peers over TLS 1.3 and compare versions and plan hashes. permits: JSON list."""

    @staticmethod
    def in_memory(nodes: list[str], permits: str, *, record: bool = False) -> list[Session]:
        """The three ends of a rep3 group in this process (tests): each is driven by its own thread."""

    @staticmethod
    def clear(parties: list[str], permits: str) -> Session:
        """The reference engine without any security: one session plays every party. Only for tests."""

    @property
    def me(self) -> str: ...
    def input(self, operator: str, data: ArrowStream | None, *, pad_to: int | None = None) -> SharedTable:
        """Share the owner's table (data only at the owner).

        pad_to: for an operator with "pad_to_source": the rows of the unfiltered source, which is what is announced.
        """

    def run(self, operator: str, inputs: list[SharedTable]) -> SharedTable:
        """Execute one secure operator."""

    def release(self, operator: str, input: SharedTable) -> Opened | None:
        """Open to the operator's recipients; None at other parties."""

    def metrics(self, *, nested: bool = False) -> list[dict[str, Any]]:
        """Per step so far: {"step","bytes_sent","bytes_received","rounds","seconds","waiting_seconds"}.

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
    """A handle on this node's shares of a table. Shows only public facts."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...

@final
class Opened:
    """Opened rows; exports the Arrow PyCapsule stream interface."""

    @property
    def rows(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def cost(engine: str, operators: str, rows: dict[int, int], *, nodes: list[str]) -> list[dict[str, Any]]:
    """Declared cost of input, secure and release operators (a JSON list in execution order), without data.

    nodes: the names of the nodes in engine order, as the operators name owners and recipients.
    rows: row count per input step id. Returns, per operator, {"step","rows","rounds","bytes_sent":[per node]}.
    """

def generate_keys(name: str) -> tuple[str, str]:
    """A fresh (private key PEM, self-signed certificate PEM) for a party."""

def fingerprint(certificate_pem: str) -> str:
    """SHA-256 of the certificate, as shown to people."""

def version() -> str: ...

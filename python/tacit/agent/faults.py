"""Whose fault an error is. Every error that reaches a person is one sentence of one of these kinds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Self, cast

from tacit import _native


class Fault(Enum):
    """The kind of an error. value: how events, JSON and native code name it."""

    INPUT = "input"
    POLICY = "policy"
    WITHHELD = "withheld"
    PEER = "peer"
    CHEATING = "cheating"
    PEER_GONE = "peer gone"
    INTERRUPTED = "interrupted"
    INTERNAL = "internal"

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends with this fault."""
        return _EXIT_STATUS[self]

    @property
    def reason_for_peers(self) -> str:
        """What peers are told about a failure: its kind only, because an error's own words may quote data."""
        return _native.reason_for_peers(self.value)


_EXIT_STATUS = {
    Fault.INPUT: 2,
    Fault.POLICY: 3,
    Fault.PEER: 4,
    Fault.PEER_GONE: 5,
    Fault.CHEATING: 6,
    Fault.WITHHELD: 7,
    Fault.INTERNAL: 70,
    Fault.INTERRUPTED: 130,
}

CAUSES_FIRST = (
    Fault.INPUT,
    Fault.POLICY,
    Fault.WITHHELD,
    Fault.INTERNAL,
    Fault.CHEATING,
    Fault.PEER,
    Fault.PEER_GONE,
    Fault.INTERRUPTED,
)
"""When one party fails, the others lose a peer: of several parties' faults, the first in this order is the cause."""


class RunError(Exception):
    """A question that ended without an answer, in one sentence. Users know it as ``tacit.Error``, and its kinds.

    The kind follows from the fault: ``RunError(Fault.INPUT, ...)`` is an ``InputError``. party: where it happened, None
    if before any party started. position: line and column in the query's text, from 1, where a place in it is to blame.
    refusal: of a query that an owner's rules refuse, rule, owner, table, column, place and the smallest change.
    """

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        fault = arguments[0] if arguments else named.get("fault")
        kind = KINDS[fault] if cls is RunError and isinstance(fault, Fault) else cls
        return cast(Self, super().__new__(kind))  # the kinds are classes below this one

    def __init__(
        self,
        fault: Fault,
        sentence: str,
        party: str | None = None,
        position: tuple[int, int] | None = None,
        refusal: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.fault = fault
        self.sentence = sentence
        self.party = party
        self.position = position
        self.refusal = refusal

    def __reduce__(self) -> tuple[type[RunError], tuple[object, ...]]:
        return KINDS[self.fault], (self.fault, self.sentence, self.party, self.position, self.refusal)

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends with this error."""
        return self.fault.exit_status

    def __str__(self) -> str:
        return self.sentence if self.party is None else f"{self.party}: {self.sentence}"

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show of it."""
        from tacit.plan.algebra.refusals import shown_in_notebooks  # a notebook has loaded it before

        return shown_in_notebooks(self)


class InputError(RunError):
    """What was asked, a file or data of this party is wrong, and nothing was shared. The sentence says what to do."""


class PolicyError(RunError):
    """An owner's rules do not allow what was asked."""


class WithheldError(RunError):
    """A bound that a program checks does not hold, as all parties are told alike. Nothing else was revealed."""


class PeerError(RunError):
    """Another party said or wanted something else than this one."""


class PeerGoneError(RunError):
    """Another party is not there, or not any more."""


class CheatingError(RunError):
    """Another party broke the protocol in a way that no mistake explains."""


class InterruptedRunError(RunError):
    """A party was told to stop."""


class InternalError(RunError):
    """A fault in tacit itself."""


KINDS: dict[Fault, type[RunError]] = {
    Fault.INPUT: InputError,
    Fault.POLICY: PolicyError,
    Fault.WITHHELD: WithheldError,
    Fault.PEER: PeerError,
    Fault.PEER_GONE: PeerGoneError,
    Fault.CHEATING: CheatingError,
    Fault.INTERRUPTED: InterruptedRunError,
    Fault.INTERNAL: InternalError,
}
"""The class of the errors of each fault."""

for _kind in (RunError, *KINDS.values()):
    _kind.__module__ = "tacit"  # where users find them, and tracebacks name them
RunError.__name__ = RunError.__qualname__ = "Error"


def cause(errors: list[RunError]) -> RunError:
    """Of the errors of several parties, in the order they were told, the one that explains the others."""
    return min(errors, key=lambda error: CAUSES_FIRST.index(error.fault))

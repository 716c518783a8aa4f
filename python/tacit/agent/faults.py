"""Whose fault an error is. Every error that reaches a person is one sentence of one of these kinds."""

from __future__ import annotations

from enum import Enum

from tacit import _native


class Fault(Enum):
    """The kind of an error. value: how events, JSON and native code name it."""

    INPUT = "input"
    POLICY = "policy"
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
    Fault.INTERNAL: 70,
    Fault.INTERRUPTED: 130,
}

CAUSES_FIRST = (
    Fault.INPUT,
    Fault.POLICY,
    Fault.INTERNAL,
    Fault.CHEATING,
    Fault.PEER,
    Fault.PEER_GONE,
    Fault.INTERRUPTED,
)
"""When one party fails, the others lose a peer: of several parties' faults, the first in this order is the cause."""


class RunError(Exception):
    """A run that ended without an answer. party: where it happened, None if before any party started."""

    def __init__(self, fault: Fault, sentence: str, party: str | None = None) -> None:
        super().__init__(sentence)
        self.fault = fault
        self.sentence = sentence
        self.party = party

    def __str__(self) -> str:
        return self.sentence if self.party is None else f"{self.party}: {self.sentence}"


def cause(errors: list[RunError]) -> RunError:
    """Of the errors of several parties, in the order they were told, the one that explains the others."""
    return min(errors, key=lambda error: CAUSES_FIRST.index(error.fault))

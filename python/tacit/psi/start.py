"""How a party starts a match: all wait for each other, who cannot start says so, and what differs is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.waiting import Waiting
from tacit.psi.disclosures import together
from tacit.psi.parameters import Parameters

Tell = Callable[[str], None]
"""Takes a line for people."""


def silent(line: str) -> None:
    """Tell nobody."""


LINGER = 1.0
"""Seconds: parties that start at an agreed time are not there at the same moment."""


class Start:
    """One party's start. Use as a context: if it fails in it before all have met, those that wait now are told.

    other: whom to match with, by default all of the federation. wait: for how many seconds the others are waited for,
    by default the time limit for connections of the private file. tell: is told every step in a line.
    """

    def __init__(
        self,
        members: Members,
        me: str,
        other: str | Sequence[str] | None = None,
        wait: float | None = None,
        tell: Tell = silent,
    ) -> None:
        self.members, self.me, self.tell = members, me, tell
        self.parties = matching(members, me, other)
        self._wait = wait
        self._met = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not self._met:
            self._waiting().tell_failure(error)

    def meet(self, parameters: Parameters) -> None:
        """Wait until all are ready. Raises RunError if one cannot start, has another match, or does not come."""
        self._met = True
        self._waiting(parameters).gather()

    def _waiting(self, parameters: Parameters | None = None) -> Waiting:
        others = [name for name in self.parties if name != self.me]
        seconds = self.members.private(self.me).network.connect_timeout if self._wait is None else self._wait
        agreed = {} if parameters is None else parameters.told()
        return Waiting(
            self.members, self.me, others, seconds, self._say, agreed=agreed, then_connect=True, linger=LINGER
        )

    def _say(self, event: Event) -> None:
        self.tell(f"waiting for {together(event['missing'])}")


def matching(members: Members, me: str, others: str | Sequence[str] | None) -> tuple[str, ...]:
    """All that match, in the file's order. others: besides ``me``, by default all of the file. Raises RunError."""
    named = [others] if isinstance(others, str) else list(others or ())
    for name in (me, *named):
        members.known(name)
    chosen = {me, *(members.parties if others is None else named)}
    if len(chosen) < 2:
        raise RunError(Fault.INPUT, f"{members.path}: name whom to match with, --with PARTY, other than {me}.")
    return tuple(name for name in members.parties if name in chosen)

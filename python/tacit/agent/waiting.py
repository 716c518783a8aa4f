"""Parties that wait for each other before a run: who is missing, and who cannot take part, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tacit.agent.diagnosis import diagnose
from tacit.agent.events import EventSink
from tacit.agent.federation import Federation
from tacit.agent.meeting import READY, STOPPED, Status, gather, tell_stopped
from tacit.local.errors import DataError


@dataclass(frozen=True)
class Waiting:
    """One party's wait for the others of a run. seconds: how long at most; None: it does not wait here.

    beyond: parties of the run that it does not compute with, for which the others wait. Without a wait, parties find
    each other when they connect, and nobody is told who cannot start.
    """

    federation: Federation
    me: str
    others: Sequence[str]
    seconds: float | None
    emit: EventSink
    beyond: Sequence[str] = ()

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Tell those that wait now if this party cannot take part, with the kind of the reason and the table."""
        try:
            yield
        except BaseException as error:
            if self.seconds is not None:
                members = self.federation.members
                tell_stopped(members, self.me, self.others, Status.of(members, STOPPED, self._reason(error)))
            raise

    def gather(self) -> None:
        """Wait until all are ready. Raises RunError if one cannot take part, or has not come in time."""
        if self.seconds is not None:
            members = self.federation.members
            own = Status.of(members, READY)
            gather(members, self.me, self.others, own, self.seconds, self._missing, self.beyond)

    def _missing(self, names: list[str]) -> None:
        self.emit({"event": "waiting", "missing": names})

    def _reason(self, error: BaseException) -> str:
        """Why this party cannot take part, in public words: an error's own words may quote data, or a path."""
        kind = diagnose(error).fault.reason_for_peers
        for table in self.federation.catalog.tables:
            known = (table.path, f"table {table.name}")
            if isinstance(error, DataError) and table.owner == self.me and error.file in known:
                there = table.path is not None and Path(table.path).exists()
                return f"{kind}, the file of its table {table.name} is {'not as it offers' if there else 'not there'}"
        return kind

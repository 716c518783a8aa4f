"""Parties that wait for each other before a run: who is missing, and who cannot take part, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tacit.agent.diagnosis import diagnose
from tacit.agent.events import EventSink
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.meeting import READY, STOPPED, Status, gather, tell_stopped
from tacit.local.errors import DataError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Table


@dataclass(frozen=True)
class Waiting:
    """One party's wait for the others of a run. seconds: how long at most; None: it does not wait here.

    beyond: parties of the run that it does not compute with, for which the others wait. Without a wait, parties find
    each other when they connect, and nobody is told who cannot start. offered: of what an error may be. agreed: what
    all have to say alike, by its public name. then_connect: leave it to the connection, which says more, if a party is
    there but cannot be met. linger: for how many seconds a party that cannot take part stays for those that come late.
    """

    members: Members
    me: str
    others: Sequence[str]
    seconds: float | None
    emit: EventSink
    beyond: Sequence[str] = ()
    offered: Sequence[Table | OfferedArray] = ()
    agreed: Mapping[str, str] = field(default_factory=dict)
    then_connect: bool = False
    linger: float = 0.0

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Tell those that wait now if this party cannot take part, with the kind of the reason and the table."""
        try:
            yield
        except BaseException as error:
            self.tell_failure(error)
            raise

    def tell_failure(
        self, error: BaseException, reason: str | None = None, agreed: Mapping[str, str] | None = None
    ) -> None:
        """Tell those that wait now that this party cannot take part, with the kind of the reason and the table.

        reason: another one, in public words. agreed: what this party has started, for peers to see what differs.
        """
        if self.seconds is not None:
            own = Status.of(self.members, STOPPED, reason or self._reason(error), agreed)
            tell_stopped(self.members, self.me, self.others, own, self.linger)

    def gather(self) -> None:
        """Wait until all are ready. Raises RunError if one cannot take part, or has not come in time."""
        if self.seconds is not None:
            own = Status.of(self.members, READY, agreed=self.agreed)
            try:
                gather(
                    self.members, self.me, self.others, own, self.seconds, self._missing, self.beyond,
                    then_connect=self.then_connect,
                )  # fmt: skip
            except RunError as error:
                if error.fault is Fault.PEER:  # those that come later do not hear it from who has ended
                    self.tell_failure(error, error.sentence.partition(":")[0], self.agreed)
                raise

    def _missing(self, names: list[str]) -> None:
        self.emit({"event": "waiting", "missing": names})

    def _reason(self, error: BaseException) -> str:
        """Why this party cannot take part, in public words: an error's own words may quote data, or a path."""
        if isinstance(error, RunError) and error.sentence.startswith(f"refused by {self.me}: "):
            return error.sentence.rstrip(".")  # its rule has chosen the words
        kind = diagnose(error).fault.reason_for_peers
        for each in self.offered:
            what = f"{'table' if isinstance(each, Table) else 'array'} {each.name}"
            if isinstance(error, DataError) and each.owner == self.me and error.file in (each.path, what):
                there = each.path is not None and Path(each.path).exists()
                return f"{kind}, the file of its {what} is {'not as it offers' if there else 'not there'}"
        return kind

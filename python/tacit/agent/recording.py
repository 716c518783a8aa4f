"""One party's entries of one run: approved before anything is shared, and its end with what all have signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from tacit.agent.closing import Closing
from tacit.agent.entry import JSON
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Content, Ledger
from tacit.agent.record import FAILED, RunRecord
from tacit.agent.signer import Signer


class Recording:
    """The record of a run at one party. parties: all of the run. others: those that this one has links with."""

    def __init__(self, members: Members, me: str, parties: Sequence[str], others: Sequence[str]) -> None:
        self._members, self._me, self._parties, self._others = members, me, parties, others
        self.signer = Signer.of(members, me)
        self.ledger = Ledger(members.private(me).ledger, self.signer)
        self.approved: JSON = {}
        self._record: RunRecord | None = None

    def approve(self, content: JSON | Content) -> None:
        """Write what is approved, before anything is shared. Raises LedgerError."""
        self.approved = self.ledger.append("approved", content)

    @property
    def head(self) -> bytes:
        """The hash of that entry, which all parties are shown."""
        return bytes.fromhex(self.approved["hash"])

    def begin(self, attendance: Mapping[str, Any] | None) -> None:
        """Take over what all have signed when they connected. Raises RunError if they have not."""
        if attendance is None:
            raise RunError(Fault.INTERNAL, "nobody has signed that it takes part.")
        known = {name: self._members.certificate(name) for name in self._parties}
        self._record = RunRecord.of(attendance, known, self.approved["disclosures"])

    def close(self, outcome: str) -> None:
        """Sign how the run ended here, once, and take over what the others have signed."""
        if self._record is not None and self._me not in self._record.said:
            self._record.sign(outcome, self.signer)
            Closing(self._members, self._me, self._others, self._record).run()

    def close_failed(self) -> None:
        """The same after a failure, of which whatever is signed by then is recorded."""
        with suppress(Exception, KeyboardInterrupt):
            self.close(FAILED)

    def signed(self) -> JSON:
        """What the parties have signed, as the entry says it that ends the run; nothing if they never connected."""
        return {} if self._record is None else self._record.json()

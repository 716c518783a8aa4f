"""What attackers of ledgers, certificates and ends of runs do, and what is found."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable

from tacit.agent.audit import Audit, audited, compared
from tacit.agent.entry import JSON
from tacit.agent.record import COMPLETED, RunRecord, Said
from tacit.agent.signer import Signer

from .signing import DISCLOSURES, Party, rechained

PLAN = "ab" * 32
Change = Callable[[JSON], None]


def audit(party: Party) -> Audit:
    return audited(party.entries(), party.name, party.signer.certificate, party.name)


def with_copy_of(mine: Party, other: Party, entries: list[JSON] | None = None) -> Audit:
    own, theirs = mine.signer, other.signer
    copied = other.entries() if entries is None else entries
    return compared(mine.entries(), mine.name, own.certificate, copied, other.name, theirs.certificate, "copy")


def resigned(party: Party, entries: list[JSON]) -> list[JSON]:
    return rechained(entries, lambda found: party.signer.sign("entry", bytes.fromhex(found)))


def records(parties: dict[str, Party]) -> dict[str, RunRecord]:
    """What each party knows of a run that has begun."""
    name, plan_hash, approval = (os.urandom(32).hex() for _ in range(3))
    known = {each: party.signer.certificate for each, party in parties.items()}
    present = []
    for each, party in parties.items():
        head = os.urandom(32).hex()
        said = b"".join(map(bytes.fromhex, (name, plan_hash, approval, head)))
        present.append({"name": each, "previous": head, "signature": party.signer.sign("attendance", said)})
    attendance = {"run": name, "plan_hash": plan_hash, "approval": approval, "parties": present}
    return {each: RunRecord.of(attendance, known, DISCLOSURES) for each in parties}


def accusing(record: RunRecord, liar: Signer, of: str) -> Said:
    """The end of a run as a party signs it that claims another ledger of somebody else."""
    lying = copy.deepcopy(record)
    lying.previous[of] = "77" * 32
    lying.said.clear()
    lying.sign(COMPLETED, liar)
    return lying.said[liar.party]


def without(name: str) -> Change:
    def change(entry: JSON) -> None:
        entry["attendance"]["parties"].pop(name)
        entry["record"]["parties"].pop(name)

    return change


def as_if_alone(entry: JSON) -> None:
    entry.pop("attendance")
    entry.pop("record")
    entry["alone"] = True

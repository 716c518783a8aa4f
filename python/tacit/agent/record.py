"""What all parties sign of a run: that they take part, and how it ended at each of them.

The first is signed and checked by native code when parties connect; the second here, when the run is over. Both stand
in the entry that ends the run, with the certificates they were checked by:

- `attendance` has `run`, `approval` (the digest that native code makes), and for each of `parties` its `previous` (the
  hash of its entry that approved the run), `signature` and `certificate`.
- `record` has `disclosures` (a digest), and for each of `parties` its `outcome`, the `previous` hashes of all parties
  that it knew, and its `signature`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit import _native
from tacit.agent.entry import JSON, canonical
from tacit.agent.signer import Signer, signed_by, unhex

COMPLETED, FAILED = "completed", "failed"
OUTCOMES = (COMPLETED, FAILED)


@dataclass(frozen=True)
class Said:
    """What one party has signed of the end of a run. presence: its signature that it takes part."""

    outcome: str
    previous: Mapping[str, str]
    presence: str
    signature: str

    @classmethod
    def read(cls, said: object) -> Said:
        """From JSON. Raises ValueError."""
        try:
            found = cls(**said)  # type: ignore[arg-type]  # a mapping, or the error that is caught
            texts = (found.outcome, found.presence, found.signature, *found.previous, *found.previous.values())
        except (AttributeError, TypeError):
            raise ValueError("no end of a run") from None
        if not all(isinstance(each, str) for each in texts) or found.outcome not in OUTCOMES:
            raise ValueError("no end of a run")
        return found

    def json(self) -> JSON:
        """As it is sent and kept."""
        return {
            "outcome": self.outcome, "previous": dict(self.previous), "presence": self.presence,
            "signature": self.signature,
        }  # fmt: skip


@dataclass
class RunRecord:
    """The signatures of a run, as far as this party has them. certificates: of all its parties, by name.

    previous: the hash of each party's entry that approved the run; presence: its signature of that. said: how the run
    ended at each party.
    """

    run: str
    plan_hash: str
    approval: str
    disclosures: str
    certificates: Mapping[str, str]
    previous: dict[str, str]
    presence: dict[str, str]
    said: dict[str, Said] = field(default_factory=dict)
    _own: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, attendance: Mapping[str, Any], certificates: Mapping[str, str], disclosures: object) -> RunRecord:
        """A run that begins. attendance: as native code gives it."""
        parties = attendance["parties"]
        return cls(
            attendance["run"], attendance["plan_hash"], attendance["approval"], digest(disclosures), certificates,
            {each["name"]: each["previous"] for each in parties},
            {each["name"]: each["signature"] for each in parties},
        )  # fmt: skip

    def sign(self, outcome: str, signer: Signer) -> None:
        """Say how the run ended here."""
        content = self._content(outcome, self.previous)
        signature = signer.sign("record", content)
        self._own = signer.party
        self.said[signer.party] = Said(outcome, dict(self.previous), self.presence[signer.party], signature)

    def take(self, name: str, said: Said) -> bool:
        """Take over what another party has signed, from whomever it came. False if it has not signed that.

        Of whoever claims that the party of this record showed another ledger, nothing is taken over.
        """
        if name in self.said:
            return True
        certificate = self.certificates.get(name)
        if certificate is None or name not in said.previous:
            return False
        if self._is_false(said) or not self._is_proper(said):
            return False
        head = said.previous[name]
        if self.previous.get(name, head) != head or not self.attends(name, head, said.presence):
            return False
        if not signed_by(certificate, "record", self._content(said.outcome, said.previous), said.signature):
            return False
        self.previous[name], self.presence[name], self.said[name] = head, said.presence, said
        return True

    def _is_false(self, said: Said) -> bool:
        """Whether it is about another ledger of this party than that which it showed."""
        own = None if self._own is None else self.previous.get(self._own)
        return self._own is not None and said.previous.get(self._own, own) != own

    def _is_proper(self, said: Said) -> bool:
        """Whether it names parties of the run, and hashes, alone."""
        known = said.previous.keys() <= self.certificates.keys()
        return known and all(unhex(head, 32) is not None for head in said.previous.values())

    def attends(self, name: str, head: str, presence: str) -> bool:
        """Whether a party has signed that it takes part, when its ledger ended with this hash."""
        hashes = [unhex(each, 32) for each in (self.run, self.plan_hash, self.approval, head)]
        signature = unhex(presence)
        if signature is None or None in hashes:
            return False
        run, plan_hash, approval, ledger = (each or b"" for each in hashes)
        return _native.attends(self.certificates[name], run, plan_hash, approval, ledger, signature)

    @property
    def missing(self) -> list[str]:
        """Who has not said how the run ended."""
        return [name for name in self.certificates if name not in self.said]

    def json(self) -> JSON:
        """As it stands in the entry that ends the run."""
        present = {
            name: {"previous": head, "signature": self.presence[name], "certificate": self.certificates[name]}
            for name, head in self.previous.items()
        }
        ended = {
            name: {"outcome": said.outcome, "previous": dict(said.previous), "signature": said.signature}
            for name, said in self.said.items()
        }
        return {
            "attendance": {"run": self.run, "approval": self.approval, "parties": present},
            "record": {"disclosures": self.disclosures, "parties": ended},
        }

    @classmethod
    def read(cls, entry: JSON) -> RunRecord:
        """Of an entry that ends a run. What is said there is taken over only as far as it is signed, by ``problems``.

        Raises ValueError for what is none.
        """
        try:
            attendance, record = entry["attendance"], entry["record"]
            present = attendance["parties"]
            found = cls(
                attendance["run"], entry["plan_hash"], attendance["approval"], record["disclosures"],
                {name: each["certificate"] for name, each in present.items()},
                {name: each["previous"] for name, each in present.items()},
                {name: each["signature"] for name, each in present.items()},
                {
                    name: Said.read({**each, "presence": present[name]["signature"]})
                    for name, each in record["parties"].items()
                },
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError):
            raise ValueError("no record of a run") from None
        texts = (found.run, found.plan_hash, found.approval, found.disclosures)
        members = (found.certificates, found.previous, found.presence)
        if not all(isinstance(each, str) for each in (*texts, *(text for each in members for text in each.values()))):
            raise ValueError("no record of a run")
        return found

    def problems(self, party: str | None = None) -> Iterator[str]:
        """What is not signed as it stands here, or what parties have signed differently.

        party: whose record it is. What one says of the ledger of a third proves nothing against this one's: it is for
        ``notes``.
        """
        for name, head in self.previous.items():
            if not self._certified(name) or not self.attends(name, head, self.presence[name]):
                yield f"{name} has not signed that it took part"
        for name, said in self.said.items():
            if not self._certified(name) or not signed_by(
                self.certificates[name], "record", self._content(said.outcome, said.previous), said.signature
            ):
                yield f"{name} has not signed how it ended"
            for other in self._contradicted(said):
                if party is None or other in (name, party):
                    yield f"{name} has signed another ledger of {other}: {other} showed two, or this one is changed"

    def notes(self, party: str) -> Iterator[str]:
        """What parties have signed of the ledgers of others, otherwise than these."""
        for name, said in self.said.items():
            for other in self._contradicted(said):
                if other not in (name, party):
                    yield f"{name} has signed another ledger of {other} than {other} here: one of the two deceives"

    def _contradicted(self, said: Said) -> list[str]:
        return [other for other, head in said.previous.items() if self.previous.get(other, head) != head]

    def _certified(self, name: str) -> bool:
        try:
            _native.fingerprint(self.certificates[name])
        except (KeyError, TypeError, _native.InputError):
            return False
        return True

    def _content(self, outcome: str, previous: Mapping[str, str]) -> bytes:
        return canonical({
            "run": self.run, "plan_hash": self.plan_hash, "approval": self.approval, "disclosures": self.disclosures,
            "outcome": outcome, "previous": dict(previous),
        })  # fmt: skip


def digest(disclosures: object) -> str:
    """The SHA-256 of what is disclosed."""
    return hashlib.sha256(canonical(disclosures)).hexdigest()

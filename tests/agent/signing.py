"""Parties with keys and ledgers, and runs that they sign, without a computation."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tacit import _native
from tacit.agent.addresses import free_ports
from tacit.agent.entry import JSON, canonical, chained
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.agent.ledger import Ledger
from tacit.agent.private_key import PrivateKey
from tacit.agent.record import COMPLETED, RunRecord
from tacit.agent.signer import Signer

DISCLOSURES = [{"what": "the answer: n, one row", "recipients": ["north"], "site": "3.release"}]


def signer(party: str) -> Signer:
    """A party with a fresh key."""
    made, certificate = _native.generate_keys(party)
    kept = bytes(made)
    return Signer(party, certificate, lambda: PrivateKey(kept))


def members_at_free_ports(folder: Path, names: Sequence[str]) -> Members:
    """Parties on this machine, each with a key pair."""
    lines = [f'[parties.{name}]\naddress = "127.0.0.1:{7201 + place}"' for place, name in enumerate(names)]
    (folder / "federation.toml").write_text("\n".join(lines) + "\n")
    found = Members.load(folder / "federation.toml")
    make_keys(found, names, replace=False)
    with free_ports({name: found.parties[name].address for name in names}) as addresses:
        moved = {name: replace(member, address=addresses[name]) for name, member in found.parties.items()}
    return replace(found, parties=moved)


@dataclass(frozen=True)
class Party:
    """A party with its ledger."""

    signer: Signer
    ledger: Ledger

    @classmethod
    def fresh(cls, name: str, folder: Path) -> Party:
        """One whose ledger is still empty."""
        mine = signer(name)
        return cls(mine, Ledger(folder / f"{name}.jsonl", mine))

    @property
    def name(self) -> str:
        """Its name."""
        return self.signer.party

    def entries(self) -> list[JSON]:
        """Its ledger's entries."""
        return self.ledger.entries()

    def put(self, entries: Sequence[JSON]) -> None:
        """Replace the whole ledger."""
        self.ledger.path.write_bytes(b"".join(canonical(entry) + b"\n" for entry in entries))


def run(parties: Sequence[Party], query: str, silent: Sequence[str] = ()) -> str:
    """A run that all sign, but for silent ones, which sign no end. Returns its name."""
    plan_hash, approval, name = secrets.token_hex(32), secrets.token_hex(32), secrets.token_hex(32)
    known = {party.name: party.signer.certificate for party in parties}
    prints = {party: _native.fingerprint(certificate) for party, certificate in known.items()}
    approved = {}
    for party in parties:
        said = {"party": party.name, "query": query, "plan_hash": plan_hash, "parties": prints, "nodes": [*prints]}
        approved[party.name] = party.ledger.append("approved", {**said, "disclosures": DISCLOSURES})
    present = []
    for party in parties:
        head = approved[party.name]["hash"]
        said_there = b"".join(map(bytes.fromhex, (name, plan_hash, approval, head)))
        signature = party.signer.sign("attendance", said_there)
        present.append({"name": party.name, "previous": head, "signature": signature})
    attendance = {"run": name, "plan_hash": plan_hash, "approval": approval, "parties": present}
    records = {party.name: RunRecord.of(attendance, known, DISCLOSURES) for party in parties}
    for party in parties:
        if party.name not in silent:
            records[party.name].sign(COMPLETED, party.signer)
    said_all = {name: record.said[name] for name, record in records.items() if name in record.said}
    for party in parties:
        record = records[party.name]
        assert all(record.take(other, said) for other, said in said_all.items())
        content = {
            "party": party.name, "run": approved[party.name]["hash"], "query": query, "plan_hash": plan_hash,
            "disclosures": DISCLOSURES, **record.json(),
        }  # fmt: skip
        party.ledger.append(COMPLETED, content)
    return name


def rechained(entries: Sequence[JSON], sign: Callable[[str], str] | None = None) -> list[JSON]:
    """The entries with positions, hashes and, by who can sign, signatures as they should be."""
    found: list[JSON] = []
    for number, entry in enumerate(entries, start=1):
        fresh = {**entry, "entry": number, "previous": found[-1]["hash"] if found else "0" * 64}
        fresh["hash"] = chained(fresh)
        if sign is not None:
            fresh["signature"] = sign(fresh["hash"])
        found.append(fresh)
    return found

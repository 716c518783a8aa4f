"""An entry of a ledger: what it says, its place in the chain, and the signature of its party.

The position is `entry`, from 1. The hash of the entry before it is `previous`, or zeros. Its own `hash` is the SHA-256
of position, previous hash, and the SHA-256 of all other members. The `signature` is of the hash, by the party's key.
Besides what it says, every entry has `time`, `kind` and a random `salt`, so that a hash tells nothing of what it is of.

As the hash is of a hash, what an entry says can be left out of a copy, whose chain is whole all the same. There `body`,
the inner hash, stands in place of what it says.

Entries of versions before signatures have no `signature`, and a hash of all their other members. They count as far as a
later entry `adopted` says so, which is signed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime
from typing import Any

from tacit.agent.signer import Signer, signed_by, unhex

JSON = dict[str, Any]

GENESIS = "0" * 64
"""The previous hash of the first entry."""

CHAIN = ("entry", "previous", "hash", "signature")
"""The members that are not part of what an entry says."""


def made(last: JSON | None, kind: str, content: JSON, signer: Signer) -> JSON:
    """The entry after the last one."""
    entry = {
        **content,
        "entry": 1 if last is None else last["entry"] + 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "kind": kind,
        "salt": secrets.token_hex(16),
        "previous": GENESIS if last is None else last["hash"],
    }
    found = chained({**entry, "signature": None})
    return {**entry, "hash": found, "signature": signer.sign("entry", bytes.fromhex(found))}


def chained(entry: JSON) -> str:
    """The hash of an entry by what stands in it."""
    if is_unsigned(entry):
        return hashlib.sha256(canonical({name: entry[name] for name in entry if name != "hash"})).hexdigest()
    head = {"entry": entry.get("entry"), "previous": entry.get("previous"), "body": _body(entry)}
    return hashlib.sha256(canonical(head)).hexdigest()


def redacted(entry: JSON) -> JSON:
    """The same entry without what it says."""
    return {**{name: entry[name] for name in CHAIN}, "body": _body(entry)}


def is_redacted(entry: JSON) -> bool:
    """Whether only the place of an entry is known."""
    return entry.keys() == {*CHAIN, "body"}


def is_unsigned(entry: JSON) -> bool:
    """Whether an entry is of a version before signatures."""
    return "signature" not in entry


def is_stripped(entry: JSON) -> bool:
    """Whether an entry has no signature, and says what no version before signatures has said."""
    return is_unsigned(entry) and not entry.keys().isdisjoint(("salt", "attendance", "record"))


def signed(entry: JSON, certificate: str) -> bool:
    """Whether the key of a certificate has signed an entry's hash, as it stands there."""
    found = unhex(entry.get("hash"), 32)
    return found is not None and signed_by(certificate, "entry", found, entry.get("signature"))


def canonical(value: object) -> bytes:
    """The only text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _body(entry: JSON) -> object:
    if is_redacted(entry):
        return entry["body"]
    said = {name: value for name, value in entry.items() if name not in CHAIN}
    return hashlib.sha256(canonical(said)).hexdigest()

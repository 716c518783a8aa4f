"""Key pairs of parties, where private files and the federation file expect them.

Only its owner may read a private key's file.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path

from tacit import _native
from tacit.agent.answered import KEY_PURPOSE, recorded_history
from tacit.agent.durable import sync_folder
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.private_key import PrivateKey
from tacit.agent.signer import Signer
from tacit.audit.history import REKEYED, HistoryError, HistoryFile


@dataclass(frozen=True)
class KeyPair:
    """Where a party's key pair is, and how people recognise its certificate."""

    private_key: Path
    certificate: Path
    fingerprint: str


def derived_key(private_key: PrivateKey, purpose: bytes) -> bytes:
    """A secret key of 32 bytes that only the holder of a private key can have, another one for each purpose."""
    return hmac.digest(private_key, purpose, "sha256")


def make_keys(members: Members, parties: Sequence[str], *, replace: bool) -> dict[str, KeyPair]:
    """A fresh key pair for each of the parties. Without ``replace`` nothing is written if one of the files exists.

    Raises RunError if a file exists or cannot be written.
    """
    files = {party: (members.private(party).private_key, members.parties[party].certificate) for party in parties}
    existing = [path for pair in files.values() for path in pair if path.exists()]
    if existing and not replace:
        raise RunError(Fault.INPUT, f"{existing[0]} exists already; --force replaces it, for all who know the old one.")
    before = {name: _signing(members, name) for name in parties}
    for name, old in before.items():
        if old is not None:
            write_whole(_kept(files[name][1]), old.certificate.encode(), 0o644)
    made = {name: _make(members, name, before[name]) for name in files}
    for name, old in before.items():
        if old is not None:
            _record_new_key(members, name, old)
            _kept(files[name][1]).unlink(missing_ok=True)
    return made


def _kept(certificate: Path) -> Path:
    """Where a certificate is kept while it is replaced. After a kill the ledger is still signed by its key."""
    return certificate.with_name(certificate.name + ".replaced")


def _signing(members: Members, party: str) -> Signer | None:
    """Who has signed a party's ledger until now; None if there is no ledger, or no certificate to know it by.

    Raises LedgerError for one that could not go on under a new key.
    """
    ledger, certificate = members.private(party).ledger, members.parties[party].certificate
    if not ledger.exists() or not certificate.exists():
        return None
    old = Signer.of(members, party)
    try:
        Ledger(ledger, old).check()
    except LedgerError:
        if not _kept(certificate).exists():
            raise
        old = changed(old, certificate=_kept(certificate).read_text(encoding="ascii"))
        Ledger(ledger, old).check()
    return old


def _history(members: Members, old: Signer, key: PrivateKey) -> Path | None:
    """The history of answers under a new key, beside the old one: its key follows from the party's.

    None without one that can be read, which stays as it is.
    """
    private = members.private(old.party)
    ledger = Ledger(private.ledger)

    def present_key() -> bytes:
        return derived_key(private.open_key(), KEY_PURPOSE)

    # After a kill that was between both replacements, the history is where its new key waited.
    for path in (private.history, private.history.with_name(private.history.name + REKEYED)):
        file = HistoryFile(path, present_key, old.party, lambda: recorded_history(ledger), lambda hash: None)
        with suppress(HistoryError, RunError):
            found = file.resealed(derived_key(key, KEY_PURPOSE))
            if found is not None:
                return found
    return None


def _record_new_key(members: Members, party: str, old: Signer) -> None:
    """Go on with a ledger under a new key, which says of which certificate the entries before are."""
    content = {"party": party, "replaces": old.certificate, "fingerprint": members.fingerprint(party)}
    Ledger(members.private(party).ledger, Signer.of(members, party)).append("key", content, after=old)


def existing_pair(members: Members, party: str) -> KeyPair | None:
    """The key pair that a party has already, None without one. Raises RunError if one half is missing."""
    private_key, certificate = members.private(party).private_key, members.parties[party].certificate
    missing = [path for path in (private_key, certificate) if not path.exists()]
    if len(missing) == 2:
        return None
    if missing:
        (other,) = {private_key, certificate} - set(missing)
        problem = (
            f"{other} exists without {missing[0]}; put that back, or `tacit keys --name {party} --force` replaces both."
        )
        raise RunError(Fault.INPUT, problem)
    return KeyPair(private_key, certificate, members.fingerprint(party))


def _make(members: Members, party: str, old: Signer | None) -> KeyPair:
    private_key, certificate = members.private(party).private_key, members.parties[party].certificate
    made, certificate_pem = _native.generate_keys(party)
    key = PrivateKey(made)
    made[:] = bytes(len(made))
    history = None if old is None else _history(members, old, key)
    write_whole(private_key, key, 0o600)
    write_whole(certificate, certificate_pem.encode(), 0o644)
    if history is not None:
        history.replace(members.private(party).history)
    return KeyPair(private_key, certificate, _native.fingerprint(certificate_pem))


def write_whole(path: Path, content: bytes | bytearray, mode: int) -> None:
    """Write a file that has its mode from its first byte on and appears whole or not at all.

    A folder that does not exist yet is made for whom the mode lets read. Raises RunError.
    """
    try:
        path.parent.mkdir(mode=mode | (mode & 0o444) >> 2, parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(content)
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be written ({error.strerror}).") from error

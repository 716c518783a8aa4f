"""What stands against a new key of a party: files that the old key alone opens. Its ledger and history go on."""

from __future__ import annotations

from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.federation_private import PrivateFile
from tacit.agent.kept_store import KEY_PURPOSE, SUFFIX
from tacit.agent.keys import derived_key


def check_replaceable(members: Members, party: str) -> None:
    """Refuse a new key that would make kept tables unreadable, or with which the ledger could not go on.

    Raises RunError.
    """
    private, certificate = members.private(party), members.parties[party].certificate
    if private.ledger.exists() and not certificate.exists():
        problem = f"{certificate} is not there, and under a new key the ledger {private.ledger} goes on from it alone"
        advice = "ask another party for a copy, or move the ledger and the key away"
        raise RunError(Fault.INPUT, f"{problem}; {advice}. Nothing was replaced.")
    if kept := _kept_under_key(private):
        problem = f"a new key of {party} would make its kept tables unreadable: {', '.join(kept)}"
        advice = f"DROP TABLE them first, or move {private.kept} away, with the old key"
        raise RunError(Fault.INPUT, f"{problem}; {advice}. Nothing was replaced.")


def told(members: Members, party: str) -> str:
    """What a new key makes unreadable wherever it lies, for people to read before; "" without an old key."""
    if not members.private(party).private_key.exists():
        return ""
    return (
        f"{party}: under a new key, matches that were interrupted (folders .OUTPUT.tacit-psi) and prepared tables of "
        "the old one cannot be read. Complete those matches first; prepare those tables anew."
    )


def _kept_under_key(private: PrivateFile) -> list[str]:
    """The names of the kept tables that the present key opens."""
    paths = sorted(private.kept.glob(f"*{SUFFIX}"))
    if not paths or not private.private_key.exists():
        return []
    key = derived_key(private.open_key(), KEY_PURPOSE)
    return [path.name.removesuffix(SUFFIX) for path in paths if _opens(path, key)]


def _opens(path: Path, key: bytes) -> bool:
    try:
        _native.KeptFile.open(str(path), key)
    except _native.InputError:
        return False
    return True

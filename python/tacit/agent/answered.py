"""What a party's ledger says of its history of answers, the encrypted file beside it."""

from __future__ import annotations

from tacit.agent.ledger import Ledger

KEY_PURPOSE = b"tacit answers 1"
HISTORY = "history"
"""The kind of a ledger's entry about the history file, and its member with the file's hash."""


def recorded_history(ledger: Ledger) -> str:
    """The last hash of the history that a ledger has, "" for none."""
    found = (str(entry[HISTORY]) for entry in reversed(ledger.entries()) if HISTORY in entry)
    return next(found, "")

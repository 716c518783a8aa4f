"""A party's ledger: the append-only, hash-chained record of what it approved and what it disclosed.

One JSON object a line. Every entry holds its position, the hash of the entry before it and its own hash (SHA-256 over
the canonical JSON of everything else in the entry). So a change, a removal or an insertion before the last entry shows.
A run makes two entries: ``approved`` before anything is shared, then ``completed`` or ``failed`` with what really
happened.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from tacit.agent.durable import sync_folder

JSON = dict[str, Any]

GENESIS = "0" * 64
"""The previous hash of the first entry."""


class LedgerError(Exception):
    """The ledger cannot be written, or its chain is broken. The message says which file and line."""


class Ledger:
    """The ledger in one file. Safe to append to from several processes at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, kind: str, content: JSON) -> JSON:
        """Add an entry, on disk when this returns. Returns the whole entry.

        Raises LedgerError if the file cannot be written or its last entry does not carry its own hash.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path) as file:
                last = _last_entry(file, self.path)
                entry = _chained(last, kind, content)
                file.write(_canonical(entry) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            if last is None:
                sync_folder(self.path.parent)
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: cannot be written ({error.strerror}).") from error
        return entry

    def check(self) -> None:
        """Raise LedgerError now for what ``append`` would refuse, and leave no file where there is none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                with _locked(self.path) as file:
                    _last_entry(file, self.path)
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: cannot be written ({error.strerror}).") from error

    def entries(self) -> list[JSON]:
        """All entries, oldest first, without checking the chain. An absent file is an empty ledger."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: cannot be read ({error.strerror}).") from error
        return [_parse(line, f"{self.path}, line {number}") for number, line in enumerate(lines, start=1)]

    def verify(self) -> int:
        """Check the whole chain. Returns the number of entries; raises LedgerError at the first broken one."""
        previous = GENESIS
        entries = self.entries()
        for number, entry in enumerate(entries, start=1):
            where = f"ledger {self.path}, line {number}"
            if entry.get("hash") != _hash(entry):
                raise LedgerError(f"{where}: the entry was changed after it was written.")
            if entry.get("previous") != previous or entry.get("entry") != number:
                raise LedgerError(f"{where}: an entry before this one was removed, inserted or replaced.")
            previous = entry["hash"]
        return len(entries)


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The file, readable by its owner only, opened for appending under an exclusive lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _last_entry(file: BinaryIO, path: Path) -> JSON | None:
    file.seek(0)
    lines = file.readlines()
    if not lines:
        return None
    last, where = lines[-1], f"{path}, line {len(lines)}"
    if not last.endswith(b"\n"):
        raise LedgerError(
            f"ledger {where}: the line is incomplete; a write was cut short. Move the file away to start anew."
        )
    entry = _parse(last, where)
    if entry.get("hash") != _hash(entry):
        raise LedgerError(f"ledger {where}: the entry was changed after it was written; nothing is added to it.")
    return entry


def _chained(last: JSON | None, kind: str, content: JSON) -> JSON:
    head = {
        "entry": 1 if last is None else last["entry"] + 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "kind": kind,
        "previous": GENESIS if last is None else last["hash"],
    }
    entry = {**content, **head}
    return {**entry, "hash": _hash(entry)}


def _hash(entry: JSON) -> str:
    body = {key: value for key, value in entry.items() if key != "hash"}
    return hashlib.sha256(_canonical(body)).hexdigest()


def _canonical(entry: JSON) -> bytes:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _parse(line: bytes, where: str) -> JSON:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise LedgerError(f"ledger {where}: not a ledger entry.") from error
    if not isinstance(entry, dict):
        raise LedgerError(f"ledger {where}: not a ledger entry.")
    return entry

"""A party's ledger: the append-only, hash-chained and signed record of what it approved and what it disclosed.

One JSON object a line (`tacit.agent.entry`). A change, a removal or an insertion before the last entry shows by the
chain, and who has not the party's key can write no entry. A run makes two entries: ``approved`` before anything is
shared, then ``completed`` or ``failed`` with what really happened. Each has the other parties' signatures, from which
`tacit.agent.audit` finds what the chain alone does not show.

A kill or a full disk may leave the start of a line at the end. The next entry moves it into FILE.torn, and an entry
``repaired`` says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.agent.durable import sync_folder
from tacit.agent.entry import GENESIS, JSON, canonical, chained, is_stripped, is_unsigned, made, signed
from tacit.agent.signer import Signer

CHUNK = 1 << 16
"""Bytes that are read at a time, from the end."""

REPAIRED = "repaired"
"""The kind of an entry about a write that was cut short."""

Content = Callable[[list[JSON]], JSON]
"""What an entry says, given all entries before it."""


class LedgerError(Exception):
    """The ledger cannot be written, or its chain is broken. The message says which file and line."""


class Ledger:
    """The ledger in one file. Safe to append to from several processes at once. signer: who appends, if anybody."""

    def __init__(self, path: Path, signer: Signer | None = None) -> None:
        self.path = path
        self._signer = signer

    def adopt(self) -> JSON:
        """Sign that the entries of a version before signatures are as they should be. Raises LedgerError."""
        self.verify()
        entries = self.entries()
        if not entries or not is_unsigned(entries[-1]):
            raise LedgerError(f"ledger {self.path}: no entry waits to be signed; go on without.")
        if not all(map(is_unsigned, entries)):
            raise LedgerError(f"ledger {self.path}: the last entry stands after signed ones, and is not signed itself.")
        if any(map(is_stripped, entries)):
            problem = "signatures were taken out of it, and what it says was perhaps changed"
            raise LedgerError(f"ledger {self.path}: {problem}; put its last copy back.")
        assert self._signer is not None, "a ledger that is only read"
        return self.append("adopted", {"party": self._signer.party, "entries": len(entries)}, adopting=True)

    def append(
        self, kind: str, content: JSON | Content, *, after: Signer | None = None, adopting: bool = False
    ) -> JSON:
        """Add an entry, on disk when this returns. Returns the whole entry.

        content: what it says, or what makes that from all entries there are, while nobody else appends. after: who has
        signed the last entry, if that is not the signer. adopting: nobody has. Raises LedgerError if the file cannot be
        written, or its last entry does not carry its own hash and that signature.
        """
        assert self._signer is not None, "a ledger that is only read"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path) as file:
                last, torn = self._mended(file, None if adopting else after or self._signer)
                if torn and after is None:
                    last = self._write(file, made(last, REPAIRED, torn, self._signer))
                said = content if isinstance(content, dict) else content(self.entries())
                entry = self._write(file, made(last, kind, said, self._signer))
                if torn and after is not None:  # what another key has signed has to stand before that
                    self._write(file, made(entry, REPAIRED, torn, self._signer))
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
                    self._last(_tail(file)[0], self._signer)
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: cannot be written ({error.strerror}).") from error

    def entries(self) -> list[JSON]:
        """All entries, oldest first, without checking them. An absent file is an empty ledger."""
        lines, rest = self._lines()
        found = [parsed(line, f"{self.path}, line {number}") for number, line in enumerate(lines, start=1)]
        late = whole(rest)
        return found if late is None else [*found, late]

    def torn(self) -> bytes:
        """The start of an entry that was cut short, at the end; mostly nothing."""
        rest = self._lines()[1]
        return rest if whole(rest) is None else b""

    def verify(self) -> int:
        """Check the chain alone. Returns the number of entries; raises LedgerError at the first broken one."""
        entries = self.entries()
        for problem in broken(entries, f"ledger {self.path}"):
            raise LedgerError(problem)
        return len(entries)

    def _lines(self) -> tuple[list[bytes], bytes]:
        try:
            *lines, rest = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return [], b""
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: cannot be read ({error.strerror}).") from error
        return lines, rest

    def _mended(self, file: BinaryIO, by: Signer | None) -> tuple[JSON | None, JSON]:
        """The last entry, once what a write cut short has left is out of the way; and what is to be said of that."""
        line, rest = _tail(file)
        if not rest:
            return self._last(line, by), {}
        late = whole(rest)
        if late is not None:  # nothing but the end of the line is missing
            self._last(rest, by)
            file.write(b"\n")
            file.flush()
            return late, {}
        last = self._last(line, by)
        assert self._signer is not None
        self._set_aside(rest)
        os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - len(rest))
        return last, {"party": self._signer.party, "bytes": len(rest), "sha256": hashlib.sha256(rest).hexdigest()}

    def _set_aside(self, rest: bytes) -> None:
        """Keep bytes that are no entry beside the ledger. They may be there twice after a further kill."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(torn_file(self.path), flags, 0o600), "ab") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(rest + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _write(self, file: BinaryIO, entry: JSON) -> JSON:
        if self._signer is None or not signed(entry, self._signer.certificate):
            problem = "this party's private key is not that of its certificate"
            raise LedgerError(f"ledger {self.path}: {problem}; put its own back, nothing is written.")
        file.write(canonical(entry) + b"\n")
        file.flush()
        os.fsync(file.fileno())
        return entry

    def _last(self, line: bytes, by: Signer | None) -> JSON | None:
        """The entry of the last line. Raises LedgerError if it does not carry its own hash, and that signature."""
        if not line:
            return None
        where = f"ledger {self.path}, the last line"
        entry = parsed(line, f"{self.path}, the last line")
        if entry.get("hash") != chained(entry):
            raise LedgerError(f"{where}: the entry was changed after it was written; nothing is added to it.")
        if by is not None and is_unsigned(entry):
            problem = "the entry is of a version of tacit that did not sign; nothing is added to it"
            raise LedgerError(f"{where}: {problem}. `tacit ledger adopt --name {by.party}` signs what is there.")
        if by is not None and not signed(entry, by.certificate):
            problem = f"the entry is not signed by the key of {by.party}'s certificate; nothing is added to it"
            raise LedgerError(f"{where}: {problem}. Put that key back, or move the file away and keep it.")
        return entry


def torn_file(ledger: Path) -> Path:
    """Where the starts of entries go that a write cut short has left."""
    return ledger.with_name(ledger.name + ".torn")


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The file, readable by its owner only, opened for appending under an exclusive lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _tail(file: BinaryIO) -> tuple[bytes, bytes]:
    """The last whole line, and what follows it. Of a long file nothing else is read."""
    start = file.seek(0, os.SEEK_END)
    found = b""
    while start > 0 and found.count(b"\n") < 2:
        length = min(CHUNK, start)
        start = file.seek(start - length)
        found = file.read(length) + found
    *lines, rest = found.split(b"\n")
    return lines[-1] if lines else b"", rest


def broken(entries: list[JSON], ledger: str) -> Iterator[str]:
    """What is wrong with a chain: the first problem of each entry. ledger: its name, for people."""
    previous = GENESIS
    for number, entry in enumerate(entries, start=1):
        where = f"{ledger}, line {number}"
        if entry.get("hash") != chained(entry):
            yield f"{where}: the entry was changed after it was written."
        elif entry.get("previous") != previous or entry.get("entry") != number:
            yield f"{where}: an entry before this one was removed, inserted or replaced."
        previous = str(entry.get("hash"))


def whole(line: bytes) -> JSON | None:
    """The entry of a line of which nothing but its end is missing."""
    try:
        entry = parsed(line, "")
    except LedgerError:
        return None
    return entry if entry.get("hash") == chained(entry) else None


def parsed(line: bytes, where: str) -> JSON:
    """The entry of a line, which is its only text: no member twice, no blank. Raises LedgerError."""
    try:
        entry = json.loads(line)
        proper = isinstance(entry, dict) and canonical(entry) == line
    except (RecursionError, ValueError) as error:
        raise LedgerError(f"ledger {where}: not a ledger entry.") from error
    if not proper:
        raise LedgerError(f"ledger {where}: not a ledger entry as tacit writes it.")
    found: JSON = entry
    return found

"""The file of a prepared table: its owner's key and what it publishes, and the account of what has been asked.

It starts with the length of what is encrypted: a description in JSON with its length before it, and the secret part.
Then come the published part and a MAC over all before. Both keys are derived from the party's private key: a damaged or
a foreign file is refused. Behind it stands, for each query answered, how many rows have been asked about in all, with a
MAC too. The last one counts. With the secret part likely keys can be tried on what was published.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tacit import _native
from tacit.agent.durable import sync_folder, whole_file
from tacit.agent.faults import Fault, RunError
from tacit.agent.keys import derived_key
from tacit.agent.private_key import PrivateKey

MAGIC = b"tacit prepared 4"
SEALING = b"tacit prepared 4 sealing"
LABEL = "prepared"
PUBLISHED = b"tacitSE"
"""How what is published begins, of every version."""

LENGTH = 8
MAC = 32
RECORD = LENGTH + MAC

COPIES = 4
"""How often the bytes of a prepared table are in memory while a query is answered or asked."""


@dataclass(frozen=True)
class Description:
    """What a prepared table is. rows: of the table. budget: how many rows may be asked about in all.

    kinds and normalisers: of each key column. token_key: of tokens. input: the file that it was made of, None for a
    table in memory. table: the name of that in its owner's offer, None if it has none. key: its key columns. types: as
    what they were read; none in files of earlier versions.
    """

    rows: int
    budget: int
    kinds: list[str]
    normalisers: list[str]
    token_key: str
    input: str | None
    table: str | None
    key: list[str]
    types: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PreparedFile:
    """A prepared table that was read. answered: how many rows have been asked about. records: where that stands."""

    path: Path
    about: Description
    secret: bytes
    published: bytes
    answered: int
    mac: bytes
    records: int

    def record(self, private_key: PrivateKey, answered: int) -> None:
        """Keep how many rows have been asked about; on disk when this returns. Raises RunError."""
        try:
            with self.path.open("r+b") as file:
                written = file.seek(0, os.SEEK_END) - self.records
                file.seek(self.records + written // RECORD * RECORD)
                file.write(_record(_mac_key(private_key), self.mac, answered))
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunError(
                Fault.INPUT, f"{self.path}: cannot be written ({error.strerror}); nothing was answered."
            ) from None


def write_prepared(path: Path, private_key: PrivateKey, about: Description, secret: bytes, published: bytes) -> None:
    """Write a prepared table that nobody has asked about. Raises RunError."""
    head = json.dumps(asdict(about)).encode()
    clear = b"".join([len(head).to_bytes(LENGTH, "little"), head, secret])
    sealed = _native.seal(derived_key(private_key, SEALING), LABEL, clear)
    body = b"".join([MAGIC, len(sealed).to_bytes(LENGTH, "little"), sealed, published])
    mac_key = _mac_key(private_key)
    mac = hmac.digest(mac_key, body, "sha256")
    write_privately(path, body + mac + _record(mac_key, mac, 0))


def read_prepared(path: Path, private_key: PrivateKey, memory: int | None = None) -> PreparedFile:
    """Read a prepared table. memory: what may be used to answer from it; None if it is not to be answered from.

    Raises RunError if it is none, was changed by anybody but its owner, or does not fit.
    """
    size = path.stat().st_size if path.exists() else 0
    if memory is not None and COPIES * size > memory:
        raise RunError(
            Fault.INPUT,
            f"{path}: answering from it needs {COPIES * size >> 20:,} MiB, more than the {memory >> 20:,} MiB "
            "declared; declare more --memory.",
        )
    whole = read_file(path)
    start = len(MAGIC) + LENGTH
    if not whole.startswith(MAGIC) or len(whole) < start:
        raise RunError(
            Fault.INPUT, f"{path}: is no prepared table; make one with --prepare, or name your own table with --input."
        )
    sealed_end = start + int.from_bytes(whole[len(MAGIC) : start], "little")
    try:
        clear = _native.unseal(derived_key(private_key, SEALING), LABEL, whole[start:sealed_end])
        head_end = LENGTH + int.from_bytes(clear[:LENGTH], "little")
        about = Description(**json.loads(clear[LENGTH:head_end]))
        if not (0 <= about.rows < _native.MOST_PREPARED and 1 <= about.budget <= _native.MOST_BUDGET):
            raise ValueError("no numbers of a prepared table")
        end = sealed_end + _native.published_bytes(about.rows, about.budget)
        mac_key, mac = _mac_key(private_key), whole[end : end + MAC]
        intact = hmac.compare_digest(mac, hmac.digest(mac_key, whole[:end], "sha256"))
        answered = _answered(mac_key, mac, whole[end + MAC :]) if intact else None
    except (ValueError, TypeError, _native.InputError):
        answered = None
    if answered is None:
        raise RunError(
            Fault.INPUT, f"{path}: it is damaged, or another party has made it; prepare the table again with --prepare."
        )
    return PreparedFile(path, about, clear[head_end:], whole[sealed_end:end], answered, mac, end + MAC)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """While it is open, no other process answers from the same file. Raises RunError."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise RunError(Fault.INPUT, f"{path}: another process is answering from it; wait for its end.") from None
    except FileNotFoundError:
        raise RunError(Fault.INPUT, f"{path}: there is no such file; make it with --prepare.") from None


def read_file(path: Path) -> bytes:
    """A file's bytes. Raises RunError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}).") from None


def read_published(path: Path) -> bytes | None:
    """What a party keeps of what another one has published; None if there is nothing yet. Raises RunError.

    It is replaced when the other party publishes anew: a file that is anything else is refused.
    """
    if not path.exists():
        return None
    known = read_file(path)
    if not known.startswith(PUBLISHED):
        raise RunError(
            Fault.INPUT,
            f"{path}: holds nothing that a party has published; with --input, --prepared names the file in which that "
            "is kept: name a new one.",
        )
    return known


def write_privately(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all. Raises RunError."""
    try:
        with whole_file(path) as whole, os.fdopen(os.open(whole, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        raise RunError(
            Fault.INPUT, f"{path}: cannot be written ({error.strerror}); free space or name another."
        ) from None


def _mac_key(private_key: PrivateKey) -> bytes:
    return derived_key(private_key, MAGIC)


def _record(mac_key: bytes, mac: bytes, answered: int) -> bytes:
    count = answered.to_bytes(LENGTH, "little")
    return count + hmac.digest(mac_key, mac + count, "sha256")


def _answered(mac_key: bytes, mac: bytes, records: bytes) -> int | None:
    """The last whole record's count: one that was cut off was followed by no answer. None if there is no valid one."""
    last = len(records) // RECORD * RECORD
    record = records[last - RECORD : last] if last else b""
    count = int.from_bytes(record[:LENGTH], "little")
    return count if last and hmac.compare_digest(record, _record(mac_key, mac, count)) else None

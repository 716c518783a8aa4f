"""A party's own history of answers: one encrypted file beside its ledger, which has the file's hash.

It is written before a question's first share leaves, so that no crash forgets an answer: what was written counts until
it is taken back. A file that is older than the ledger says, or another one, is refused. One that is one step newer is
what a crash between both leaves, and is taken.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from tacit import _native
from tacit.audit.record import JSON, Record

PRIVATE = 0o600
REKEYED = ".rekeyed"
"""Behind the name of a history that waits for its key to become the party's."""


class HistoryError(Exception):
    """A history that is damaged, or not the one that the ledger knows. The message says what to do."""


@dataclass(frozen=True)
class Answer:
    """A question that was answered, or was about to be. inputs: a hash of the own tables that it read."""

    id: str
    question: str
    inputs: str
    tables: tuple[str, ...]
    asked: float


@dataclass(frozen=True)
class History:
    """refusals: the table and the time of each. records: by table and by what names its rows.

    texts: of tables of which no data are looked at, each region with the time at which it was answered.
    """

    answers: tuple[Answer, ...] = ()
    refusals: tuple[tuple[str, float], ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)
    texts: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)

    def json(self) -> JSON:
        """As the file has it."""
        return {
            "answers": [[a.id, a.question, a.inputs, list(a.tables), a.asked] for a in self.answers],
            "refusals": [list(each) for each in self.refusals],
            "records": {name: record.json() for name, record in self.records.items()},
            "texts": {name: [list(each) for each in said] for name, said in self.texts.items()},
        }

    @classmethod
    def of(cls, said: JSON) -> History:
        """What ``json`` wrote."""
        answers = (Answer(id, asked, inputs, tuple(tables), at) for id, asked, inputs, tables, at in said["answers"])
        refusals = ((str(table), float(at)) for table, at in said["refusals"])
        records = {name: Record.of(each) for name, each in said["records"].items()}
        texts = {name: tuple((str(r), float(at)) for r, at in each) for name, each in said["texts"].items()}
        return cls(tuple(answers), tuple(refusals), records, texts)


@dataclass(frozen=True)
class HistoryFile:
    """The file. key: makes its key. recorded: the last hash in the ledger, "" for none. record: adds one to it."""

    path: Path
    key: Callable[[], bytes]
    party: str
    recorded: Callable[[], str]
    record: Callable[[str], None]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone among this party's processes. What is read stays true until the end. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def read(self) -> History:
        """Everything. Raises HistoryError."""
        said, recorded = self._content(), self.recorded()
        if said is None:
            if recorded:
                raise HistoryError(self._wrong("is not there, and the ledger says that it was"))
            return History()
        found, before = self._hash(), said.get("before")
        if found != recorded:
            if before != recorded:
                raise HistoryError(self._wrong("is not the one that the ledger says"))
            self.record(found)
        try:
            return History.of(said)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise HistoryError(self._wrong("is damaged")) from None

    def write(self, history: History) -> None:
        """Everything anew, on disk and in the ledger when this returns."""
        before = self._hash() if self.path.exists() else ""
        content = json.dumps(history.json() | {"before": before}, separators=(",", ":"))
        _native.write_sealed(str(self.path), self.key(), self._label, content.encode())
        self.record(self._hash())

    def resealed(self, key: bytes) -> Path | None:
        """Write the same beside the file, under another key, as one step newer; None without a file.

        Raises HistoryError.
        """
        said, recorded = self._content(), self.recorded()
        if said is None:
            return None
        if recorded not in (self._hash(), said.get("before")):
            raise HistoryError(self._wrong("is not the one that the ledger says"))
        content = json.dumps(said | {"before": recorded}, separators=(",", ":"))
        fresh = self.path.with_name(self.path.name + REKEYED)
        _native.write_sealed(str(fresh), key, self._label, content.encode())
        return fresh

    def take_back(self, id: str) -> None:
        """Forget that a question was about to be answered of which no share has left. Its sets stay known."""
        with self.locked():
            history = self.read()
            self.write(replace(history, answers=tuple(each for each in history.answers if each.id != id)))

    def _content(self) -> JSON | None:
        try:
            content = _native.read_sealed(str(self.path), self.key(), self._label)
            said = None if content is None else json.loads(content)
        except (_native.InputError, ValueError):
            raise HistoryError(self._wrong("is damaged, or of another key")) from None
        if said is not None and not isinstance(said, dict):
            raise HistoryError(self._wrong("is damaged"))
        return said

    def _hash(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest()

    @property
    def _label(self) -> str:
        return f"tacit answers 1 {self.party}"

    def _wrong(self, problem: str) -> str:
        return f"history {self.path}: {problem}; put its last copy back, so that what was answered is known."

"""A party's parts of kept tables: one encrypted file a table, in the party's own folder (docs/platform-engineer.md).

A file appears whole or not at all: it is written under another name, and gets its own when all nodes have written.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tacit import _native
from tacit.agent.durable import sync_folder
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.keys import derived_key
from tacit.plan.facts.catalog import KeptTable
from tacit.plan.physical.kept import kept_table
from tacit.plan.physical.operators import Kept

SUFFIX = ".kept"
UNFINISHED = ".unfinished"
KEY_PURPOSE = b"tacit kept tables 1"


@dataclass(frozen=True)
class Part:
    """A party's part of a kept table. table: what its file says, unchecked; None if it says nothing of use.

    problem: why it is of no use.
    """

    name: str
    path: Path
    table: KeptTable | None
    nodes: tuple[str, ...] = ()
    engine: str = ""
    problem: str = ""


class KeptStore:
    """The parts of kept tables that one party has."""

    def __init__(self, federation: Federation, party: str) -> None:
        self.folder = federation.kept_path(party)
        self.party = party
        self._federation = federation

    def path(self, table: str) -> Path:
        """Where the part of a table is, if there is one. Names that differ in case only are one name, as in SQL."""
        return self.folder / (table.lower() + SUFFIX)

    def parts(self) -> list[Part]:
        """All parts, by name."""
        return [_part(path) for path in sorted(self.folder.glob(f"*{SUFFIX}")) if path.is_file()]

    def read(self, table: KeptTable, operator: Kept) -> _native.KeptShares:
        """The shares that an operator takes up, of a file that is wholly as the plan says.

        Raises RunError or an input error of the native module if it is not.
        """
        path = self.path(table.name)
        file = _native.KeptFile.open(str(path), self.key())
        header = json.loads(file.header)
        if header["table"].lower() != table.name.lower() or header["node"] != self.party:
            whose = f"{header['node']}'s part of the kept table {header['table']!r}"
            advice = f"put this party's part of {table.name!r} back, or drop the table and make it again"
            raise RunError(Fault.INPUT, f"{path}: is {whose}; {advice}.")
        if kept_table(file.header) != table:
            raise RunError(
                Fault.INPUT, f"{path}: was replaced while the query was being prepared; start the query again."
            )
        return file.read(json.dumps(operator.json()))

    @contextmanager
    def unfinished(self, table: str) -> Iterator[Path]:
        """A new file for a part, which vanishes in the end unless it was finished. Raises RunError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            descriptor, name = tempfile.mkstemp(UNFINISHED, f".{table.lower()}-", self.folder)
        except OSError as error:
            raise RunError(Fault.INPUT, f"{self.folder}: cannot be written ({error.strerror}).") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # tells that somebody is still writing
            yield Path(name)
        finally:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                Path(name).unlink()

    def finish(self, unfinished: Path, table: str) -> None:
        """Give a part its name, in place of an older one; on disk when this returns. Raises RunError."""
        try:
            unfinished.replace(self.path(table))
            sync_folder(self.folder)
        except OSError as error:
            raise RunError(Fault.INPUT, f"{self.path(table)}: cannot be written ({error.strerror}).") from error

    def drop(self, table: str) -> None:
        """Remove a part, if there is one. Raises RunError."""
        try:
            self.path(table).unlink()
            sync_folder(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(Fault.INPUT, f"{self.path(table)}: cannot be removed ({error.strerror}).") from error

    def key(self) -> bytes:
        """The key under which this party's parts are encrypted. Raises RunError if its private key cannot be read."""
        return derived_key(self._federation.private_key(self.party), KEY_PURPOSE)

    def _sweep(self) -> None:
        """Remove what runs that were killed have left."""
        for path in self.folder.glob(f".*{UNFINISHED}"):
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _part(path: Path) -> Part:
    try:
        header = _native.kept_header(str(path))
    except _native.InputError as error:
        return Part(path.stem, path, None, problem=f"{error}.")
    return described(path, header, "drop the table and make it again")


def described(path: Path, header: str, otherwise: str) -> Part:
    """What a file says, of which the text of the header is this. otherwise: what to do if no copy can be put back."""
    try:
        said = json.loads(header)
        table, nodes, engine = kept_table(header), tuple(said["nodes"]), said["engine"]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        problem = f"{path}: is damaged (it says nothing of use); put a copy back, or {otherwise}."
        return Part(path.stem, path, None, problem=problem)
    if table.name.lower() != path.stem:
        advice = f"put the file of {path.stem!r} back, or {otherwise}"
        return Part(path.stem, path, None, problem=f"{path}: is a file of the kept table {table.name!r}; {advice}.")
    return Part(table.name, path, table, nodes, engine)

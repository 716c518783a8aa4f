"""A party's private file: where its key, ledger, kept parts, tables and arrays are, its timeouts, its memory budget and
its threads (docs/federation.md).

It never leaves the party. A file that is not there is as an empty one: everything has a default but paths of data.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.agent.federation_section import FederationError, Section, read_section
from tacit.agent.memory_budget import Memory, read_memory
from tacit.agent.private_key import PrivateKey
from tacit.local.csv_form import CsvForm, FormError

if TYPE_CHECKING:
    from tacit.plan.facts.catalog import Link

FORMATS = (".csv", ".parquet")
OTHERS = 0o077
"""The permissions of everybody but a file's user."""
VARIABLE = "TACIT_PRIVATE"
"""The environment variable that names the folder of private files."""


@dataclass(frozen=True)
class Network:
    """How long to wait for peers, in seconds; latency (seconds, one way) and bandwidth (bytes a second) to simulate."""

    connect_timeout: float = 30.0
    idle_timeout: float = 30.0
    latency: float = 0.0
    bandwidth: float | None = None


def predicted_on(link: Link | None, simulating: Iterable[Network]) -> Link:
    """The network that seconds are predicted on, where these parties simulate a slower one.

    A declared link is the network as it is, whatever makes it so. To an undeclared one the simulation is added: the
    largest latency, and the smallest bandwidth. No protocol is chosen by it: choices follow from the link alone.
    """
    from tacit import _native
    from tacit.plan.facts.catalog import Link

    if link is not None:
        return link
    parties = tuple(simulating)
    latency, bandwidth = _native.UNDECLARED_LINK
    limits = [each.bandwidth for each in parties if each.bandwidth is not None]
    return Link(latency + max((each.latency for each in parties), default=0.0), min([bandwidth, *limits]))


@dataclass(frozen=True)
class PrivateFile:
    """What a party alone knows. tables, arrays: their files by their names. All paths are absolute.

    forms: how CSV files among them are written, where the private file says it. threads: how many compute a run's
    secure steps, where it says that.
    """

    path: Path
    party: str
    private_key: Path
    ledger: Path
    kept: Path
    tables: Mapping[str, Path]
    network: Network
    forms: Mapping[str, CsvForm]
    memory: Memory
    threads: int | None = None
    arrays: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path, party: str) -> PrivateFile:
        """The private file of a party in the folder of private files. Raises FederationError with the first mistake."""
        path = folder / f"{party}.toml"
        root = read_section(path, "correct the permissions of the file") if path.exists() else Section(path, "", {})
        tables = {section.name: _data_file(section) for section in root.sections("tables")}
        found = cls(
            path,
            party,
            root.path("private_key", f"{party}.key"),
            root.path("ledger", f"ledger/{party}.jsonl"),
            root.path("kept", f"kept/{party}"),
            {name: file for name, (file, _) in tables.items()},
            _network(root.section("network")),
            {name: form for name, (_, form) in tables.items() if form is not None},
            read_memory(root.section("memory")),
            root.count("threads", least=1),
            {section.name: _array_file(section) for section in root.sections("arrays")},
        )
        root.close()
        return found

    def threads_of(self, parties: int) -> int:
        """How many threads compute here, of a command that runs ``parties`` parties: as said, or its share."""
        from tacit import _native

        return self.threads or max(1, _native.processors() // parties)

    @property
    def history(self) -> Path:
        """The encrypted file of what this party has answered, beside its ledger (docs/protocols/differences.md)."""
        return self.ledger.with_name(f"{self.ledger.name}.answers")

    def read_key(self) -> PrivateKey:
        """The private key. Raises FederationError if it cannot be read, or is not closed to others."""
        self.check_closed()
        return self.open_key()

    def open_key(self) -> PrivateKey:
        """The same, whoever may read it besides."""
        try:
            return PrivateKey.read(self.private_key)
        except OSError as error:
            problem = f"private key {self.private_key} cannot be read ({error.strerror})"
            raise FederationError(self.path, "", problem, f"`tacit keys --name {self.party}` makes a new one") from None

    def check_closed(self) -> None:
        """Refuse a private key or a ledger of this user that others of this machine may read, as ssh does its keys.

        A ledger may lie open in a folder that is closed. Raises FederationError.
        """
        folder = self.path.parent.resolve()
        for what, path in (("private key", self.private_key), ("ledger", self.ledger)):
            inside = path is self.ledger and path.is_relative_to(folder) and not _open_to_others(folder)
            if not inside and (mode := _open_to_others(path)):
                problem = f"the {what} is open to others of this machine (mode {mode:o})"
                raise FederationError(path, "", problem, f"`chmod 600 {shlex.quote(str(path))}` closes it")


def _open_to_others(path: Path) -> int:
    """The permissions of a file or folder of this user if it gives any to others; 0 otherwise, or if it is not there.

    What belongs to another user, as secrets of containers do, that user has to close.
    """
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_mode & 0o777 if found.st_uid == os.geteuid() and found.st_mode & OTHERS else 0


def private_folder(federation: Path, given: Path | None) -> Path:
    """The folder of private files: as given, as the environment says, or beside the federation file."""
    named = given or os.environ.get(VARIABLE)
    return Path(named) if named else federation.parent / "private"


def _data_file(section: Section) -> tuple[Path, CsvForm | None]:
    """A table's file, and its form if that is said."""
    path = section.path("path")
    if path.suffix.lower() not in FORMATS:
        raise section.error(f"path is {str(path)!r}, neither .csv nor .parquet", "store the table as CSV or Parquet")
    if any(character in str(path) for character in "*?["):
        raise section.error(f"path is {str(path)!r}", "name one file, without the characters * ? [")
    said, form = section.optional("csv"), None
    if said is not None:
        if path.suffix.lower() != ".csv":
            raise section.error(f"has csv, but path is {str(path)!r}", "leave csv out")
        try:
            form = CsvForm.of(dict(section.inline("csv", said, '{ delimiter = ";", ... }').items()))
        except FormError as error:
            raise section.error(f"csv: {error.option} {error.problem}", error.advice) from None
    section.close()
    return path, form


def _array_file(section: Section) -> Path:
    """An array's file."""
    path = section.path("path")
    if path.suffix.lower() != ".npy":
        raise section.error(f"path is {str(path)!r}, not .npy", "store the array with numpy.save")
    section.close()
    return path


def _network(section: Section) -> Network:
    network = Network(
        section.number("connect_timeout", Network.connect_timeout, above=0),
        section.number("idle_timeout", Network.idle_timeout, above=0),
        section.number("latency", Network.latency),
        section.number("bandwidth", None, above=0),
    )
    section.close()
    return network

"""Who takes part: the parties of a federation file, their addresses and certificates (docs/federation.md).

All parties hold the same file. What only a run at one party needs stands in that party's private file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_private import PrivateFile, private_folder
from tacit.agent.federation_section import FederationError, Section, read_section

if TYPE_CHECKING:
    from tacit import _native
    from tacit.plan.facts.catalog import Link

ADDRESS = re.compile(r"""([^\s"\\]+):([0-9]{1,5})""")
PRIVATE_ENTRIES = ("private_key", "ledger", "kept")
ONE_FILE = (
    "move each [tables.NAME] without owner and path to offers/OWNER.toml, its path to [tables.NAME] of "
    "private/OWNER.toml, [network] and a party's private_key, ledger and kept to private/PARTY.toml, "
    "and keys/*.key and the folders ledger and kept into the folder private"
)
"""What to do with a federation of one file, in which everything stood."""


@dataclass(frozen=True)
class Member:
    """How one party is reached and known. The certificate's path is absolute."""

    name: str
    address: str
    certificate: Path


@dataclass(frozen=True)
class Members:
    """The parties of a federation file, in its order, and the network that all declare.

    private_files: the folder of this machine's private files. link: None if it is not declared.
    """

    path: Path
    parties: Mapping[str, Member]
    private_files: Path
    link: Link | None

    @classmethod
    def load(cls, path: Path, private: Path | None = None) -> Members:
        """Read a federation file. private: the folder of private files. Raises RunError with the first mistake."""
        return cls.of(read_membership(path), path, private)

    @classmethod
    def of(cls, root: Section, path: Path, private: Path | None) -> Members:
        """The parties of a federation file that has been read. Raises FederationError with the first mistake."""
        parties = {section.name: _member(section) for section in root.sections("parties")}
        if not parties:
            raise root.error("names no party", "add a section [parties.NAME] for each")
        _distinct_addresses(root, parties)
        return cls(path, parties, private_folder(path, private), _link(root))

    def known(self, name: str) -> str:
        """A party's name. Raises RunError if it is none."""
        if name not in self.parties:
            known = ", ".join(self.parties)
            raise RunError(Fault.INPUT, f"{self.path}: there is no party {name!r}; it names {known}.")
        return name

    def private(self, party: str) -> PrivateFile:
        """A party's private file, at its own machine. Raises FederationError."""
        return PrivateFile.load(self.private_files, party)

    def certificate(self, party: str) -> str:
        """A party's certificate, as PEM text. Raises FederationError if it cannot be read."""
        path = self.parties[party].certificate
        try:
            return path.read_text(encoding="ascii")
        except OSError as error:
            reason = error.strerror
        except UnicodeDecodeError:
            reason = "it is not PEM text"
        problem = f"certificate {path} cannot be read ({reason})"
        maker = f"{party} makes it with `tacit keys --name {party}`"
        advice = f"{maker} at its own machine, others get a copy from {party} and compare fingerprints"
        raise FederationError(self.path, f"[parties.{party}]", problem, advice)

    def native_party(self, party: str) -> _native.Party:
        """A party as the native session wants it."""
        from tacit import _native

        return _native.Party(party, self.parties[party].address, self.certificate(party))

    def fingerprint(self, party: str) -> str:
        """The SHA-256 of a party's certificate, as shown to people."""
        from tacit import _native

        return _native.fingerprint(self.certificate(party))


def read_membership(path: Path) -> Section:
    """A federation file's entries. Raises RunError if it is none, or one in which everything stood."""
    root = read_section(path, "give the path of the federation file, which `tacit init` makes")
    mixed = [key for key in ("tables", "network") if root.has(key)]
    parties = root.optional("parties")
    for party in parties.values() if isinstance(parties, dict) else ():
        mixed += [key for key in PRIVATE_ENTRIES if isinstance(party, dict) and key in party]
    if mixed:
        raise root.error(f"has {mixed[0]}, but holds the membership only", ONE_FILE)
    return root


def _member(section: Section) -> Member:
    name = section.name
    member = Member(name, _address(section), section.path("certificate", f"keys/{name}.crt"))
    section.close()
    return member


def _address(section: Section) -> str:
    address = section.text("address")
    if not is_address(address):
        raise section.error(f"address is {address!r}", 'write it as "host:port", for example "10.0.0.5:7101"')
    return address


def is_address(text: str) -> bool:
    """Whether a text is host:port. The host is for the operating system to find, but it stands in a TOML string."""
    found = ADDRESS.fullmatch(text)
    return found is not None and found[1].isprintable() and 0 < int(found[2]) < 65536


def _link(root: Section) -> Link | None:
    from tacit.plan.facts.catalog import Link

    section = root.section("link")
    latency, bandwidth = section.number("latency", None), section.number("bandwidth", None, above=0)
    section.close()
    if latency is None and bandwidth is None:
        return None
    if latency is None or bandwidth is None:
        missing = "latency" if latency is None else "bandwidth"
        raise section.error(f"there is no {missing}", "declare both latency (seconds) and bandwidth (bytes a second)")
    return Link(latency, bandwidth)


def _distinct_addresses(root: Section, parties: Mapping[str, Member]) -> None:
    users: dict[str, str] = {}
    for name, member in parties.items():
        if member.address in users:
            raise root.error(
                f"parties {users[member.address]} and {name} both have address {member.address!r}",
                "give each its own host or port",
            )
        users[member.address] = name

"""Who matches with whom: the parties, keys and network of a federation file.

Its tables and nodes are for SQL and may be absent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_section import Section
from tacit.agent.private_key import PrivateKey

if TYPE_CHECKING:
    from tacit import _native


@dataclass(frozen=True)
class Network:
    """Seconds to wait for a peer; latency (seconds, one way) and bandwidth (bytes a second) to simulate."""

    connect_timeout: float
    idle_timeout: float
    latency: float
    bandwidth: float | None


@dataclass(frozen=True)
class Member:
    """How a party is reached and known."""

    address: str
    certificate: Path
    private_key: Path
    ledger: Path


@dataclass(frozen=True)
class Members:
    """The parties of a federation file, in its order."""

    path: Path
    parties: dict[str, Member]
    network: Network

    @classmethod
    def load(cls, path: Path) -> Members:
        """Read a federation file. Raises RunError."""
        root = Section(path, "", _parse(path))
        parties = {section.name: _member(section) for section in root.sections("parties")}
        network = root.section("network")
        facts = Network(
            network.number("connect_timeout", 30.0, above=0),
            network.number("idle_timeout", 30.0, above=0),
            network.number("latency", 0.0),
            network.number("bandwidth", None, above=0),
        )
        return cls(path, parties, facts)

    def matching(self, me: str, others: str | Sequence[str] | None) -> tuple[str, ...]:
        """All that match, in the file's order. others: besides ``me``, by default all of the file. Raises RunError."""
        names = list(self.parties)
        named = [others] if isinstance(others, str) else list(others or ())
        for name in (me, *named):
            if name not in self.parties:
                raise RunError(Fault.INPUT, f"{self.path}: there is no party {name!r}; it names {', '.join(names)}.")
        chosen = {me, *(names if others is None else named)}
        if len(chosen) < 2:
            raise RunError(Fault.INPUT, f"{self.path}: name whom to match with, --with PARTY, other than {me}.")
        return tuple(name for name in names if name in chosen)

    def pair(self, me: str, other: str | Sequence[str] | None) -> tuple[str, str]:
        """The two that match, in the file's order. other: needed only among more than two parties. Raises RunError."""
        parties = self.matching(me, other)
        if len(parties) != 2:
            raise RunError(
                Fault.INPUT, f"{self.path}: this is for two parties; name the one to match with, --with PARTY."
            )
        first, second = parties
        return first, second

    def native_party(self, name: str) -> _native.Party:
        """A party as the native connection wants it."""
        from tacit import _native

        return _native.Party(name, self.parties[name].address, self._read(name, self.parties[name].certificate))

    def private_key(self, name: str) -> PrivateKey:
        """A party's private key, at its own machine."""
        path = self.parties[name].private_key
        try:
            return PrivateKey.read(path)
        except OSError:
            raise _unreadable(name, path) from None

    def _read(self, name: str, path: Path) -> str:
        try:
            return path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            raise _unreadable(name, path) from None


def _unreadable(name: str, path: Path) -> RunError:
    problem = f"{path}: the key of {name} cannot be read; `tacit keys --name {name}` makes a new one."
    return RunError(Fault.INPUT, problem)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(Fault.INPUT, f"{path}: is not TOML: {error}.") from None
    except OSError as error:
        raise RunError(
            Fault.INPUT, f"{path}: cannot be read ({error.strerror}); name the federation file with --federation."
        ) from None


def _member(section: Section) -> Member:
    name = section.name
    return Member(
        section.text("address"),
        section.path("certificate", f"keys/{name}.crt"),
        section.path("private_key", f"keys/{name}.key"),
        section.path("ledger", f"ledger/{name}.jsonl"),
    )

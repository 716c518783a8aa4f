"""The federation file: who takes part, over which network, and which tables each party offers (docs/federation.md).

All parties hold the same file. It becomes the public catalog that queries are planned against, plus the facts that only
a run needs: addresses, keys, timeouts. Every mistake in it is one sentence that names the file and the place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_section import FederationError, Section
from tacit.agent.federation_tables import read_table
from tacit.agent.private_key import PrivateKey
from tacit.plan.facts.catalog import ENGINES, Catalog, Link

if TYPE_CHECKING:
    from tacit import _native


@dataclass(frozen=True)
class PartyFacts:
    """How one party is reached and known. The paths are absolute; the private key's is of use at that party only."""

    name: str
    address: str
    certificate: Path
    private_key: Path
    ledger: Path
    kept: Path


@dataclass(frozen=True)
class Network:
    """How long to wait for peers, in seconds; latency (seconds, one way) and bandwidth (bytes a second) to simulate."""

    connect_timeout: float = 30.0
    idle_timeout: float = 30.0
    latency: float = 0.0
    bandwidth: float | None = None


@dataclass(frozen=True)
class Federation:
    """A federation file that has been read. recipients: who gets answers if a query does not say."""

    path: Path
    catalog: Catalog
    parties: Mapping[str, PartyFacts]
    recipients: tuple[str, ...]
    network: Network

    @classmethod
    def load(cls, path: Path | str) -> Federation:
        """Read a federation file. Raises FederationError with the first mistake."""
        path = Path(path)
        root = Section(path, "", _parse(path))
        parties = {section.name: _party(section) for section in root.sections("parties")}
        if not parties:
            raise root.error("names no party", "add a section [parties.NAME] for each")
        _distinct_addresses(root, parties)
        catalog = _catalog(root, tuple(parties))
        recipients = _recipients(root, catalog)
        network = _network(root.section("network"))
        root.close()
        return cls(path, catalog, parties, recipients, network)

    def address(self, party: str) -> str:
        """A party's host:port."""
        return self.parties[party].address

    def ledger_path(self, party: str) -> Path:
        """Where a party keeps its ledger, at its own machine."""
        return self.parties[party].ledger

    def kept_path(self, party: str) -> Path:
        """The folder of a party's parts of kept tables, at its own machine."""
        return self.parties[party].kept

    def certificate(self, party: str) -> str:
        """A party's certificate, as PEM text. Raises FederationError if it cannot be read."""
        return self._read(self.parties[party].certificate, party, "certificate")

    def private_key(self, party: str) -> PrivateKey:
        """A party's private key, at its own machine. Raises FederationError if it cannot be read."""
        path = self.parties[party].private_key
        try:
            return PrivateKey.read(path)
        except OSError as error:
            raise self._unreadable(path, party, "private key", error.strerror) from error

    def native_party(self, party: str) -> _native.Party:
        """A party as the native session wants it."""
        from tacit import _native

        return _native.Party(party, self.address(party), self.certificate(party))

    def fingerprint(self, party: str) -> str:
        """The SHA-256 of a party's certificate, as shown to people."""
        from tacit import _native

        return _native.fingerprint(self.certificate(party))

    def _read(self, path: Path, party: str, what: str) -> str:
        try:
            return path.read_text(encoding="ascii")
        except OSError as error:
            reason = error.strerror
        except UnicodeDecodeError:
            reason = "it is not PEM text"
        raise self._unreadable(path, party, what, reason)

    def _unreadable(self, path: Path, party: str, what: str, reason: str | None) -> FederationError:
        problem = f"{what} {path} cannot be read ({reason})"
        return FederationError(self.path, f"[parties.{party}]", problem, f"`tacit keys --name {party}` makes a new one")


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RunError(Fault.INPUT, f"{path}: is not TOML: {str(error)[:1].lower()}{str(error)[1:]}.") from None
    except UnicodeDecodeError:
        raise RunError(Fault.INPUT, f"{path}: is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        advice = "name the federation file with --federation"
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}); {advice}.") from None


def _party(section: Section) -> PartyFacts:
    name = section.name
    facts = PartyFacts(
        name,
        _address(section),
        section.path("certificate", f"keys/{name}.crt"),
        section.path("private_key", f"keys/{name}.key"),
        section.path("ledger", f"ledger/{name}.jsonl"),
        section.path("kept", f"kept/{name}"),
    )
    section.close()
    return facts


def _address(section: Section) -> str:
    address = section.text("address")
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 65536):
        raise section.error(f"address is {address!r}", 'write it as "host:port", for example "10.0.0.5:7101"')
    return address


def _distinct_addresses(root: Section, parties: Mapping[str, PartyFacts]) -> None:
    users: dict[str, str] = {}
    for name, facts in parties.items():
        if facts.address in users:
            raise root.error(
                f"parties {users[facts.address]} and {name} both have address {facts.address!r}",
                "give each its own host or port",
            )
        users[facts.address] = name


def _catalog(root: Section, parties: tuple[str, ...]) -> Catalog:
    engine = root.choice("engine", tuple(ENGINES), default="rep3")
    nodes = root.names("nodes", default=parties[: ENGINES[engine]])
    root.all_known("nodes", nodes, parties, "party")
    if len(nodes) != ENGINES[engine]:
        example = ", ".join(f'"{name}"' for name in "abc"[: ENGINES[engine]])
        raise root.error(
            f"nodes has {len(nodes)} names, but engine {engine} runs on {ENGINES[engine]}",
            f"name {ENGINES[engine]} parties, for example nodes = [{example}]",
        )
    tables = tuple(read_table(section, parties) for section in root.sections("tables"))
    if not tables:
        raise root.error("declares no table", "add a section [tables.NAME] for each")
    return Catalog(parties, engine, nodes, tables, _link(root))


def _link(root: Section) -> Link | None:
    section = root.section("link")
    latency, bandwidth = section.number("latency", None), section.number("bandwidth", None, above=0)
    section.close()
    if latency is None and bandwidth is None:
        return None
    if latency is None or bandwidth is None:
        missing = "latency" if latency is None else "bandwidth"
        raise section.error(f"there is no {missing}", "declare both latency (seconds) and bandwidth (bytes a second)")
    return Link(latency, bandwidth)


def _recipients(root: Section, catalog: Catalog) -> tuple[str, ...]:
    recipients = root.names("recipients", default=catalog.nodes[:1])
    root.all_known("recipients", recipients, catalog.parties, "party")
    if not recipients:
        raise root.error("recipients is empty", "name at least one party that gets answers")
    return recipients


def _network(section: Section) -> Network:
    network = Network(
        section.number("connect_timeout", Network.connect_timeout, above=0),
        section.number("idle_timeout", Network.idle_timeout, above=0),
        section.number("latency", Network.latency),
        section.number("bandwidth", None, above=0),
    )
    section.close()
    return network

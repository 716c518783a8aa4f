"""A federation: its members, every owner's offer, and the private files of this machine (docs/federation.md).

Membership and offers are public and equal at all parties. They become the catalog that queries are planned against.
Every mistake in them is one sentence that names the file and the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.agent.federation_members import Member, Members, read_membership
from tacit.agent.federation_offers import read_offers
from tacit.agent.federation_private import PrivateFile
from tacit.agent.federation_section import FederationError, Section
from tacit.agent.federation_united import read_united
from tacit.agent.memory_budget import read_program_memory
from tacit.agent.prices import shared_prices
from tacit.agent.private_key import PrivateKey
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Link, Table
from tacit.plan.physical import engines

if TYPE_CHECKING:
    from tacit import _native


@dataclass(frozen=True)
class Federation:
    """A federation that has been read. recipients: who gets answers if a query does not say.

    privates: the private files of the parties that may run here.
    """

    path: Path
    catalog: Catalog
    members: Members
    recipients: tuple[str, ...]
    privates: Mapping[str, PrivateFile]

    @classmethod
    def load(cls, path: Path | str, party: str | None = None, private: Path | None = None) -> Federation:
        """Read a federation's files. party: which one this machine is; None if any may run here.

        private: the folder of private files. Raises RunError with the first mistake.
        """
        path = Path(path)
        root = read_membership(path)
        members = Members.of(root, path, private)
        privates = {
            name: members.private(name) for name in (members.parties if party is None else (members.known(party),))
        }
        catalog = replace(_catalog(root, path, tuple(members.parties), members.link), prices=shared_prices(path))
        recipients = _recipients(root, catalog)
        root.close()
        tables = tuple(_stored(table, privates.get(table.owner)) for table in catalog.tables)
        arrays = tuple(_stored_array(array, privates.get(array.owner)) for array in catalog.arrays)
        for name, file in privates.items():
            _offered(file, name, tables)
            _offered_arrays(file, name, arrays)
        return cls(path, replace(catalog, tables=tables, arrays=arrays), members, recipients, privates)

    @property
    def parties(self) -> Mapping[str, Member]:
        """How all parties are reached and known."""
        return self.members.parties

    def address(self, party: str) -> str:
        """A party's host:port."""
        return self.parties[party].address

    def at(self, addresses: Mapping[str, str]) -> Federation:
        """The same federation, of which some parties are at other addresses."""
        moved = {
            name: replace(member, address=addresses.get(name, member.address)) for name, member in self.parties.items()
        }
        return replace(self, members=replace(self.members, parties=moved))

    def ledger_path(self, party: str) -> Path:
        """Where a party keeps its ledger, at its own machine."""
        return self.privates[party].ledger

    def kept_path(self, party: str) -> Path:
        """The folder of a party's parts of kept tables, at its own machine."""
        return self.privates[party].kept

    def private_key(self, party: str) -> PrivateKey:
        """A party's private key, at its own machine. Raises FederationError if it cannot be read."""
        return self.privates[party].read_key()

    def native_party(self, party: str) -> _native.Party:
        """A party as the native session wants it."""
        return self.members.native_party(party)

    def fingerprint(self, party: str) -> str:
        """The SHA-256 of a party's certificate, as shown to people."""
        return self.members.fingerprint(party)


def _stored(table: Table, private: PrivateFile | None) -> Table:
    """The table with its file, at its owner."""
    path = private.tables.get(table.name) if private else None
    return replace(table, path=None if path is None else str(path))


def _offered(private: PrivateFile, party: str, tables: tuple[Table, ...]) -> None:
    """Refuse files of tables that their party does not offer."""
    offered = [table.name for table in tables if table.owner == party]
    for name in private.tables:
        if name not in offered:
            problem = f"{party} offers no table of this name"
            advice = f"declare it in offers/{party}.toml, or remove the section"
            raise FederationError(private.path, f"[tables.{name}]", problem, advice)


def _stored_array(array: OfferedArray, private: PrivateFile | None) -> OfferedArray:
    """The array with its file, at its owner."""
    path = private.arrays.get(array.name) if private else None
    return replace(array, path=None if path is None else str(path))


def _offered_arrays(private: PrivateFile, party: str, arrays: tuple[OfferedArray, ...]) -> None:
    """Refuse files of arrays that their party does not offer."""
    offered = [array.name for array in arrays if array.owner == party]
    for name in private.arrays:
        if name not in offered:
            problem = f"{party} offers no array of this name"
            advice = f"declare it in offers/{party}.toml, or remove the section"
            raise FederationError(private.path, f"[arrays.{name}]", problem, advice)


def linked_parties(members: Members) -> tuple[str, ...]:
    """Between whom the link of a federation is: its nodes, or all parties where an engine needs more than there are.

    Raises RunError if the federation file names no such nodes.
    """
    root, parties = read_membership(members.path), tuple(members.parties)
    engine = _engine(root)
    return parties if _too_few(root, parties, engine) else _nodes(root, parties, engine)


def _catalog(root: Section, path: Path, parties: tuple[str, ...], link: Link | None) -> Catalog:
    engine = _engine(root)
    if _too_few(root, parties, engine):
        listed = "1 party" if len(parties) == 1 else f"{len(parties)} parties"
        problem = f"names {listed}, but engine {engine} needs {engines.NODES[engine]} for its nodes"
        raise root.error(problem, "a further party adds itself with `tacit join`, and copies the file to the others")
    nodes, offers = _nodes(root, parties, engine), read_offers(path.parent / "offers", parties)
    united, memory = read_united(root, offers.tables), read_program_memory(root.section("programs"))
    return Catalog(
        parties, engine, nodes, offers.tables, link, united=united, arrays=offers.arrays, program_memory=memory
    )


def _engine(root: Section) -> str:
    return root.choice("engine", tuple(engines.NODES), default=engines.DEFAULT)


def _too_few(root: Section, parties: tuple[str, ...], engine: str) -> bool:
    """Whether no nodes are named, and there are not as many parties as the engine has."""
    return root.optional("nodes") is None and len(parties) < engines.NODES[engine]


def _nodes(root: Section, parties: tuple[str, ...], engine: str) -> tuple[str, ...]:
    needed = engines.NODES[engine]
    nodes = root.names("nodes", default=parties[:needed])
    root.all_known("nodes", nodes, parties, "party")
    if len(nodes) != needed:
        example = ", ".join(f'"{name}"' for name in "abc"[:needed])
        raise root.error(
            f"nodes has {len(nodes)} names, but engine {engine} runs on {needed}",
            f"name {needed} parties, for example nodes = [{example}]",
        )
    return nodes


def _recipients(root: Section, catalog: Catalog) -> tuple[str, ...]:
    recipients = root.names("recipients", default=catalog.nodes[:1])
    root.all_known("recipients", recipients, catalog.parties, "party")
    if not recipients:
        raise root.error("recipients is empty", "name at least one party that gets answers")
    return recipients

"""How a federation begins: its first party makes the public folder, each further one adds itself (docs/federation.md).

Nothing that exists is written over, but for the membership, to which a further party adds itself.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members, is_address, read_membership
from tacit.agent.federation_private import private_folder
from tacit.agent.federation_section import NAME, Section
from tacit.agent.keys import KeyPair, existing_pair, make_keys, write_whole
from tacit.plan.physical import engines

OFFER = """\
# What {name} offers to queries. {name} alone writes this file, and all parties hold a copy of it.
# A column without use is closed. `tacit policy show` says in sentences what is allowed.
#
# [tables.people]
# rows = 1000
# unique = [["id"]]
# recipients = ["{name}"]
# least_group = 10
# unit = "id"
# columns.id = {{ type = "BIGINT", min = 1, max = 999999999, use = ["join"] }}
# columns.city = {{ type = "VARCHAR", max_length = 40, nullable = true, use = ["group", "filter"] }}
#
# To show every row of a table to all parties instead, write open = true, and neither recipients nor use.
#
# An array for programs, which are allowed one by one. The refusal of a program says its hash.
#
# [arrays.features]
# shape = [1000, 10]
# dtype = "float64"
# min = -4
# max = 4
# recipients = ["{name}"]
# use = ["program"]
"""
PRIVATE = """\
# Where the data of {name} is. This file never leaves {name}.
#
# [tables.people]
# path = "/srv/data/people.parquet"
"""
MEMBERSHIP = """\
# Who takes part. All parties hold this same file.
engine = "{engine}"
"""
MEMBER = """
[parties.{name}]
address = "{address}"
"""
IGNORE_ALL = "# Nothing in this folder is for anybody else, nor for version control.\n*\n"


@dataclass(frozen=True)
class SetUp:
    """What a party has after it founded a federation or joined one. public: the files that the others need of it.

    nodes: how many parties the engine computes with.
    """

    members: Members
    nodes: int
    keys: KeyPair
    public: tuple[Path, ...]
    private: Path

    @property
    def missing(self) -> tuple[str, ...]:
        """The other parties whose certificates are not here."""
        return tuple(name for name, member in self.members.parties.items() if not member.certificate.exists())


def found(path: Path, private: Path | None, name: str, address: str, engine: str) -> SetUp:
    """Make a federation of one party. path: its federation file, which must not exist. Raises RunError."""
    if path.exists():
        raise _refused(f"{path} exists already", "join it with `tacit join`, or name another --federation")
    _check_address(address)
    text = MEMBERSHIP.format(engine=engine) + _member(name, address)
    return _set_up(path, private, name, text)


def join(path: Path, private: Path | None, name: str, address: str | None) -> SetUp:
    """Add a party to a federation. address: not needed if the membership has it already. Raises RunError."""
    if address is not None:
        _check_address(address)
    members = Members.of(read_membership(path), path, private)
    text = path.read_text(encoding="utf-8")
    listed = members.parties.get(name)
    if listed is not None and address not in (None, listed.address):
        advice = "correct it there, or leave out --address"
        raise _refused(f"{path} has {name} at {listed.address} and not at {address}", advice)
    if listed is None:
        if address is None:
            raise _refused(f"{path} does not name {name}", f"say where {name} listens with --address HOST:PORT")
        text = text.rstrip("\n") + "\n" + _member(name, address)
    return _set_up(path, private, name, text)


def _member(name: str, address: str) -> str:
    if not NAME.fullmatch(name):
        raise _refused(f"{name!r} cannot name a party", "use letters, digits and _, and no digit first")
    return MEMBER.format(name=name, address=address)


def _check_address(address: str) -> None:
    if not is_address(address):
        raise _refused(f"the address is {address!r}", "write it as host:port, for example 10.0.0.5:7101")


def _set_up(path: Path, private: Path | None, name: str, membership: str) -> SetUp:
    """Write what a party has, after all of it has been checked; the membership last, which says that all is there."""
    try:
        root = Section(path, "", tomllib.loads(membership))
    except tomllib.TOMLDecodeError:  # it was TOML before the section of this party was added
        raise _refused(f"{path} has its parties in one line", "write a section [parties.NAME] for each") from None
    members = Members.of(root, path, private)
    nodes = engines.NODES[root.choice("engine", tuple(engines.NODES), default=engines.DEFAULT)]
    offer, folder = path.parent / "offers" / f"{name}.toml", private_folder(path, private)
    keys = existing_pair(members, name) or make_keys(members, [name], replace=False)[name]
    write_if_missing(folder / ".gitignore", IGNORE_ALL, 0o600)
    write_if_missing(folder / f"{name}.toml", PRIVATE.format(name=name), 0o600)
    write_if_missing(offer, OFFER.format(name=name), 0o644)
    if not path.exists() or path.read_text(encoding="utf-8") != membership:
        write_whole(path, membership.encode(), 0o644)
    return SetUp(members, nodes, keys, (path, keys.certificate, offer), folder / f"{name}.toml")


def write_if_missing(path: Path, text: str, mode: int) -> None:
    """Write a file unless there is one. Raises RunError."""
    if not path.exists():
        write_whole(path, text.encode(), mode)


def _refused(problem: str, advice: str) -> RunError:
    return RunError(Fault.INPUT, f"{problem}; {advice}.")

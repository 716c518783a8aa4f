"""Three parties on this machine, with keys and ledgers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit.agent.addresses import free_ports
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.agent.ledger import Ledger
from tacit.agent.signer import Signer

from .signing import Party

NAMES = ("north", "south", "helper")


@pytest.fixture
def members(tmp_path: Path) -> Members:
    lines = [f'[parties.{name}]\naddress = "127.0.0.1:{7301 + place}"' for place, name in enumerate(NAMES)]
    (tmp_path / "federation.toml").write_text("\n".join(lines) + "\n")
    found = Members.load(tmp_path / "federation.toml")
    make_keys(found, NAMES, replace=False)
    with free_ports({name: found.parties[name].address for name in NAMES}) as addresses:
        moved = {name: replace(member, address=addresses[name]) for name, member in found.parties.items()}
    return replace(found, parties=moved)


@pytest.fixture
def parties(members: Members) -> dict[str, Party]:
    signers = {name: Signer.of(members, name) for name in NAMES}
    return {name: Party(mine, Ledger(members.private(name).ledger, mine)) for name, mine in signers.items()}

"""Three parties on this machine, with keys and ledgers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.agent.signer import Signer

from .signing import Party, members_at_free_ports

NAMES = ("north", "south", "helper")


@pytest.fixture
def members(tmp_path: Path) -> Members:
    return members_at_free_ports(tmp_path, NAMES)


@pytest.fixture
def parties(members: Members) -> dict[str, Party]:
    signers = {name: Signer.of(members, name) for name in NAMES}
    return {name: Party(mine, Ledger(members.private(name).ledger, mine)) for name, mine in signers.items()}

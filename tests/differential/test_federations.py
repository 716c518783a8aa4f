"""Generated questions in generated federations: of two to eight owners, with and without nodes among them.

Recipients may own nothing, and nodes neither own anything nor get an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .chance import Chance
from .running import among_threads, by_processes, in_clear
from .searching import NIGHTLY, SEED, Draw
from .test_generated import Tally, compare
from .worlds import Members, members

OWNERS = (2, 3, 4, 5, 6, 7, 8)
WHO = (
    "owner that is no node", "no node owns", "node that owns nothing", "party that owns nothing",
    "recipient that owns nothing", "recipient that is no node", "several recipients", "united table",
)  # fmt: skip


def of(*counts: int) -> Draw:
    """Federations of one of these numbers of owners, on either engine."""

    def drawn(chance: Chance) -> Members:
        return members(chance, chance.pick(counts), chance.pick(["rep3", "two"]))

    return drawn


def test_two_to_eight_owners(keys: Path) -> None:
    met = Tally()
    for owners in (2, 3, 5, 8):
        tally = compare(in_clear, 400 if NIGHTLY else 24, keys, of(owners), seed=f"{SEED}-of-{owners}", each=4)
        assert tally.answered[f"{owners} owners"] >= 16, tally.outcomes
        met.answered.update(tally.answered)
    assert [each for each in WHO if not met.answered[each]] == []


@pytest.mark.parametrize("owners", [2, 3, 5, 8])
def test_among_nodes_and_clients(owners: int, keys: Path) -> None:
    compare(among_threads, 80 if NIGHTLY else 4, keys, of(owners), seed=f"{SEED}-of-{owners}", each=2)


@pytest.mark.nightly
def test_by_processes(keys: Path) -> None:
    tally = compare(by_processes, 16, keys, of(*OWNERS), seed=f"{SEED}-processes", each=2, listening=True)
    assert sum(tally.answered[f"{owners} owners"] for owners in OWNERS) >= 12, tally.outcomes

"""What parties announce leads both to the same choice. crates/linkage/tests/fuzz.rs holds what a peer may announce."""

from __future__ import annotations

from typing import Any

import pytest

from tacit import _native
from tacit.agent.faults import RunError
from tacit.plan.facts.catalog import Link
from tacit.psi.choice import choose
from tacit.psi.kinds import KINDS
from tacit.psi.parameters import Parameters
from tacit.psi.request import Limits

HONEST: dict[str, Any] = {"rows": 10, "memory": 1 << 30, "workers": 1, "kinds": ["text"]}


def honest(**change: Any) -> _native.Announcement:
    return _native.Announcement(**{**HONEST, **change})


def test_an_announcement_says_what_it_was_made_of() -> None:
    run = "0123456789abcdef" * 2
    told = honest(columns=["own"], resume=(run, [True, False]))
    assert (told.rows, told.memory, told.kinds, told.columns, told.done) == (
        10, 1 << 30, ["text"], ["own"], [True, False],
    )  # fmt: skip
    assert told.resumes_with(honest(resume=(run, [False, False])), 2) and not told.resumes_with(honest(), 2)


@pytest.mark.parametrize(
    "change",
    [{"kinds": ["texts"]}, {"kinds": ["text\x1b[2J"]}, {"resume": ("x", [True])}, {"resume": ("g" * 32, [True])}],
)
def test_what_cannot_be_announced_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(_native.InputError, match=r"there is no kind|is no name of a run"):
        honest(**change)


def test_kinds_are_those_of_native_code() -> None:
    assert [kind for _, kind in KINDS] == _native.key_kinds()


@pytest.mark.parametrize("workers", [-1, 0, 1 << 40])
def test_workers_that_there_cannot_be_are_refused(workers: int) -> None:
    with pytest.raises(RunError, match=f"--workers is {workers}; write a number from 1"):
        Limits(workers=workers)


@pytest.mark.parametrize("rows", [0, 1, 1 << 20, (1 << 20) + 1, 10**8, 10**9])
def test_a_choice_stays_within_the_smaller_memory(rows: int) -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"))
    memory = 3 << 30
    choice = choose(parameters, (honest(rows=rows, memory=memory), honest(rows=7, memory=1 << 40)))
    assert 512 * max(choice.capacities) * choice.workers <= memory
    assert choice.bins * choice.capacities[0] >= rows
    assert (choice.bins == 1) == (rows <= 1 << 20)


@pytest.mark.parametrize(
    ("rows", "link", "protocol", "network"),
    [
        (100, None, "dh", "on a fast network, as no other is declared"),
        (1 << 20, None, "vole", "on a fast network, as no other is declared"),
        (10**8, None, "vole", "on a fast network, as no other is declared"),
        (5_000, Link(0.1, 400e6), "dh", "at 100 ms one way and 400 MB/s"),
        (1 << 20, Link(0.0, 1.25e6), "vole-compact", "at 0 ms one way and 1.25 MB/s"),
    ],
)
def test_the_protocol_follows_from_the_sizes_and_the_declared_network(
    rows: int, link: Link | None, protocol: str, network: str
) -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), link=link)
    facts = honest(rows=rows, memory=3 << 30)
    choice = choose(parameters, (facts, facts))
    assert choice.protocol == protocol
    assert choice.why[0].startswith(f"protocol {protocol}: {choice.seconds:.2f} s predicted {network}")


def test_a_network_that_a_party_expects_changes_its_prediction_and_no_choice() -> None:
    parameters, facts = Parameters(("a", "b"), ("exact",), ("a", "b")), honest(rows=5_000, memory=3 << 30)
    near, far = (choose(parameters, (facts, facts), link) for link in (None, Link(0.1, 1e6)))
    assert near.why == far.why and near.protocol == far.protocol
    assert far.seconds == pytest.approx(
        near.seconds + near.rounds * 0.1 + max(near.sent) / 1e6, rel=0.01
    )  # fmt: skip


def test_plans_of_other_links_are_others() -> None:
    links = (None, Link(0.1, 1e6), Link(0.2, 1e6), Link(0.1, 2e6))
    hashes = {Parameters(("a", "b"), ("exact",), ("a", "b"), link=link).plan_hash for link in links}
    assert len(hashes) == len(links)


def test_few_enough_bins_are_under_way_at_once() -> None:
    """A peer that deviates has one try in each (make security counts 256)."""
    many = honest(rows=10**9, memory=1 << 50, workers=5_000)
    choice = choose(Parameters(("a", "b"), ("exact",), ("a", "b"), bins=5_000), (many, many))
    assert (choice.bins, choice.workers) == (5_000, 256)


def test_a_protocol_that_is_asked_for_is_taken() -> None:
    for protocol in ("vole", "kkrt", "vole-malicious"):
        choice = choose(Parameters(("a", "b"), ("exact",), ("a", "b"), protocol=protocol), (honest(), honest()))
        assert choice.protocol == protocol and choice.why[0] == f"protocol {protocol}: as asked"
        assert ("memory" in choice.why[1]) == (protocol != "vole-malicious")


def test_bins_that_do_not_fit_are_refused() -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), bins=2)
    with pytest.raises(RunError, match="declare more --memory"):
        choose(parameters, (honest(rows=10**9), honest()))

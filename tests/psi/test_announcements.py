"""What a peer announces is checked before it is used, and leads both to the same choice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.psi.announcement import asked, heard, numbers, offered, run_name, told_numbers
from tacit.psi.choice import choose
from tacit.psi.parameters import Parameters

HONEST: dict[str, Any] = {
    "rows": 10,
    "memory": 1 << 30,
    "workers": 1,
    "kinds": ["text"],
    "resume": None,
    "columns": [],
    "latency": 0.0,
    "bandwidth": None,
}


def test_an_honest_announcement_is_heard() -> None:
    resume = {"run": "x", "bins": 2, "done": "0001"}
    assert heard(json.dumps({**HONEST, "resume": resume}).encode(), "b", 1)["resume"] == resume


@pytest.mark.parametrize(
    "change",
    [
        {"rows": -1},
        {"rows": 1 << 60},
        {"rows": "10"},
        {"rows": 1.5},
        {"memory": 0},
        {"workers": 0},
        {"workers": True},
        {"kinds": []},
        {"kinds": [1]},
        {"kinds": ["text\x1b[2J"]},
        {"kinds": None},
        {"latency": -1},
        {"latency": float("nan")},
        {"latency": True},
        {"bandwidth": 0},
        {"bandwidth": float("inf")},
        {"bandwidth": 10**400},
        {"bandwidth": "fast"},
        {"columns": "own"},
        {"columns": [1]},
        {"resume": {}},
        {"resume": {"run": "x", "bins": 2, "done": "00"}},
        {"resume": {"run": "x", "bins": 1, "done": "no"}},
    ],
)
def test_other_announcements_are_the_peers_fault(change: dict[str, Any]) -> None:
    with pytest.raises(RunError) as error:
        heard(json.dumps({**HONEST, **change}).encode(), "b", 1)
    assert error.value.fault is Fault.PEER


OFFER: dict[str, Any] = {
    "rows": 10,
    "most": 5,
    "budget": 9,
    "kinds": ["text"],
    "published": "abc",
    "token_key": "0" * 32,
}


def test_an_honest_offer_and_an_honest_question_are_heard() -> None:
    assert offered(json.dumps(OFFER).encode(), "b", 1).most == 5
    assert asked(b'{"rows": 3, "has": "abc"}', "a").has == "abc"
    assert asked(b'{"rows": 0}', "a").has is None


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 1 << 32},
        {"rows": True},
        {"most": 10},
        {"most": -1},
        {"budget": 0},
        {"budget": 1 << 60},
        {"kinds": ["text", "text"]},
        {"kinds": "t"},
        {"kinds": ["texts"]},
        {"published": None},
        {"token_key": "0" * 31},
        {"token_key": "z" * 32},
    ],
)
def test_other_offers_are_the_peers_fault(change: dict[str, Any]) -> None:
    with pytest.raises(RunError) as error:
        offered(json.dumps({**OFFER, **change}).encode(), "b", 1)
    assert error.value.fault is Fault.PEER


@pytest.mark.parametrize("message", [b'{"rows": -1}', b'{"rows": "3"}', b'{"rows": 3, "has": 5}', b'{"has": null}'])
def test_other_questions_are_the_peers_fault(message: bytes) -> None:
    with pytest.raises(RunError, match="no honest party"):
        asked(message, "a")


@pytest.mark.parametrize(
    "told", [(0, None), (3, None), (3, 0), (3, -5), ((1 << 64) - 1, (1 << 63) - 1), (1, -(1 << 63))]
)
def test_numbers_are_told_in_as_many_bytes_whatever_they_are(told: tuple[int, int | None]) -> None:
    message = told_numbers(*told)
    assert numbers(message, "b") == told and len(message) == 17


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"{}",
        bytes(16),
        bytes(18),
        bytes(8) + b"\2" + bytes(8),  # neither shown nor not shown
        bytes(9) + b"\1" + bytes(7),  # not shown, and told
    ],
)
def test_other_numbers_are_the_peers_fault(message: bytes) -> None:
    with pytest.raises(RunError, match="no honest party"):
        numbers(message, "b")


@pytest.mark.parametrize("message", [b"", b"0" * 31, b"g" * 32, b"\xff" * 32, b"0" * 32 + b"\n"])
def test_other_names_of_runs_are_the_peers_fault(message: bytes) -> None:
    assert run_name(b"0123456789abcdef" * 2, "a") == "0123456789abcdef" * 2
    with pytest.raises(RunError, match="no honest party"):
        run_name(message, "a")


@pytest.mark.parametrize("message", [b"", b"[]", b"{}", b"\xff", b"null", b"[" * 100_000])
def test_no_announcement_at_all(message: bytes) -> None:
    for read in (lambda: heard(message, "b", 1), lambda: asked(message, "b"), lambda: offered(message, "b", 1)):
        with pytest.raises(RunError, match="no honest party"):
            read()


@pytest.mark.parametrize("rows", [0, 1, 1 << 20, (1 << 20) + 1, 10**8, 10**9])
def test_a_choice_stays_within_the_smaller_memory(rows: int) -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"))
    memory = 3 << 30
    choice = choose(parameters, ({**HONEST, "rows": rows, "memory": memory}, {**HONEST, "rows": 7, "memory": 1 << 40}))
    assert 512 * max(choice.capacities) * choice.workers <= memory
    assert choice.bins * choice.capacities[0] >= rows
    assert (choice.bins == 1) == (rows <= 1 << 20)


@pytest.mark.parametrize(
    ("rows", "network", "protocol"),
    [
        (100, {}, "dh"),
        (1 << 20, {}, "vole"),
        (10**8, {}, "vole"),
        (5_000, {"latency": 0.1}, "dh"),
        (1 << 20, {"bandwidth": 1.25e6}, "vole-compact"),
    ],
)
def test_the_protocol_follows_from_the_sizes_and_the_worse_network(
    rows: int, network: dict[str, float], protocol: str
) -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"))
    facts = {**HONEST, "rows": rows, "memory": 3 << 30}
    for both in ((facts, {**facts, **network}), ({**facts, **network}, facts)):
        choice = choose(parameters, both)
        assert choice.protocol == protocol
        assert choice.why[0].startswith(f"protocol {protocol}: {choice.seconds:.2f} s predicted")


def test_few_enough_bins_are_under_way_at_once() -> None:
    """A peer that deviates has one try in each (make security counts 256)."""
    many = {**HONEST, "rows": 10**9, "memory": 1 << 50, "workers": 5_000}
    choice = choose(Parameters(("a", "b"), ("exact",), ("a", "b"), bins=5_000), (many, many))
    assert (choice.bins, choice.workers) == (5_000, 256)


def test_a_protocol_that_is_asked_for_is_taken() -> None:
    for protocol in ("vole", "kkrt", "vole-malicious"):
        choice = choose(Parameters(("a", "b"), ("exact",), ("a", "b"), protocol=protocol), (HONEST, HONEST))
        assert choice.protocol == protocol and choice.why[0] == f"protocol {protocol}: as asked"
        assert ("memory" in choice.why[1]) == (protocol != "vole-malicious")


def test_bins_that_do_not_fit_are_refused() -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), bins=2)
    with pytest.raises(RunError, match="declare more --memory"):
        choose(parameters, ({**HONEST, "rows": 10**9}, HONEST))

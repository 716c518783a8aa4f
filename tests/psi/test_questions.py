"""How many items a party may ask about under `vole-malicious`: not what it likes, and the number is said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow
import pytest

import tacit.psi
from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger
from tacit.psi.choice import Choice, choose
from tacit.psi.parameters import Parameters
from tacit.psi.tables import Matched

from .pairs import Pair
from .test_announcements import honest

GIB = 1 << 30


def chosen(mine: int, peer: int, memory: int, to: tuple[str, ...] = ("a", "b"), **options: Any) -> Choice:
    """What a, with 3 GiB, and b choose."""
    parameters = Parameters(("a", "b"), ("exact",), to, protocol="vole-malicious", **options)
    return choose(parameters, (honest(rows=mine, memory=3 * GIB), honest(rows=peer, memory=memory)))


def questions(choice: Choice, party: int, to: tuple[str, ...]) -> int:
    """What a party may ask about: as receiver by its stores, as sender that is told by all of its tags."""
    capacity = choice.capacities[party]
    if choice.sender != party:
        return choice.bins * _native.matching_questions(capacity, choice.bins)
    return choice.bins * capacity if len(to) == 2 else 0


@pytest.mark.parametrize("to", [("a", "b"), ("b",)])
@pytest.mark.parametrize("memory", [1 << 19, 1 << 24, GIB // 2, 3 * GIB, 1 << 40])
@pytest.mark.parametrize("peer", [1, 200, 10_000, 1_000_000])
@pytest.mark.parametrize("mine", [1_000, 1_000_000, 16_777_216, 1_000_000_000])
def test_no_announcement_lets_a_peer_ask_about_many_more_items_than_it_declares(
    mine: int, peer: int, memory: int, to: tuple[str, ...]
) -> None:
    try:
        choice = chosen(mine, peer, memory, to)
    except RunError as error:
        assert error.fault in (Fault.INPUT, Fault.POLICY)
        return
    assert questions(choice, 1, to) <= 4 * max(100, peer)


def test_the_bins_do_not_depend_on_the_memory_that_a_peer_declares() -> None:
    choices = [chosen(16_777_216, 10_000_000, memory) for memory in (GIB // 2, 3 * GIB, 1 << 40)]
    assert [choice.bins for choice in choices] == [16, 16, 16]
    assert all("matched fastest" in choice.why[1] for choice in choices)
    with pytest.raises(RunError, match="declare more --memory, or agree on more --bins"):
        chosen(16_777_216, 10_000_000, 1 << 24)


def test_no_reason_for_bins_is_the_memory_that_a_peer_declares() -> None:
    few = chosen(1_000, 1_000, 1 << 20).why
    assert few[1] == "1 bin: 1,000 tokens fit into caches at once, so nothing is padded"
    assert few[3].startswith("1 worker: ") and few[3].endswith("at most one a bin, and no more than fit into memory")


def test_a_sender_that_is_told_the_matches_may_fill_every_padded_place() -> None:
    choice = chosen(1_000_000, 1_000_000, 3 * GIB, bins=977)
    sender = "ab"[choice.sender]
    said = f"if {sender} deviates, it may ask about 1,428,374 items which of them {'ba'[choice.sender]} has"
    assert choice.may_ask[1] == f"{said}; it declares 1,000,000" and len(choice.may_ask) == 2
    assert len(chosen(1_000_000, 1_000_000, 3 * GIB, ("a",), bins=977).may_ask) == 1


def test_workers_fit_into_memory() -> None:
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), protocol="vole-malicious")
    facts = honest(rows=10**8, memory=3 * GIB, workers=64)
    choice = choose(parameters, (facts, facts))
    assert (choice.bins, choice.workers) == (96, 5)
    assert 512 * max(choice.capacities) * choice.workers <= 3 * GIB


@pytest.mark.parametrize(("peer", "bins"), [(1, None), (1_000, None), (100, 64)])
def test_bins_that_are_too_many_for_what_a_party_declares_are_refused(peer: int, bins: int | None) -> None:
    said = rf"b declares {peer:,} rows, but if it deviates, it may ask about [\d,]+ items in {bins or 954} bins"
    with pytest.raises(RunError, match=said) as error:
        chosen(10**9 if bins is None else 100_000, peer, 3 * GIB, bins=bins)
    assert error.value.fault is Fault.POLICY and "agree on fewer --bins" in str(error.value)


def test_both_numbers_are_printed_without_being_asked_for_and_recorded(pair: Pair) -> None:
    pair.write("a", "SELECT i AS id FROM range(300) t(i)")
    pair.write("b", "SELECT i + 200 AS id FROM range(500) t(i)")
    ends = pair.match("--protocol", "vole-malicious")
    assert [ended.status for ended in ends] == [0, 0], ends
    for party, ended in zip("ab", ends, strict=True):
        ledger = Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()
        told = ledger[-1]["may_ask"]
        receiver = "a" if told[0].startswith("if a deviates") else "b"
        most = _native.matching_questions({"a": 300, "b": 500}[receiver], 1)
        assert told[0].startswith(f"if {receiver} deviates, it may ask about {most:,} items which of them"), told
        assert told[1].startswith("if ") and len(told) == 2, told
        assert all(f"- {sentence}\n" in ended.told for sentence in told), ended.told
        approved = [disclosure["what"] for disclosure in ledger[0]["disclosures"]]
        assert any("at most 4 times as many, or 400 where that is more" in what for what in approved), approved


def test_the_report_of_the_python_interface_has_the_numbers(pair: Pair) -> None:
    def match(me: str, first: int) -> Matched:
        table = pyarrow.table({"id": list(range(first, first + 10))})
        federation = pair.folder / "federation.toml"
        return tacit.psi.intersect(table, federation=federation, me=me, key=["id"], to="b", protocol="vole-malicious")

    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(match, "a", 0), pool.submit(match, "b", 5)]
        reports = [end.result(timeout=60).report for end in ends]
    said = "if b deviates, it may ask about 102 items which of them a has; it declares 10"
    assert [report.may_ask for report in reports] == [(said,), (said,)]

"""``tacit calibrate --link``: nodes find the same numbers, and one that is missing, leaves or does something else is
named."""

from __future__ import annotations

import re
import signal
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from .organisations import PARTIES, QUERY, Consortium, Organisation, wait_until

LATENCY, BANDWIDTH = 0.02, 5e6
MEASURES = " measures with "


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Consortium]:
    """Three organisations with a slow network."""
    network = f"connect_timeout = 20\nidle_timeout = 20\nlatency = {LATENCY}\nbandwidth = {BANDWIDTH}"
    with Consortium(tmp_path, network) as found:
        yield found


def measure(consortium: Consortium, party: str, *arguments: str) -> Organisation:
    """A party's command under way."""
    return consortium.run(party, "calibrate", "--link", "--as", party, *arguments)


def test_all_nodes_find_the_network_as_slow_as_it_is_and_declare_it_alike(far: Consortium) -> None:
    before = far.federation(PARTIES[0]).read_text()
    ends = [organisation.end() for organisation in [measure(far, party, "--write") for party in PARTIES]]
    assert [end.status for end in ends] == [0, 0, 0], ends
    printed = {end.stdout for end in ends}
    assert len(printed) == 1, "the same at all"
    (shown,) = printed
    pairs = re.findall(r"^(\w+ and \w+) +([\d.]+) ms +([\d.]+) MB/s$", shown, re.M)
    assert [pair for pair, *_ in pairs] == [f"{PARTIES[i]} and {PARTIES[j]}" for i, j in ((0, 1), (0, 2), (1, 2))]
    for _, latency, bandwidth in pairs:
        assert 1e3 * LATENCY <= float(latency) < 1.5e3 * LATENCY
        assert 0.8 * BANDWIDTH <= 1e6 * float(bandwidth) <= 1.1 * BANDWIDTH
    (written,) = {far.federation(party).read_text() for party in PARTIES}
    assert written.startswith(before)
    link = tomllib.loads(written)["link"]
    assert LATENCY <= link["latency"] < 1.5 * LATENCY
    assert 0.8 * BANDWIDTH <= link["bandwidth"] <= 1.1 * BANDWIDTH
    assert written.removeprefix(before).strip() in shown
    assert all(f"{party}{MEASURES}" in end.stderr for party, end in zip(PARTIES, ends, strict=True))
    assert not any(far.ledger(party) for party in PARTIES), "it runs no query"


def test_a_node_that_does_not_come_is_named(consortium: Consortium) -> None:
    host, port = consortium.address("bureau_b")
    end = measure(consortium, "regulator", "--wait", "2s").end()
    assert end.status == 5
    sentence = end.sentence()
    assert sentence.startswith("waited in vain for bureau_a and bureau_b (")
    assert f"nobody listens at {host}:{port}; start tacit there, or correct the address of bureau_b" in sentence


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (signal.SIGINT, r'party "bureau_a" ended the run: .*it was interrupted'),
        (signal.SIGKILL, r'party "bureau_a" is gone'),
    ],
)
def test_a_node_that_leaves_ends_it_at_all(how: signal.Signals, says: str, far: Consortium) -> None:
    running = {party: measure(far, party) for party in PARTIES}
    wait_until(lambda: all(MEASURES in each.stderr() for each in running.values()), running.values())
    time.sleep(1)  # they have connected
    running["bureau_a"].process.send_signal(how)
    ends = {party: organisation.end() for party, organisation in running.items()}
    assert ends["bureau_a"].status == (130 if how is signal.SIGINT else -how)
    for party in ("regulator", "bureau_b"):
        assert ends[party].status == 5
        assert re.search(says, ends[party].sentence())
    assert not tomllib.loads(far.federation("regulator").read_text()).get("link")


def test_a_node_that_runs_a_query_instead_is_told_from_one_that_measures(consortium: Consortium) -> None:
    running = [measure(consortium, party) for party in ("regulator", "bureau_a")]
    running.append(consortium.start("bureau_b", QUERY, "--wait", "60s"))
    ends = [organisation.end() for organisation in running]
    assert all(end.status in (4, 5) for end in ends)
    assert any('its engine is "calibrate --link", this party\'s is "rep3"' in end.stderr for end in ends), ends

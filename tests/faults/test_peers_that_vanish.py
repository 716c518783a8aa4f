"""A party that dies, falls silent or never appears: all others end soon, with one sentence that names it."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from pathlib import Path

import pytest

from .organisations import PARTIES, SOON, Consortium, Organisation, alive, children, listens, others, wait_until

GONE = 5
COMPUTING_SECONDS = 1.2
"""The question takes longer than this on the slow network."""


def computing_processes(consortium: Consortium, running: dict[str, Organisation]) -> dict[str, int]:
    """The parties' processes that compute, once they do."""
    wait_until(lambda: all(organisation.computes() for organisation in running.values()), running.values())
    workers = {party: children(organisation.process.pid) for party, organisation in running.items()}
    assert all(len(found) == 1 for found in workers.values()), [each.stderr() for each in running.values()]
    return {party: found[0] for party, found in workers.items()}


def assert_ended_by(
    victim: str, running: dict[str, Organisation], consortium: Consortium, since: float, *, all_name_it: bool = True
) -> None:
    """All but the victim have ended for its sake, soon, and their ledgers say so.

    all_name_it: otherwise one party does, and the others may hear from it no more than that it lost a peer.
    """
    named = []
    for party in consortium.parties:
        if party == victim:
            continue
        end = running[party].end()
        assert time.monotonic() - since < SOON
        assert end.status == GONE, end
        named.append(f'party "{victim}"' in end.sentence())
        assert named[-1] or (not all_name_it and "it lost a peer" in end.sentence()), end
        approved, failed = consortium.ledger(party)
        assert (approved["kind"], failed["kind"]) == ("approved", "failed")
        assert failed["fault"] == "peer gone"
        assert failed["sentence"] in end.sentence()
        assert all(entry["rows"] is None for entry in failed["disclosures"])
    assert any(named), victim


def kill_somewhere(consortium: Consortium, victim: str, delay: float) -> None:
    running = consortium.start_all()
    worker = computing_processes(consortium, running)[victim]
    time.sleep(delay)
    assert alive(worker), running[victim].stderr()
    killed = time.monotonic()
    os.kill(worker, signal.SIGKILL)
    assert_ended_by(victim, running, consortium, killed)
    left = [party for party in consortium.parties if party != victim]
    for party in left:
        failed = consortium.ledger(party)[-1]
        assert set(failed["attendance"]["parties"]) == {*consortium.parties}, "all had signed that they take part"
        assert set(failed["record"]["parties"]) == {*left}, "those that are left have signed the end"
        assert {said["outcome"] for said in failed["record"]["parties"].values()} == {"failed"}
    end = running[victim].end()
    assert end.sentence() == f"{victim}: the party's process ended unexpectedly (signal SIGKILL)."
    assert consortium.kinds(victim) == ["approved"]  # it had no chance to say more, and said nothing false
    assert [path for path in (consortium.folder / "temporary").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("victim", PARTIES)
def test_a_killed_party_ends_the_run_for_all(victim: str, slow: Consortium) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    kill_somewhere(slow, victim, random.Random(seed).uniform(0, COMPUTING_SECONDS))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(40))
def test_a_party_killed_anywhere_ends_the_run_for_all(seed: int, slow: Consortium) -> None:
    draw = random.Random(seed)
    kill_somewhere(slow, draw.choice(PARTIES), draw.uniform(0, COMPUTING_SECONDS))


def test_a_killed_command_takes_its_party_along(slow: Consortium) -> None:
    """The person's process dies; the one that computes notices, and tells the peers."""
    running = slow.start_all()
    worker = computing_processes(slow, running)["bureau_a"]
    killed = time.monotonic()
    os.kill(running["bureau_a"].process.pid, signal.SIGKILL)
    assert_ended_by("bureau_a", running, slow, killed)
    wait_until(lambda: not alive(worker))
    assert slow.kinds("bureau_a") == ["approved", "failed"]


def test_a_silent_party_is_waited_for_as_long_as_configured(slow: Consortium) -> None:
    running = slow.start_all()
    worker = computing_processes(slow, running)["bureau_b"]
    stopped = time.monotonic()
    os.kill(worker, signal.SIGSTOP)
    assert_ended_by("bureau_b", running, slow, stopped)
    assert time.monotonic() - stopped > 1.5
    assert "no sign of life for 2 s" in running["regulator"].stderr() + running["bureau_a"].stderr()
    os.kill(worker, signal.SIGCONT)
    assert running["bureau_b"].end().status == GONE
    assert running["bureau_b"].end().stdout == ""


def test_an_interrupted_party_tells_the_others(slow: Consortium) -> None:
    running = slow.start_all()
    worker = computing_processes(slow, running)["regulator"]
    interrupted = time.monotonic()
    os.kill(running["regulator"].process.pid, signal.SIGINT)
    assert_ended_by("regulator", running, slow, interrupted)
    assert "it was interrupted" in running["bureau_a"].stderr()
    assert running["regulator"].end().status == 130
    assert running["regulator"].end().sentence() == "interrupted."
    assert not alive(worker)
    assert slow.kinds("regulator") == ["approved", "failed"]


def test_a_party_that_never_appears_is_named_with_its_address(tmp_path: Path) -> None:
    with Consortium(tmp_path, "connect_timeout = 6") as consortium:
        running = {party: consortium.start(party) for party in others("bureau_b")}
        host, port = consortium.address("bureau_b")
        for party, organisation in running.items():
            end = organisation.end()
            assert end.status == GONE
            assert f"waited in vain for bureau_b (bureau_b: nobody listens at {host}:{port};" in end.sentence()
            assert consortium.kinds(party) == [], "it approved nothing"


def test_something_else_at_a_partys_address_is_named(tmp_path: Path) -> None:
    """A program that accepts connections and says nothing, as some proxies do."""
    with Consortium(tmp_path, "connect_timeout = 6") as consortium:
        address = consortium.address("bureau_b")
        with socket.create_server(address):
            running = {party: consortium.start(party) for party in others("bureau_b")}
            for organisation in running.values():
                end = organisation.end()
                assert end.status in (4, GONE)
                assert '"bureau_b"' in end.sentence()


def test_strangers_who_knock_disturb_nobody(consortium: Consortium) -> None:
    """Port scanners and web browsers reach open ports, too."""
    running = {party: consortium.start(party) for party in others("bureau_b")}
    wait_until(lambda: all(listens(consortium.address(party)) for party in running), running.values())
    for party in others("bureau_b"):
        for words in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05hello", bytes(4096), b""):
            with socket.create_connection(consortium.address(party)) as stranger:
                stranger.sendall(words)
    running["bureau_b"] = consortium.start("bureau_b")
    assert {organisation.end().status for organisation in running.values()} == {0}
    assert running["regulator"].end().stdout.startswith("zip,avg_score\n10001,")

"""Parties exchange what they have signed of the end of a run: all have all, and whoever is left has what is left."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.closing import MOST_CALLERS, SECONDS, Closing
from tacit.agent.federation_members import Members
from tacit.agent.record import COMPLETED, FAILED, RunRecord, Said
from tacit.agent.signer import Signer

from .signing import DISCLOSURES, members_at_free_ports

NAMES = ("a", "b", "c", "d")
NODES = ("a", "b")


@pytest.fixture
def members(tmp_path: Path) -> Members:
    return members_at_free_ports(tmp_path, NAMES)


def records(members: Members, names: Sequence[str] = NAMES) -> dict[str, RunRecord]:
    """What each party knows of a run that began: of a client, the nodes alone."""
    run, plan_hash, approval = (secrets.token_hex(32) for _ in range(3))
    heads = {name: secrets.token_hex(32) for name in names}
    certificates = {name: members.certificate(name) for name in names}
    present = []
    for name in names:
        said = b"".join(map(bytes.fromhex, (run, plan_hash, approval, heads[name])))
        signature = Signer.of(members, name).sign("attendance", said)
        present.append({"name": name, "previous": heads[name], "signature": signature})

    def known(name: str) -> dict[str, object]:
        parties = [each for each in present if name in NODES or each["name"] in (*NODES, name)]
        return {"run": run, "plan_hash": plan_hash, "approval": approval, "parties": parties}

    return {name: RunRecord.of(known(name), certificates, DISCLOSURES) for name in names}


def close(members: Members, kept: dict[str, RunRecord], outcomes: dict[str, str]) -> dict[str, float]:
    """All that have an outcome close the run at once. How long each took."""
    took = {}

    def one(name: str) -> None:
        begin = time.monotonic()
        kept[name].sign(outcomes[name], Signer.of(members, name))
        others = [other for other in kept if other != name and (name in NODES or other in NODES)]
        Closing(members, name, others, kept[name]).run()
        took[name] = time.monotonic() - begin

    threads = [threading.Thread(target=one, args=(name,)) for name in outcomes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def test_all_have_what_all_have_signed_clients_too(members: Members) -> None:
    kept = records(members)
    took = close(members, kept, dict.fromkeys(NAMES, COMPLETED))
    for name, record in kept.items():
        assert record.missing == [] and set(record.previous) == set(NAMES), name
        assert list(record.problems()) == []
        assert {said.outcome for said in record.said.values()} == {COMPLETED}
    assert max(took.values()) < SECONDS[True], "nobody waits for what it has"


def test_those_that_are_left_sign_that_a_run_failed(members: Members) -> None:
    kept = records(members, ("a", "b", "c"))
    close(members, kept, {"a": FAILED, "c": FAILED})
    for name in ("a", "c"):
        assert kept[name].missing == ["b"] and list(kept[name].problems()) == []
        assert {said.outcome for said in kept[name].said.values()} == {FAILED}
        assert kept[name].previous["b"], "that it took part, b has signed before"


def test_ends_may_differ_and_both_are_kept(members: Members) -> None:
    kept = records(members, NODES)
    close(members, kept, {"a": COMPLETED, "b": FAILED})
    for record in kept.values():
        assert {name: said.outcome for name, said in record.said.items()} == {"a": COMPLETED, "b": FAILED}
        assert list(record.problems()) == []


def test_another_run_is_not_taken_over(members: Members) -> None:
    one, other = records(members, NODES), records(members, NODES)
    close(members, {"a": one["a"], "b": other["b"]}, {"a": FAILED, "b": FAILED})
    assert one["a"].missing == ["b"] and other["b"].missing == ["a"]


def test_strangers_and_nonsense_disturb_nobody(members: Members) -> None:
    kept = records(members, NODES)
    over = threading.Event()

    def knock() -> None:
        host, port = members.parties["b"].address.split(":")
        while not over.is_set():
            try:
                with socket.create_connection((host, int(port)), 1) as stranger:
                    stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            except OSError:
                time.sleep(0.01)

    thread = threading.Thread(target=knock)
    thread.start()
    close(members, kept, dict.fromkeys(NODES, COMPLETED))
    over.set()
    thread.join()
    assert all(record.missing == [] for record in kept.values())


def test_callers_that_say_nothing_keep_no_party_out(members: Members) -> None:
    """More of them than are answered at the same time, all before the first party calls."""
    kept = records(members, NODES)
    took: dict[str, float] = {}
    first = threading.Thread(target=lambda: took.update(close(members, kept, {"b": COMPLETED})))
    host, port = members.parties["b"].address.split(":")
    with ExitStack() as idle:
        first.start()
        while len(took) == 0:
            with suppress(ConnectionRefusedError):
                for _ in range(2 * MOST_CALLERS):
                    idle.enter_context(socket.create_connection((host, int(port)), 1))
                break
        took |= close(members, kept, {"a": COMPLETED})
        first.join()
    assert all(record.missing == [] for record in kept.values())
    assert max(took.values()) < SECONDS[True]


def test_what_is_not_signed_is_not_taken_over(members: Members) -> None:
    kept = records(members, NODES)
    a, b = kept["a"], kept["b"]
    b.sign(COMPLETED, Signer.of(members, "b"))
    good = b.said["b"]
    bad = [
        replace(good, outcome=FAILED),
        replace(good, signature="00" * 70),
        replace(good, presence=a.presence["a"]),
        replace(good, previous={**good.previous, "b": "11" * 32}),
        replace(good, previous={}),
    ]
    for said in bad:
        assert not a.take("b", said) and a.missing == ["a", "b"]
    assert not a.take("x", good) and not a.take("a", good), "it is said by b alone"
    assert a.take("b", good) and a.missing == ["a"]


@pytest.mark.parametrize("said", [None, 1, [], {}, {"outcome": "completed"}, {"outcome": 1}])
def test_what_is_no_end_is_told(said: object) -> None:
    with pytest.raises(ValueError, match="no end of a run"):
        Said.read(said)


def test_signatures_are_of_one_kind(members: Members) -> None:
    mine = Signer.of(members, "a")
    for context in ("entry", "approval", "attendance", "record", "answer"):
        signature = mine.sign(context, b"said")  # type: ignore[arg-type]  # each is one
        for read in ("entry", "approval", "attendance", "record", "answer"):
            found = _native.signed_by(mine.certificate, read, b"said", bytes.fromhex(signature))
            assert found == (read == context)

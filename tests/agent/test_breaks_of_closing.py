"""Attacks on the end of a run that once succeeded."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import pytest

from tacit.agent.closing import SECONDS, Closing
from tacit.agent.entry import canonical
from tacit.agent.federation_members import Members
from tacit.agent.record import COMPLETED, FAILED, RunRecord, Said

from .breaking import records
from .signing import Party


def closes(members: Members, kept: dict[str, RunRecord], parties: dict[str, Party], outcome: str) -> float:
    """How long one party needs to close a run, with two others at which something else answers."""
    kept["north"].sign(outcome, parties["north"].signer)
    begin = time.monotonic()
    Closing(members, "north", ["south", "helper"], kept["north"]).run()
    return time.monotonic() - begin


@pytest.mark.parametrize("outcome", [COMPLETED, FAILED])
def test_peers_that_take_calls_and_say_nothing_hold_nobody_up(
    members: Members, parties: dict[str, Party], outcome: str
) -> None:
    with contextlib.ExitStack() as stack:
        for name in ("south", "helper"):
            host, port = members.parties[name].address.split(":")
            stack.enter_context(socket.create_server((host, int(port))))  # takes calls, and never answers
        took = closes(members, records(parties), parties, outcome)
    assert took < SECONDS[outcome == COMPLETED] + 1


def test_callers_are_answered_by_few_threads(members: Members, parties: dict[str, Party]) -> None:
    host, port = members.parties["north"].address.split(":")
    most, over = [0], threading.Event()

    def knock() -> None:
        held: list[socket.socket] = []
        while not over.is_set():
            with contextlib.suppress(OSError):
                held.append(socket.create_connection((host, int(port)), 1))
            most[0] = max(most[0], threading.active_count())
            time.sleep(0.001)
        for each in held:
            each.close()

    thread = threading.Thread(target=knock)
    thread.start()
    closes(members, records(parties), parties, FAILED)
    over.set()
    thread.join()
    assert most[0] < 50


NONSENSE: list[bytes] = [
    b"[" * 60000,
    b'{"run": RUN, "said": 5}',
    b'{"run": RUN, "said": [[[], 1]]}',
    b'{"run": RUN, "said": [1]}',
    b'{"run": RUN, "said": {"south": {"outcome": "failed", "previous": [[]], "presence": "", "signature": ""}}}',
    b'{"run": RUN, "said": {"south": {"outcome": "failed", "previous": {"south": "\\ud800"}, "presence": "00", '
    b'"signature": "00"}}}',
]


@pytest.mark.parametrize("said", NONSENSE, ids=range(len(NONSENSE)))
def test_whatever_a_peer_says_is_an_error_of_its_own(members: Members, parties: dict[str, Party], said: bytes) -> None:
    kept = records(parties)["north"]
    kept.sign(COMPLETED, parties["north"].signer)
    closing = Closing(members, "north", ["south", "helper"], kept)
    with contextlib.suppress(ValueError):
        assert closing._take(said.replace(b"RUN", json.dumps(kept.run).encode())) == 0


def test_many_parties_close_a_run(parties: dict[str, Party], members: Members) -> None:
    """All that forty parties say is more than what a meeting may be."""
    from tacit.agent.closing import MOST_BYTES

    said = Said(COMPLETED, {f"hospital_number_{number}": "00" * 32 for number in range(40)}, "00" * 72, "00" * 72)
    assert len(canonical({f"hospital_number_{number}": said.json() for number in range(40)})) < MOST_BYTES

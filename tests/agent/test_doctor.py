"""What a doctor says of parties that answer: another version, another clock, other files, and one way only.

The other parties are meetings in this process, over the connections of real ones. One of them says what a test wants.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent import meeting
from tacit.agent.doctor import CLOCKS_APART, Check, peer_checks
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.agent.meeting import CHECKING, Meeting, Status
from tacit.cli.demo.scenario import free_ports, write_membership

ME, PEER, THIRD = "ours", "theirs", "third"
SOON = 10.0
"""Seconds for parties that answer at once."""
BRIEF = 1.0
"""Seconds for a party that never calls."""
OTHER = hashlib.sha256(b"another file").hexdigest()
NOT_AT_ONCE = 5.0
"""Seconds that a message may take, on a machine that is busy, by which clocks seem to differ less or more."""


@dataclass(frozen=True)
class OfAnotherClock(Status):
    """What a party says whose clock is some seconds ahead."""

    seconds: float = 0.0

    def write(self) -> bytes:
        """As it is sent, later."""
        told = json.loads(super().write())
        return json.dumps({**told, "clock": told["clock"] + self.seconds}).encode()


@pytest.fixture
def members(tmp_path: Path) -> Members:
    """Three parties with keys, whose addresses are free."""
    ports = dict(zip((ME, PEER, THIRD), free_ports(3), strict=True))
    found = Members.load(write_membership(tmp_path, 'engine = "rep3"', ports))
    make_keys(found, list(ports), replace=False)
    return found


@pytest.fixture(autouse=True)
def _swift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parties that call again soon, and are heard to end soon."""
    monkeypatch.setattr(meeting, "PAUSE", 0.05)


@contextmanager
def answering(members: Members, name: str, status: Status | None = None) -> Iterator[None]:
    """A party that answers this one and calls it, and says that nothing is wrong, or else something of its own."""
    told = status or Status.of(members, CHECKING)
    with Meeting(members, name, [ME], lambda: told, once=False):
        yield


def found(members: Members, peer: Status | None = None, third: Status | None = None) -> list[Check]:
    """This party's checks while both others answer, with what these say of themselves."""
    with answering(members, PEER, peer), answering(members, THIRD, third):
        return list(peer_checks(members, ME, SOON))


def wrong(checks: list[Check]) -> list[tuple[str, str]]:
    """What is found wrong, and by which check."""
    return [(check.subject, check.wrong) for check in checks if check.wrong]


def by_subject(checks: list[Check]) -> dict[str, Check]:
    """Checks of which no two have one subject."""
    subjects = {check.subject: check for check in checks}
    assert len(subjects) == len(checks), checks
    return subjects


def test_parties_that_agree_are_well(members: Members) -> None:
    checks = by_subject(found(members))
    assert not any(check.wrong for check in checks.values())
    for name in (PEER, THIRD):
        told = [f"{ME} to {name}", f"{name} to {ME}", f"tacit of {name}", f"clock of {name}", f"files of {name}"]
        assert [checks[subject].found for subject in told] == [
            "reached", "reached", _native.version(), "as here", "as here",
        ]  # fmt: skip
    assert checks[f"address {members.parties[ME].address}"].found == "free"


def test_another_version_is_named(members: Members) -> None:
    theirs = replace(Status.of(members, CHECKING), version="0.0.9")
    sentence = f"{PEER} runs 0.0.9, {_native.version()} runs here; all need the same version."
    assert wrong(found(members, theirs)) == [(f"tacit of {PEER}", sentence)]


@pytest.mark.parametrize("beyond", [-NOT_AT_ONCE, NOT_AT_ONCE])
def test_clocks_may_differ_by_a_minute_and_no_more(members: Members, beyond: float) -> None:
    apart, own = CLOCKS_APART + beyond, vars(Status.of(members, CHECKING))
    told = wrong(found(members, OfAnotherClock(**own, seconds=apart), OfAnotherClock(**own, seconds=-apart)))
    assert [subject for subject, _ in told] == ([f"clock of {PEER}", f"clock of {THIRD}"] if beyond > 0 else [])
    for (_, sentence), way in zip(told, ("ahead of", "behind"), strict=False):
        seconds = re.fullmatch(rf"it is (\d+) s {way} this one; set both by a time server\.", sentence)
        assert seconds and abs(int(seconds[1]) - apart) < NOT_AT_ONCE, sentence


def test_hashes_that_differ_are_named_with_whose_file_is_right(members: Members) -> None:
    own = Status.of(members, CHECKING)
    advice = {
        "federation.toml": f"agree with {PEER} on one, and copy it",
        "prices.toml": f"agree with {PEER} on one, and copy it",
        f"offers/{ME}.toml": f"copy yours to {PEER}",
        f"certificate of {ME}": f"copy yours to {PEER}",
        f"offers/{PEER}.toml": f"copy it from {PEER}",
        f"certificate of {PEER}": f"copy it from {PEER}",
        f"offers/{THIRD}.toml": f"copy it from {THIRD}",
        f"certificate of {THIRD}": f"copy it from {THIRD}",
    }
    assert advice.keys() == own.files.keys()
    silent = {file: value for file, value in own.files.items() if file != f"offers/{PEER}.toml"}
    told = wrong(found(members, replace(own, files=dict.fromkeys(own.files, OTHER)), replace(own, files=silent)))
    *all_files, unsaid = told
    sentences = {f"{PEER} holds another {file} than {ME}; {what}." for file, what in advice.items()}
    assert set(all_files) == {(f"files of {PEER}", sentence) for sentence in sentences}
    assert unsaid == (f"files of {THIRD}", f"{THIRD} holds another offers/{PEER}.toml than {ME}; copy it from {PEER}.")


@pytest.fixture
def astray(members: Members) -> Members:
    """The membership as the peer has it, in which this party's address is one at which nobody listens."""
    (port,) = free_ports(1)
    elsewhere = replace(members.parties[ME], address=f"127.0.0.1:{port}")
    return replace(members, parties={**members.parties, ME: elsewhere})


def test_who_is_reached_and_does_not_call_is_told_to(members: Members, astray: Members) -> None:
    """The way back is closed: files, clock and version are compared all the same."""
    theirs = replace(Status.of(members, CHECKING), version="0.0.9")
    with answering(astray, PEER, theirs), answering(members, THIRD):
        checks = by_subject(list(peer_checks(members, ME, BRIEF)))
    assert {name for name, check in checks.items() if check.wrong} == {f"{PEER} to {ME}", f"tacit of {PEER}"}
    assert checks[f"{ME} to {PEER}"].found == "reached"
    assert checks[f"{PEER} to {ME}"].wrong == (
        f"{PEER} has not called; run `tacit doctor` there at the same time, "
        f"and let it reach {members.parties[ME].address}."
    )
    assert checks[f"files of {PEER}"].found == "as here"


def test_who_calls_and_is_not_reached_is_told_why(members: Members, astray: Members) -> None:
    """The other end of such a way: this party's copy has the wrong address."""
    theirs = replace(Status.of(members, CHECKING), version="0.0.9")
    with Meeting(members, ME, [PEER, THIRD], lambda: theirs, once=False), answering(members, THIRD):
        checks = by_subject(list(peer_checks(astray, PEER, BRIEF)))
    assert checks[f"{PEER} to {ME}"].wrong == (
        f"nobody listens at {astray.parties[ME].address}; start tacit there, or correct the address of {ME}."
    )
    assert checks[f"{ME} to {PEER}"].found == "reached"
    assert checks[f"tacit of {ME}"].wrong.startswith(f"{ME} runs 0.0.9, ")
    assert checks[f"files of {ME}"].found == "as here"


def test_a_port_in_use_ends_the_checks_of_others(members: Members) -> None:
    host, port = members.parties[ME].address.split(":")
    with socket.create_server((host, int(port))):
        (check,) = peer_checks(members, ME, SOON)
    assert check.subject == "other parties"
    assert check.wrong == (
        f"this party cannot listen on its address {host}:{port} (Address already in use); "
        "free the port or choose another."
    )


def test_another_party_in_the_place_of_the_peer_is_named(members: Members) -> None:
    """Two addresses were mistaken for each other: the answer comes from a party, but not from this one."""
    swapped = {
        PEER: replace(members.parties[PEER], address=members.parties[THIRD].address),
        THIRD: replace(members.parties[THIRD], address=members.parties[PEER].address),
    }
    with answering(members, PEER), answering(members, THIRD):
        mistaken = replace(members, parties={**members.parties, **swapped})
        checks = by_subject(list(peer_checks(mistaken, ME, BRIEF)))
    for name in (PEER, THIRD):
        address = swapped[name].address
        sentence = f"{address} shows another certificate than {name}'s here; get its present one."
        assert checks[f"{ME} to {name}"].wrong == sentence
        assert checks[f"{name} to {ME}"].found == "reached"

"""Whom a party waits for before a run, by what the others have said so far."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.meeting import COMPUTING, READY, STOPPED, Meeting, Status, gather
from tacit.agent.waiting import Waiting
from tacit.cli.demo.scenario import free_ports, write_membership

NODES = ("north", "south")
CLIENT, AWAY = "west", "central"
WAITS = Status(READY, missing=(AWAY,))


@pytest.fixture
def members(tmp_path: Path) -> Members:
    names = (*NODES, CLIENT, AWAY)
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    return Members.load(write_membership(tmp_path, 'engine = "two"', ports))


def waited_for(
    members: Members,
    monkeypatch: pytest.MonkeyPatch,
    heard: dict[str, Status],
    reached: dict[str, Status],
    agreed: dict[str, str] | None = None,
) -> str:
    """What a client that calls the nodes alone says after half a second in which the nodes have said this.

    agreed: what it has started.
    """

    class Said(Meeting):
        def __enter__(self) -> Meeting:
            for where, said in ((self.heard, heard), (self.reached, reached)):
                for name, status in said.items():
                    self._note(where, name, status)
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("tacit.agent.meeting.Meeting", Said)
    own = Status(READY, agreed=agreed or {})
    try:
        gather(members, CLIENT, NODES, own, 0.5, lambda names: None, (AWAY,), then_connect=True)
    except RunError as error:
        return error.sentence
    return "none"


def test_a_client_waits_for_whom_the_nodes_miss_though_it_has_reached_none(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All nodes may call a client before one of its own calls is answered."""
    sentence = waited_for(members, monkeypatch, dict.fromkeys(NODES, WAITS), {})
    assert sentence == f"waited in vain for {AWAY} ({AWAY}: others wait for it)."


def test_a_client_goes_on_when_the_nodes_miss_nobody(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    assert waited_for(members, monkeypatch, dict.fromkeys(NODES, Status(READY)), {}) == "none"


def test_what_a_node_says_when_called_comes_after_its_own_call(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that has found all others is in the run, where it calls nobody here any more."""
    called = dict.fromkeys(NODES, Status(COMPUTING))
    assert waited_for(members, monkeypatch, dict.fromkeys(NODES, WAITS), called) == "none"
    assert AWAY in waited_for(members, monkeypatch, dict.fromkeys(NODES, Status(READY)), dict.fromkeys(NODES, WAITS))


def test_a_party_that_stops_tells_what_it_has_started(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    """A party that finds what differs ends. One that comes later hears only that, and is told the same."""
    told: list[Status] = []
    monkeypatch.setattr("tacit.agent.waiting.tell_stopped", lambda members, me, others, own, linger: told.append(own))
    differs = RunError(Fault.PEER, f"{CLIENT} has started something else: --key is a here and b at {CLIENT}; agree.")

    def ends(*args: object, **options: object) -> None:
        raise differs

    monkeypatch.setattr("tacit.agent.waiting.gather", ends)
    first = Waiting(members, "south", [CLIENT], 1.0, lambda event: None, agreed={"--key": "a"})
    with pytest.raises(RunError):
        first.gather()
    monkeypatch.undo()
    assert [(each.state, each.agreed) for each in told] == [(STOPPED, {"--key": "a"})]
    later = waited_for(members, monkeypatch, {"south": told[0]}, {}, agreed={"--key": "b"})
    assert later.startswith("south has started something else: --key is b here and a at south"), later
    alike = waited_for(members, monkeypatch, {"south": told[0]}, {}, agreed={"--key": "a"})
    assert alike == f"south cannot take part: {CLIENT} has started something else."

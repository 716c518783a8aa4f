"""Five hospitals, of which three or two compute, and a registry: owners are away, or any party dies in the middle."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.cli.demo.check import pooled_rows
from tacit.cli.demo.hospitals import HOSPITALS, SCENARIO

from .organisations import Consortium, End, Organisation, alive, children, listens, wait_until
from .test_disagreement import ends
from .test_peers_that_vanish import GONE, assert_ended_by, computing_processes

AWAY = "central"
"""An owner that is no node."""
TABLE = f"operations_{AWAY}"
INPUT = 2
SCENARIOS = {
    "rep3": SCENARIO,
    "two": replace(SCENARIO, engine="two", parties=HOSPITALS[:2], clients=(*HOSPITALS[2:], "registry")),
}
"""The same question under each engine."""


def offer_as_delivered(hospitals: Consortium) -> None:
    """All parties have the offer of the owner that will be away."""
    for party in hospitals.parties:
        path = hospitals.home(party) / "offers" / f"{AWAY}.toml"
        path.write_text(path.read_text().replace(f"[tables.{TABLE}]", f"[tables.{TABLE}]\ndelivered = true"))


def present(hospitals: Consortium) -> list[str]:
    """The parties but the owner that is away."""
    return [party for party in hospitals.parties if party != AWAY]


def asked(hospitals: Consortium, parties: list[str]) -> dict[str, End]:
    """The ends of these parties' processes."""
    return ends({party: hospitals.start(party) for party in parties})


@pytest.mark.parametrize("engine", ["rep3", pytest.param("two", marks=pytest.mark.nightly)])
def test_an_owner_that_has_delivered_may_be_away(engine: str, tmp_path: Path) -> None:
    """It has no process at all: nobody misses it, in contrast to an owner that is to give its rows itself."""
    scenario = SCENARIOS[engine]
    with Consortium(tmp_path, scenario=scenario) as hospitals:
        offer_as_delivered(hospitals)
        # Nothing is delivered yet: no party calls another.
        for party, end in asked(hospitals, present(hospitals)).items():
            assert end.status == INPUT
            assert f"{AWAY} offers {TABLE} as delivered, and no delivery of it is here" in end.sentence()
            assert hospitals.kinds(party) == []
        deliver = ["deliver", TABLE, "--wait", "60s", "--name"]
        delivering = {party: hospitals.run(party, *deliver, party) for party in (*scenario.parties, AWAY)}
        for party, organisation in delivering.items():
            end = organisation.end()
            assert end.status == 0, end.stderr
            assert f"{party} has done its part of the delivery of {TABLE}." in end.stdout
            assert hospitals.kinds(party) == ["approved", "completed"]
        (approved, completed) = hospitals.ledger(AWAY)
        assert approved["keeps"][0]["table"] == f"{AWAY}.{TABLE}"
        kept = [hospitals.ledger(node)[1]["kept"] for node in scenario.parties]
        assert kept == [kept[0]] * len(scenario.parties) and kept[0]["rows"] == 20
        # Who is no node copies the public files anew.
        for party in (party for party in scenario.clients if party != AWAY):
            shutil.copytree(hospitals.home("north") / "kept", hospitals.home(party) / "kept")
        found = asked(hospitals, present(hospitals))
        assert {end.status for end in found.values()} == {0}, found
        listed = [line.split(",")[0] for line in found["registry"].stdout.splitlines()[1:]]
        assert listed == [str(row[0]) for row in pooled_rows(scenario, hospitals.folder / "drafts")]
        assert hospitals.ledger(AWAY) == [approved, completed]
        for party in present(hospitals):
            (read,) = hospitals.ledger(party)[-2]["reads"]
            assert (read["id"], read["table"]) == (kept[0]["id"], f"{AWAY}.{TABLE}")
        # Each node withdraws for itself.
        withdraw = ["deliver", TABLE, "--withdraw", "--name"]
        assert (
            hospitals.run("north", *withdraw, "north")
            .end()
            .stdout.endswith(f"north has removed its part of the delivery of {TABLE}.\n")
        )
        assert hospitals.ledger("north")[-1]["dropped"]["id"] == kept[0]["id"]
        again = {party: hospitals.run(party, *withdraw, party).end().sentence() for party in ("north", AWAY)}
        assert f"no part of a delivery of {TABLE} is here" in again["north"]
        assert f"{AWAY} is no node and has no part of" in again[AWAY]
        assert "no delivery of it is here" in hospitals.start("north").end().sentence()


@pytest.mark.nightly
@pytest.mark.parametrize("engine", SCENARIOS)
def test_an_owner_that_dies_while_it_delivers_has_delivered_nothing(engine: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[engine]
    with Consortium(tmp_path, "connect_timeout = 20\nidle_timeout = 2\nlatency = 0.5", scenario) as hospitals:
        offer_as_delivered(hospitals)
        deliver = ["deliver", TABLE, "--name"]
        running = {party: hospitals.run(party, *deliver, party) for party in (*scenario.parties, AWAY)}
        wait_until(lambda: all(listens(hospitals.address(party)) for party in running), running.values())
        time.sleep(1)
        (worker,) = children(running[AWAY].process.pid)
        os.kill(worker, signal.SIGKILL)
        ends_of_nodes = {node: running[node].end() for node in scenario.parties}
        # Of two nodes that make transfers ahead, the one that misses it first ends the other one's second session.
        named = [f'party "{AWAY}" is gone' in end.stderr for end in ends_of_nodes.values()]
        assert all(named) or (engine == "two" and any(named)), ends_of_nodes
        for node, end in ends_of_nodes.items():
            assert end.status == GONE and ("is gone" in end.stderr or "it lost a peer" in end.stderr), end
            assert "has done its part" not in end.stdout
            assert hospitals.kinds(node) == ["approved", "failed"]
            assert [path for path in (hospitals.private(node) / "kept").rglob("*") if path.is_file()] == []
            assert "no delivery of it is here" in hospitals.start(node).end().sentence()
        assert running[AWAY].end().stderr.endswith("the party's process ended unexpectedly (signal SIGKILL).\n")


def test_an_owner_that_has_not_delivered_is_missed(tmp_path: Path) -> None:
    """Owners and recipients that are no nodes call the nodes alone, and hear of it from them."""
    with Consortium(tmp_path, scenario=SCENARIO) as hospitals:
        waiting = {party: hospitals.start(party, None, "--wait", "12s") for party in present(hospitals)}
        for party, end in ends(waiting).items():
            assert end.status == GONE, party
            assert "waited in vain for " in end.sentence() and f"{AWAY}: " in end.sentence(), (party, end)
            assert hospitals.kinds(party) == []


def test_without_a_wait_all_miss_it_by_name(tmp_path: Path) -> None:
    with Consortium(tmp_path, "connect_timeout = 8", scenario=SCENARIO) as hospitals:
        for party, end in asked(hospitals, present(hospitals)).items():
            assert end.status == GONE, party
            assert f"waited in vain for {AWAY} ({AWAY}: " in end.sentence(), (party, end)
            assert hospitals.kinds(party) == [], "it approved nothing"


def test_who_comes_last_is_waited_for_by_all(tmp_path: Path) -> None:
    """A party that is no node would not be waited for so long once it connects."""
    with Consortium(tmp_path, "connect_timeout = 4", scenario=SCENARIO) as hospitals:
        running = {party: hospitals.start(party, None, "--wait", "60s") for party in present(hospitals)}
        for party, organisation in running.items():
            wait_until(lambda party=party, o=organisation: f"{party} waits for {AWAY}\n" in o.stderr(), [organisation])  # type: ignore[misc]
        time.sleep(5)
        running[AWAY] = hospitals.start(AWAY, None, "--wait", "60s")
        assert {end.status for end in ends(running).values()} == {0}


@pytest.mark.parametrize(
    ("engine", "victim"),
    [
        ("rep3", "south"),
        ("rep3", AWAY),
        ("rep3", "registry"),
        ("two", "south"),
        pytest.param("two", AWAY, marks=pytest.mark.nightly),
        pytest.param("two", "registry", marks=pytest.mark.nightly),
    ],
)
def test_whoever_dies_ends_the_run_for_all(engine: str, victim: str, tmp_path: Path) -> None:
    """A node, an owner that is no node, a recipient that is no node: all others name it, also who never meets it.

    Of two nodes that make transfers ahead, the one that misses a client first ends the other one's second session.
    """
    network = "connect_timeout = 20\nidle_timeout = 2\nlatency = 0.05"
    with Consortium(tmp_path, network, SCENARIOS[engine]) as hospitals:
        running: dict[str, Organisation] = hospitals.start_all()
        worker = computing_processes(hospitals, running)[victim]
        assert alive(worker), running[victim].stderr()
        killed = time.monotonic()
        os.kill(worker, signal.SIGKILL)
        client_of_two = engine == "two" and victim not in SCENARIOS[engine].parties
        assert_ended_by(victim, running, hospitals, killed, all_name_it=not client_of_two)
        assert {running[party].end().stdout for party in hospitals.parties} == {""}
        end = running[victim].end()
        assert end.sentence() == f"{victim}: the party's process ended unexpectedly (signal SIGKILL)."

"""``tacit doctor`` says what is wrong: at home, between parties, and which files differ."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.channel import secure
from tacit.agent.federation_members import Members
from tacit.agent.meeting import PROTOCOL, READY, Status, call

from .organisations import PARTIES, QUERY, Consortium, End, listens, wait_until

WRONG = 2
EXAMPLE_PRICES = Path(__file__).parents[2] / "docs" / "examples" / "prices.toml"


def doctors(consortium: Consortium, parties: tuple[str, ...] = PARTIES, patience: str = "40s") -> dict[str, End]:
    """What all parties' doctors say that run at the same time."""
    running = {party: consortium.run(party, "doctor", "--name", party, "--wait", patience) for party in parties}
    return {party: organisation.end() for party, organisation in running.items()}


def wrong(end: End) -> dict[str, str]:
    """What is found wrong, by the check."""
    flat = re.sub(r"\n {10,}", " ", re.sub(r" +$", "", end.stdout, flags=re.M))
    found = {line.split("  ")[0]: line for line in flat.splitlines() if re.search(r"  wrong  ", line)}
    assert (end.status == WRONG) == bool(found), end.stdout
    assert ("all is well" in end.stdout) == (not found)
    return {check: re.split(r"  wrong  +", line)[1].strip() for check, line in found.items()}


def alone(consortium: Consortium, party: str = "bureau_a") -> dict[str, str]:
    """What a party's own files have wrong."""
    found = wrong(doctors(consortium, (party,), "1s")[party])
    return {check: what for check, what in found.items() if " to " not in check}


@pytest.mark.usefixtures("new_interpreters")
def test_parties_that_are_set_up_are_well(consortium: Consortium) -> None:
    ends = doctors(consortium)
    assert {party: end.status for party, end in ends.items()} == dict.fromkeys(PARTIES, 0), ends
    for party, end in ends.items():
        assert wrong(end) == {}
        assert all(f"{other} to {party}" in end.stdout for other in PARTIES if other != party)
    assert "20 rows are as offered" in ends["bureau_a"].stdout


def test_files_that_differ_are_named_with_whom_to_ask(consortium: Consortium) -> None:
    consortium.edit("bureau_a", "[tables.scores_a]", "# mine\n[tables.scores_a]")
    (consortium.home("regulator") / "federation.toml").open("a").write("# mine\n")
    ends = doctors(consortium)
    own, other = "offers/bureau_a.toml", "federation.toml"
    assert wrong(ends["bureau_b"]) == {
        "files of regulator": f"regulator holds another {other} than bureau_b; "
        "agree with regulator on one, and copy it.",
        "files of bureau_a": f"bureau_a holds another {own} than bureau_b; copy it from bureau_a.",
    }
    assert wrong(ends["bureau_a"])["files of bureau_b"] == (
        f"bureau_b holds another {own} than bureau_a; copy yours to bureau_b."
    )


def test_prices_that_one_party_lacks_are_named(consortium: Consortium) -> None:
    shutil.copy(EXAMPLE_PRICES, consortium.home("bureau_b") / "prices.toml")
    ends = doctors(consortium)
    sentence = "bureau_b holds another prices.toml than regulator; agree with bureau_b on one, and copy it."
    assert wrong(ends["regulator"]) == {"files of bureau_b": sentence}


def test_who_does_not_answer_is_named(consortium: Consortium) -> None:
    found = wrong(doctors(consortium, ("regulator", "bureau_a"), "3s")["regulator"])
    host, port = consortium.address("bureau_b")
    assert found == {
        "regulator to bureau_b": f"nobody listens at {host}:{port}; "
        "start tacit there, or correct the address of bureau_b.",
        "bureau_b to regulator": "bureau_b has not called; run `tacit doctor` there at the same time, and let it reach "
        f"127.0.0.1:{consortium.address('regulator')[1]}.",
    }


def test_another_key_is_told_at_both_ends(consortium: Consortium) -> None:
    """A party made a new pair and told nobody."""
    key, certificate = _native.generate_keys("bureau_a")
    (consortium.private("bureau_a") / "bureau_a.key").write_bytes(key)
    (consortium.home("bureau_a") / "keys" / "bureau_a.crt").write_text(certificate)
    ends = doctors(consortium, ("regulator", "bureau_a"), "20s")
    assert "shows another certificate than bureau_a's here" in wrong(ends["regulator"])["regulator to bureau_a"]
    assert "certificate" in wrong(ends["bureau_a"])["bureau_a to regulator"]


def test_who_waits_for_a_run_answers(consortium: Consortium) -> None:
    waiting = [consortium.start(party, QUERY, "--wait", "60s") for party in ("regulator", "bureau_b")]
    for organisation in waiting:
        wait_until(lambda each=organisation: " waits for bureau_a\n" in each.stderr(), [organisation])  # type: ignore[misc]
    assert wrong(doctors(consortium, ("bureau_a",))["bureau_a"]) == {}
    waiting.append(consortium.start("bureau_a", QUERY, "--wait", "60s"))
    assert [organisation.end().status for organisation in waiting] == [0, 0, 0]


def say_it_is_ready(consortium: Consortium, party: str, to: str) -> None:
    """As a party that has all it needs for the run, so that the other one goes on to connect."""
    members = Members.load(consortium.federation(party), consortium.private(party))
    client = secure(members, party, [to], ssl.PROTOCOL_TLS_CLIENT, PROTOCOL)
    assert call(members, to, client, Status.of(members, READY)).state == READY


@pytest.mark.nightly
def test_a_doctor_disturbs_no_run_that_connects(consortium: Consortium) -> None:
    """A party of a run calls a doctor, which is at the address of one that it looks for, and goes on looking."""
    running = {"bureau_b": consortium.start("bureau_b")}
    wait_until(lambda: listens(consortium.address("bureau_b")), running.values())
    for party in ("bureau_a", "regulator"):
        say_it_is_ready(consortium, party, "bureau_b")
    end = doctors(consortium, ("bureau_a",), "3s")["bureau_a"]
    assert re.search(r"bureau_a to bureau_b +ok +a run is under way there", end.stdout), end.stdout
    assert set(wrong(end)) == {"bureau_a to regulator", "regulator to bureau_a", "bureau_b to bureau_a"}
    running |= {party: consortium.start(party) for party in ("bureau_a", "regulator")}
    assert {organisation.end().status for organisation in running.values()} == {0}, running["bureau_b"].stderr()


def test_ones_own_mistakes_are_found(consortium: Consortium) -> None:
    home, private = consortium.home("bureau_a"), consortium.private("bureau_a")
    scores = home / "bureau_a" / "scores_a.csv"
    scores.write_text(scores.read_text().replace("score", "points"))
    (private / "bureau_a.key").write_bytes(_native.generate_keys("bureau_a")[0])
    (private / "bureau_a.key").chmod(0o640)
    (private / "ledger").mkdir(mode=0o700)
    (private / "ledger" / "bureau_a.jsonl").write_text("{}\n")
    (home / "keys" / "regulator.crt").unlink()
    found = alone(consortium)
    assert set(found) >= {"key", "private files", "certificate of regulator", "table scores_a", "ledger"}
    assert "is not the key of" in found["key"]
    assert "bureau_a.key is open to others of this machine; `chmod 600" in found["private files"]
    told = found["certificate of regulator"]
    assert "regulator makes it with `tacit keys --name regulator` at its own machine, others get a copy" in told
    assert "changed after it was written" in found["ledger"]


def test_what_others_may_read_is_told(consortium: Consortium) -> None:
    private = consortium.private("bureau_a")
    (private / "bureau_a.toml").chmod(0o644)
    assert alone(consortium) == {}, "nobody else comes into the folder"
    private.chmod(0o755)
    assert alone(consortium)["private files"].endswith(
        "private is open to others of this machine; `chmod 700 private` closes it."
    )


def test_an_address_in_use_is_named(consortium: Consortium) -> None:
    with socket.create_server(consortium.address("bureau_a")):
        found = alone(consortium)
    ((check, sentence),) = found.items()
    assert check == "other parties"
    assert f"its address 127.0.0.1:{consortium.address('bureau_a')[1]} (Address already in use" in sentence


@pytest.mark.parametrize("spoil", ["engine = 3\n", "[tables.x]\n"])
def test_a_federation_file_with_a_mistake_is_told(spoil: str, consortium: Consortium) -> None:
    path = consortium.federation("bureau_a")
    path.write_text(spoil + path.read_text())
    end = doctors(consortium, ("bureau_a",), "1s")["bureau_a"]
    assert end.status == WRONG
    assert "federation.toml" in end.stdout + end.stderr


def test_a_doctor_leaves_nothing_behind(consortium: Consortium) -> None:
    before = files(consortium.folder)
    doctors(consortium, ("bureau_a",), "1s")
    assert files(consortium.folder) == before


def files(folder: Path) -> set[Path]:
    """All files but what commands have printed."""
    return {path for path in folder.rglob("*") if path.suffix not in (".stdout", ".stderr")}

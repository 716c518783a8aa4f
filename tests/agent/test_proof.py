"""The certificate of an answer's file: of this file, this run, and all its parties."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.proof import Proof, beside, check

from .signing import Party, run

NAMES = ("north", "south", "helper")


@pytest.fixture
def answer(parties: dict[str, Party], tmp_path: Path) -> Path:
    run([*parties.values()], "SELECT 1")
    north, file = parties["north"], tmp_path / "answer.csv"
    file.write_text("n\n1\n")
    Proof(north.entries()[-1], north.signer).certify(file)
    return file


def refused(file: Path, members: Members) -> str:
    with pytest.raises(RunError) as caught:
        check(file, members)
    assert caught.value.fault is Fault.INPUT
    return str(caught.value)


def test_a_certificate_is_of_file_run_and_parties(answer: Path, members: Members, parties: dict[str, Party]) -> None:
    found = check(answer, members)
    entry = parties["north"].entries()[-1]
    assert (found.recipient, found.run, found.plan_hash) == ("north", entry["attendance"]["run"], entry["plan_hash"])
    assert set(found.signers) == set(NAMES)
    assert "SELECT" not in beside(answer).read_text(), "it does not say what was asked"


def test_a_changed_file_is_told(answer: Path, members: Members) -> None:
    answer.write_text("n\n2\n")
    assert "is not the file that north has signed" in refused(answer, members)


def changed(file: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(beside(file).read_text())
    change(content)
    beside(file).write_text(json.dumps(content))


CHANGES: dict[str, tuple[Callable[[Any], None], str]] = {
    "another recipient": (lambda said: said.update(recipient="south"), "south has not signed its certificate"),
    "a stranger": (lambda said: said.update(recipient="mallory"), "of no party of this federation"),
    "another plan": (lambda said: said.update(plan_hash="ab" * 32), "north has not signed its certificate"),
    "another run": (lambda said: said.update(run="ab" * 32), "north has not signed its certificate"),
    "no signature": (lambda said: said.pop("signature"), "north has not signed its certificate"),
    "no record": (lambda said: said["record"].pop("parties"), "no proper record of a run"),
    "another end": (
        lambda said: said["record"]["parties"]["south"].update(outcome="failed"), "south has not signed how it ended"),
    "other disclosures": (lambda said: said["record"].update(disclosures="ab" * 32), "has not signed how it ended"),
    "another approval": (
        lambda said: said["attendance"].update(approval="ab" * 32), "has not signed that it took part"),
    "no other parties": (
        lambda said: (said.pop("record"), said.pop("attendance")), "no proper record of a run"),
    "fewer parties": (
        lambda said: (said.pop("record"), said.update(parties=["north"])), "north has not signed its certificate"),
    "a party less": (lambda said: said["record"]["parties"].pop("helper"), "helper did not sign the end of the run"),
    "another certificate": (
        lambda said: said["attendance"]["parties"]["south"].update(
            certificate=said["attendance"]["parties"]["north"]["certificate"]),
        "under another certificate of south than the one here"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_certificate_is_told(answer: Path, members: Members, name: str) -> None:
    change, told = CHANGES[name]
    changed(answer, change)
    assert told in refused(answer, members)


def test_a_certificate_of_another_run_is_told(answer: Path, members: Members, parties: dict[str, Party]) -> None:
    """The signatures of a second run under the recipient's signature of the first one."""
    run([*parties.values()], "SELECT 2")
    later = copy.deepcopy(parties["north"].entries()[-1])
    changed(answer, lambda said: said.update(attendance=later["attendance"], record=later["record"]))
    assert "has not signed" in refused(answer, members)


def test_a_run_that_failed_at_a_party_proves_nothing(
    members: Members, parties: dict[str, Party], tmp_path: Path
) -> None:
    run([*parties.values()], "SELECT 1", silent=["south"])
    file = tmp_path / "answer.json"
    file.write_text("[]")
    Proof(parties["north"].entries()[-1], parties["north"].signer).certify(file)
    assert "south did not sign the end of the run" in refused(file, members)


def test_of_a_run_by_one_party_that_party_alone_has_signed(
    members: Members, parties: dict[str, Party], tmp_path: Path
) -> None:
    north, file = parties["north"], tmp_path / "answer.parquet"
    file.write_bytes(b"PAR1")
    approved = north.ledger.append("approved", {"party": "north", "plan_hash": "ab" * 32})
    entry = north.ledger.append("completed", {"run": approved["hash"], "plan_hash": "ab" * 32})
    Proof(entry, north.signer).certify(file)
    assert check(file, members).signers == ("north",)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"tacit_answer": 2}', b"\xff"])
def test_what_is_no_certificate_is_told(answer: Path, members: Members, content: bytes) -> None:
    beside(answer).write_bytes(content)
    assert "is no certificate of an answer" in refused(answer, members)


def test_a_missing_certificate_is_told(answer: Path, members: Members) -> None:
    beside(answer).unlink()
    assert "is not there" in refused(answer, members)

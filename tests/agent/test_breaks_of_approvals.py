"""Attacks on certificates of answers and on approvals that once succeeded, or still do."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from tacit.agent.approval import approve, usable
from tacit.agent.entry import JSON
from tacit.agent.faults import RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import LedgerError
from tacit.agent.proof import Proof, beside, check
from tacit.cli.main import main

from .breaking import PLAN, as_if_alone, without
from .signing import Party, run


@pytest.fixture
def answer(parties: dict[str, Party], tmp_path: Path) -> Path:
    run([*parties.values()], "SELECT 1")
    file = tmp_path / "answer.csv"
    file.write_text("n\n1\n")
    Proof(parties["north"].entries()[-1], parties["north"].signer).certify(file)
    return file


def refused(file: Path, members: Members) -> str:
    with pytest.raises(RunError) as caught:
        check(file, members)
    return str(caught.value)


def test_a_recipient_cannot_leave_a_party_out(answer: Path, members: Members, parties: dict[str, Party]) -> None:
    """One, say, that signed that the run failed."""
    entry = copy.deepcopy(parties["north"].entries()[-1])
    without("south")(entry)
    Proof(entry, parties["north"].signer).certify(answer)
    assert "south, which it leaves out" in refused(answer, members)


def test_a_recipient_that_says_it_was_alone_is_told_so(
    answer: Path, members: Members, parties: dict[str, Party], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = copy.deepcopy(parties["north"].entries()[-1])
    as_if_alone(entry)
    Proof(entry, parties["north"].signer).certify(answer)
    assert main(["verify", str(answer), "--federation", str(members.path)]) == 0
    assert "signed by north alone" in capsys.readouterr().out


OF_CERTIFICATES: dict[str, Callable[[str], str]] = {
    "a member twice": lambda text: text.replace('"plan_hash":', '"plan_hash": "00",\n "plan_hash":', 1),
    "a member more": lambda text: text.replace('"plan_hash":', '"query": "SELECT 9",\n "plan_hash":', 1),
    "no number": lambda text: json.dumps(json.loads(text) | {"plan_hash": float("nan")}),
    "no text": lambda text: json.dumps(json.loads(text) | {"run": "\ud800"}),
    "another certificate": lambda text: json.dumps(json.loads(text) | {"certificate": "none"}),
}


@pytest.mark.parametrize("name", OF_CERTIFICATES)
def test_a_certificate_has_one_reading_and_nothing_beside(answer: Path, members: Members, name: str) -> None:
    path = beside(answer)
    path.write_text(OF_CERTIFICATES[name](path.read_text()))
    refused(answer, members)


def used(party: Party, day: date) -> JSON:
    return party.ledger.append(
        "approved", lambda entries: {"plan_hash": PLAN, "by": usable(entries, party.signer, PLAN, day)}
    )


def test_a_clock_that_is_set_back_makes_no_approval_valid_again(
    parties: dict[str, Party], monkeypatch: pytest.MonkeyPatch
) -> None:
    north = parties["north"]
    approve(north.ledger, north.signer, PLAN, None, 9, date(2026, 1, 1))  # the entry itself is of a later day
    approve(north.ledger, north.signer, PLAN[::-1], None, 9, date(2027, 1, 1))
    with pytest.raises(RunError, match="which is over"):
        usable(north.entries(), north.signer, PLAN, date(2025, 12, 31))


@pytest.mark.xfail(strict=True, reason="a ledger that is cut off at its end is a proper one; only others' copies tell")
def test_uses_that_are_cut_off_at_the_end_still_count(parties: dict[str, Party]) -> None:
    north = parties["north"]
    approve(north.ledger, north.signer, PLAN, None, 1, date(2099, 1, 1))
    used(north, date(2027, 1, 1))
    north.put(north.entries()[:-1])
    with pytest.raises((RunError, LedgerError)):
        used(north, date(2027, 1, 1))


def test_processes_do_not_share_an_approval(parties: dict[str, Party]) -> None:
    """Two that start at once, of one run that is approved."""
    north = parties["north"]
    approve(north.ledger, north.signer, PLAN, None, 3, date(2099, 1, 1))
    pids = []
    for _ in range(6):
        pid = os.fork()
        if not pid:
            try:
                used(north, date(2027, 1, 1))
            except RunError:
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    assert sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids) == [0, 0, 0, 1, 1, 1]

"""Attacks on ledgers that once succeeded, or still do: on a party's own, and what peers sign of others'."""

from __future__ import annotations

from datetime import date

import pytest

from tacit.agent.approval import approve, usable
from tacit.agent.entry import JSON, chained
from tacit.agent.ledger import LedgerError
from tacit.agent.record import COMPLETED, FAILED, RunRecord

from .breaking import PLAN, Change, accusing, as_if_alone, audit, records, resigned, with_copy_of, without
from .signing import Party, run


def test_a_false_claim_about_the_own_ledger_is_not_taken_over(parties: dict[str, Party]) -> None:
    """It would stay in the own ledger, and make that look rewritten for ever."""
    kept = records(parties)["north"]
    kept.sign(COMPLETED, parties["north"].signer)
    assert not kept.take("south", accusing(kept, parties["south"].signer, "north"))
    assert kept.missing == ["south", "helper"] and list(kept.problems()) == []


def test_a_false_claim_about_a_third_ledger_is_noted_and_no_problem_of_ones_own(parties: dict[str, Party]) -> None:
    """Whoever signs it could make the ledgers of all others fail for ever."""
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    record = RunRecord.read(last)
    said = accusing(record, parties["south"].signer, "helper")
    ended = {"outcome": said.outcome, "previous": dict(said.previous), "signature": said.signature}
    last["record"]["parties"]["south"] = ended
    north.put(resigned(north, [*before, last]))
    found = audit(north)
    assert found.problems == []
    assert any("south has signed another ledger of helper" in note for note in found.notes), found.notes


def test_what_others_sign_does_not_block_approvals(parties: dict[str, Party]) -> None:
    """Approvals are counted in the own entries. What a peer has signed of this party does not end them."""
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    said = accusing(RunRecord.read(last), parties["south"].signer, "north")
    ended = {"outcome": said.outcome, "previous": dict(said.previous), "signature": said.signature}
    last["record"]["parties"]["south"] = ended
    north.put(resigned(north, [*before, last]))
    assert audit(north).problems, "verify tells it"
    entry = approve(north.ledger, north.signer, PLAN, None, 1, date(2099, 1, 1))
    assert usable(north.entries(), north.signer, PLAN, date(2027, 1, 1)) == entry["hash"]


OF_THE_END: dict[str, tuple[Change, str]] = {
    "a party is left out": (without("helper"), "helper"),
    "all others are left out": (as_if_alone, "the signatures of the other parties were removed"),
    "the own end is left out": (
        lambda entry: entry["record"]["parties"].pop("north"), "north has not signed that it completed"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_THE_END)
def test_signatures_that_a_party_takes_out_of_its_last_end_are_missed(parties: dict[str, Party], name: str) -> None:
    change, told = OF_THE_END[name]
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    change(last)
    north.put(resigned(north, [*before, last]))
    found = audit(north).problems
    assert any(told in problem for problem in found), found


def test_a_failure_that_a_party_has_signed_is_no_completed_run(parties: dict[str, Party]) -> None:
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    record = RunRecord.read(last)
    del record.said["north"]
    record.sign(FAILED, north.signer)
    last |= record.json()
    north.put(resigned(north, [*before, last]))
    assert any("signed that it failed" in problem for problem in audit(north).problems)


def test_runs_that_others_have_signed_are_not_of_a_version_before_signatures(parties: dict[str, Party]) -> None:
    """A history without own signatures, with others' made up, under an entry `adopted`."""
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    old: list[JSON] = []
    for entry in north.entries():
        entry.pop("signature")
        if "attendance" in entry:
            entry["run"] = old[-1]["hash"]
            entry["attendance"]["parties"]["south"]["signature"] = "00" * 70
        old.append({**entry, "query": "SELECT 9", "previous": old[-1]["hash"] if old else "0" * 64})
        old[-1]["hash"] = chained(old[-1])
    north.put(old)
    north.ledger.append("adopted", {"party": "north", "entries": 2}, adopting=True)
    assert any("line 2" in problem for problem in audit(north).problems)
    assert with_copy_of(parties["south"], north).problems
    north.put(old)
    with pytest.raises(LedgerError, match="signatures were taken out"):
        north.ledger.adopt()


@pytest.mark.xfail(
    strict=True, reason="a failed run that never connected has no signatures either; others' copies tell"
)
def test_signatures_that_are_taken_out_of_a_run_that_is_said_to_have_failed_are_missed(
    parties: dict[str, Party],
) -> None:
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    del last["attendance"], last["record"]
    north.put(resigned(north, [*before, {**last, "kind": FAILED}]))
    assert audit(north).problems


def test_signatures_that_are_taken_out_of_a_failed_run_are_missed_by_others(parties: dict[str, Party]) -> None:
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    *before, last = north.entries()
    del last["attendance"], last["record"]
    north.put(resigned(north, [*before, {**last, "kind": FAILED}]))
    assert with_copy_of(parties["south"], north).problems

"""Approvals of a plan for later runs: signed, counted, expiring, and of one plan."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from tacit.agent.approval import approve, today, usable
from tacit.agent.entry import JSON, canonical
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import LedgerError

from .signing import Party, rechained, signer

PLAN, OTHER = "ab" * 32, "cd" * 32
DAY = date(2027, 1, 31)


@pytest.fixture
def south(tmp_path: Path) -> Party:
    return Party.fresh("south", tmp_path)


def approved(party: Party, times: int = 2, until: date = DAY, plan: str = PLAN) -> JSON:
    return approve(party.ledger, party.signer, plan, "SELECT 1", times, until)


def used(party: Party, day: date = DAY, plan: str = PLAN) -> JSON:
    """A run that an approval allows."""
    return party.ledger.append(
        "approved", lambda entries: {"plan_hash": plan, "by": usable(entries, party.signer, plan, day)}
    )


def refused(party: Party, day: date = DAY, plan: str = PLAN) -> str:
    with pytest.raises(RunError) as caught:
        usable(party.entries(), party.signer, plan, day)
    assert caught.value.fault is Fault.POLICY
    return str(caught.value)


def test_an_approval_allows_so_many_runs(south: Party) -> None:
    entry = approved(south)
    for _ in range(2):
        assert used(south)["by"] == entry["hash"]
    assert "south has used up its approval of this plan (2 runs)" in refused(south)


def test_an_approval_ends_with_its_last_day(south: Party) -> None:
    approved(south)
    used(south, DAY)
    assert "until 2027-01-31, which is over" in refused(south, DAY + timedelta(days=1))


def test_an_approval_is_of_one_plan(south: Party) -> None:
    approved(south)
    told = refused(south, plan=OTHER)
    assert "south has not approved this plan (cdcdcdcdcdcdcdcd); `tacit approve --name south`" in told


def test_without_any_approval_nothing_is_allowed(south: Party) -> None:
    assert "has not approved this plan" in refused(south)


def test_of_several_approvals_the_one_that_ends_first_is_used(south: Party) -> None:
    later, first = approved(south, 1, DAY + timedelta(days=9)), approved(south, 1, DAY)
    assert [used(south)["by"] for _ in range(2)] == [first["hash"], later["hash"]]
    refused(south)


def test_an_approval_by_another_key_allows_nothing(south: Party) -> None:
    mallory = signer("south")
    content = {"party": "south", "plan_hash": PLAN, "times": 9, "until": DAY.isoformat(), "approval": ""}
    said = {name: content[name] for name in ("party", "plan_hash", "times", "until")}
    south.ledger.append("approval", {**content, "approval": mallory.sign("approval", canonical(said))})
    assert "has not approved" in refused(south)
    south.ledger.append("approval", {**content, "approval": south.signer.sign("record", canonical(said))})
    assert "has not approved" in refused(south), "a signature of another kind"


@pytest.mark.parametrize("change", [{"times": 99}, {"until": "2099-01-01"}, {"plan_hash": OTHER}])
def test_a_changed_approval_allows_nothing(south: Party, change: dict[str, object]) -> None:
    """Not even one whose ledger was chained anew under the party's own key: the approval is signed by itself."""
    approved(south)
    (entry,) = south.entries()
    own = rechained([{**entry, **change}], lambda found: south.signer.sign("entry", bytes.fromhex(found)))
    south.put(own)
    refused(south, plan=OTHER if "plan_hash" in change else PLAN)


def test_uses_cannot_be_cut_out_of_the_ledger(south: Party) -> None:
    approved(south, 1)
    used(south)
    approval, use = south.entries()
    south.put([approval, {**use, "by": None}])
    with pytest.raises(LedgerError, match="line 2: the entry was changed"):
        usable(south.entries(), south.signer, PLAN, DAY)
    south.put(rechained([approval, {**use, "by": None}]))
    with pytest.raises(LedgerError, match="line 2: the entry is not signed"):
        usable(south.entries(), south.signer, PLAN, DAY)


def test_days_are_those_of_utc() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", today().isoformat())

"""Whoever changes a history is found: by the chain, by signatures, or by the ledger of another party."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tacit.agent.audit import Audit, audited, compared
from tacit.agent.entry import GENESIS, JSON, canonical, redacted
from tacit.agent.ledger import LedgerError
from tacit.agent.ledger_export import export, read_export

from .signing import Party, rechained, run, signer

QUERIES = ("SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4")


@dataclass
class World:
    """Three parties after four runs, each of which all have signed; the third was without helper."""

    parties: dict[str, Party]
    runs: list[str]

    @property
    def south(self) -> Party:
        """Who cheats."""
        return self.parties["south"]

    @property
    def north(self) -> Party:
        """Who compares."""
        return self.parties["north"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    parties = {name: Party.fresh(name, tmp_path) for name in ("north", "south", "helper")}
    two = [parties["north"], parties["south"]]
    runs = [run(two if number == 2 else [*parties.values()], query) for number, query in enumerate(QUERIES)]
    return World(parties, runs)


def audit(party: Party) -> Audit:
    return audited(party.entries(), party.name, party.signer.certificate, party.name)


def with_copy_of(mine: Party, other: Party) -> Audit:
    """What a party finds when it compares its ledger with another's as that is now."""
    own, theirs = mine.signer, other.signer
    return compared(mine.entries(), mine.name, own.certificate, other.entries(), other.name, theirs.certificate, "copy")


def by_own_key(party: Party) -> Callable[[str], str]:
    return lambda found: party.signer.sign("entry", bytes.fromhex(found))


def test_whole_histories_are_found_whole(world: World) -> None:
    for party in world.parties.values():
        found = audit(party)
        assert (found.problems, found.notes) == ([], [])
        assert found.last == party.entries()[-1]["hash"]
        for other in world.parties.values():
            if other is not party:
                beside = with_copy_of(party, other)
                assert (beside.problems, beside.notes) == ([], [])
    assert audit(world.south).signers == {"north": 4, "south": 4, "helper": 3}


Change = Callable[[list[JSON], World], list[JSON]]


def edited(entries: list[JSON], at: int, change: Callable[[JSON], None]) -> list[JSON]:
    found = copy.deepcopy(entries)
    change(found[at])
    return found


def stranger_signs(entries: list[JSON]) -> list[JSON]:
    mallory = signer("south")
    return rechained(entries, lambda found: mallory.sign("entry", bytes.fromhex(found)))


def other_signature_kind(entries: list[JSON], world: World) -> list[JSON]:
    """The last entry under a signature of another kind, by the right key."""
    last = entries[-1]
    return [*entries[:-1], {**last, "signature": world.south.signer.sign("record", bytes.fromhex(last["hash"]))}]


BY_STRANGERS: dict[str, tuple[Change, str]] = {
    "a query is changed": (
        lambda entries, _: edited(entries, 0, lambda entry: entry.update(query="SELECT 9")),
        "line 1: the entry was changed"),
    "a time is changed": (
        lambda entries, _: edited(entries, 3, lambda entry: entry.update(time="2020-01-01T00:00:00+00:00")),
        "line 4: the entry was changed"),
    "a member is added": (
        lambda entries, _: edited(entries, 2, lambda entry: entry.update(note="harmless")),
        "line 3: the entry was changed"),
    "a member is removed": (
        lambda entries, _: edited(entries, 1, lambda entry: entry.pop("record")),
        "line 2: the entry was changed"),
    "a hash is changed": (
        lambda entries, _: edited(entries, 1, lambda entry: entry.update(hash="1" * 64)),
        "line 2: the entry was changed"),
    "a signature is changed": (
        lambda entries, _: edited(entries, 1, lambda entry: entry.update(signature="00" * 70)),
        "line 2: the entry is not signed"),
    "a signature is removed": (
        lambda entries, _: edited(entries, 7, lambda entry: entry.pop("signature")), "line 8: the entry"),
    "a signature is of another kind": (other_signature_kind, "line 8: the entry is not signed"),
    "the first entries are cut off": (lambda entries, _: entries[2:], "line 1: an entry before this one was removed"),
    "an entry in the middle is cut out": (
        lambda entries, _: [*entries[:3], *entries[4:]], "line 4: an entry before this one was removed"),
    "two runs are swapped": (
        lambda entries, _: [*entries[2:4], *entries[:2], *entries[4:]], "line 1: an entry before this one was removed"),
    "an entry is repeated": (
        lambda entries, _: [*entries, entries[-1]], "line 9: an entry before this one was removed, inserted"),
    "all is chained anew without a key": (
        lambda entries, _: rechained(edited(entries, 0, lambda entry: entry.update(query="SELECT 9"))),
        "line 1: the entry is not signed"),
    "all is chained anew under another key": (
        lambda entries, _: stranger_signs(edited(entries, 0, lambda entry: entry.update(query="SELECT 9"))),
        "line 1: the entry is not signed"),
    "an entry is added under another key": (
        lambda entries, _: [*entries, stranger_signs([*entries, {**entries[0], "query": "SELECT 9"}])[-1]],
        "line 9: the entry is not signed"),
    "another party's history is put in its place": (
        lambda entries, world: world.north.entries(), "line 1: the entry is not signed"),
    "what it says is left out": (
        lambda entries, _: [redacted(entries[0]), *entries[1:]], "line 1: what the entry says was taken out"),
    "signatures are stripped as of old versions": (
        lambda entries, _: rechained([{k: v for k, v in entry.items() if k != "signature"} for entry in entries]),
        "line 1: the entry is not signed"),
}  # fmt: skip
"""What somebody does who has not the party's key, and what is found of it."""


@pytest.mark.parametrize("name", BY_STRANGERS)
def test_what_somebody_without_the_key_does_is_found_at_home(world: World, name: str) -> None:
    change, told = BY_STRANGERS[name]
    world.south.put(change(world.south.entries(), world))
    found = audit(world.south).problems
    assert any(told in problem for problem in found), found
    assert with_copy_of(world.north, world.south).problems


def resigned(entries: list[JSON], world: World) -> list[JSON]:
    return rechained(entries, by_own_key(world.south))


def rewritten_run(entries: list[JSON], world: World) -> list[JSON]:
    """The approval of the first run says another query, and the end refers to it."""
    found = resigned(edited(entries, 0, lambda entry: entry.update(query="SELECT 9")), world)
    for at in range(1, len(found), 2):
        found[at]["run"] = found[at - 1]["hash"]
        found = resigned(found, world)
    return found


BY_ITSELF: dict[str, tuple[Change, str]] = {
    "a query of its own is rewritten": (rewritten_run, "the other parties were shown another ledger"),
    "a run is cut out": (
        lambda entries, world: resigned([*entries[:2], *entries[4:]], world), "ends a run that no entry before it has"),
    "the order of runs is changed": (
        lambda entries, world: resigned([*entries[2:4], *entries[:2], *entries[4:]], world),
        "ends a run that no entry before it has"),
    "the others' signatures are removed": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: (entry.pop("attendance"), entry.pop("record"))), world),
        "the signatures of the other parties were removed"),
    "a run stands there twice": (
        lambda entries, world: resigned([*entries, entries[7]], world), "ended in line 8 already"),
    "another's end is changed to failed": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: entry["record"]["parties"]["north"].update(outcome="failed")), world),
        "north has not signed how it ended"),
    "another's signature is put in a run's place": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: entry["attendance"]["parties"].update(
                north=entries[1]["attendance"]["parties"]["north"])), world),
        "north has not signed that it took part"),
    "a run gets another name": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: entry["attendance"].update(run="ab" * 32)), world),
        "has not signed that it took part"),
    "what was disclosed is rewritten": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: entry["record"].update(disclosures="cd" * 32)), world),
        "has not signed how it ended"),
    "a certificate is replaced": (
        lambda entries, world: resigned(
            edited(entries, 7, lambda entry: entry["attendance"]["parties"]["north"].update(
                certificate=signer("north").certificate)), world),
        "the certificate of north is not the one that was approved"),
}  # fmt: skip
"""What the party itself does, with its key, and what is found of it in its own ledger."""


@pytest.mark.parametrize("name", BY_ITSELF)
def test_what_the_party_itself_does_is_found_by_what_others_have_signed(world: World, name: str) -> None:
    change, told = BY_ITSELF[name]
    world.south.put(change(world.south.entries(), world))
    found = audit(world.south).problems
    assert any(told in problem for problem in found), found
    assert with_copy_of(world.north, world.south).problems


CUT: dict[str, tuple[Change, str]] = {
    "the last end is cut off": (
        lambda entries, _: entries[:-1], "south has signed how it ended, and its export has no end"),
    "the last run is cut off": (
        lambda entries, _: entries[:-2], "took part with an entry that its export has not"),
    "all but the first run is cut off": (
        lambda entries, _: entries[:2], "took part with an entry that its export has not"),
    "all is cut off": (lambda entries, _: [], "took part with an entry that its export has not"),
    "a new history is begun": (
        lambda entries, world: resigned([{**entries[0], "query": "SELECT 9"}], world),
        "took part with an entry that its export has not"),
}  # fmt: skip
"""What leaves a proper ledger, which no party can tell from a whole one by itself."""


@pytest.mark.parametrize("name", CUT)
def test_what_is_cut_off_is_found_by_the_ledger_of_another_party(world: World, name: str) -> None:
    change, told = CUT[name]
    noted = world.south.entries()[-1]["hash"]
    world.south.put(change(world.south.entries(), world))
    assert audit(world.south).problems == [], "by itself it is a proper ledger"
    assert noted not in {entry["hash"] for entry in world.south.entries()}, "a noted hash shows it"
    found = with_copy_of(world.north, world.south).problems
    assert any(told in problem and problem.startswith(f"run {world.runs[-1][:16]}") for problem in found), found


@pytest.mark.parametrize("name", CUT)
def test_an_own_history_that_was_cut_off_is_found_by_the_copy_of_another_party(world: World, name: str) -> None:
    change, _ = CUT[name]
    world.south.put(change(world.south.entries(), world))
    found = with_copy_of(world.south, world.north)
    if name == "the last end is cut off":
        assert "south took part and has no end of it" in found.problems[0]
    else:
        assert any("its own ledger lacks it" in problem for problem in found.problems), found.problems
    assert any(problem.startswith(f"run {world.runs[-1][:16]}") for problem in found.problems)


def test_a_party_that_shows_two_ledgers_in_one_run_is_found(world: World) -> None:
    """South signs the same run for helper with another previous hash than for north."""
    helper, south = world.parties["helper"], world.south
    entries = helper.entries()
    attendance = entries[-1]["attendance"]
    said = [attendance["run"], entries[-1]["plan_hash"], attendance["approval"], "77" * 32]
    forged = south.signer.sign("attendance", b"".join(map(bytes.fromhex, said)))

    def change(entry: JSON) -> None:
        entry["attendance"]["parties"]["south"].update(previous="77" * 32, signature=forged)

    helper.put(rechained(edited(entries, len(entries) - 1, change), by_own_key(helper)))
    assert any("showed two" in problem for problem in audit(helper).problems)
    found = with_copy_of(world.north, helper).problems
    assert any("south has shown a different ledger to each of the two" in problem for problem in found), found


def test_a_copy_that_names_a_run_which_never_was_is_found(world: World) -> None:
    """North gives a run with south a name that south never signed."""
    entries = world.north.entries()
    invented = copy.deepcopy(entries[-1])
    invented["attendance"]["run"] = "ef" * 32
    world.north.put(rechained([*entries, entries[-2], invented], by_own_key(world.north)))
    found = with_copy_of(world.south, world.north).problems
    assert any("names south, which has not signed that it took part" in problem for problem in found), found


def test_a_party_that_signed_no_end_is_noted_and_no_problem(world: World) -> None:
    run([world.north, world.south], "SELECT 5", silent=["south"])
    found = audit(world.north)
    assert found.problems == [] and "south has not signed how the run ended" in found.notes[0]


def test_a_copy_for_a_party_hides_other_runs_and_verifies(world: World, tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    assert export(world.south.entries(), "south", path, "helper") == 2
    assert "SELECT 3" not in path.read_text() and "SELECT 4" in path.read_text()
    party, entries = read_export(path)
    assert party == "south"
    helper = world.parties["helper"]
    found = compared(
        helper.entries(), "helper", helper.signer.certificate, entries, "south", world.south.signer.certificate, "copy"
    )
    assert found.problems == []
    less = [*entries[:4], *entries[6:]]
    found = compared(
        helper.entries(), "helper", helper.signer.certificate, less, "south", world.south.signer.certificate, "copy"
    )
    assert "copy, line 5: an entry before this one was removed" in found.problems[0]


def test_a_line_that_says_a_member_twice_is_none(world: World) -> None:
    path = world.south.ledger.path
    path.write_bytes(path.read_bytes().replace(b'{"', b'{"query":"SELECT 9","', 1))
    with pytest.raises(LedgerError, match="line 1: not a ledger entry as tacit writes it"):
        world.south.ledger.verify()


def test_a_new_key_goes_on_with_the_history(world: World) -> None:
    south, fresh = world.south, signer("south")
    told = {"party": "south", "replaces": south.signer.certificate, "fingerprint": "SHA256:.."}
    renewed = Party(fresh, type(south.ledger)(south.ledger.path, fresh))
    with pytest.raises(LedgerError, match="not signed by the key of south's certificate"):
        renewed.ledger.append("approved", {})
    renewed.ledger.append("key", told, after=south.signer)
    assert audit(renewed).problems == []
    assert audit(south).problems, "the key before signs nothing more"
    false = signer("south").certificate
    entries = edited(renewed.entries(), 8, lambda entry: entry.update(replaces=false))
    renewed.put(rechained(entries, by_own_key(renewed)))
    assert "line 1: the entry is not signed" in audit(renewed).problems[0], "of the certificate before"


def test_the_first_entry_follows_nothing(world: World) -> None:
    assert world.south.entries()[0]["previous"] == GENESIS
    assert canonical(world.south.entries()[0]) in world.south.ledger.path.read_bytes()


class Counted(dict[str, Any]):
    """An entry that counts how often somebody reads it."""

    reads = 0

    def get(self, name: str, default: Any = None) -> Any:
        Counted.reads += 1
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        Counted.reads += 1
        return super().__getitem__(name)


def test_the_work_of_a_check_grows_with_the_entries_and_no_faster(tmp_path: Path) -> None:
    parties = [Party.fresh(name, tmp_path) for name in ("north", "south")]
    reads = []
    for _ in range(3):
        for _ in range(5):
            run(parties, "SELECT 1")
        Counted.reads = 0
        entries: list[JSON] = [Counted(entry) for entry in parties[0].entries()]
        assert audited(entries, "north", parties[0].signer.certificate, "north").problems == []
        reads.append(Counted.reads)
    assert reads[2] - reads[1] == reads[1] - reads[0] > 0

"""The owner's check in runs of three parties: what is refused, who is told, and what all ledgers say."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tacit.agent.addresses import free_ports
from tacit.agent.auditing import history_file
from tacit.agent.connection import connect
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.keys import make_keys
from tacit.agent.ledger import Ledger
from tacit.agent.party import PartyRun
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import write_scenario
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.terms import Terms
from tacit.sql import compile_query

OWNER, PARTIES = "bureau_a", SCENARIO.parties
TERMS = Terms(frozenset({"regulator"}), 5, ("ssn",), questions=2)
ALL = "SELECT COUNT(*) AS n, SUM(score) AS total FROM scores_a"
SENTENCE = "refused by bureau_a: differences: too near to what was answered; ask in the next period."


@dataclass
class World:
    """Three parties with their files. terms: of the table of bureau_a."""

    folder: Path
    terms: Terms = TERMS

    def federation(self, party: str) -> Federation:
        """What a party reads."""
        found = connect(self.folder / "federation.toml", party=party).federation
        return replace(found, catalog=with_terms(found.catalog, self.terms))

    def ask(self, sql: str, wait: float | None = 20.0, absent: str = "") -> dict[str, RunError | None]:
        """Run a question at all parties, and how it ended at each."""
        ends: dict[str, RunError | None] = {}

        def run(party: str, addresses: Mapping[str, str]) -> None:
            federation = self.federation(party).at(addresses)
            plan = compile_query(sql, federation.catalog, ("regulator",))
            try:
                PartyRun(federation, party, plan, lambda event: None, None, wait).run()
                ends[party] = None
            except Exception as error:
                ends[party] = diagnose(error)

        with ExitStack() as held:
            known = self.federation("regulator")
            addresses = held.enter_context(free_ports({name: known.address(name) for name in PARTIES}))
            threads = [threading.Thread(target=run, args=(n, addresses)) for n in PARTIES if n != absent]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        return ends

    def ledger(self, party: str) -> Ledger:
        return Ledger(self.federation(party).ledger_path(party))

    def kinds(self, party: str) -> list[str]:
        """The kinds of a ledger's entries."""
        return [entry["kind"] for entry in self.ledger(party).entries()]

    def answers(self) -> int:
        """How many questions count at the owner."""
        return len(history_file(self.federation(OWNER), OWNER, self.ledger(OWNER)).read().answers)

    def drop_rows(self, count: int) -> None:
        """Make the owner's table shorter."""
        path = self.folder / OWNER / "scores_a.csv"
        head, *rows = list(csv.reader(path.open()))
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows[count:]])


def with_terms(catalog: Catalog, terms: Terms) -> Catalog:
    def changed(table: Table) -> Table:
        return replace(table, terms=terms, unique=(frozenset({"ssn"}),)) if table.name == "scores_a" else table

    return replace(catalog, tables=tuple(map(changed, catalog.tables)))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    write_scenario(SCENARIO, 20, tmp_path)
    federation = connect(tmp_path / "federation.toml").federation
    make_keys(federation.members, federation.catalog.parties, replace=False)
    yield World(tmp_path)


def test_a_question_is_answered_once_and_again_but_not_on_a_table_with_one_row_less(world: World) -> None:
    for _ in range(2):
        assert set(world.ask(ALL).values()) == {None}
        assert world.answers() == 1
    assert world.kinds(OWNER) == ["history", "approved", "completed", "approved", "completed"]
    world.drop_rows(1)
    ends = world.ask(ALL)
    told = {name: (end.fault, end.sentence) for name, end in ends.items() if end}
    assert told == dict.fromkeys(PARTIES, (Fault.POLICY, SENTENCE))
    assert world.kinds(OWNER)[-2:] == ["history", "refused"]
    assert all(world.kinds(name)[-1] == "refused" for name in PARTIES)
    assert {world.ledger(name).entries()[-1]["refused"] for name in PARTIES} == {SENTENCE}
    history = history_file(world.federation(OWNER), OWNER, world.ledger(OWNER)).read()
    assert (len(history.answers), len(history.refusals)) == (1, 1)


def test_a_question_that_never_began_does_not_count(world: World) -> None:
    ends = world.ask(ALL, wait=2.0, absent="bureau_b")
    assert {end.fault for end in ends.values() if end} == {Fault.PEER_GONE}
    assert world.answers() == 0
    assert world.kinds(OWNER) == ["history", "history"]


def test_a_question_counts_once_shares_can_have_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RunError(Fault.INTERNAL, "a fault.")

    monkeypatch.setattr(PartyRun, "_release", fail)
    assert None not in world.ask(ALL).values()
    assert world.answers() == 1
    assert world.kinds(OWNER) == ["history", "approved", "failed"]


def test_the_last_question_of_a_period_is_the_last(world: World) -> None:
    assert set(world.ask(ALL).values()) == {None}
    assert set(world.ask("SELECT AVG(score) AS mean FROM scores_a").values()) == {None}
    ends = world.ask("SELECT COUNT(score) AS n FROM scores_a")
    assert {end.sentence for end in ends.values() if end} == {
        "refused by bureau_a: questions: scores_a has given its answers in this period; ask in the next period."
    }


def test_a_history_that_was_removed_is_missed(world: World) -> None:
    assert set(world.ask(ALL).values()) == {None}
    history_file(world.federation(OWNER), OWNER, world.ledger(OWNER)).path.unlink()
    end = world.ask(ALL)[OWNER]
    assert end is not None
    assert end.fault is Fault.INPUT
    assert "is not there, and the ledger says that it was; put its last copy back" in end.sentence


@pytest.mark.parametrize("terms", [replace(TERMS, differences="off"), None])
def test_without_a_check_there_is_no_file(world: World, terms: Terms) -> None:
    world.terms = terms
    assert set(world.ask(ALL).values()) == {None}
    assert world.kinds(OWNER) == ["approved", "completed"]
    assert not history_file(world.federation(OWNER), OWNER, world.ledger(OWNER)).path.exists()

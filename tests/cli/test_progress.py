"""The progress display: lines without a terminal, a table on one; only of the parties that run here."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tacit.agent.federation import Federation
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import write_scenario
from tacit.cli.progress import Progress
from tacit.plan.account import describe
from tacit.plan.physical.placed import LocalStep, PlacedPlan, TailStep
from tacit.sql import compile_query

PARTIES = SCENARIO.parties


@pytest.fixture
def plan(tmp_path: Path) -> PlacedPlan:
    write_scenario(SCENARIO, 20, tmp_path)
    federation = Federation.load(tmp_path / "federation.toml")
    return compile_query(SCENARIO.query, federation.catalog, federation.recipients)


def play(plan: PlacedPlan, progress: Progress, parties: tuple[str, ...]) -> None:
    """Events of a run in which the parties take their steps one after another."""
    steps: dict[str, dict[str, object]] = {party: {} for party in parties}
    with progress:
        for party in parties:
            progress(party, {"event": "phase", "phase": "computing"})
        for step in plan.steps:
            for party in parties:
                runs = party == step.party if isinstance(step, LocalStep) else True
                if runs and not (isinstance(step, TailStep) and party not in step.recipients):
                    traffic = {"rounds": 5, "rounds_ahead": 0, "bytes_sent": 1000}
                    figures = {"rows": 1234, **traffic, "seconds": 0.01, "finished": True}
                    steps[party][describe.name(step)] = figures
                    progress(party, {"event": "metrics", "steps": steps[party]})


def test_without_a_terminal_every_step_is_one_line_once(plan: PlacedPlan) -> None:
    screen = Console(file=io.StringIO(), width=40)
    play(plan, Progress(plan, PARTIES, screen), PARTIES)
    assert isinstance(screen.file, io.StringIO)
    lines = screen.file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == [describe.name(step) for step in plan.steps]
    (join,) = [line for line in lines if ".join" in line]
    assert join.split()[1:] == ["mpc(rep3)", "1,234", "rows", "3.0", "kB", "sent", "5", "rounds", "10", "ms"]


def test_one_party_alone_shows_its_own_steps(plan: PlacedPlan) -> None:
    screen = Console(file=io.StringIO(), width=100)
    play(plan, Progress(plan, ("bureau_a",), screen), ("bureau_a",))
    assert isinstance(screen.file, io.StringIO)
    shown = screen.file.getvalue()
    assert "local(bureau_a)" in shown
    assert "local(regulator)" not in shown
    assert ".join" in shown


def test_on_a_terminal_it_is_a_table(plan: PlacedPlan) -> None:
    screen = Console(file=io.StringIO(), width=90, force_terminal=True)
    play(plan, Progress(plan, PARTIES, screen), PARTIES)
    assert isinstance(screen.file, io.StringIO)
    last = screen.file.getvalue().rpartition("rounds")[2]
    assert all(describe.name(step) in last for step in plan.steps)

"""Processes of parties: all are watched, the cause of a failure is found, and none is left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.party_process import PartyTask, spawn
from tacit.agent.process_tree import ProcessTree

PROGRAM = """
import json, os, signal, sys, time
arguments = dict(zip(sys.argv[2:-1:2], sys.argv[3:-1:2]))
name, events = arguments["--name"], int(arguments["--events"])
query = sys.stdin.read()

def tell(**event):
    os.write(events, json.dumps(event).encode() + b"\\n")

tell(event="phase", phase=str(os.getpid()))
"""

GOOD = 'tell(event="done", entry={"party": name, "query": query, "to": arguments["--to"]})'


def tree(folder: Path, *behaviours: str) -> ProcessTree:
    """Parties p0, p1, ... whose program ends with the given code."""
    cases = [f"if name == 'p{index}':\n    {code}" for index, code in enumerate(behaviours)]
    script = folder / "program.py"
    script.write_text(PROGRAM + "\n".join(cases))
    names = [f"p{index}" for index in range(len(behaviours))]
    return started(script, names)


def started(script: Path, names: list[str], query: str = "SELECT 1") -> ProcessTree:
    """Parties whose program is a script."""
    tasks = [PartyTask(name, Path("federation.toml"), Path("private"), query, ("p0", "p1")) for name in names]
    return ProcessTree(tasks, partial(spawn, program=(sys.executable, str(script))))


class Pids:
    """Notes every party's process id, which the test program tells as its phase."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def __call__(self, party: str, event: Event) -> None:
        if event["event"] == "phase":
            self.found.append(int(event["phase"]))

    def alive(self) -> list[int]:
        return [pid for pid in self.found if Path(f"/proc/{pid}").exists()]


def test_every_party_gets_the_query_and_returns_its_entry(tmp_path: Path) -> None:
    pids = Pids()
    entries = tree(tmp_path, GOOD, GOOD, GOOD).run(pids)
    assert entries == {f"p{i}": {"party": f"p{i}", "query": "SELECT 1", "to": "p0,p1"} for i in range(3)}
    assert len(pids.found) == 3
    assert pids.alive() == []


def test_the_cause_is_raised_not_its_consequence(tmp_path: Path) -> None:
    lost = 'tell(event="failed", fault="peer gone", sentence="p1 is gone.")'
    wrong = 'time.sleep(0.3); tell(event="failed", fault="input", sentence="row 7 is bad.")'
    with pytest.raises(RunError, match=r"^p1: row 7 is bad\.$") as caught:
        tree(tmp_path, lost, wrong, lost).run(Pids())
    assert caught.value.fault is Fault.INPUT


def test_a_party_that_dies_silently_is_named(tmp_path: Path) -> None:
    lost = 'time.sleep(0.2); tell(event="failed", fault="peer gone", sentence="p1 is gone.")'
    with pytest.raises(RunError, match=r"^p1: .*ended unexpectedly \(signal SIGKILL\)"):
        tree(tmp_path, lost, "os.kill(os.getpid(), signal.SIGKILL)", lost).run(Pids())


def test_parties_that_hang_are_ended_after_a_failure(tmp_path: Path) -> None:
    pids = Pids()
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    start = time.monotonic()
    with pytest.raises(RunError, match="no data"):
        tree(tmp_path, 'tell(event="failed", fault="input", sentence="no data.")', stubborn, "time.sleep(60)").run(pids)
    assert time.monotonic() - start < 40  # and not the minute for which they sleep
    assert pids.alive() == []


def test_an_interrupt_ends_all_parties(tmp_path: Path) -> None:
    pids = Pids()
    interrupt = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        tree(tmp_path, "time.sleep(60)", "time.sleep(60)").run(pids)
    assert pids.alive() == []


def test_a_program_that_cannot_read_its_query_is_no_traceback(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("raise SystemExit(9)")
    with pytest.raises(RunError, match="exit status 9"):
        started(script, ["p0"], "x" * 1_000_000).run(Pids())

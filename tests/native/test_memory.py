"""A memory budget: tables that wait go to files and come back, and a full disk ends the run with one sentence."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from tacit import _native

from .plans import NODES, Plan, Rows, bits, ring64, rows_of, run_in_clear

ROWS = 3000


def waiting() -> Plan:
    """Four tables of one shape, of which each is opened while the others wait."""
    plan = Plan()
    tables = [pa.table({"k": range(ROWS), "v": [row * row - each for row in range(ROWS)]}) for each in range(4)]
    owners = ("a", "b", "a", "b")
    inputs = [
        plan.input(owner, table, {"k": bits(16), "v": ring64()}, rows=ROWS)
        for owner, table in zip(owners, tables, strict=True)
    ]
    for each in inputs:
        plan.release(each, ["k", "v"])
    return plan


def needs(plan: Plan) -> tuple[int, int]:
    """Bytes of a node for the step that takes most, and with all tables that wait."""
    costs = _native.cost("rep3", json.dumps(plan.operators), {}, nodes=NODES)
    return max(cost["memory_alone"] for cost in costs), max(cost["memory"] for cost in costs)


def ran(plan: Plan, budget: int, folder: Path) -> dict[int, Rows]:
    """What the first node gets, by step, from a run in which each node has this budget."""
    permits, operators = json.dumps(plan.permits()), json.dumps(plan.operators)
    sessions = _native.Session.in_memory(NODES, permits, operators, engine="rep3", memory=(budget, folder))
    with ThreadPoolExecutor(len(NODES)) as threads:
        first, *_ = list(threads.map(plan.drive, sessions))
    return {step: sorted(rows_of(opened)) for step, opened in first.items()}


def test_the_answer_is_the_same_within_a_budget(tmp_path: Path) -> None:
    plan = waiting()
    alone, all_waiting = needs(plan)
    assert alone < all_waiting
    expected = {step: sorted(rows) for step, rows in run_in_clear(plan).items()}
    assert ran(plan, alone, tmp_path) == expected
    assert [len(rows) for rows in expected.values()] == [ROWS] * 4
    assert not list(tmp_path.iterdir())


def test_a_step_beyond_the_budget_is_refused(tmp_path: Path) -> None:
    plan = waiting()
    alone, _ = needs(plan)
    with pytest.raises((_native.InputError, _native.PeerGoneError)) as caught:
        ran(plan, alone - 1, tmp_path)
    if caught.type is _native.InputError:
        assert "MiB of memory, and this party's budget is" in str(caught.value)


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """Each node writes some 100 kB, where no file may be larger than 10 kB."""
    program = (
        "import pathlib, sys\n"
        "from native.test_memory import needs, ran, waiting\n"
        "plan = waiting()\n"
        "ran(plan, needs(plan)[0], pathlib.Path(sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=Path(__file__).parents[1],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        check=False,
        timeout=100,
    )
    assert done.returncode == 1
    assert f"{tmp_path}: tables beyond the memory budget cannot be written there (File too large)" in done.stderr
    assert not list(tmp_path.iterdir())

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
    """Two tables, each sorted, then joined: what is sorted first waits for the other sort."""
    plan = Plan()
    numbers = [(row * 7919) % 65_521 for row in range(ROWS)]
    tables = [
        pa.table({"k": numbers, "v": [row * row for row in range(ROWS)]}),
        pa.table({"other": numbers[::-1], "w": [-row for row in range(ROWS)]}),
    ]
    first = plan.input("a", tables[0], {"k": bits(16), "v": ring64()}, rows=ROWS)
    second = plan.input("b", tables[1], {"other": bits(16), "w": ring64()}, rows=ROWS)
    ascending = {"descending": False, "nulls_first": False}
    left = plan.add("sort", input=first, keys=[{"column": "k", **ascending}])
    right = plan.add("sort", input=second, keys=[{"column": "other", **ascending}])
    sides = {"left": left, "right": right, "left_keys": ["k"], "right_keys": ["other"]}
    plan.release(plan.add("join", **sides, left_columns=["v"], right_columns=["w"]), ["v", "w"])
    return plan


def needs(plan: Plan) -> tuple[int, int]:
    """Bytes of a node for the step that takes most, and with all tables that wait."""
    costs = _native.cost("rep3", json.dumps(plan.operators), {}, nodes=NODES)
    return max(cost["memory_alone"] for cost in costs), max(cost["memory"] for cost in costs)


def ran(plan: Plan, budget: int, folder: Path) -> Rows:
    """What the first node gets from a run in which each node has this budget."""
    permits, operators = json.dumps(plan.permits()), json.dumps(plan.operators)
    sessions = _native.Session.in_memory(NODES, permits, operators, engine="rep3", memory=(budget, folder))
    with ThreadPoolExecutor(len(NODES)) as threads:
        first, *_ = list(threads.map(plan.drive, sessions))
    return rows_of(first[plan.operators[-1]["id"]])


def test_the_answer_is_the_same_within_a_budget(tmp_path: Path) -> None:
    plan = waiting()
    alone, all_waiting = needs(plan)
    assert alone < all_waiting
    expected = run_in_clear(plan)[plan.operators[-1]["id"]]
    assert sorted(ran(plan, alone, tmp_path)) == sorted(expected)
    assert len(expected) == ROWS
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
        "from tests.native.test_memory import needs, ran, waiting\n"
        "plan = waiting()\n"
        "ran(plan, needs(plan)[0], pathlib.Path(sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        check=False,
        timeout=100,
    )
    assert done.returncode == 1
    assert f"{tmp_path}: tables beyond the memory budget cannot be written there (File too large)" in done.stderr
    assert not list(tmp_path.iterdir())

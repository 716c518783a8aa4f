"""The bench of networks works: a quick run gives figures of each. Asserts never a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.nightly
def test_a_quick_run() -> None:
    command = [sys.executable, "benches/networks.py", "--smoke"]
    printed = subprocess.run(command, cwd=ROOT, check=True, timeout=300, capture_output=True, text=True).stdout
    found = [json.loads(line) for line in printed.splitlines()]
    assert [(each["network"], each["batch"]) for each in found] == [("small", 1), ("lenet5", 1)]
    assert all(each["relative_error"] < 1e-3 and each["rounds"] > 0 and each["as_predicted"] for each in found)

"""NumPy is an extra: tacit loads without it, and says what to install where a program needs it."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["numpy"] = None
import tacit, tacit.agent.connection, tacit.cli.main
import tacit.plan.programs.graph, tacit.plan.programs.optimiser
for name in ("tacit.numpy", "tacit.array.program"):
    try:
        __import__(name)
    except ImportError as error:
        print(error)
"""


def test_tacit_loads_without_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout == "private arrays need NumPy; install it with pip install 'tacit[numpy]'.\n" * 2

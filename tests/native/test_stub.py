"""The type stubs are exactly the module."""

from __future__ import annotations

import subprocess
import sys


def test_the_stub_is_the_module() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "tacit._native"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout

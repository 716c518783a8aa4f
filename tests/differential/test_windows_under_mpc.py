"""Windows over shown columns, under MPC as well: the golden file of windows has the same answers.

The recipient computes such windows in clear. Of those that stay under MPC there would be fewer golden queries.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.plan.rules import push_up

from . import test_golden

FILE = next(path for path in test_golden.FILES if path.stem == "windows")


@pytest.mark.parametrize("engine", ["clear", "rep3"])
def test_windows_have_the_same_values_under_mpc(
    engine: str, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push_up, "clear_windows", lambda base, outputs, keys: ())
    monkeypatch.setattr(test_golden, "UPDATE", False)
    test_golden.test_golden(FILE, engine, keys, tmp_path, monkeypatch)

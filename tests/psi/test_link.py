"""Parties that only match tables measure the link between all of them."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from .pairs import Pair


@pytest.mark.usefixtures("new_interpreters")
def test_both_measure_and_may_write_the_same_file(pair: Pair) -> None:
    command = [sys.executable, "-m", "tacit", "calibrate", "--link", "--write", "--as"]
    running = [
        subprocess.Popen([*command, party], cwd=pair.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for party in "ab"
    ]
    try:
        ends = [each.communicate(timeout=90) for each in running]
    finally:
        for each in running:
            each.kill()
    assert [each.returncode for each in running] == [0, 0], ends
    (printed,) = {stdout for stdout, _ in ends}
    path = pair.folder / "federation.toml"
    assert printed.startswith("link") and "a and b" in printed
    link = tomllib.loads(path.read_text())["link"]
    assert 0 < link["latency"] < 0.01 and link["bandwidth"] > 1e6
    assert set(pair.folder.glob("federation.toml*")) == {path}

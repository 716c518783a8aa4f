"""A small federation with keys, and the ``tacit`` command in its folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.agent.federation import Federation
from tacit.agent.keys import make_keys
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import write_scenario

Tacit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The credit question's files with keys, 20 rows a bureau."""
    write_scenario(SCENARIO, 20, tmp_path)
    federation = Federation.load(tmp_path / "federation.toml")
    make_keys(federation.members, federation.catalog.parties, replace=False)
    return tmp_path


@pytest.fixture
def tacit(folder: Path) -> Tacit:
    """Runs the ``tacit`` command in the folder."""

    def run(*arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tacit", *arguments]
        return subprocess.run(command, cwd=folder, input=input, capture_output=True, text=True, timeout=60, check=False)

    return run

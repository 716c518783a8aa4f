"""A small question takes little more than loading the program once, however many parties run on this machine."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli.main import HOMES

pytestmark = pytest.mark.usefixtures("new_interpreters")

JOIN = "SELECT COUNT(*) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"
Tacit = Callable[..., subprocess.CompletedProcess[str]]


def processor_seconds(folder: Path, *arguments: str) -> float:
    """What a command takes of processors, with all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "tacit", *arguments], cwd=folder, capture_output=True, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_program_is_loaded_once_for_all_parties(tacit: Tacit, folder: Path) -> None:
    """Loaded anew for each of three parties, it would take more than five times as long as one that plans alone."""
    assert tacit("explain", JOIN).returncode == 0  # compiles what is not compiled yet
    planned = min(processor_seconds(folder, "explain", JOIN) for _ in range(3))
    asked = min(processor_seconds(folder, "sql", "--quiet", JOIN) for _ in range(3))
    assert asked < 4 * planned, (asked, planned)


@pytest.mark.parametrize("command", HOMES)
def test_each_command_loads_what_it_needs(tacit: Tacit, command: str) -> None:
    """By itself: in a process that has loaded all commands nothing is missing."""
    done = tacit(command, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: tacit {command}"), done

"""Commands that tests start as copies end as those of new interpreters do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import copies

JOIN = "SELECT COUNT(*) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"
COMMANDS = (
    ["--version"],
    ["dance"],
    ["keys", "--show"],
    ["explain", JOIN],
    ["sql", "--quiet", "--output", "json", JOIN],
    ["sql", "SELECT zap FROM demographics"],
)

pytestmark = pytest.mark.skipif(subprocess.Popen is copies.NEW, reason="no copies are made")


def ended(folder: Path, arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tacit", *arguments], cwd=folder, env={**os.environ, **variables}, input="",
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_a_copy_ends_as_a_new_interpreter_does(
    folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = ended(folder, arguments)
    monkeypatch.setattr(subprocess, "Popen", copies.NEW)
    new = ended(folder, arguments)
    assert (copied.returncode, copied.stdout, copied.stderr) == (new.returncode, new.stdout, new.stderr)


def test_a_copy_has_the_variables_that_it_is_given(folder: Path) -> None:
    assert "Traceback" in ended(folder, ["sql", " "], TACIT_TRACEBACK="1").stderr
    assert "Traceback" not in ended(folder, ["sql", " "]).stderr


def test_what_an_interpreter_reads_at_its_start_makes_a_new_one(folder: Path) -> None:
    assert "import time:" in ended(folder, ["--version"], PYTHONPROFILEIMPORTTIME="1").stderr
    assert "import time:" not in ended(folder, ["--version"]).stderr


def test_parties_are_copies_of_different_processes(folder: Path) -> None:
    copied = []
    for _ in range(copies.SERVERS + 1):
        ended(folder, ["--version"])
        copied.append(copies.Popen.servers.last())
    assert len(set(copied)) == copies.SERVERS and copied[0] == copied[-1]

"""A match that was approved before, and the certificate of its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .pairs import Pair


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    made = Pair.make(tmp_path)
    made.write("a", "SELECT i AS id, i * 2 AS x FROM range(0, 40) t(i)")
    made.write("b", "SELECT i AS id, i * 3 AS y FROM range(20, 60) t(i)")
    return made


def tacit(pair: Pair, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tacit", *arguments], cwd=pair.folder, capture_output=True, text=True, check=False
    )


def explained(pair: Pair, party: str) -> str:
    """The hash of the match's plan, as its page says it."""
    own = ("--as", party, "--input", f"{party}.parquet", "--key", "id", "--output", f"{party}-matched.parquet")
    page = tacit(pair, "psi", "explain", *own, "--format", "json")
    assert page.returncode == 0, page.stderr
    plan_hash = json.loads(page.stdout)["plan_hash"]
    assert isinstance(plan_hash, str)
    return plan_hash


def test_an_approved_match_runs_as_often_as_approved_and_proves_its_rows(pair: Pair) -> None:
    hashes = {explained(pair, party) for party in "ab"}
    assert len(hashes) == 1
    for party in "ab":
        given = tacit(pair, "approve", *hashes, "--name", party, "--times", "1", "--yes")
        assert given.returncode == 0, given.stderr
    ended = pair.match("--approved", "--quiet")
    assert [each.status for each in ended] == [0, 0], ended
    for party in "ab":
        verified = tacit(pair, "verify", f"{party}-matched.parquet")
        assert verified.returncode == 0, verified.stderr
        assert "signed by a, b" in verified.stdout and next(iter(hashes)) in verified.stdout
        assert tacit(pair, "ledger", "verify", "--name", party).returncode == 0
    ended = pair.match("--approved", "--quiet")
    assert {each.status for each in ended} == {3}, ended
    assert all("has used up its approval of this plan (1 runs)" in each.told for each in ended)
    with (pair.folder / "a-matched.parquet").open("ab") as file:
        file.write(b"more")
    changed = tacit(pair, "verify", "a-matched.parquet")
    assert changed.returncode == 2 and "is not the file that a has signed" in changed.stderr


def test_a_match_that_nobody_approved_does_not_run(pair: Pair) -> None:
    ended = pair.match("--approved", "--quiet")
    assert {each.status for each in ended} == {3}, ended
    assert all("has not approved this plan" in each.told for each in ended)
    assert not [*pair.folder.glob("*-matched*")]


def test_who_approves_is_a_party(pair: Pair) -> None:
    given = tacit(pair, "approve", "ab" * 32, "--name", "c", "--yes")
    assert given.returncode == 2 and "there is no party 'c'; it names a, b." in given.stderr

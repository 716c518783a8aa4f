"""The whole way, as a user goes it: each demo question through real party processes, checked against DuckDB."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli.demo.check import pooled_rows
from tacit.cli.demo.command import SCENARIOS

SECTIONS = [
    "The question",
    "The placed plan",
    "What each party will learn",
    "Predicted cost",
    "Progress",
    "The answer, for",
    "checked: equals DuckDB on the pooled data",
    "Actual against predicted cost",
    "The ledger entry",
]


def tacit(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tacit", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("question", SCENARIOS)
def test_a_question_is_answered_with_the_whole_account(question: str, tmp_path: Path) -> None:
    done = tacit("demo", question, "--rows", "400", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    places = [done.stdout.find(section) for section in SECTIONS]
    assert -1 not in places, f"missing: {SECTIONS[places.index(-1)]}"
    assert places == sorted(places)
    assert "Traffic and rounds are exactly as predicted." in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("question", ["hospitals", "two-hospitals"])
def test_parties_outside_compute(question: str, tmp_path: Path) -> None:
    done = tacit("demo", question, "--rows", "50", "--outside", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "checked: equals DuckDB on the pooled data" in done.stdout
    (told,) = (line for line in done.stdout.splitlines() if "learn nothing from the tables of others" in line)
    assert "node_1" in told


@pytest.mark.parametrize(
    "nodes", [("north", "south"), pytest.param(("west", "registry"), marks=pytest.mark.nightly)], ids="-".join
)
def test_five_hospitals_ask_under_another_engine(nodes: tuple[str, str], tmp_path: Path) -> None:
    """Kept files are changed as their user may do it: two compute, and the registry still gets the answer."""
    assert tacit("demo", "hospitals", "--rows", "50", "--keep", "mine", cwd=tmp_path).returncode == 0
    path, scenario = tmp_path / "mine" / "federation.toml", SCENARIOS["hospitals"]
    membership = path.read_text()
    for old, new in (('engine = "rep3"', 'engine = "two"'), (_nodes(scenario.parties), _nodes(nodes))):
        assert old in membership
        membership = membership.replace(old, new)
    path.write_text(membership)
    done = tacit("sql", "--federation", str(path), "--output", "csv", scenario.query, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header, *rows = csv.reader(done.stdout.splitlines())
    assert header == ["procedure", "operations", "nights", "readmitted"]
    found = [(name, int(operations), float(nights), int(back)) for name, operations, nights, back in rows]
    expected = pooled_rows(scenario, path.parent)
    assert found == [(*row[:2], pytest.approx(row[2], rel=1e-12), row[3]) for row in expected] != []
    for party in scenario.everybody:
        entries = (path.parent / "private" / "ledger" / f"{party}.jsonl").read_text().splitlines()
        assert [json.loads(entry)["kind"] for entry in entries] == ["approved", "completed"] * 2, party


def _nodes(names: tuple[str, ...]) -> str:
    """The nodes as a federation file names them."""
    return f"nodes = {json.dumps(names)}"


def test_the_smallest_files_work(tmp_path: Path) -> None:
    assert tacit("demo", "credit", "--rows", "1", cwd=tmp_path).returncode == 0


def test_kept_files_are_the_users_to_change(tmp_path: Path) -> None:
    assert tacit("demo", "credit", "--rows", "50", "--keep", "mine", cwd=tmp_path).returncode == 0
    scores = tmp_path / "mine" / "bureau_a" / "scores_a.csv"
    scores.write_text("ssn,score\n" + "".join(f"{number},500\n" for number in range(7)))
    question = "SELECT MAX(score) AS best, COUNT(*) AS n FROM (SELECT score FROM scores_a WHERE score < 501) s"
    done = tacit("sql", "--federation", "mine/federation.toml", "--output", "csv", question, cwd=tmp_path)
    assert done.stdout.splitlines() == ["best,n", "500,7"], done.stderr


def test_a_folder_that_exists_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    done = tacit("demo", "--keep", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "tacit: mine exists already; name a new folder for --keep.\n"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["diary.txt"]


def test_the_demo_of_matching_checks_itself(tmp_path: Path) -> None:
    done = tacit("demo", "psi", "--rows", "2000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for section in ("The question", "What shop sees", "What advertiser sees", "checked: 1,000 rows, aligned"):
        assert section in done.stdout

"""``make bench`` works: a quick run of the limits and of every operation gives a whole table. Asserts never a time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPERATIONS = {
    "exchange",
    "and",
    "multiply",
    "less",
    "less-planes",
    "equal",
    "shuffle",
    "sort",
    "join",
    "join-unsorted",
    "group-by",
    "trial",
}
QUERIES = (
    "credit question",
    "market concentration",
    "join on a unique key",
    "tacit demo, once built",
    "tacit demo two-hospitals",
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The saved text of a quick run."""
    path = tmp_path_factory.mktemp("bench") / "table.txt"
    command = [
        sys.executable,
        "benches/run.py",
        "--quick",
        "--profile",
        "dev",
        "--parts",
        "limits,operations,relatives,matching,queries",
        "--output",
        str(path),
    ]
    subprocess.run(command, cwd=ROOT, check=True, timeout=1500)
    return path.read_text()


def section(table: str, title: str) -> list[list[str]]:
    """The lines below a title and its head, split at columns."""
    lines = table[table.index(title) :].splitlines()[3:]
    end = next((i for i, line in enumerate(lines) if not line), len(lines))
    return [re.split(r"  +", line) for line in lines[:end]]


def test_says_where_it_was_taken(table: str) -> None:
    for fact in ("date", "commit", "command", "machine", "versions", "load"):
        assert re.search(rf"^{fact} +\S", table, re.M)


def test_measures_the_machine(table: str) -> None:
    limits = section(table, "The machine's own limits")
    assert len(limits) == 11
    assert all(re.fullmatch(r"[\d.]+ [GMk]?(blocks|B|trips)/s", rate) for _, rate, _ in limits)


def test_measures_every_operation_over_tls_and_over_plain_tcp(table: str) -> None:
    lines = [line for line in section(table, "Operations: three parties") if len(line) == 15]
    assert {(line[0], line[1]) for line in lines} == {(name, how) for name in OPERATIONS for how in ("tls", "plain")}
    for line in lines:
        assert float(line[7]) > 0, "bytes are counted"
        assert int(line[8]) > 0, "rounds are counted"
        assert re.fullmatch(r"\d+ MiB", line[10]), "memory is counted"


def test_measures_whole_queries(table: str) -> None:
    lines = section(table, "Whole queries")
    for title in QUERIES:
        (line,) = [line for line in lines if line[0].startswith(title)]
        assert re.search(r"\d+ MiB", " ".join(line)), "every party's memory is counted"


def test_measures_the_whole_command(table: str) -> None:
    (line,) = [line for line in section(table, "tacit psi, Parquet to Parquet") if len(line) == 10]
    assert line[:2] == ["number", "1,024"]
    assert re.fullmatch(r"\d+ MiB \d+ MiB", line[7]), "every party's memory is counted"


def test_measures_the_relatives_of_intersection(table: str) -> None:
    lines = [line for line in section(table, "Relatives of intersection") if len(line) >= 11]
    names = ["dh", "unbalanced offline", "unbalanced online", "circuit-psi", "private-id-oprf", "private-id-ddh"]
    assert sorted((line[0], line[2]) for line in lines) == sorted(
        (name, how) for name in [*names, "sum", "ps3i"] for how in ("tls", "plain")
    )
    assert all(float(line[6]) > 0 for line in lines), "bytes are counted"


@pytest.mark.usefixtures("table")  # which compiles the program
def test_a_wrong_argument_is_one_sentence() -> None:
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    found = json.loads(subprocess.run(metadata, cwd=ROOT, capture_output=True, check=True).stdout)
    program = Path(found["target_directory"]) / "debug" / "tacit-bench"
    ended = subprocess.run([program, "kernels", "--only", "fly"], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == 'tacit-bench: "fly" is no value of --only; see --help'


def test_compares_predicted_time_with_what_is_taken() -> None:
    chosen = ["--rows", "6", "--link", "none,1e9", "--only", "sort,merged join"]
    command = [sys.executable, "benches/predictions.py", *chosen]
    printed = subprocess.run(command, cwd=ROOT, check=True, timeout=600, capture_output=True, text=True).stdout
    lines = section(printed, "Predicted and taken time")
    assert [line[:3] for line in lines] == [
        [name, link, "64"] for link in ("none", "1e9") for name in ("sort", "merged join")
    ]
    assert all(float(line[5]) > 0 and line[6] in {"6.sort", "5.join"} for line in lines)


@pytest.mark.nightly
def test_a_join_over_a_wide_area_network_is_predicted() -> None:
    command = [sys.executable, str(ROOT / "benches" / "wan.py"), "--rows", "64"]
    (line,) = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    measured = json.loads(line)
    assert measured["as_predicted"] and measured["rounds"] == measured["predicted_rounds"] > 0
    assert measured["secure_seconds"] >= measured["predicted_seconds"] / 2

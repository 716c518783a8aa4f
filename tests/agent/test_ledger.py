"""The ledger: what is appended stays, and every change shows."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tacit.agent.ledger import Ledger, LedgerError


def filled(path: Path, entries: int = 3) -> Ledger:
    ledger = Ledger(path)
    for number in range(entries):
        ledger.append("approved", {"query": f"SELECT {number}"})
    return ledger


def rewrite(path: Path, change: object) -> None:
    lines = path.read_text().splitlines()
    assert callable(change)
    path.write_text("".join(line + "\n" for line in change(lines)))


def test_an_untouched_ledger_verifies(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "a.jsonl")
    assert ledger.verify() == 3
    assert [entry["query"] for entry in ledger.entries()] == ["SELECT 0", "SELECT 1", "SELECT 2"]


def test_an_absent_ledger_is_empty(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "none.jsonl").verify() == 0


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    filled(tmp_path / "a.jsonl")
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


def test_a_changed_entry_shows(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "a.jsonl")
    rewrite(ledger.path, lambda lines: [lines[0], lines[1].replace("SELECT 1", "SELECT 9"), lines[2]])
    with pytest.raises(LedgerError, match=r"line 2: the entry was changed"):
        ledger.verify()


@pytest.mark.parametrize("kept", [[0, 2], [1, 2], [1, 0, 2], [0, 0, 1, 2]])
def test_a_removed_moved_or_repeated_entry_shows(tmp_path: Path, kept: list[int]) -> None:
    ledger = filled(tmp_path / "a.jsonl")
    rewrite(ledger.path, lambda lines: [lines[index] for index in kept])
    with pytest.raises(LedgerError, match="removed, inserted or replaced"):
        ledger.verify()


def test_nothing_is_added_behind_a_changed_entry(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "a.jsonl")
    rewrite(ledger.path, lambda lines: [*lines[:2], lines[2].replace("SELECT 2", "SELECT 9")])
    with pytest.raises(LedgerError, match=r"line 3.*nothing is added"):
        ledger.append("approved", {})


def test_an_incomplete_last_line_is_told(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "a.jsonl")
    ledger.path.write_bytes(ledger.path.read_bytes()[:-5])
    with pytest.raises(LedgerError, match="cut short"):
        ledger.append("approved", {})


def test_an_unwritable_ledger_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        Ledger(tmp_path / "file" / "a.jsonl").append("approved", {})


def _append_many(path: Path) -> None:
    for _ in range(20):
        Ledger(path).append("approved", {"query": "SELECT 1"})


def test_processes_append_at_once_without_breaking_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_append_many, [path] * 4))
    assert Ledger(path).verify() == 80


def test_entries_are_one_line_of_json_each(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "a.jsonl")
    ledger.append("approved", {"query": "SELECT\n1 -- é"})
    (line,) = ledger.path.read_text().splitlines()
    assert json.loads(line)["query"] == "SELECT\n1 -- é"

"""The history file: encrypted, known to the ledger, safe at every step of a crash."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit import _native
from tacit.audit.history import Answer, History, HistoryError, HistoryFile
from tacit.audit.own_data import Version
from tacit.audit.record import Record
from tacit.audit.sets import RowSet

KEY = bytes(32)
VERSIONS = {row: Version(bytes([row]), bytes([row % 4]) if row else None, (bytes([row]), b"")) for row in range(9)}


def record() -> Record:
    """Two sets, one with rows that count twice."""
    found = [
        RowSet({1: 1, 2: 2, 0: 1}, frozenset({"pay"}), frozenset({"pay", "city"})),
        RowSet({2: 1, 8: 3}, frozenset(), frozenset()),
    ]
    return Record(("pay", "age")).with_sets(found, VERSIONS, 5.0)


HISTORY = History(
    (Answer("a1", "q", "i", ("people",), 5.0), Answer("a2", "r", "i", ("people", "visits"), 6.5)),
    (("people", 7.0),),
    {"people": record()},
)


class Owner:
    """A history file with a list of hashes for a ledger."""

    def __init__(self, folder: Path) -> None:
        self.hashes: list[str] = []
        self.path = folder / "south.answers"
        self.file = HistoryFile(self.path, lambda: KEY, "south", self._last, self.hashes.append)

    def _last(self) -> str:
        return self.hashes[-1] if self.hashes else ""


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    """An owner who has answered."""
    found = Owner(tmp_path)
    found.file.write(HISTORY)
    return found


def test_what_is_written_is_read(owner: Owner) -> None:
    assert owner.file.read() == HISTORY
    assert len(owner.hashes) == 1
    assert (owner.path.stat().st_mode & 0o777) == 0o600
    assert b"people" not in owner.path.read_bytes()


def test_no_file_is_an_empty_history(tmp_path: Path) -> None:
    assert Owner(tmp_path).file.read() == History()


def spoiled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def of_another_party(path: Path) -> None:
    _native.write_sealed(str(path), KEY, "tacit answers 1 north", json.dumps(HISTORY.json() | {"before": ""}).encode())


def forged(path: Path) -> None:
    _native.write_sealed(str(path), bytes(31) + b"x", "tacit answers 1 south", b'{"before":""}')


@pytest.mark.parametrize("spoil", [Path.unlink, spoiled, cut, of_another_party, forged, lambda p: p.write_bytes(b"")])
def test_a_file_that_is_not_the_one_of_the_ledger_is_refused(owner: Owner, spoil: Callable[[Path], None]) -> None:
    spoil(owner.path)
    with pytest.raises(HistoryError, match="put its last copy back, so that what was answered is known"):
        owner.file.read()


def test_an_older_file_is_refused(owner: Owner) -> None:
    older = owner.path.read_bytes()
    owner.file.write(HISTORY)
    owner.file.write(History())
    owner.path.write_bytes(older)
    with pytest.raises(HistoryError, match="is not the one that the ledger says"):
        owner.file.read()


def test_a_file_without_its_ledger_is_refused(owner: Owner) -> None:
    owner.file.write(HISTORY)
    owner.hashes.clear()
    with pytest.raises(HistoryError, match="is not the one that the ledger says"):
        owner.file.read()


def test_a_crash_before_the_ledger_knows_of_it_forgets_nothing(owner: Owner) -> None:
    """As often as it happens, also at the first file of all."""
    for _ in range(3):
        owner.file.write(HISTORY)
        owner.hashes.pop()
        assert owner.file.read() == HISTORY
    owner.path.unlink()
    owner.hashes.clear()
    owner.file.write(HISTORY)
    owner.hashes.clear()
    assert owner.file.read() == HISTORY
    assert len(owner.hashes) == 1


def test_a_crash_while_the_file_is_written_leaves_the_last_one(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_native, "write_sealed", crash)
    with pytest.raises(KeyboardInterrupt):
        owner.file.write(History())
    assert owner.file.read() == HISTORY


def test_a_question_that_was_not_answered_is_taken_back(owner: Owner) -> None:
    owner.file.take_back("a1")
    assert [each.id for each in owner.file.read().answers] == ["a2"]
    owner.file.take_back("unknown")
    assert owner.file.read().records == HISTORY.records


def test_runs_at_the_same_time_lose_nothing(owner: Owner) -> None:
    def answer(number: int) -> None:
        with owner.file.locked():
            known = owner.file.read()
            more = Answer(f"b{number}", "q", "i", ("people",), 1.0)
            owner.file.write(History((*known.answers, more), known.refusals, known.records))

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(owner.file.read().answers) == 10


def test_old_sets_are_forgotten_and_others_stay(owner: Owner) -> None:
    later = record().with_sets([RowSet({1: 1, 5: 1}, frozenset(), frozenset({"age"}))], VERSIONS, 9.0)
    kept = later.since(8.0)
    assert [each.uses for each in kept.sets] == [frozenset({"age"})]
    assert {version.name: entries for version, entries in kept.rows.items()} == {b"\1": (1,), b"\5": (1,)}
    assert later.since(5.0) is later


def test_a_set_that_is_known_is_no_further_one() -> None:
    again = record().with_sets([RowSet({2: 1, 8: 3}, frozenset({"age"}), frozenset({"age"}))], VERSIONS, 9.0)
    assert len(again.sets) == 2
    assert again.sets[1].measures == {"age"}
    assert again.sets[1].asked == 9.0


def test_columns_of_an_offer_may_change() -> None:
    changed = record().with_columns(("age", "height"))
    assert {version.values for version in changed.rows} == {(b"", b"")}
    assert [each.entries for each in changed.atoms()] == [each.entries for each in record().atoms()]

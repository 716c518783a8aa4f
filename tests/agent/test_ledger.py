"""The ledger: what is appended stays, every change shows, and a write that was cut short is put right."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.agent.audit import audited
from tacit.agent.entry import canonical
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.signer import Signer

from .signing import signer


@pytest.fixture
def mine() -> Signer:
    return signer("north")


def filled(path: Path, mine: Signer, entries: int = 3) -> Ledger:
    ledger = Ledger(path, mine)
    for number in range(entries):
        ledger.append("approved", {"query": f"SELECT {number}"})
    return ledger


def rewrite(path: Path, change: object) -> None:
    lines = path.read_text().splitlines()
    assert callable(change)
    path.write_text("".join(line + "\n" for line in change(lines)))


def test_an_untouched_ledger_verifies(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    assert ledger.verify() == 3
    assert [entry["query"] for entry in ledger.entries()] == ["SELECT 0", "SELECT 1", "SELECT 2"]


def test_an_absent_ledger_is_empty(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "none.jsonl").verify() == 0


def test_only_the_owner_may_read_it(tmp_path: Path, mine: Signer) -> None:
    filled(tmp_path / "a.jsonl", mine)
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


def test_a_changed_entry_shows(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    rewrite(ledger.path, lambda lines: [lines[0], lines[1].replace("SELECT 1", "SELECT 9"), lines[2]])
    with pytest.raises(LedgerError, match=r"line 2: the entry was changed"):
        ledger.verify()


@pytest.mark.parametrize("kept", [[0, 2], [1, 2], [1, 0, 2], [0, 0, 1, 2]])
def test_a_removed_moved_or_repeated_entry_shows(tmp_path: Path, mine: Signer, kept: list[int]) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    rewrite(ledger.path, lambda lines: [lines[index] for index in kept])
    with pytest.raises(LedgerError, match="removed, inserted or replaced"):
        ledger.verify()


def test_nothing_is_added_behind_a_changed_entry(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    rewrite(ledger.path, lambda lines: [*lines[:2], lines[2].replace("SELECT 2", "SELECT 9")])
    for attempt in (ledger.check, lambda: ledger.append("approved", {})):
        with pytest.raises(LedgerError, match=r"the last line: the entry was changed .*nothing is added"):
            attempt()


def test_nothing_is_added_behind_an_entry_of_another_key(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    other = Ledger(ledger.path, signer("north"))
    for attempt in (other.check, lambda: other.append("approved", {})):
        with pytest.raises(LedgerError, match="not signed by the key of north's certificate"):
            attempt()
    assert ledger.verify() == 3


def test_nothing_is_written_under_a_key_that_is_not_that_of_the_certificate(tmp_path: Path, mine: Signer) -> None:
    mixed = Signer("north", signer("north").certificate, mine.key)
    with pytest.raises(LedgerError, match="private key is not that of its certificate"):
        Ledger(tmp_path / "a.jsonl", mixed).append("approved", {})
    assert Ledger(tmp_path / "a.jsonl").entries() == []


def test_an_unwritable_ledger_is_told(tmp_path: Path, mine: Signer) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        Ledger(tmp_path / "file" / "a.jsonl", mine).append("approved", {})


def test_entries_are_one_line_of_json_each(tmp_path: Path, mine: Signer) -> None:
    ledger = Ledger(tmp_path / "a.jsonl", mine)
    ledger.append("approved", {"query": "SELECT\n1 -- é"})
    (line,) = ledger.path.read_text().splitlines()
    assert json.loads(line)["query"] == "SELECT\n1 -- é"


def test_a_last_line_longer_than_what_is_read_at_once_is_found(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    ledger.append("approved", {"query": "x" * 300_000})
    ledger.append("approved", {"query": "SELECT 1"})
    assert ledger.verify() == 5


def test_hashes_tell_nothing_of_what_they_are_of(tmp_path: Path, mine: Signer) -> None:
    """Two parties that write the same at the same second have different hashes."""
    entries = [Ledger(tmp_path / f"{name}.jsonl", mine).append("approved", {"query": "SELECT 1"}) for name in "ab"]
    assert entries[0]["hash"] != entries[1]["hash"]


def cuts(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """A whole ledger before its last entry, and that entry's line cut short at every byte."""
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(start, len(whole)):
        yield whole[:start], whole[start:end]


def problems(ledger: Ledger, mine: Signer) -> list[str]:
    return audited(ledger.entries(), mine.party, mine.certificate, "it").problems


def test_a_write_cut_short_at_any_byte_is_recognised_and_put_right(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine, 2)
    whole = ledger.path.read_bytes()
    for number, (before, torn) in enumerate(cuts(ledger.path)):
        path = tmp_path / f"{number}" / "a.jsonl"
        path.parent.mkdir()
        path.write_bytes(before + torn)
        cut = Ledger(path, mine)
        cut.check()
        only_the_end = before + torn + b"\n" == whole
        assert cut.torn() == (b"" if only_the_end else torn)
        assert cut.verify() == (2 if only_the_end else 1)
        cut.append("approved", {"query": "SELECT 9"})
        kinds = [entry["kind"] for entry in cut.entries()]
        aside = path.with_name("a.jsonl.torn")
        if only_the_end or not torn:
            assert kinds == ["approved"] * (3 if only_the_end else 2) and not aside.exists()
        else:
            assert kinds == ["approved", "repaired", "approved"]
            assert aside.read_bytes() == torn + b"\n" and stat.S_IMODE(aside.stat().st_mode) == 0o600
            told = cut.entries()[1]
            assert (told["bytes"], told["sha256"]) == (len(torn), hashlib.sha256(torn).hexdigest())
        assert problems(cut, mine) == []
        assert path.read_bytes().startswith(before), "nothing that was whole is lost"


def test_the_first_write_of_all_may_be_cut_short(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine, 1)
    ledger.path.write_bytes(ledger.path.read_bytes()[:40])
    assert ledger.verify() == 0
    ledger.append("approved", {"query": "SELECT 1"})
    assert [entry["kind"] for entry in ledger.entries()] == ["repaired", "approved"] and problems(ledger, mine) == []


def test_a_torn_write_behind_a_changed_entry_hides_nothing(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    changed = ledger.path.read_bytes().replace(b"SELECT 2", b"SELECT 9")
    ledger.path.write_bytes(changed + b'{"kind":')
    with pytest.raises(LedgerError, match="the entry was changed"):
        ledger.append("approved", {})
    assert ledger.path.read_bytes() == changed + b'{"kind":', "nothing is touched"


def _append_in_a_process(path: Path, mine: Signer, times: int) -> int:
    """Append in a copy of this process. Returns its id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        for _ in range(times):
            Ledger(path, mine).append("approved", {"query": "SELECT 1"})
        status = 0
    finally:
        os._exit(status)


def test_processes_append_at_once_without_breaking_the_chain(tmp_path: Path, mine: Signer) -> None:
    path = tmp_path / "a.jsonl"
    started = [_append_in_a_process(path, mine, 20) for _ in range(4)]
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in started] == [0] * 4
    assert Ledger(path).verify() == 80


def test_processes_that_find_a_torn_write_put_it_right_once(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-30])
    started = [_append_in_a_process(ledger.path, mine, 5) for _ in range(2)]
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in started] == [0] * 2
    kinds = [entry["kind"] for entry in ledger.entries()]
    assert kinds.count("repaired") == 1 and len(kinds) == 2 + 1 + 10 and problems(ledger, mine) == []


def test_what_an_entry_says_may_follow_from_those_before_while_nobody_else_appends(
    tmp_path: Path, mine: Signer
) -> None:
    path = tmp_path / "a.jsonl"

    def work() -> None:
        for _ in range(10):
            Ledger(path, mine).append("approved", lambda entries: {"before": len(entries)})

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry["before"] for entry in Ledger(path).entries()] == list(range(30))


def unsigned(path: Path) -> None:
    """Two entries as versions before signatures wrote them."""
    lines, previous = [], "0" * 64
    for number in (1, 2):
        body = {"entry": number, "kind": "approved", "previous": previous, "query": f"SELECT {number}", "time": "then"}
        previous = hashlib.sha256(canonical(body)).hexdigest()
        lines.append(canonical({**body, "hash": previous}) + b"\n")
    path.write_bytes(b"".join(lines))


def test_entries_of_versions_before_signatures_count_once_somebody_signs_them(tmp_path: Path, mine: Signer) -> None:
    ledger = Ledger(tmp_path / "a.jsonl", mine)
    unsigned(ledger.path)
    assert ledger.verify() == 2 and "line 1: the entry is not signed" in problems(ledger, mine)[0]
    with pytest.raises(LedgerError, match="`tacit ledger adopt --name north` signs what is there"):
        ledger.append("approved", {})
    assert ledger.adopt()["entries"] == 2
    ledger.append("approved", {"query": "SELECT 3"})
    assert problems(ledger, mine) == []
    with pytest.raises(LedgerError, match="no entry waits to be signed"):
        ledger.adopt()
    rewrite(ledger.path, lambda lines: [lines[0].replace("SELECT 1", "SELECT 9"), *lines[1:]])
    assert "line 1: the entry was changed" in problems(ledger, mine)[0]


def test_unsigned_entries_after_signed_ones_are_not_taken_over(tmp_path: Path, mine: Signer) -> None:
    ledger = filled(tmp_path / "a.jsonl", mine, 1)
    last = ledger.entries()[-1]
    body = {"entry": 2, "kind": "approved", "previous": last["hash"], "query": "SELECT 9", "time": "then"}
    fake = {**body, "hash": hashlib.sha256(canonical(body)).hexdigest()}
    ledger.path.write_bytes(ledger.path.read_bytes() + canonical(fake) + b"\n")
    assert "line 2: the entry is not signed" in problems(ledger, mine)[0]
    with pytest.raises(LedgerError, match="stands after signed ones"):
        ledger.adopt()

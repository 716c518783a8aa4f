"""Kills while a key is replaced or an entry is written, and links in place of files."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from tacit.agent.answered import KEY_PURPOSE, recorded_history
from tacit.agent.audit import audited
from tacit.agent.entry import JSON, canonical
from tacit.agent.federation_members import Members
from tacit.agent.keys import derived_key, make_keys
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.signer import Signer
from tacit.audit.history import Answer, History, HistoryFile

from .signing import Party


def test_a_torn_write_before_a_new_key_is_put_right(parties: dict[str, Party], members: Members) -> None:
    south = parties["south"]
    south.ledger.append("approved", {"query": "SELECT 1"})
    with south.ledger.path.open("ab") as file:
        file.write(b'{"entry":2,')
    make_keys(members, ["south"], replace=True)
    fresh = Signer.of(members, "south")
    ledger = Ledger(south.ledger.path, fresh)
    ledger.append("approved", {"query": "SELECT 2"})
    assert audited(ledger.entries(), "south", fresh.certificate, "it").problems == []
    assert sorted(entry["kind"] for entry in ledger.entries()) == ["approved", "approved", "key", "repaired"]


@pytest.mark.parametrize("torn", [None, 0, 1, 40])
def test_a_kill_while_a_key_is_replaced_does_not_end_the_ledger(
    parties: dict[str, Party], members: Members, monkeypatch: pytest.MonkeyPatch, torn: int | None
) -> None:
    """torn: bytes of the entry `key` that were written; None: the old pair is half replaced."""
    south = parties["south"]
    south.ledger.append("approved", {"query": "SELECT 1"})

    class Killed(BaseException):
        pass

    def killed(self: Ledger, file: Any, entry: JSON) -> JSON:
        if entry["kind"] == "key":
            file.write(canonical(entry)[:torn])
            file.flush()
            raise Killed
        return entry

    def killed_early(path: Path, content: bytes, mode: int) -> None:
        if path.suffix == ".crt":
            raise Killed
        write(path, content, mode)

    with monkeypatch.context() as patched:
        from tacit.agent import keys

        write = keys.write_whole
        if torn is None:
            patched.setattr(keys, "write_whole", killed_early)
        else:
            patched.setattr(Ledger, "_write", killed)
        with pytest.raises(Killed):
            make_keys(members, ["south"], replace=True)
    make_keys(members, ["south"], replace=True)
    fresh = Signer.of(members, "south")
    ledger = Ledger(south.ledger.path, fresh)
    ledger.append("approved", {"query": "SELECT 2"})
    assert audited(ledger.entries(), "south", fresh.certificate, "it").problems == []
    assert ledger.entries()[0]["query"] == "SELECT 1"


def history(members: Members, party: str) -> HistoryFile:
    ledger = Ledger(members.private(party).ledger, Signer.of(members, party))

    def record(found: str) -> None:
        ledger.append("history", {"party": party, "history": found})

    def key() -> bytes:
        return derived_key(members.private(party).read_key(), KEY_PURPOSE)

    return HistoryFile(members.private(party).history, key, party, lambda: recorded_history(ledger), record)


@pytest.mark.parametrize("killed", [None, ".key", ".crt"])
def test_a_new_key_does_not_lose_what_was_answered(
    parties: dict[str, Party], members: Members, monkeypatch: pytest.MonkeyPatch, killed: str | None
) -> None:
    """killed: before which file of the new pair is written, or between the pair and the history."""
    said = History((Answer("a1", "q", "i", ("people",), 5.0),))
    kept = history(members, "south")
    with kept.locked():
        kept.write(said)

    class Killed(BaseException):
        pass

    def stops(path: Path, content: bytes, mode: int) -> None:
        if path.suffix == killed:
            raise Killed
        write(path, content, mode)

    from tacit.agent import keys

    write = keys.write_whole
    if killed is not None:
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(keys, "write_whole", stops)
            make_keys(members, ["south"], replace=True)
    make_keys(members, ["south"], replace=True)
    assert history(members, "south").read() == said
    assert (
        audited(Ledger(members.private("south").ledger).entries(), "south", members.certificate("south"), "it").problems
        == []
    )


def test_what_is_moved_aside_follows_no_link(parties: dict[str, Party], tmp_path: Path) -> None:
    south = parties["south"]
    south.ledger.append("approved", {"query": "SELECT 1"})
    with south.ledger.path.open("ab") as file:
        file.write(b'{"entry":2,')
    target = tmp_path / "target"
    target.write_text("")
    south.ledger.path.with_name(south.ledger.path.name + ".torn").symlink_to(target)
    with contextlib.suppress(LedgerError):
        south.ledger.append("approved", {"query": "SELECT 2"})
    assert target.read_bytes() == b""

"""What a match resumes from, after whatever has happened to the disk: the state that was written, or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import _native
from tacit.agent.faults import RunError
from tacit.psi.state import FILE, State, parsed, read_state, remove_folder, write_state

STATE = State("ab" * 32, "cd" * 16, "ef" * 16, "a.csv 1 2", ["id", "/", "own"], 3, (10, 20), (10, 1, [2]))


KEY = b"k" * 32


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_state(tmp_path, KEY, STATE)
    assert read_state(tmp_path, KEY, bytes.fromhex("ab" * 32), STATE.stamp, STATE.columns) == STATE
    assert read_state(tmp_path, KEY, bytes.fromhex("ac" * 32), STATE.stamp, STATE.columns) is None


def test_nothing_is_resumed_without_a_state(tmp_path: Path) -> None:
    assert read_state(tmp_path, KEY, b"", "", []) is None


def test_a_state_shows_nothing_but_its_length_and_is_refused_when_it_is_damaged(tmp_path: Path) -> None:
    write_state(tmp_path, KEY, STATE)
    file = tmp_path / FILE
    whole = file.read_bytes()
    assert all(text.encode() not in whole for text in (STATE.key, STATE.run, STATE.stamp, "plan_hash"))
    for changed in (whole[:-1], whole[:50], whole + b"x", whole[:90] + bytes([whole[90] ^ 1]) + whole[91:]):
        file.write_bytes(changed)
        with pytest.raises(_native.InputError, match="is damaged; remove the folder that it is in"):
            read_state(tmp_path, KEY, bytes.fromhex("ab" * 32), STATE.stamp, STATE.columns)
    file.write_bytes(whole)
    with pytest.raises(_native.InputError, match="under another private key of this party"):
        read_state(tmp_path, b"l" * 32, bytes.fromhex("ab" * 32), STATE.stamp, STATE.columns)


def test_what_cannot_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    remove_folder(folder)
    folder.mkdir()
    (folder / "0.rows").write_bytes(b"rows")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.unlink", refuse)
    with pytest.raises(RunError, match=r"work: cannot be removed \(Operation not permitted\); it holds rows"):
        remove_folder(folder)
    monkeypatch.undo()
    remove_folder(folder)
    assert not folder.exists()


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 1 << 70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
members = st.sampled_from(sorted(STATE.__dataclass_fields__))


def check(found: State | None) -> None:
    """A state that is read at all can be used: every member is what it is declared to be."""
    if found is None:
        return
    texts = [found.plan_hash, found.run, found.key, found.stamp, *found.columns]
    numbers = [found.bins, *found.rows, *found.counts[:2], *found.counts[2]]
    assert all(type(text) is str for text in texts) and all(type(number) is int for number in numbers)
    assert len(bytes.fromhex(found.key)) == 16 and found.bins >= 1 and min(numbers) >= 0
    assert (len(found.rows), len(found.counts)) == (2, 3)


@given(changes=st.dictionaries(members, anything, min_size=1, max_size=3), missing=st.sets(members, max_size=1))
def test_other_members_are_a_proper_state_or_none(changes: dict[str, Any], missing: set[str]) -> None:
    told = {**STATE.__dict__, **changes}
    check(parsed(json.dumps({name: told[name] for name in told if name not in missing}).encode()))
    check(parsed(json.dumps({**told, "more": 1}).encode()))


@given(at=st.integers(0, 400), put=st.binary(max_size=6), cut=st.booleans())
def test_other_bytes_are_a_proper_state_or_none(tmp_path_factory: Any, at: int, put: bytes, cut: bool) -> None:
    whole = json.dumps(STATE.__dict__).encode()
    check(parsed(whole[:at] + put + (b"" if cut else whole[at + len(put) :])))


@given(content=st.binary(max_size=60) | anything.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_no_state(content: bytes) -> None:
    assert parsed(content) is None


def test_deep_nesting_is_no_state() -> None:
    assert parsed(b"[" * 100_000) is None

"""What a match resumes from, after whatever has happened to the disk: the state that was written, or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tacit.psi.state import FILE, State, parsed, read_state, write_state

STATE = State("ab" * 32, "cd" * 16, "ef" * 16, "a.csv 1 2", ["id", "/", "own"], 3, (10, 20), (10, 1, [2]))


def written(folder: Path, state: State = STATE) -> bytes:
    """The bytes that a state has on disk."""
    write_state(folder, state)
    return (folder / FILE).read_bytes()


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert parsed(written(tmp_path)) == STATE
    assert read_state(tmp_path, bytes.fromhex("ab" * 32), STATE.stamp, STATE.columns) == STATE
    assert read_state(tmp_path, bytes.fromhex("ac" * 32), STATE.stamp, STATE.columns) is None


def test_nothing_is_resumed_without_a_state(tmp_path: Path) -> None:
    assert read_state(tmp_path, b"", "", []) is None


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

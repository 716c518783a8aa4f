"""Rows of two owners are matched: messages are the same for any keys with as many matching rows."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from tests.native.test_psi import Join, assert_no_order_is_opened

from tacit import _native

NODES = ["a", "b", "c"]
VALUE = {"repr": "bits", "width": 20, "signed": False, "nullable": False}
Messages = list[tuple[object, ...]]


def join(seed: int, rows: int, matching: int, *, clustered: bool) -> Join:
    """``rows`` rows on each side, of which ``matching`` right ones match: all one left row, or each as it comes."""
    words = random.Random(seed)
    keys = words.sample(range(1 << 40), rows)
    partners = [keys[0]] * matching if clustered else [words.choice(keys) for _ in range(matching)]
    strangers: list[int | None] = [words.randrange(1 << 41, 1 << 42) for _ in range(rows - matching)]
    strangers[: len(strangers) // 3] = [None] * (len(strangers) // 3) if clustered else strangers[: len(strangers) // 3]
    refs = [*partners, *strangers]
    words.shuffle(refs)
    left = pa.table({"id": keys, "v": [words.randrange(1 << 20) for _ in range(rows)]})
    right = pa.table({"ref": refs, "w": [words.randrange(1 << 20) for _ in range(rows)]})
    return Join(left, right, {"number": ("id", "ref")}, {"v": VALUE, "w": VALUE})


def messages(drawn: Join) -> list[Messages]:
    """What each node sends and receives: steps, rounds, peers, sizes."""
    sessions = _native.Session.in_memory(
        NODES, drawn.permits(), json.dumps(drawn.operators), record=True, engine="rep3"
    )
    with ThreadPoolExecutor(len(NODES)) as threads:
        list(threads.map(drawn.drive, sessions))
    return [[tuple(each.items()) for each in session.transcript() if "opened" not in each] for session in sessions]


@pytest.mark.parametrize("rows", [60, 2000])
def test_messages_do_not_depend_on_which_rows_match(rows: int) -> None:
    expected = messages(join(1, rows, rows // 2, clustered=False))
    assert messages(join(2, rows, rows // 2, clustered=False)) == expected
    assert messages(join(3, rows, rows // 2, clustered=True)) == expected


def test_only_the_owners_send_and_hear_anything_while_they_match() -> None:
    _, *owners = messages(join(4, 2000, 700, clustered=False))
    bystander = messages(join(4, 2000, 700, clustered=False))[0]
    matching = [dict(each) for each in bystander if "match" in str(dict(each)["step"])]
    assert matching == []
    assert all(any("match" in str(dict(each)["step"]) for each in owner) for owner in owners)


def test_no_node_opens_matches_in_the_order_that_their_owners_know() -> None:
    assert_no_order_is_opened(join(5, 300, 100, clustered=False))

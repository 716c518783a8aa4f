"""Joins by private set intersection: every engine gives the join, at the declared cost, and only with its permits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from tacit import _native

from .plans import JSON, NODES, Rows, bits, ring64, rows_of

LEFT, RIGHT = pa.int64(), pa.int32()
"""Types of the same keys at both owners."""


@dataclass
class Join:
    """A psi of b's table and c's, and the release of all shared columns to a."""

    left: pa.Table
    right: pa.Table
    keys: dict[str, tuple[str, str]]
    columns: dict[str, JSON]
    right_unique: bool = False
    rows: tuple[int | None, int | None] = (None, None)
    pad_to: tuple[int | None, int | None] = (None, None)
    permits_left_out: set[int] = field(default_factory=set)
    ordered: bool = False

    @property
    def operators(self) -> list[JSON]:
        sides = []
        for place, (owner, data) in enumerate((("b", self.left), ("c", self.right))):
            own = [name for name in self.columns if name in data.column_names]
            sides.append(
                {
                    "local": place + 1,
                    "owner": owner,
                    "rows": self.rows[place],
                    "pad_to_source": self.pad_to[place] is not None,
                    "keys": [{"source": pair[place], "encode": how} for how, pair in self._keys()],
                    "columns": [
                        {"name": name, "source": name, "encode": "int", "kind": self.columns[name]} for name in own
                    ],
                }
            )
        psi = {"id": 3, "op": "psi", "left": sides[0], "right": sides[1], "right_unique": self.right_unique}
        release = {
            "id": 4,
            "op": "release",
            "input": 3,
            "to": ["a"],
            "columns": list(self.columns),
            "ordered": self.ordered,
        }
        return [psi, release]

    def _keys(self) -> list[tuple[str, tuple[str, str]]]:
        return [("hash" if name.startswith("text") else "int", pair) for name, pair in self.keys.items()]

    def permits(self) -> str:
        # There are none for an order that no sort makes; those of the same columns serve.
        operators = replace(self, ordered=False).operators
        listed = json.loads(_native.permits("rep3", json.dumps(operators), nodes=NODES))
        return json.dumps([each for place, each in enumerate(listed) if place not in self.permits_left_out])

    def drive(self, session: _native.Session, *, everyone: bool = False) -> _native.Opened | None:
        psi, release = (operator["id"] for operator in self.operators)
        left, right = (
            data if everyone or session.me == owner else None for owner, data in (("b", self.left), ("c", self.right))
        )
        session.psi(psi, left, right, pad_to=self.pad_to)
        opened = session.release(release)
        session.close()
        return opened


def in_clear(join: Join) -> Rows:
    opened = join.drive(_native.Session.clear(NODES, join.permits(), json.dumps(join.operators)), everyone=True)
    assert opened is not None
    return sorted(rows_of(opened), key=repr)


def in_memory(join: Join) -> Rows:
    """On rep3; what every node sends and how many rounds there are is what the join's cost declares."""
    sessions = _native.Session.in_memory(NODES, join.permits(), json.dumps(join.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        opened = list(threads.map(join.drive, sessions))
    assert opened[0] is not None and opened[1:] == [None, None]
    rows = sorted(rows_of(opened[0]), key=repr)
    announced = [pad or data.num_rows for pad, data in zip(join.pad_to, (join.left, join.right), strict=True)]
    known = {1: announced[0], 2: announced[1], 3: len(rows)}
    declared = _native.cost("rep3", json.dumps(join.operators), known, nodes=NODES)
    for node, session in enumerate(sessions):
        metered = {each["step"]: each for each in session.metrics()}
        for cost in declared:
            actual = metered[cost["step"]]
            assert (actual["rounds"], actual["bytes_sent"]) == (cost["rounds"], cost["bytes_sent"][node]), cost["step"]
    return rows


ENGINES = pytest.mark.parametrize("run", [in_clear, in_memory], ids=["clear", "rep3"])
Run = Callable[[Join], Rows]


def people(count: int, **members: Any) -> Join:
    """Left keys 0, 3, 6, ...; right keys are as many of the numbers from 0, each twice."""
    left = pa.table({"id": pa.array(range(0, 3 * count, 3), LEFT), "v": range(count)})
    right = pa.table({"ref": pa.array([row // 2 for row in range(count)], RIGHT), "w": range(count)})
    return Join(left, right, {"number": ("id", "ref")}, {"v": ring64(), "w": bits(20)}, **members)


def expected(join: Join) -> Rows:
    """The join of such tables, computed here."""
    places: dict[int, int] = {key: row for row, key in enumerate(join.left["id"].to_pylist())}
    found = [(places[key], row) for row, key in enumerate(join.right["ref"].to_pylist()) if key in places]
    return sorted(found, key=repr)


@ENGINES
@pytest.mark.parametrize("count", [0, 1, 7, 64, 3000])
def test_each_right_row_meets_its_left_row(run: Run, count: int) -> None:
    join = people(count)
    assert run(join) == expected(join)


@ENGINES
def test_declared_and_source_sizes_are_padded(run: Run) -> None:
    assert run(people(10, rows=(40, None), pad_to=(None, 25))) == expected(people(10))
    assert run(people(10, rows=(None, 10), pad_to=(12, None))) == expected(people(10))


def test_a_side_is_not_announced_as_it_is_in_place_of_its_source() -> None:
    """What filters left of it would be told."""
    join = people(10, rows=(40, None), pad_to=(None, 25))
    left, right = join.left, join.right
    session = _native.Session.clear(NODES, join.permits(), json.dumps(join.operators))
    with pytest.raises(_native.InputError, match="padded to those of their source: give its number"):
        session.psi(join.operators[0]["id"], left, right)


@ENGINES
def test_unique_right_keys_need_no_counts(run: Run) -> None:
    left = pa.table({"k": [5, 3, 9], "x": [1, 2, 3]})
    right = pa.table({"k": [9, 8, 5], "y": [10, 20, 30]})
    join = Join(left, right, {"number": ("k", "k")}, {"x": bits(8), "y": bits(8)}, right_unique=True)
    assert run(join) == [(1, 30), (3, 10)]


@ENGINES
def test_several_keys_null_and_strings(run: Run) -> None:
    left = pa.table({"n": [1, 1, None, 2], "s": ["a", "b", "a", None], "x": [1, 2, 3, 4]})
    right = pa.table({"m": [1, 1, None, 2, 1], "t": ["b", "b", "a", None, "ab"], "y": [1, 2, 3, 4, 5]})
    keys = {"number": ("n", "m"), "text": ("s", "t")}
    assert run(Join(left, right, keys, {"x": bits(4), "y": bits(4)})) == [(2, 1), (2, 2)]


@ENGINES
def test_shared_columns_keep_their_nulls(run: Run) -> None:
    left = pa.table({"k": [1, 2], "x": [None, 7]})
    right = pa.table({"r": [2, 1, 2], "y": [None, 5, 6]})
    kind = bits(4, nullable=True)
    assert run(Join(left, right, {"number": ("k", "r")}, {"x": kind, "y": kind})) == [(7, 6), (7, None), (None, 5)]


@pytest.mark.parametrize("missing", range(5))
def test_without_one_of_its_permits_nothing_is_matched(missing: int) -> None:
    join = people(5, permits_left_out={missing})
    sessions = _native.Session.in_memory(NODES, join.permits(), json.dumps(join.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        errors = [future.exception() for future in [threads.submit(join.drive, session) for session in sessions]]
    assert any(isinstance(error, _native.PolicyError) for error in errors)
    assert all(isinstance(error, _native.PolicyError | _native.PeerGoneError) for error in errors)


def failures(join: Join, drive: Callable[[_native.Session], object]) -> dict[str, BaseException | None]:
    """How each party ends."""
    sessions = _native.Session.in_memory(NODES, join.permits(), json.dumps(join.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        return {
            session.me: future.exception()
            for session, future in [(session, threads.submit(drive, session)) for session in sessions]
        }


def assert_no_order_is_opened(join: Join) -> None:
    """Rows are shuffled, and an order is opened only if a sort of the plan made it."""
    ordered = replace(join, ordered=True)
    found = failures(ordered, ordered.drive)
    # Who refuses first ends the session of the others.
    assert any(isinstance(end, _native.InputError) and "none of its sorts" in str(end) for end in found.values())


def test_an_owner_that_vanishes_ends_the_others() -> None:
    join = people(5000)

    def drive(session: _native.Session) -> object:
        if session.me == "c":
            session.abort("it was interrupted")
            return None
        return join.drive(session)

    start = time.monotonic()
    found = failures(join, drive)
    assert isinstance(found["a"], _native.PeerGoneError) and isinstance(found["b"], _native.PeerGoneError)
    assert time.monotonic() - start < 20


def test_wrong_data_is_the_owners_fault() -> None:
    repeated = Join(
        pa.table({"k": [1, 1], "x": [1, 2]}),
        pa.table({"r": [1], "y": [1]}),
        {"number": ("k", "r")},
        {"x": bits(4), "y": bits(4)},
    )
    assert isinstance(failures(repeated, repeated.drive)["b"], _native.InputError)
    too_many = people(10, rows=(5, None))
    assert isinstance(failures(too_many, too_many.drive)["b"], _native.InputError)
    nobody = people(5)
    found = failures(nobody, lambda session: session.psi(nobody.operators[0]["id"], None, None))
    assert isinstance(found["b"], _native.InputError) and isinstance(found["c"], _native.InputError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": []}, "as many left keys as right keys"),
        ({"keys": [{"source": "id", "encode": "int"}] * 2}, "as many left keys as right keys"),
        ({"keys": [{"source": "id", "encode": "hash"}]}, "no keys of this join"),
        ({"keys": [{"source": "nothing", "encode": "int"}]}, "no column"),
        ({"rows": 1 << 40}, "at most"),
        ({"owner": "nobody"}, "nobody"),
        ({"owner": "c"}, "psi"),
    ],
)
def test_a_malformed_psi_is_an_input_error(change: JSON, message: str) -> None:
    join = people(5, rows=(5, 5))
    psi = join.operators[0]
    psi["left"].update(change)
    permits = json.loads(join.permits())
    permits.append({"site": "3.psi", "kind": "matches", "recipients": ["nobody"], "columns": [], "rows": None})
    sessions = _native.Session.in_memory(NODES, json.dumps(permits), json.dumps([psi]), engine="rep3")
    left = join.left if psi["left"]["owner"] == "b" else None
    with pytest.raises(_native.InputError, match=message):
        sessions[1].psi(psi["id"], left, None)


def test_a_psi_is_no_operator_of_run() -> None:
    join = people(5)
    session = _native.Session.clear(NODES, join.permits(), json.dumps(join.operators))
    with pytest.raises(_native.TacitError):
        session.run(join.operators[0]["id"])

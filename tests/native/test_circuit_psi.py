"""Joins by circuit-PSI: every engine gives the join, at the declared cost, and what is sent depends on sizes alone."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pytest

from tacit import _native

from .plans import JSON, NODES, Rows, bits, ring64, rows_of
from .test_psi import ENGINES, Join, Run, assert_no_order_is_opened, failures

RING128: JSON = {"repr": "ring128", "width": 100, "signed": True, "nullable": True}
TEXT: JSON = {"repr": "bits", "width": 8 * 12, "signed": False, "nullable": True}


@dataclass
class CircuitJoin(Join):
    """A circuit_psi of b's table and c's, and the release of all shared columns to a."""

    @property
    def operators(self) -> list[JSON]:
        psi, release = super().operators
        del psi["right_unique"]
        return [{**psi, "op": "circuit_psi"}, release]


def people(left: int, right: int, common: int, seed: int = 1, **members: object) -> CircuitJoin:
    """Rows of each side with different keys, of which ``common`` are in both."""
    drawn = random.Random(seed)
    keys = drawn.sample(range(10 * (left + right)), left + right - common)
    ids = drawn.sample(keys[:left], left)
    refs = drawn.sample(keys[left - common :], right)
    tables = (
        pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array([7 * key - 3 for key in ids], pa.int64())}),
        pa.table({"ref": pa.array(refs, pa.int32()), "w": pa.array([key + 1 for key in refs], pa.int64())}),
    )
    columns = {"v": ring64(), "w": bits(40)}
    return CircuitJoin(*tables, {"number": ("id", "ref")}, columns, **members)  # type: ignore[arg-type]


def expected(join: CircuitJoin) -> Rows:
    """The join of such tables, computed here."""
    known = set(join.right["ref"].to_pylist())
    return sorted(((7 * key - 3, key + 1) for key in join.left["id"].to_pylist() if key in known), key=repr)


@ENGINES
@pytest.mark.parametrize(
    ("left", "right", "common"),
    [(0, 0, 0), (0, 5, 0), (4, 0, 0), (1, 1, 1), (1, 1, 0), (9, 7, 7), (3, 400, 2), (400, 3, 3), (3000, 3001, 1500)],
)
def test_each_row_meets_its_match(run: Run, left: int, right: int, common: int) -> None:
    join = people(left, right, common)
    assert run(join) == expected(join)


def between_two(join: CircuitJoin, ahead: bool) -> Rows:
    """On the engine of both owners alone, at the declared cost; the answer is b's. ahead: with a second session."""
    nodes = ["b", "c"]
    plan = join.operators
    plan[1]["to"] = ["b"]
    permits = json.loads(join.permits())
    for permit in permits:
        permit["recipients"] = ["b"] if permit["kind"] == "answer" else nodes
    operators = json.dumps(plan)
    sessions = _native.Session.in_memory(nodes, json.dumps(permits), operators, engine="two", ahead=ahead)

    def drive(session: _native.Session) -> Rows:
        sides = (join.left, None) if session.me == "b" else (None, join.right)
        session.psi(plan[0]["id"], *sides, pad_to=join.pad_to)
        opened = session.release(plan[1]["id"])
        session.close()
        return [] if opened is None else sorted(rows_of(opened), key=repr)

    with ThreadPoolExecutor(2) as threads:
        rows, _ = threads.map(drive, sessions)
    sizes = {1: join.left.num_rows, 2: join.right.num_rows}
    for place, session in enumerate(sessions):
        metered = {each["step"]: each for each in session.metrics()}
        for cost in _native.cost("two", operators, sizes, nodes=nodes, ahead=ahead):
            actual = metered[cost["step"]]
            expected = cost["rounds"], cost["rounds_ahead"], cost["bytes_sent"][place]
            assert (actual["rounds"], actual["rounds_ahead"], actual["bytes_sent"]) == expected, cost["step"]
    return rows


@pytest.mark.parametrize("ahead", [False, True], ids=["as needed", "ahead"])
@pytest.mark.parametrize(("left", "right", "common"), [(0, 4, 0), (9, 7, 7), (200, 300, 100)])
def test_both_owners_alone_join_too(left: int, right: int, common: int, ahead: bool) -> None:
    join = people(left, right, common)
    assert between_two(join, ahead) == expected(join)


@ENGINES
def test_declared_and_source_sizes_are_padded(run: Run) -> None:
    assert run(people(10, 8, 5, rows=(40, None), pad_to=(None, 25))) == expected(people(10, 8, 5))
    assert run(people(10, 8, 5, rows=(None, 8), pad_to=(12, None))) == expected(people(10, 8, 5))


@ENGINES
@pytest.mark.parametrize("turned", [False, True])
def test_null_keys_match_nothing_and_columns_of_all_kinds_keep_their_nulls(run: Run, turned: bool) -> None:
    left = {
        "n": pa.array([1, 1, None, 2, 3], pa.int64()),
        "s": ["a", "b", "a", None, "c"],
        "sum": pa.array([None, -(10**25), 5, 6, 10**25], pa.decimal128(38, 0)),
        "name": ["x", "twelve bytes", "x", "x", None],
    }
    right = {"m": [3, 1, None, 2], "t": ["c", "b", "a", None], "y": [None, 9, 1, 2]}
    columns = {"sum": RING128, "name": TEXT, "y": bits(4, nullable=True)}
    sides = (pa.table(left), pa.table(right))
    keys = {"number": ("n", "m"), "text": ("s", "t")}
    if turned:
        sides, keys = (sides[1], sides[0]), {name: (b, a) for name, (a, b) in keys.items()}
        columns = dict(sorted(columns.items(), reverse=True))
    found = {tuple(sorted(map(str, row))) for row in run(EncodedJoin(*sides, keys, columns))}
    rows = [(-(10**25), "twelve bytes", 9), (10**25, None, None)]
    assert found == {tuple(sorted(map(str, row))) for row in rows}


@dataclass
class EncodedJoin(CircuitJoin):
    """Strings are shared as bytes."""

    @property
    def operators(self) -> list[JSON]:
        psi, release = super().operators
        for column in psi["left"]["columns"] + psi["right"]["columns"]:
            column["encode"] = "bytes" if column["name"] == "name" else "int"
        return [psi, release]


def test_repeated_keys_and_wrong_data_are_the_owners_fault() -> None:
    repeated = people(5, 5, 2)
    repeated.right = pa.table({"ref": [1, 1], "w": [1, 2]})
    assert isinstance(failures(repeated, repeated.drive)["c"], _native.InputError)
    too_many = people(10, 10, 2, rows=(5, None))
    assert isinstance(failures(too_many, too_many.drive)["b"], _native.InputError)
    nobody = people(5, 5, 2)
    found = failures(nobody, lambda session: session.psi(nobody.operators[0]["id"], None, None))
    assert isinstance(found["b"], _native.InputError) and isinstance(found["c"], _native.InputError)


@pytest.mark.parametrize("missing", [0, 1])
def test_without_a_permit_no_size_is_announced(missing: int) -> None:
    join = people(5, 5, 2, permits_left_out={missing})
    found = failures(join, join.drive).values()
    assert any(isinstance(error, _native.PolicyError) for error in found)
    assert all(isinstance(error, _native.PolicyError | _native.PeerGoneError) for error in found)


Message = tuple[tuple[str, object], ...]


def messages(join: CircuitJoin) -> list[list[Message]]:
    """What each node sends and receives: steps, rounds, peers, sizes."""
    sessions = _native.Session.in_memory(NODES, join.permits(), json.dumps(join.operators), record=True, engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        list(threads.map(join.drive, sessions))
    return [[tuple(each.items()) for each in session.transcript() if "opened" not in each] for session in sessions]


def test_messages_depend_on_sizes_alone() -> None:
    first = messages(people(300, 200, 0))
    assert messages(people(300, 200, 200, seed=2)) == first
    padded = messages(people(300, 200, 100, rows=(300, 200)))
    assert messages(people(250, 150, 20, seed=3, rows=(300, 200))) == padded


def test_no_node_opens_rows_in_the_order_of_their_bins() -> None:
    assert_no_order_is_opened(people(60, 60, 60))


def test_the_rows_of_a_join_follow_from_its_sizes() -> None:
    assert _native.circuit_psi_rows(0, 9) == 0
    few, many = _native.circuit_psi_rows(1 << 16, 1 << 10), _native.circuit_psi_rows(1 << 20, 1 << 16)
    assert _native.circuit_psi_rows(1 << 10, 1 << 16) == few and 1.2 * (1 << 16) < many < 1.4 * (1 << 16)

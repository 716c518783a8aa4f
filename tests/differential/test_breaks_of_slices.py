"""What an attacker of slices found, and what keeps it from coming back."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import cause
from tacit.local.duckdb_engine import LocalEngine
from tacit.local.engine import ArrowStream
from tacit.plan.physical.operators import Given
from tacit.plan.physical.placed import KeysStep, PlacedPlan
from tacit.plan.rules import slicing
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import make_keys, pooled
from .running import among_threads, reference
from .slices import ALL, PARTIES, Row, federation_of, watched


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), PARTIES)


@pytest.fixture
def preferred(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever can be sliced is: the plan that is priced last has the lower price."""
    prices, priced = count(0, -1), slicing._seconds

    def falling(*asked: Any) -> float | None:
        return None if priced(*asked) is None else float(next(prices))

    monkeypatch.setattr(slicing, "_seconds", falling)
    yield


def is_sliced(plan: PlacedPlan) -> bool:
    return any(isinstance(step, KeysStep) for step in plan.steps)


LONELY: list[Row] = [
    (110, "w", "2020-01-01", -5),
    (110, "w", "2020-01-02", 700),
    (110, "w", "2020-01-03", None),
    (None, "w", "2020-01-04", 50),
]
TWICE = (
    f"SELECT v.day, t.total FROM {ALL} JOIN (SELECT pid, SUM(cost) AS total FROM {ALL} GROUP BY pid "
    "HAVING SUM(cost) > 0) t ON v.pid = t.pid WHERE v.cost IS NULL"
)


@pytest.mark.usefixtures("preferred")
def test_a_slice_that_is_read_twice_has_all_of_its_rows(all_keys: Path, tmp_path: Path) -> None:
    """No other owner has a key. Within one query, DuckDB 2.0.0 made one anti join of two, and lost rows of it."""
    tables: dict[str, list[Row]] = {"at_a": [], "at_b": LONELY, "at_d": []}
    federation = federation_of(tmp_path, all_keys, tables)
    plan = compile_query(TWICE, federation.catalog, ("c",))
    assert is_sliced(plan)
    with pooled(federation) as database:
        expected = reference(database, TWICE)
    assert len(expected.rows) == 1
    assert_equal(among_threads(federation, plan, tmp_path), expected, (), total=False)


def text_of_bytes(strings: list[bytes]) -> pyarrow.Table:
    """A column of strings that need not be UTF-8: nothing here checks them."""
    ends = [0, *accumulate(map(len, strings))]
    buffers = [None, pyarrow.py_buffer(struct.pack(f"<{len(ends)}i", *ends)), pyarrow.py_buffer(b"".join(strings))]
    return pyarrow.table({"site": pyarrow.Array.from_buffers(pyarrow.string(), len(strings), buffers)})


def test_keys_that_are_no_text_are_said_to_be_the_owners(
    all_keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner's other software shares bytes that are not UTF-8. Nobody takes that for a fault of its own tacit."""
    federation = federation_of(tmp_path, all_keys, {"at_a": LONELY, "at_b": LONELY, "at_d": LONELY})
    plan = compile_query(f"SELECT site, SUM(cost) AS total FROM {ALL} GROUP BY site", federation.catalog, ("c",))
    step = next(each for each in plan.steps if isinstance(each, KeysStep) and each.owner == "a")
    encode = LocalEngine.encode

    def encoded(engine: LocalEngine, local: int, columns: Sequence[Given]) -> ArrowStream:
        return text_of_bytes([b"\xff\xfe"]) if local == step.id - 2 else encode(engine, local, columns)

    monkeypatch.setattr(LocalEngine, "encode", encoded)
    seen = watched(federation, plan)
    told = cause([diagnose(error) for party in ("b", "d") if (error := seen[party].error) is not None])
    assert told.sentence == "a has given keys that are no text; ask a to check its tacit."
    assert not any(f"{plan.steps[-2].id}.release" in each.opened for each in seen.values())

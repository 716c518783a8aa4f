"""Keeping and reading shares by the native module: what it costs, what it sends, and what the files show."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tacit import _native

from .plans import JSON, bits, ring64

ENGINES = {"rep3": ["a", "b", "c"], "two": ["a", "b"]}
COLUMNS = [
    {"name": "name", "source": "name", "encode": "bytes", "kind": bits(64)},
    {"name": "n", "source": "n", "encode": "int", "kind": ring64(40, nullable=True)},
]
INPUT: JSON = {"id": 1, "op": "input", "owner": "a", "columns": COLUMNS, "rows": 5}
KEEP: JSON = {"id": 2, "op": "keep", "input": 1, "table": "t", "columns": ["name", "n"]}
KEPT: JSON = {"id": 1, "op": "kept", "table": "t", "columns": COLUMNS, "rows": 5, "padded": True}
RELEASE: JSON = {"id": 2, "op": "release", "input": 1, "to": ["b"], "columns": ["name", "n"], "ordered": False}
OPENED = [{"name": each["name"], "kind": each["kind"]} for each in COLUMNS]
PERMITS = json.dumps(
    [{"site": "2.release", "kind": "answer", "recipients": ["b"], "columns": OPENED, "rows": 5}],
)

ONE = pa.table({"name": ["secret-a", "secret-b", "c"], "n": pa.array([1, None, -3], pa.int64())})
OTHER = pa.table({"name": ["", "x", "y", "z", "zz"], "n": pa.array([9, 9, 9, 9, 9], pa.int64())})


def key(node: str) -> bytes:
    return node.encode() * 32


def keep(engine: str, data: pa.Table, folder: Path) -> list[tuple[JSON, list[Any], list[Any]]]:
    """Every node's header, metrics and transcript."""

    def node(session: _native.Session) -> tuple[JSON, list[Any], list[Any]]:
        session.input(INPUT["id"], data if session.me == "a" else None)
        header = session.keep(KEEP["id"], str(folder / session.me), key(session.me), '{"of": "me"}')
        session.close()
        return json.loads(header), session.metrics(), session.transcript()

    sessions = _native.Session.in_memory(ENGINES[engine], "[]", json.dumps([INPUT, KEEP]), engine=engine, record=True)
    with ThreadPoolExecutor(len(sessions)) as threads:
        return list(threads.map(node, sessions))


def read(engine: str, folder: Path) -> tuple[list[tuple[Any, ...]], list[list[Any]]]:
    """The rows that b learns, and every node's transcript."""

    def node(session: _native.Session) -> tuple[_native.Opened | None, list[Any]]:
        shares = _native.KeptFile.open(str(folder / session.me), key(session.me)).read(json.dumps(KEPT))
        session.kept(KEPT["id"], shares)
        opened = session.release(RELEASE["id"])
        session.close()
        return opened, session.transcript()

    operators = json.dumps([KEPT, RELEASE])
    sessions = _native.Session.in_memory(ENGINES[engine], PERMITS, operators, engine=engine, record=True)
    with ThreadPoolExecutor(len(sessions)) as threads:
        found = list(threads.map(node, sessions))
    (opened,) = (each for each, _ in found if each is not None)
    rows = pa.table(opened).to_pylist()
    return sorted((row["name"], row["n"]) for row in rows), [transcript for _, transcript in found]


def messages(transcript: list[Any]) -> list[Any]:
    return [entry for entry in transcript if "opened" not in entry]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_is_read_and_nothing_but_sizes_shows(engine: str, tmp_path: Path) -> None:
    nodes = ENGINES[engine]
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, other = keep(engine, ONE, tmp_path / "one"), keep(engine, OTHER, tmp_path / "other")
    headers = [header for header, _, _ in one]
    assert [header.pop("node") for header in headers] == nodes
    assert all(header == headers[0] for header in headers)
    assert headers[0]["id"] != other[0][0]["id"]
    assert (headers[0]["rows"], headers[0]["padded"], headers[0]["about"]) == (5, True, {"of": "me"})
    # Costs are those declared.
    declared = _native.cost(engine, json.dumps([INPUT, KEEP]), {1: 5}, nodes=nodes)[-1]
    for (_, metrics, _), sent in zip(one, declared["bytes_sent"], strict=True):
        (metered,) = (step for step in metrics if step["step"] == "2.keep")
        assert (metered["rounds"], metered["bytes_sent"]) == (declared["rounds"], sent) == (2, 56 * (len(nodes) - 1))
    taken = _native.cost(engine, json.dumps([KEPT, RELEASE]), {}, nodes=nodes)[0]
    assert (taken["rounds"], sum(taken["bytes_sent"])) == (0, 0)
    # Two tables of one shape look alike: on the wire, on the disk, and when they are read.
    for mine, its in zip(one, other, strict=True):
        assert messages(mine[2]) == messages(its[2])
    for node in nodes:
        content = (tmp_path / "one" / node).read_bytes()
        assert len(content) == (tmp_path / "other" / node).stat().st_size
        assert b"secret" not in content
    rows, transcripts = read(engine, tmp_path / "one")
    assert rows == [("c", -3), ("secret-a", 1), ("secret-b", None)]
    again, others = read(engine, tmp_path / "other")
    assert again == [("", 9), ("x", 9), ("y", 9), ("z", 9), ("zz", 9)]
    assert list(map(messages, transcripts)) == list(map(messages, others))
    assert all(entry["step"] != "1.kept" for transcript in transcripts for entry in transcript)
    # A file serves again and again.
    assert read(engine, tmp_path / "one")[0] == rows


def test_shares_serve_once_and_only_where_they_fit(tmp_path: Path) -> None:
    keep("two", ONE, tmp_path)
    with pytest.raises(_native.InputError, match="another private key"):
        _native.KeptFile.open(str(tmp_path / "a"), key("b"))
    with pytest.raises(_native.InputError, match="a key has 32 bytes, not 3"):
        _native.KeptFile.open(str(tmp_path / "a"), b"abc")
    file = _native.KeptFile.open(str(tmp_path / "a"), key("a"))
    for other in ({"rows": 6}, {"padded": False}, {"table": "u"}):
        with pytest.raises(_native.InputError, match="not of the table"):
            file.read(json.dumps(KEPT | other))
    wide = [{**COLUMNS[1], "kind": ring64(41, nullable=True)}]
    with pytest.raises(_native.InputError, match="is not a column of the kept table"):
        file.read(json.dumps(KEPT | {"columns": wide}))
    shares = file.read(json.dumps(KEPT))
    three = _native.Session.in_memory(ENGINES["rep3"], "[]", json.dumps([KEPT]), engine="rep3")
    with pytest.raises(_native.InputError, match="not the shares that the operator reads"):
        three[0].kept(KEPT["id"], shares)
    with pytest.raises(_native.InputError, match="taken before"):
        three[1].kept(KEPT["id"], shares)
    for secret in (file, shares):
        assert "secret" not in repr(secret)

"""Queries that no person writes: one sentence all the same."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tacit.cli.main import main

from .organisations import Consortium, End


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A federation file."""
    with Consortium(tmp_path_factory.mktemp("odd")) as consortium:
        return consortium.federation("regulator")


def explain(federation: Path, query: str, capsys: pytest.CaptureFixture[str]) -> End:
    """How ``tacit explain`` ends."""
    status = main(["explain", "--federation", str(federation), query])
    stdout, stderr = capsys.readouterr()
    return End(status, stdout, stderr)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (b"SELECT zip FROM demographics WHERE zip = '\xff'", "not UTF-8"),
        (b"SELECT " + b"(" * 3000 + b"1" + b")" * 3000 + b" AS x FROM demographics", "nested too deeply"),
        (b"SELECT " + b"ABS(" * 3000 + b"zip" + b")" * 3000 + b" AS x FROM demographics", "nested too deeply"),
        (b"SELECT \x01 FROM demographics", "line 1"),
        (b"\xf0\x9f\x98\x80", "line 1"),
        (b"SELECT zip FROM demographics; DROP TABLE demographics", "one"),
        (b"COPY demographics TO '/tmp/x.csv'", "not supported"),
        (b"SELECT * FROM read_csv('/etc/passwd')", "not supported"),
        (b"SELECT zip FROM 'bureau_a/scores_a.csv'", "line 1"),
        (b"ATTACH '/tmp/x.db'", "not supported"),
    ],
    ids=range(10),
)
def test_an_odd_query_is_refused_in_one_sentence(
    query: bytes, says: str, federation: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = explain(federation, os.fsdecode(query), capsys)
    assert end.status == 2
    assert says in end.sentence()


def test_bytes_on_standard_input_are_no_query(
    federation: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT \xff\xfe"), encoding="utf-8"))
    end = explain(federation, "-", capsys)
    assert end.status == 2
    assert "not UTF-8" in end.sentence()

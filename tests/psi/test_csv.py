"""CSV files are read as tables of queries are: one dialect, and one sentence that names the first bad line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.psi.source import Source, open_source

from .pairs import Pair


def opened(path: Path, content: str | bytes) -> Source:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source(path, ["id"], None, 1 << 28)


def rows(source: Source) -> list[tuple[object, ...]]:
    return source.select().fetchall()


def test_values_are_texts_and_nothing_else_is_guessed(tmp_path: Path) -> None:
    source = opened(tmp_path / "a.csv", 'id,own\n007,"a, ""b"""\n2024-01-01,\n,1.50\n"",x\n')
    assert rows(source) == [("007", 'a, "b"'), ("2024-01-01", None), (None, "1.50"), ("", "x")]
    assert (source.rows, source.kinds()) == (4, ["text"])


def test_a_mark_of_the_encoding_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert rows(opened(tmp_path / "a.csv", b"\xef\xbb\xbfid,own\n1,x\n")) == [("1", "x")]


def test_one_line_of_names_is_a_table_without_rows(tmp_path: Path) -> None:
    assert rows(opened(tmp_path / "a.csv", "id,own\n")) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,own\n1,x\n2\n", "line 3 has fewer values than the header has names"),
        ("id,own\n1,x\n2,y,z\n", "line 3 has more values than the header has names"),
        ('id,own\n1,x\n2,"y\n', "line 3"),
        (b"id,own\n1,x\n2,\xff\n", "line 3 is not UTF-8 text"),
        ("", "has no header"),
        ("id,ID\n1,x\n", "2 columns are called id; rename all but one"),
        ("id,\n1,x\n", "a column has no name"),
    ],
)
def test_a_malformed_file_is_one_sentence(tmp_path: Path, content: str | bytes, said: str) -> None:
    from tacit.psi.parameters import Parameters
    from tacit.psi.reading import partition

    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"))
    with pytest.raises(RunError, match=said) as error:
        partition(
            opened(tmp_path / "a.csv", content), bytes(16), parameters.normalisers, lambda line: None,
            memory=1 << 28, keep_keyless=False,
        )  # fmt: skip
    assert error.value.fault is Fault.INPUT and str(error.value).startswith(str(tmp_path / "a.csv"))


def test_a_match_ends_with_the_line_that_is_malformed(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,own\n1,x\n2\n")
    pair.write("b", "SELECT '1' AS id")
    other = pair.waiting("b")
    running = [pair.start("a", ending="csv"), other]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert running[0].returncode == 2 and "a.csv: line 3 has fewer values" in told[0], told
    assert other.returncode == 5 and "a cannot take part: its own input was refused" in told[1], told

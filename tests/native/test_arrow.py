"""Tables cross the border as Arrow, whoever exports and imports them."""

from __future__ import annotations

import datetime
import itertools
import json
import subprocess
import sys
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import _native

from .plans import NODES, Plan, Rows, bits, ring64, ring128, rows_of, run_in_clear

WITHOUT_PYARROW = """
import json, sys
sys.modules["pyarrow"] = None  # importing it fails from here on
import duckdb
from tacit import _native

kind = {"repr": "bits", "width": 40, "signed": True, "nullable": True}
text = {"repr": "bits", "width": 64, "signed": False, "nullable": True}
columns = [
    {"name": "n", "source": "n", "encode": "int", "kind": kind},
    {"name": "h", "source": "h", "encode": "int", "kind": {**kind, "repr": "ring128", "width": 128}},
    {"name": "flag", "source": "flag", "encode": "int", "kind": {**kind, "width": 1, "signed": False}},
    {"name": "t", "source": "t", "encode": "bytes", "kind": text},
]
names = [column["name"] for column in columns]
shown = [{"name": column["name"], "kind": column["kind"]} for column in columns]
permits = [{"site": "2.release", "kind": "answer", "recipients": ["a"], "columns": shown, "rows": 6000}]
query = '''SELECT CASE WHEN i % 7 <> 0 THEN i - 2000 END AS n, i::HUGEINT * 1000000000000000000000 AS h,
           CASE WHEN i % 5 <> 0 THEN i % 3 = 0 END AS flag, CASE WHEN i % 11 <> 0 THEN 't' || i END AS t
           FROM range(5000) r(i)'''
relation = duckdb.sql(query)
operator = {"id": 1, "op": "input", "owner": "a", "columns": columns, "rows": 6000, "ordered": True}
release = {"id": 2, "op": "release", "input": 1, "to": ["a"], "columns": names, "ordered": True}
session = _native.Session.clear(["a", "b", "c"], json.dumps(permits), json.dumps([operator, release]))
session.input(1, relation)
opened = session.release(2)
assert duckdb.sql("FROM opened").fetchall() == duckdb.sql(query).fetchall()
assert duckdb.sql("SELECT sum(n) FROM opened").fetchall() == duckdb.sql(f"SELECT sum(n) FROM ({query})").fetchall()
"""


def round_trip(data: Any, columns: dict[str, dict[str, Any]], encode: dict[str, str] | None = None) -> Rows:
    """What a recipient gets of an owner's table."""
    plan = Plan()
    table = plan.input("a", data, columns, rows=64, encode=encode, ordered=True)
    step = plan.release(table, list(columns), ordered=True)
    return run_in_clear(plan)[step]


def test_duckdb_in_and_out_without_pyarrow() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_PYARROW], check=True)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int8(), [-128, None, 127]),
        (pa.int16(), [-32768, None, 32767]),
        (pa.int32(), [-(2**31), None, 2**31 - 1]),
        (pa.int64(), [-(2**63), None, 2**63 - 1]),
        (pa.uint8(), [0, None, 255]),
        (pa.uint16(), [0, None, 65535]),
        (pa.uint32(), [0, None, 2**32 - 1]),
        (pa.uint64(), [0, None, 2**64 - 1]),
        (pa.decimal32(9, 0), [-999_999_999, None, 999_999_999]),
        (pa.decimal64(18, 0), [-(10**18) + 1, None, 10**18 - 1]),
        (pa.decimal128(38, 0), [-(10**38) + 1, None, 10**38 - 1]),
        (pa.decimal256(60, 0), [-(10**38) + 1, None, 10**38 - 1]),
    ],
    ids=str,
)
def test_integers_of_every_width(kind: pa.DataType, values: list[int | None]) -> None:
    typed = [None if v is None else Decimal(v) for v in values] if pa.types.is_decimal(kind) else values
    table = pa.table({"x": pa.array(typed, kind)})
    assert round_trip(table, {"x": ring128(nullable=True)}) == [(v,) for v in values]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_strings_of_every_layout(kind: pa.DataType) -> None:
    values = ["", "Zürich", None, "a string longer than what a view holds inline"]
    table = pa.table({"x": pa.array(values, kind)})
    assert round_trip(table, {"x": bits(8 * 48, nullable=True)}, {"x": "bytes"}) == [(v,) for v in values]


def test_dates_are_days() -> None:
    table = pa.table({"x": [datetime.date(1970, 1, 11), datetime.date(1969, 12, 31)]})
    assert round_trip(table, {"x": bits(20, signed=True)}) == [(10,), (-1,)]


def test_a_column_of_nothing_but_nulls_has_every_type() -> None:
    table = pa.table({"x": [None, None], "t": [None, None]})
    columns = {"x": ring64(nullable=True), "t": bits(16, nullable=True)}
    assert round_trip(table, columns, {"t": "bytes"}) == [(None, None)] * 2


def test_types_of_what_is_opened() -> None:
    plan = Plan()
    table = pa.table({"flag": [True], "small": [1], "wide": [1], "text": ["x"], "narrow": [1]})
    columns = {
        "flag": bits(1),
        "small": bits(64, signed=True),
        "wide": ring128(),
        "text": bits(8),
        "narrow": ring64(10),
    }
    step = plan.input("a", table, columns, rows=1, encode={"text": "bytes"})
    released = plan.release(step, list(columns))
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    opened = plan.drive(session, everyone=True)[released]
    expected = [pa.bool_(), pa.int64(), pa.decimal128(38, 0), pa.string(), pa.int64()]
    assert pa.table(opened).schema.types == expected
    assert opened.rows == 1
    assert "1" not in repr(opened).replace("1 rows", "")


def test_an_opened_table_is_exported_as_often_as_asked() -> None:
    plan = Plan()
    table = plan.input("a", pa.table({"x": [3, 4]}), {"x": bits(8)}, rows=3, ordered=True)
    released = plan.release(table, ["x"], ordered=True)
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    opened = plan.drive(session, everyone=True)[released]
    assert rows_of(opened) == rows_of(opened) == [(3,), (4,)]
    assert pl.DataFrame(opened)["x"].to_list() == [3, 4]


integers = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=40)
texts = st.lists(
    st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=40
)
flags = st.lists(st.none() | st.booleans(), max_size=40)


@settings(deadline=None)
@given(
    numbers=integers, words=texts, marks=flags, cuts=st.lists(st.integers(0, 40), max_size=3), start=st.integers(0, 40)
)
def test_any_pyarrow_table_however_it_is_cut(
    numbers: list[int | None], words: list[str | None], marks: list[bool | None], cuts: list[int], start: int
) -> None:
    rows = min(len(numbers), len(words), len(marks))
    whole = pa.table(
        {
            "n": pa.array(numbers[:rows], pa.int64()),
            "t": pa.array(words[:rows], pa.string()),
            "f": pa.array(marks[:rows], pa.bool_()),
        }
    )
    borders = sorted({0, rows, *(min(cut, rows) for cut in cuts)})
    pieces = [whole.slice(i, j - i) for i, j in itertools.pairwise(borders)]
    table = (pa.concat_tables(pieces) if pieces else whole).slice(start)
    columns = {"n": bits(64, signed=True, nullable=True), "t": bits(8 * 32, nullable=True), "f": bits(1, nullable=True)}
    expected = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert round_trip(table, columns, {"t": "bytes"}) == expected


@settings(deadline=None)
@given(numbers=integers, words=texts)
def test_any_polars_frame(numbers: list[int | None], words: list[str | None]) -> None:
    rows = min(len(numbers), len(words))
    schema = {"n": pl.Int64, "t": pl.String}
    frame = pl.DataFrame({"n": numbers[:rows], "t": words[:rows]}, schema=schema)
    columns = {"n": ring64(nullable=True), "t": bits(8 * 32, nullable=True)}
    assert round_trip(frame, columns, {"t": "bytes"}) == frame.rows()


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        (pa.array([1.5]), "integers, decimals of scale 0"),
        (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), "value \\* 10\\^2"),
        (pa.array(["x"]).dictionary_encode(), "the strings themselves"),
    ],
    ids=["double", "scaled decimal", "dictionary"],
)
def test_types_that_cannot_be_shared_are_refused_with_advice(column: pa.Array, advice: str) -> None:
    with pytest.raises(_native.InputError, match=f'column "x".*{advice}') as caught:
        round_trip(pa.table({"x": column}), {"x": bits(8)})
    assert caught.value.step == "1.input"


def test_a_decimal_beyond_128_bits_names_its_row() -> None:
    table = pa.table({"x": pa.array([Decimal(1), Decimal(10) ** 50], pa.decimal256(60, 0))})
    with pytest.raises(_native.InputError, match='column "x", row 2'):
        round_trip(table, {"x": ring128()})


def test_what_exports_no_stream_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="list"):
        round_trip([1, 2], {"x": bits(8)})


def test_an_exporter_that_fails_is_the_owners_fault() -> None:
    def batches() -> Any:
        yield pa.record_batch({"x": [1]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(_native.InputError, match="disk is gone"):
        round_trip(reader, {"x": bits(8)})

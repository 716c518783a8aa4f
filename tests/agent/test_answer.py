"""The answer object: exact in every form it can take."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from tacit.agent.answer import Answer, save_answer
from tacit.agent.cost import Cost
from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.physical.disclosure import Derivation, Disclosure, OpenedColumns, Site
from tacit.plan.physical.placed import PlacedPlan
from tacit.psi.tables import Matched

SHOWN = OpenedColumns((), ("<zip>",), (), "1")
DISCLOSURE = Disclosure(
    ("regulator",), Site(9, "release"), SHOWN, Derivation((), (), 1, outputs=(("<zip>", ()),)), (DisclosureRule.QUERY,)
)
PLAN = PlacedPlan("SELECT 1", "rep3", ("a", "b", "c"), ("regulator",), (), (DISCLOSURE,))
ROWS = """SELECT * FROM (VALUES
    (3::BIGINT, 170141183460469231731687303715884105::HUGEINT,
     1.50::DECIMAL(10, 2), DATE '2024-02-29', 'x<y', true, 0.1::DOUBLE, TIMESTAMP '2024-02-29 12:30:00.5'),
    (1, -5, -0.25, NULL, NULL, false, 2.0, NULL),
    (NULL, NULL, NULL, DATE '1969-12-31', 'é', NULL, NULL, TIMESTAMP '0001-01-01 00:00:00.000001')
) t(n, "wide sum", price, day, name, flag, mean, seen)"""

SEEN = datetime.datetime(2024, 2, 29, 12, 30, 0, 500_000)


@pytest.fixture
def answer(tmp_path: Path) -> Answer:
    with duckdb.connect() as database:
        save_answer(database.sql(ROWS), tmp_path / "saved.duckdb", database)
    loaded = Answer.load(tmp_path / "saved.duckdb", PLAN, Cost((), ()))
    (tmp_path / "saved.duckdb").unlink()
    return loaded


def test_rows_keep_order_types_and_nulls(answer: Answer) -> None:
    assert answer.columns == ["n", "wide sum", "price", "day", "name", "flag", "mean", "seen"]
    assert len(answer) == 3
    assert answer.rows() == [
        (3, 170141183460469231731687303715884105, Decimal("1.50"), datetime.date(2024, 2, 29), "x<y", True, 0.1, SEEN),
        (1, -5, Decimal("-0.25"), None, None, False, 2.0, None),
        (None, None, None, datetime.date(1969, 12, 31), "é", None, None, datetime.datetime(1, 1, 1, microsecond=1)),
    ]


def test_arrow_pandas_and_polars_are_exact(answer: Answer) -> None:
    wide = [Decimal(170141183460469231731687303715884105), Decimal(-5), None]
    table = answer.to_arrow()
    assert isinstance(table, pyarrow.Table)
    assert table.column("wide sum").to_pylist() == wide
    frame = answer.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["wide sum"].to_list() == wide
    assert frame["n"].to_list() == [3, 1, None]
    pandas_frame = answer.to_pandas()
    assert isinstance(pandas_frame, pandas.DataFrame)
    assert pandas_frame["n"].dropna().tolist() == [3, 1]
    assert str(pandas_frame["n"].dtype) == "int64[pyarrow]"
    assert [frame["seen"].to_list()[0], pandas_frame["seen"][0]] == [SEEN, SEEN]


def test_the_arrow_stream_outlives_the_answer(answer: Answer) -> None:
    stream = pyarrow.RecordBatchReader.from_stream(answer)
    del answer
    assert stream.read_all().num_rows == 3


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_files_hold_all_rows(answer: Answer, tmp_path: Path, format: str) -> None:
    file = tmp_path / f"out.{format}"
    answer.write(file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    match format:
        case "csv":
            assert (
                file.read_text().splitlines()[1]
                == "3,170141183460469231731687303715884105,1.50,2024-02-29,x<y,true,0.1,2024-02-29 12:30:00.5"
            )
        case "json":
            found = json.loads(file.read_text())
            assert [row["name"] for row in found] == ["x<y", None, "é"]
            assert [row["seen"] for row in found] == ["2024-02-29 12:30:00.5", None, "0001-01-01 00:00:00.000001"]
        case "parquet":
            read = pyarrow.parquet.read_table(file)
            assert read.column("wide sum").to_pylist()[0] == Decimal(170141183460469231731687303715884105)
            assert read.column("seen").to_pylist()[0] == SEEN


def test_an_unknown_format_is_told(answer: Answer, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"name the file \.csv, \.json or \.parquet"):
        answer.write(tmp_path / "out.xlsx")


def test_displays(answer: Answer) -> None:
    assert "wide sum" in repr(answer)
    shown = answer._repr_html_()
    assert "x&lt;y" in shown
    assert "x<y" not in shown
    assert "&lt;zip&gt; is" in shown
    assert "<zip>" not in shown


def test_matched_rows_are_displayed_alike() -> None:
    matched = Matched(lambda: pyarrow.table({"<id>": [*range(25)]}), None)  # type: ignore[arg-type]
    assert "<id>" in repr(matched) and "24" in repr(matched)
    shown = matched._repr_html_()
    assert "<th>&lt;id&gt;</th>" in shown and "<td>19</td>" in shown and "<td>20</td>" not in shown
    assert "<p>and 5 more rows</p>" in shown


def test_a_missing_library_is_told_in_one_sentence(tmp_path: Path) -> None:
    code = """
import sys, duckdb
sys.modules["pyarrow"] = sys.modules["polars"] = sys.modules["pandas"] = None
from tacit.agent.answer import Answer
answer = Answer(duckdb.connect(), None, None)
for method in (answer.to_arrow, answer.to_pandas, answer.to_polars):
    try:
        method()
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "to_arrow() needs pyarrow: install it with `pip install 'tacit[arrow]'`.",
        "to_pandas() needs pandas and pyarrow: install it with `pip install 'tacit[pandas]'`.",
        "to_polars() needs polars: install it with `pip install 'tacit[polars]'`.",
    ]

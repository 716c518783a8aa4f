"""How DOUBLE columns are rounded, and how timestamps of every unit are read, from each kind of file."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal as Exact
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.local.as_offered import check_table
from tacit.local.csv_form import USUAL
from tacit.local.errors import DataError
from tacit.plan.algebra.types import Decimal, Field, Timestamp, Type
from tacit.plan.facts.catalog import Column, Table

from .tables import OWNER, parquet, rows, scan, table, write

TENTHS_OF_CENTS = Decimal(8, 4, -1000 * 10**4, 1000 * 10**4)
MOMENTS = Timestamp(-62135596800000000, 253402300799999999)


def doubles(path: Path, type_: Decimal = TENTHS_OF_CENTS, **facts: Any) -> Table:
    """A table with a column x that is declared DOUBLE, and may be NULL."""
    return Table("t", OWNER, (Column(Field("x", type_, True), rounded=True),), path=str(path), **facts)


def error(source: Table) -> str:
    """What is wrong with a table, without the folder."""
    with pytest.raises(DataError) as caught:
        check_table(source, USUAL)
    return str(caught.value).replace(f"{Path(source.path or '').parent}/", "")


def stored(folder: Path, format: str, values: list[str]) -> Path:
    """A file of numbers, which DuckDB's cast to DOUBLE reads from these texts."""
    if format == "csv":
        return write(folder / "t.csv", "x\n" + "".join(f"{each}\n" for each in values))
    listed = ", ".join(f"({at}, CAST('{each}' AS {format}))" for at, each in enumerate(values))
    return parquet(folder / "t.parquet", f"SELECT x FROM (VALUES {listed}) t(i, x) ORDER BY i")


ROUNDED = [
    ("0.00005", "0.0001"),
    ("-0.00005", "-0.0001"),
    ("0.00025", "0.0003"),
    ("0.5", "0.5000"),
    ("1e-3", "0.0010"),
    ("123.45674999", "123.4567"),
    ("-999.99996", "-1000.0000"),
    ("1000.00004", "1000.0000"),
    ("0.30000000000000004", "0.3000"),
    ("-0.00001", "0.0000"),
]
"""A number in the middle between two decimals is rounded away from zero."""


@pytest.mark.parametrize("format", ["csv", "DOUBLE"])
@pytest.mark.parametrize(("written", "decimal"), ROUNDED)
def test_a_double_is_rounded_to_its_declared_digits(tmp_path: Path, format: str, written: str, decimal: str) -> None:
    source = doubles(stored(tmp_path, format, [written]))
    assert [str(value) for (value,) in rows(scan(source), source)] == [decimal]


@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.floats(-999.0, 999.0), min_size=1, max_size=20))
def test_rounding_is_duckdbs_of_whatever_file(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    folder = tmp_path_factory.mktemp("doubles")
    found = [
        rows(scan(source), source)
        for format in ("csv", "DOUBLE")
        for source in [doubles(stored(folder, format, [repr(each) for each in values]))]
    ]
    with duckdb.connect() as database:
        cast = [
            database.execute("SELECT CAST(CAST(? AS DOUBLE) AS DECIMAL(8,4))", [each]).fetchall() for each in values
        ]
    assert found[0] == found[1] == [row for each in cast for row in each]
    for (decimal,), value in zip(found[0], values, strict=True):
        assert abs(Fraction(decimal) - Fraction(value)) <= Fraction(500_001, 10**10)


NO_NUMBERS = ["nan", "inf", "-inf", "1e30", "-10000.5"]


@pytest.mark.parametrize("format", ["csv", "DOUBLE", "FLOAT"])
@pytest.mark.parametrize("written", NO_NUMBERS)
def test_what_is_no_number_within_the_bounds_is_refused_with_its_row(tmp_path: Path, format: str, written: str) -> None:
    found = error(doubles(stored(tmp_path, format, ["1.5", "-2", written, "nan"])))
    problem = "is not a number between the declared min"
    assert found.startswith(f"t.{'csv' if format == 'csv' else 'parquet'}, row 3, column x: ")
    assert problem in found


@pytest.mark.parametrize("written", ["1_000", "0x10", "abc", "1,5"])
def test_other_texts_of_numbers_are_refused(tmp_path: Path, written: str) -> None:
    found = error(doubles(write(tmp_path / "t.csv", f'x\n1.5\n"{written}"\n')))
    assert found.startswith(f"t.csv, row 2, column x: '{written}' is not a number between the declared min and max; ")


@pytest.mark.parametrize("format", ["csv", "DOUBLE"])
def test_a_rounded_value_beyond_the_bounds_is_refused(tmp_path: Path, format: str) -> None:
    found = error(doubles(stored(tmp_path, format, ["1000.00004", "1000.00006"])))
    name = "csv" if format == "csv" else "parquet"
    assert found.startswith(
        f"t.{name}, row 2, column x: 1000.0001 is above the declared max 1000.0000; correct the value"
    )


@pytest.mark.parametrize("format", ["csv", "DOUBLE"])
def test_values_that_are_equal_once_rounded_are_not_unique(tmp_path: Path, format: str) -> None:
    source = doubles(stored(tmp_path, format, ["0.10001", "0.2", "0.10002"]), unique=(frozenset({"x"}),))
    assert "row 3, column x: the value repeats that of row 1, but is declared unique" in error(source)


def test_integers_and_shorter_decimals_may_be_declared_double(tmp_path: Path) -> None:
    for type_, expected in (("BIGINT", "7.0000"), ("DECIMAL(9,2)", "7.0000"), ("FLOAT", "7.0000")):
        source = doubles(parquet(tmp_path / "t.parquet", f"SELECT CAST(7 AS {type_}) AS x"))
        assert [str(value) for (value,) in rows(scan(source), source)] == [expected]
    longer = doubles(parquet(tmp_path / "t.parquet", "SELECT 0.123456::DECIMAL(9,6) AS x"))
    assert error(longer) == (
        "t.parquet, column x: the file has DECIMAL(9,6) where DOUBLE with scale 4 is declared; store it as DOUBLE, or "
        'declare type = "DECIMAL(9,6)" in the offer.'
    )


def test_a_null_in_a_csv_is_no_number_and_no_moment(tmp_path: Path) -> None:
    moments = table("t", write(tmp_path / "m.csv", "x,y\n,1\n2024-02-29 12:30,2\n"), {"x": (MOMENTS,)})
    assert rows(scan(moments), moments) == [(None,), (datetime(2024, 2, 29, 12, 30),)]
    numbers = doubles(write(tmp_path / "n.csv", "x,y\n,1\n0.25,2\n"))
    assert [row[0] for row in rows(scan(numbers), numbers)] == [None, Exact("0.25")]


def test_a_pandas_column_of_whole_numbers_with_a_null_can_be_declared_double(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [7.0, None, -3.0]}), path)
    source = doubles(path, Decimal(1, 0, -9, 9))
    assert [row[0] for row in rows(scan(source), source)] == [7, None, -3]


MOMENT = datetime(2024, 2, 29, 12, 30, 5)
ZONELESS = (
    "t.parquet, column x: the file has TIMESTAMP WITH TIME ZONE where TIMESTAMP is declared; store it as TIMESTAMP, "
)


def written_moments(folder: Path, unit: str, values: list[Any], **how: Any) -> Table:
    """A table of moments, stored by Arrow in a unit."""
    path = folder / "t.parquet"
    found = pyarrow.table({"x": pyarrow.array(values, pyarrow.timestamp(unit))})
    pyarrow.parquet.write_table(found, path, **({"version": "2.6"} | how))
    return table("t", path, {"x": (MOMENTS,)})


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_every_unit_are_read_exactly(tmp_path: Path, unit: str) -> None:
    source = written_moments(tmp_path, unit, [MOMENT, None, datetime(1969, 12, 31, 23, 59, 59)])
    assert rows(scan(source), source) == [(MOMENT,), (None,), (datetime(1969, 12, 31, 23, 59, 59),)]


def test_a_timestamp_finer_than_microseconds_is_refused_with_its_row(tmp_path: Path) -> None:
    assert error(written_moments(tmp_path, "ns", [1_000, None, -1])) == (
        "t.parquet, row 3, column x: 1969-12-31 23:59:59.999999999 is not a whole number of microseconds, which a "
        "TIMESTAMP counts; round the column to microseconds before it is stored."
    )
    old = written_moments(tmp_path, "ns", [1_001], use_deprecated_int96_timestamps=True)
    assert error(old) == (
        "t.parquet, column x: the file has timestamps of the old form INT96, which may be finer than microseconds; "
        "store it as a Parquet timestamp in microseconds."
    )


def test_nanoseconds_are_checked_against_declared_bounds(tmp_path: Path) -> None:
    source = written_moments(tmp_path, "ns", [1_000, 3_000])
    narrow: Type = Timestamp(0, 2)
    assert error(table("t", Path(str(source.path)), {"x": narrow})).startswith(
        "t.parquet, row 2, column x: 1970-01-01 00:00:00.000003 is above the declared max 1970-01-01 00:00:00.000002;"
    )


def test_a_time_zone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.array([MOMENT], pyarrow.timestamp("us", "UTC"))}), path)
    assert error(table("t", path, {"x": MOMENTS})).startswith(ZONELESS)


def test_dates_may_be_declared_timestamps(tmp_path: Path) -> None:
    source = table("t", parquet(tmp_path / "t.parquet", "SELECT DATE '2024-02-29' AS x"), {"x": MOMENTS})
    assert rows(scan(source), source) == [(datetime(2024, 2, 29),)]

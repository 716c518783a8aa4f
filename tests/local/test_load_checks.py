"""Every way in which an owner's file can break its declarations is an error that says which file, row and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.local.errors import DataError
from tacit.plan.algebra.types import Boolean, Date, Decimal, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.catalog import Table

from .tables import engine, local, parquet, rows, scan, table, write

INTEGER = Integer(-(2**31), 2**31 - 1, "INTEGER")
BIGINT = Integer(-(2**63), 2**63 - 1, "BIGINT")
ALL_DATES = Date(-719162, 2932896)
ALL_MOMENTS = Timestamp(-62135596800000000, 253402300799999999)


def error(source: Table, *columns: str) -> str:
    """The error of loading a table, without the folder."""
    relation = scan(source, *columns)
    with engine(relation, source) as opened, pytest.raises(DataError) as caught:
        opened.run(local(relation))
    return str(caught.value).replace(f"{Path(source.path or '').parent}/", "")


def csv_error(folder: Path, text: str, column: Type | tuple[Type], **facts: Any) -> str:
    """The error of loading a CSV file whose column x has this type."""
    return error(table("t", write(folder / "t.csv", text), {"x": column}, **facts))


REAL = "correct the value, or declare the column's real type in the offer."

OTHER_DATES = (
    "1970/1/2",
    "2024-1-31",
    "2024/01/31",
    "24-01-31",
    " 024-01-31",
    "31.01.2024",
    "epoch",
    "2024-01-31 0:00",
    "20-1-01-02",
    "2-11-01-02",
    "-024-01-31",
    "2024-01-1x",
    "2024-01-1 ",
    "2024-01--1",
    "0000-01-01",
)
OTHER_MOMENTS = (
    "2024-01-31 10:00:00Z", "2024-01-31 10:00:00+02", "2024-01-31 10:00:00 UTC", "2024-01-31 10:00:00.1234567",
    "2024-01-31 24:00:00", "2024-01-31 1:00", "2024/01/31 10:00", "2024-01-32", "2024-01-31 10", "soon",
)  # fmt: skip
"""Most of them are such to DuckDB, of which it drops a part."""

BAD_VALUES = [
    ("abc", INTEGER, "'abc' is not an INTEGER"),
    ("1.5", INTEGER, "'1.5' is not an INTEGER"),
    ("1e-1", INTEGER, "'1e-1' is not an INTEGER"),
    ("2147483648", INTEGER, "'2147483648' is not an INTEGER"),
    ("9223372036854775808", BIGINT, "'9223372036854775808' is not a BIGINT"),
    ("1.234", Decimal(10, 2, -(10**10), 10**10), "'1.234' is not a DECIMAL(10,2)"),
    ("1e-3", Decimal(10, 2, -(10**10), 10**10), "'1e-3' is not a DECIMAL(10,2)"),
    ("123456789", Decimal(10, 2, -(10**10), 10**10), "'123456789' is not a DECIMAL(10,2)"),
    ("2024-02-30", ALL_DATES, "'2024-02-30' is not a DATE"),
    ("2024-02-28 13:00:00", ALL_DATES, "'2024-02-28 13:00:00' is not a DATE"),
    ("2024-02-28 00:01", ALL_DATES, "'2024-02-28 00:01' is not a DATE"),
    *[(written, ALL_DATES, f"'{written}' is not a DATE") for written in OTHER_DATES],
    *[(written, ALL_MOMENTS, f"'{written}' is not a TIMESTAMP") for written in OTHER_MOMENTS],
    ("maybe", Boolean(), "'maybe' is not a BOOLEAN"),
    ("x" * 50, INTEGER, f"'{'x' * 40}...' is not an INTEGER"),
]


@pytest.mark.parametrize(("value", "type_", "problem"), BAD_VALUES)
def test_a_bad_value_in_row_7_of_a_csv_names_row_and_column(
    tmp_path: Path, value: str, type_: Type, problem: str
) -> None:
    good = {Boolean: "true", Date: "2024-01-31", Timestamp: "2024-01-31 10:00"}.get(type(type_), "12")
    text = "x,rest\n" + f"{good},a\n" * 6 + f"{value},b\n" + "also wrong,c\n" * 3
    assert csv_error(tmp_path, text, type_) == f"t.csv, row 7, column x: {problem}; {REAL}"


def test_rows_are_counted_past_line_breaks_in_quotes(tmp_path: Path) -> None:
    text = 'note,x\n"two\nlines",1\n"three\r\nmore\nlines",2\nplain,?\n'
    assert csv_error(tmp_path, text, INTEGER) == f"t.csv, row 3, column x: '?' is not an INTEGER; {REAL}"


def test_numbers_may_be_written_in_any_exact_way(tmp_path: Path) -> None:
    text = "i,d,day\n7.0, 1.500 ,2024-01-31 00:00:00\n+5,-.5,2024-01-01\n"
    path = write(tmp_path / "t.csv", text)
    source = table("t", path, {"i": INTEGER, "d": Decimal(10, 2, -1000, 1000), "day": ALL_DATES})
    assert [tuple(map(str, row)) for row in rows(scan(source), source)] == [
        ("7", "1.50", "2024-01-31"),
        ("5", "-0.50", "2024-01-01"),
    ]


MOMENTS = [
    ("2024-01-31", "2024-01-31 00:00:00"),
    ("2024-01-31T10:30", "2024-01-31 10:30:00"),
    (" 2024-01-31 10:30:05 ", "2024-01-31 10:30:05"),
    ("2024-01-31 10:30:05.5", "2024-01-31 10:30:05.500000"),
    ("2024-01-31 10:30:05.123456000", "2024-01-31 10:30:05.123456"),
    ("0001-01-01 00:00:00.000001", "0001-01-01 00:00:00.000001"),
    ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
]


@pytest.mark.parametrize(("written", "moment"), MOMENTS)
def test_a_timestamp_may_be_written_in_any_iso_form_to_the_microsecond(
    tmp_path: Path, written: str, moment: str
) -> None:
    source = table("t", write(tmp_path / "t.csv", f'x\n{written}\n""\n'.replace('""\n', "")), {"x": ALL_MOMENTS})
    assert [str(value) for (value,) in rows(scan(source), source)] == [moment]


def test_an_empty_value_is_null_and_an_empty_quoted_string_is_not(tmp_path: Path) -> None:
    source = table("t", write(tmp_path / "t.csv", 's,n\n"",1\n,2\n'), {"s": (Varchar(5),), "n": INTEGER})
    assert rows(scan(source), source) == [("", 1), (None, 2)]


MALFORMED = [
    (
        b"x,y\n1,2\n3\n",
        "line 3 has fewer values than the header has names; add what is missing (an empty value is NULL).",
    ),
    (
        b"x,y\n1,2\n3,4,5\n",
        "line 3 has more values than the header has names; put values that contain a comma in double quotes.",
    ),
    (
        b'x,y\n1,2\n3,"4\n5,6\n',
        'line 3 has a quote that does not end its value; close it, and write a quote within a value as "".',
    ),
    (b"y,x\n1,2\n3,\xff\xfe\n", "line 3 is not UTF-8 text; save the file as UTF-8."),
    (b"\xff\xfe\n1\n", "the first line is not CSV in UTF-8; save the file as CSV, UTF-8."),
    (b"", "the file has no header; name the columns in its first line."),
    (b"y\n1\n", "there is no column x, only y; add it, or correct its name in the offer."),
    (b"x,X\n1,2\n", "2 columns are called x; rename all but one."),
    (
        b'x,y\r\n1,"a\nb"\r\n2,c\n3,d\r\n',
        "line 3 ends with LF, but those before it with CR LF; save the file with one kind of line ends.",
    ),
    (
        b"x,y\n1,2\r2,3\n",
        "line 2 ends with CR, but those before it with LF; save the file with one kind of line ends.",
    ),
]


@pytest.mark.parametrize(("content", "problem"), MALFORMED)
def test_a_malformed_csv_names_the_line(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    found = error(table("t", tmp_path / "t.csv", {"x": INTEGER}))
    assert found == f"t.csv: {problem}"


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    advice = "put the file there, or correct its path in the private file."
    for name in ("t.csv", "t.parquet"):
        found = error(table("t", tmp_path / name, {"x": INTEGER}))
        assert found == f"{name}: the file cannot be read (No such file or directory); {advice}"


def test_columns_that_are_not_declared_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "secret,x,secret,\nanything,1,more,!\n")
    source = table("t", path, {"x": INTEGER})
    assert rows(scan(source), source) == [(1,)]


def test_columns_that_the_plan_does_not_use_are_not_checked(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "x,y\n1,not a number\n")
    source = table("t", path, {"x": INTEGER, "y": INTEGER})
    assert rows(scan(source, "x"), source) == [(1,)]


BROKEN = [
    ((5, None, 7), INTEGER, "row 2, column x: the value is missing; fill it in, or declare the column nullable = true"),
    ((5, -3, -4), Integer(0, 9, "INTEGER"), "row 2, column x: -3 is below the declared min 0; correct the value, or"),
    ((5, 9, 10), Integer(0, 9, "INTEGER"), "row 3, column x: 10 is above the declared max 9; correct the value, or"),
    (("1.00", "2.01"), Decimal(10, 2, -100, 200), "row 2, column x: 2.01 is above the declared max 2.00; correct the"),
    (("1.00", "-1.01"), Decimal(10, 2, -100, 200), "row 2, column x: -1.01 is below the declared min -1.00; correct"),
    (("2024-01-01", "2024-01-02"), Date(0, 19723), "row 2, column x: 2024-01-02 is above the declared max 2024-01-01;"),
    (("infinity",), ALL_DATES, "row 1, column x: infinity is above the declared max 9999-12-31; correct the"),
    (("1969-12-31",), Date(0, 19723), "row 1, column x: 1969-12-31 is below the declared min 1970-01-01; correct the"),
    (
        ("1970-01-01 00:00:00.5", "1970-01-01 00:00:01"),
        Timestamp(0, 999_999),
        "row 2, column x: 1970-01-01 00:00:01 "
        "is above the declared max 1970-01-01 00:00:00.999999; correct the value, or",
    ),
    (("infinity",), ALL_MOMENTS, "row 1, column x: infinity is above the declared max 9999-12-31 23:59:59.999999;"),
    (
        ("ab", "äb"),
        Varchar(2),
        "row 2, column x: 'äb' is longer than the declared max_length, 2 bytes of UTF-8; shorten",
    ),
    (
        ("a", "b", "c"),
        Varchar(1, ("a", "b")),
        "row 3, column x: 'c' is not among the declared values; correct the value",
    ),
]


def _sql(value: object) -> str:
    return "NULL" if value is None else f"'{value}'"


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize(("values", "type_", "problem"), BROKEN)
def test_data_that_breaks_a_declaration(
    tmp_path: Path, format: str, values: tuple[object, ...], type_: Type, problem: str
) -> None:
    sql = {Integer: "INTEGER", Decimal: "DECIMAL(10,2)", Date: "DATE", Timestamp: "TIMESTAMP", Varchar: "VARCHAR"}[
        type(type_)
    ]
    listed = ", ".join(f"({at}, CAST({_sql(value)} AS {sql}))" for at, value in enumerate(values))
    query = f"SELECT x FROM (VALUES {listed}) t(i, x) ORDER BY i"
    if format == "csv":
        text = "i,x\n" + "".join(f"{at},{'' if value is None else value}\n" for at, value in enumerate(values))
        path = write(tmp_path / "t.csv", text)
    else:
        path = parquet(tmp_path / "t.parquet", query)
    assert error(table("t", path, {"x": type_})).startswith(f"t.{format}, {problem}")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_nul_character_in_a_string(tmp_path: Path, format: str) -> None:
    if format == "csv":
        path = write(tmp_path / "t.csv", "x\nfine\na\0b\n")
    else:
        path = parquet(tmp_path / "t.parquet", "SELECT unnest(['fine', 'a' || chr(0) || 'b']) AS x")
    found = error(table("t", path, {"x": Varchar(None)}))
    assert found == f"t.{format}, row 2, column x: the value contains a NUL character; remove it."


def test_the_first_of_several_wrong_rows_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,b\n1,1\n1,99\n99,1\n")
    source = table("t", path, {"a": Integer(0, 9), "b": Integer(0, 9)})
    assert error(source).startswith("t.csv, row 2, column b: 99 is above the declared max 9;")


UNIQUE = "remove one of the rows, or the key from unique in the offer."


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_repeated_key(tmp_path: Path, format: str) -> None:
    if format == "csv":
        path = write(tmp_path / "t.csv", "x,y\n1,1\n1,2\n2,1\n1,2\n1,1\n")
    else:
        path = parquet(tmp_path / "t.parquet", "SELECT unnest([1,1,2,1,1]) AS x, unnest([1,2,1,2,1]) AS y")
    source = table("t", path, {"x": BIGINT, "y": BIGINT}, unique=(frozenset({"x", "y"}),))
    problem = "the value repeats that of row 2, but is declared unique"
    assert error(source) == f"t.{format}, row 4, column x and y: {problem}; {UNIQUE}"
    assert error(source, "none") == error(source)  # the plan may rest on a key that it does not read


def test_null_in_a_key_counts_as_a_value(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "x,y\n,1\n,2\n2,1\n,2\n")
    source = table("t", path, {"x": (BIGINT,), "y": BIGINT}, unique=(frozenset({"x", "y"}),))
    problem = "the value repeats that of row 2, but is declared unique"
    assert error(source) == f"t.csv, row 4, column x and y: {problem}; {UNIQUE}"


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_value_in_more_rows_than_declared(tmp_path: Path, format: str) -> None:
    if format == "csv":
        path = write(tmp_path / "t.csv", "x,y\n1,7\n,7\n1,7\n,8\n,8\n2,8\n1,8\n1,8\n")
    else:
        path = parquet(
            tmp_path / "t.parquet", "SELECT unnest([1,NULL,1,NULL,NULL,2,1,1]) AS x, unnest([7,7,7,8,8,8,8,8]) AS y"
        )
    plain = table("t", path, {"x": (BIGINT,), "y": BIGINT})
    source = replace(plain, columns=(replace(plain.columns[0], repeats=2), plain.columns[1]))
    problem = "the value is in more than 2 rows, the declared repeats"
    advice = "remove rows, or raise repeats in the offer."
    assert error(source) == f"t.{format}, row 7, column x: {problem}; {advice}"
    assert error(source, "y") == error(source)  # the plan may rest on it without a read
    met = replace(plain, columns=(replace(plain.columns[0], repeats=4), replace(plain.columns[1], repeats=5)))
    assert len(rows(scan(met), met)) == 8, "a bound that is met exactly, and NULLs that do not count"


@pytest.mark.parametrize("bound", ["rows", "most_rows"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_more_rows_than_declared(tmp_path: Path, format: str, bound: str) -> None:
    path = tmp_path / f"t.{format}"
    if format == "csv":
        write(path, "x\n1\n2\n3\n")
    else:
        parquet(path, "SELECT unnest([1, 2, 3]) AS x")
    source = table("t", path, {"x": INTEGER}, **{bound: 2})
    advice = "remove rows, or declare more rows in the offer."
    assert error(source) == f"t.{format}: there are 3 rows, more than the 2 declared; {advice}"


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    found = error(table("t", write(tmp_path / "t.parquet", "x\n1\n"), {"x": INTEGER}))
    assert found == "t.parquet: the file is not Parquet; store the table as Parquet, or name a .csv file."


OTHER_TYPES = [
    (
        "DOUBLE",
        Decimal(10, 2, 0, 1),
        "the file has DOUBLE where DECIMAL(10,2) is declared; store it as DECIMAL(10,2), or declare "
        'type = "DOUBLE" with scale, min and max in the offer.',
    ),
    (
        "DOUBLE",
        ALL_DATES,
        "the file has DOUBLE where DATE is declared; store it as DATE, or declare "
        'type = "DOUBLE" with scale, min and max in the offer.',
    ),
    (
        "TIMESTAMPTZ",
        ALL_MOMENTS,
        "the file has TIMESTAMP WITH TIME ZONE where TIMESTAMP is declared; store it as TIMESTAMP, without a time zone "
        "and all times in one, as x AT TIME ZONE 'UTC' makes it in DuckDB.",
    ),
    ("TIME", ALL_MOMENTS, "the file has TIME where TIMESTAMP is declared; store it as TIMESTAMP."),
    (
        "UINTEGER",
        ALL_DATES,
        'the file has UINTEGER where DATE is declared; store it as DATE, or declare type = "BIGINT"',
    ),
    ("DECIMAL(10,3)", Decimal(10, 2, 0, 1), "the file has DECIMAL(10,3) where DECIMAL(10,2) is declared; store it as"),
    (
        "TIMESTAMP",
        ALL_DATES,
        'the file has TIMESTAMP where DATE is declared; store it as DATE, or declare type = "TIMESTAMP"',
    ),
    (
        "VARCHAR",
        INTEGER,
        'the file has VARCHAR where INTEGER is declared; store it as INTEGER, or declare type = "VARCHAR"',
    ),
]


@pytest.mark.parametrize(("stored", "type_", "problem"), OTHER_TYPES)
def test_a_parquet_column_of_another_type(tmp_path: Path, stored: str, type_: Type, problem: str) -> None:
    path = parquet(tmp_path / "t.parquet", f"SELECT CAST(NULL AS {stored}) AS x")
    assert error(table("t", path, {"x": (type_,)})).startswith(f"t.parquet, column x: {problem}")


def test_a_narrower_parquet_type_is_widened_and_a_wider_one_is_checked(tmp_path: Path) -> None:
    narrow = parquet(tmp_path / "t.parquet", "SELECT 7::TINYINT AS i, 1.5::DECIMAL(4,1) AS d")
    source = table("t", narrow, {"i": BIGINT, "d": Decimal(10, 2, 0, 1000)})
    assert [tuple(map(str, row)) for row in rows(scan(source), source)] == [("7", "1.50")]
    wide = table("t", parquet(tmp_path / "w.parquet", "SELECT unnest([1, 3000000000]) AS i"), {"i": INTEGER})
    assert error(wide).startswith("w.parquet, row 2, column i: 3000000000 is above the declared max 2147483647;")


def test_whole_numbers_stored_as_double_are_integers(tmp_path: Path) -> None:
    """As pandas stores a column of whole numbers with a NULL."""
    kept = parquet(tmp_path / "t.parquet", "SELECT unnest([7.0::DOUBLE, -9007199254740992, NULL]) AS i")
    source = table("t", kept, {"i": (BIGINT,)})
    assert rows(scan(source), source) == [(7,), (-(2**53),), (None,)]
    assert error(table("t", kept, {"i": (INTEGER,)})).startswith(
        "t.parquet, row 2, column i: -9007199254740992.0 is below"
    )
    for wrong in ("7.5", "9007199254740994", "'nan'", "'inf'"):
        other = parquet(tmp_path / "w.parquet", f"SELECT unnest([1.0, {wrong}::DOUBLE]) AS i")
        assert "w.parquet, row 2, column i: " in (found := error(table("t", other, {"i": BIGINT})))
        assert "is not a whole number up to 2^53, stored as DOUBLE where BIGINT is declared; round it" in found
        assert found.endswith('or declare type = "DOUBLE" with scale, min and max in the offer.')


@pytest.mark.parametrize(
    "type_", [INTEGER, BIGINT, Decimal(10, 2, 0, 1), ALL_DATES, ALL_MOMENTS, Varchar(3), Varchar(1, ("a",)), Boolean()]
)
def test_a_parquet_column_without_any_value(tmp_path: Path, type_: Type) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.nulls(2)}), path)
    source = table("t", path, {"x": (type_,)})
    assert rows(scan(source), source) == [(None,), (None,)]
    assert error(table("t", path, {"x": type_})) == (
        "t.parquet, column x: all values are missing; fill them in, or declare the column nullable = true in the offer."
    )


def test_a_whole_number_of_too_many_digits(tmp_path: Path) -> None:
    huge = Integer(-(10**38) + 1, 10**38 - 1, "HUGEINT")
    for sign in ("", "-"):
        path = write(tmp_path / "t.csv", f"x\n{sign}{10**38 - 1}\n{sign}{10**38}\n")
        assert error(table("t", path, {"x": huge})).endswith("0 has more than 38 digits; correct the value.")


def test_a_parquet_file_without_statistics_is_read_and_checked(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    rows_ = pyarrow.table({"x": pyarrow.array([1, 2, None, 12])})
    pyarrow.parquet.write_table(rows_, path, write_statistics=False)
    assert error(table("t", path, {"x": (Integer(0, 9),)})).startswith("t.parquet, row 4, column x: 12 is above")
    assert error(table("t", path, {"x": Integer(0, 12)})).startswith("t.parquet, row 3, column x: the value is missing")


def test_a_file_that_changes_during_the_run(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", "SELECT 1 AS x")
    source = table("t", path, {"x": INTEGER})
    with engine(scan(source), source) as opened:
        opened.check()
        parquet(tmp_path / "u.parquet", "SELECT 2 AS x")
        (tmp_path / "u.parquet").replace(path)
        with pytest.raises(DataError, match=r"t\.parquet: the file changed while it was read; ask again once"):
            opened.run(local(scan(source)))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_an_empty_table_breaks_nothing(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"t.{format}"
    if format == "csv":
        write(path, "x,s,v\n")
    else:
        parquet(path, "SELECT 1::INTEGER AS x, 'a' AS s, 'a' AS v LIMIT 0")
    columns = {"x": Integer(0, 9, "INTEGER"), "s": Varchar(3), "v": Varchar(1, ("a",))}
    source = table("t", path, columns, unique=(frozenset({"x"}),), rows=0)
    assert rows(scan(source), source) == []

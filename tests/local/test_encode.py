"""Values to their integer encodings and back, over every type, NULL and the extremes; and a plan's whole clear path."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.local.duckdb_engine import LocalEngine
from tacit.local.encode import decoded, encoded
from tacit.local.errors import DataError
from tacit.plan.algebra.moments import MOMENTS
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Call,
    ColumnRef,
    Filter,
    Literal,
    Opened,
    Project,
    Sort,
    SortKey,
)
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.fields import fields
from tacit.plan.physical.operators import Given, Release
from tacit.plan.physical.placed import ReleaseStep, TailStep

from .tables import OWNER, catalog, engine, local, plan, scan, table, write

INT64 = range(-(2**63), 2**63)
EPOCH = datetime.date(1970, 1, 1).toordinal()
MOST = 10**38 - 1


class Stream:
    """An Arrow stream that is nothing but that."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


@st.composite
def ranges(draw: st.DrawFn, least: int, most: int) -> tuple[int, int]:
    """Public bounds within a type's range, often its extremes."""
    low, high = sorted((draw(st.integers(least, most)), draw(st.integers(least, most))))
    return draw(st.sampled_from([(low, high), (least, most), (low, most), (low, low)]))


@st.composite
def types(draw: st.DrawFn) -> Type:
    """Any type that has an encoding."""
    kind = draw(st.sampled_from(["boolean", "integer", "decimal", "date", "timestamp", "dictionary"]))
    if kind == "boolean":
        return Boolean()
    if kind == "integer":
        bits, name = draw(st.sampled_from([(8, "TINYINT"), (32, "INTEGER"), (64, "BIGINT"), (128, "HUGEINT")]))
        widest = min(2 ** (bits - 1) - 1, MOST)
        return Integer(*draw(ranges(max(-(2 ** (bits - 1)), -MOST), widest)), name)
    if kind == "decimal":
        precision = draw(st.sampled_from([1, 4, 9, 18, 19, 37, 38]))
        return Decimal(precision, draw(st.integers(0, precision)), *draw(ranges(1 - 10**precision, 10**precision - 1)))
    if kind == "date":
        return Date(*draw(ranges(1 - EPOCH, datetime.date.max.toordinal() - EPOCH)))
    if kind == "timestamp":
        return Timestamp(*draw(ranges(*MOMENTS)))
    words = draw(
        st.sets(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5), min_size=1)
    )
    return Varchar(None, tuple(sorted(words, key=str.encode)))


def encodings(type_: Type) -> st.SearchStrategy[int]:
    """Encoded values within the bounds, with the bounds themselves."""
    match type_:
        case Boolean():
            return st.integers(0, 1)
        case Integer(low, high) | Decimal(_, _, low, high) | Date(low, high) | Timestamp(low, high):
            return st.sampled_from([low, high]) | st.integers(low, high)
        case Varchar(_, values):
            return st.integers(0, len(values or ()) - 1)
        case Double():
            raise AssertionError


def python_value(code: int | None, type_: Type) -> Any:
    """The value that an encoding stands for, computed independently of SQL."""
    match code, type_:
        case None, _:
            return None
        case int(), Boolean():
            return bool(code)
        case int(), Decimal(_, scale):
            return Number((code < 0, tuple(map(int, str(abs(code)))), -scale))
        case int(), Date():
            return datetime.date.fromordinal(code + EPOCH)
        case int(), Timestamp():
            return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=code)
        case int(), Varchar(_, values):
            return (values or ())[code]
        case _:
            return code


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """One database for all examples."""
    with duckdb.connect() as connection:
        yield connection


def _as_opened(type_: Type, codes: list[int | None]) -> pyarrow.Array:
    """The encodings as the native session opens them."""
    if isinstance(type_, Boolean):
        return pyarrow.array([None if code is None else bool(code) for code in codes], pyarrow.bool_())
    if all(code is None or code in INT64 for code in codes):
        return pyarrow.array(codes, pyarrow.int64())
    return pyarrow.array([None if code is None else Number(code) for code in codes], pyarrow.decimal128(38, 0))


@settings(deadline=None)
@given(data=st.data(), type_=types())
def test_round_trip(database: duckdb.DuckDBPyConnection, data: st.DataObject, type_: Type) -> None:
    codes = data.draw(st.lists(st.none() | encodings(type_), max_size=6))
    database.register("opened", Stream(pyarrow.table({"x y": _as_opened(type_, codes)})))
    database.execute(f'CREATE OR REPLACE TABLE clear AS SELECT {decoded("x y", type_)} AS "x y" FROM opened').fetchall()
    database.unregister("opened")
    clear = [value for (value,) in database.execute("SELECT * FROM clear").fetchall()]
    assert clear == [python_value(code, type_) for code in codes]
    again = database.execute(f"SELECT {encoded('x y', type_)} FROM clear").fetchall()
    assert [None if code is None else int(code) for (code,) in again] == codes


CONTAINERS = [
    (Boolean(), "true", pyarrow.bool_()),
    (Integer(0, 5, "INTEGER"), "3", pyarrow.int32()),
    (Integer(0, 2**63 - 1, "HUGEINT"), "3", pyarrow.int64()),
    (Integer(0, 2**63, "HUGEINT"), "3", pyarrow.decimal128(38, 0)),
    (Decimal(38, 2, -100, 2**63 - 1), "3.25", pyarrow.int64()),
    (Decimal(38, 2, 0, 2**63), "3.25", pyarrow.decimal128(38, 0)),
    (Date(0, 5), "'1970-01-02'", pyarrow.int64()),
    (Timestamp(0, 5), "'1970-01-01 00:00:00.000003'", pyarrow.int64()),
    (Varchar(None), "'a'", pyarrow.string()),
]


@pytest.mark.parametrize(("type_", "value", "container"), CONTAINERS)
def test_an_encoding_is_as_narrow_as_its_bounds(type_: Type, value: str, container: pyarrow.DataType) -> None:
    from tacit.plan.algebra.types import sql_name

    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT CAST({value} AS {sql_name(type_)}) AS x").fetchall()
        stream = pyarrow.RecordBatchReader.from_stream(connection.sql(f"SELECT {encoded('x', type_)} AS x FROM t"))
        assert stream.schema.field("x").type == container


def test_double_has_no_encoding() -> None:
    for function in (encoded, decoded):
        with pytest.raises(TypeError, match="x is a DOUBLE, which has no encoding"):
            function("x", Double())


def test_an_input_has_the_names_and_forms_that_the_plan_says(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "day,price,drug,who\n1970-01-11,1.50,b,ann\n,-0.25,a,\n")
    columns: dict[str, Any] = {
        "day": (Date(0, 99),), "price": Decimal(10, 2, -100, 200), "drug": Varchar(1, ("a", "b")), "who": (Varchar(9),),
    }  # fmt: skip
    source = table("t", path, columns)
    wanted = (
        Given("p", "price", "int"), Given("d", "day", "int"),
        Given("code", "drug", "int"), Given("h", "who", "hash"),
        Given("b", "drug", "bytes"),
    )  # fmt: skip
    with engine(scan(source), source) as opened:
        assert opened.run(local(scan(source))) == 2
        found = pyarrow.table(opened.encode(1, wanted))
        assert found.to_pylist() == [
            {"p": 150, "d": 10, "code": 1, "h": "ann", "b": "b"},
            {"p": -25, "d": None, "code": 0, "h": None, "b": "a"},
        ]
        assert pyarrow.table(opened.encode(1, wanted)) == found  # a second reading gives the same


def test_an_input_without_columns_keeps_its_rows(tmp_path: Path) -> None:
    source = table("t", write(tmp_path / "t.csv", "x\n1\n2\n"), {"x": Integer(0, 9)})
    with engine(scan(source, "none"), source) as opened:
        assert opened.run(local(scan(source, "none"))) == 2
        assert pyarrow.table(opened.encode(1, ())).num_rows == 2


def test_rows_of_the_source_do_not_show_what_a_filter_drops(tmp_path: Path) -> None:
    source = table("t", write(tmp_path / "t.csv", "x\n1\n2\n3\n"), {"x": Integer(0, 9)})
    some = Filter(
        scan(source), Call("gt", (ColumnRef("x", Integer(0, 9), False), Literal(2, Integer(2, 2))), Boolean(), False)
    )
    with engine(some, source) as opened:
        assert opened.run(local(some)) == 1
        assert opened.source_rows(1) == 3


def release(released: tuple[Field, ...]) -> ReleaseStep:
    names = tuple(each.name for each in released)
    nullable = tuple(each.name for each in released if each.nullable)
    return ReleaseStep(Release(7, 6, (OWNER,), names, nullable, ordered=True), released)


def test_a_tail_finishes_the_opened_rows_in_their_order() -> None:
    total, count = Decimal(38, 2, 0, 10**12), Integer(0, 100, "BIGINT")
    released = (Field("zip", Integer(0, 99999, "INTEGER"), False), Field("s", total, True), Field("n", count, False))
    opened_rows = Opened(7, released)
    columns = {each.name: ColumnRef(each.name, each.type, each.nullable) for each in released}
    average = Call("div", tuple(Call("cast", (columns[name],), Double(), True) for name in ("s", "n")), Double(), True)
    ordered = Sort(opened_rows, (SortKey("zip", True, False),))
    relation = Project(ordered, (("zip", columns["zip"]), ("avg", average), ("s", columns["s"])))
    tail = TailStep(8, (OWNER,), relation, fields(relation))
    steps = (release(released), tail)
    rows = {"zip": [10001, 10003, 10002], "s": [150, 1000, None], "n": [2, 4, 1]}
    with LocalEngine(plan(*steps), OWNER, catalog()) as opened:
        answer = opened.tail(tail, {7: Stream(pyarrow.table(rows))})
        assert [str(each) for each in answer.types] == ["INTEGER", "DOUBLE", "DECIMAL(38,2)"]
        assert answer.fetchall() == [
            (10003, 2.5, Number("10.00")), (10002, None, None), (10001, 0.75, Number("1.50")),
        ]  # fmt: skip
        assert len(answer) == 3
        assert pyarrow.table(answer).num_rows == 3


def test_a_tail_over_the_recipients_own_tables(tmp_path: Path) -> None:
    source = table("t", write(tmp_path / "t.csv", "x\n1\n5\n3\n"), {"x": Integer(0, 9, "INTEGER")})
    relation = Sort(scan(source), (SortKey("x", True, False),))
    tail = TailStep(1, (OWNER,), relation, fields(relation))
    with LocalEngine(plan(tail), OWNER, catalog(source)) as opened:
        assert opened.tail(tail, {}).fetchall() == [(5,), (3,), (1,)]
    with LocalEngine(plan(tail), "b", catalog(source)) as opened:
        opened.check()  # another party has nothing to do


NARROW = [
    (Integer(0, 1, "INTEGER"), [0, 1, None]),
    (Decimal(3, 2, 0, 1), [Number("0.00"), Number("0.01"), None]),
    (Date(0, 1), [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2), None]),
    (Varchar(1, ("a", "b")), ["a", "b", None]),
]


@pytest.mark.parametrize(("type_", "values"), NARROW)
def test_a_value_of_one_bit_is_opened_as_a_boolean(type_: Type, values: list[Any]) -> None:
    released = (Field("x", type_, True),)
    tail = TailStep(8, (OWNER,), Opened(7, released), released)
    with LocalEngine(plan(release(released), tail), OWNER, catalog()) as opened:
        rows = Stream(pyarrow.table({"x": [False, True, None]}))
        assert opened.tail(tail, {7: rows}).fetchall() == [(value,) for value in values]


def test_an_opened_value_beyond_its_type_is_the_users_error() -> None:
    """Nodes compute with whole rings, and a product of two INTEGER values is an INTEGER."""
    released = (Field("x", Integer(-(2**31), 2**31 - 1, "INTEGER"), False),)
    tail = TailStep(8, (OWNER,), Opened(7, released), released)
    sentence = (
        "the query: a computed value is out of its type's range; "
        "cast to a wider type in the query, or look for extreme values in the data."
    )
    with LocalEngine(plan(release(released), tail), OWNER, catalog()) as opened, pytest.raises(DataError) as caught:
        opened.tail(tail, {7: Stream(pyarrow.table({"x": [2**31 - 1, 2**31]}))})
    assert str(caught.value) == sentence


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    source = table("t", write(tmp_path / "t.csv", "x\n1\n"), {"x": Integer(0, 9)})
    total = Aggregate(scan(source), (), (Aggregation("s", "sum", "x"),))
    opened = engine(total, source)
    with opened:
        opened.run(local(total))
        spill = Path(opened.database.execute("SELECT current_setting('temp_directory')").fetchall()[0][0])
        assert spill.stat().st_mode & 0o077 == 0
    assert not spill.exists()

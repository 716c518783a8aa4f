"""Keys of tables of offers are what a query reads, whatever their file: the same values, or the same refusal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal as Exact
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.faults import RunError
from tacit.local.as_offered import opened_table
from tacit.local.checks import check_source
from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import connect
from tacit.local.errors import DataError, told
from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.catalog import Column, Table
from tacit.psi.source import OwnTable, Source, open_source

GERMAN = CsvForm(";", ",", "%d.%m.%Y", ("NA",))
DAYS = Date(0, 30000)
MOMENTS = Timestamp(0, 30000 * 86400 * 10**6)
CENTS = Decimal(12, 2, -(10**11), 10**11)
WIDE = Integer(-(10**38) + 1, 10**38 - 1, "HUGEINT")
TYPES: dict[str, tuple[Type, bool]] = {
    "INTEGER": (Integer(-1000, 1000), False), "HUGEINT": (WIDE, False), "DECIMAL": (CENTS, False),
    "DOUBLE": (CENTS, True), "DATE": (DAYS, False), "TIMESTAMP": (MOMENTS, False), "BOOLEAN": (Boolean(), False),
    "VARCHAR": (Varchar(8), False), "dictionary": (Varchar(None, ("a", "b", "7")), False),
}  # fmt: skip
"""A type of each kind, and whether its values are rounded."""


def table(path: Path, types: Sequence[str], **facts: Any) -> Table:
    """A table of nullable columns k0, k1, ... of some types."""
    columns = tuple(
        Column(Field(f"k{at}", TYPES[each][0], True), rounded=TYPES[each][1]) for at, each in enumerate(types)
    )
    return Table("t", "me", columns, path=str(path), **facts)


def by_query(offered: Table, form: CsvForm) -> list[tuple[Any, ...]] | str:
    """The rows that a query reads, after its checks, or what is wrong."""
    fields = tuple(each.field for each in offered.columns)
    try:
        with connect() as database, told(str(offered.path)):
            source = opened_table(database, offered, fields, form)
            check_source(database, source)
            return database.execute(f'FROM "{source.relation}"').fetchall()
    except DataError as error:
        return str(error)


def by_match(offered: Table, form: CsvForm) -> list[tuple[Any, ...]] | str:
    """The keys that a match reads, or what is wrong."""
    try:
        return opened(offered, form).select().fetchall()
    except RunError as error:
        return error.sentence


def opened(offered: Table, form: CsvForm = USUAL, computed: Sequence[str] = (), **options: Any) -> Source:
    """All columns but those that are computed with are the key; there is no payload."""
    key = [each.field.name for each in offered.columns if each.field.name not in computed]
    assert offered.path is not None
    return open_source(Path(offered.path), key, (), 1 << 28, form=form, own=OwnTable(offered, computed), **options)


def spelt(type_: str) -> tuple[st.SearchStrategy[str], list[str]]:
    """Texts of a type in all spellings, and some that are none of it, or in another form."""
    number = st.integers(-900, 900)
    signs, zeros = st.sampled_from(["", "+", " "]), st.sampled_from(["", "0", "000"])
    whole = st.tuples(signs, zeros, number.map(abs)).map(lambda each: "".join(map(str, each)))
    days = st.dates(date(1970, 1, 1), date(2052, 1, 1))
    moments = st.datetimes(datetime(1970, 1, 1), datetime(2052, 1, 1))
    match type_:
        case "INTEGER" | "HUGEINT":
            return st.one_of(number.map(str), whole), ["7.0", "7,0", "7.5", "1e2", "0x10", "x", "1_0", "1001"]
        case "DECIMAL" | "DOUBLE":
            return st.one_of(number.map(str), whole), ["7.50", "7,500", "7.505", "7,125", "1e2", "nan", ".5"]
        case "DATE":
            return days.map(str), ["31.01.2024", "2024-1-31", "2024-01-31 00:00:00", "2024-01-31 10:00", "infinity"]
        case "TIMESTAMP":
            odd = ["2024-01-31T10:00", "2024-01-31 10:00:00Z", "2024-01-31 10:00:00.1234567", "31.01.2024"]
            return st.one_of(moments.map(str), days.map(str)), odd
        case "BOOLEAN":
            return st.sampled_from(["true", "false", "TRUE", "t", "0", "1"]), ["yes", "x"]
        case "dictionary":
            return st.sampled_from(["a", "b", "7"]), ["c", " a", "07"]
        case _:
            return st.sampled_from(["a", "7", "07", " a", "A", "\u00e4", "a\u0308", "NA"]), ["123456789"]


@st.composite
def files(draw: st.DrawFn, form: CsvForm, most: int = 9) -> tuple[list[str], list[list[str | None]]]:
    """Types of key columns, and rows of texts. Every other file has one text that may be wrong."""
    types = draw(st.lists(st.sampled_from([*TYPES]), min_size=1, max_size=5))
    columns = [st.one_of(st.none(), _in_form(spelt(each)[0], each, form)) for each in types]
    rows = [[*row] for row in draw(st.lists(st.tuples(*columns), min_size=1, max_size=most))]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(types) - 1))
        draw(st.sampled_from(rows))[at] = draw(st.sampled_from(spelt(types[at])[1]))
    return types, rows


def _in_form(texts: st.SearchStrategy[str], type_: str, form: CsvForm) -> st.SearchStrategy[str]:
    """Dates as a form has them."""
    if type_ != "DATE" or form.date_format is None:
        return texts
    return texts.map(lambda text: date.fromisoformat(text).strftime(form.date_format or ""))


@pytest.mark.parametrize("form", [USUAL, GERMAN], ids=["usual", "german"])
@settings(deadline=None, max_examples=12)
@given(data=st.data(), unique=st.booleans())
def test_a_match_reads_the_keys_of_csv_files_as_a_query_does(
    tmp_path_factory: pytest.TempPathFactory, form: CsvForm, data: st.DataObject, unique: bool
) -> None:
    types, rows = data.draw(files(form))
    path = tmp_path_factory.mktemp("keys") / "t.csv"
    lines = [form.delimiter.join(f"k{at}" for at in range(len(types)))]
    lines += [form.delimiter.join("" if each is None else f'"{each}"' for each in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    offered = table(path, types, unique=(frozenset(["k0"]),) if unique else ())
    match, query = by_match(offered, form), by_query(offered, form)
    if isinstance(match, str) or isinstance(query, str):
        assert match == query
        return
    assert [[_plain(value) for value in row] for row in match] == [[_plain(value) for value in row] for row in query]


def _plain(value: object) -> object:
    """Whole numbers of more than 64 bits come as decimals from where keys are read."""
    return int(value) if isinstance(value, Exact) and value == int(value) else value


STORED = [
    ("INTEGER", "7::BIGINT"), ("INTEGER", "7::UTINYINT"), ("INTEGER", "7::DOUBLE"), ("INTEGER", "7.5::DOUBLE"),
    ("INTEGER", "7::DECIMAL(5,1)"), ("INTEGER", "'7'"), ("INTEGER", "1001"), ("HUGEINT", "7::UHUGEINT"),
    ("HUGEINT", "(10::HUGEINT ** 30)::HUGEINT"), ("DECIMAL", "7"), ("DECIMAL", "7.5::DECIMAL(5,1)"),
    ("DECIMAL", "7.505::DECIMAL(6,3)"), ("DECIMAL", "7.5::DOUBLE"), ("DOUBLE", "7.505::DOUBLE"),
    ("DOUBLE", "7.5::FLOAT"), ("DOUBLE", "7.5::DECIMAL(5,1)"), ("DOUBLE", "'nan'::DOUBLE"),
    ("DATE", "DATE '2024-01-31'"), ("DATE", "TIMESTAMP '2024-01-31'"), ("TIMESTAMP", "DATE '2024-01-31'"),
    ("TIMESTAMP", "'2024-01-31'::TIMESTAMP_NS"),
    ("TIMESTAMP", "'2024-01-31 00:00:00.123456789'::TIMESTAMP_NS"), ("TIMESTAMP", "TIMESTAMPTZ '2024-01-31'"),
    ("TIMESTAMP", "'2024-01-31 10:00'::TIMESTAMP_S"), ("BOOLEAN", "true"), ("BOOLEAN", "1"), ("VARCHAR", "'a'"),
    ("VARCHAR", "'a'::ENUM('a', 'b')"), ("VARCHAR", "7"), ("VARCHAR", "chr(0)"), ("VARCHAR", "'123456789'"),
    ("VARCHAR", "uuid()"), ("dictionary", "'a'"), ("dictionary", "'c'"), ("VARCHAR", "NULL"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "value"), STORED)
def test_a_match_reads_the_keys_of_parquet_files_as_a_query_does(tmp_path: Path, type_: str, value: str) -> None:
    """A file of another type than is offered is refused by both in the same words, which say what to do."""
    path = tmp_path / "t.parquet"
    duckdb.connect().execute(f"COPY (SELECT {value} AS K0 UNION ALL SELECT NULL) TO '{path}'")
    offered = table(path, [type_])
    match, query = by_match(offered, USUAL), by_query(offered, USUAL)
    if isinstance(match, str) or isinstance(query, str):
        assert match == query and str(path) in match
    else:
        assert sorted(map(str, map(_keyed, match))) == sorted(map(str, map(_keyed, query)))


def _keyed(row: tuple[Any, ...]) -> object:
    """Values that are one key compare equal: keys of one kind are read in the type that they are stored in."""
    value = _plain(row[0])
    return value.normalize() if isinstance(value, Exact) else value


def test_a_file_of_another_type_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.connect().execute(f"COPY (SELECT '007' AS k0) TO '{path}'")
    assert by_match(table(path, ["INTEGER"]), USUAL) == (
        f"{path}, column k0: the file has VARCHAR where BIGINT is declared; store it as BIGINT, or declare "
        'type = "VARCHAR" in the offer.'
    )


@pytest.mark.parametrize(
    ("content", "facts", "said"),
    [
        ("k0,k1\n1,\n,\n1,x\n", {"unique": (frozenset(["k0"]),)}, "row 3, column k0: the value repeats that of row 1"),
        ("k0,k1\n1,\n2,x\n", {"rows": 1}, "there are 2 rows, more than the 1 declared"),
        ("k0,k1\n1001,\n", {}, "row 1, column k0: 1001 is above the declared max 1000"),
        ("k0,k1\n1\n", {}, "line 2 has fewer values than the header has names"),
        ("k0,other\n1,2\n", {}, "there is no column k1, only k0, other; add it, or correct its name in the offer"),
    ],
)
def test_what_an_offer_declares_is_checked_before_a_match(
    tmp_path: Path, content: str, facts: dict[str, Any], said: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    match = by_match(table(path, ["INTEGER", "VARCHAR"], **facts), USUAL)
    assert isinstance(match, str) and said in match
    assert match == by_query(table(path, ["INTEGER", "VARCHAR"], **facts), USUAL)


def test_a_column_that_may_not_be_missing_has_no_null(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('k0\n1\n""\n')
    offered = Table("t", "me", (Column(Field("k0", Integer(0, 9), False)),), path=str(path))
    assert "row 2, column k0: '' is not a BIGINT" in str(by_match(offered, USUAL))
    path.write_text("k0,x\n1,\n,\n")
    assert "row 2, column k0: the value is missing" in str(by_match(offered, USUAL))


def test_rows_keep_the_texts_of_their_file(tmp_path: Path) -> None:
    """Columns are named as their offer does. What no offer names is as it is in the file."""
    path = tmp_path / "t.csv"
    path.write_text("K0,own,k1\n007,x,31.01.2024\n")
    offered = table(path, ["INTEGER", "DATE"])
    form = CsvForm(date_format="%d.%m.%Y")
    source = open_source(path, ["k0", "k1"], None, 1 << 28, form=form, own=OwnTable(offered))
    assert source.kinds() == ["number", "date"] and source.columns == ("k0", "own", "k1")
    (row,) = source.select().fetchall()
    assert row == (7, date(2024, 1, 31), "007", "x", "31.01.2024")
    assert not source.keeps_key and source.select().columns == ["k0 as key", "k1 as key", "k0", "own", "k1"]


def test_days_count_as_moments_beside_moments(tmp_path: Path) -> None:
    """SQL compares a day with a moment by the day's first one."""
    path = tmp_path / "t.csv"
    path.write_text("k0\n2024-01-31\n")
    own = OwnTable(table(path, ["DATE"]), moments=frozenset(["k0"]))
    source = open_source(path, ["k0"], (), 1 << 28, own=own)
    assert source.kinds() == ["timestamp"] and source.select().fetchall() == [(datetime(2024, 1, 31),)]


def computed(path: Path, type_: str, verb: str = "sum") -> Source:
    """A key k0 and a column k1 that is computed with."""
    source = opened(table(path, ["INTEGER", type_]), computed=["k1"])
    source.compute_with(["k1"], verb)
    return source


@pytest.mark.parametrize(
    ("type_", "texts", "decimals", "places"),
    [
        ("DOUBLE", ["0.125", "0.1", "", "7", "1e1"], 2, [13, 10, None, 700, 1000]),
        ("DECIMAL", ["1.5", "0.10", "", "7", "-3"], 2, [150, 10, None, 700, -300]),
        ("INTEGER", ["007", "1.0", "", "7", "-3"], 0, [7, 1, None, 7, -3]),
        ("BOOLEAN", ["true", "f", "", "1", "0"], 0, [1, 0, None, 1, 0]),
    ],
)
def test_numbers_are_those_of_their_offer(
    tmp_path: Path, type_: str, texts: list[str], decimals: int, places: list[int | None]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0,k1\n" + "".join(f"{at},{text}\n" for at, text in enumerate(texts)))
    source = computed(path, type_)
    assert [each.decimals for each in source.numbers] == [decimals]
    assert [row[1] for row in source.select().fetchall()] == places


def test_numbers_are_no_texts_and_of_their_type(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0,k1\n1,1.5\n")
    for type_, said in (
        ("INTEGER", "row 1, column k1: '1.5' is not a BIGINT; correct the value, or declare the column's real type"),
        ("VARCHAR", "column k1: it has type VARCHAR; sum integers and decimals only"),
        ("DATE", "row 1, column k1: '1.5' is not a DATE"),
    ):
        with pytest.raises(RunError) as error:
            computed(path, type_)
        assert said in error.value.sentence


def test_what_a_key_is_read_as_is_part_of_what_a_match_goes_on_with(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0\n7\n")
    stamps = {opened(table(path, [type_])).stamp for type_ in ("INTEGER", "DECIMAL", "VARCHAR", "DOUBLE")}
    stamps |= {opened(table(path, ["INTEGER"]), form).stamp for form in (USUAL, GERMAN, CsvForm(null=("-",)))}
    assert len(stamps) == 6
    path.write_text("k0\n70\n")
    assert opened(table(path, ["INTEGER"])).stamp not in stamps


@pytest.mark.parametrize(("type_", "kind", "read"), [("INTEGER", "number", "number"), ("VARCHAR", "date", "date")])
def test_a_kind_may_be_declared_that_the_offer_has_or_of_texts(
    tmp_path: Path, type_: str, kind: str, read: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0\n7\n" if kind == "number" else "k0\n2024-01-31\n")
    offered = Table(
        "t",
        "me",
        (Column(Field("k0", Varchar(None) if type_ == "VARCHAR" else TYPES[type_][0], False)),),
        path=str(path),
    )
    assert opened(offered, kinds=(kind,)).kinds() == [read]


def test_a_kind_that_contradicts_the_offer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0\n7\n")
    with pytest.raises(RunError, match="column k0: it is number, not date, as --kind declares; offer it as date, or"):
        opened(table(path, ["INTEGER"]), kinds=("date",))


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k0\n7\n")
    source = opened(table(path, ["INTEGER"]))
    assert not source.stored.changed
    path.write_text("k0\n7.5\n")
    assert source.stored.changed
    path.unlink()
    assert source.stored.changed

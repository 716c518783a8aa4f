"""Keys and sums of numbers are exact or refused, whatever their file, and an output has its input's own text."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.faults import Fault, RunError
from tacit.psi.number_columns import NumberColumn, heard
from tacit.psi.source import Source, open_source

from .pairs import Pair

LARGE = 2**63 - 1


def opened(path: Path, *values: str, kinds: tuple[str, ...] = ("number",)) -> Source:
    """A file of a key and the number of its row."""
    path.write_text("id,n\n" + "".join(f"{value},{row}\n" for row, value in enumerate(values)))
    return open_source(path, ["id"], None, 1 << 28, kinds)


def refused(path: Path, *values: str, kinds: tuple[str, ...] = ("number",)) -> str:
    with pytest.raises(RunError) as error:
        opened(path, *values, kinds=kinds)
    assert error.value.fault is Fault.INPUT
    return str(error.value)


def test_texts_of_numbers_are_read_exactly_and_kept_as_they_are(tmp_path: Path) -> None:
    texts = ("2.0000000001", " 007", "-1.50", "12345678901234567890123456", ".5", "", "+3.")
    rows = opened(tmp_path / "a.csv", *texts).select().fetchall()
    exact = ("2.0000000001", "7", "-1.5", "12345678901234567890123456", "0.5", None, "3")
    assert [row[0] for row in rows] == [None if each is None else Decimal(each) for each in exact]
    assert [row[1] for row in rows] == [text or None for text in texts]


def test_numbers_of_many_digits_match_without_decimals(tmp_path: Path) -> None:
    whole = "12345678901234567890123456789012"
    assert opened(tmp_path / "a.csv", whole).select().fetchall()[0][0] == int(whole)
    said = refused(tmp_path / "a.csv", whole, "0.0000001")
    assert "up to 32 digits before the point and 7 after it, more than the 38" in said


@pytest.mark.parametrize("value", ["1e3", "0x10", "1_000", "seven", "1.2.3", "1,5", "NaN", "-"])
def test_what_is_no_number_is_refused_with_its_row(tmp_path: Path, value: str) -> None:
    assert "a.csv, row 2, column id: the value is no number, as --kind declares" in refused(
        tmp_path / "a.csv", "1", f'"{value}"'
    )


def test_times_finer_than_a_cast_keeps_are_refused(tmp_path: Path) -> None:
    fine = "2024-05-01 10:11:12.1234567"
    assert "row 1, column id: the value is no timestamp" in refused(tmp_path / "a.csv", fine, kinds=("timestamp",))
    opened(tmp_path / "a.csv", "2024-05-01 10:11:12.1234560", kinds=("timestamp",))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1970/1/2", "date"), ("31.01.2024", "date"), ("2024-1-31", "date"), ("2024-05-01 10:11:12+02", "timestamp"),
        ("2024-05-01 10:11:12Z", "timestamp"), ("2024/05/01 10:11", "timestamp"), ("2024-05-01 1:02", "timestamp"),
    ],
)  # fmt: skip
def test_dates_and_times_that_a_cast_would_change_are_refused(tmp_path: Path, value: str, kind: str) -> None:
    said = refused(tmp_path / "a.csv", "2024-05-01 10:11:12", value, kinds=(kind,))
    assert f"a.csv, row 2, column id: the value is no {kind}, as --kind declares; correct it." in said


def test_texts_that_are_other_numbers_texts_are_told_to_their_owner(tmp_path: Path) -> None:
    said = "the text in row 2 (and 1 more) is not as its number is usually written; texts match as numbers here"
    assert any(said in note for note in opened(tmp_path / "a.csv", "1234", "01234", "1234.0", "0.5").notes)
    assert len(opened(tmp_path / "a.csv", "1234", "-0.5", "0").notes) == 1


def computed(path: Path, content: str, verb: str = "sum") -> Source:
    path.write_text(content)
    source = open_source(path, ["id"], None, 1 << 28)
    source.compute_with(["y"], verb)
    return source


def test_decimals_are_computed_with_in_their_last_places(tmp_path: Path) -> None:
    source = computed(tmp_path / "a.csv", "id,y\n1,0.4\n2,10.50\n3,\n4,-7\n5,.05\n")
    assert source.numbers == (NumberColumn("y", 2),)
    assert [row[1] for row in source.select().fetchall()] == [40, 1050, None, -700, 5]
    zeros = computed(tmp_path / "a.csv", f"id,y\n1,0.5{'0' * 30}\n2,1.0\n")
    assert zeros.numbers == (NumberColumn("y", 1),)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [((LARGE, LARGE, 1), True), ((-LARGE, -LARGE), True), ((LARGE, -LARGE), False), ((LARGE,), False)],
)
def test_sums_that_could_be_beyond_64_bits_are_refused(tmp_path: Path, values: tuple[int, ...], wrong: bool) -> None:
    content = "id,y\n" + "".join(f"{row},{value}\n" for row, value in enumerate(values))
    if not wrong:
        computed(tmp_path / "a.csv", content)
        return
    with pytest.raises(RunError, match="column y: its values add up to more than 64 bits hold") as error:
        computed(tmp_path / "a.csv", content)
    assert error.value.fault is Fault.INPUT
    computed(tmp_path / "a.csv", content, "share")


def test_values_of_more_decimals_than_64_bits_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="row 2, column y: the value is no number of 64 bits with 18 decimals"):
        computed(tmp_path / "a.csv", "id,y\n1,0.000000000000000001\n2,10\n")
    with pytest.raises(RunError, match="column y: it has 19 decimals; sum numbers of 18 at most"):
        computed(tmp_path / "a.csv", "id,y\n1,0.0000000000000000001\n")


def test_a_sum_of_decimals_is_exact_from_csv_and_parquet(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id\n2\n3\n4\n5\n")
    (pair.folder / "b.csv").write_text("id,y\n2,0.4\n3,0.4\n4,0.4\n5,10.50\n6,0.001\n")
    options = ("--reveal", "sum(b.y)", "--least", "1")
    ends = pair.match(*options, ending="csv")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert all("matching keys: 4\nsum: 11.700\n" in ended.told for ended in ends), ends
    assert "- a learns how many decimals the values of b's y have at most" in ends[0].told
    pair.write("b", "SELECT id, y::DECIMAL(9, 2) AS y FROM (VALUES ('2', 0.4), ('3', -0.45), ('9', 7)) t(id, y)")
    running = [pair.start("a", *options, ending="csv"), pair.start("b", *options)]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert all("matching keys: 2\nsum: -0.05\n" in each for each in told), told


def floating(path: Path, *values: str, stored: str = "DOUBLE") -> Source:
    """A Parquet file whose column y has floating-point numbers, which are summed."""
    listed = ", ".join(f"({row}, CAST('{value}' AS {stored}))" for row, value in enumerate(values))
    with duckdb.connect() as database:
        rows = f"SELECT id, y FROM (VALUES {listed}, (99, NULL)) t(id, y) ORDER BY id"
        database.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    source = open_source(path, ["id"], None, 1 << 28)
    source.compute_with(["y"], "sum")
    return source


FLOATING = [
    (("0.1", "0.2", "-7"), 1, [1, 2, -70]),
    (("3", "-0.0", "1e3"), 0, [3, 0, 1000]),
    (("0.000001", "-0.00002", "1000000.25"), 6, [1, -20, 1000000250000]),
    (("9007199254740991", "123456789012.5"), 1, [90071992547409910, 1234567890125]),
    (("0.123456", "0.0001"), 6, [123456, 100]),
]


STORED = [("DOUBLE", *each) for each in FLOATING] + [("FLOAT", *each) for each in FLOATING[:2] + FLOATING[4:]]


@pytest.mark.parametrize(("stored", "values", "decimals", "places"), STORED)
def test_floating_point_numbers_are_the_decimals_that_are_written_for_them(
    tmp_path: Path, stored: str, values: tuple[str, ...], decimals: int, places: list[int]
) -> None:
    source = floating(tmp_path / "a.parquet", *values, stored=stored)
    assert source.numbers == (NumberColumn("y", decimals),)
    assert [row[1] for row in source.select().fetchall()] == [*places, None]


@settings(deadline=None, max_examples=40)
@given(value=st.decimals(-(10**9), 10**9, places=6))
def test_a_decimal_of_few_digits_is_the_same_from_a_text_and_from_a_double(
    tmp_path_factory: pytest.TempPathFactory, value: Decimal
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    number = f"{value.normalize():f}"
    read = floating(folder / "a.parquet", number), computed(folder / "a.csv", f"id,y\n1,{number}\n")
    assert read[0].numbers == read[1].numbers
    assert read[0].select().fetchall()[0][1] == read[1].select().fetchall()[0][1]


@pytest.mark.parametrize("wrong", ["0.30000000000000004", "0.0000001", "nan", "inf", "1e17", "0.33333333333333331"])
def test_floating_point_numbers_of_many_digits_are_refused_with_their_row(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(RunError) as error:
        floating(tmp_path / "a.parquet", "0.5", wrong, "0.25")
    assert error.value.fault is Fault.INPUT
    assert str(error.value).endswith(
        "a.parquet, row 2, column y: the value is no decimal of at most 6 digits after the point, stored as DOUBLE; "
        "round it, or store the column as DECIMAL."
    )


@pytest.mark.parametrize("value", ["DATE '2024-02-29'", "TIMESTAMP '2024-02-29 10:00:00'"])
def test_days_and_moments_are_not_summed(tmp_path: Path, value: str) -> None:
    with duckdb.connect() as database:
        database.execute(f"COPY (SELECT 1 AS id, {value} AS y) TO '{tmp_path / 'a.parquet'}'")
    source = open_source(tmp_path / "a.parquet", ["id"], None, 1 << 28)
    with pytest.raises(RunError, match="sum integers and decimals only: store a number of days or seconds"):
        source.compute_with(["y"], "sum")


def test_a_sum_of_doubles_is_that_of_the_same_texts(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id\n2\n3\n4\n")
    (pair.folder / "b.csv").write_text("id,y\n2,0.1\n3,0.2\n4,1000000\n9,5\n")
    options = ("--reveal", "sum(b.y)", "--least", "1")
    told = [pair.match(*options, ending="csv")[1].told]
    pair.write("b", "SELECT id, y::DOUBLE AS y FROM (VALUES ('2', 0.1), ('3', 0.2), ('4', 1e6), ('9', 5)) t(id, y)")
    running = [pair.start("a", *options, ending="csv"), pair.start("b", *options)]
    told += [each.communicate(timeout=60)[0] for each in running]
    assert all("matching keys: 3\nsum: 1000000.3\n" in each for each in told), told


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_rows_come_back_as_they_were_stored(pair: Pair, ending: str) -> None:
    values = {
        "d": "DATE '2024-02-29'", "t": "TIMESTAMP '2024-02-29 12:30:00.123456'",
        "fine": "TIMESTAMP_NS '2024-02-29 12:30:00.123456789'", "money": "12.30::DECIMAL(10,2)",
        "long": "12345678901234567890.5::DECIMAL(38,1)", "x": "0.1::DOUBLE", "none": "NULL::TIMESTAMP",
    }  # fmt: skip
    listed = ", ".join(f"{value} AS {name}" for name, value in values.items())
    pair.write("a", f"SELECT 1 AS id, {listed}")
    pair.write("b", "SELECT 1 AS id")
    outputs = {party: ("--output", f"{party}-found.{ending}") for party in "ab"}
    ends = pair.match(a=outputs["a"], b=outputs["b"])
    assert [ended.status for ended in ends] == [0, 0], ends
    if ending == "csv":
        assert (pair.folder / "a-found.csv").read_text().split("\n")[1] == (
            "1,2024-02-29,2024-02-29 12:30:00.123456,2024-02-29 12:30:00.123456789,12.30,12345678901234567890.5,0.1,"
        )
    else:
        assert pair.rows("FROM 'a-found.parquet'") == pair.rows("FROM 'a.parquet'")
        types = [pair.rows(f"SELECT column_type FROM (DESCRIBE FROM '{name}.parquet')") for name in ("a", "a-found")]
        assert types[0] == types[1]


def test_shares_of_doubles_are_of_their_last_places(pair: Pair) -> None:
    pair.write("a", "SELECT 1 AS id, 0.25::DOUBLE AS n UNION ALL SELECT 2, 7")
    pair.write("b", "SELECT 2 AS id, -1.5::DECIMAL(4,1) AS y UNION ALL SELECT 1, 2")
    ends = pair.match("--reveal", "shares", "--columns", "a.n,b.y")
    assert [ended.status for ended in ends] == [0, 0], ends
    names = ("share_of_a_n_x100", "share_of_b_y_x10")
    sums = [f"(a.{name}::HUGEINT + b.{name}) % (2::HUGEINT**64)::HUGEINT" for name in names]
    assert sorted(pair.joint(", ".join(sums))) == [(25, 20), (700, 2**64 - 15)]


def test_shares_of_decimals_say_what_they_are_multiplied_by(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,n\n2,7\n3,8\n")
    (pair.folder / "b.csv").write_text("id,y\n3,-0.25\n2,10.5\n")
    ends = pair.match("--reveal", "shares", "--columns", "a.n,b.y", ending="csv")
    assert [ended.status for ended in ends] == [0, 0], ends
    sums = [
        f"(a.{name}::HUGEINT + b.{name}) % (2::HUGEINT**64)::HUGEINT" for name in ("share_of_a_n", "share_of_b_y_x100")
    ]
    assert sorted(pair.joint(", ".join(sums))) == [(7, 1050), (8, 2**64 - 25)]


def test_a_csv_key_matches_a_stored_number_exactly_and_keeps_its_text(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("zip,own\n01234,x\n1234.0,y\n1234.0000000001,near\n2,z\n")
    pair.write("b", "SELECT 1234 AS zip UNION ALL SELECT 5")
    options = ("--kind", "zip=number")
    running = [pair.start("a", *options, key="zip", ending="csv"), pair.start("b", *options, key="zip")]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert pair.joint("a.zip, a.own, b.zip") == [("01234", "x", 1234), ("1234.0", "y", 1234)]
    assert "the text in row 1 (and 1 more) is not as its number is usually written" in told[0], told


def test_announced_columns_that_no_honest_party_has_are_refused() -> None:
    assert heard(["2 net amount", "0 n"], "b") == (NumberColumn("net amount", 2), NumberColumn("n", 0))
    for told in ("amount", "19 amount", "x amount", "2 "):
        with pytest.raises(RunError, match="b announces columns as no honest party does") as error:
            heard([told], "b")
        assert error.value.fault is Fault.PEER

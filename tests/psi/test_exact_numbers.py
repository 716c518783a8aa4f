"""Keys and sums of numbers are exact or refused, whatever their file, and an output has its input's own text."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

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


def test_shares_of_decimals_say_what_they_are_multiplied_by(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,n\n2,7\n3,8\n")
    (pair.folder / "b.csv").write_text("id,y\n3,-0.25\n2,10.5\n")
    ends = pair.match("--reveal", "shares", a=("--columns", "n"), b=("--columns", "y"), ending="csv")
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

"""An owner's wrong data or files: its own sentence says where, and nobody is dialled."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from .organisations import ROWS, SOON, Consortium, Organisation, only_told_that_it_stops, others, wait_until

INPUT = 2

Spoil = Callable[[Path], None]


def with_row_7(row: str) -> Spoil:
    """Replaces the seventh row of data."""

    def spoil(file: Path) -> None:
        lines = file.read_text().splitlines()
        lines[7] = row
        file.write_text("\n".join(lines) + "\n")

    return spoil


def repeat_first_key(file: Path) -> None:
    lines = file.read_text().splitlines()
    lines[7] = lines[1].split(",")[0] + ",99999"
    file.write_text("\n".join(lines) + "\n")


def one_row_too_many(file: Path) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines, lines[1]]) + "\n")


def remove(file: Path) -> None:
    file.unlink()


def make_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def make_empty(file: Path) -> None:
    file.write_text("")


def rename_a_column(file: Path) -> None:
    file.write_text(file.read_text().replace("score", "points", 1))


def make_binary(file: Path) -> None:
    file.write_bytes(b"ssn,score\n\xff\xfe\x00\x01,\xff\n")


SCORES = Path("bureau_a/scores_a.csv")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (with_row_7("123456789,abc"), f"{SCORES}, row 7, column score: 'abc' is not an INTEGER"),
        (with_row_7("123456789,851"), f"{SCORES}, row 7, column score: 851 is above the declared max 850"),
        (with_row_7("-1,500"), f"{SCORES}, row 7, column ssn: -1 is below the declared min 0"),
        (with_row_7("123456789,"), f"{SCORES}, row 7, column score: the value is missing"),
        (with_row_7("123456789"), "has fewer values than the header has names"),
        (one_row_too_many, f"there are {ROWS + 1} rows, more than the {ROWS} declared"),
        (remove, str(SCORES)),
        (make_a_folder, str(SCORES)),
        (make_empty, str(SCORES)),
        (rename_a_column, "score"),
        (make_binary, str(SCORES)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_mistake_is_found_before_anybody_is_dialled(spoil: Spoil, says: str, consortium: Consortium) -> None:
    spoil(consortium.home("bureau_a") / SCORES)
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == INPUT
    assert end.sentence().startswith("bureau_a: ")
    assert says in end.sentence()
    assert consortium.ledger("bureau_a") == []  # it approved nothing


def test_a_repeated_key_is_never_a_wrong_answer(consortium: Consortium) -> None:
    repeat_first_key(consortium.home("regulator") / "regulator" / "demographics.csv")
    with only_told_that_it_stops(consortium, "regulator"):
        end = consortium.start("regulator").end()
    assert end.status == INPUT
    assert "demographics.csv, row 7, column ssn: the value repeats that of row 1" in end.sentence()


def listens(address: tuple[str, int]) -> bool:
    """Whether anybody does at an address."""
    with contextlib.suppress(OSError), socket.create_connection(address):
        return True
    return False


def started_last(consortium: Consortium, party: str) -> dict[str, Organisation]:
    """All parties' processes, one of them once the others wait: it tries for a second to tell them."""
    running = {each: consortium.start(each) for each in others(party)}
    wait_until(lambda: all(listens(consortium.address(each)) for each in running), list(running.values()))
    return {**running, party: consortium.start(party)}


def test_the_others_are_told_who_is_missing_and_nothing_of_the_data(tmp_path: Path) -> None:
    with Consortium(tmp_path, "connect_timeout = 60") as consortium:
        with_row_7("123456789,31337")(consortium.home("bureau_a") / SCORES)
        running = started_last(consortium, "bureau_a")
        assert "31337 is above the declared max 850" in running["bureau_a"].end().sentence()
        for party in others("bureau_a"):
            end = running[party].end()
            assert end.status == 5
            assert end.sentence() == (
                f"{party}: bureau_a cannot take part: its own input was refused, the file of its table scores_a is not "
                "as it offers."
            )
            assert end.seconds < SOON and "31337" not in end.stderr
            assert consortium.ledger(party) == [], "it approved nothing"


def test_the_others_are_told_of_an_offer_that_is_wrong(tmp_path: Path) -> None:
    with Consortium(tmp_path, "connect_timeout = 60") as consortium:
        consortium.edit("bureau_a", "rows = 20", "rows = 1.5")
        running = started_last(consortium, "bureau_a")
        assert "rows is 1.5" in running["bureau_a"].end().sentence()
        for party in others("bureau_a"):
            end = running[party].end(SOON)
            assert (end.status, end.sentence()) == (
                5, f"{party}: bureau_a cannot take part: its own input was refused.",
            )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("engine = ", "engine ", "is not TOML"),
        ('engine = "rep3"', 'engine = "rep4"', "engine"),
        ('nodes = ["regulator", "bureau_a"', 'nodes = ["regulator", "bureau_z"', "bureau_z"),
        ("idle_timeout = 20", "patience = 20", "private/bureau_a.toml, [network]: there is no entry 'patience'"),
        ("127.0.0.1:", "127.0.0.1", "host:port"),
        ("rows = 20", "rows = 1.5", "offers/bureau_a.toml, [tables.scores_a]: rows is 1.5"),
    ],
)
def test_a_mistake_in_a_file_of_the_federation_is_one_sentence(
    old: str, new: str, says: str, consortium: Consortium
) -> None:
    consortium.edit("bureau_a", old, new)
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == INPUT
    assert says in end.sentence()

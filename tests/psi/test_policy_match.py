"""`tacit policy test --tables`: the verdict of a match, by the options of `tacit psi`, without data and parties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli.main import main

from .ruled import HIDDEN, JOINED, MATCHED, SEEN, Ruled

TEST = ["policy", "test", "--with", "north,south", "--tables", "customers,people", "--key", "ssn"]
COUNT = "SELECT COUNT(*) AS keys FROM customers JOIN people ON customers.ssn = people.ssn"


@pytest.fixture
def ruled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ruled:
    monkeypatch.chdir(tmp_path)
    return Ruled.make(tmp_path)


def test_a_match_that_is_refused(ruled: Ruled, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TEST) == 3
    assert capsys.readouterr().out == (
        "inner join of customers (ssn) and people (ssn), to north and south\n"
        "  refused by south: select: people.ssn would be seen row by row; it may be joined; --reveal cardinality.\n"
    )
    assert main([*TEST, "--format", "json"]) == 3
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["match"], found["verdict"]) == ("inner join", "refused")
    refusal = found["refusal"]
    assert {name: refusal[name] for name in ("rule", "owner", "table", "column", "recipient", "change")} == {
        "rule": "select", "owner": "south", "table": "people", "column": "ssn", "recipient": "north",
        "change": "--reveal cardinality",
    }  # fmt: skip
    shown = ["policy", "show", "people", "--format", "json"]
    assert main(shown) == 0
    assert refusal["offer_hash"] == json.loads(capsys.readouterr().out)[0]["offer_hash"]
    assert refusal["changed_recipients"] == ["north", "south"] and refusal["line"] is None


def test_a_match_that_is_allowed(ruled: Ruled, capsys: pytest.CaptureFixture[str]) -> None:
    ruled.again(MATCHED, SEEN)
    assert main(TEST) == 0
    assert capsys.readouterr().out == (
        "inner join of customers (ssn) and people (ssn), to north and south\n"
        "  allowed\n"
        "  north allows: customers may be seen row by row for south (open = true)\n"
        "  south allows: people.ssn may be seen row by row for north (use select, matches)\n"
        "  south allows: people may be counted exactly for north (matches)\n"
    )


def test_a_number_above_floors(ruled: Ruled, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TEST, "--reveal", "cardinality", "--to", "north"]) == 0
    assert capsys.readouterr().out == (
        "cardinality of customers (ssn) and people (ssn), to north\n"
        f"  allowed above owners' floors, as the query {COUNT}\n"
        "  for which rows there are, south allows: people.ssn may be matched where 10 or more units stand behind it "
        "(use join)\n"
    )
    assert main([*TEST, "--reveal", "cardinality", "--to", "north", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "allowed" and found["query"]["query"] == COUNT and found["allowed"] == []


def test_whose_columns_are_shared(ruled: Ruled, capsys: pytest.CaptureFixture[str]) -> None:
    ruled.again(MATCHED, JOINED)
    shares = [*TEST, "--reveal", "shares", "--columns", "salary"]
    assert main([*shares, "--as", "south"]) == 3
    assert "people.salary would be seen row by row; it may be aggregated" in capsys.readouterr().out
    assert main([*shares, "--as", "north"]) == 3
    told = capsys.readouterr().out
    assert "refused by north: closed: a column that is named is not offered with customers;" in told
    assert main([*TEST, "--reveal", "shares", "--columns", "revenue", "--as", "north"]) == 0
    assert main([*TEST, "--reveal", "shares", "--columns", "people.seat,customers.revenue"]) == 0
    assert main([*TEST, "--reveal", "shares", "--columns", "customers.revenue,people.salary"]) == 3
    capsys.readouterr()
    assert main(shares) == 2 and "name it with --as, or write TABLE.COLUMN" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["policy", "test"], "name a file of queries, or the tables of a match"),
        ([*TEST, "q.sql"], "name --tables and --key, and no file of queries"),
        (TEST[:-2], "name --tables and --key, and no file of queries"),
        ([*TEST, "--reveal", "nothing"], "--reveal is 'nothing'"),
    ],
)
def test_mistakes_are_one_sentence(
    ruled: Ruled, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(arguments) == 2
    assert told in capsys.readouterr().err


def test_show_says_what_may_be_matched(ruled: Ruled, capsys: pytest.CaptureFixture[str]) -> None:
    for table, ssn, said in (
        (HIDDEN, JOINED, "Nobody may learn which single rows match"),
        (MATCHED, JOINED, "`tacit psi` may match rows by seat for north. It may make universal ids by ssn and seat."),
        (MATCHED, SEEN, "`tacit psi` may match rows by ssn for north and seat for north. It may make universal ids by"),
    ):
        ruled.again(table, ssn)
        assert main(["policy", "show", "people"]) == 0
        assert said in " ".join(capsys.readouterr().out.split()), (table, ssn)

"""``tacit policy test``: a verdict for each query of a file, and an exit status for scripts."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import tacit
from tacit.agent.connection import Connection
from tacit.agent.federation import Federation
from tacit.agent.keys import make_keys
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import write_scenario
from tacit.cli.main import main
from tacit.plan.account.serialise import offer_hash

from .owners import OWNERS

MIXED = "SELECT city, COUNT(*) AS n FROM people GROUP BY city;\nSELECT email FROM people; SELECT nothing FROM people;"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a federation of which no data file is there; its catalog is that of the owners with rules."""
    write_scenario(SCENARIO, 20, tmp_path)
    make_keys(Federation.load(tmp_path / "federation.toml").members, ("regulator",), replace=False)
    for path in [*tmp_path.rglob("*.csv"), *tmp_path.rglob("*.parquet")]:
        path.unlink()
    monkeypatch.setattr(Connection, "catalog", lambda self: OWNERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "q.sql"


GROUPS = "people.city may be a key of groups where 10 or more units stand behind it (use group)"


def test_each_query_has_its_verdict(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked.write_text(MIXED)
    assert main(["policy", "test", "q.sql", "--to", "north"]) == 3
    assert capsys.readouterr().out.split("\n\n") == [
        "SELECT city, COUNT(*) AS n FROM people GROUP BY city\n"
        "  allowed\n"
        f"  for city, south allows: {GROUPS}\n"
        f"  for which rows there are, south allows: {GROUPS}",
        "SELECT email FROM people\n"
        "  refused by south: closed: people.email is closed (line 1, column 8); ask for COUNT(*).",
        "SELECT nothing FROM people\n"
        "  line 1, column 8: there is no column 'nothing'; "
        "did you mean 'age', 'bonus', 'city', 'email', 'grade' or 'points'?\n",
    ]


def test_programs_read_json(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked.write_text(MIXED)
    assert main(["policy", "test", "q.sql", "--to", "north", "--format", "json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert [each["verdict"] for each in found] == ["allowed", "refused", "wrong"]
    assert found[0]["disclosed"][0] == {
        "output": "city", "owner": "south", "table": "people", "column": "city", "way": "group", "function": None,
        "floor": 10, "rule": "use group",
    }  # fmt: skip
    refusal = found[1]["refusal"]
    assert refusal["changed_query"] == "SELECT COUNT(*) FROM people"
    assert refusal["offer_hash"] == offer_hash(each for each in OWNERS.tables if each.owner == "south")
    assert "no column" in found[2]["error"]


def test_programs_that_ask_get_the_refusal_as_data(asked: Path) -> None:
    with pytest.raises(tacit.PolicyError, match=r"people\.email is closed") as caught:
        tacit.connect("federation.toml").explain("SELECT email FROM people", to="north")
    told = pickle.loads(pickle.dumps(caught.value)).refusal
    assert {name: told[name] for name in ("rule", "owner", "column", "line", "column_in_text", "change", "static")} == {
        "rule": "closed", "owner": "south", "column": "email", "line": 1, "column_in_text": 8,
        "change": "ask for COUNT(*)", "static": True,
    }  # fmt: skip
    with pytest.raises(tacit.InputError) as caught_input:
        tacit.connect("federation.toml").explain("SELECT nothing FROM people", to="north")
    assert caught_input.value.refusal is None


@pytest.mark.parametrize(
    ("text", "status"),
    [("SELECT COUNT(*) FROM people", 0), ("SELECT x FROM people", 2), ("SELECT email FROM people", 3)],
)
def test_exit_statuses(asked: Path, text: str, status: int) -> None:
    asked.write_text(text)
    assert main(["policy", "test", "q.sql", "--to", "north"]) == status


def test_a_file_without_queries_or_that_is_not_there_is_one_sentence(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.write_text(" ; -- nothing\n")
    assert main(["policy", "test", "q.sql"]) == 2
    assert capsys.readouterr().err == "tacit: q.sql has no query; write one or more, divided by semicolons.\n"
    assert main(["policy", "test", "absent.sql"]) == 2
    assert capsys.readouterr().err == "tacit: absent.sql: No such file or directory.\n"
    asked.write_bytes(b"SELECT '\xff'")
    assert main(["policy", "test", "q.sql"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_a_thousand_constants_have_the_verdict_of_one(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [str(number) for number in range(1000)]
    chain = " OR ".join(f"points = {number}" for number in numbers)
    for allowed in (f"points IN ({', '.join(numbers)})", f"points NOT IN ({', '.join(numbers)})", chain):
        asked.write_text(f"SELECT city, COUNT(*) AS n FROM people WHERE {allowed} GROUP BY city")
        assert main(["policy", "test", "q.sql", "--to", "north"]) == 0, allowed
    asked.write_text(f"SELECT COUNT(*) AS n FROM people WHERE age IN ({', '.join(numbers)})")
    capsys.readouterr()
    assert main(["policy", "test", "q.sql", "--to", "north"]) == 3
    assert "refused by south: cuts: people.age may be cut at 18" in capsys.readouterr().out

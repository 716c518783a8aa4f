"""`tacit policy show`: an offer in sentences, as text and as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.cli.main import main
from tacit.plan.account.serialise import offer_hash
from tacit.plan.account.terms_text import Clause, is_open, table_clauses
from tacit.plan.facts.catalog import Table

PARTIES = ("north", "south", "west")
FILES = {
    "federation.toml": "".join(
        f'[parties.{name}]\naddress = "127.0.0.1:{7101 + at}"\n' for at, name in enumerate(PARTIES)
    ),
    "offers/north.toml": """\
[tables.customers]
open = true
columns.ssn = { type = "BIGINT", readers = ["west"] }
columns.revenue = "INTEGER"
""",
    "offers/south.toml": """\
[tables.people]
rows = 1200
recipients = ["north", "west"]
least_group = 10
unit = "ssn"
until = 2027-01-31
matches = ["west"]
weights = ["customers.*"]
columns.ssn = { type = "BIGINT", use = ["join"], with = ["customers.ssn"] }
columns.pay = { type = "DECIMAL(8,2)", use = ["aggregate"], functions = ["avg", "max"], least_group = 1200 }
columns.cut = { type = "DECIMAL(8,2)", use = ["filter"], cuts = ["-0.50", 1000] }
columns.city = { type = "VARCHAR", use = ["group", "filter"], constants = ["O'Brien", "Oslo"] }
columns.seen = { type = "DATE", use = ["filter"], constants = [2024-02-29] }
columns.note = { type = "VARCHAR", use = ["select"], to = ["north"] }
columns.vip = "BOOLEAN"

[tables.visits]
rows = 1200
recipients = []
least_group = 5
differences = "off"
small = "drop"
columns.day = { type = "DATE", use = ["filter", "group"], cuts = "month" }
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a federation, in the folder where commands run."""
    (tmp_path / "offers").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables(folder: Path) -> tuple[Table, ...]:
    return Federation.load(folder / "federation.toml").catalog.tables


def said(table: Table) -> dict[str, str]:
    """The sentences of a table by their subjects."""
    return {clause.subject: clause.text for clause in table_clauses(table, PARTIES)}


def test_the_sentences_of_terms(folder: Path) -> None:
    _, people, visits = tables(folder)
    assert said(people) == {
        "recipients": "Only north and west may receive what derives from this table. "
        "All recipients of an answer must be among these.",
        "floor": "Every group and every number that is shown derives from at least 10 different values of ssn. "
        "Rows in which ssn is NULL count for none. "
        "Only columns that may be seen row by row, as said below, are exempt.",
        "small groups": "Groups below the floor are added up in one rest row, which is above the floor itself.",
        "time": "Until 2027-01-31, the last day, in UTC.",
        "questions": "Any question that keeps to these terms.",
        "matches": "west may learn which single rows match those of other tables, or whether a single row is there. "
        "`tacit psi` may match no rows. It may make universal ids by ssn.",
        "weights": "Of recipients' own values, those of every column of customers may be added up over rows that this "
        "table decides. Rows of customers may repeat rows of this table.",
        "audit": "Within 30 days, 100 questions at most may be answered, to all recipients together. south's agent "
        "compares the rows of questions, and refuses one that together with others tells of fewer units than the "
        "floor. After 5 such refusals, it answers nothing more within that time.",
        "column ssn": "It may be a key of joins with customers.ssn alone.",
        "column pay": "It may be shown as its average and greatest value (of which greatest value can be one unit's "
        "value). Whatever it enters derives from at least 1,200 units.",
        "column cut": "It may be compared in conditions with -0.50 and 1000.00 alone, as below or from there.",
        "column city": "It may be compared in conditions with 'O''Brien' and 'Oslo' alone, as equal to it; name "
        "groups, and be shown beside each.",
        "column seen": "It may be compared in conditions with 2024-02-29 alone, as equal to it.",
        "column note": "north may see each of its values, row by row, and use it in any way.",
        "column vip": "Closed: no query may use it.",
    }
    found = said(visits)
    assert found["recipients"] == "Nobody but south may receive anything that derives from this table."
    assert found["floor"].endswith("This protects rows, not people: somebody with 5 rows is not protected.")
    assert found["matches"].startswith("Nobody may learn which single rows match")
    assert found["small groups"] == "Groups below the floor are left out, so totals do not add up."
    assert "Answers are not compared" in found["audit"]


def test_an_open_table_says_that_nothing_protects(folder: Path) -> None:
    customers, people, _ = tables(folder)
    assert is_open(customers, PARTIES) and not is_open(people, PARTIES)
    assert table_clauses(customers, PARTIES) == (
        Clause(
            "open",
            "north has opened this table on purpose: all parties may see every row and every column. "
            "No floor protects anybody. Besides answers, queries may show ssn to west.",
        ),
    )
    assert not is_open(customers, (*PARTIES, "east"))


def test_all_tables_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    customers, people, visits = tables(folder)
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles == [
        "customers, a table of north",
        f"All tables of north, with their terms: offer {offer_hash([customers])[:16]}",
        "people, a table of south",
        "visits, a table of south",
        f"All tables of south, with their terms: offer {offer_hash([people, visits])[:16]}",
    ]
    assert "  column vip    Closed: no query may use it." in lines
    assert max(map(len, lines)) <= 110


def test_one_table_by_the_name_that_sql_takes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", "PEOPLE"]) == 0
    found = capsys.readouterr().out
    assert "people, a table of south" in found and "visits, a table" not in found
    # The hash is of the whole offer nevertheless.
    assert offer_hash(table for table in tables(folder) if table.owner == "south")[:16] in found


def test_as_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", "people", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    (_, people, _) = tables(folder)
    assert (found["table"], found["owner"], found["open"]) == ("people", "south", False)
    assert (found["terms"]["least_group"], found["terms"]["until"]) == (10, "2027-01-31")
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["ssn"]["with"] == ["customers.ssn"]
    assert columns["cut"]["cuts"] == ["-0.50", "1000.00"]
    assert columns["seen"]["constants"] == ["2024-02-29"]
    assert columns["vip"]["use"] == []
    sentences = {each["subject"]: each["text"] for each in found["sentences"]}
    assert sentences == said(people)


def test_a_table_that_nobody_offers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", "peopel"]) == 2
    assert capsys.readouterr().err == "tacit: nobody offers a table 'peopel'; perhaps you mean people.\n"
    assert main(["policy", "show", "x"]) == 2
    assert capsys.readouterr().err == "tacit: nobody offers a table 'x'; `tacit tables` lists all.\n"


def test_a_wrong_offer_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offer = folder / "offers" / "south.toml"
    offer.write_text(offer.read_text().replace("least_group = 10\n", "least_group = 0\n"))
    with pytest.raises(RunError, match="least_group is 0; write a whole number from 1"):
        tables(folder)
    assert main(["policy", "show"]) == 2
    assert capsys.readouterr().err.count("\n") == 1

"""A column that is open to programs alone is closed to queries, and one that is open to both stays open to these."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tacit.agent.federation import Federation
from tacit.plan.account.terms_text import table_clauses
from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import disclosures

OFFER = """\
[tables.people]
rows = 100
unique = [["id"]]
recipients = ["north"]
least_group = 10
unit = "id"
matches = ["north"]

[tables.people.columns]
id = { type = "INTEGER", min = 1, max = 999, use = ["join"] }
pay = { type = "INTEGER", min = 0, max = 999, use = ["program"] }
age = { type = "INTEGER", min = 0, max = 120, use = ["program", "aggregate"] }
"""
CLOSED = """\
[tables.people]
recipients = ["north"]
columns.pay = { type = "INTEGER", min = 0, max = 999, use = ["program"] }
"""


def catalog(folder: Path, offer: str = OFFER) -> Catalog:
    (folder / "offers").mkdir()
    parties = "".join(
        f'[parties.{name}]\naddress = "127.0.0.1:710{at}"\n' for at, name in enumerate(("north", "south", "west"))
    )
    (folder / "federation.toml").write_text(parties)
    (folder / "offers" / "south.toml").write_text(offer)
    return Federation.load(folder / "federation.toml").catalog


def refusal(query: str, found: Catalog) -> str:
    with pytest.raises(PolicyRefusal) as caught:
        disclosures(query, found, ("north",), date(2027, 1, 1))
    return str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT AVG(pay) AS a FROM people",
        "SELECT pay FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE pay > 3",
        "SELECT pay, COUNT(*) AS n FROM people GROUP BY pay",
        "SELECT COUNT(*) AS n FROM people p JOIN people q ON p.pay = q.pay",
        "SELECT MIN(pay + age) AS m FROM people",
    ],
)
def test_queries_have_no_use_of_it(tmp_path: Path, query: str) -> None:
    assert refusal(query, catalog(tmp_path)).startswith(
        "refused by south: closed: people.pay is open to programs alone (line 1, column "
    )


def test_other_ways_beside_it_stay(tmp_path: Path) -> None:
    found = catalog(tmp_path)
    allowed = disclosures("SELECT AVG(age) AS a FROM people", found, ("north",), date(2027, 1, 1))
    assert [(each.column, each.way) for each in allowed] == [("age", "aggregate")]
    assert "function: MAX gives one value of people.age" in refusal("SELECT MAX(age) AS m FROM people", found)


def test_a_table_that_is_open_to_programs_alone_needs_no_floor_and_is_not_counted(tmp_path: Path) -> None:
    found = catalog(tmp_path, CLOSED)
    assert refusal("SELECT COUNT(*) AS n FROM people", found).startswith(
        "refused by south: closed: no column of people is open"
    )


def test_sentences_say_so(tmp_path: Path) -> None:
    found = catalog(tmp_path)
    said = {each.subject: each.text for each in table_clauses(found.tables[0], found.parties)}
    assert said["column pay"] == "No query may use it. Programs may compute on it."
    assert said["column age"].endswith(" Programs may compute on it.")
    assert "Programs" not in said["column id"]

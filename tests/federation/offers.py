"""Offers of three parties with owners' terms, for tests of what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.plan.facts.catalog import Table

PARTIES = ("north", "south", "west")
MEMBERSHIP = "\n".join(f'[parties.{name}]\naddress = "127.0.0.1:{7101 + at}"' for at, name in enumerate(PARTIES))
NORTH = """\
[tables.customers]
open = true
columns.ssn = { type = "BIGINT", readers = ["west"] }
columns.revenue = "INTEGER"
"""
SOUTH = """\
[tables.people]
rows = 120000
recipients = ["north"]
least_group = 10

[tables.people.columns]
ssn = { type = "BIGINT", use = ["join"] }
age = { type = "INTEGER", min = 0, max = 120, use = ["filter"] }
pay = { type = "DECIMAL(8,2)", use = ["aggregate"] }
city = { type = "VARCHAR", max_length = 9, use = ["group", "filter"] }
seen = { type = "DATE", use = ["filter"] }
vip = { type = "BOOLEAN", use = ["filter"] }
"""
Q = "q:" + "0123456789abcdef" * 4
EVERYTHING = f"""\
[tables.people]
rows = 120000
recipients = ["west", "north"]
least_group = 10
unit = ["ssn", "city"]
small = "drop"
until = 2027-01-31
allow = ["{Q}"]
matches = ["north"]
weights = ["customers.revenue", "customers.*"]
differences = "text"
questions = 7
refusals = 1
period = 365
complement = true
programs = "any"

[tables.people.columns]
ssn = {{ type = "BIGINT", use = ["join"], with = ["customers.ssn", "people.ssn"] }}
pay = {{ type = "DECIMAL(8,2)", use = ["aggregate", "filter"], functions = ["max"], least_group = 20, cuts = ["2.5"] }}
city = {{ type = "VARCHAR", use = ["filter", "group", "select"], to = ["west"], constants = ["Oslo", "Bodø"] }}
seen = {{ type = "DATE", use = ["filter"], cuts = "month" }}
note = "VARCHAR"
"""


def load(folder: Path, south: str, north: str = NORTH) -> Federation:
    """A federation of three parties, of which two offer a table."""
    (folder / "offers").mkdir(exist_ok=True)
    (folder / "federation.toml").write_text(MEMBERSHIP, encoding="utf-8")
    for name, text in (("north", north), ("south", south)):
        (folder / "offers" / f"{name}.toml").write_text(text, encoding="utf-8")
    return Federation.load(folder / "federation.toml")


def people(folder: Path, south: str) -> Table:
    """South's table."""
    return load(folder, south).catalog.tables[1]


def mistake(folder: Path, south: str) -> str:
    """The sentence about south's offer, without the folder."""
    with pytest.raises(RunError) as caught:
        load(folder, south)
    assert caught.value.fault is Fault.INPUT
    return str(caught.value).removeprefix(f"{folder}/offers/south.toml, ")

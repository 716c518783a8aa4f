"""A federation whose owners have rules for matches, by files alone: north asks, south and west are asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.cli.demo.scenario import free_ports, write_membership
from tacit.psi.request import Request
from tacit.psi.verdict import MatchVerdict, match_verdict

PARTIES = ("north", "south", "west")

CUSTOMERS = """
[tables.customers]
open = true
rows = 500
unique = [["ssn"]]
columns.ssn = { type = "BIGINT", min = 1, max = 999999999 }
columns.id = { type = "BIGINT", min = 1, max = 999999999 }
columns.revenue = { type = "INTEGER", min = 0, max = 1000000 }

[tables.copies]
open = true
rows = 500
columns.ssn = { type = "BIGINT", min = 1, max = 999999999 }
"""

PEOPLE = """
[tables.people]
rows = 500
unique = [["ssn"]]
{table}

[tables.people.columns]
ssn = {{ type = "BIGINT", min = 1, max = 999999999, {ssn} }}
salary = {{ type = "INTEGER", min = 0, max = 10000000, use = ["aggregate"], least_group = 20 }}
bonus = {{ type = "INTEGER", min = 0, max = 10000, use = ["aggregate"], functions = ["avg"] }}
seat = {{ type = "INTEGER", min = 0, max = 10000, use = ["select"] }}
vip = "BOOLEAN"
"""
FLOOR = 'recipients = ["north"]\nleast_group = 10\nunit = "ssn"\n'
HIDDEN = FLOOR
MATCHED = FLOOR + 'matches = ["north"]\n'
JOINED = 'use = ["join"], with = ["customers.ssn"]'
SEEN = 'use = ["join", "select"], with = ["customers.ssn"]'

MEMBERS = """
[tables.members]
recipients = ["north", "south"]
{table}

[tables.members.columns]
ssn = {{ type = "BIGINT", min = 1, max = 999999999, use = ["select"], {ssn} }}
"""


@dataclass(frozen=True)
class Ruled:
    """A folder with such a federation."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, table: str = HIDDEN, ssn: str = JOINED, members: str = "", seen: str = "") -> Ruled:
        """table, ssn: what south says of its table people and of its key. members, seen: the same of west's."""
        (folder / "offers").mkdir()
        write_membership(folder, 'engine = "two"\n', dict(zip(PARTIES, free_ports(3), strict=True)))
        ruled = cls(folder)
        ruled.offer("north", CUSTOMERS)
        ruled.offer("south", PEOPLE.format(table=table, ssn=ssn))
        ruled.offer("west", MEMBERS.format(table=members, ssn=seen or 'to = ["north"]'))
        return ruled

    def again(self, table: str, ssn: str) -> Ruled:
        """The same after south has changed its offer."""
        self.offer("south", PEOPLE.format(table=table, ssn=ssn))
        return self

    @property
    def members(self) -> Members:
        return Members.load(self.folder / "federation.toml")

    def offer(self, owner: str, text: str) -> None:
        """What an owner offers from now on."""
        (self.folder / "offers" / f"{owner}.toml").write_text(text)

    def keys(self) -> None:
        make_keys(self.members, PARTIES, replace=False)

    def verdict(self, *tables: str, key: str = "ssn", columns: tuple[str, ...] = (), **options: Any) -> MatchVerdict:
        """What all owners say of a match."""
        request = Request(**{"me": "", "keys": [key.split(",")], "tables": tables, "other": ["south"], **options})
        return match_verdict(request, self.members, columns)

    def refused(self, *tables: str, **options: Any) -> str:
        """The sentence of a match that is refused."""
        found = self.verdict(*tables, **options)
        assert found.refusal is not None, found
        return str(found.refusal)

    def allowed(self, *tables: str, **options: Any) -> list[str]:
        """Who allows a match by what."""
        found = self.verdict(*tables, **options)
        assert found.refusal is None and found.judged is not None, found.refusal
        return [f"{each.owner}: {each.sentence}" for each in found.judged.allowed]

    def question(self, *tables: str, **options: Any) -> str | None:
        """The query that is asked in place of a match."""
        found = self.verdict(*tables, **options)
        assert found.refusal is None and found.judged is not None, found.refusal
        return found.judged.question

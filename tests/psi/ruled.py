"""A federation whose owners have rules for matches, by files alone: north asks, south and west are asked."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.cli.demo.scenario import free_ports, write_membership
from tacit.psi.request import Request
from tacit.psi.verdict import MatchVerdict, match_verdict

from .pairs import CODE, DUCKDB, Ended

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

    def start(self, party: str, *options: str, folder: Path | None = None) -> subprocess.Popen[str]:
        """A party's `tacit psi` under way. folder: its own copy of the federation's files."""
        command = [sys.executable, "-m", "tacit", "psi", "--as", party, *options]
        return subprocess.Popen(
            command, cwd=folder or self.folder, env={**os.environ, "PYTHONPATH": str(CODE)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def match(self, *options: str, parties: str = "north south", **own: tuple[str, ...]) -> list[Ended]:
        """Parties' commands with common options and own ones, to their end. All have outputs."""
        names = parties.split()
        everywhere = (*(() if "--with" in options else ("--with", ",".join(names))), *options)
        running = [
            self.start(name, *everywhere, "--output", f"{name}-matched.parquet", *own.get(name, ())) for name in names
        ]
        told = [each.communicate(timeout=120)[0] for each in running]
        return [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]

    def fill(self, common: int = 30) -> None:
        """Keys, private files and data: customers and people of 100 rows with so many common keys, members of 50."""
        make_keys(self.members, PARTIES, replace=False)
        for party, table, rows in (
            ("north", "customers", "SELECT i::BIGINT AS ssn, (i + 5)::BIGINT AS id, (10 * i)::INTEGER AS revenue"),
            ("south", "people", f"SELECT (i + {100 - common})::BIGINT AS ssn, (100 * i)::INTEGER AS salary, "
             "i::INTEGER AS bonus, i::INTEGER AS seat, i % 2 = 0 AS vip"),
            ("west", "members", "SELECT (i + 50)::BIGINT AS ssn"),
        ):  # fmt: skip
            path = self.folder / f"{table}.parquet"
            DUCKDB.cursor().execute(f"COPY ({rows} FROM range(1, 101) t(i)) TO '{path}'")
            private = f'[network]\nconnect_timeout = 20\n\n[tables.{table}]\npath = "../{table}.parquet"\n'
            (self.folder / "private" / f"{party}.toml").write_text(private)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """A query over the files of the folder."""
        database = duckdb.connect()
        database.execute(f"SET file_search_path = '{self.folder}'")
        return database.execute(query).fetchall()

    def verdict(self, *tables: str, key: str = "ssn", columns: tuple[str, ...] = (), **options: Any) -> MatchVerdict:
        """What all owners say of a match."""
        request = Request(
            **{"me": "", "keys": [key.split(",")], "tables": tables, "other": ["south"], "shared": columns, **options}
        )
        return match_verdict(request, self.members)

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

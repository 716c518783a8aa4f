"""Two parties on this machine, each with its own table, and `tacit psi` at both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import tacit
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.cli.demo.scenario import free_ports, write_membership, write_offers

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CODE = Path(tacit.__file__).parents[1]
"""Where the code under test is, which processes import too."""
DUCKDB = duckdb.connect()
"""Writes files. To open another takes 17 ms of a processor."""


def found(folder: Path, parties: str, ports: Sequence[int], network: str) -> None:
    """The files of a federation of parties that only match. network: of each party's private file."""
    path = write_membership(folder, "", dict(zip(parties, ports, strict=True)))
    write_offers(folder, (), dict.fromkeys(parties, f"[network]\n{network}"))
    make_keys(Members.load(path), tuple(parties), replace=False)


@dataclass(frozen=True)
class Ended:
    """How one party's command ended."""

    status: int
    told: str


@dataclass(frozen=True)
class Pair:
    """A folder with a federation of two parties, a and b."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Pair:
        ports = free_ports(2)
        found(folder, "ab", ports, "connect_timeout = 20")
        return cls(folder)

    def write(self, party: str, query: str, ending: str = "parquet") -> None:
        """The rows of a DuckDB query as a party's input."""
        DUCKDB.cursor().execute(f"COPY ({query}) TO '{self.folder / party}.{ending}'")

    def start(
        self, party: str, *options: str, key: str = "id", ending: str = "parquet", path: Path = EXAMPLES
    ) -> subprocess.Popen[str]:
        """A party's command under way. path: where plug-ins are, besides the examples."""
        command = [sys.executable, "-m", "tacit", "psi", "--federation", "federation.toml", "--as", party]
        command += ["--input", f"{party}.{ending}", "--key", key]
        if "--output" not in options:
            command += ["--output", f"{party}-matched.parquet"]
        return subprocess.Popen(
            [*command, *options],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (CODE, path, EXAMPLES)))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def waiting(self, party: str, *options: str, **how: Any) -> subprocess.Popen[str]:
        """The same, once it waits for others."""
        running = self.start(party, *options, **how)
        assert running.stdout is not None
        told = []
        for line in running.stdout:
            told.append(line)
            if line.startswith("waiting for "):
                return running
        raise AssertionError("".join(told))

    def match(self, *options: str, a: tuple[str, ...] = (), b: tuple[str, ...] = (), **how: Any) -> tuple[Ended, Ended]:
        """Both parties' commands with common options and own ones, to their end."""
        running = [self.start("a", *options, *a, **how), self.start("b", *options, *b, **how)]
        first, second = [Ended(0, told) for told, _ in (each.communicate(timeout=90) for each in running)]
        statuses = [each.returncode for each in running]
        return Ended(statuses[0], first.told), Ended(statuses[1], second.told)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """A query over the files of the folder."""
        database = duckdb.connect()
        database.execute(f"SET file_search_path = '{self.folder}'")
        return database.execute(query).fetchall()

    def joint(self, columns: str) -> list[tuple[Any, ...]]:
        """Both outputs side by side, row for row, in order of the rows' own values."""
        return self.rows(
            f"SELECT {columns} FROM 'a-matched.parquet' a POSITIONAL JOIN 'b-matched.parquet' b ORDER BY ALL"
        )

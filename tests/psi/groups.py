"""Several parties on this machine, each with its own table, and `tacit psi` at all of them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.cli.demo.scenario import free_ports

from .pairs import Ended, Pair, found


@dataclass(frozen=True)
class Group(Pair):
    """A folder with a federation of several parties, a, b, c and so on."""

    parties: str = "abc"

    @classmethod
    def of(cls, folder: Path, parties: str, network: str = "connect_timeout = 20") -> Group:
        found(folder, parties, free_ports(len(parties)), network)
        return cls(folder, parties)

    def start_all(
        self, *options: str, own: dict[str, tuple[str, ...]] | None = None, **how: Any
    ) -> dict[str, subprocess.Popen[str]]:
        """Every party's command under way, with common options and own ones."""
        own = own or {}
        return {party: self.start(party, *options, *own.get(party, ()), **how) for party in self.parties}

    def match_all(self, *options: str, own: dict[str, tuple[str, ...]] | None = None, **how: Any) -> dict[str, Ended]:
        """Every party's command, to its end."""
        return ends(self.start_all(*options, own=own, **how))

    def aligned(self, parties: str, column: str = "own") -> list[tuple[Any, ...]]:
        """Some parties' outputs side by side, row for row, in order of the rows' own values."""
        sides = " POSITIONAL JOIN ".join(f"'{party}-matched.parquet' {party}" for party in parties)
        columns = ", ".join(f"{party}.{column}" for party in parties)
        return self.rows(f"SELECT {columns} FROM {sides} ORDER BY ALL")


def ends(running: dict[str, subprocess.Popen[str]]) -> dict[str, Ended]:
    """How commands end."""
    told = {party: each.communicate(timeout=90)[0] for party, each in running.items()}
    return {party: Ended(running[party].returncode, text) for party, text in told.items()}

"""What a demo question consists of, and how its files are made: data from seeded draws, and a federation of it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from tacit.agent.keys import write_whole

MACROS = """
CREATE MACRO chance(i, salt) AS (hash(i, salt) % 1000000007) / 1000000007.0;
CREATE MACRO bell(i, salt) AS
    (chance(i, salt || '1') + chance(i, salt || '2') + chance(i, salt || '3') + chance(i, salt || '4') - 2) * 1.7320508;
CREATE MACRO pick(list, i, salt) AS list[1 + floor(power(chance(i, salt), 2) * len(list))::INTEGER];
"""
"""Draws that depend on a row's number only: uniform in [0, 1); about normal (0, 1); from a list, favouring its head."""


@dataclass(frozen=True)
class DemoTable:
    """A table of the demo.

    select: a DuckDB query that makes its rows. declaration: its section in the owner's offer.
    """

    name: str
    owner: str
    select: str
    declaration: str


@dataclass(frozen=True)
class Offered:
    """A table as its owner offers it. path: of its file, from the federation's folder. declaration: its section."""

    name: str
    owner: str
    path: str
    declaration: str


@dataclass(frozen=True)
class Scenario:
    """One demo question.

    parties: the nodes in order. rows: of each owner's file unless the user says otherwise. tables: the tables for a
    number of rows. clients: parties that are no nodes.
    """

    name: str
    question: str
    query: str
    parties: tuple[str, ...]
    recipients: tuple[str, ...]
    rows: int
    tables: Callable[[int], tuple[DemoTable, ...]]
    engine: str = "rep3"
    clients: tuple[str, ...] = ()

    @property
    def everybody(self) -> tuple[str, ...]:
        """All parties, the nodes first."""
        return (*self.parties, *self.clients)

    def computed_outside(self) -> Scenario:
        """The same question, for which parties compute that own nothing and get no answer."""
        nodes = tuple(f"node_{number}" for number in range(1, len(self.parties) + 1))
        return replace(self, parties=nodes, clients=self.everybody)


def write_scenario(scenario: Scenario, rows: int, folder: Path) -> None:
    """Write every table as ``<owner>/<table>.csv`` under the folder, and the federation's files for this machine."""
    tables = scenario.tables(rows)
    with duckdb.connect() as database:
        database.execute(MACROS)
        for table in tables:
            path = folder / table.owner / f"{table.name}.csv"
            path.parent.mkdir(exist_ok=True)
            shuffled = f"SELECT * FROM ({table.select}) t ORDER BY hash(t::VARCHAR)"
            database.execute(f"COPY ({shuffled}) TO {_quoted(path)} (HEADER)")
    write_federation(scenario, tables, free_ports(len(scenario.everybody)), folder)


def write_federation(scenario: Scenario, tables: tuple[DemoTable, ...], ports: list[int], folder: Path) -> None:
    """The files of a scenario's federation whose parties all run on this machine, but for keys and data."""
    entries = (
        f'engine = "{scenario.engine}"\nnodes = {_list(scenario.parties)}\nrecipients = {_list(scenario.recipients)}'
    )
    offered = [Offered(each.name, each.owner, f"{each.owner}/{each.name}.csv", each.declaration) for each in tables]
    write_membership(folder, entries, dict(zip(scenario.everybody, ports, strict=True)))
    write_offers(folder, offered)


def write_membership(folder: Path, entries: str, ports: Mapping[str, int]) -> Path:
    """A federation file of parties on this machine. entries: the top of the file. Returns its path."""
    lines = ["# Who takes part. Every party holds this same file.", entries]
    for party, port in ports.items():
        lines += ["", f"[parties.{party}]", f'address = "127.0.0.1:{port}"']
    path = folder / "federation.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_offers(folder: Path, tables: Iterable[Offered], private: Mapping[str, str] | None = None) -> None:
    """Each owner's offer and private file. private: the top of parties' private files, where these have one."""
    offers: dict[str, list[str]] = {}
    privates = {party: [entries] for party, entries in (private or {}).items()}
    for table in tables:
        section = f"[tables.{table.name}]"
        offers.setdefault(table.owner, []).extend([section, table.declaration.strip(), ""])
        privates.setdefault(table.owner, []).extend([section, f'path = "../{table.path}"'])
    for name, files, mode in (("offers", offers, 0o644), ("private", privates, 0o600)):
        for party, lines in files.items():
            write_whole(folder / name / f"{party}.toml", ("\n".join(lines).strip() + "\n").encode(), mode)


def free_ports(count: int) -> list[int]:
    """Ports on the loopback interface that nobody uses, and that nobody is given for a minute who does not name them.

    A port over which a connection was ended from its own side rests for so long. The system gives it to no program that
    wants any port, and to none for a connection of its own, while who names it can listen there at once.
    """
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        for listener in listeners:
            with socket.create_connection(listener.getsockname()) as caller:
                listener.accept()[0].close()
                caller.recv(1)
        return [listener.getsockname()[1] for listener in listeners]


def _list(names: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"

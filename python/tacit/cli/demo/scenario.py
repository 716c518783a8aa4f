"""What a demo question consists of, and how its files are made: data from seeded draws, and a federation file."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb

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

    select: a DuckDB query that makes its rows. declaration: the rest of its section in the federation file.
    """

    name: str
    owner: str
    select: str
    declaration: str


@dataclass(frozen=True)
class Scenario:
    """One demo question.

    parties: the nodes in order. rows: of each owner's file unless the user says otherwise. tables: the tables for a
    number of rows.
    """

    name: str
    question: str
    query: str
    parties: tuple[str, ...]
    recipients: tuple[str, ...]
    rows: int
    tables: Callable[[int], tuple[DemoTable, ...]]
    engine: str = "rep3"


def write_scenario(scenario: Scenario, rows: int, folder: Path) -> None:
    """Write every table as ``<owner>/<table>.csv`` under the folder, and ``federation.toml`` for this machine."""
    tables = scenario.tables(rows)
    with duckdb.connect() as database:
        database.execute(MACROS)
        for table in tables:
            path = folder / table.owner / f"{table.name}.csv"
            path.parent.mkdir(exist_ok=True)
            shuffled = f"SELECT * FROM ({table.select}) t ORDER BY hash(t::VARCHAR)"
            database.execute(f"COPY ({shuffled}) TO {_quoted(path)} (HEADER)")
    text = federation_file(scenario, tables, free_ports(len(scenario.parties)))
    (folder / "federation.toml").write_text(text, encoding="utf-8")


def federation_file(scenario: Scenario, tables: tuple[DemoTable, ...], ports: list[int]) -> str:
    """The federation file of a scenario whose parties all run on this machine."""
    lines = ["# Who takes part, and what each party offers. Every party holds this same file."]
    lines += [f'engine = "{scenario.engine}"', f"nodes = {_list(scenario.parties)}"]
    lines += [f"recipients = {_list(scenario.recipients)}"]
    for party, port in zip(scenario.parties, ports, strict=True):
        lines += ["", f"[parties.{party}]", f'address = "127.0.0.1:{port}"']
    for table in tables:
        lines += ["", f"[tables.{table.name}]", f'owner = "{table.owner}"', f'path = "{table.owner}/{table.name}.csv"']
        lines += [table.declaration.strip()]
    return "\n".join(lines) + "\n"


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

"""The demo of matching: a shop and an advertiser find their common customers, checked against DuckDB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
from rich.console import Console

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.cli.demo.scenario import free_ports, write_membership
from tacit.cli.screen import heading

NAME = "psi"
ROWS = 100_000

TABLES = {
    "shop": """SELECT 'Person' || i || '@Example.org' AS email, 'city ' || i % 50 AS city
        FROM range({rows}) t(i) ORDER BY hash(i)""",
    "advertiser": """SELECT 'person' || i || '@example.org' AS email, i % 7 AS campaign
        FROM range({rows} // 2, {rows} // 2 + {rows}) t(i) ORDER BY hash(i, 1)""",
}


def tell(rows: int, folder: Path, screen: Console) -> None:
    """The whole story: two tables, two processes, what each prints, and the joint rows."""
    ports = free_ports(len(TABLES))
    path = write_membership(folder, "", dict(zip(TABLES, ports, strict=True)))
    make_keys(Members.load(path), tuple(TABLES), replace=False)
    with duckdb.connect() as database:
        for name, query in TABLES.items():
            database.execute(f"COPY ({query.format(rows=rows)}) TO '{folder / name}.parquet'")
    heading(screen, "The question")
    screen.print("Which customers does a shop share with an advertiser? Neither shows the other its list.")
    running = [_start(name, folder) for name in TABLES]
    for name, process in zip(TABLES, running, strict=True):
        told = process.communicate()[0]
        heading(screen, f"What {name} sees")
        screen.print(told.rstrip(), soft_wrap=True, markup=False)
    if any(process.returncode != 0 for process in running):
        raise RunError(Fault.INTERNAL, "a party of the demo failed; its own sentence is above.")
    heading(screen, "Some joint rows, one half from each party's file")
    with duckdb.connect() as database:
        shop, advertiser = (f"'{folder / name}-matched.parquet'" for name in TABLES)
        joint = f"{shop} s POSITIONAL JOIN {advertiser} a"
        for row in database.execute(f"SELECT s.email, city, a.email, campaign FROM {joint} LIMIT 5").fetchall():
            screen.print("  ".join(map(str, row)), markup=False)
        wrong = f"SELECT count(*) FILTER (lower(s.email) <> a.email OR s.email IS NULL), count(*) FROM {joint}"
        ((differing, found),) = database.execute(wrong).fetchall()
    if differing or found != rows - rows // 2:
        raise RunError(Fault.INTERNAL, "the joint rows differ from those of DuckDB on both tables.")
    screen.print(f"checked: {found:,} rows, aligned, as many as DuckDB finds in both tables")


def _start(name: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tacit", "psi", "--federation", "federation.toml", "--as", name, "--yes"]
    command += ["--input", f"{name}.parquet", "--output", f"{name}-matched.parquet"]
    command += ["--key", "email", "--normalise", "email=email"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

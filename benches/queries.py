"""Whole queries through the Python package: a process for each party on this machine, joined by TLS, with own files.

    python benches/queries.py credit --rows 100000          credit question, everything under MPC
    python benches/queries.py market --rows 100000000       market concentration; DuckDB's own time for the local part
    python benches/queries.py join-of-two --rows 32768      a join of two owners on one's unique key, and no third party
    python benches/queries.py demo                          `tacit demo`, from its first to its last line
    python benches/queries.py two-hospitals                 `tacit demo two-hospitals`

Prints one JSON object. Wall clock is what a user waits for ``federation.sql(...)``: planning, starting the parties'
processes, reading and checking their files, connecting, computing, and the answer. ``peak_memory`` is each party
process's largest resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import isclose
from pathlib import Path
from typing import Any

import duckdb
from children import PeakMemory
from floors import CREDIT_SECONDS, DEMO_SECONDS, JOIN_OF_TWO_ROWS_A_SECOND, MARKET_EXTRA_SECONDS, MARKET_FACTOR

PARTIES = ("a", "b", "c")

CREDIT = """\
SELECT d.zip, AVG(s.score) AS avg_score
FROM demographics d
JOIN (SELECT ssn, score FROM scores_a UNION ALL SELECT ssn, score FROM scores_b) s ON d.ssn = s.ssn
GROUP BY d.zip
ORDER BY d.zip"""

MARKET = """\
WITH revenue AS (
  SELECT t.company, SUM(t.price) AS rev
  FROM (SELECT company, price FROM trips_a
        UNION ALL SELECT company, price FROM trips_b
        UNION ALL SELECT company, price FROM trips_c) t
  WHERE t.price > 0
  GROUP BY t.company),
total AS (SELECT SUM(r.rev) AS total FROM revenue r)
SELECT SUM(r.rev * r.rev) / MAX(t.total * t.total) AS hhi
FROM revenue r CROSS JOIN total t"""

JOIN = "SELECT COUNT(*) AS n, SUM(r.v) AS total FROM l JOIN r ON l.k = r.k"

MARKET_LOCAL = "SELECT company, SUM(price) FROM '{path}' WHERE price > 0 GROUP BY company"
"""What is left to each owner's own engine when the owners consent to pre-aggregation."""


@dataclass(frozen=True)
class Table:
    """A made-up table. select: its rows, in DuckDB's SQL. columns, facts and rules: its part of its owner's offer."""

    name: str
    owner: str
    select: str
    columns: str
    facts: str = ""
    rules: str = "open = true"


SSN = "100000000 + (i * 7654321) % 799999999"


def credit_tables(rows: int) -> list[Table]:
    """A third of the rows each: most people are known to the regulator and to both bureaus."""
    each = rows // 3
    ssn = 'ssn = { type = "INTEGER", min = 100000000, max = 899999999 }'
    zips = 'zip = { type = "INTEGER", min = 10000, max = 99999 }'
    score = 'score = { type = "INTEGER", min = 300, max = 850 }'
    people = f"SELECT {SSN} AS ssn, 10000 + (hash(i) % 400)::INTEGER AS zip FROM range({each}) r(i)"
    scores = f"SELECT {SSN} AS ssn, 300 + (hash(i, '{{0}}') % 551)::INTEGER AS score FROM range({{1}}, {{2}}) r(i)"
    return [
        Table("demographics", "a", people, f"{ssn}\n{zips}", 'unique = [["ssn"]]'),
        Table("scores_a", "b", scores.format("a", 0, each), f"{ssn}\n{score}"),
        Table("scores_b", "c", scores.format("b", each // 4, each // 4 + each), f"{ssn}\n{score}"),
    ]


def market_tables(rows: int) -> list[Table]:
    """A third of the rows each: twelve companies, prices in cents, one in a hundred a refund."""
    each = rows // 3
    select = (
        "SELECT (1 + hash(i, '{0}') % 12)::INTEGER AS company,"
        " (CASE WHEN hash(i, 'r{0}') % 100 = 0 THEN 0 ELSE 400 + hash(i, 'p{0}') % 2600 END)::INTEGER AS price"
        " FROM range({1}) r(i)"
    )
    columns = 'company = { type = "INTEGER", min = 1, max = 12 }\nprice = { type = "INTEGER", min = 0, max = 3000 }'
    return [Table(f"trips_{p}", p, select.format(p, each), columns, 'consents = ["groups"]') for p in PARTIES]


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure whole queries with all parties' processes on this machine.")
    queries = {
        "credit": credit,
        "market": market,
        "join-of-two": join_of_two,
        "demo": lambda rows, repeats: demo("credit", rows, repeats),
        "two-hospitals": lambda rows, repeats: demo("two-hospitals", rows, repeats),
    }
    parser.add_argument("query", choices=queries)
    parser.add_argument("--rows", type=int, help="rows of all owners together")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    measured = queries[options.query](options.rows, options.repeats)
    print(json.dumps({"query": options.query, "rows": options.rows, **measured, "load": os.getloadavg()[0]}))


def credit(rows: int, repeats: int) -> dict[str, Any]:
    """Average score by ZIP code over three owners' tables, no column readable by anybody else."""
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        tables = credit_tables(rows)
        write_federation(Path(folder), tables)
        return {**ask(Path(folder), tables, CREDIT, repeats), "floor": CREDIT_SECONDS}


def market(rows: int, repeats: int) -> dict[str, Any]:
    """Concentration of a market over three owners who consent to pre-aggregation, beside the local part alone."""
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        tables = market_tables(rows)
        write_federation(Path(folder), tables)
        local = timed(lambda: aggregate_alone(Path(folder), tables), repeats)
        asked = ask(Path(folder), tables, MARKET, repeats)
    floor = MARKET_FACTOR * sorted(local)[len(local) // 2] + MARKET_EXTRA_SECONDS
    return {**asked, "local_seconds": local, "floor": floor}


def join_of_two(rows: int, repeats: int) -> dict[str, Any]:
    """A join on a key of 32 bits, unique at the first owner, between two parties by oblivious transfer."""
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        tables = join_tables(rows // 2)
        write_federation(Path(folder), tables, "two", PARTIES[:2])
        return {**ask(Path(folder), tables, JOIN, repeats), "floor": rows / JOIN_OF_TWO_ROWS_A_SECOND}


def join_tables(rows: int) -> list[Table]:
    """As many rows at both owners; half of the second one's match."""
    key = 'k = { type = "BIGINT", min = 0, max = 4294967295 }'
    value = 'v = { type = "INTEGER", min = 0, max = 1000000 }'
    right = f"SELECT (hash(i) % {2 * rows})::BIGINT * 7 AS k, (i % 1000)::INTEGER AS v FROM range({rows}) t(i)"
    return [
        Table("l", "a", f"SELECT i::BIGINT * 7 AS k FROM range({rows}) t(i)", key, f'rows = {rows}\nunique = [["k"]]'),
        Table("r", "b", right, f"{key}\n{value}", f"rows = {rows}"),
    ]


def aggregate_alone(folder: Path, tables: list[Table]) -> None:
    """The owners' aggregations one after the other, in a DuckDB of its own with all cores."""
    with duckdb.connect() as database:
        for table in tables:
            database.execute(MARKET_LOCAL.format(path=data_path(folder, table))).fetchall()


def demo(question: str, rows: int | None, repeats: int) -> dict[str, Any]:
    """A demo, from its first to its last line: that of credit is what a new user runs first."""
    command = [sys.executable, "-m", "tacit", "demo", question, *(["--rows", str(rows)] if rows else [])]
    with PeakMemory() as memory:
        seconds = timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), repeats)
    return {"seconds": seconds, "floor": DEMO_SECONDS, "peak_memory": memory.peaks}


def ask(folder: Path, tables: list[Table], query: str, repeats: int) -> dict[str, Any]:
    """Ask the federation of a folder; time, traffic and memory. An answer that is wrong is not worth measuring."""
    import tacit

    answers = []
    with PeakMemory() as memory:
        seconds = timed(lambda: answers.append(tacit.connect(folder / "federation.toml").sql(query)), repeats)
    if not same(answers[-1].rows(), pooled(folder, tables, query)):
        raise SystemExit("the answer differs from DuckDB's on the pooled data")
    actual = answers[-1].cost.actual
    return {
        "seconds": seconds,
        "answer_rows": len(answers[-1]),
        "bytes": sum(step.bytes for step in actual),
        "rounds": sum(step.rounds for step in actual),
        "steps": [{"step": step.step, "rows": step.rows, "seconds": step.seconds} for step in actual],
        "peak_memory": memory.peaks,
    }


def pooled(folder: Path, tables: list[Table], query: str) -> list[tuple[Any, ...]]:
    """DuckDB's answer on all tables together."""
    with duckdb.connect() as database:
        for table in tables:
            database.execute(f"CREATE VIEW {table.name} AS FROM '{data_path(folder, table)}'")
        return database.execute(query).fetchall()


def same(answer: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> bool:
    """Whether two answers have the same rows. Quotients may differ in the last digits."""
    pairs = zip(answer, expected, strict=False)
    return len(answer) == len(expected) and all(
        _close(x, y) for row, other in pairs for x, y in zip(row, other, strict=True)
    )


def _close(x: Any, y: Any) -> bool:
    return isclose(x, y) if isinstance(x, float | Decimal) and isinstance(y, float | Decimal) else bool(x == y)


def timed(work: Callable[[], object], repeats: int) -> list[float]:
    """Wall clock of each repetition, in seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def data_path(folder: Path, table: Table) -> Path:
    return folder / f"{table.name}.parquet"


def write_federation(
    folder: Path, tables: list[Table], engine: str = "rep3", parties: tuple[str, ...] = PARTIES, more: str = ""
) -> None:
    """Files of parties that all run on this machine: tables as Parquet, keys, and the federation's files.

    more: sections of the federation file.
    """
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys
    from tacit.cli.demo.scenario import Offered, write_membership, write_offers

    with duckdb.connect() as database:
        for table in tables:
            database.execute(f"COPY ({table.select}) TO '{data_path(folder, table)}' (FORMAT parquet)")
    declared = {
        each.name: f"{each.rules}\n{each.facts}\n[tables.{each.name}.columns]\n{each.columns}" for each in tables
    }
    paths = {each.name: data_path(folder, each).name for each in tables}
    entries = f'engine = "{engine}"\nnodes = {json.dumps(parties)}\nrecipients = ["a"]\n{more}'
    path = write_membership(folder, entries, dict(zip(parties, free_ports(len(parties)), strict=True)))
    write_offers(folder, [Offered(each.name, each.owner, paths[each.name], declared[each.name]) for each in tables])
    make_keys(Members.load(path), parties, replace=False)


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


if __name__ == "__main__":
    main()

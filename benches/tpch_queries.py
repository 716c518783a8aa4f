"""TPC-H queries over three owners' tables, a process for each party on this machine, joined by TLS; without consents.

    python benches/tpch_queries.py --scale 0.01                          all queries
    python benches/tpch_queries.py --scale 0.1 --queries 1,3,6,12        some of them
    python benches/tpch_queries.py --scale 0.01 --split "by range"       every table in three ranges of its key

Texts are the specification's (tests/tpch/queries). Each answer is compared with DuckDB's. ``secure`` is the time of the
steps that nodes compute together, of the slowest node. ``whole`` is what a user waits for: planning, starting the
parties, reading and checking their files, connecting, computing, and the answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
from children import PeakMemory
from facts import ROOT, facts
from queries import free_ports, same
from report import count, seconds, section
from tpch import PARTIES, SPLITS, Split, generate, schema, write_federation

HEAD = ("query", "rows", "secure", "whole", "rounds", "MB a party", "peak a party")


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Measure TPC-H queries among three parties.")
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor (default 0.01)")
    parser.add_argument("--queries", default=",".join(map(str, range(1, 23))), help="numbers (default all)")
    parser.add_argument("--split", choices=SPLITS, default="by table", help="how owners share the tables out")
    options = parser.parse_args()
    start, found = facts(), []
    for line in measured(options.scale, options.split, [int(each) for each in options.queries.split(",")]):
        found.append(line)
        print("    " + "  ".join(line), file=sys.stderr, flush=True)
    print("\n".join(f"{name:9} {value}" for name, value in start), end="\n\n")
    print(section(f"TPC-H at scale factor {options.scale}, split {options.split}", HEAD, found))


def measured(scale: float, split: Split, numbers: list[int]) -> Iterator[list[str]]:
    """A line of the table for each query. An answer that is wrong is not worth measuring."""
    import tacit

    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as name:
        folder = Path(name)
        (folder / "rows").mkdir()
        generate(scale, folder / "rows")
        write(scale, split, folder)
        with duckdb.connect() as database:
            for table in schema(scale):
                database.execute(f"CREATE VIEW {table.name} AS FROM '{folder / 'rows' / table.name}.parquet'")
            for number in numbers:
                query = (ROOT / "tests" / "tpch" / "queries" / f"q{number:02}.sql").read_text()
                begin = time.perf_counter()
                with PeakMemory() as memory:
                    answer = tacit.connect(folder / "federation.toml").sql(query)
                whole = time.perf_counter() - begin
                if not same(answer.rows(), database.execute(query).fetchall()):
                    raise SystemExit(f"query {number}: the answer differs from DuckDB's")
                predicted = {step.step for step in answer.cost.predicted}
                secure = [step for step in answer.cost.actual if step.step in predicted]
                sent = f"{sum(step.bytes for step in secure) / len(PARTIES) / 1e6:,.1f}"
                rounds, peak = str(sum(step.rounds for step in secure)), max(memory.peaks.values()) >> 20
                yield [
                    f"Q{number}", count(len(answer)), seconds(sum(step.seconds for step in secure)), seconds(whole),
                    rounds, sent, f"{peak:,} MiB",
                ]  # fmt: skip


def write(scale: float, split: Split, folder: Path) -> None:
    """The federation's files, keys included, and the owners' tables."""
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys
    from tacit.cli.demo.scenario import write_membership

    entries = f'engine = "rep3"\nnodes = {list(PARTIES)}\nrecipients = ["a"]'
    path = write_membership(folder, entries, dict(zip(PARTIES, free_ports(len(PARTIES)), strict=True)))
    (folder / "private").mkdir()
    write_federation(scale, split, folder / "rows", folder, path.read_text())
    make_keys(Members.load(path), PARTIES, replace=False)


if __name__ == "__main__":
    main()

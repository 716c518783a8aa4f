"""Credit card regulation with the regulator as trusted party, a process for each party on this machine, joined by TLS.

    python benches/hybrid.py                          300,000 rows of scores of two bureaus together (floor: 3 s)
    python benches/hybrid.py --rows 3000000           floor: 30 s
    python benches/hybrid.py --rows 30000 --sorted    the same where nobody reads keys: rows are sorted as shares

The question and its tables are those of ``tacit demo credit``, whose keys the regulator may read here. Each answer is
compared with DuckDB's. ``secure`` is the time of the steps that nodes compute together, of the slowest node; ``whole``
what a user waits for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import duckdb
from children import PeakMemory
from facts import facts
from queries import same
from report import count, seconds, section

from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import DemoTable, write_scenario

HEAD = ("rows", "ordered by", "secure", "whole", "rounds", "MB a party", "peak a party")


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Measure credit card regulation with a trusted party.")
    parser.add_argument("--rows", type=int, default=300_000, help="scores of both bureaus together (default 300,000)")
    parser.add_argument("--sorted", action="store_true", help="nobody may read keys")
    options = parser.parse_args()
    start, line = facts(), measured(options.rows // 2, trusted=not options.sorted)
    print("    " + "  ".join(line), file=sys.stderr, flush=True)
    print("\n".join(f"{name:9} {value}" for name, value in start), end="\n\n")
    print(section("Credit card regulation", HEAD, [line]))


def measured(rows: int, *, trusted: bool) -> list[str]:
    """A line of the table. rows: of each bureau. An answer that is wrong is not worth measuring."""
    import tacit
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys

    found = replace(SCENARIO, tables=readable) if trusted else SCENARIO
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as name:
        folder, path = Path(name), Path(name) / "federation.toml"
        write_scenario(found, rows, folder)
        make_keys(Members.load(path), found.parties, replace=False)
        with duckdb.connect() as database:
            for each in found.tables(rows):
                database.execute(f"CREATE VIEW {each.name} AS FROM '{folder / each.owner / each.name}.csv'")
            begin = time.perf_counter()
            with PeakMemory() as memory:
                answer = tacit.connect(path).sql(found.query)
            whole = time.perf_counter() - begin
            if not same(answer.rows(), database.execute(found.query).fetchall()):
                raise SystemExit("the answer differs from DuckDB's")
    predicted = {step.step for step in answer.cost.predicted}
    secure = [step for step in answer.cost.actual if step.step in predicted]
    sent = f"{sum(step.bytes for step in secure) / len(found.parties) / 1e6:,.1f}"
    by = sorted({party for each in answer.plan.permits if each.kind == "keys" for party in each.recipients})
    return [
        count(2 * rows), " and ".join(by) or "nobody", seconds(sum(step.seconds for step in secure)), seconds(whole),
        str(sum(step.rounds for step in secure)), sent, f"{max(memory.peaks.values()) >> 20:,} MiB",
    ]  # fmt: skip


def readable(rows: int) -> tuple[DemoTable, ...]:
    """The tables of the question where bureaus let the regulator read their keys."""
    own, others = "max = 999999999 }", 'max = 999999999, readers = ["regulator"] }'
    return tuple(replace(each, declaration=each.declaration.replace(own, others)) for each in SCENARIO.tables(rows))


if __name__ == "__main__":
    main()

"""Queries of the literature, a process for each party on this machine, joined by TLS, beside published figures.

    python benches/published.py                                  every query at a small size
    python benches/published.py --query thesis-one --rows 16000000
    python benches/published.py --query market --rows 1300000000

Queries and tables are in published_cases.py. Each answer is compared with DuckDB's on all tables together. ``rows`` are
those of all owners. ``secure`` is the time of the steps that nodes compute together, of the slowest node. ``whole`` is
what a user waits for: planning, starting the parties, reading and checking their files, connecting, computing, and the
answer. ``peak`` is the largest resident memory of a party's process, ``foreseen`` the predicted memory of a node's
secure part, without Python and DuckDB. Published figures are of other machines, most of them larger.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from children import PeakMemory
from facts import facts
from published_cases import CASES
from queries import PARTIES, pooled, same, write_federation
from report import count, seconds, section

HEAD = ("query", "rows", "answer", "secure", "whole", "rounds", "MB a party", "peak a party", "foreseen", "published")


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Measure queries of the literature among three parties.")
    parser.add_argument("--query", choices=CASES, help="one query (default all)")
    parser.add_argument("--rows", type=int, help="rows of all owners together (default: few)")
    options = parser.parse_args()
    start, found = facts(), []
    for name in [options.query] if options.query else CASES:
        found.append(measured(name, options.rows or CASES[name].rows))
        print("    " + "  ".join(found[-1]), file=sys.stderr, flush=True)
    print("\n".join(f"{name:9} {value}" for name, value in start), end="\n\n")
    print(section("Queries of the literature", HEAD, found))


def measured(name: str, rows: int) -> list[str]:
    """A line of the table. An answer that is wrong is not worth measuring."""
    import tacit

    case = CASES[name]
    tables = case.tables(rows)
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as path:
        folder = Path(path)
        write_federation(folder, tables)
        begin = time.perf_counter()
        with PeakMemory() as memory:
            answer = tacit.connect(folder / "federation.toml").sql(case.query)
        whole = time.perf_counter() - begin
        if not same(sorted(answer.rows()), sorted(pooled(folder, tables, case.query))):
            raise SystemExit(f"{name}: the answer differs from DuckDB's")
    predicted = {step.step for step in answer.cost.predicted}
    secure = [step for step in answer.cost.actual if step.step in predicted]
    sent = sum(step.bytes for step in secure) / len(PARTIES) / 1e6
    return [
        name, f"{rows:,}", count(len(answer)), seconds(sum(step.seconds for step in secure)), seconds(whole),
        str(sum(step.rounds for step in secure)), f"{sent:,.1f}", f"{max(memory.peaks.values()) >> 20:,} MiB",
        f"{answer.cost.predicted_total.memory >> 20:,} MiB", case.published,
    ]  # fmt: skip


if __name__ == "__main__":
    main()

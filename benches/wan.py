"""Joins over a wide area network, simulated on this machine: 40 ms one way, 100 Mbit/s in each direction.

    python benches/wan.py                   a join of 2^16 + 2^16 rows on a unique key, among three nodes
    python benches/wan.py --rows 1024       the same of 1,024 rows
    python benches/wan.py --engine two      between two parties

Prints one JSON object a repetition: seconds as a user waits, seconds and rounds of the secure steps beside those that
the plan predicts for the declared link. The network is declared in the federation file, and each party holds its own
messages back ([network] of its private file).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from floors import WIDE_AREA_JOIN_SECONDS
from queries import PARTIES, Table, join_tables, pooled, same, write_federation

LATENCY, BANDWIDTH = 0.04, 12_500_000
"""Seconds one way, and bytes a second."""
QUERY = "SELECT COUNT(*) AS n, SUM(r.v) AS total FROM l JOIN r ON l.k = r.k"


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure a join over a simulated wide area network.")
    parser.add_argument("--rows", type=int, default=1 << 17, help="rows of both tables together (default 131072)")
    parser.add_argument("--engine", choices=("rep3", "two"), default="rep3")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    tables = join_tables(options.rows // 2)
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as name:
        federation = wide_federation(Path(name), tables, options.engine)
        for _ in range(options.repeats):
            print(json.dumps({"engine": options.engine, "rows": options.rows, **ask(federation, tables)}), flush=True)


def wide_federation(folder: Path, tables: list[Table], engine: str) -> Path:
    """A federation that declares such a network, with parties that simulate it."""
    network = f"latency = {LATENCY}\nbandwidth = {BANDWIDTH}\n"
    parties = PARTIES if engine == "rep3" else PARTIES[:2]
    write_federation(folder, tables, engine, parties, f"[link]\n{network}")
    for party in parties:
        with (folder / "private" / f"{party}.toml").open("a") as file:
            file.write(f"\n[network]\n{network}")
    return folder / "federation.toml"


def ask(federation: Path, tables: list[Table]) -> dict[str, Any]:
    """One repetition. The answer has to be DuckDB's."""
    import tacit

    start = time.perf_counter()
    answer = tacit.connect(federation).sql(QUERY)
    waited = time.perf_counter() - start
    if not same(answer.rows(), pooled(federation.parent, tables, QUERY)):
        raise SystemExit("the answer differs from DuckDB's on the pooled data")
    predicted, actual = answer.cost.predicted_total, answer.cost.actual_total
    return {
        "waited_seconds": waited,
        "secure_seconds": sum(step.seconds for step in answer.cost.actual if step.bytes),
        "predicted_seconds": predicted.seconds,
        "floor": WIDE_AREA_JOIN_SECONDS,
        "rounds": actual.rounds,
        "predicted_rounds": predicted.rounds,
        "bytes": actual.bytes,
        "as_predicted": answer.cost.as_predicted,
        "load": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()

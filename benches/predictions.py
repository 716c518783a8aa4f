"""Predicted against taken time of representative programs between two parties, a process each on this machine.

    python benches/predictions.py                                   all programs at 2^14, 2^16 and 2^18 rows
    python benches/predictions.py --only sort --rows 16 --link none,1e9

Rows are those of both owners together. Each program is measured where no link is declared and where one of a given
bandwidth is. Time is that of the secure steps in ``answer.cost``, over TLS: what the plan predicted and what the
parties metered. The prices that predictions follow from, and what measures each of them, are in
crates/mpc/src/backends/two/prices.rs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from facts import facts
from queries import PARTIES, Table, pooled, same, write_federation
from report import ratio, seconds, section

LATENCY = 0.00005
"""Of a declared link: seconds for one way."""

BOTH = "(SELECT k, v FROM l UNION ALL SELECT k, w AS v FROM r) t"
"""What both owners have: no owner can sort it."""

PROGRAMS = {
    "filter": f"SELECT COUNT(*) AS n, SUM(v) AS s FROM {BOTH} WHERE v + v > (SELECT MAX(w) FROM r)",
    "sort": f"SELECT k, v FROM {BOTH} ORDER BY k, v LIMIT 10",
    "group-by": f"SELECT k, COUNT(*) AS n, SUM(v) AS s FROM {BOTH} GROUP BY k",
    "merged join": "SELECT COUNT(*) AS n, SUM(r.w) AS s FROM l JOIN r ON l.k = r.k",
    "sorted join": f"SELECT COUNT(*) AS n, SUM(t.v) AS s FROM u JOIN {BOTH} ON u.k = t.k",
    "products": "SELECT SUM(l.v * r.w) AS s, SUM(r.w * r.w) AS q FROM l JOIN r ON l.k = r.k",
    "trial": (
        "SELECT l.arm AS arm, COUNT(*) AS n, SUM(r.w) AS s, SUM(r.w * r.w) AS q"
        " FROM l JOIN r ON l.k = r.k WHERE l.v < r.w GROUP BY l.arm"
    ),
}

HEAD = ("program", "link", "rows", "predicted", "taken", "taken/predicted", "dearest step", "predicted", "taken")


def tables(rows: int) -> list[Table]:
    """Tables of two owners, ``rows`` rows in all; half of the second's match, and some keys are the first's alone."""
    key = 'k = { type = "BIGINT", min = 0, max = 4294967295 }'
    arm = 'arm = { type = "INTEGER", min = 0, max = 1 }'
    v, w = (f'{name} = {{ type = "BIGINT", min = 0, max = 1000000 }}' for name in "vw")
    each, few = rows // 2, rows // 4
    left = "SELECT i::BIGINT * 7 AS k, (hash(i, 1) % 2)::INTEGER AS arm, (hash(i, 2) % 1000000)::BIGINT AS v"
    right = f"SELECT (hash(i) % {rows})::BIGINT * 7 AS k, (hash(i, 3) % 1000000)::BIGINT AS w"
    unique = 'unique = [["k"]]'
    return [
        Table("l", "a", f"{left} FROM range({each}) t(i)", f"{key}\n{arm}\n{v}", f"rows = {each}\n{unique}"),
        Table("r", "b", f"{right} FROM range({each}) t(i)", f"{key}\n{w}", f"rows = {each}"),
        Table("u", "a", f"SELECT i::BIGINT * 7 AS k FROM range({few}) t(i)", key, f"rows = {few}\n{unique}"),
    ]


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Measure predicted against taken time between two parties.")
    parser.add_argument("--only", default=",".join(PROGRAMS), help=f"of: {', '.join(PROGRAMS)} (default all)")
    parser.add_argument("--rows", default="14,16,18", help="sizes, as powers of two (default 14,16,18)")
    parser.add_argument("--link", default="none,1e9", help="declared bandwidths, in bytes a second (default none,1e9)")
    options = parser.parse_args()
    start = facts()
    lines = []
    for link in options.link.split(","):
        for exponent in options.rows.split(","):
            for line in measured(options.only.split(","), link, 1 << int(exponent)):
                lines.append(line)
                print("    " + "  ".join(line), file=sys.stderr, flush=True)
    print("\n".join(f"{name:9} {value}" for name, value in start), end="\n\n")
    print(section("Predicted and taken time of the secure steps", HEAD, lines))


def measured(programs: list[str], link: str, rows: int) -> Iterator[list[str]]:
    """A line of the table for each program. An answer that is wrong is not worth measuring."""
    import tacit

    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        declared = "" if link == "none" else f"[link]\nlatency = {LATENCY}\nbandwidth = {float(link)}"
        write_federation(Path(folder), tables(rows), "two", PARTIES[:2], declared)
        for name in programs:
            answer = tacit.connect(Path(folder) / "federation.toml").sql(PROGRAMS[name])
            if not same(sorted(answer.rows()), sorted(pooled(Path(folder), tables(rows), PROGRAMS[name]))):
                raise SystemExit(f"{name}: the answer differs from DuckDB's on the pooled data")
            # Local steps are not predicted.
            metered = {step.step: step.seconds for step in answer.cost.actual}
            taken = sum(metered[step.step] for step in answer.cost.predicted)
            predicted = answer.cost.predicted_total.seconds
            # Not the one that took longest, which differs from run to run where all are short.
            dearest = max(answer.cost.predicted, key=lambda step: step.seconds)
            whole = [seconds(predicted), seconds(taken), ratio(taken, predicted)]
            step = [dearest.step, seconds(dearest.seconds), seconds(metered[dearest.step])]
            yield [name, link, f"{rows:,}", *whole, *step]


if __name__ == "__main__":
    main()

"""Questions of two hospitals with and without slices: patients are known to all parties, diagnoses to their owner.

    python benches/slices.py                                     comorbidity and recurrent C. difficile, 200,000 rows
    python benches/slices.py --rows 20000 --shared 0.1           fewer rows, and a tenth of the patients in both

A process for each party on this machine, joined by TLS; without consents. Each answer is compared with DuckDB's.
``secure`` is the time of the steps that nodes compute together. ``whole`` is what a user waits for. ``entered`` is the
number of rows that enter MPC after the keys. Without slices, nobody else may read the patients.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from facts import facts
from floors import SLICES_SECONDS
from queries import Table, ask, write_federation
from report import count, seconds, section

from tacit.cli.demo.comorbidity import QUERY as COMORBIDITY

RECURRENCE = """\
SELECT COUNT(*) AS patients
FROM (SELECT DISTINCT pid
      FROM (SELECT pid, day, LAG(day) OVER (PARTITION BY pid ORDER BY day) AS before
            FROM (SELECT pid, diag, day FROM diagnoses_a UNION ALL SELECT pid, diag, day FROM diagnoses_b) d
            WHERE diag = '008.45') w
      WHERE day - before BETWEEN 15 AND 56) r"""

QUESTIONS = {"comorbidity": COMORBIDITY, "recurrence": RECURRENCE}
HEAD = ("question", "slices", "entered", "secure", "whole", "rounds", "MB", "floor")


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Measure questions of two hospitals with and without slices.")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of both hospitals together (default 200,000)")
    parser.add_argument("--distinct", type=int, default=20_000, help="different diagnoses (default 20,000)")
    parser.add_argument("--shared", type=float, default=0.5, help="part of the patients in both (default 0.5)")
    parser.add_argument("--repeats", type=int, default=3)
    options, found = parser.parse_args(), []
    for line in measured(options.rows, options.distinct, options.shared, options.repeats):
        found.append(line)
        print("    " + "  ".join(line), file=sys.stderr, flush=True)
    print("\n".join(f"{name:9} {value}" for name, value in facts()), end="\n\n")
    title = f"Slices: {options.rows:,} rows, {options.distinct:,} diagnoses, {options.shared:.0%} of patients in both"
    print(section(title, HEAD, found))


def measured(rows: int, distinct: int, shared: float, repeats: int) -> Iterator[list[str]]:
    """A line of the table for each question, with and without slices."""
    for public in (True, False):
        with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
            tables = hospitals(rows // 2, distinct, shared, public)
            write_federation(Path(folder), tables)
            for name, query in QUESTIONS.items():
                sliced, keys = keys_of(Path(folder), query)
                yield line(name, sliced, keys, ask(Path(folder), tables, query, repeats))


def keys_of(folder: Path, query: str) -> tuple[bool, int]:
    """Whether a question is sliced, and the last step by which keys are opened."""
    import tacit
    from tacit.plan.physical.placed import KeysStep

    steps = [
        step.id for step in tacit.connect(folder / "federation.toml").plan(query).steps if isinstance(step, KeysStep)
    ]
    return bool(steps), max(steps, default=0)


def line(name: str, sliced: bool, keys: int, found: dict[str, Any]) -> list[str]:
    """A line of the table."""
    steps = [(*each["step"].split(".", 1), each) for each in found["steps"]]
    entered = sum(each["rows"] or 0 for number, op, each in steps if op == "input" and int(number) > keys)
    secure = sum(each["seconds"] for _, op, each in steps if op not in ("local", "tail"))
    whole, sent = median(found["seconds"]), f"{found['bytes'] / 1e6:,.1f}"
    floor = seconds(SLICES_SECONDS) if sliced and name == "comorbidity" else ""
    times = seconds(secure), seconds(whole), str(found["rounds"])
    return [name, "yes" if sliced else "no", count(entered), *times, sent, floor]


def hospitals(rows: int, distinct: int, shared: float, public: bool) -> list[Table]:
    """As many diagnoses at both, four a patient. One in fifty is C. difficile."""
    patients = max(1, rows // 4)
    readers = ', readers = ["a", "b", "c"]' if public else ""
    columns = f"""\
pid = {{ type = "INTEGER", min = 0, max = 9999999{readers} }}
diag = {{ type = "VARCHAR", max_length = 6 }}
day = {{ type = "DATE", min = 2020-01-01, max = 2029-12-31 }}"""
    found = []
    for letter, first in (("a", 0), ("b", round(patients * (1 - shared)))):
        select = (
            f"SELECT ({first} + hash(i, 'p{letter}') % {patients})::INTEGER AS pid,"
            f" CASE WHEN hash(i, 'i{letter}') % 50 = 0 THEN '008.45'"
            f" ELSE 'd' || (hash(i, 'd{letter}') % {distinct})::VARCHAR END AS diag,"
            f" DATE '2024-01-01' + (hash(i, 't{letter}') % 731)::INTEGER AS day FROM range({rows}) r(i)"
        )
        found.append(Table(f"diagnoses_{letter}", letter, select, columns, f"rows = {rows}"))
    return found


if __name__ == "__main__":
    main()

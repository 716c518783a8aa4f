"""The whole of ``tacit psi``: two parties on this machine, Parquet to Parquet over TLS, half of the rows common.

    python benches/matching.py --rows 1048576 --repeats 5
    python benches/matching.py --rows 100000000 --folder /large/disk --least-free 8

Prints one JSON object. Wall clock is from the start of both processes to the end of the slower one. cpu_seconds and
peak_memory are each process's, start of Python included; peak_disk is what both need beside their inputs. Every output
is checked: how many rows, the same row at both parties at every place, and that they are the common ones.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

PARTIES = ("a", "b")
IDENTIFIERS = {
    "number": "hash(i)",
    "text": "printf('%016x', hash(i))",
    "serial": "10000000000 + i",
}
"""Columns of i: random 64-bit numbers, the same as 16 characters, and numbers in sequence, which take little space."""

SECONDS_BETWEEN_LOOKS = 0.5


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure tacit psi, Parquet to Parquet.")
    parser.add_argument("--rows", type=int, default=1 << 20, help="rows of each party")
    parser.add_argument("--identifiers", choices=IDENTIFIERS, default="number")
    parser.add_argument("--memory", default="3G", help="what each party may use (default 3G)")
    parser.add_argument("--folder", type=Path, help="where the files go (default: the folder for temporary files)")
    parser.add_argument("--least-free", type=float, default=0.0, metavar="GB", help="end if the disk has less left")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tell", action="store_true", help="let the parties say what they do")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tacit-bench-", dir=options.folder) as folder:
        bench = Bench(Path(folder), options.rows, IDENTIFIERS[options.identifiers], options.memory)
        bench.prepare()
        runs = [bench.run(options.least_free, options.tell) for _ in range(options.repeats)]
    print(json.dumps(summary(options, runs)))


def summary(options: argparse.Namespace, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """All repetitions: times of each, and the most that any took of the rest."""
    return {
        "matching": options.identifiers,
        "rows": options.rows,
        "seconds": [run["seconds"] for run in runs],
        "cpu_seconds": [sum(run["cpu_seconds"]) for run in runs],
        "peak_memory": [max(run["peak_memory"][i] for run in runs) for i in range(len(PARTIES))],
        "peak_disk": max(run["peak_disk"] for run in runs),
        "load": os.getloadavg()[0],
    }


@dataclass(frozen=True)
class Bench:
    """A folder with two parties. identifier: an expression of i in DuckDB's SQL."""

    folder: Path
    rows: int
    identifier: str
    memory: str

    def prepare(self) -> None:
        """Keys, the federation file, and each party's rows, written one after another: a has [0, n), b [n/2, 3n/2)."""
        from tacit.agent.federation_members import Members
        from tacit.agent.keys import make_keys
        from tacit.cli.demo.scenario import free_ports, write_membership

        path = write_membership(self.folder, "", dict(zip(PARTIES, free_ports(2), strict=True)))
        make_keys(Members.load(path), PARTIES, replace=False)
        for name, first in zip(PARTIES, (0, self.rows // 2), strict=True):
            select = f"SELECT {self.identifier} AS id FROM range({first}, {first + self.rows}) r(i)"
            with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": False}) as database:
                database.execute(f"COPY ({select}) TO '{self.folder / name}.parquet' (PARQUET_VERSION v2)")

    def run(self, least_free: float, tell: bool) -> dict[str, Any]:
        """One match. Raises SystemExit if a party fails, or when the disk has less than least_free GB left."""
        before = used(self.folder)
        start = time.perf_counter()
        parties = [self.start(name, tell) for name in PARTIES]
        with PeakDisk(self.folder, least_free, parties) as disk:
            usages = [ended(party) for party in parties]
        seconds = time.perf_counter() - start
        self.check()
        return {
            "seconds": seconds,
            "cpu_seconds": [usage.ru_utime + usage.ru_stime for usage in usages],
            "peak_memory": [usage.ru_maxrss << 10 for usage in usages],
            "peak_disk": disk.peak - before,
        }

    def start(self, name: str, tell: bool) -> subprocess.Popen[bytes]:
        """One party's command."""
        command = [sys.executable, "-m", "tacit", "psi", "--federation", "federation.toml", "--as", name]
        command += ["--input", f"{name}.parquet", "--key", "id", "--output", f"{name}-matched.parquet"]
        command += ["--memory", self.memory, "--yes", *([] if tell else ["--quiet"])]
        return subprocess.Popen(command, cwd=self.folder)

    def check(self) -> None:
        """Refuse a wrong answer, and remove it otherwise."""
        a, b = (self.folder / f"{name}-matched.parquet" for name in PARTIES)
        common = f"SELECT {self.identifier} AS id FROM range({self.rows // 2}, {self.rows}) r(i)"
        with duckdb.connect(config={"memory_limit": "2GB"}) as database:
            total = "SELECT count(*), sum(hash(id)::HUGEINT) FROM ({})"
            found = database.execute(total.format(f"FROM '{a}'")).fetchall()
            expected = database.execute(total.format(common)).fetchall()
            aligned = database.execute(
                f"SELECT count(*) FROM (FROM '{a}') a POSITIONAL JOIN (FROM '{b}') b WHERE a.id = b.id"
            ).fetchall()
        if found != expected or aligned[0][0] != self.rows - self.rows // 2:
            raise SystemExit(f"a wrong match: {found} and {aligned} in place of {expected}")
        a.unlink()
        b.unlink()


def ended(party: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """What a party's process has used, after its end."""
    _, status, usage = os.wait4(party.pid, 0)
    party.returncode = os.waitstatus_to_exitcode(status)
    if party.returncode != 0:
        raise SystemExit(f"a party failed with exit status {party.returncode}")
    return usage


class PeakDisk:
    """While open, watches how much a folder takes. peak: the most, in bytes. A full disk ends the parties."""

    def __init__(self, folder: Path, least_free: float, parties: list[subprocess.Popen[bytes]]) -> None:
        self.peak = 0
        self._folder, self._least_free, self._parties = folder, least_free * 1e9, parties
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakDisk:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            self.peak = max(self.peak, used(self._folder))
            if shutil.disk_usage(self._folder).free < self._least_free:
                for party in self._parties:
                    party.terminate()


def used(folder: Path) -> int:
    """Bytes on disk of all files of a folder."""
    found = 0
    for path in folder.rglob("*"):
        # Files come and go.
        with suppress(FileNotFoundError):
            found += path.stat().st_blocks * 512
    return found


if __name__ == "__main__":
    main()

"""Measure everything and save the table: ``make bench``.

    python benches/run.py                       all sizes, saved as benches/results/<date>-<commit>.txt
    python benches/run.py --quick               a minute: small sizes, to see that the bench itself works
    python benches/run.py --parts limits,operations --only sort,join --rows 20

SPU and MPyC are measured in the same run if this interpreter has them (``pip install spu mpyc gmpy2``), or the one that
--spu-python names; so is OpenMined's intersection (``pip install openmined-psi``).
Nothing here fails because something is slow.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pairs
import report
from facts import ROOT, facts, output
from report import Measured

PARTS = (
    "limits",
    "products",
    "operations",
    "arrays",
    "spu",
    "mpyc",
    "transfers",
    "garbling",
    "psi",
    "relatives",
    "matching",
    "queries",
    "guards",
)
HERE = Path(__file__).parent
SPU_OPERATIONS = ("and", "multiply", "less", "equal", "sort")
SPU_ON_ARRAYS = {
    "multiply-fixed": "multiply-dither",
    "less": "less",
    "exp": "exp",
    "sigmoid": "sigmoid",
    "divide": "divide",
}
"""What SPU is measured on beside operations on arrays."""
SPU_LARGEST = {"sort": 16}
"""Largest sizes for SPU, as powers of two: beyond, a repetition takes most of a minute."""
SPU_LARGEST_OTHERS = 20
"""Beyond, SPU needs more memory than three parties on one machine leave."""


def main() -> None:
    """Measure what the command line asks for; print and save it part by part, so that a failure loses nothing."""
    options = arguments()
    path: Path = options.output or default_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        for part in parts(options):
            print(f"{part}\n", flush=True)
            print(f"{part}\n", file=file, flush=True)
    print(f"saved as {path}")


def default_path() -> Path:
    """A name that says when and on which sources the table was taken."""
    moment = datetime.now(UTC).strftime("%Y-%m-%d-%H%M")
    return HERE / "results" / f"{moment}-{output('git', 'rev-parse', '--short', 'HEAD')}.txt"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure tacit beside the machine's own limits, SPU and MPyC.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does the bench work?")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of: {' '.join(PARTS)} (default all)")
    parser.add_argument("--rows", help="sizes of operations, as powers of two (default 16,18,20,22)")
    parser.add_argument("--sets", help="sizes of sets in psi and relatives, as powers of two (default 16,20,24 and 20)")
    parser.add_argument("--only", help="operations (default all; see tacit-bench --help)")
    parser.add_argument("--relatives", help="of: dh unbalanced circuit-psi private-id-oprf private-id-ddh sum ps3i")
    parser.add_argument("--transport", default="tls,plain", help="of: tls plain memory (default tls,plain)")
    parser.add_argument("--repeats", type=int, help="measured repetitions (default 5)")
    parser.add_argument("--seconds", type=int, default=30, help="begin no further repetition after so long")
    spu_python = os.environ.get("TACIT_SPU_PYTHON", sys.executable)
    parser.add_argument("--spu-python", default=spu_python, help="one with SPU and MPyC (or TACIT_SPU_PYTHON)")
    parser.add_argument("--profile", default="release", help="of the bench program: dev works, and is slow")
    parser.add_argument("--output", type=Path, help="where to save the table")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    options.rows = options.rows or ("8" if options.quick else "16,18,20,22")
    options.repeats = options.repeats or (2 if options.quick else 5)
    return options


def parts(options: argparse.Namespace) -> Iterator[str]:
    """The parts of the report, as they are measured."""
    yield report.heading(facts())
    program = (
        built(options.profile)
        if {"limits", "products", "operations", "arrays", "transfers", "garbling", "psi", "relatives"}
        & set(options.parts)
        else ""
    )
    found: list[Measured] = []
    ceilings: list[Measured] = []
    if "limits" in options.parts:
        ceilings = list(measured([program, "limits", "--json", *(["--quick"] if options.quick else [])]))
        yield report.limits(ceilings)
    if "products" in options.parts:
        yield report.products(list(measured([program, "products", "--json", "--repeats", str(options.repeats)])))
    peers = list(spu(options)) if "spu" in options.parts else []
    if peers:
        yield report.peers("SPU, ABY3 over 64 bits", peers)
    elif "spu" in options.parts:
        yield "SPU is not installed in this interpreter; --spu-python names one that has it."
    if "operations" in options.parts:
        found = list(measured(kernels(program, options)))
        yield report.operations(found, ceilings, peers)
        yield report.floors(found)
    if "arrays" in options.parts:
        beside = list(spu_on_arrays(options)) if "spu" in options.parts else []
        yield report.arrays(list(measured(arrays(program, options))), beside)
    if "mpyc" in options.parts:
        slower = list(mpyc(options))
        title = "MPyC, Shamir's shares over a prime field, numbers of 64 bits with 16 behind the point"
        yield report.peers(title, slower) if slower else "MPyC is not installed in this interpreter; see --spu-python."
    if "transfers" in options.parts:
        yield pairs.transfers(list(transfers(program, options)))
    if "garbling" in options.parts:
        yield pairs.garbled(list(garbled(program, options)), ceilings)
    if "psi" in options.parts:
        yield pairs.intersections(list(intersections(program, options)))
    if "relatives" in options.parts:
        yield pairs.relatives(list(relatives(program, options)))
    if "matching" in options.parts:
        yield report.matching(list(matching(options)))
    if "queries" in options.parts:
        yield report.queries(list(queries(options)))
    if "guards" in options.parts:
        yield report.guards(list(guards(options)))


FOLDERS = {"dev": "debug"}
"""Where cargo puts what it compiles under a profile of another name."""


def built(profile: str) -> str:
    """The bench program, compiled under a profile of cargo.

    For the whole workspace the libraries' features are chosen as for the native module, which compiled them already.
    """
    command = ["cargo", "build", "--profile", profile, "--locked", "--quiet", "--workspace", "--bin", "tacit-bench"]
    subprocess.run(command, cwd=ROOT, check=True)
    metadata = json.loads(output("cargo", "metadata", "--format-version", "1", "--no-deps"))
    return str(Path(metadata["target_directory"]) / FOLDERS.get(profile, profile) / "tacit-bench")


def kernels(program: str, options: argparse.Namespace) -> list[str]:
    """The command that measures operations."""
    command = [program, "kernels", "--json", "--rows", options.rows, "--transport", options.transport]
    command += ["--repeats", str(options.repeats), "--seconds", str(options.seconds)]
    return command + (["--only", options.only] if options.only else [])


def arrays(program: str, options: argparse.Namespace) -> list[str]:
    """The command that measures operations on arrays."""
    transport = ["--transport", options.transport, "--seconds", str(options.seconds)]
    return [program, "arrays", "--json", *transport, "--repeats", str(options.repeats)]


def spu(options: argparse.Namespace) -> Iterator[Measured]:
    """SPU's figures, operation by operation; none without SPU."""
    if not has(options.spu_python, "spu"):
        return
    chosen = options.only.split(",") if options.only else SPU_OPERATIONS
    for operation in [name for name in SPU_OPERATIONS if name in chosen]:
        largest = SPU_LARGEST.get(operation, SPU_LARGEST_OTHERS)
        rows = [exponent for exponent in options.rows.split(",") if int(exponent) <= largest]
        if rows:
            command = [options.spu_python, str(HERE / "spu_peer.py"), "--rows", ",".join(rows), "--only", operation]
            yield from measured([*command, "--repeats", str(options.repeats), "--seconds", str(options.seconds)])


def spu_on_arrays(options: argparse.Namespace) -> Iterator[Measured]:
    """SPU's figures of about a million elements, under tacit's names of the operations; none without SPU."""
    if has(options.spu_python, "spu"):
        rows = ["--rows", "8" if options.quick else "20", "--only", ",".join(SPU_ON_ARRAYS)]
        repeats = ["--repeats", str(options.repeats), "--seconds", str(options.seconds)]
        for each in measured([options.spu_python, str(HERE / "spu_peer.py"), *rows, *repeats]):
            yield {**each, "operation": SPU_ON_ARRAYS[each["operation"]]}


def mpyc(options: argparse.Namespace) -> Iterator[Measured]:
    """MPyC's figures of operations on arrays; none without MPyC. It computes a thousand times as slowly as others."""
    if has(options.spu_python, "mpyc"):
        repeats = ["--repeats", str(min(3, options.repeats)), "--seconds", str(options.seconds)]
        rows = ["--rows", "5" if options.quick else "12"]
        yield from measured([options.spu_python, str(HERE / "mpyc_peer.py"), *rows, *repeats])


def intersections(program: str, options: argparse.Namespace) -> Iterator[Measured]:
    """Intersection of two sets: every protocol, then other systems on the same sets, as far as they are installed."""
    repeats = ["--repeats", str(options.repeats)]
    rows = ["--rows", options.sets or ("10" if options.quick else "16,20,24")]
    if transports(options):
        yield from measured([program, "psi", "--json", *transports(options), *rows, *repeats])
    yield from measured([options.spu_python, str(HERE / "psi_peer.py"), *rows, *repeats])


def relatives(program: str, options: argparse.Namespace) -> Iterator[Measured]:
    """Ids, sums, shares, prepared sets, circuit-PSI, and intersection by Diffie-Hellman: minutes a repetition."""
    rows = ["--rows", options.sets or ("10" if options.quick else "20")]
    only = ["--only", options.relatives] if options.relatives else []
    repeats = ["--repeats", str(min(3, options.repeats))]
    if transports(options):
        yield from measured([program, "relatives", "--json", *transports(options), *rows, *only, *repeats])


def transfers(program: str, options: argparse.Namespace) -> Iterator[Measured]:
    """Oblivious transfers and VOLE."""
    for command, exponent in (("ot", 23), ("vole", 22)):
        rows, repeats = ["--rows", str(10 if options.quick else exponent)], ["--repeats", str(options.repeats)]
        if transports(options):
            yield from measured([program, command, "--json", *transports(options), *rows, *repeats])


def garbled(program: str, options: argparse.Namespace) -> Iterator[Measured]:
    """Garbled circuits at growing numbers of rows, which memory must not follow."""
    rows, gates = ("1000", "100000") if options.quick else ("100000,1000000,10000000", "100000000")
    if transports(options):
        sizes = ["--rows", rows, "--gates", gates, "--repeats", str(min(3, options.repeats))]
        yield from measured([program, "garbling", "--json", *transports(options), *sizes])


def transports(options: argparse.Namespace) -> list[str]:
    """How two processes are joined; nothing if only threads are to be."""
    between = ",".join(name for name in options.transport.split(",") if name != "memory")
    return ["--transport", between] if between else []


def matching(options: argparse.Namespace) -> Iterator[Measured]:
    """The whole command `tacit psi`: in memory at 2^20 rows, out of core at 10^8, which takes minutes."""
    sizes = [(1 << 10, "number")] if options.quick else [(1 << 20, "number"), (1 << 20, "text"), (10**8, "number")]
    for rows, identifiers in sizes:
        repeats = ["--repeats", str(options.repeats if rows < 10**7 else 1)]
        which = ["--rows", str(rows), "--identifiers", identifiers]
        yield from measured([sys.executable, str(HERE / "matching.py"), *which, *repeats])


def has(python: str, package: str) -> bool:
    """Whether an interpreter can load a package."""
    if python == sys.executable:
        return importlib.util.find_spec(package) is not None
    return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0


def queries(options: argparse.Namespace) -> Iterator[Measured]:
    """Whole queries, each measured by a process of its own."""
    sizes = (
        {"credit": 300, "market": 3_000, "join-of-two": 200, "demo": 100, "two-hospitals": 100}
        if options.quick
        else {"credit": 300_000, "market": 100_000_000, "join-of-two": 1 << 15}
    )
    for query in ("credit", "market", "join-of-two", "demo", "two-hospitals"):
        rows = ["--rows", str(sizes[query])] if query in sizes else []
        repeats = ["--repeats", str(min(3, options.repeats))]
        yield from measured([sys.executable, str(HERE / "queries.py"), query, *rows, *repeats])


def guards(options: argparse.Namespace) -> Iterator[Measured]:
    """A group-by with and without guards."""
    for small in ("drop", "fold"):
        rows, repeats = str(1_000 if options.quick else 100_000), str(min(3, options.repeats))
        command = [sys.executable, str(HERE / "guards.py"), "--rows", rows, "--small", small, "--repeats", repeats]
        yield from measured(command)


def measured(command: list[str]) -> Iterator[Measured]:
    """What a measuring program prints, one JSON object a line; its errors go where this program's go."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                found = json.loads(line)
                print(f"    {report.progress(found)}", file=sys.stderr, flush=True)
                yield found
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with exit code {process.returncode}")


if __name__ == "__main__":
    main()

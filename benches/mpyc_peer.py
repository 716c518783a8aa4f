"""MPyC on operations of fixed-point numbers: three processes on this machine, joined by plain TCP.

    python benches/mpyc_peer.py --rows 12 --only multiply,less,divide,matrix

It needs an interpreter with MPyC (``pip install mpyc gmpy2 numpy``) and prints one JSON object a line, with the members
of ``tacit-bench arrays --json``. MPyC shares by Shamir's polynomials over a prime field, with one curious party among
three. Its numbers are of 64 bits here, 16 of them behind the point. Wall clock is taken between its own barriers; of a
repetition the slowest party counts. Inputs lie shared at the parties before the clock starts, results stay shared. MPyC
computes with Python's integers, so that sizes are smaller than other systems': its rate grows little with them.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PARTIES = 3
SIDE = 64
"""Rows and columns of the factors of a matrix product."""

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "multiply": lambda x, y: x * y,
    "less": lambda x, y: x < y,
    "divide": lambda x, y: x / y,
    "matrix": lambda x, y: x @ y,
}
BOUNDS = {"divide": ((-1024, 1024), (1, 1024))}
"""Where inputs lie; those of other operations within 1000."""


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure MPyC with three processes over plain TCP.")
    parser.add_argument("--rows", default="12", help="sizes, as powers of two")
    parser.add_argument("--only", default=",".join(OPERATIONS), help=f"operations, of: {' '.join(OPERATIONS)}")
    parser.add_argument("--repeats", type=int, default=5, help="measured repetitions after one to warm up")
    parser.add_argument("--seconds", type=float, default=30, help="begin no further repetition after so long")
    parser.add_argument("--party", action="store_true", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.party:
        party(options.only, 1 << int(options.rows), options.repeats, options.seconds)
        return
    for name in options.only.split(","):
        for exponent in options.rows.split(",") if name != "matrix" else [0]:
            print(json.dumps(measure(name, int(exponent), options.repeats, options.seconds)), flush=True)


def measure(name: str, exponent: int, repeats: int, at_most: float) -> dict[str, Any]:
    """One operation at one size, on parties of its own, which are ended by their process handles."""
    ports = free_ports()
    command = [sys.executable, str(Path(__file__)), "--party", "--only", name, "--rows", str(exponent)]
    command += ["--repeats", str(repeats), "--seconds", str(at_most), "--no-log"]
    for port in ports:
        command += ["-P", f"127.0.0.1:{port}"]
    processes = [subprocess.Popen([*command, "-I", str(i)], stdout=subprocess.PIPE) for i in range(PARTIES)]
    try:
        told = [json.loads(each.communicate(timeout=600)[0]) for each in processes]
    finally:
        for each in processes:
            each.kill()
            each.wait()
    rows = SIDE * SIDE if name == "matrix" else 1 << exponent
    return {
        "operation": name,
        "transport": "plain",
        "rows": rows,
        "unit": "products" if name == "matrix" else "rows",
        "units": SIDE**3 if name == "matrix" else rows,
        "seconds": [max(times) for times in zip(*(each["seconds"] for each in told), strict=True)],
        "bytes_sent": [each["bytes_sent"] for each in told],
        "messages": 0,
        "peak_memory": [each["peak_memory"] for each in told],
        "load": os.getloadavg()[0],
    }


def free_ports() -> list[int]:
    """Ports that nobody uses now: MPyC cannot be told to choose."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(PARTIES)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


def party(name: str, rows: int, repeats: int, at_most: float) -> None:
    """A party process. MPyC reads its own options of the command line when it is imported."""
    from mpyc.runtime import mpc

    print(json.dumps(mpc.run(measured(mpc, name, rows, repeats, at_most))))


async def measured(mpc: Any, name: str, rows: int, repeats: int, at_most: float) -> dict[str, Any]:
    """What a party measures of an operation."""
    import numpy

    await mpc.start()
    fixed, random = mpc.SecFxp(64, 16), numpy.random.default_rng(1)
    shape = (SIDE, SIDE) if name == "matrix" else (rows,)
    ends = BOUNDS.get(name, ((-1000, 1000),) * 2)
    x, y = (mpc.input(fixed.array(random.uniform(*each, shape)), senders=0) for each in ends)
    await mpc.gather(x, y)
    seconds: list[float] = []
    begun = time.perf_counter()
    for repetition in range(repeats + 1):
        await mpc.barrier()
        sent, start = bytes_sent(mpc), time.perf_counter()
        await mpc.gather(OPERATIONS[name](x, y))
        await mpc.barrier()
        seconds.append(time.perf_counter() - start)
        sent = bytes_sent(mpc) - sent
        late = fixed.array(numpy.array([float(time.perf_counter() - begun > at_most)]))
        if repetition and await mpc.output(mpc.input(late, senders=0)):
            break
    await mpc.shutdown()
    return {"seconds": seconds[1:], "bytes_sent": sent, "peak_memory": peak_memory()}


def bytes_sent(mpc: Any) -> int:
    """What this party has sent so far."""
    return sum(each.protocol.nbytes_sent for each in mpc.parties if each.pid != mpc.pid)


def peak_memory() -> int:
    """The largest resident memory of this process since its start, in bytes."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main()

"""SPU's ABY3 on the operations that tacit-bench measures: three processes on this machine, joined by plain TCP.

    python benches/spu_peer.py --rows 16,18,20 --only and,multiply,less,equal,sort
    python benches/spu_peer.py --rows 20 --only multiply-fixed,exp,sigmoid,divide      on fixed-point numbers

It needs an interpreter with SPU (``pip install spu 'numpy<2'`` in a virtual environment of Python 3.11) and prints one
JSON object a line, with the members of ``tacit-bench kernels --json``. Wall clock is taken between SPU's own barriers;
of a repetition the slowest party counts. Inputs lie shared at the parties before the clock starts, results stay shared.
``messages`` are the sends that one party counts; ``peak_memory`` is the largest resident memory of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PARTIES = 3
PAYLOADS = ("p0", "p1", "p2", "p3")


@dataclass(frozen=True)
class Operation:
    """unit and per_row: what the rate counts, and how many of them a row has. inputs: names of 64-bit inputs. setup:
    programs that run once before the clock starts, with the names of their inputs and outputs. bounds: of inputs that
    are fixed-point numbers."""

    unit: str
    per_row: int
    inputs: tuple[str, ...]
    program: Callable[..., Any]
    setup: tuple[tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]], ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()


def sort(*columns: Any) -> Any:
    """Four columns of 64 bits by a key of 32 bits."""
    from jax import lax

    return lax.sort(columns, num_keys=1)


def planes(x: Any, y: Any) -> Any:
    """Two columns that SPU holds as Boolean shares afterwards: an exclusive or leaves them so."""
    return x ^ y, x ^ (y + 1)


def exponential(x: Any) -> Any:
    """e^x of each number."""
    from jax import numpy

    return numpy.exp(x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x) of each number."""
    from jax import nn

    return nn.sigmoid(x)


OPERATIONS = {
    "and": Operation("gates", 64, ("x", "y"), lambda x, y: x & y, ((planes, ("x", "y"), ("x", "y")),)),
    "multiply": Operation("rows", 1, ("x", "y"), lambda x, y: x * y),
    "less": Operation("rows", 1, ("x", "y"), lambda x, y: x < y),
    "equal": Operation("rows", 1, ("x", "y"), lambda x, y: x == y),
    "sort": Operation("rows", 1, ("key", *PAYLOADS), sort),
    "multiply-fixed": Operation("rows", 1, ("x", "y"), lambda x, y: x * y, bounds=((-1000, 1000),) * 2),
    "exp": Operation("rows", 1, ("x",), exponential, bounds=((-8, 8),)),
    "sigmoid": Operation("rows", 1, ("x",), sigmoid, bounds=((-8, 8),)),
    "divide": Operation("rows", 1, ("x", "y"), lambda x, y: x / y, bounds=((-1024, 1024), (1, 1024))),
}


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure SPU's ABY3 with three processes over plain TCP.")
    parser.add_argument("--rows", default="16,18,20", help="sizes, as powers of two")
    parser.add_argument("--only", default=",".join(OPERATIONS), help=f"operations, of: {' '.join(OPERATIONS)}")
    parser.add_argument("--repeats", type=int, default=5, help="measured repetitions after one to warm up")
    parser.add_argument("--seconds", type=float, default=30, help="begin no further repetition after so long")
    options = parser.parse_args()
    for name in options.only.split(","):
        for exponent in options.rows.split(","):
            measured = measure(name, 1 << int(exponent), options.repeats, options.seconds)
            print(json.dumps(measured), flush=True)


def measure(name: str, rows: int, repeats: int, at_most: float) -> dict[str, Any]:
    """One operation at one size, on parties of its own."""
    operation = OPERATIONS[name]
    columns = draw(operation, rows)
    with parties() as group:
        group.share(columns)
        for program, inputs, outputs in operation.setup:
            group.run(compiled(program, [columns[i] for i in inputs], inputs, outputs))
        inputs = operation.inputs
        outputs = tuple(f"out{i}" for i in range(len(inputs)))
        executable = compiled(operation.program, [columns[i] for i in inputs], inputs, outputs)
        start = time.monotonic()
        group.run(executable)
        runs = [group.run(executable)]
        while len(runs) < repeats and time.monotonic() - start < at_most:
            runs.append(group.run(executable))
    return {
        "operation": name,
        "transport": "plain",
        "rows": rows,
        "unit": operation.unit,
        "units": rows * operation.per_row,
        "seconds": [max(party["seconds"] for party in run) for run in runs],
        "bytes_sent": [party["bytes_sent"] for party in runs[-1]],
        "messages": max(party["messages"] for party in runs[-1]),
        "peak_memory": [party["peak_memory"] for party in runs[-1]],
        "load": os.getloadavg()[0],
    }


def draw(operation: Operation, rows: int) -> dict[str, Any]:
    """Random inputs: 64 bits each, with differences that do not overflow; a key has 32 bits."""
    import numpy

    random = numpy.random.default_rng(1)
    bounds = {"key": (numpy.int32, 1 << 31)}
    if operation.bounds:
        columns = zip(operation.inputs, operation.bounds, strict=True)
        return {name: random.uniform(*ends, rows) for name, ends in columns}
    found = {}
    for name in operation.inputs:
        kind, bound = bounds.get(name, (numpy.int64, 1 << 61))
        found[name] = random.integers(-bound, bound, rows, dtype=kind)
    return found


def configuration() -> Any:
    """64-bit ABY3; SPU's profile of each run, written to its log, tells the bytes sent."""
    from spu import libspu

    found = libspu.RuntimeConfig(protocol=libspu.ProtocolKind.ABY3, field=libspu.FieldType.FM64)
    found.enable_pphlo_profile = True
    return found


def compiled(program: Callable[..., Any], columns: list[Any], inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Any:
    """A program that reads and writes variables of SPU's machine."""
    import jax
    from spu import libspu
    from spu.utils import frontend

    jax.config.update("jax_enable_x64", True)
    secret = [libspu.Visibility.VIS_SECRET] * len(inputs)
    kind = frontend.Kind.JAX
    names = list(inputs)
    executable, _ = frontend.compile(kind, program, columns, {}, names, secret, lambda out: list(outputs[: len(out)]))
    return executable


class Group:
    """The coordinator's end of three party processes."""

    def __init__(self, ends: list[Connection]) -> None:
        self.ends = ends

    def share(self, columns: dict[str, Any]) -> None:
        """Give every party its shares of the columns."""
        from spu import api, libspu

        secret = libspu.Visibility.VIS_SECRET
        io = api.Io(PARTIES, configuration())
        shares = {name: io.make_shares(column, secret) for name, column in columns.items()}
        for rank, end in enumerate(self.ends):
            end.send({name: parts[rank] for name, parts in shares.items()})
        self.answers()

    def run(self, executable: Any) -> list[dict[str, Any]]:
        """Run a program once; what each party measured."""
        for end in self.ends:
            end.send(executable)
        return self.answers()

    def answers(self) -> list[Any]:
        return [end.recv() for end in self.ends]


@contextmanager
def parties() -> Iterator[Group]:
    """Three connected parties, ended (by their own process handles) when they are no longer needed."""
    context = get_context("spawn")
    ports = free_ports()
    ends, processes = [], []
    with tempfile.TemporaryDirectory(prefix="tacit-spu-") as folder:
        try:
            for rank in range(PARTIES):
                here, there = context.Pipe()
                process = context.Process(target=party, args=(rank, ports, there, Path(folder) / f"{rank}.log"))
                process.start()
                there.close()
                ends.append(here)
                processes.append(process)
            yield Group(ends)
            for end in ends:
                end.send(None)
            for process in processes:
                process.join(10)
        finally:
            for process in processes:
                process.kill()
                process.join()


def free_ports() -> list[int]:
    """Ports that nobody uses now: SPU cannot be told to choose."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(PARTIES)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


def party(rank: int, ports: list[int], coordinator: Connection, log: Path) -> None:
    """A party process: takes shares and runs programs until it is told to end."""
    with log.open("w") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
        os.dup2(file.fileno(), sys.stdout.fileno())
    from spu import api, libspu

    group = libspu.link.Desc()
    group.recv_timeout_ms = group.http_timeout_ms = 600_000
    for number, port in enumerate(ports):
        group.add_party(f"party{number}", f"127.0.0.1:{port}")
    link = libspu.link.create_brpc(group, rank)
    machine = api.Runtime(link, configuration())
    while (work := coordinator.recv()) is not None:
        if isinstance(work, dict):
            for name, share in work.items():
                machine.set_var(name, share)
            coordinator.send(None)
            continue
        link.barrier()
        start = time.perf_counter()
        machine.run(work)
        link.barrier()
        seconds = time.perf_counter() - start
        coordinator.send({"seconds": seconds, **traffic(log), "peak_memory": peak_memory()})
    link.stop_link()


def traffic(log: Path) -> dict[str, int]:
    """What SPU's profile says of the last run."""
    found = re.findall(r"Link details: total send bytes (\d+), recv bytes \d+, send actions (\d+)", log.read_text())
    sent, messages = found[-1] if found else (0, 0)
    return {"bytes_sent": int(sent), "messages": int(messages)}


def peak_memory() -> int:
    """The largest resident memory of this process since its start, in bytes."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main()

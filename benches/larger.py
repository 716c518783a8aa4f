"""Programs on a matrix that is larger than the memory of a party: a process for each of three parties on this machine.

    python benches/larger.py --rows 20000 --columns 500 --memory "32 MiB"          all three programs
    python benches/larger.py --rows 100000 --columns 5000 --memory "512 MiB"       8 GB of shares a party
    python benches/larger.py --rows 1000000 --columns 5000 --only gradient --cost  what a run would need, and no run

Prints for each program what it is predicted to take, how long a run takes, the largest resident memory of a party's
process, and the error beside NumPy's result. ``--memory`` is what the federation declares under [programs]. Without
``--cost`` the folder needs room for the matrix and for what waits of all three parties.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from children import PeakMemory
from facts import facts
from numpy.lib.format import open_memmap
from queries import PARTIES, free_ports
from report import seconds, section

import tacit
import tacit.numpy as np

HEAD = ("program", "rows", "columns", "blocks", "rounds", "GB sent", "predicted", "GiB waiting", "run", "peak", "error")
PIECE = 1 << 22
"""Elements of the matrix that are made together."""
THIN = 8
CLUSTERS = 10


def product(x: Any, w: Any) -> Any:
    """The matrix times a thin one."""
    return x @ w


def gradient(x: Any, y: Any, v: Any) -> Any:
    """That of logistic regression, at given weights."""
    return x.T @ (np.sigmoid(x @ v) - y) / len(y)


def k_means(x: Any, c: Any) -> Any:
    """A step: the means of the rows nearest to each centre."""
    nearest = np.argmin((c * c).sum(axis=1) - 2 * (x @ c.T), axis=1)
    chosen = nearest[:, None] == numpy.arange(CLUSTERS)[None, :]
    return (chosen.T @ x) / np.maximum(chosen.sum(axis=0), 1)[:, None]


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "product": (product, ("x", "w")),
    "gradient": (gradient, ("x", "y", "v")),
    "k-means": (k_means, ("x", "c")),
}


@dataclass(frozen=True)
class Data:
    """Files of a folder, and the matrix in one of them."""

    folder: Path
    rows: int
    columns: int

    def make(self, stored: bool) -> dict[str, Any]:
        """The arrays but for the matrix, which is stored piece by piece. stored: whether files are written."""
        draw, columns = numpy.random.default_rng(1), self.columns
        arrays = {
            "w": draw.uniform(-1, 1, (columns, THIN)),
            "v": draw.uniform(-1, 1, columns) / numpy.sqrt(columns),
            "c": draw.uniform(-1, 1, (CLUSTERS, columns)),
            "y": draw.random(self.rows) < 0.5,
        }
        if stored:
            for name, value in arrays.items():
                numpy.save(self.folder / f"{name}.npy", value)
            self._matrix(draw)
        return arrays

    def _matrix(self, draw: numpy.random.Generator) -> None:
        matrix = open_memmap(self.folder / "x.npy", "w+", float, (self.rows, self.columns))
        step = max(1, PIECE // self.columns)
        for first in range(0, self.rows, step):
            matrix[first : first + step] = draw.uniform(-1, 1, matrix[first : first + step].shape)
        matrix.flush()


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Programs on a matrix larger than memory.")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--memory", default="32 MiB", help="what the federation declares (default %(default)s)")
    parser.add_argument("--only", choices=tuple(PROGRAMS))
    parser.add_argument("--cost", action="store_true", help="predict, and run nothing")
    parser.add_argument("--folder", type=Path, help="where files are (default a temporary folder)")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(prefix="tacit-bench-", dir=options.folder) as folder:
        data = Data(Path(folder) / "private", options.rows, options.columns)
        data.folder.mkdir(mode=0o700)
        arrays = data.make(stored=not options.cost)
        connected = federation(data, arrays, options.memory)
        for name in [options.only] if options.only else PROGRAMS:
            lines.append(line(name, data, arrays, connected, runs=not options.cost))
    print("\n".join(f"{name:9} {value}" for name, value in facts()), end="\n\n")
    print(section(f"A matrix beyond {options.memory} of memory, rep3", HEAD, lines))


def line(name: str, data: Data, arrays: dict[str, Any], connected: tacit.Connection, runs: bool) -> list[str]:
    """A line of the table."""
    from tacit.plan.physical.cost import predict
    from tacit.plan.physical.placed import InputStep

    function, names = PROGRAMS[name]
    asked = connected.program(function)(*(connected.private("a", each) for each in names))
    plan = connected.plan(asked.text, "a")
    costs, predicted = predict(plan), asked.cost(to="a")
    blocks = sum(isinstance(step, InputStep) for step in plan.steps) - sum(each not in "xy" for each in names)
    waiting = max(cost.memory for cost in costs) / (1 << 30)
    known = [
        *(name, f"{data.rows:,}", str(data.columns), str(blocks // sum(each in "xy" for each in names))),
        *(f"{predicted.rounds:,}", f"{predicted.bytes / 1e9:.3g}", seconds(predicted.seconds), f"{waiting:.2g}"),
    ]
    if not runs:
        return [*known, "", "", ""]
    with PeakMemory() as memory:
        start = time.perf_counter()
        found, taken = asked.reveal(to="a"), time.perf_counter() - start
    given = {"x": numpy.load(data.folder / "x.npy", mmap_mode="r"), **arrays}
    error = numpy.abs(found - function(*(given[each] for each in names))).max()
    peak = max(memory.peaks.values()) / (1 << 20)
    return [*known, seconds(taken), f"{peak:,.0f} MiB", f"{error:.1g}"]


def federation(data: Data, arrays: dict[str, Any], memory: str) -> tacit.Connection:
    """Three parties, of which the first has all arrays."""
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys
    from tacit.cli.demo.scenario import write_membership

    root = data.folder.parent
    head = f'engine = "rep3"\nnodes = {json.dumps(PARTIES)}\nrecipients = ["a"]\n[programs]\nmemory = "{memory}"\n'
    path = write_membership(root, head, dict(zip(PARTIES, free_ports(len(PARTIES)), strict=True)))
    (root / "offers").mkdir()
    shapes = {"x": ((data.rows, data.columns), "float64"), **{k: (v.shape, v.dtype.name) for k, v in arrays.items()}}
    for name, (shape, dtype) in shapes.items():
        bounds = "" if dtype == "bool" else f"min = {-1 if name != 'v' else arrays['v'].min()}\n"
        bounds += "" if dtype == "bool" else f"max = {1 if name != 'v' else arrays['v'].max()}\n"
        offer = f'[arrays.{name}]\nshape = {json.dumps(shape)}\ndtype = "{dtype}"\n{bounds}use = ["program"]\n'
        for kind, text in (("offers", offer), ("private", f'[arrays.{name}]\npath = "{name}.npy"\n')):
            with (root / kind / "a.toml").open("a") as file:
                file.write(text)
    make_keys(Members.load(path), PARTIES, replace=False)
    return tacit.connect(path)


if __name__ == "__main__":
    main()

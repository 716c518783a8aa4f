"""A program on a matrix beyond the memory that its federation declares, run by three parties: what their processes
take, and what is said before they start.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import tacit
from tacit.agent.federation_section import FederationError
from tacit.agent.keys import make_keys
from tacit.agent.memory_budget import Memory
from tacit.cli.demo.scenario import free_ports
from tacit.plan import StepCost

PARTIES = ("a", "b", "c")
SCRIPT = """
import json, resource, sys
import numpy, tacit
import tacit.numpy as np

fed = tacit.connect("federation.toml")
program = fed.program(lambda x, y: x.T @ (np.sigmoid(x @ np.full(x.shape[1], 0.01)) - y) / len(y))
found = program(fed.private("a", "x"), fed.private("a", "y")).reveal(to="a")
print(json.dumps([found.tolist(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))
"""


def federation(folder: Path, rows: int, columns: int, memory: str | None) -> Path:
    """The files of three parties, of which a has a matrix and labels."""
    parties = zip(PARTIES, free_ports(3), strict=True)
    path, declared = folder / "federation.toml", "" if memory is None else f'[programs]\nmemory = "{memory}"\n'
    path.write_text(declared + "".join(f'[parties.{each}]\naddress = "127.0.0.1:{port}"\n' for each, port in parties))
    for name in ("offers", "private"):
        (folder / name).mkdir(mode=0o700)
    draw = numpy.random.default_rng(7)
    numpy.save(folder / "private" / "x.npy", draw.uniform(-1, 1, (rows, columns)))
    numpy.save(folder / "private" / "y.npy", draw.random(rows) < 0.5)
    kinds = {
        "x": f'shape = [{rows}, {columns}]\ndtype = "float64"\nmin = -1\nmax = 1',
        "y": f'shape = [{rows}]\ndtype = "bool"',
    }
    offer = "".join(f'[arrays.{name}]\n{kind}\nuse = ["program"]\n' for name, kind in kinds.items())
    (folder / "offers" / "a.toml").write_text(offer)
    (folder / "private" / "a.toml").write_text("".join(f'[arrays.{name}]\npath = "{name}.npy"\n' for name in kinds))
    make_keys(tacit.connect(path).federation.members, PARTIES, replace=False)
    return path


def ran(folder: Path) -> tuple[list[float], int]:
    """What a gets, and the largest memory of a party's process in MiB."""
    (folder / "run.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "run.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, kib = json.loads(done.stdout)
    return found, kib >> 10


def true(folder: Path) -> numpy.ndarray:
    x, y = (numpy.load(folder / "private" / f"{name}.npy") for name in "xy")
    return x.T @ (1 / (1 + numpy.exp(-x @ numpy.full(x.shape[1], 0.01))) - y) / len(y)


def test_parties_run_a_program_in_blocks(tmp_path: Path) -> None:
    federation(tmp_path, 600, 20, "1 MiB")
    found, _ = ran(tmp_path)
    assert numpy.abs(found - true(tmp_path)).max() < 1e-3
    assert not [*(tmp_path / "private").glob(".tacit-*")], "what waited in files has no name"


@pytest.mark.nightly
def test_a_matrix_of_64_megabytes_within_a_small_budget(tmp_path: Path) -> None:
    """Its shares take 128 MB. Python, DuckDB and NumPy take about 120 MiB, whatever is computed."""
    peaks = {}
    for name, memory in (("blocks", "24 MiB"), ("whole", None)):
        folder = tmp_path / name
        folder.mkdir()
        federation(folder, 16_000, 500, memory)
        found, peaks[name] = ran(folder)
        assert numpy.abs(found - true(folder)).max() < 1e-3
    print(peaks)
    assert peaks["blocks"] < 280, peaks
    assert peaks["whole"] > 1.5 * peaks["blocks"], peaks


def test_the_disk_that_a_run_needs_is_said_before_it_starts(tmp_path: Path) -> None:
    memory = Memory(1 << 30, tmp_path)
    memory.admit([StepCost("1.program", 1, 1, 1, 1.0, False, memory=1 << 31, memory_alone=1 << 29)])
    large = [StepCost("1.program", 1, 1, 1, 1.0, False, memory=1 << 62, memory_alone=1 << 29)]
    with pytest.raises(
        tacit.InputError, match=r"wait in files beyond the budget of 1\.0 GiB, and .* free; name a folder"
    ):
        memory.admit(large)
    with pytest.raises(tacit.InputError, match="program needs about 512 MiB of memory"):
        Memory(1 << 28, tmp_path).admit(large)
    assert Memory(None, tmp_path).of_program(1 << 28).budget == 1 << 28
    assert Memory(1 << 20, tmp_path).of_program(1 << 28).budget == 1 << 20


def test_the_memory_of_programs_is_a_size(tmp_path: Path) -> None:
    with pytest.raises(FederationError, match=r"\[programs\]: memory is '1 GB'; write a size"):
        federation(tmp_path, 10, 2, "1 GB")

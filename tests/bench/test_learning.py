"""The benches of learning and networks work: tiny runs give figures, and results near NumPy's. Asserts never a time."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench's own module, which is no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    return importlib.import_module("learning")


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench of inference."""
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    return importlib.import_module("networks")


def test_a_tiny_model_is_trained_by_three_parties(learning: ModuleType) -> None:
    case = learning.Case(learning.rows(6, 2, "labels"), learning.descent)
    found = dict(zip(learning.HEAD, learning.line("tiny", case, 1), strict=True))
    assert (found["rows"], found["columns"]) == ("6", "2")
    assert float(found["rounds a step"]) > 0 and float(found["MB a step"]) > 0
    assert float(found["error"]) < 1e-2 and found["run"] and found["measured"]


def test_a_case_that_is_not_run_has_its_cost_alone(learning: ModuleType) -> None:
    found = dict(zip(learning.HEAD, learning.line("tiny", learning.Case(learning.rows(6, 2), learning.clusters), 0),
                     strict=True))  # fmt: skip
    assert float(found["rounds a step"]) > 0 and found["run"] == found["measured"] == found["error"] == ""


@pytest.mark.parametrize("name", ["Adult, newton", "MovieLens 100k, rank 10", "card fraud, newton", "k-means"])
def test_made_up_data_have_the_published_shapes(learning: ModuleType, name: str) -> None:
    values = learning.CASES[name].made()
    shapes = {"Adult, newton": (32_561, 123), "MovieLens 100k, rank 10": (943, 1682), "k-means": (1000, 100)}
    assert values["x"].shape == shapes.get(name, (284_807, 30))
    assert all(numpy.isfinite(each).all() for each in values.values())


def test_a_tiny_network_is_computed_by_three_parties(networks: ModuleType) -> None:
    network = networks.perceptron(6, 3)
    images = numpy.random.default_rng(1).uniform(size=(2, 6))
    found = networks.measured(networks.Made(network, network.initial(1), images), "tiny", 1)
    assert found["relative_error"] < 1e-2 and found["rounds"] > 0 and found["as_predicted"]


@pytest.mark.nightly
def test_a_quick_run_of_learning() -> None:
    command = [sys.executable, "benches/learning.py", "--smoke"]
    printed = subprocess.run(command, cwd=ROOT, check=True, timeout=600, capture_output=True, text=True).stdout
    assert all(name in printed for name in ("logistic", "newton", "k-means", "factorisation"))

"""Random numbers that nobody knows: their ranges are proved, no two samples are one, and their moments are right."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.tracing import trace
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError

from .running import SEED, run

COUNT = 4000


def drawn(program: Any) -> Any:
    traced = trace(lambda x: program() + 0 * x, {"x": Declared((), "int64", 0, 1)}, Settings())
    found = numpy.asarray(run(traced, {"x": numpy.array(0)}, Random(SEED))["result"], dtype=float)
    return found, traced.outputs["result"].array


def test_uniform() -> None:
    found, array = drawn(lambda: np.random.uniform(-2, 3, COUNT))
    assert (found >= -2).all() and (found <= 3).all()
    assert abs(found.mean() - 0.5) < 0.1 and abs(found.std() - 5 / 12**0.5) < 0.1
    assert array.real[0] >= -2.001 and array.real[1] <= 3.001


def test_integers() -> None:
    found, array = drawn(lambda: np.random.integers(-3, 7, COUNT))
    assert set(found) == set(range(-3, 7))
    assert (array.low, array.high, array.error) == (-3, 6, 0)
    with pytest.raises(ProgramError, match="draw two and put them together"):
        drawn(lambda: np.random.integers(0, 1 << 20, 3))


def test_normal() -> None:
    found, array = drawn(lambda: np.random.normal(1, 2, COUNT))
    assert abs(found.mean() - 1) < 0.2 and abs(found.std() - 2) < 0.15
    assert array.real[1] < 12


def test_samples_differ() -> None:
    found, _ = drawn(lambda: np.random.random(50) - np.random.random(50))
    assert len(set(found)) > 40


def test_outside_programs_they_are_numpys() -> None:
    assert isinstance(np.random.uniform(0, 1, 3), numpy.ndarray)
    assert np.random.normal(size=(2, 2)).shape == (2, 2)

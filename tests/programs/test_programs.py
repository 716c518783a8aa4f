"""Programs of machine learning as they are written in NumPy: traced unchanged, they give NumPy's results."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.array.tracing import Traced
from tacit.plan.programs.graph import Settings

from .running import SEED, run

DRAW = numpy.random.default_rng(SEED)


def logistic(x: Any, y: Any) -> Any:
    w = np.zeros(x.shape[1])
    for _ in range(8):
        w = np.clip(w - 0.5 * x.T @ (np.sigmoid(x @ w) - y) / len(y), -4, 4)
    return w


def means(x: Any, c: Any) -> Any:
    for _ in range(2):
        distance = np.sum(c * c, axis=1) - 2 * (x @ c.T)
        nearest = np.argmin(distance, axis=1)[:, None] == np.arange(len(c))
        count = np.sum(nearest, axis=0)
        moved = (nearest.astype(np.float64).T @ x) / np.maximum(count, 1)[:, None]
        c = np.clip(np.where(count[:, None] > 0, moved, c), -1, 1)
    return c


def factors(x: Any, p: Any, q: Any) -> Any:
    for _ in range(2):
        e = x - np.dot(p, np.transpose(q))
        p, q = np.clip(p + 0.125 * (e @ q - 0.25 * p), -2, 2), np.clip(q + 0.125 * (e.T @ p - 0.25 * q), -2, 2)
    return p @ q.T


def perceptron(x: Any, first: Any, bias: Any, second: Any) -> Any:
    hidden = np.maximum(x @ first + bias, 0)
    return np.softmax(hidden @ second, axis=1)


def standardised(x: Any) -> Any:
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 0.01)


VALUES: dict[str, tuple[Any, dict[str, Any], float]] = {
    "logistic": (logistic, {"x": DRAW.uniform(-1, 1, (30, 4)), "y": DRAW.integers(0, 2, 30).astype(bool)}, 1e-3),
    "means": (means, {"x": DRAW.uniform(-1, 1, (20, 2)), "c": DRAW.uniform(-1, 1, (3, 2))}, 1e-3),
    "factors": (
        factors,
        {"x": DRAW.uniform(-1, 1, (6, 5)), "p": DRAW.uniform(-1, 1, (6, 2)), "q": DRAW.uniform(-1, 1, (5, 2))},
        1e-3,
    ),
    "perceptron": (
        perceptron,
        {
            "x": DRAW.uniform(-1, 1, (5, 8)),
            "first": DRAW.uniform(-1, 1, (8, 6)),
            "bias": DRAW.uniform(-1, 1, 6),
            "second": DRAW.uniform(-1, 1, (6, 3)),
        },
        1e-3,
    ),
    "standardised": (standardised, {"x": DRAW.uniform(-1, 1, (10, 3))}, 2e-3),
}


@pytest.mark.parametrize("name", VALUES)
def test_program(name: str) -> None:
    function, values, close = VALUES[name]
    inputs = {
        each: Declared(value.shape, "bool") if value.dtype == bool else Declared(value.shape, "float64", -1, 1)
        for each, value in values.items()
    }
    program = Program(function, inputs, Settings())
    assert program.check() == []
    true = function(**values)
    for outputs in (program.optimised.before, program.optimised.after):
        found = run(Traced(program.traced.graph, program.traced.inputs, outputs), values)["result"]
        assert numpy.abs(numpy.asarray(found, dtype=float) - true).max() < close
    assert "results:" in program.explain()

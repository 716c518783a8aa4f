"""Random programs on random inputs, many at the ends of their intervals.

NumPy's result is within the declared error, and no array leaves what was proved of it: the evaluation checks each one.
Hypothesis prints what it drew, and TACIT_SEED repeats it.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.tracing import trace
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.refusals import ProgramError

from .running import SEED, run, same

Step = tuple[str, int, int, float]

BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (np.abs(b) + 0.5),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "matmul": lambda a, b: a @ b.T @ b,
    "outer": lambda a, b: np.outer(a[0], b[:, 0])[: a.shape[0], : a.shape[1]],
}
UNARY = {
    "square": lambda a, c: a * a,
    "scale": lambda a, c: a * c,
    "shift": lambda a, c: a + c,
    "over": lambda a, c: a / (abs(c) + 0.001),
    "clip": lambda a, c: np.clip(a, -abs(c), abs(c)),
    "abs": lambda a, c: np.abs(a),
    "mean": lambda a, c: a - np.mean(a, axis=0),
    "var": lambda a, c: np.var(a, axis=1, keepdims=True) + a,
    "sum": lambda a, c: np.sum(a, axis=0, keepdims=True) + a,
    "cumsum": lambda a, c: np.cumsum(a, axis=1),
    "sort": lambda a, c: np.sort(a, axis=1),
    "max": lambda a, c: a - np.max(a, axis=1, keepdims=True),
    "exp": lambda a, c: np.exp(np.clip(a, -6, 3)),
    "sigmoid": lambda a, c: np.sigmoid(a),
    "tanh": lambda a, c: np.tanh(a),
    "softmax": lambda a, c: np.softmax(a, axis=1),
    "log": lambda a, c: np.log(np.abs(a) + 0.25),
    "sqrt": lambda a, c: np.sqrt(np.abs(a)),
    "rsqrt": lambda a, c: np.rsqrt(a * a + 0.125),
    "flip": lambda a, c: a[::-1, ::-1],
    "half": lambda a, c: a * 0.5,
}
SHAPE = (3, 3)

steps = st.lists(
    st.tuples(
        st.sampled_from([*BINARY, *UNARY]),
        st.integers(0, 99),
        st.integers(0, 99),
        st.floats(-20, 20, allow_subnormal=False),
    ),
    min_size=1,
    max_size=6,
)
bound = st.sampled_from([0.001, 1.0, 3.7, 255.0, 1e4, 1e6])


def program(drawn: list[Step], *arrays: Any) -> Any:
    values = list(arrays)
    for name, first, second, number in drawn:
        a, b = values[first % len(values)], values[second % len(values)]
        values.append(BINARY[name](a, b) if name in BINARY else UNARY[name](a, number))
    return values[-1]


def at_the_ends(most: float, draw: Random) -> Any:
    """Numbers of an interval, half of them at its ends."""
    return numpy.array(
        [draw.choice((most, -most, draw.uniform(-most, most))) for _ in range(SHAPE[0] * SHAPE[1])]
    ).reshape(SHAPE)


@pytest.mark.parametrize("rounding", ["dither", "floor"])
def test_random_programs(rounding: Rounding) -> None:
    count = {"run": 0, "refused": 0}

    @seed(SEED)
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=True)
    @given(steps, bound, bound, st.integers(0, 2**32), st.sampled_from([13, 16, 20]))
    def holds(drawn: list[Step], x_most: float, y_most: float, coin: int, fraction: int) -> None:
        draw = Random(coin)
        x, y = at_the_ends(x_most, draw), at_the_ends(y_most, draw)
        inputs = {"x": Declared(SHAPE, "float64", -x_most, x_most), "y": Declared(SHAPE, "float64", -y_most, y_most)}
        try:
            traced = trace(lambda x, y: program(drawn, x, y), inputs, Settings(fraction, rounding))
        except ProgramError:
            count["refused"] += 1
            return
        count["run"] += 1
        node = traced.outputs["result"]
        found = run(traced, {"x": x, "y": y}, draw)["result"]
        true = program(drawn, x, y)
        scale = max(float(each.array.largest * Fraction(1, 1 << each.array.fraction)) for each in reachable([node]))
        same(found, true, float(node.array.absolute_error) + scale * 1e-12)

    holds()
    assert count["run"] > count["refused"], count


def integers(drawn: list[str], x: Any, y: Any) -> Any:
    rules = {
        "add": lambda a: a + y,
        "times": lambda a: a * y,
        "floor": lambda a: a // 3,
        "modulo": lambda a: a % 5,
        "mask": lambda a: np.where(a > y, a, y),
        "order": lambda a: a[:, ::-1] - np.argsort(a, axis=1, stable=True),
        "total": lambda a: np.cumsum(a, axis=0),
        "below": lambda a: (a < y) * a,
        "place": lambda a: a + np.argmax(a, axis=0),
    }
    for name in drawn:
        x = rules[name](x)
    return x


def test_integers_are_exact() -> None:
    names = st.sampled_from(["add", "times", "floor", "modulo", "mask", "order", "total", "below", "place"])

    @seed(SEED)
    @settings(max_examples=100, deadline=None, database=None, print_blob=True)
    @given(st.lists(names, max_size=5), st.sampled_from(["int8", "int16", "uint8"]), st.integers())
    def holds(drawn: list[str], dtype: str, coin: int) -> None:
        draw, info = Random(coin), numpy.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        x, y = (
            numpy.array([draw.choice((low, high, draw.randint(low, high), 0)) for _ in range(9)], dtype=dtype)
            for _ in range(2)
        )
        x, y = x.reshape(SHAPE), y.reshape(SHAPE)
        inputs = {"x": Declared(SHAPE, dtype), "y": Declared(SHAPE, dtype)}
        traced = trace(lambda x, y: integers(drawn, x, y), inputs, Settings())
        found = run(traced, {"x": x, "y": y})["result"]
        assert traced.outputs["result"].array.error == 0
        assert (found == integers(drawn, x.astype(object), y.astype(object))).all()

    holds()

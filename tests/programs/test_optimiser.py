"""The optimiser: each rule fires on its example, no error grows larger, and results stay within their errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import program
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.facts import Array
from tacit.plan.programs.graph import Graph, Settings
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import (
    Check,
    Divide,
    Function,
    Input,
    Less,
    MatMul,
    Multiply,
    Place,
    Select,
    Sum,
    Truncate,
)
from tacit.plan.programs.optimiser import RULES, Optimised, optimised
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.schedule import scheduled

from .running import SEED, run, same
from .test_random_programs import SHAPE, Step, at_the_ends
from .test_random_programs import program as random_program

INPUTS = {
    **{name: Declared((6, 6), "float64", -2, 2) for name in ("a", "b", "c", "d")},
    "p": Declared((6, 6), "float64", 0.5, 4),
    "x": Declared((64, 64), "float64", -2, 2),
    "s": Declared((64, 1), "float64", 0.5, 4),
    "v": Declared((6,), "float64", -1, 1),
    "m": Declared((6, 6), "int64", -5, 5),
    "k": Declared((6, 6), "bool"),
}


EXAMPLES: dict[str, Callable[..., Any]] = {
    "where as max, min or abs": lambda a: np.where(a > 0, a, 0) + np.where(a < 0, -a, a) + np.where(a < 0.5, a, 0.5),
    "choices by one condition": lambda k, a, b, c, d: np.where(k, a, b) + np.where(k, c, d),
    "where with zero as a product": lambda k, a: np.where(k, a, 0),
    "comparison of increasing functions": lambda a, b: (np.sigmoid(a) > 0.5, np.exp(a) < np.exp(b)),
    "position of the largest": lambda a: np.argmax(np.softmax(a, axis=1), axis=1),
    "extremes before bounds": lambda a: np.max(np.maximum(a, 0), axis=1),
    "constants folded": lambda a: (a * 0.3) * 0.7,
    "square of a root": lambda p: np.sqrt(p) ** 2,
    "inverse root": lambda a, p: 1 / np.sqrt(p),
    "one exponential": lambda a, b: np.exp(a) * np.exp(b),
    "one reciprocal": lambda x, s: x / s,
    "order of matrix products": lambda a, b, v: (a @ b) @ v,
    "common factor": lambda a, b, c: a * b + a * c,
    "sum of products as one product": lambda a, b: np.sum(a * b, axis=1),
    "functions of numbers that are not cut": lambda a, b, c: np.sigmoid(a * b) + np.tanh(b * c),
    "late truncation": lambda a, b, c, d: np.sum(a * b, axis=0),
}


def changed(function: Callable[..., Any]) -> tuple[Traced, Optimised]:
    taken = function.__code__.co_varnames[: function.__code__.co_argcount]
    traced = trace(function, {name: INPUTS[name] for name in taken}, Settings())
    return traced, optimised(traced.graph, traced.outputs)


def kinds(outputs: Any) -> list[type]:
    return [type(node.operation) for node in reachable(outputs.values())]


@pytest.mark.parametrize("rule", [name for name, _ in RULES])
def test_each_rule_fires_and_saves(rule: str) -> None:
    traced, found = changed(EXAMPLES[rule])
    assert rule in [each.rule for each in found.savings]
    before, after = scheduled(found.before.values()), scheduled(found.after.values())
    assert after.cost.seconds <= before.cost.seconds
    holds(traced, found, EXAMPLES[rule], 5)


def holds(traced: Traced, found: Optimised, function: Callable[..., Any], times: int) -> None:
    """The optimised graph gives NumPy's results within its error, which is no larger than before."""
    for name, node in found.after.items():
        assert node.array.absolute_error <= found.before[name].array.absolute_error
    for turn in range(times):
        values = {name: drawn(node, Random(SEED + turn)) for name, node in traced.inputs.items()}
        after = run(Traced(traced.graph, traced.inputs, found.after), values, Random(turn))
        true = function(**values)
        named = true if isinstance(true, tuple) else (true,)
        for (name, node), each in zip(found.after.items(), named, strict=True):
            if not node.array.near:
                same(after[name], each, node.array.absolute_error)


def drawn(node: Node, draw: Random) -> Any:
    array = node.array
    low, high = (float(each) for each in array.real)
    if array.dtype != "fixed":
        whole = [draw.choice((array.low, array.high, draw.randint(array.low, array.high))) for _ in range(array.size)]
        return numpy.array(whole).reshape(array.shape).astype("bool" if array.dtype == "bool" else "int64")
    low, high = low + 1e-4, high - 1e-4
    return numpy.array([draw.choice((low, high, draw.uniform(low, high))) for _ in range(array.size)]).reshape(
        array.shape
    )


def test_expected_forms() -> None:
    assert kinds(changed(EXAMPLES["common factor"])[1].after).count(Multiply) == 1
    assert Select not in kinds(changed(EXAMPLES["where as max, min or abs"])[1].after)
    assert Function not in kinds(changed(EXAMPLES["position of the largest"])[1].after)
    assert Function not in kinds(changed(EXAMPLES["comparison of increasing functions"])[1].after)
    assert Divide not in kinds(changed(EXAMPLES["inverse root"])[1].after)
    dots = kinds(changed(lambda a, b: a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2])[1].after)
    assert (dots.count(MatMul) + dots.count(Multiply), dots.count(Truncate)) <= (3, 1)
    assert kinds(changed(lambda v, a: np.sum(v * a, axis=1))[1].after).count(Sum) == 0


def test_what_is_needed_elsewhere_stays() -> None:
    found = changed(lambda a, b: (np.exp(a) * np.exp(b), np.exp(a)))[1]
    assert kinds(found.after).count(Function) == 2
    found = changed(lambda a, b: (np.sigmoid(a) > 0.5, np.sigmoid(a)))[1]
    assert kinds(found.after).count(Less) == 1


def integers(rows: int, columns: int, low: int, high: int) -> Array:
    return Array((rows, columns), "int64", low, high)


def test_no_rule_takes_a_check_away() -> None:
    """The largest position of x - b is that of x, and of x times a positive factor: whether the check holds or not."""
    traced, found = changed(lambda a, b: np.argmax(a - np.bound(b.sum(axis=1, keepdims=True), 1, check=True), axis=1))
    assert Check in kinds(traced.outputs)
    assert Check in kinds(found.after)
    graph = Graph(Settings())
    x, s = (graph.make(Input(name, integers(3, columns, -100, 100))) for name, columns in (("x", 4), ("s", 1)))
    factor = graph.make(Check(1, 8), s)
    place = graph.make(Place(1, True), graph.make(Multiply(), x, factor))
    assert Check in kinds(optimised(graph, {"place": place}).after)
    free = graph.make(Place(1, True), graph.make(Multiply(), x, graph.make(Input("f", integers(3, 1, 1, 8)))))
    assert Multiply not in kinds(optimised(graph, {"place": free}).after)


def test_bits_and_integers_need_no_truncation() -> None:
    for function in (lambda k, a: k * a, lambda m, a: m * a, lambda m, a: m @ a, lambda a: a * 3, lambda a: a * 0.5):
        traced, found = changed(function)
        assert Truncate not in kinds(found.after)
        holds(traced, found, function, 3)


def test_independent_products_share_a_round() -> None:
    found = changed(lambda a, b, c, d: (a * b, c * d, a * d))[1]
    schedule = scheduled(found.after.values())
    assert schedule.cost.rounds * 3 == schedule.alone
    begin, kind, nodes = schedule.levels[-1]
    assert (begin, kind, len(nodes)) == (1, "Truncate", 3)


PLAIN = ("multiply", "multiply", "add", "subtract", "scale", "clip", "abs", "square", "sum", "mean")

plain_steps = st.lists(
    st.tuples(st.sampled_from(PLAIN), st.integers(0, 99), st.integers(0, 99), st.floats(-9, 9, allow_subnormal=False)),
    min_size=3,
    max_size=8,
)


def joined_program(steps: list[Step], *arrays: Any) -> Any:
    """Two programs whose results are added up, so that more of each is needed."""
    half = len(steps) // 2
    return random_program(steps[:half], *arrays) * arrays[0] + random_program(steps[half:], *arrays) * arrays[1]


def test_random_programs_stay_within_their_errors() -> None:
    saved = 0

    @seed(SEED)
    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=True)
    @given(plain_steps, st.sampled_from([0.5, 3.7, 200.0]), st.integers(0, 2**32))
    def stays(steps: list[Step], most: float, coin: int) -> None:
        nonlocal saved
        inputs = {name: Declared(SHAPE, "float64", -most, most) for name in "xyz"}
        try:
            traced = trace(lambda x, y, z: joined_program(steps, x, y, z), inputs, Settings())
        except ProgramError:
            return
        found = optimised(traced.graph, traced.outputs)
        saved += bool(found.savings)
        draw = Random(coin)
        values = {name: at_the_ends(most, draw) for name in inputs}
        result = run(Traced(traced.graph, traced.inputs, found.after), values, draw)["result"]
        error = found.after["result"].array.absolute_error
        assert error <= found.before["result"].array.absolute_error
        largest = max(float(each.array.real[1]) for each in reachable(found.after.values()))
        same(result, joined_program(steps, *values.values()), float(error) + abs(largest) * 1e-12)

    stays()
    assert saved > 20, saved


def test_explain_says_what_was_saved() -> None:
    @program(x=Declared((100, 10), "float64", -1, 1), y=Declared((100,), "bool"), w=Declared((10,), "float64", -1, 1))
    def step(x: Any, y: Any, w: Any) -> Any:
        error = np.sigmoid(x @ w) - y
        return np.clip(w - 0.1 * (np.sum(x.T * error, axis=1) / len(y)), -4, 4)

    text = step.explain()
    assert "sum of products as one product:" in text
    assert re.search(r"result: array of 10, fixed, from -1\.\d+ to 1\.1\d*, error at most", text)
    assert "from x, y, w" in text
    assert "predictions" in text
    lines = text.splitlines()
    before, after = (lines[lines.index(title) + 1] for title in ("before:", "after:"))
    assert before != after


def test_explain_names_wide_formats_and_checks() -> None:
    @program(x=Declared((3,), "float64", 0, 1e6))
    def spread(x: Any) -> Any:
        return np.bound(np.var(x), 2.4e11, check=True)

    text = spread.explain()
    assert "128 bits" in text
    assert "one bit to all parties: whether all checked bounds hold; if not, nothing else is revealed" in text
    found = run(spread.traced, {"x": numpy.array([1e6, 0.001, 3.14])})["result"]
    assert abs(float(found) - numpy.var([1e6, 0.001, 3.14])) < 1e-6 * float(found)


def test_one_by_a_million() -> None:
    @program(y=Declared((), "int64", 1, 10**6))
    def inverse(y: Any) -> Any:
        return 1 / y

    found = float(run(inverse.traced, {"y": numpy.array(10**6)})["result"])
    assert abs(found - 1e-6) <= float(inverse.traced.outputs["result"].array.absolute_error) < 1e-9


def test_the_hash_covers_operations_and_declarations_but_no_lines() -> None:
    def made(most: float, factor: float) -> str:
        @program(x=Declared((3,), "float64", 0, most))
        def scaled(x: Any) -> Any:
            return x * factor

        return scaled.hash

    assert made(1, 0.3) == made(1, 0.3)
    assert len({made(1, 0.3), made(2, 0.3), made(1, 0.4)}) == 3

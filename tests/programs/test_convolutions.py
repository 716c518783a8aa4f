"""Convolutions of private images, and their gradients: as SciPy has them, in clear, and on engines."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from scipy.signal import correlate2d

import tacit.numpy as np
from tacit.array.convolution import convolve
from tacit.array.declared import Declared
from tacit.array.tracing import trace
from tacit.plan.physical.cost import predict
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.identity import canonical
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Convolve, Gives, MatMul, Truncate
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import OutOfDomain, ProgramError

from .engines import Engine, placed
from .running import SEED, compare, trace_of
from .test_engines import check

DRAW = numpy.random.default_rng(SEED)
SIZES = [
    Convolve("outputs", (4, 5), (2, 3), stride, padding)
    for stride, padding in itertools.product([(1, 1), (2, 1), (3, 3)], [(0, 0), (1, 2), (3, 0)])
]


def with_scipy(operation: Convolve, x: Any, weight: Any) -> Any:
    """Channel by channel, at all places, of which every stride-th is taken."""
    rows, columns = operation.padding
    padded = numpy.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    filters = weight.reshape(len(weight), x.shape[1], *operation.window)
    found = [[sum(map(lambda a, b: correlate2d(a, b, "valid"), image, each)) for each in filters] for image in padded]
    return numpy.array(found)[:, :, :: operation.stride[0], :: operation.stride[1]]


@pytest.mark.parametrize("operation", SIZES, ids=str)
def test_convolutions_in_clear(operation: Convolve) -> None:
    """As SciPy's; gradients are the adjoint maps: <f(x, w), g> = <x, f*(w, g)> = <w, f*(x, g)>."""
    x, weight = DRAW.uniform(-1, 1, (2, 3, 4, 5)), DRAW.uniform(-1, 1, (2, 18))
    outputs = convolve(operation, x, weight)
    assert numpy.allclose(outputs, with_scipy(operation, x, weight))
    gradient = DRAW.uniform(-1, 1, outputs.shape)
    sizes = operation.size, operation.window, operation.stride, operation.padding
    expected = (outputs * gradient).sum()
    assert numpy.isclose((convolve(Convolve("images", *sizes), weight, gradient) * x).sum(), expected)
    assert numpy.isclose((convolve(Convolve("filters", *sizes), x, gradient) * weight).sum(), expected)


def trained(f: Any, g: Any, h: Any) -> Any:
    """A convolution and both gradients, with strides and zeros around the images."""
    sizes = (4, 5), (2, 3), (2, 1), (1, 1)
    weight = g.reshape(3, 12)
    return (
        convolve(Convolve("outputs", *sizes), f, weight),
        convolve(Convolve("filters", *sizes), f, h),
        convolve(Convolve("images", *sizes), weight, h),
    )


VALUES = {
    "f": DRAW.uniform(-1, 1, (2, 2, 4, 5)),
    "g": DRAW.uniform(-1, 1, (3, 2, 2, 3)),
    "h": DRAW.uniform(-1, 1, (2, 3, 3, 5)),
}


def test_gradients_are_within_their_declared_errors() -> None:
    found = compare(trained, VALUES)
    kinds = [type(node.operation) for node in reachable(found.outputs.values())]
    assert (kinds.count(Convolve), kinds.count(Truncate), kinds.count(MatMul)) == (3, 3, 0)


@pytest.mark.parametrize("public", ["f", "g", "h"])
def test_public_operands(public: str) -> None:
    private = {name: value for name, value in VALUES.items() if name != public}
    compare(lambda **given: trained(**given, **{public: VALUES[public]}), private)


def test_images_of_bits_and_of_integers() -> None:
    bits, whole = DRAW.integers(0, 2, (1, 1, 3, 3)).astype(bool), DRAW.integers(-9, 9, (2, 1, 2, 2))
    found = compare(lambda b, i: np.conv2d(b, i), {"b": bits, "i": whole})
    assert found.outputs["result"].array.error == 0


def test_norms_of_filters_bound_what_comes_out() -> None:
    unit = {"x": Declared((1, 4, 5, 5), "float64", -1, 1)}
    plain, rows = (
        trace(
            lambda x, w: convolve(Convolve("outputs", (5, 5), (3, 3), (1, 1), (1, 1)), x, w),
            unit | {"w": Declared((2, 36), "float64", -1, 1, row_norm=norm)},
            Settings(),
        ).outputs["result"]
        for norm in (None, 1)
    )
    assert plain.array.high == 36 << 16
    assert rows.array.high < 7 << 16, "norm 1 of the filter, sqrt(36) of what it covers"


@pytest.mark.parametrize("gives", ["outputs", "filters", "images"])
def test_a_long_sum_is_split_before_the_ring_is_widened(gives: Gives) -> None:
    operation = Convolve(gives, (2, 2), (2, 2), (1, 1), (0, 0))
    shapes = {
        "outputs": ((1, 16, 2, 2), (1, 64)),
        "filters": ((64, 1, 2, 2), (64, 1, 1, 1)),
        "images": ((16, 4), (1, 16, 1, 1)),
    }
    first, second = shapes[gives]
    bounds = {name: Declared(shape, "float64", -(2.0**13), 2.0**13) for name, shape in (("a", first), ("b", second))}
    values = {name: DRAW.uniform(-(2**13), 2**13, each.shape) for name, each in bounds.items()}
    found = compare(lambda a, b: convolve(operation, a, b), values, bounds)
    assert {node.array.ring for node in reachable(found.outputs.values())} == {64}
    assert any("parts, to fit 64 bits" in note for note in found.graph.notes.values()), found.graph.notes


def test_two_convolutions_of_the_same_images_are_one() -> None:
    def both(f: Any, g: Any) -> Any:
        return np.conv2d(f, g) + np.conv2d(f, g * 3)

    traced = trace_of(both, {name: VALUES[name] for name in "fg"}, Settings())
    after = optimised(traced.graph, traced.outputs).after
    assert [type(node.operation) for node in reachable(after.values())].count(Convolve) == 1


def test_the_text_of_a_program_says_it() -> None:
    traced = trace_of(trained, VALUES, Settings())
    text = canonical(traced.graph, traced.outputs)
    assert canonical(*(lambda again: (again.graph, again.outputs))(read(text))) == text
    said = json.loads(text)
    node = next(each for each in said["nodes"] if each["op"] == "convolve")
    for member, value, sentence in (
        ("gives", "a kernel", "the parameter gives has no such value"),
        ("window", [2], "the parameter window has no such value"),
        ("stride", [0, 1], "windows and strides of at least 1"),
        ("size", [4, 4], "does not take arrays of shapes"),
        ("padding", [1 << 40, 1], "elements with the zeros around them"),
        ("args", [0], "has 1 operands, and takes 2"),
    ):
        before, node[member] = node[member], value
        with pytest.raises(ProgramError, match=sentence):
            read(json.dumps(said, sort_keys=True, separators=(",", ":")))
        node[member] = before


def test_what_does_not_fit_is_refused() -> None:
    f, g, h = VALUES.values()
    for x, weight, sentence in (
        (f, h, r"does not take arrays of shapes \(2, 2, 4, 5\) and \(2, 45\)"),
        (f[0], g, r"takes images and filters of four axes, not of shapes \(2, 4, 5\)"),
        (f[:, :, :1], g, "does not take arrays of shapes"),
    ):
        with pytest.raises(OutOfDomain, match=sentence):
            np.conv2d(x, weight)


@pytest.mark.parametrize(
    ("engine", "rounding"),
    [("clear", "floor"), ("rep3", "floor"), ("rep3", "dither"), ("two", "dither"), ("four", "dither")],
)
def test_engines(engine: Engine, rounding: Rounding) -> None:
    check(trained, VALUES, engine, rounding)


def test_gradients_share_their_rounds() -> None:
    """A convolution's two gradients wait for nothing but the outputs' own: one product's rounds."""
    alone = predicted(lambda f, g, h: trained(f, g, h)[0])
    assert predicted(trained) == alone


def predicted(function: Callable[..., Any]) -> int:
    """The rounds of the program alone: each release is one more."""
    plan = placed(function, VALUES, "rep3", Settings())
    steps = [step for step in predict(plan) if "program" in step.step]
    return sum(step.rounds for step in steps)

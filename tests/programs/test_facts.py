"""What is proved of arrays: types, intervals, norms, formats, and the ladder of formats."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.operands import numpy_dtype
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.dtypes import DTYPES, beside_number, promoted
from tacit.plan.programs.facts import Array
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import Divide, Input, MatMul, Multiply, Truncate
from tacit.plan.programs.refusals import ProgramError, TooWide

from .running import SEED, compare, run

UNIT = Declared((8, 100), "float64", -1, 1)


def traced(function: Callable[..., Any], **inputs: Declared) -> Traced:
    return trace(function, inputs, Settings())


def result(function: Callable[..., Any], **inputs: Declared) -> Array:
    return traced(function, **inputs).outputs["result"].array


def reals(array: Array) -> tuple[float, float]:
    """The interval of the integers, as numbers."""
    return array.low / 2**array.fraction, array.high / 2**array.fraction


@pytest.mark.parametrize(("a", "b"), [*product(DTYPES, DTYPES)])
def test_types_of_two_arrays_are_numpys(a: Any, b: Any) -> None:
    assert numpy_dtype(promoted(a, b)) == numpy.result_type(numpy_dtype(a), numpy_dtype(b)).type or "fixed" in (a, b)
    assert promoted(a, b) == promoted(b, a)


@pytest.mark.parametrize("a", DTYPES)
def test_pythons_numbers_are_weak(a: Any) -> None:
    assert numpy_dtype(beside_number(a, "weak int")) == numpy.result_type(numpy_dtype(a), 1)
    assert beside_number(a, "weak float") == "fixed"


def test_matrix_products_use_the_best_bound() -> None:
    plain = result(lambda x, w: x @ w, x=UNIT, w=Declared((100,), "float64", -1, 1))
    rows = result(
        lambda x, w: x @ w, x=Declared((8, 100), "float64", -1, 1, row_norm=1), w=Declared((100,), "float64", -1, 1)
    )
    norms = result(
        lambda x, w: x @ w.T,
        x=Declared((8, 100), row_norm=1, min=-1, max=1),
        w=Declared((3, 100), row_norm=2, min=-1, max=1),
    )
    assert reals(plain)[1] == pytest.approx(100, rel=1e-4)
    assert reals(rows)[1] == pytest.approx(10, rel=1e-2)
    assert reals(norms)[1] == pytest.approx(2, rel=1e-2)


def test_shares_of_a_whole_stay_in_the_hull() -> None:
    array = result(lambda x, y: np.softmax(x) @ y, x=UNIT, y=Declared((100, 2), "float64", 3, 5))
    low, high = reals(array)
    assert low == pytest.approx(3, abs=0.2) and high == pytest.approx(5, abs=0.2)


def test_variances_are_popovicius() -> None:
    assert reals(result(np.var, a=UNIT))[1] == pytest.approx(1, rel=1e-2)
    assert reals(result(lambda x: x - np.mean(x), x=UNIT)) == pytest.approx((-2, 2), rel=1e-2)
    assert reals(result(np.mean, a=UNIT)) == pytest.approx((-1, 1), rel=1e-2)


def test_a_small_quotient_keeps_its_digits() -> None:
    traced_ = compare(lambda y: 1 / y, {"y": numpy.array([10**6, 999_983])}, {"y": Declared((2,), "int64", 1, 10**6)})
    assert traced_.outputs["result"].array.fraction == 36
    assert traced_.outputs["result"].array.absolute_error < 2e-10


def test_sizes_decide_the_ring() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    def at(bits: int) -> tuple[int, list[int], list[str]]:
        each = Declared((2,), "float64", -(2.0**bits), 2.0**bits)
        found = traced(product, x=each, y=each)
        inner = [node.array.ring for node in reachable(found.outputs.values()) if isinstance(node.operation, Multiply)]
        return found.outputs["result"].array.ring, inner, list(found.graph.notes.values())

    assert at(14) == (64, [64], [])
    ring, inner, notes = at(20)
    assert (ring, inner) == (64, [128]) and "computed in 128 bits" in notes[0]
    assert at(30)[0] == 128
    with pytest.raises(ProgramError, match=r"reach any number .* declare tighter bounds .* np.clip, or ask for fewer"):
        at(60)


def test_a_long_sum_is_split_before_the_ring_is_widened() -> None:
    big = Declared((4, 64), "float64", -(2.0**13), 2.0**13)
    found = traced(lambda x, y: x @ y.T, x=big, y=big)
    nodes = reachable(found.outputs.values())
    assert {node.array.ring for node in nodes} == {64}
    assert sum(isinstance(node.operation, MatMul) for node in nodes) > 1
    assert "a sum of 64 products in 8 parts, to fit 64 bits" in found.graph.notes.values()


def test_a_factor_with_a_large_error_is_cut_first() -> None:
    def program(x: Any, y: Any) -> Any:
        return (x * y) * y

    inputs = {"x": Declared((2,), "float64", 0, 2.0**10), "y": Declared((2,), "float64", 0, 2.0**13)}
    found = trace(program, inputs, Settings())
    assert any("factors without their last" in note for note in found.graph.notes.values()), found.graph.notes
    compare(program, {"x": numpy.array([1000.5, 2.0**10]), "y": numpy.array([0.75, 2.0**13])}, inputs)


def test_truncations_are_merged() -> None:
    found = traced(lambda x, w: w - 0.001 * (x @ w), x=Declared((4, 4), min=-1, max=1), w=Declared((4,), min=-1, max=1))
    cuts = [node for node in reachable(found.outputs.values()) if isinstance(node.operation, Truncate)]
    assert not any(isinstance(cut.args[0].operation, Truncate) for cut in cuts)
    assert found.outputs["result"].array.fraction == 16


def test_formats_do_not_grow_in_loops() -> None:
    def descent(x: Any, w: Any) -> Any:
        for _ in range(40):
            w = np.clip(w - 0.125 * np.mean(x * w), -1, 1)
        return w

    array = result(descent, x=Declared((4,), min=-1, max=1), w=Declared((4,), min=-1, max=1))
    assert array.fraction <= 32 and array.ring == 64


def test_equal_operations_are_one_node() -> None:
    found = traced(lambda x: (x * x + 1, x * x - 1, (x + 0.0) * x), x=UNIT)
    assert sum(isinstance(node.operation, Multiply) for node in reachable(found.outputs.values())) <= 2


def test_intervals_decide_choices() -> None:
    def program(x: Any) -> Any:
        return np.where(x < 2, np.maximum(x, -5), 7)

    found = traced(program, x=UNIT)
    assert not any(isinstance(node.operation, Input) and node.array.near for node in found.inputs.values())
    compare(program, {"x": numpy.array([-1.0, 1.0])}, {"x": Declared((2,), "float64", -1, 1)})


@pytest.mark.parametrize("dtype", ["uint64", "complex128", "object", "S3"])
def test_other_types_are_refused_with_the_cast(dtype: str) -> None:
    with pytest.raises(ProgramError, match=r"private arrays hold no .*; write "):
        Declared((2,), dtype, 0, 1).array("x", 16)


def test_declarations_need_bounds() -> None:
    with pytest.raises(ProgramError, match="the input x has no bounds; declare min and max for it"):
        Declared((2,)).array("x", 16)
    with pytest.raises(ProgramError, match="min 2 above max 1"):
        Declared((2,), "float64", 2, 1).array("x", 16)
    assert Declared((2,), "uint8").array("x", 16).interval == (0, 255)


def test_wide_inputs_are_computed_in_128_bits() -> None:
    huge = {"x": Declared((3,), "float64", 0, 2.0**60)}
    values = {"x": numpy.array([2.0**60, 1.0, 0.5])}
    found = compare(lambda x: x + x, values, huge)
    assert found.outputs["result"].array.ring == 128


def test_a_number_outside_its_declaration_breaks_the_evaluation() -> None:
    from tacit.plan.programs.evaluation import BrokenFact

    found = traced(lambda x: x + 1, x=Declared((1,), min=0, max=1))
    with pytest.raises(BrokenFact, match="breaks its interval"):
        run(found, {"x": numpy.array([1.5])})


def test_every_node_leaves_the_slack_of_its_ring_free() -> None:
    found = traced(lambda x: np.var(x) * np.sum(x) ** 2, x=Declared((9,), min=-1000, max=1000))
    nodes: list[Node] = reachable(found.outputs.values())
    assert all(node.array.largest < 1 << node.array.ring - 2 for node in nodes)


def test_too_wide_says_what_the_interval_is() -> None:
    error = TooWide("the product", -(1 << 200), 1 << 200, 16, 12)
    assert str(error).startswith("line 12: the product may reach any number from -2.45199e+55 to 2.45199e+55")


@pytest.mark.parametrize("fraction", [4, 8, 16])
def test_shares_of_a_softmax_are_never_negative(fraction: int) -> None:
    """What is known of them follows from the inverse of their sum; of so many numbers that it may be held as a negative
    one, no program is made."""

    def inverse_of(size: int) -> Array:
        inputs = {"x": Declared((1, size), "float64", -1, 1)}
        made = trace(lambda x: np.softmax(x), inputs, Settings(fraction)).outputs
        assert made["result"].array.low == 0
        (found,) = (node.array for node in reachable(made.values()) if isinstance(node.operation, Divide))
        return found

    most = 1 << fraction + 3
    assert inverse_of(most // 2).low > 0
    assert inverse_of(most * 3 // 4).low >= 0
    for size in (most, 4 * most):
        with pytest.raises(ProgramError, match=f"softmax of {size:,} numbers gives shares that {fraction} bits after"):
            inverse_of(size)


@pytest.mark.parametrize("factor", [1.0, 64.0, 2.0**17])
def test_shares_of_a_softmax_have_bounds_of_their_own(factor: float) -> None:
    """However large the error of its argument is: the last one's is the whole range of the result."""
    values = {"x": numpy.random.default_rng(SEED).uniform(-1, 1, (5, 4))}
    array = compare(lambda x: np.softmax(x * factor, axis=1), values).outputs["result"].array
    assert 0 <= array.low <= array.high <= 1.01 * 2**16
    assert array.absolute_error <= 1.01

"""Lowered programs compute what their graphs do: bit for bit where truncations are floor, else within the error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.tracing import Traced, trace
from tacit.plan.physical.lower_program import Lowered, lower_program
from tacit.plan.programs.evaluation import Evaluation, decoded, encoded
from tacit.plan.programs.forms import NAMED
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Divide, Floor, Function, Input, Truncate
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.release import released, showing

from .instructions import evaluate
from .running import SEED, declaration, same
from .test_numpy import CASES, VALUES
from .test_programs import VALUES as PROGRAMS
from .test_random_programs import SHAPE, Step, at_the_ends, program, steps

ROUNDED = (Function, Divide)


def lowered(traced: Traced) -> tuple[dict[str, Node], Lowered]:
    """What is released of a program, and its instructions."""
    outputs = released(traced.graph, optimised(traced.graph, traced.outputs).after)
    return outputs, lower_program(outputs)


def computed(found: Lowered, values: Mapping[str, Any]) -> dict[str, Any]:
    """The integers of the outputs, by the instructions alone."""
    inputs = [node.operation for node in found.inputs]
    given = [encoded(values[each.name], each.array) for each in inputs if isinstance(each, Input)]
    done = evaluate([each.json() for each in found.instructions], given, Random(SEED))
    return {name: done[place] for name, place in found.places.items()}


def check(traced: Traced, values: Mapping[str, Any], true: Mapping[str, Any]) -> None:
    """Assert that the instructions give the graph's integers, and NumPy's numbers within the error."""
    outputs, found = lowered(traced)
    assert_released_by_floor(outputs, found)
    results = computed(found, values)
    for name, node in outputs.items():
        same(decoded(results[name], node.array), true[name], node.array.absolute_error)
    if traced.graph.settings.rounding == "floor" and not any(map(is_rounded, _all(outputs))):
        inputs = {name: encoded(value, traced.inputs[name].array) for name, value in values.items()}
        expected = Evaluation(inputs, Random(SEED)).run(outputs.values())
        for name, integers in zip(outputs, expected, strict=True):
            assert (results[name] == integers).all()


EXACT = {"floor": "bits", "truncate": "bits", "multiply": "cut", "matmul": "cut", "convolve": "cut"}


def assert_released_by_floor(outputs: Mapping[str, Node], found: Lowered) -> None:
    """Every way back from an output ends at an input, a constant, or a cut by floor: told from the JSON, too."""
    assert not showing(outputs.values())
    nodes, waiting, seen = [each.json() for each in found.instructions], list(found.places.values()), set[int]()
    while waiting:
        place = waiting.pop()
        node = nodes[place]
        cut = node.get(EXACT.get(node["op"], ""), 0)
        if place in seen or (cut and node.get("floor", True) is True):
            continue
        assert not cut and node["op"] not in ("function", "divide"), f"{node} is released as it was rounded"
        seen.add(place)
        waiting += node["args"]


def is_rounded(node: Node) -> bool:
    return isinstance(node.operation, ROUNDED)


def _all(outputs: Mapping[str, Node]) -> Iterable[Node]:
    waiting = list(outputs.values())
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.args)


def named(result: Any) -> dict[str, Any]:
    return (
        dict(zip(map(str, range(len(result))), result, strict=True))
        if isinstance(result, tuple)
        else {"result": result}
    )


@pytest.mark.parametrize("rounding", ["dither", "floor"])
@pytest.mark.parametrize("name", CASES)
def test_functions(name: str, rounding: Rounding) -> None:
    function = CASES[name]
    values = {each: VALUES[each] for each in function.__code__.co_varnames[: function.__code__.co_argcount]}
    traced = trace(function, {each: declaration(value) for each, value in values.items()}, Settings(16, rounding))
    check(traced, values, named(function(**values)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, values, close = PROGRAMS[name]
    traced = trace(function, {each: declaration(value) for each, value in values.items()}, Settings())
    outputs, found = lowered(traced)
    result = decoded(computed(found, values)["result"], outputs["result"].array)
    assert numpy.abs(numpy.asarray(result, dtype=float) - function(**values)).max() < close


@pytest.mark.parametrize("rounding", ["dither", "floor"])
def test_random_programs(rounding: Rounding) -> None:
    run = 0

    @seed(SEED)
    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=True)
    @given(steps, st.sampled_from([1.0, 3.7, 255.0]), st.integers(0, 2**32))
    def holds(drawn: list[Step], most: float, coin: int) -> None:
        nonlocal run
        draw = Random(coin)
        values = {name: at_the_ends(most, draw) for name in "xy"}
        inputs = {name: Declared(SHAPE, "float64", -most, most) for name in "xy"}
        try:
            traced = trace(lambda x, y: program(drawn, x, y), inputs, Settings(16, rounding))
            lowered(traced)
        except ProgramError:
            return
        run += 1
        check(traced, values, {"result": program(drawn, *values.values())})

    holds()
    assert run > 15


# --- what is released -----------------------------------------------------------------------------------------------

X = {"x": Declared((4, 4), "float64", -4, 4), "y": Declared((4, 4), "float64", -4, 4)}


def shown(function: Any) -> list[str]:
    """What is behind an output with no cut by floor between, before the release's own cuts."""
    traced = trace(function, X, Settings())
    return sorted(type(node.operation).__name__ for node in showing(traced.outputs.values()))


def test_what_shows_in_an_output() -> None:
    assert shown(lambda x, y: x + y) == []
    assert shown(lambda x, y: x * y) == ["Truncate"]
    assert shown(lambda x, y: (x * y)[0] + np.exp(y)[1]) == ["Function", "Truncate"]
    assert shown(lambda x, y: 3 * (x * y)) == ["Truncate"]
    assert shown(lambda x, y: x * y > x) == ["Truncate"]
    assert shown(lambda x, y: np.argmax(x @ y, axis=1)) == ["Truncate"]
    assert shown(lambda x, y: np.floor(x * y)) == []
    assert shown(lambda x, y: (x * y) * x) == ["Truncate"]


def test_a_number_that_shows_is_cut_once() -> None:
    """A product that is released and goes on is one truncation, by floor at both."""
    traced = trace(lambda x, y: (x * y, np.exp(np.clip(x * y, -2, 2))), X, Settings())
    outputs, _ = lowered(traced)
    cuts = {node.number: node.operation for node in _all(outputs) if isinstance(node.operation, Truncate)}
    assert len(cuts) == 2 and all(each.floor for each in cuts.values())


def test_a_released_function_has_a_guard_bit() -> None:
    traced = trace(lambda x, y: np.exp(x), X, Settings())
    outputs, _ = lowered(traced)
    (result,) = outputs.values()
    assert result.operation == Truncate(1, True)
    assert result.args[0].operation == Function("exp", 17)
    assert result.array.fraction == 16 and result.array.error <= traced.outputs["result"].array.error


def test_a_released_function_without_room_for_one_has_a_last_bit_of_zero() -> None:
    traced = trace(lambda x, y: np.sigmoid(x), X, Settings(24))
    outputs, found = lowered(traced)
    assert outputs["result"].array.fraction == 24
    assert found.instructions[-1].op == "shift" and not showing(outputs.values())
    values = {"x": VALUES["x"][:, :4]}
    same(decoded(computed(found, values)["result"], outputs["result"].array), np.sigmoid(values["x"]), 1e-5)


def test_nothing_more_is_cut_where_nothing_shows() -> None:
    traced = trace(lambda x, y: np.floor(x) + np.where(x > y, 1, 0), X, Settings())
    after = optimised(traced.graph, traced.outputs).after
    assert released(traced.graph, after) == after
    assert any(isinstance(node.operation, Floor) for node in _all(after))


# --- instructions ---------------------------------------------------------------------------------------------------


def ops(function: Any, inputs: Mapping[str, Declared] = X) -> list[str]:
    _, found = lowered(trace(function, inputs, Settings()))
    return [each.op for each in found.instructions]


def test_a_product_and_its_truncation_are_one_instruction() -> None:
    assert ops(lambda x, y: x @ y) == ["input", "input", "matmul"]
    assert ops(lambda x, y: x * y) == ["input", "input", "multiply"]


def test_a_product_that_others_take_too_is_not_cut() -> None:
    whole = {"x": Declared((4,), "int32", -99, 99), "y": Declared((4,), "int32", -99, 99)}
    assert ops(lambda x, y: (x * y, x * y + x), whole) == ["input", "input", "multiply", "add"]


def test_moved_points_and_types_need_nothing() -> None:
    whole = {"x": Declared((4,), "int32", -9, 9)}
    assert ops(lambda x: x.astype(np.int8), whole) == ["input"]
    assert ops(lambda x: x / 4, whole) == ["input", "reshape"]


def test_known_bounds_are_those_of_the_instruction_that_makes_the_numbers() -> None:
    _, found = lowered(trace(lambda x, y: np.softmax(x), X, Settings()))
    exp = next(each for each in found.instructions if each.op == "function")
    assert found.instructions[exp.args[0]].high == "0"


def test_checked_bounds_are_one_bit() -> None:
    def steps(x: Any, y: Any) -> Any:
        w = np.bound(x + y, 3, check=True)
        return np.bound(w * w, 2, check=True).sum()

    _, found = lowered(trace(steps, X, Settings(rounding="floor")))
    outside = [each for each in found.instructions if each.op == "outside"]
    assert [dict(each.parameters) for each in outside] == [
        {"from": str(-3 << 16), "to": str(3 << 16)},
        {"from": str(-2 << 16), "to": str(2 << 16)},
    ]
    assert found.outside == len(found.instructions) - 1
    last = found.instructions[found.outside]
    assert (last.op, last.shape, last.ring) == ("largest", (), 1)
    (joined,) = (found.instructions[place] for place in last.args)
    assert joined.shape == (32,)
    for each in outside:
        (checked,) = each.args
        same = next(other for other in found.instructions if other.op == "reshape" and other.args == (checked,))
        bounds = dict(each.parameters)
        made = found.instructions[checked]
        assert int(same.high) < int(made.high), "compared within its own bounds"
        assert max(int(bounds["from"]), int(made.low)) == int(same.low) and int(same.high) == int(bounds["to"])
    assert [node.operation.low for node in found.checked] == [-3 << 16, -2 << 16]


def test_a_bound_that_is_proved_is_not_checked() -> None:
    _, found = lowered(trace(lambda x, y: np.bound(x, 64, check=True) + y, X, Settings()))
    assert (found.checked, found.outside) == ((), None)
    assert "outside" not in [each.op for each in found.instructions]
    bits = {"b": Declared((4,), "bool")}
    _, found = lowered(trace(lambda b: np.bound(b, 1, check=True), bits, Settings()))
    assert found.outside is None


def test_a_bound_beside_all_numbers_is_checked() -> None:
    """It never holds. Its numbers keep the bounds that are proved."""
    far = {"x": Declared((2,), "int32", 5, 9)}
    _, found = lowered(trace(lambda x: np.bound(x, 1, check=True), far, Settings()))
    (outside,) = (each for each in found.instructions if each.op == "outside")
    assert dict(outside.parameters) == {"from": "-1", "to": "1"}
    result = found.instructions[found.places["result"]]
    assert (result.low, result.high) == ("5", "9")


def test_the_page_lists_all_instructions() -> None:
    page = (Path(__file__).parents[2] / "docs" / "placed-plan.md").read_text()
    table = page[page.index("<!-- instructions -->") :]
    rows = [line.split("|")[1] for line in table[: table.index("<!-- end -->")].splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == {*NAMED, "input", "constant", "sample", "outside", "clip"} - {"scale", "cast", "check"}


def test_an_integer_that_its_type_does_not_hold_is_not_released() -> None:
    small = {"x": Declared((4,), "int8")}
    with pytest.raises(ProgramError, match=r"from -256 to 254, and int8 holds -128 to 127; bound it with np\.clip"):
        ops(lambda x: x + x, small)
    assert ops(lambda x: x.astype(np.int64) + x, small) == ["input", "add"]
    assert ops(lambda x: np.clip(x + x, -128, 127), small)[-1] == "clip"

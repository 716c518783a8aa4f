"""Programs on the engines: bit for bit what the evaluation in clear gives where truncations are floor, and NumPy's
numbers within the declared error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit import _native
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.wide_ring import in_wide_ring
from tacit.plan.programs.evaluation import Evaluation, decoded, encoded
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import Divide, Function, Input
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.release import released

from .engines import Engine, outcomes, placed, run
from .running import SEED, same
from .test_lowering import named
from .test_numpy import CASES, CHECKED, VALUES
from .test_random_programs import BINARY, UNARY, at_the_ends, program

ENGINES: list[Engine] = ["clear", "rep3", "two"]
PUBLIC = {"power zero"}
"""What is known without the numbers."""
LONG = CHECKED - {"solve", "cholesky"}
"""What takes hundreds of rounds."""
RUNS: list[tuple[Engine, Rounding]] = [("clear", "floor"), ("rep3", "floor"), ("two", "floor"), ("rep3", "dither")]
ROUNDED = (Function, Divide)


def check(function: Callable[..., Any], values: Mapping[str, Any], engine: Engine, rounding: Rounding) -> None:
    """Assert that an engine gives NumPy's numbers within the error, and the evaluation's where nothing else rounds."""
    plan = placed(function, values, engine, Settings(16, rounding))
    again = read(plan.query)
    outputs = released(again.graph, optimised(again.graph, again.outputs).after)
    if engine == "four":
        outputs = in_wide_ring(again.graph, outputs)[1]
    facts = {node.operation.name: node.array for node in reachable(again.outputs.values()) if is_input(node)}
    given = {name: encoded(values[name], array) for name, array in facts.items()}
    found = run(plan, given, engine)
    true = named(function(**values))
    for name, node in outputs.items():
        same(decoded(found[name], node.array), true[name], node.array.absolute_error)
    if rounding == "floor" and not any(isinstance(node.operation, ROUNDED) for node in reachable(outputs.values())):
        expected = Evaluation(given, Random(SEED)).run(outputs.values())
        for name, integers in zip(outputs, expected, strict=True):
            assert (found[name] == integers).all(), name


def is_input(node: Node) -> bool:
    return isinstance(node.operation, Input)


@pytest.mark.parametrize(("engine", "rounding"), RUNS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in LONG else ()) for name in CASES]
)
def test_functions(name: str, engine: Engine, rounding: Rounding) -> None:
    function = CASES[name]
    values = {each: VALUES[each] for each in function.__code__.co_varnames[: function.__code__.co_argcount]}
    if name in PUBLIC:
        with pytest.raises(ProgramError, match="reads no owner's array"):
            placed(function, values, engine, Settings(16, rounding))
    else:
        check(function, values, engine, rounding)


def descent(x: Any, w: Any) -> Any:
    for _ in range(4):
        w = np.bound(w - 0.5 * np.sum(x * (x * w - 1)) / 4, 3, check=True)
    return w


@pytest.mark.parametrize(("engine", "rounding"), RUNS)
def test_a_checked_bound_that_holds_changes_nothing(engine: Engine, rounding: Rounding) -> None:
    values = {"x": numpy.array([1, -1, 0.5, 0.5]), "w": numpy.array([0.25, -0.5])[:, None]}
    check(lambda x, w: descent(x, w), values, engine, rounding)


FAR: dict[str, Callable[[Any], Any]] = {
    "product": lambda w: w * w,
    "function": lambda w: np.exp(w),
    "quotient": lambda w: 1 / (w + 4),
    "order": lambda w: np.argsort((w * 256).astype(np.int64), stable=True),
    "table": lambda w: np.sigmoid(w) + np.sin(w),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAR)
def test_a_checked_bound_that_does_not_hold_ends_the_run(name: str, engine: Engine) -> None:
    """The one bit is opened to all nodes, in a run that ends in order at each; whatever comes of numbers beyond it."""
    values = {"x": numpy.array([0.5, -900.0, 2.0])}
    plan = placed(lambda x: FAR[name](np.bound(x, 3, check=True)), values, engine, Settings())
    facts = next(each.array for each in read(plan.query).graph.nodes.values() if is_input(each))
    given = {"x": encoded(values["x"], facts)}
    ends = outcomes(plan, given, engine)
    assert [str(each) for each in ends] == [WITHHELD] * (1 if engine == "clear" else len(plan.nodes))
    assert all(isinstance(each, _native.WithheldError) and each.step == "6.release" for each in ends), ends
    given["x"][1] = 0
    assert not any(isinstance(each, Exception) for each in outcomes(plan, given, engine))


WITHHELD = "a bound that the program checks does not hold, so that nothing is revealed; bound the array more widely"


DRAWN = 12
"""Random programs of each engine and rounding."""


@pytest.mark.parametrize(("engine", "rounding"), RUNS)
def test_random_programs(engine: Engine, rounding: Rounding) -> None:
    draw, run_ = Random(SEED), 0
    while run_ < DRAWN:
        names = [draw.choice([*BINARY, *UNARY]) for _ in range(draw.randint(1, 5))]
        drawn = [(name, draw.randrange(99), draw.randrange(99), draw.uniform(-20, 20)) for name in names]
        values = {each: at_the_ends(draw.choice([1.0, 3.7, 255.0]), draw) for each in "xy"}
        try:
            check(lambda x, y, drawn=drawn: program(drawn, x, y), values, engine, rounding)
        except ProgramError:
            continue
        run_ += 1


def test_a_program_of_bits_and_wide_numbers() -> None:
    values = {
        "n": numpy.array([(1 << 61) + 1, -(1 << 61), 7], dtype=numpy.int64),
        "b": numpy.array([True, False, True]),
    }
    for engine in ENGINES:
        check(lambda n, b: (n.sum(), b & (n > 0), n * b), values, engine, "floor")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "erf", "exp", "log", "sqrt", "rsqrt", "sin", "cos"])
def test_functions_stay_within_what_is_proved(name: str, engine: Engine) -> None:
    """At both ends of their arguments, where comparisons take as few bits as the proved range has."""
    below = name not in ("log", "sqrt", "rsqrt")
    ends = (-20.0, 11.0 if name == "exp" else 20.0) if below else (1 / 64, 20.0)
    values = {"x": numpy.concatenate([numpy.linspace(*ends, 300), numpy.full(300, ends[0]), numpy.full(300, ends[1])])}
    plan = placed(lambda x: getattr(np, name)(x), values, engine, Settings(16, "dither"))
    again = read(plan.query)
    node = again.outputs["result"]
    facts = next(each.array for each in reachable([node]) if is_input(each))
    found = run(plan, {"x": encoded(values["x"], facts)}, engine)["result"]
    assert node.array.low <= found.min() <= found.max() <= node.array.high


def test_what_is_joined_has_a_type_for_all() -> None:
    values = {"i": numpy.array([127, -128], numpy.int8), "u": numpy.array([255], numpy.uint8)}
    for joined in (
        lambda i, u: np.concatenate([i, u]),
        lambda i, u: np.concatenate([i > 0, u]),
        lambda i, u: np.stack([i[:1], u]),
    ):
        check(joined, values, "clear", "floor")


@pytest.mark.parametrize("engine", ["clear", "rep3"])
def test_functions_of_products_that_are_not_cut(engine: Engine) -> None:
    """At the ends of the series' intervals, too."""
    values = {"x": numpy.linspace(-4, 4, 9), "y": numpy.full(9, 4.0)}
    check(lambda x, y: (np.sigmoid(x * y), np.tanh(x * y / 4 * 1.25), np.erf(x * y * 0.1875)), values, engine, "dither")


@pytest.mark.parametrize("fraction", [8, 13, 16, 18])
def test_engines_take_functions_of_products_at_all_precisions(fraction: int) -> None:
    """A plan is read by the native module, which computes the error of its angles."""
    values = {"x": numpy.array([-4.0, 4.0]), "y": numpy.array([4.0, 4.0])}
    plan = placed(lambda x, y: (np.sigmoid(x * y), np.tanh(x * y * 0.3125)), values, "rep3", Settings(fraction))
    assert total(predict(plan)).rounds > 0

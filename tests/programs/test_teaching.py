"""What private arrays refuse: one sentence with the line and what to write instead, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program, program
from tacit.array.tracing import trace
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError

from .running import compare, run

INPUTS = {"x": Declared((4,), "float64", -1, 1), "m": Declared((3, 4), "int64", 0, 9)}

REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "float": (lambda x, m: float(x[0]), "is no Python number"),
    "int": (lambda x, m: int(m[0, 0]), "is no Python number"),
    "iteration": (lambda x, m: [*x], "cannot be iterated over"),
    "mask": (lambda x, m: x[x > 0], "a private mask cannot select elements"),
    "index": (lambda x, m: x[m[0, 0]], "a private value cannot be a position"),
    "conversion": (lambda x, m: numpy.asarray(x), "cannot become a NumPy array"),
    "positions": (lambda x, m: np.where(x > 0), "np.where with a condition alone"),
    "nonzero": (lambda x, m: numpy.nonzero(m), "a private mask cannot select elements"),
    "unique": (lambda x, m: numpy.unique(m), "tacit.numpy.unique(x, size=bound)"),
    "other function": (lambda x, m: numpy.linalg.slogdet(m), "np.slogdet is not supported"),
    "other ufunc": (lambda x, m: np.mod(x, 2) + numpy.arctan(x), "np.arctan is not supported"),
    "division": (lambda x, m: 1 / x, "may be zero by its bounds; declare min above zero"),
    "logarithm": (lambda x, m: np.log(x), "log needs numbers above zero"),
    "root": (lambda x, m: np.sqrt(x), "sqrt needs numbers of at least zero"),
    "exp": (lambda x, m: np.exp(x * 100), "declare tighter bounds"),
    "overflow": (lambda x, m: (m + 1) ** 60, "declare tighter bounds for the inputs, bound the array with np.clip, or"),
    "shapes": (lambda x, m: m + m.T, "could not be broadcast together"),
    "inner length": (lambda x, m: m @ m, "needs the inner length 4 twice"),
    "view": (lambda x, m: _changed_view(x), "shares its elements"),
    "cast": (lambda x, m: m.astype(np.int8) * 0 + (m * 100).astype(np.int8), "int8 holds numbers from -128 to 127"),
    "integers in place": (lambda x, m: _in_place(m), "cannot take numbers with a point in place"),
    "unchecked bound": (lambda x, m: np.bound(x, 1), "a bound that nothing checks"),
    "infinite": (lambda x, m: x * numpy.inf, "infinite or not a number"),
    "complex": (lambda x, m: x * 1j, "private arrays hold no complex128"),
}


def _changed_view(x: Any) -> Any:
    y = x[1:]
    x += 1
    return y


def _in_place(m: Any) -> Any:
    m *= 0.5
    return m


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str) -> None:
    function, sentence = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        trace(function, INPUTS, Settings())
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_refusal_names_the_line() -> None:
    def wide(x: Any) -> Any:
        y = x * 1
        for _ in range(200):
            y = y * y + x
        return y

    with pytest.raises(ProgramError, match=r"declare tighter bounds") as caught:
        trace(wide, {"x": Declared((2,), "float64", -100, 100)}, Settings())
    assert caught.value.line == wide.__code__.co_firstlineno + 3


def _branch(x: Any, m: Any) -> Any:
    if x.sum() > 0:
        return x
    return m


def _while(x: Any, m: Any) -> Any:
    y = x + 1
    while y[0] > 0:
        y = y - 1
    return y


def _words(x: Any, m: Any) -> Any:
    return np.where(x[0] > 0 and x[1] > 0, x, 0)


def _chain(x: Any, m: Any) -> Any:
    return np.where(-0.5 < x < 0.5, x, 0)


def _for(x: Any, m: Any) -> Any:
    total = 0
    for each in x * 2:
        total += each
    return total


def _python_sum(x: Any, m: Any) -> Any:
    return sum(x)


SOURCES = {
    _branch: (1, "the private condition `x.sum() > 0` decides which way"),
    _while: (2, "cannot decide how often a loop runs"),
    _words: (1, "write (x[0] > 0) & (x[1] > 0)"),
    _chain: (1, "write (a < x) & (x < b)"),
    _for: (2, "cannot be iterated over"),
    _python_sum: (1, "write np.sum instead"),
}


@pytest.mark.parametrize("function", SOURCES, ids=lambda function: function.__name__)
def test_the_source_is_refused_before_anything_runs(function: Callable[..., Any]) -> None:
    line, sentence = SOURCES[function]
    with pytest.raises(ProgramError) as caught:
        Program(function, INPUTS, Settings()).check()
    assert sentence in str(caught.value)
    assert caught.value.line == function.__code__.co_firstlineno + line


def test_public_conditions_stay() -> None:
    @program(x=INPUTS["x"])
    def fine(x: Any, steps: int = 3) -> Any:
        total = np.zeros(len(x))
        if x.shape[0] > 2 and steps > 1:
            for _ in range(steps):
                total = total + x
        return total

    assert fine.check() == []
    assert (fine(numpy.ones(4)) == 3).all()


def test_choices_and_loops_are_rewritten() -> None:
    @program(x=INPUTS["x"], y=INPUTS["x"])
    def elements(x: Any, y: Any) -> Any:
        z = np.zeros(4)
        total = 0.0
        for i in range(4):
            z[i] = x[i] * y[i] - 2 * x[i]
            total += x[i] * y[i]
        top = x[0] if x[0] > y[0] else y[0]
        return z, total, top

    assert [each.partition(": ")[2] for each in elements.check()] == [
        "`x[0] if x[0] > y[0] else y[0]` is computed as np.where(condition, a, b)",
        "the loop over i is computed on whole vectors",
    ]
    assert len(elements.traced.graph.nodes) < 25
    x, y = numpy.array([1, -1, 0.25, 0.5]), numpy.array([0.5, 1, -1, 0.75])
    found = run(elements.traced, {"x": x, "y": y})
    for each, true in zip(found.values(), elements(x, y), strict=True):
        assert numpy.allclose(numpy.asarray(each, dtype=float), true, atol=1e-3)


def test_loops_with_carried_elements_stay() -> None:
    @program(x=INPUTS["x"])
    def carried(x: Any) -> Any:
        z = np.zeros(4)
        for i in range(1, 4):
            z[i] = z[i - 1] + x[i]
        for i in range(4):
            z[i] = z[i] * x[3]
        return z

    assert carried.check() == []
    x = numpy.array([0.25, 0.5, -0.5, 1])
    assert numpy.allclose(numpy.asarray(run(carried.traced, {"x": x})["result"], dtype=float), carried(x), atol=1e-3)


def test_a_checked_bound_makes_a_loop_possible() -> None:
    def steps(x: Any, w: Any) -> Any:
        for _ in range(30):
            w = np.bound(w - 0.5 * np.sum(x * (x * w - 1)) / 4, 3, check=True)
        return w

    inputs = {"x": INPUTS["x"], "w": Declared((), "float64", -1, 1)}
    values = {"x": numpy.array([1, -1, 0.5, 0.5]), "w": numpy.array(0.25)}
    compare(steps, values, inputs)
    with pytest.raises(ProgramError, match="declare tighter bounds"):
        trace(lambda x, w: _unbounded(x, w), inputs, Settings())


def _unbounded(x: Any, w: Any) -> Any:
    for _ in range(200):
        w = w - 0.5 * np.sum(x * (x * w - 1))
    return w


def test_a_bound_that_does_not_hold_withholds_the_result() -> None:
    from tacit.plan.programs.evaluation import Withheld

    traced = trace(lambda x: np.bound(x * 4, 1, check=True), {"x": INPUTS["x"]}, Settings())
    with pytest.raises(Withheld):
        run(traced, {"x": numpy.array([0, 0, 0, 1.0])})


def test_loops_over_no_elements_or_too_many() -> None:
    @program(x=INPUTS["x"])
    def none(x: Any) -> Any:
        z = np.zeros(4)
        for i in range(len(x) - 7):
            z[i] = x[i]
        return z

    assert len(none.check()) == 1
    assert (run(none.traced, {"x": numpy.ones(4)})["result"] == 0).all()

    for first, last in ((-2, 2), (0, 5)):

        @program(x=INPUTS["x"])
        def many(x: Any, first: int = first, last: int = last) -> Any:
            z = np.zeros(4)
            for i in range(first, last):
                z[i] = x[i]
            return z

        with pytest.raises(ProgramError, match="of a vector that has 0 to 3; change its range"):
            many.check()

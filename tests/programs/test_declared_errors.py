"""The errors that the planner declares of functions are those that nodes take it to declare, for what nodes compute.

Nodes' own tests write what they take it to declare, and what they compute or refuse: a line of crates/array's file is
``error NAME ERROR``, or a function, bits of the ring, bits after the point of arguments and result, bounds of its
arguments (of a quotient those of its result, too), and whether it is computed.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import cast

from tacit.plan.programs.facts import Array
from tacit.plan.programs.infer_arithmetic import DIVISION_ERROR, divide
from tacit.plan.programs.infer_functions import ERRORS, function
from tacit.plan.programs.operations import FunctionName
from tacit.plan.programs.refusals import OutOfDomain

FILE = Path(__file__).parents[2] / "crates" / "array" / "tests" / "declared.txt"
LINES = [line.split() for line in FILE.read_text(encoding="utf-8").splitlines()]
ROWS = [(name, [int(each) for each in rest], said) for name, *rest, said in LINES if name != "error"]


def number(low: int, high: int, fraction: int, ring: int) -> Array:
    return Array((1,), "fixed", low, high, fraction, ring)


def made(name: str, numbers: list[int]) -> Array | None:
    """What the planner knows of a result; None where it makes no such program."""
    ring, from_, to, *ends = numbers
    arguments = [number(low, high, from_, ring) for low, high in zip(ends[:4:2], ends[1:4:2], strict=True)]
    try:
        found = divide(*arguments, to) if name == "divide" else function(cast(FunctionName, name), arguments[0], to)
    except OutOfDomain:
        return None
    return found if found.fits and all(each.fits for each in arguments) else None


def test_declared_errors_are_those_that_nodes_know() -> None:
    theirs = {name: Fraction(error) for word, name, error in (line for line in LINES if line[0] == "error")}
    assert theirs == {**ERRORS, "divide": DIVISION_ERROR}
    assert len(ROWS) > 900


def test_results_of_exact_arguments_have_the_declared_error() -> None:
    for name, numbers, _ in ROWS:
        found = made(name, numbers)
        if found is not None:
            assert found.error == (DIVISION_ERROR if name == "divide" else ERRORS[cast(FunctionName, name)])


def test_quotients_have_the_bounds_that_nodes_are_told() -> None:
    quotients = [(numbers, made(name, numbers)) for name, numbers, _ in ROWS if name == "divide"]
    assert len(quotients) > 100
    for numbers, found in quotients:
        assert found is None or [found.low, found.high] == numbers[-2:]


def test_nodes_compute_what_the_planner_makes() -> None:
    """In the ring of 128 bits, to which the planner goes where nodes refuse that of 64
    (tacit.plan.physical.room). Where nodes refuse that, too, the planner does: it asks them.
    """
    wide = [(name, numbers, said) for name, numbers, said in ROWS if numbers[0] == 128 and made(name, numbers)]
    refused = [(name, *numbers[2:]) for name, numbers, said in wide if said == "refused"]
    assert refused == [("sqrt", 24, 1024 << from_, 4096 << from_) for from_ in (16, 20)]
    assert {name for name, _, said in wide if said == "computed"} == {*ERRORS, "divide"}

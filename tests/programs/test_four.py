"""Programs on the engine ``four``: the same texts as on other engines, with its own errors and its bound of failure."""

from __future__ import annotations

import re

import numpy
import pytest

import tacit.numpy as np
from tacit import _native
from tacit.plan import place_program
from tacit.plan.account.listing import cost_listing
from tacit.plan.account.statement import nodes_see
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.cost import power_of_two, predict, total
from tacit.plan.physical.disclosure import OpenedArray
from tacit.plan.physical.placed import PlacedPlan, ProgramStep
from tacit.plan.programs.evaluation import encoded
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Input
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.taking_part import check_queries

from .engines import outcomes, placed
from .test_engines import check
from .test_numpy import CASES, CHECKED, VALUES

X = numpy.linspace(-3.5, 3.5, 12).reshape(3, 4)
Y = numpy.linspace(-1.25, 2.0, 12).reshape(3, 4)


@pytest.mark.parametrize("rounding", ["dither", "floor"])
def test_products_comparisons_and_choices(rounding: Rounding) -> None:
    values = {"x": X, "y": Y}
    check(
        lambda x, y: (x * y * y, (x @ y.T) @ x, np.where(x < y, x, y * 2), (x * x).sum(axis=0)),
        values,
        "four",
        rounding,
    )


def test_functions_of_composed_products() -> None:
    values = {"x": X, "y": numpy.abs(Y) + 0.5}
    check(lambda x, y: (x / y, np.exp(x), np.sqrt(y), np.sort(x, axis=1)), values, "four", "dither")


@pytest.mark.nightly
@pytest.mark.parametrize("rounding", ["dither", "floor"])
@pytest.mark.parametrize("name", CASES)
def test_all_functions(name: str, rounding: Rounding) -> None:
    function = CASES[name]
    values = {each: VALUES[each] for each in function.__code__.co_varnames[: function.__code__.co_argcount]}
    if name not in CHECKED | {"power zero"}:
        check(function, values, "four", rounding)


def test_linear_algebra_is_refused() -> None:
    values = {"x": X[:3, :3] + 8 * numpy.eye(3)}
    with pytest.raises(ProgramError, match="does not hold for the products of the engine four"):
        placed(lambda x: np.linalg.inv(x, condition=16), values, "four", Settings(24))


def test_one_text_has_plans_for_all_engines() -> None:
    values = {"x": X, "y": Y}
    plans = {engine: placed(lambda x, y: x * y * y, values, engine, Settings()) for engine in ("rep3", "four")}
    rings = {
        engine: {node.ring for step in plan.steps if isinstance(step, ProgramStep) for node in step.operator.nodes}
        for engine, plan in plans.items()
    }
    assert rings == {"rep3": {64}, "four": {128}}
    errors = {engine: _declared(plan) for engine, plan in plans.items()}
    assert errors["rep3"] < errors["four"] <= 2 * errors["rep3"], errors


def _declared(plan: PlacedPlan) -> float:
    (shown,) = (each.shown for each in plan.disclosures if isinstance(each.shown, OpenedArray))
    found = re.search(r"error at most (\S+)", shown.error)
    assert found is not None, shown.error
    return float(found[1])


def test_the_bound_of_failure_is_printed() -> None:
    """Of the inner product: the outer one is released, and so rounded down, which cannot fail."""
    plan = placed(lambda x, y: x * y * y, {"x": X, "y": Y}, "four", Settings())
    failure = total(predict(plan)).failure
    largest = sum(numpy.abs(each).max() * 2**16 for each in (X, Y))
    assert X.size * largest / 2.0**128 <= failure <= X.size * (largest + 4) / 2.0**128
    assert power_of_two(failure) in (cost_listing(predict(plan)).note or "")
    assert total(predict(placed(lambda x, y: x * y * y, {"x": X, "y": Y}, "rep3", Settings()))).failure == 0.0


def test_a_program_that_may_fail_is_refused() -> None:
    values = {"x": numpy.full(1 << 10, 2.0**76), "y": numpy.full(1 << 10, 0.5)}
    with pytest.raises(ProgramError, match=re.escape("none above 2^-40 is accepted; declare tighter bounds")):
        placed(lambda x, y: x * y * y, values, "four", Settings())


def test_every_node_refuses_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan in the ring of 64 bits, as a planner would make it that does not know better. No session begins, so that
    nobody shares anything.
    """
    monkeypatch.setattr(place_program, "in_wide_ring", lambda graph, outputs: (graph, outputs))
    monkeypatch.setattr(place_program, "_check_failure", lambda plan: None)
    values = {"x": X * 2**12, "y": Y}
    plan = placed(lambda x, y: x * y * y, values, "four", Settings())
    inputs = [node for node in reachable(read(plan.query).outputs.values()) if isinstance(node.operation, Input)]
    given = {node.operation.name: encoded(values[node.operation.name], node.array) for node in inputs}
    refused = r"the engine four may give a wrong result with a probability of up to 2\^-[0-9]+, and none above 2\^-40"
    with pytest.raises(_native.InputError, match=refused):
        outcomes(plan, given, "four")


def test_queries_are_refused() -> None:
    nodes = ("a", "b", "c", "d")
    with pytest.raises(QueryError, match="runs programs on arrays and no queries on tables"):
        check_queries(Catalog(nodes, "four", nodes, ()))
    check_queries(Catalog(nodes, "rep3", nodes[:3], ()))


def test_people_read_that_one_node_is_the_threshold() -> None:
    plan = placed(lambda x, y: x * y * y, {"x": X, "y": Y}, "four", Settings())
    said = " ".join(nodes_see(plan))
    assert "four nodes are no stronger than three" in said and "a and b hold the shares" in said

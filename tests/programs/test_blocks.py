"""Programs in blocks of rows: the numbers of the whole program, within the memory that the federation declares, at the
costs that were declared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit import _native
from tacit.plan import program_blocks
from tacit.plan.account.serialise import plan_hash
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.placed import InputStep, NativeStep, PlacedPlan, ProgramStep
from tacit.plan.programs.evaluation import Integers, encoded
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError

from .engines import Engine, drive, placed, run
from .running import SEED
from .test_engines import is_input
from .test_numpy import CASES, CHECKED, VALUES

EXACT = Settings(16, "floor")


def gradient(x: Any, y: Any) -> Any:
    """Two steps of logistic regression: two passes over the rows."""
    w = np.zeros(6)
    for _ in range(2):
        w = np.clip(w - 0.1 * x.T @ (np.sigmoid(x @ w) - y) / len(y), -4, 4)
    return w


def clusters(x: Any, c: Any) -> Any:
    """A step of k-means, and which centre is nearest to each row."""
    nearest = np.argmin((c * c).sum(axis=1) - 2 * x @ c.T, axis=1)
    chosen = nearest[:, None] == numpy.arange(3)[None, :]
    return (chosen.T @ x) / np.maximum(chosen.sum(axis=0), 1)[:, None], nearest


def moments(x: Any) -> Any:
    """Totals that later passes take, sums over all axes, and a product of two arrays with rows."""
    centred = x - x.mean(axis=0)
    return centred.T @ x / len(x), x.var(axis=0), x.sum(), np.abs(x).sum(axis=1)


def shaped(x: Any, y: Any) -> Any:
    """Rows along other axes and in other units, parts of constants, and what needs all rows."""
    flat = x.reshape(-1) * numpy.linspace(0, 1, x.size)
    joined = np.concatenate([x.T, y[None, :] * x.T[:1]], axis=0)
    pairs = (x[:, None, :] @ x[:, :, None])[:, 0, 0] * numpy.arange(len(y))
    return flat.sum(), joined @ y, pairs, np.sort(x[:, 0]), x[3:5], np.where(y[:, None], x, 0.5).max(axis=1)


def checked(x: Any) -> Any:
    """A bound that is checked in each row, and at the end by one bit."""
    return np.bound(x * 3, 4, check=True).sum(axis=0)


PROGRAMS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (gradient, clusters, moments, shaped, checked)
}


def arrays(rows: int, draw: Random) -> dict[str, Any]:
    random = numpy.random.default_rng(draw.randrange(1 << 30))
    x, y, c = random.uniform(-1, 1, (rows, 6)), random.random(rows) < 0.5, random.uniform(-1, 1, (3, 6))
    return {"x": x, "y": y, "c": c}


def values_of(function: Callable[..., Any], among: Mapping[str, Any]) -> dict[str, Any]:
    return {each: among[each] for each in function.__code__.co_varnames[: function.__code__.co_argcount]}


def given_to(plan: PlacedPlan, values: Mapping[str, Any]) -> dict[str, Integers]:
    facts = {each.operation.name: each.array for each in reachable(read(plan.query).outputs.values()) if is_input(each)}
    return {name: encoded(values[name], array) for name, array in facts.items()}


def in_blocks(
    function: Callable[..., Any], values: Mapping[str, Any], engine: Engine, blocks: int, monkeypatch: Any
) -> PlacedPlan:
    """A plan of so many blocks, whatever memory it needs."""
    with monkeypatch.context() as patched:
        patched.setattr(
            program_blocks, "within", lambda _, found, whole, cut: whole() if found is None else cut(found.into(blocks))
        )
        return placed(function, values, engine, EXACT, memory=1)


def assert_same(
    function: Callable[..., Any], values: Mapping[str, Any], engine: Engine, blocks: int, monkeypatch: Any
) -> PlacedPlan:
    """Assert that blocks change nothing, to the last bit. Returns their plan."""
    whole, cut = placed(function, values, engine, EXACT), in_blocks(function, values, engine, blocks, monkeypatch)
    given = given_to(whole, values)
    true, found = run(whole, given, engine), run(cut, given, engine)
    for name, integers in true.items():
        assert (found[name] == integers).all(), f"{name}: {found[name]} instead of {integers}"
    return cut


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(SEED)
    for _ in range(2):
        rows = draw.randint(5, 40)
        values, blocks = values_of(PROGRAMS[name], arrays(rows, draw)), draw.randint(2, min(rows, 9))
        print(f"seed {SEED}: {rows} rows, {blocks} blocks")
        plan = assert_same(PROGRAMS[name], values, "clear", blocks, monkeypatch)
        assert sum(isinstance(step, InputStep) for step in plan.steps) >= blocks
        assert sum(isinstance(step, ProgramStep) for step in plan.steps) > blocks


@pytest.mark.parametrize("engine", ["rep3", "two"])
def test_blocks_change_nothing_on_shares(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing but truncations rounds, and these are exact, all engines give the same bits."""
    for function in (moments, shaped) if engine == "rep3" else (checked,):
        assert_same(function, values_of(function, arrays(11, Random(SEED))), engine, 3, monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in CASES if name not in CHECKED])
def test_every_function_in_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "power zero":  # It is known without the numbers.
        assert_same(CASES[name], values_of(CASES[name], VALUES), "clear", 2, monkeypatch)


def test_declared_costs_are_those_of_a_run() -> None:
    values = values_of(gradient, arrays(40, Random(SEED)))
    plan = placed(gradient, values, "rep3", EXACT, memory=12_000)
    costs, nodes = predict(plan), list(plan.nodes)
    assert sum(isinstance(step, InputStep) for step in plan.steps) >= 8
    operators = json.dumps([step.operator.json() for step in plan.steps if isinstance(step, NativeStep)])
    permits = json.dumps([permit.json() for permit in plan.permits])
    sessions = _native.Session.in_memory(nodes, permits, operators, engine="rep3")
    given = given_to(plan, values)
    with ThreadPoolExecutor(len(nodes)) as threads:
        list(threads.map(lambda each: drive(each, plan, given, each.me), sessions))
    met = [session.metrics() for session in sessions]
    assert sum(step["bytes_sent"] for each in met for step in each) == total(costs).bytes
    assert {sum(step["rounds"] for step in each) for each in met} == {total(costs).rounds}


def test_no_step_needs_more_memory_than_is_declared() -> None:
    values = values_of(gradient, arrays(40, Random(SEED)))
    whole = placed(gradient, values, "rep3", EXACT)
    needed = total(predict(whole)).memory_alone
    for most in (needed // 2, needed // 5):
        plan = placed(gradient, values, "rep3", EXACT, memory=most)
        assert total(predict(plan)).memory_alone <= most
    large = placed(gradient, values, "rep3", EXACT, memory=needed)
    assert large.steps == whole.steps, "what fits is not cut"
    assert plan_hash(large) != plan_hash(whole), "parties agree on what is declared"


def test_what_needs_all_rows_is_refused_with_its_need() -> None:
    values = values_of(clusters, arrays(40, Random(SEED)))
    with pytest.raises(ProgramError, match="program needs about 1 MiB of a node's memory, and the federation"):
        placed(lambda x: np.sort(x, axis=0), {"x": values["x"]}, "rep3", EXACT, memory=5_000)
    with pytest.raises(ProgramError, match=r"under .programs.. Smaller blocks of rows do not help"):
        placed(lambda c: np.linalg.inv(c[:, :3].T @ c[:, :3] + np.eye(3)), {"c": values["c"]}, "rep3", EXACT, memory=99)

"""Mutants of a guarded plan: each shows more than the guard does, and none passes for the plan that was approved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.differential.federations import make_keys
from tests.differential.running import in_clear

from tacit import _native
from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.agent.steps import secure_operators
from tacit.cli.demo.scenario import free_ports
from tacit.plan import plan_hash
from tacit.plan.physical.operators import Filter, GroupBy, Limit, Sort, inputs
from tacit.plan.physical.placed import PlacedPlan, SecureStep, Step
from tacit.plan.physical.values import Call, Integer

from . import cases
from .plans import planned, stored
from .worlds import Tables

TABLES: Tables = {
    "people": [(ssn, 0, 1, True) for ssn in range(8)],
    "visits": [
        (at, person, kind, 1) for at, (person, kind) in enumerate([(0, 0), (1, 0), (2, 0), (3, 1), (3, 1), (3, 1)])
    ],
    "calls": [],
}
"""Three persons visit with one kind, one of them three times with another, which must not be shown."""

CASE = replace(
    cases.JOINED_BY_KIND,
    query="SELECT v.kind, COUNT(*) AS n, SUM(v.cost) AS t, SUM(p.pay) AS pay "
    "FROM people p JOIN visits v ON p.ssn = v.person GROUP BY v.kind ORDER BY v.kind DESC LIMIT 1",
)

Change = Callable[[PlacedPlan], PlacedPlan]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def federation(keys: Path, tmp_path: Path) -> Federation:
    return stored(TABLES, tmp_path, keys)


@pytest.fixture
def plan(federation: Federation) -> PlacedPlan:
    return planned(CASE, federation, "a")


def step_of(plan: PlacedPlan, kind: type) -> SecureStep:
    (found,) = (each for each in plan.steps if isinstance(each, SecureStep) and isinstance(each.operator, kind))
    return found


def with_operators(plan: PlacedPlan, changed: Mapping[int, Any]) -> PlacedPlan:
    """The plan with other operators under the ids of some."""
    steps: list[Step] = [
        replace(each, operator=changed[each.id]) if isinstance(each, SecureStep) and each.id in changed else each
        for each in plan.steps
    ]
    return replace(plan, steps=tuple(steps))


def _over(operator: Any, input: int) -> Any:
    """An operator of one input over another one."""
    return replace(operator, input=input)


def guard_cut(plan: PlacedPlan) -> PlacedPlan:
    """The guard lets every group pass."""
    guard = step_of(plan, Filter).operator
    assert isinstance(guard, Filter) and isinstance(guard.predicate, Call)
    true = Call("eq", (guard.predicate.args[1], guard.predicate.args[1]), guard.predicate.kind)
    return with_operators(plan, {guard.id: replace(guard, predicate=true)})


def guard_left_out(plan: PlacedPlan) -> PlacedPlan:
    """What takes the guarded groups takes all of them."""
    guard = step_of(plan, Filter).operator
    assert isinstance(guard, Filter)
    (after,) = (each for each in plan.steps if isinstance(each, SecureStep) and guard.id in inputs(each.operator))
    cut = with_operators(plan, {after.id: _over(after.operator, guard.input)})
    return replace(cut, steps=tuple(each for each in cut.steps if each.id != guard.id))


def threshold_lowered(plan: PlacedPlan) -> PlacedPlan:
    """One unit is enough."""
    guard = step_of(plan, Filter).operator
    assert isinstance(guard, Filter) and isinstance(guard.predicate, Call)
    count, least = guard.predicate.args
    assert isinstance(least, Integer) and least.value == 2
    lower = replace(guard.predicate, args=(count, replace(least, value=1)))
    return with_operators(plan, {guard.id: replace(guard, predicate=lower)})


def rows_counted(plan: PlacedPlan) -> PlacedPlan:
    """Rows are counted in place of units."""
    groups = step_of(plan, GroupBy).operator
    assert isinstance(groups, GroupBy)
    counted = tuple(
        replace(each, function="count") if each.function == "count_distinct" else each for each in groups.aggregates
    )
    assert counted != groups.aggregates
    return with_operators(plan, {groups.id: replace(groups, aggregates=counted)})


def guard_above_the_limit(plan: PlacedPlan) -> PlacedPlan:
    """The first group is taken of all groups, so that its absence tells of it."""
    guard, sort, limit, groups = (step_of(plan, kind) for kind in (Filter, Sort, Limit, GroupBy))
    assert isinstance(guard.operator, Filter) and isinstance(sort.operator, Sort)
    (last,) = (each for each in plan.steps if isinstance(each, SecureStep) and limit.id in inputs(each.operator))
    above = {
        sort.id: replace(sort.operator, input=groups.id),
        guard.id: replace(guard.operator, input=limit.id),
        last.id: _over(last.operator, guard.id),
    }
    left_out = {guard.id, sort.operator.input}
    steps = [each for each in with_operators(plan, above).steps if each.id not in left_out]
    at = next(at for at, each in enumerate(steps) if each.id == limit.id) + 1
    moved = replace(guard, operator=above[guard.id])
    return replace(plan, steps=(*steps[:at], moved, *steps[at:]))


MUTANTS: tuple[Change, ...] = (guard_cut, guard_left_out, threshold_lowered, rows_counted, guard_above_the_limit)
EACH = pytest.mark.parametrize("change", MUTANTS, ids=lambda change: change.__name__)


@pytest.mark.parametrize("change", MUTANTS[:-1], ids=lambda change: change.__name__)
def test_a_mutant_shows_what_the_guard_hides(
    change: Change, federation: Federation, plan: PlacedPlan, tmp_path: Path
) -> None:
    found = {}
    for name, each in (("plan", plan), ("mutant", change(plan))):
        folder = tmp_path / name
        folder.mkdir()
        found[name] = in_clear(federation, each, folder).rows
    assert found["plan"] == [(0, 3, 3, 3)]
    assert found["mutant"] == [(1, 3, 3, 3)]


def test_a_guard_above_the_limit_is_no_plan(federation: Federation, plan: PlacedPlan, tmp_path: Path) -> None:
    """Rows that are filtered are in no order that may be shown, whoever approves it."""
    with pytest.raises(RunError, match="shows the order of rows"):
        in_clear(federation, guard_above_the_limit(plan), tmp_path)


@EACH
def test_a_mutant_has_another_plan_hash(change: Change, plan: PlacedPlan) -> None:
    assert plan_hash(change(plan)) != plan_hash(plan)


@EACH
def test_a_party_that_approved_a_mutant_is_refused(change: Change, plan: PlacedPlan) -> None:
    """Even if it tells the others the hash of their plan: what parties approved is compared before any share leaves."""
    told = approving({"a": plan, "b": plan, "c": change(plan)})
    assert all("approved something else" in each for each in told.values()), told


def approving(plans: dict[str, PlacedPlan]) -> dict[str, str]:
    """What each party is told that connects with the permits and operators of a plan, and the hash of the first."""
    keys = {name: _native.generate_keys(name) for name in plans}
    ports = dict(zip(plans, free_ports(len(plans)), strict=True))
    parties = [_native.Party(name, f"127.0.0.1:{ports[name]}", keys[name][1]) for name in plans]
    told_hash = plan_hash(next(iter(plans.values())))

    def connect(name: str) -> _native.Session | str:
        permits = json.dumps([each.json() for each in plans[name].permits])
        operators = json.dumps([each.json() for each in secure_operators(plans[name])])
        try:
            return _native.Session.connect(
                parties, name, list(plans), keys[name][0], told_hash, permits, operators, engine="rep3"
            )
        except _native.TacitError as error:
            return str(error)

    with ThreadPoolExecutor(len(plans)) as threads:
        found = dict(zip(plans, threads.map(connect, plans), strict=True))
    # Sessions end here, when all parties have connected.
    return {name: each if isinstance(each, str) else "connected" for name, each in found.items()}


def test_parties_that_approved_the_same_plan_connect(plan: PlacedPlan) -> None:
    assert set(approving(dict.fromkeys("abc", plan)).values()) == {"connected"}

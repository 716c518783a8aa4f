"""Slices: what enters MPC, and what each party receives of others' keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import RunError, cause
from tacit.agent.federation import Federation
from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import Aggregate, Literal, Pairs, Project, Relation, Sort, Union
from tacit.plan.facts.fields import fields
from tacit.plan.physical.operators import Window
from tacit.plan.physical.placed import InputStep, KeysStep, LocalStep, PlacedPlan, ReleaseStep, SecureStep
from tacit.sql import compile_query

from .federations import make_keys
from .slices import ALL, BOTH, PARTIES, Row, federation_of, nobody_orders, watched

GROUPS = f"SELECT pid, COUNT(*) AS n, SUM(cost) AS total FROM {ALL} GROUP BY pid"
WINDOW = f"SELECT pid, day, SUM(cost) OVER (PARTITION BY pid ORDER BY day) AS running FROM {ALL}"
PRIVATE = f"SELECT site, COUNT(*) AS n FROM {ALL} WHERE pid IN (SELECT pid FROM {BOTH} WHERE cost > 6) GROUP BY site"


@pytest.fixture(autouse=True)
def _slices_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_orders(monkeypatch)


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), PARTIES)


ROWS_A: list[Row] = [(1, "x", "2020-01-01", 5), (1, "x", "2020-02-01", 6), (2, "x", "2020-03-01", 7)]
ROWS_B: list[Row] = [(2, "x", "2020-01-01", 5), (3, "x", "2020-02-01", 6), (None, "x", "2020-04-01", 8)]
ROWS_D: list[Row] = [(3, "x", "2020-01-01", 1), (4, "x", "2020-01-02", 2), (4, "x", "2020-01-03", 3)]
TABLES = {"at_a": ROWS_A, "at_b": ROWS_B, "at_d": ROWS_D}
KEYS = {name[-1]: {row[0] for row in rows} for name, rows in TABLES.items()}


@pytest.fixture
def federation(all_keys: Path, tmp_path: Path) -> Federation:
    return federation_of(tmp_path, all_keys, TABLES)


def sliced(federation: Federation, query: str, to: tuple[str, ...] = ("c",)) -> PlacedPlan:
    return compile_query(query, federation.catalog, to)


def keys_steps(plan: PlacedPlan) -> Iterator[KeysStep]:
    return (step for step in plan.steps if isinstance(step, KeysStep))


@pytest.mark.parametrize("query", [GROUPS, WINDOW])
def test_each_party_receives_the_keys_that_are_disclosed(query: str, federation: Federation) -> None:
    plan = sliced(federation, query)
    seen = watched(federation, plan)
    steps = list(keys_steps(plan))
    assert {step.owner for step in steps} == {"a", "b", "d"}
    for party, each in seen.items():
        assert each.error is None, party
        expected = {step.id: step.owner for step in steps if party in step.operator.to}
        assert set(each.received) == set(expected)
        for step, owner in expected.items():
            assert Counter(row[0] for row in each.received[step]) == Counter(KEYS[owner]), (party, owner)
        released = {f"{step.id}.release" for step in plan.steps if isinstance(step, ReleaseStep) and party == "c"}
        assert each.opened == {f"{step}.release" for step in expected} | released, party
    told = [each for each in plan.disclosures if each.kind == "keys"]
    assert sorted((each.site.step, each.recipients) for each in told) == sorted((s.id, s.operator.to) for s in steps)


def test_keys_are_opened_before_rows_are_shared(federation: Federation) -> None:
    plan = sliced(federation, GROUPS)
    last = max(step.id for step in keys_steps(plan))
    opened = {step.operator.input for step in keys_steps(plan)}
    assert all(step.id > last or step.id in opened for step in plan.steps if isinstance(step, InputStep))


def test_keys_are_opened_to_nobody_else(federation: Federation) -> None:
    """A plan that opens them to one more party, under the permits of the one that all approved, ends everywhere."""
    plan = sliced(federation, GROUPS)
    step = next(keys_steps(plan))
    wider = replace(step, operator=replace(step.operator, to=(*step.operator.to, "c")))
    other = replace(plan, steps=tuple(wider if each.id == step.id else each for each in plan.steps))
    seen = watched(federation, other, approved=plan)
    assert all(each.error is not None for each in seen.values())
    assert any(isinstance(each.error, _native.PolicyError) for each in seen.values())
    assert not any(each.opened or each.received for each in seen.values())


def test_shared_slices_alone_enter_mpc(federation: Federation) -> None:
    """Rows of shared keys are computed on. Of others the results enter, for the release."""
    plan = sliced(federation, WINDOW)
    figures = watched(federation, plan)["a"].figures
    last = max(step.id for step in keys_steps(plan))
    found: dict[str, list[int]] = {party: [] for party in KEYS}
    for step in plan.steps:
        if isinstance(step, InputStep) and step.id > last:
            found[step.operator.owner].append(figures[f"{step.id}.input"]["rows"])
    assert found == {"a": [1, 2], "b": [2, 1], "d": [1, 2]}, "rows of shared keys, then of others"
    (window,) = (step for step in plan.steps if isinstance(step, SecureStep) and isinstance(step.operator, Window))
    assert figures[f"{window.id}.window"]["rows"] == 4


def test_sizes_follow_from_public_keys_alone(all_keys: Path, tmp_path: Path) -> None:
    """Other values, so that other rows fulfil a condition: every message has the same size at the same place."""
    runs = []
    for name, factor in (("one", 1), ("other", -3)):
        (tmp_path / name).mkdir()
        tables = {at: [_with_cost(row, factor) for row in rows] for at, rows in TABLES.items()}
        federation = federation_of(tmp_path / name, all_keys, tables)
        plan = sliced(federation, PRIVATE)
        assert any(keys_steps(plan))
        runs.append(watched(federation, plan))
    for party, seen in runs[0].items():
        assert seen.error is None, party
        assert seen.messages == runs[1][party].messages, party


def _with_cost(row: Row, factor: int) -> Row:
    pid, site, day, cost = row
    assert isinstance(cost, int)
    return pid, site, day, 9 + factor * cost


def repeated(keys: Sort) -> Relation:
    """Without the grouping that makes keys different."""
    assert isinstance(keys.input, Aggregate)
    return keys.input.input


def outside(keys: Sort) -> Relation:
    """A number that fits in the bits of a key and is larger than any that the offer allows."""
    (only,) = fields(keys)
    return Project(keys, ((only.name, Literal(16_000_000, only.type)),))


def too_many(keys: Sort) -> Relation:
    return Union((keys,) * 3)


REPEATED = "a has given keys that repeat; ask a to check its tacit."
OUTSIDE = "a has given keys that its offer does not allow; ask a to check its tacit."


@pytest.mark.parametrize(
    ("change", "sentence"),
    [(repeated, REPEATED), (too_many, REPEATED), (outside, OUTSIDE)],
    ids=["repeated", "many", "outside"],
)
def test_wrong_keys_end_the_run(
    change: Callable[[Sort], Relation], sentence: str, all_keys: Path, tmp_path: Path
) -> None:
    """Those of a, whose other software keeps to the plan. Nobody sees an answer."""
    rows = ROWS_A[:1] if change is outside else ROWS_A
    federation = federation_of(tmp_path, all_keys, {**TABLES, "at_a": rows})
    plan = sliced(federation, GROUPS)
    step = next(each for each in keys_steps(plan) if each.owner == "a")
    (local,) = (each for each in plan.steps if isinstance(each, LocalStep) and each.id == step.id - 2)
    assert isinstance(local.relation, Sort)
    seen = watched(federation, plan, {"a": {local.id: change(local.relation)}})
    assert all(each.error is not None for each in seen.values())
    (release,) = (each.id for each in plan.steps if isinstance(each, ReleaseStep))
    assert all(f"{release}.release" not in each.opened for each in seen.values())
    told = cause([diagnose(error) for party in ("b", "d") if (error := seen[party].error) is not None])
    assert isinstance(told, RunError)
    assert told.sentence == sentence


def doubled(keys: Relation, times: int) -> Relation:
    """Each row as often as two to the power of times says."""
    (only,) = fields(keys)
    two = Union((Project(keys, (("other", reference(only)),)),) * 2)
    found = keys
    for _ in range(times):
        found = Project(Pairs(found, two), ((only.name, reference(only)),))
    return found


def test_more_keys_than_the_offer_declares_end_the_run(all_keys: Path, tmp_path: Path) -> None:
    """The permit of the size has a bound, which native code of every node checks before it makes room for them."""
    tables = {**TABLES, "at_a": ROWS_A[:1]}
    federation = federation_of(tmp_path, all_keys, tables, rows=50_000)
    plan = sliced(federation, GROUPS)
    local, *_ = (step for step in plan.steps if isinstance(step, LocalStep) and step.party == "a")
    assert isinstance(local.relation, Sort)
    seen = watched(federation, plan, {"a": {local.id: doubled(local.relation, 16)}})
    assert all(each.error is not None for each in seen.values())
    assert not any(f"{local.id + 2}.release" in each.opened for each in seen.values())
    told = cause([diagnose(error) for each in seen.values() if (error := each.error) is not None])
    assert told.sentence.startswith(f"step {local.id + 1}.input would disclose 65536 rows, more than 50000")

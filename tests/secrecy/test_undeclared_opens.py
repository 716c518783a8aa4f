"""Whatever would be opened without being in the approved account ends the run everywhere, and nothing is disclosed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.federation import Federation
from tacit.plan import plan_hash
from tacit.plan.physical.disclosure import AnnouncedRows, Disclosure, OpenedColumns, Site
from tacit.plan.physical.operators import Join, Ordered, Release, Sort
from tacit.plan.physical.placed import InputStep, PlacedPlan, ReleaseStep, SecureStep, Step

from .rehearsal import Seen, compiled, rehearse, write
from .twins import TWINS, Twins

CREDIT = TWINS[0]

Change = Callable[[PlacedPlan], PlacedPlan]


@pytest.fixture
def federation(tmp_path: Path) -> Federation:
    return write(CREDIT.scenario, CREDIT.tables, CREDIT.one, tmp_path)


@pytest.fixture
def plan(federation: Federation) -> PlacedPlan:
    return compiled(CREDIT.scenario, federation)


def release(plan: PlacedPlan) -> ReleaseStep:
    (found,) = (step for step in plan.steps if isinstance(step, ReleaseStep))
    return found


def with_step(plan: PlacedPlan, changed: Step) -> PlacedPlan:
    """The plan with the step of the same id replaced."""
    return replace(plan, steps=tuple(changed if step.id == changed.id else step for step in plan.steps))


def to_a_bureau(plan: PlacedPlan) -> PlacedPlan:
    step = release(plan)
    return with_step(plan, replace(step, operator=replace(step.operator, to=("bureau_a",))))


def to_a_bureau_as_well(plan: PlacedPlan) -> PlacedPlan:
    step = release(plan)
    return with_step(plan, replace(step, operator=replace(step.operator, to=(*step.operator.to, "bureau_a"))))


def other_columns(plan: PlacedPlan) -> PlacedPlan:
    step = release(plan)
    return with_step(plan, replace(step, operator=replace(step.operator, columns=step.operator.columns[:-1])))


def one_release_more(plan: PlacedPlan) -> PlacedPlan:
    """The joined rows are opened before they are grouped."""
    (join,) = (step for step in plan.steps if isinstance(step, SecureStep) and isinstance(step.operator, Join))
    extra = ReleaseStep(Release(99, join.id, ("bureau_a",), ("score",), (), ordered=False), ())
    after = next(at for at, step in enumerate(plan.steps) if step.id == join.id) + 1
    return replace(plan, steps=(*plan.steps[:after], extra, *plan.steps[after:]))


def released_twice(plan: PlacedPlan) -> PlacedPlan:
    """By a step of its own: a plan that has a step twice is refused before it runs (tests/native/test_faults.py)."""
    step = release(plan)
    again = replace(step, operator=replace(step.operator, id=98))
    at = plan.steps.index(step)
    return replace(plan, steps=(*plan.steps[: at + 1], again, *plan.steps[at + 1 :]))


def announced_size(plan: PlacedPlan) -> PlacedPlan:
    """The last owner's true number of rows would be told."""
    *_, step = (step for step in plan.steps if isinstance(step, InputStep))
    return with_step(plan, replace(step, operator=replace(step.operator, rows=None)))


MEMBERS: tuple[Change, ...] = (to_a_bureau, to_a_bureau_as_well, other_columns, announced_size)
"""Steps that keep their ids and have other members."""

STEPS: tuple[Change, ...] = (one_release_more, released_twice)
"""Steps that nobody approved."""

ALL = pytest.mark.parametrize("change", MEMBERS + STEPS, ids=lambda change: change.__name__)
OF_MEMBERS = pytest.mark.parametrize("change", MEMBERS, ids=lambda change: change.__name__)
OF_STEPS = pytest.mark.parametrize("change", STEPS, ids=lambda change: change.__name__)
EACH_PARTY = pytest.mark.parametrize("party", ["regulator", "bureau_a", "bureau_b"])


def assert_refused(
    seen: dict[str, Seen], *, at: set[str], error: type[_native.TacitError] = _native.PolicyError
) -> None:
    """All parties ended; the policy of those named (or of one of them, which stopped the others first) refused.

    error: what they raise, if it is not their policy that refuses.
    """
    assert all(isinstance(each.error, error | _native.PeerGoneError) for each in seen.values())
    refused = {party for party, each in seen.items() if isinstance(each.error, error)}
    assert refused
    assert refused <= at
    told = "its policy refused" if error is _native.PolicyError else "it failed"
    for party in seen.keys() - refused:
        assert any(text in str(seen[party].error) for text in (told, "it lost a peer")), party


def entries(federation: Federation, party: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in federation.ledger_path(party).read_text().splitlines()]


@ALL
def test_a_plan_that_opens_more_than_was_approved_ends_at_all(
    change: Change, federation: Federation, plan: PlacedPlan
) -> None:
    """All parties approved and execute the changed steps, under the permits of the unchanged plan."""
    changed = change(plan)
    seen = rehearse(federation, plan, dict.fromkeys(plan.nodes, changed), operators=changed)
    assert_refused(seen, at=set(plan.nodes))
    for party, each in seen.items():
        if change is not released_twice:
            assert each.opened == [], party
        else:  # the first time was approved; the refusal of the second can overtake it
            assert len(each.opened) <= (party == "regulator")
        assert each.released == {}, party
        assert [entry["kind"] for entry in entries(federation, party)] == ["approved", "failed"]


@OF_STEPS
@EACH_PARTY
def test_one_party_that_follows_another_plan_gets_nothing(
    change: Change, party: str, federation: Federation, plan: PlacedPlan
) -> None:
    """Its native session executes no step but those that it approved."""
    seen = rehearse(federation, plan, {party: change(plan)})
    assert_refused(seen, at={party}, error=_native.InternalError)
    if change is not released_twice:
        assert all(each.opened == [] for each in seen.values())
    assert all(each.released == {} for each in seen.values())


@OF_STEPS
def test_all_parties_that_follow_another_plan_get_nothing(
    change: Change, federation: Federation, plan: PlacedPlan
) -> None:
    """All parties execute the changed steps, and approved the operators of the unchanged plan."""
    seen = rehearse(federation, plan, dict.fromkeys(plan.nodes, change(plan)))
    assert_refused(seen, at=set(plan.nodes), error=_native.InternalError)
    if change is not released_twice:
        assert all(each.opened == [] for each in seen.values())
    assert all(each.released == {} for each in seen.values())


def assert_as_approved(seen: dict[str, Seen], approved: dict[str, Seen]) -> None:
    """Every party saw what the approved plan shows: the same messages, and the same values opened."""
    for party, each in seen.items():
        assert each.error is None, party
        assert each.messages == approved[party].messages, party
        assert each.opened == approved[party].opened, party
        assert each.released == approved[party].released, party


@OF_MEMBERS
@EACH_PARTY
def test_one_party_with_other_members_executes_the_approved_ones(
    change: Change, party: str, federation: Federation, plan: PlacedPlan
) -> None:
    """A step is asked for by its id: who holds another recipient, column or size cannot have it executed."""
    assert_as_approved(rehearse(federation, plan, {party: change(plan)}), rehearse(federation, plan))


@OF_MEMBERS
def test_all_parties_with_other_members_execute_the_approved_ones(
    change: Change, federation: Federation, plan: PlacedPlan
) -> None:
    seen = rehearse(federation, plan, dict.fromkeys(plan.nodes, change(plan)))
    assert_as_approved(seen, rehearse(federation, plan))


def one_step_more(plan: PlacedPlan) -> PlacedPlan:
    """The first owner's rows are sorted, for nothing."""
    at, step = next((at, step) for at, step in enumerate(plan.steps) if isinstance(step, InputStep))
    key = Ordered(step.operator.columns[0].name, descending=False, nulls_first=False)
    extra = SecureStep(Sort(98, step.id, (key,)), "")
    return replace(plan, steps=(*plan.steps[: at + 1], extra, *plan.steps[at + 1 :]))


def one_step_less(plan: PlacedPlan) -> PlacedPlan:
    """Nothing is opened at the end."""
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step, ReleaseStep)))


@pytest.mark.parametrize(
    ("change", "party"),
    [
        (one_step_more, "regulator"),
        (one_step_more, "bureau_a"),
        (one_step_more, "bureau_b"),
        (one_step_less, "regulator"),
        (one_step_less, "bureau_a"),
        (one_step_less, "bureau_b"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_party_out_of_step_ends_the_run_for_all(
    change: Change, party: str, federation: Federation, plan: PlacedPlan
) -> None:
    """Even when it holds the right plan hash: every message says to which step it belongs.

    Where the parties wait for each other in a circle, they know it after 15 times the idle timeout.
    """
    seen = rehearse(federation, plan, {party: change(plan)}, idle_timeout=0.2)
    for each in seen.values():
        assert each.error is not None
        assert each.opened == []
        assert each.released == {}


@pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins.scenario.name)
def test_without_its_permit_no_demo_gives_an_answer(twins: Twins, tmp_path: Path) -> None:
    federation = write(twins.scenario, twins.tables, twins.one, tmp_path)
    plan = compiled(twins.scenario, federation)
    unapproved = replace(plan, disclosures=tuple(d for d in plan.disclosures if d.kind == "size"))
    seen = rehearse(federation, unapproved)
    assert_refused(seen, at={*plan.nodes, *plan.clients})
    assert all(each.opened == [] and each.released == {} for each in seen.values())


def without_columns(disclosure: Disclosure) -> Disclosure:
    assert isinstance(disclosure.shown, OpenedColumns)
    return replace(disclosure, shown=replace(disclosure.shown, columns=()))


FORGERIES: dict[str, Callable[[Disclosure], Disclosure]] = {
    "recipients": lambda each: replace(each, recipients=("bureau_a",)),
    "columns": without_columns,
    "site": lambda each: replace(each, site=Site(9, "group_by")),
    "kind": lambda each: replace(each, shown=AnnouncedRows("bureau_a", ())),
    "rows": lambda each: replace(each, derivation=replace(each.derivation, rows=3)),
}


@pytest.mark.parametrize("change", FORGERIES)
def test_a_permit_must_fit_exactly(change: str, federation: Federation, plan: PlacedPlan) -> None:
    forged = tuple(map(FORGERIES[change], plan.disclosures))
    assert tuple(each.permit for each in forged) != plan.permits
    seen = rehearse(federation, replace(plan, disclosures=forged))
    assert_refused(seen, at=set(plan.nodes))
    assert all(each.opened == [] for each in seen.values())


@ALL
def test_the_plan_hash_shows_every_such_change(change: Change, plan: PlacedPlan) -> None:
    """Parties that compiled or were given different plans never share anything."""
    assert plan_hash(change(plan)) != plan_hash(plan)


@pytest.mark.parametrize("change", FORGERIES)
def test_the_plan_hash_covers_the_permits(change: str, plan: PlacedPlan) -> None:
    forged = tuple(map(FORGERIES[change], plan.disclosures))
    assert plan_hash(replace(plan, disclosures=forged)) != plan_hash(plan)

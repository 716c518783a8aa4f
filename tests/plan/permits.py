"""What a plan allows itself: permits, against those that its operators need, and exact sizes, against consents."""

from __future__ import annotations

import json
from typing import Any

from tacit import _native
from tacit.agent.steps import secure_operators
from tacit.plan.algebra.relations import Aggregate, Broadcast, Filter, FullJoin, Join, Relation, Slice
from tacit.plan.algebra.trees import children, scans
from tacit.plan.facts.readers import Readers
from tacit.plan.physical.operators import Operator, Resize, inputs
from tacit.plan.physical.placed import InputStep, LocalStep, PlacedPlan, PsiStep, SecureStep, Step


def assert_permits_are_those_needed(plan: PlacedPlan) -> None:
    """As native code makes them of the operators alone."""
    operators = json.dumps([each.json() for each in secure_operators(plan)])
    needed = json.loads(_native.permits(plan.engine, operators, nodes=list(plan.nodes), clients=list(plan.clients)))
    assert _normal(each.json() for each in plan.permits) == _normal(needed), plan.query


def _normal(permits: Any) -> list[str]:
    """Without what native code does not know: whether columns are the answer, and how many rows there may be."""
    kinds = {"answer": "opened", "value": "opened"}
    plain = [each | {"kind": kinds.get(each["kind"], each["kind"]), "rows": None} for each in permits]
    return sorted(json.dumps(each | {"recipients": sorted(each["recipients"])}, sort_keys=True) for each in plain)


def assert_exact_sizes_are_consented(plan: PlacedPlan) -> int:
    """How many local parts are shared with as many rows as they have: whatever that shows, their owners consent to."""
    assert plan.catalog is not None
    consents = {table.name: table.consents for table in plan.catalog.tables}
    parts = {step.id: step.relation for step in plan.steps if isinstance(step, LocalStep)}
    exact = [parts[local] for step in plan.steps for local in _exact(step)]
    for part in exact:
        for scan in scans(part):
            assert _shown(part, plan) <= consents[scan.table], plan.query
    return len(exact)


def assert_counts_are_consented(plan: PlacedPlan) -> int:
    """How many numbers of valid rows are opened: of rows that owners of all tables beneath let be counted."""
    assert plan.catalog is not None
    tables = {table.name: table for table in plan.catalog.tables}
    counted = [step for step in plan.steps if isinstance(step, SecureStep) and _opens_count(step.operator)]
    for step in counted:
        for name in _tables(step, plan):
            table = tables[name]
            assert "sizes" in table.consents, plan.query
            assert table.terms is None or table.terms.least_group is None, plan.query
            assert all(column.terms.least_group is None for column in table.columns), plan.query
    return len(counted)


def _opens_count(operator: Operator) -> bool:
    return isinstance(operator, Resize) and operator.rows is None


def _tables(step: Step, plan: PlacedPlan) -> set[str]:
    """The tables whose rows a step's table derives from. No step beneath is a kept table."""
    steps = {each.id: each for each in plan.steps}
    match step:
        case LocalStep(relation=relation):
            return {scan.table for scan in scans(relation)}
        case InputStep(local):
            return _tables(steps[local], plan)
        case PsiStep():
            return set[str]().union(*(_tables(steps[side.local], plan) for side in step.sides))
        case SecureStep(operator):
            return set[str]().union(*(_tables(steps[each], plan) for each in inputs(operator)))
        case _:
            raise AssertionError(f"rows of {step} are counted")


def _exact(step: Step) -> list[int]:
    """The local steps whose true sizes a step announces."""
    match step:
        case InputStep(local, operator):
            return [local] if operator.rows is None and not operator.pad_to_source else []
        case PsiStep():
            return [side.local for side in step.sides if side.rows is None and not side.pad_to_source]
        case _:
            return []


def _shown(relation: Relation, plan: PlacedPlan) -> set[str]:
    """Consents to what the size of a local part tells. What all parties may read needs none."""
    below = set[str]().union(*(_shown(each, plan) for each in children(relation)))
    match relation:
        case Slice(_, keys):
            assert _are_public(relation, keys, plan), plan.query
            return set()
        case Aggregate(_, ()):
            return set()
        case Aggregate(_, keys) if _are_public(relation, keys, plan):
            return set()
        case Aggregate():
            return below | {"groups"}
        case Filter() | Join() | FullJoin():
            return below | {"filter"}
        case Broadcast(input, _):
            return _shown(input, plan)
        case _:
            return below


def _are_public(relation: Relation, columns: tuple[str, ...], plan: PlacedPlan) -> bool:
    """Whether all who compute, and all who get the answer, may read columns and which rows there are."""
    assert plan.catalog is not None
    readers, everyone = Readers(plan.catalog), {*plan.nodes, *plan.recipients, *plan.clients}
    found = readers.of(relation)
    return all(everyone <= each for each in (readers.of_rows(relation), *(found[name] for name in columns)))

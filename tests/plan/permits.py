"""A plan's permits against those that its operators need, as native code makes them of the operators alone."""

from __future__ import annotations

import json
from typing import Any

from tacit import _native
from tacit.agent.steps import secure_operators
from tacit.plan.physical.placed import PlacedPlan


def assert_permits_are_those_needed(plan: PlacedPlan) -> None:
    operators = json.dumps([each.json() for each in secure_operators(plan)])
    needed = json.loads(_native.permits(plan.engine, operators, nodes=list(plan.nodes)))
    assert _normal(each.permit.json() for each in plan.disclosures) == _normal(needed), plan.query


def _normal(permits: Any) -> list[str]:
    """Without what native code does not know: whether columns are the answer, and how many rows there may be."""
    kinds = {"answer": "opened", "value": "opened"}
    plain = [each | {"kind": kinds.get(each["kind"], each["kind"]), "rows": None} for each in permits]
    return sorted(json.dumps(each | {"recipients": sorted(each["recipients"])}, sort_keys=True) for each in plain)

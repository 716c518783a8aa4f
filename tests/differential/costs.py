"""Whether a run cost what its operators declare: every step's rounds, and the bytes that each node sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit import _native
from tacit.agent.events import Event
from tacit.agent.steps import secure_operators
from tacit.plan.physical.cost import declared_link, shared_prices
from tacit.plan.physical.operators import Resize, Side
from tacit.plan.physical.placed import InputStep, NativeStep, PlacedPlan, PsiStep, SecureStep

Figures = Mapping[str, Mapping[str, Any]]
"""What a party reports of its steps, by their names."""


def last_figures(events: list[Event]) -> Figures:
    """A party's report at the end of its run."""
    steps: Figures = [event["steps"] for event in events if event["event"] == "metrics"][-1]
    return steps


def assert_as_declared(plan: PlacedPlan, figures: Mapping[str, Figures]) -> None:
    """Compare every party's figures with the declared cost for the sizes that the run had. Of a client, bytes alone: it
    knows nothing of rounds between nodes."""
    sizes = _sizes(plan, figures)
    if sizes is None:
        return
    operators = json.dumps([each.json() for each in secure_operators(plan)])
    nodes, clients = list(plan.nodes), list(plan.clients)
    link, prices = declared_link(plan), shared_prices(plan)
    costs = _native.cost(plan.engine, operators, sizes, nodes=nodes, clients=clients, link=link, prices=prices)
    for declared in costs:
        for party, sent in zip(clients, declared["bytes_sent"][len(nodes) :], strict=False):
            assert figures[party][declared["step"]]["bytes_sent"] == sent, (declared["step"], party)
        for node, sent in zip(nodes, declared["bytes_sent"], strict=False):
            metered = figures[node][declared["step"]]
            expected = declared["rounds"], declared["rounds_ahead"], sent
            found = metered["rounds"], metered["rounds_ahead"], metered["bytes_sent"]
            assert found == expected, (declared["step"], node, found, expected)


def _sizes(plan: PlacedPlan, figures: Mapping[str, Figures]) -> dict[int, int] | None:
    """What ``cost`` has to be told; None where nobody reports how many items a side of a psi has."""
    sizes: dict[int, int] = {}
    for step in plan.steps:
        if isinstance(step, PsiStep):
            for side in step.sides:
                if side.rows is None and side.pad_to_source:
                    return None
                sizes[side.local] = _items(side, figures)
        counted = isinstance(step, SecureStep) and isinstance(step.operator, Resize) and step.operator.rows is None
        if isinstance(step, InputStep | PsiStep) or counted:
            assert isinstance(step, NativeStep)
            name = f"{step.id}.{step.operator.op}"
            sizes[step.id] = figures[plan.nodes[0]][name]["rows"]
    return sizes


def _items(side: Side, figures: Mapping[str, Figures]) -> int:
    """The number of items of a side: declared, or that of the owner's rows."""
    rows: int = figures[side.owner][f"{side.local}.local"]["rows"] if side.rows is None else side.rows
    return rows

"""What a plan will cost: rounds and bytes of each secure step as its operator declares them, and the time they take.

Rounds and bytes are exact for the given row counts. Seconds follow from them: rounds wait for the network's latency,
bytes for its bandwidth, and rows for the processor, at the rates of ``NANOSECONDS_A_ROW``. These are rounded from
``make bench`` at 2^18 and 2^20 rows; ``Network`` is a loopback. Between two parties operators declare the processor's
time, too: it follows from the work that they take (crates/mpc, two/prices.rs), because a byte may stand for a few
nanoseconds or for fifty. A prediction is a guide: benches/predictions.py compares it with what runs take.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.plan.physical.operators import Join, Psi, inputs
from tacit.plan.physical.placed import InputStep, NativeStep, PlacedPlan, PsiStep

ASSUMED_ROWS = 100_000
"""Rows of an input whose size is announced only when the query runs."""

NANOSECONDS_A_ROW = {
    "input": 60,
    "filter": 60,
    "project": 60,
    "union": 20,
    "broadcast": 20,
    "join": 4_000,
    "merged join": 6_500,
    "psi": 500,
    "circuit_psi": 600,
    "group_by": 1_500,
    "aggregate": 60,
    "sort": 1_500,
    "limit": 0,
    "kept": 60,
    "keep": 60,
    "release": 60,
}
"""One party's processor time for each row of a step's largest table, on the engine ``rep3``."""

NANOSECONDS_A_ROW_OF_TWO = dict.fromkeys(NANOSECONDS_A_ROW, 60) | {"psi": 500, "circuit_psi": 600}
"""The same on the engine ``two``, where operators declare what else they take."""

FIXED_SECONDS = {"psi": 0.01, "circuit_psi": 0.015}
"""One party's processor time for a step of any size: base OTs and what is made of them."""

NativeCost = Callable[..., list[dict[str, Any]]]


@dataclass(frozen=True)
class Network:
    """Between any two parties. latency: seconds for one way. bandwidth: bytes a second and party."""

    latency: float = 0.00005
    bandwidth: float = 400e6


@dataclass(frozen=True)
class StepCost:
    """One step's cost. rows: of its output. bytes: sent by all parties together. assumed: rows rest on ASSUMED_ROWS.

    rounds_ahead: rounds of background preprocessing for this step. Its bytes are included in ``bytes``.
    circuits: those that the engine garbles or not by the declared link; garbled: those of them that it does.
    """

    step: str
    rows: int
    rounds: int
    bytes: int
    seconds: float
    assumed: bool
    circuits: int = 0
    garbled: int = 0
    rounds_ahead: int = 0


def predict(
    plan: PlacedPlan,
    rows: Mapping[int, int] | None = None,
    network: Network | None = None,
    declared: NativeCost | None = None,
) -> tuple[StepCost, ...]:
    """The predicted cost of every step that the native session executes, in order.

    rows: row counts of input steps, of the joins of psi steps and (by their ids) of the local steps that these match,
    where they are known better than by the plan. declared: what declares rounds and
    bytes, by default the native module's ``cost``.
    """
    steps = [step for step in plan.steps if isinstance(step, NativeStep)]
    if not steps:
        return ()
    counts, assumed = _input_rows(steps, rows or {})
    native = declared or _native_cost()
    operators = json.dumps([step.operator.json() for step in steps])
    link = declared_link(plan)
    choices: dict[str, Any] = {"link": link} if _chooses(plan) else {}
    choices |= {"ahead": True} if makes_ahead(plan) else {}
    found = native(plan.engine, operators, counts, nodes=list(plan.nodes), **choices)
    guessed = _assumed_steps(steps, assumed)
    sizes = counts | {step.id: int(each["rows"]) for step, each in zip(steps, found, strict=True)}
    return tuple(
        _step_cost(plan, step, each, _largest(step, sizes), network or _network(link), step.id in guessed)
        for step, each in zip(steps, found, strict=True)
    )


def declared_link(plan: PlacedPlan) -> tuple[float, float] | None:
    """Latency and bandwidth between the nodes, as the native session wants them; None if the plan declares none."""
    link = plan.catalog.link if plan.catalog else None
    return None if link is None else (link.latency, link.bandwidth)


def _network(link: tuple[float, float] | None) -> Network:
    return Network() if link is None else Network(*link)


def total(costs: tuple[StepCost, ...]) -> StepCost:
    """All steps together; they follow each other, so times add up."""
    return StepCost(
        "total",
        costs[-1].rows if costs else 0,
        sum(each.rounds for each in costs),
        sum(each.bytes for each in costs),
        sum(each.seconds for each in costs),
        any(each.assumed for each in costs),
        sum(each.circuits for each in costs),
        sum(each.garbled for each in costs),
        sum(each.rounds_ahead for each in costs),
    )


def _native_cost() -> NativeCost:
    from tacit._native import cost

    return cost


def _input_rows(steps: list[NativeStep], known: Mapping[int, int]) -> tuple[dict[int, int], set[int]]:
    """Row counts of all input and psi steps and of the sides of the latter, and which steps' are assumed."""
    counts: dict[int, int] = {}
    assumed: set[int] = set()
    for step in steps:
        if isinstance(step, InputStep):
            rows = step.operator.rows
            if rows is None and step.id not in known:
                assumed.add(step.id)
            counts[step.id] = known.get(step.id, ASSUMED_ROWS if rows is None else rows)
        elif isinstance(step, PsiStep):
            for side in step.sides:
                counts[side.local] = known.get(side.local, ASSUMED_ROWS if side.rows is None else side.rows)
            if _is_assumed(step, known):
                assumed.add(step.id)
            # A bound from the keys' domain may lie far beyond what sides of unknown size would have.
            unknown = [ASSUMED_ROWS for side in step.sides if side.rows is None]
            bounds = [*unknown] if step.rows is None else [*unknown, step.rows]
            counts[step.id] = known.get(step.id, min(bounds, default=ASSUMED_ROWS))
    return counts, assumed


def _is_assumed(step: PsiStep, known: Mapping[int, int]) -> bool:
    """Whether the rows of a join or of its sides are not known: those of a psi are announced, whatever is declared."""
    if isinstance(step.operator, Psi):
        return any(each not in known for each in (step.id, *(side.local for side in step.sides)))
    return any(side.rows is None and side.local not in known for side in step.sides)


def _assumed_steps(steps: list[NativeStep], assumed: set[int]) -> set[int]:
    """All steps whose rows follow from assumed ones."""
    found = set(assumed)
    for step in steps:
        if any(source in found for source in _sources(step)):
            found.add(step.id)
    return found


def _sources(step: NativeStep) -> tuple[int, ...]:
    """The steps whose rows a step works on: of a match the local ones of its sides."""
    return tuple(side.local for side in step.sides) if isinstance(step, PsiStep) else inputs(step.operator)


def _largest(step: NativeStep, rows: Mapping[int, int]) -> int:
    """The rows a step works on: all its inputs together, as sorts and joins do."""
    return max(sum(rows[source] for source in _sources(step)), rows[step.id])


def _step_cost(
    plan: PlacedPlan, step: NativeStep, declared: Mapping[str, Any], rows: int, network: Network, assumed: bool
) -> StepCost:
    sent = [int(each) for each in declared["bytes_sent"]]
    rounds = int(declared["rounds"])
    busiest = max(sent, default=0)
    processor = _processor_seconds(plan.engine, step, rows) + float(declared.get("processor", 0))
    seconds = rounds * network.latency + busiest / network.bandwidth + processor
    return StepCost(
        f"{step.id}.{step.operator.op}",
        int(declared["rows"]),
        rounds,
        sum(sent),
        seconds,
        assumed,
        int(declared["circuits"]) if _chooses(plan) else 0,
        int(declared.get("garbled", 0)),
        int(declared.get("rounds_ahead", 0)),
    )


def makes_ahead(plan: PlacedPlan) -> bool:
    """Whether the engine makes oblivious transfers ahead of their use, in a session of their own."""
    return plan.engine == "two"


def _chooses(plan: PlacedPlan) -> bool:
    """Whether the engine garbles circuits or not by the declared link."""
    return plan.engine == "two" and declared_link(plan) is not None


def _processor_seconds(engine: str, step: NativeStep, rows: int) -> float:
    """One party's processor time that the operator does not declare. rows: that the step works on."""
    op = step.operator.op
    rates = NANOSECONDS_A_ROW_OF_TWO if engine == "two" else NANOSECONDS_A_ROW
    rate = rates["merged join" if isinstance(step.operator, Join) and step.operator.merged else op]
    return rows * rate * 1e-9 + FIXED_SECONDS.get(op, 0)

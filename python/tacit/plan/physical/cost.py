"""What a plan will cost: rounds and bytes of each secure step, and the time they take.

Native code has the formulas and the prices; here are the sizes that they are asked for, and what comes of it. Rounds
and bytes are exact for the given row counts. A predicted time is a guide: benches/predictions.py compares it with what
runs take.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, fsum, log2

from tacit import _native
from tacit.plan.facts.catalog import Link
from tacit.plan.facts.expected import ASSUMED_ROWS
from tacit.plan.facts.fields import row_bound
from tacit.plan.physical.operators import CircuitPsi, UniversalIds, inputs
from tacit.plan.physical.placed import InputStep, LocalStep, NativeStep, PlacedPlan, PsiStep, SecureStep


@dataclass(frozen=True)
class StepCost:
    """One step's cost. rows: of its output. bytes: sent by all parties together. assumed: rows rest on ASSUMED_ROWS.

    rounds_ahead: rounds of background preprocessing for this step. Its bytes are included in ``bytes``.
    circuits: those that the engine garbles or not by the declared link; garbled: those of them that it does. memory:
    bytes of a node at the step's peak, with the tables that later steps take; memory_alone: without them. failure: the
    probability, at most, that the result is wrong.
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
    memory: int = 0
    memory_alone: int = 0
    failure: float = 0.0


def predict(
    plan: PlacedPlan, rows: Mapping[int, int] | None = None, network: Link | None = None
) -> tuple[StepCost, ...]:
    """The predicted cost of every step that the native session executes, in order.

    rows: row counts of input steps, of resizes to a number that is opened, and of the joins of psi steps. By their ids,
    those of the local steps that these match, too. They stand for those of the plan where they are known better.
    network: on which seconds are predicted, if the plan declares none.
    """
    steps = [step for step in plan.steps if isinstance(step, NativeStep)]
    if not steps:
        return ()
    guesses = {step.id: _guess(step) for step in plan.steps if isinstance(step, LocalStep)}
    counts, assumed = _input_rows(steps, rows or {}, guesses)
    guessed = _assumed_steps(steps, assumed)
    found = _native.cost(
        plan.engine,
        json.dumps([step.operator.json() for step in steps]),
        counts,
        nodes=list(plan.nodes),
        clients=list(plan.clients),
        link=declared_link(plan),
        network=None if network is None else (network.latency, network.bandwidth),
        prices=shared_prices(plan),
    )
    return tuple(_step_cost(each, step.id in guessed) for step, each in zip(steps, found, strict=True))


def declared_link(plan: PlacedPlan) -> tuple[float, float] | None:
    """Latency and bandwidth between the nodes, as the native session wants them; None if the plan declares none."""
    link = plan.catalog.link if plan.catalog else None
    return None if link is None else (link.latency, link.bandwidth)


def shared_prices(plan: PlacedPlan) -> str | None:
    """The table of prices that the parties share, as JSON; None for the default."""
    return plan.catalog.prices if plan.catalog else None


def total(costs: tuple[StepCost, ...]) -> StepCost:
    """All steps together; they follow each other, so times add up. Memory is that of the step that takes most."""
    return StepCost(
        "total",
        costs[-1].rows if costs else 0,
        sum(each.rounds for each in costs),
        sum(each.bytes for each in costs),
        fsum(each.seconds for each in costs),
        any(each.assumed for each in costs),
        sum(each.circuits for each in costs),
        sum(each.garbled for each in costs),
        sum(each.rounds_ahead for each in costs),
        max((each.memory for each in costs), default=0),
        max((each.memory_alone for each in costs), default=0),
        fsum(each.failure for each in costs),
    )


def power_of_two(probability: float) -> str:
    """The least power of two that is no smaller than a probability."""
    return f"2^{ceil(log2(probability))}"


def _guess(step: LocalStep) -> int:
    """How many rows a local result is taken to have where its size is announced: no more than it can have."""
    bound = row_bound(step.relation)
    return ASSUMED_ROWS if bound is None else min(ASSUMED_ROWS, bound)


def _input_rows(
    steps: list[NativeStep], known: Mapping[int, int], guesses: Mapping[int, int]
) -> tuple[dict[int, int], set[int]]:
    """Row counts that steps do not say: of inputs, matches with their sides, and counted rows; and which are assumed.

    guesses: of local steps, by their ids.
    """
    counts: dict[int, int] = {}
    assumed: set[int] = set()
    for step in steps:
        if isinstance(step, InputStep):
            rows = step.operator.rows if step.exact is None else step.exact
            if rows is None:
                assumed |= set() if step.id in known else {step.id}
                rows = guesses[step.local] if step.expected is None else step.expected
            counts[step.id] = known.get(step.id, rows)
        elif isinstance(step, PsiStep):
            for side in step.sides:
                counts[side.local] = known.get(side.local, guesses[side.local] if side.rows is None else side.rows)
            if _is_assumed(step, known):
                assumed.add(step.id)
            counts[step.id] = known.get(step.id, _joined_rows(step, counts))
        elif isinstance(step, SecureStep) and step.expected is not None:
            if step.id not in known:
                assumed.add(step.id)
            counts[step.id] = known.get(step.id, step.expected)
    return counts, assumed


def _joined_rows(step: PsiStep, sides: Mapping[int, int]) -> int:
    """How many rows a join of two owners is taken to have. sides: the sizes of both, by local step."""
    if isinstance(step.operator, UniversalIds):
        return sum(sides[side.local] for side in step.sides)
    # A bound from the keys' domain may lie far beyond what sides of unknown size would have.
    unknown = [ASSUMED_ROWS for side in step.sides if side.rows is None]
    return min([*unknown] if step.rows is None else [*unknown, step.rows], default=ASSUMED_ROWS)


def _is_assumed(step: PsiStep, known: Mapping[int, int]) -> bool:
    """Whether the rows of a join or of its sides are not known: but for a circuit_psi they are announced, whatever is
    declared."""
    if not isinstance(step.operator, CircuitPsi):
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


def _step_cost(found: _native.OperatorCost, assumed: bool) -> StepCost:
    return StepCost(
        found["step"],
        found["rows"],
        found["rounds"],
        sum(found["bytes_sent"]),
        found["seconds"],
        assumed,
        found["circuits"],
        found["garbled"],
        found["rounds_ahead"],
        found["memory"],
        found["memory_alone"],
        found["failure"],
    )

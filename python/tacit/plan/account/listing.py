"""What a plan does and costs, as tables of text: the same wherever they are shown, on a page or on a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.account.describe import column_text, name, rows, what, where
from tacit.plan.account.quantities import duration, memory, size
from tacit.plan.facts.expected import ASSUMED_ROWS
from tacit.plan.physical.cost import StepCost, power_of_two, total
from tacit.plan.physical.disclosure import Permit
from tacit.plan.physical.placed import PlacedPlan

LEARNT_TITLE = "What each party will learn"
"""Over the sentences of ``account``."""

JOINS_TITLE = "Joins of two owners, and rows that one party may order"
"""Over how each is done, and why."""

RESIZING_TITLE = "Padding that is dropped"
"""Over where rows that are not valid are left out, and what that saves."""

SLICING_TITLE = "Slices of rows by keys that all parties may read"
"""Over what is computed so, or could be, and why it is or not."""

LARGE = 1 << 30
"""Bytes of memory from which on a plan's page says what a node needs."""


@dataclass(frozen=True)
class Listing:
    """A table. columns: each a title and the side of its cells, "left" or "right". note: what a mark in it means."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str | None = None


def plan_listing(plan: PlacedPlan) -> Listing:
    """The placed plan: each step, where it runs, its public number of rows and what it does."""
    columns = ("step", "left"), ("where", "left"), ("rows", "right"), ("what", "left")
    steps = tuple((name(step), where(step, plan.engine), rows(step), what(step)) for step in plan.steps)
    return Listing("The placed plan", columns, steps)


def permit_listing(plan: PlacedPlan) -> Listing:
    """The plan's permits: what the nodes open, and nothing else, with each column as the steps list it."""
    columns = ("step", "left"), ("to", "left"), ("rows", "right"), ("what", "left")
    return Listing("What may be opened, and nothing else", columns, tuple(map(_permit_row, plan.permits)))


def _permit_row(permit: Permit) -> tuple[str, ...]:
    match permit.kind:
        case "size" | "count":
            what = "a number of rows"
        case "matches":
            what = "which of its own rows match"
        case "answer" | "value" | "keys":
            what = ", ".join(column_text(each.name, each.kind) for each in permit.columns)
    most = "" if permit.rows is None else f"{permit.rows:,}"
    return permit.site, ", ".join(permit.recipients), most, what


def cost_listing(costs: tuple[StepCost, ...]) -> Listing:
    """The predicted cost of each secure step and of all together."""
    title = "Predicted cost"
    if not costs:
        return Listing(title, (), (), "Nothing is sent: every party works on its own data alone.")
    ahead = any(each.rounds_ahead for each in costs)
    titles = ["rows", "sent by all", "rounds", *(["ahead"] if ahead else []), "time"]
    columns = ("step", "left"), *((title, "right") for title in titles)
    notes = [_assumption(costs)] if any(each.assumed for each in costs) else []
    whole = total(costs)
    if whole.circuits:
        share = f"{whole.garbled:,} of {whole.circuits:,}"
        notes.append(f"{share} circuits are garbled: they take less time so on this network.")
    if ahead:
        notes.append("ahead: rounds of a second session, which makes oblivious transfers while the steps before run.")
    if whole.memory >= LARGE:
        notes += [_memory_note(costs), "beyond a budget, what waits is in encrypted files of the node."]
    if whole.failure:
        bound = power_of_two(whole.failure)
        notes.append(f"the result is wrong with a probability of at most {bound}: shares may wrap.")
    note = "\n  ".join(notes) or None
    return Listing(title, columns, tuple(_cost_row(each, ahead) for each in (*costs, whole)), note)


def _memory_note(costs: tuple[StepCost, ...]) -> str:
    """What a node needs, and what is left where waiting tables go to files."""
    peak, alone = (max(costs, key=key) for key in (lambda cost: cost.memory, lambda cost: cost.memory_alone))
    return (
        f"memory of a node: about {memory(peak.memory)} in {peak.step};"
        f" with a budget at least {memory(alone.memory_alone)}, for {alone.step}."
    )


def _assumption(costs: tuple[StepCost, ...]) -> str:
    """What predicted costs rest on where a size is announced. Slices are expected to have a part of a table's rows."""
    assumes = f"~ assumes {ASSUMED_ROWS:,} rows where a size is announced only when the query runs"
    inputs = {each.rows for each in costs if each.assumed and each.step.endswith(".input")}
    return f"{assumes}." if inputs <= {ASSUMED_ROWS} else f"{assumes}, and of slices what stands above."


def _cost_row(cost: StepCost, ahead: bool) -> tuple[str, ...]:
    about = "~" if cost.assumed else ""
    rows_of = "" if cost.step == "total" else f"{about}{cost.rows:,}"
    rounds = [f"{cost.rounds:,}", *([f"{cost.rounds_ahead:,}"] if ahead else [])]
    return cost.step, rows_of, about + size(cost.bytes), *rounds, f"~{duration(cost.seconds)}"

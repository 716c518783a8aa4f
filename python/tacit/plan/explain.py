"""Explain: the placed plan, what each party learns, and the predicted cost, for people and for programs."""

from __future__ import annotations

import textwrap

from tacit.plan.account import account
from tacit.plan.cost import ASSUMED_ROWS, StepCost, predict, total
from tacit.plan.describe import name, rows, what, where
from tacit.plan.placed import JSON, InputStep, PlacedPlan, SecureStep
from tacit.plan.serialise import encoded, plan_hash, plan_json

WIDTH = 110
Row = tuple[str, ...]


def explain_text(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> str:
    """The plan for people, at most 110 columns wide. costs: predicted ones, by default those of the native module."""
    costs = predict(plan) if costs is None else costs
    sections = [
        ("Plan", _plan_lines(plan)),
        ("What each party learns", [line for each in account(plan) for line in _wrapped(each, "- ", "  ")]),
        ("Readers in clear before the answer", _reader_lines(plan)),
        ("Predicted cost", _cost_lines(costs)),
    ]
    shown = [f"{title}\n" + "\n".join(f"  {line}" for line in lines) for title, lines in sections if lines]
    return "\n\n".join([*shown, f"Plan hash {plan_hash(plan).hex()}"]) + "\n"


def explain_json(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> JSON:
    """The plan for programs: the whole placed plan, the account in sentences, the predicted cost and the hash."""
    costs = predict(plan) if costs is None else costs
    return {
        "plan": plan_json(plan),
        "learns": list(account(plan)),
        "cost": [encoded(each) for each in (*costs, *([total(costs)] if costs else []))],
        "hash": plan_hash(plan).hex(),
    }


def plan_text(plan: PlacedPlan) -> str:
    """The steps alone, as a table."""
    return "\n".join(_plan_lines(plan)) + "\n"


def _plan_lines(plan: PlacedPlan) -> list[str]:
    table: list[Row] = [("step", "where", "rows", "what")]
    table += [(name(step), where(step, plan.engine), rows(step), what(step)) for step in plan.steps]
    return _aligned(table, right={2})


def _reader_lines(plan: PlacedPlan) -> list[str]:
    """Columns under MPC that a party other than the owner may read, with all their readers."""
    lines = []
    for step in plan.steps:
        owner = {step.owner} if isinstance(step, InputStep) else set()
        for column, readers in step.readers if isinstance(step, InputStep | SecureStep) else ():
            if set(readers) - owner:
                lines += _wrapped(f"{name(step)}: {column} by {', '.join(readers)}", "", "  ")
    return lines


def _cost_lines(costs: tuple[StepCost, ...]) -> list[str]:
    if not costs:
        return []
    table: list[Row] = [("step", "rows", "rounds", "bytes", "seconds")]
    for each in (*costs, total(costs)):
        about = "~" if each.assumed else ""
        size = "" if each.step == "total" else f"{about}{each.rows:,}"
        table.append((each.step, size, f"{each.rounds:,}", f"{about}{each.bytes:,}", f"{about}{each.seconds:.3f}"))
    lines = _aligned(table, right={1, 2, 3, 4})
    if any(each.assumed for each in costs):
        lines.append(f"~ assumes {ASSUMED_ROWS:,} rows where a size is announced only when the query runs")
    return lines


def _aligned(table: list[Row], right: set[int]) -> list[str]:
    """Columns aligned; the last one is wrapped."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]) - 1)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        head = "  ".join(cells) + "  "
        lines += [line.rstrip() for line in _wrapped(row[-1], head, " " * len(head))] if row[-1] else [head.rstrip()]
    return lines


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 2, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)

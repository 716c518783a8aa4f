"""Explain: the placed plan, what each party learns, and the predicted cost, for people and for programs."""

from __future__ import annotations

import textwrap

from tacit.plan.account.clauses import tree_text
from tacit.plan.account.describe import name
from tacit.plan.account.learnt import learnt
from tacit.plan.account.listing import JOINS_TITLE, LEARNT_TITLE, Listing, cost_listing, permit_listing, plan_listing
from tacit.plan.account.serialise import encoded, plan_hash, plan_json
from tacit.plan.physical.cost import StepCost, predict, total
from tacit.plan.physical.placed import InputStep, KeptStep, PlacedPlan, PsiStep, SecureStep
from tacit.plan.physical.record import JSON
from tacit.plan.rules.stage import Stage

WIDTH = 110
WORDS = (
    "local: computed by one party on its own tables. mpc: computed by the nodes on secret shares, of which no node "
    "alone can tell a value. psi: keys of two owners' tables are matched. tail: what a recipient computes from what is "
    "opened.",
    "rows: how many rows go on, which all parties know. announced: the exact number is told when the query runs. "
    "rows(3): as many as step 3 has. min(a, b): the smaller one.",
    "n:4 is a column n of 4 bits; ? means that values may be missing. ring64: a number in 64 bits. hash50: a hash of a "
    "text in 50 bits, under a key that the nodes draw in each run.",
)
"""What the words of an account mean."""


def explain_text(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> str:
    """The plan for people, at most 110 columns wide. costs: predicted ones, by default those of the native module."""
    costs = predict(plan) if costs is None else costs
    steps, opened, cost = plan_listing(plan), permit_listing(plan), cost_listing(costs)
    sections = [
        (steps.title, _lines(steps)),
        (LEARNT_TITLE, [line for each in learnt(plan) for line in _wrapped(each, "- ", "  ")]),
        (opened.title, _lines(opened) if opened.rows else []),
        (JOINS_TITLE, [line for each in plan.joins for line in _wrapped(each, "- ", "  ")]),
        ("Columns that others than their owner may read in clear, by its offer", _reader_lines(plan)),
        (cost.title, _lines(cost)),
    ]
    shown = [f"{title}\n" + "\n".join(f"  {line}" for line in lines) for title, lines in sections if lines]
    shown.append("Words\n" + "\n".join(f"  {line}" for each in WORDS for line in _wrapped(each, "- ", "  ")))
    return "\n\n".join([*shown, f"Plan hash {plan_hash(plan).hex()}"]) + "\n"


def explain_json(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> JSON:
    """The plan for programs: the whole placed plan, the account in sentences, the predicted cost and the hash."""
    costs = predict(plan) if costs is None else costs
    return {
        "plan": plan_json(plan),
        "learns": list(learnt(plan)),
        "cost": [encoded(each) for each in (*costs, *([total(costs)] if costs else []))],
        "hash": plan_hash(plan).hex(),
    }


def stage_texts(stage: Stage, before: Stage | None) -> dict[str, str]:
    """The trees of a query after a rule, each by where it is computed: two if the rule has split it. Empty if the rule
    changed nothing."""
    core = tree_text(stage.core, stage.merged)
    if before is not None and stage.split is not None and before.split is None:
        return {", at the recipient": tree_text(stage.split.tail), ", before it": core}
    same = before is not None and (stage.core, stage.merged) == (before.core, before.merged)
    return {} if same else {"": core}


class RulesText:
    """The trees of a query, one after each rule that changes it, for people. Called as the trace of ``place``."""

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._last: Stage | None = None

    def __call__(self, name: str, stage: Stage) -> None:
        """Add the query after a rule."""
        trees = stage_texts(stage, self._last)
        shown = [f"{name}{where}\n{textwrap.indent(tree, '  ')}" for where, tree in trees.items()]
        self._shown += shown or [f"{name}: no change"]
        self._last = stage

    def text(self) -> str:
        """All of them."""
        return "\n\n".join(self._shown) + "\n"


def plan_text(plan: PlacedPlan) -> str:
    """The steps alone, as a table."""
    return "\n".join(_lines(plan_listing(plan))) + "\n"


def _reader_lines(plan: PlacedPlan) -> list[str]:
    """Columns under MPC that a party other than the owner may read, with all their readers."""
    lines = []
    for step in plan.steps:
        owner = {step.operator.owner} if isinstance(step, InputStep) else set()
        for column, readers in step.readers if isinstance(step, InputStep | PsiStep | KeptStep | SecureStep) else ():
            if set(readers) - owner:
                lines += _wrapped(f"{name(step)}: {column} by {', '.join(readers)}", "", "  ")
    return lines


def _lines(listing: Listing) -> list[str]:
    """Columns aligned; the last one is wrapped."""
    titles = tuple(title for title, _ in listing.columns)
    table = [titles, *listing.rows] if titles else []
    widths = [max(len(row[at]) for row in table) for at in range(len(titles))]
    lines = []
    for row in table:
        sides = zip(row, listing.columns, widths, strict=True)
        cells = [cell.rjust(width) if side == "right" else cell.ljust(width) for cell, (_, side), width in sides]
        head = "".join(f"{cell}  " for cell in cells[:-1])
        lines += [line.rstrip() for line in _wrapped(cells[-1], head, " " * len(head))] or [head.rstrip()]
    return [*lines, *([listing.note] if listing.note else [])]


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 2, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)

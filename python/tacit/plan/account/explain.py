"""Explain: the placed plan, what each party learns, and the predicted cost, for people and for programs."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import asdict, replace

from tacit.plan.account.clauses import tree_text
from tacit.plan.account.describe import name
from tacit.plan.account.learnt import learnt
from tacit.plan.account.listing import (
    JOINS_TITLE,
    RESIZING_TITLE,
    SLICING_TITLE,
    Listing,
    cost_listing,
    permit_listing,
    plan_listing,
)
from tacit.plan.account.page import hash_line, page, technical_title, wrapped
from tacit.plan.account.phrases import plain
from tacit.plan.account.serialise import encoded, plan_hash, plan_json
from tacit.plan.account.statement import statement
from tacit.plan.algebra.relations import Relation
from tacit.plan.physical.cost import StepCost, predict, total
from tacit.plan.physical.placed import InputStep, KeptStep, PlacedPlan, PsiStep, SecureStep
from tacit.plan.physical.record import JSON
from tacit.plan.rules.stage import Stage

FORMAT = "tacit-explain/2"
"""Of the JSON: a new one where members change their meaning or go."""
MOST_TEXT = 300
"""Characters of what a step does, on the page; programs get all of it."""
MOST_STEPS = 100
"""Steps of a plan on its page: of more, as programs in blocks of rows have them, the first and the last."""
WORDS = (
    (r"local\(", "local: computed by one party on its own tables."),
    (r"mpc\(", "mpc: computed by the nodes on secret shares, of which no node alone can tell a value."),
    (r"psi\(", "psi: keys of two owners' tables are matched; neither sees the other's."),
    (r"\.tail", "tail: what a recipient computes from what is opened."),
    (r"rows", "rows: how many rows go on, which all parties know."),
    (r"announced", "announced: the exact number is told when the question runs."),
    (r"\brows\(\d", "rows(3): as many as step 3 has."),
    (r"\bmin\(rows", "min(a, b): the smaller one."),
    (r"\w:\d", "n:4: a column n of 4 bits."),
    (r"\w:(ring|bytes|hash)?\d+\?", "?: values may be missing."),
    (r"ring\d", "ring64, ring128: a number in 64 or 128 bits."),
    (r"bytes\d", "bytes320: a text in 320 bits."),
    (r"hash\d", "hash50: a hash of a text in 50 bits, under a key that the nodes draw in each run."),
)
"""What the words of the technical part mean, each where it occurs."""


def explain_text(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> str:
    """The plan for people, at most 100 columns wide. costs: predicted ones, by default those of the native module."""
    technical = _technical(plan, predict(plan) if costs is None else costs)
    signed = wrapped("What is signed: the hash of this question with its plan, all disclosures, offers and version.")
    lines = [*page(plan), "", *technical, *signed, hash_line(plan_hash(plan).hex())]
    return "\n".join(map(plain, lines)) + "\n"


def _technical(plan: PlacedPlan, costs: tuple[StepCost, ...]) -> list[str]:
    """What engineers need: steps, permits, joins, readers, costs, and the words for these."""
    steps, opened, cost = plan_listing(plan), permit_listing(plan), cost_listing(costs)
    sections = [
        (steps.title, _lines(_short(steps))),
        (opened.title, _lines(_fewer(opened)) if opened.rows else []),
        (JOINS_TITLE, [line for each in plan.joins for line in wrapped(each, "- ", "  ")]),
        (SLICING_TITLE, [line for each in plan.slicing for line in wrapped(each, "- ", "  ")]),
        (RESIZING_TITLE, [line for each in plan.resizing for line in wrapped(each, "- ", "  ")]),
        ("Columns that offers let others read in clear; this question opens none but those above", _reader_lines(plan)),
        (cost.title, _lines(_fewer(cost))),
    ]
    shown = [line for title, lines in sections if lines for line in (title, *(f"  {each}" for each in lines), "")]
    met = [meaning for word, meaning in WORDS if any(re.search(word, line) for line in shown)]
    words = [f"  {line}" for each in met for line in wrapped(each, "- ", "  ")]
    return [technical_title(), *shown, "Words", *words, ""]


def _short(steps: Listing) -> Listing:
    """The steps without the ends of long texts."""
    return replace(steps, rows=tuple((*row[:-1], _cut(row[-1])) for row in _fewer(steps).rows))


def _fewer(listing: Listing) -> Listing:
    """The first and the last rows of many."""
    left_out = len(listing.rows) - MOST_STEPS
    if left_out <= 0:
        return listing
    first, last = listing.rows[: MOST_STEPS // 2], listing.rows[-MOST_STEPS // 2 :]
    between = (f"{left_out:,} more", *("" for _ in listing.columns[2:]), "(all: --format json)")
    return replace(listing, rows=(*first, between, *last))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ... (all of it: --format json)"


def explain_json(plan: PlacedPlan, costs: tuple[StepCost, ...] | None = None) -> JSON:
    """The plan for programs (docs/schemas/explain.schema.json): the statement that people approve as data and as a list
    of sentences, the whole placed plan, the predicted cost and the hash."""
    costs = predict(plan) if costs is None else costs
    return {
        "format": FORMAT,
        "question": plan.query,
        "statement": json.loads(json.dumps(asdict(statement(plan)))),
        "learns": list(learnt(plan)),
        "plan": plan_json(plan),
        "cost": [encoded(each) for each in (*costs, *([total(costs)] if costs else []))],
        "hash": plan_hash(plan).hex(),
    }


def stage_texts(stage: Stage, before: Stage | None) -> dict[str, str]:
    """The trees of a query after a rule, each by where it is computed: two if the rule has split it. Empty if the rule
    changed nothing."""
    core = tree_text(stage.core, done(stage))
    if before is not None and stage.split is not None and before.split is None:
        return {", at the recipient": tree_text(stage.split.tail), ", before it": core}
    same = before is not None and (stage.core, done(stage)) == (before.core, done(before))
    return {} if same else {"": core}


def done(stage: Stage) -> dict[Relation, str]:
    """How a stage does some of its operators."""
    found = dict.fromkeys(stage.merged, "by a merge of sorted inputs")
    if stage.trusted is not None:
        found |= dict.fromkeys(stage.trusted.steps, f"ordered by {stage.trusted.party}, which sees the keys")
    for each in stage.resized:
        dropped = "without padding, counted" if each.most is None else f"without padding, at most {each.most:,} rows"
        found[each.relation] = ", ".join([*([found[each.relation]] if each.relation in found else []), dropped])
    return found


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
                lines += wrapped(f"{name(step)}: {column} by {', '.join(readers)}", "", "  ")
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
        lines += [line.rstrip() for line in wrapped(cells[-1], head, " " * len(head))] or [head.rstrip()]
    return [*lines, *([listing.note] if listing.note else [])]

"""What each party of a plan learns, as a list of sentences, also about those that learn nothing."""

from __future__ import annotations

from tacit.plan.account.phrases import deciding, listed, plain
from tacit.plan.account.sentences import EachRow
from tacit.plan.account.statement import NOTHING_OPENED, Answered, Statement, statement
from tacit.plan.physical.placed import DropStep, PlacedPlan

DECIDED: dict[EachRow, str] = {
    "row": "Which rows there are depends on",
    "group": "Which groups there are, and of which rows, depends on",
    "whole": "Of which rows it is made depends on",
    "element": "Which elements there are depends on",
}
"""What is said before the columns that decide it."""


def learnt(plan: PlacedPlan) -> tuple[str, ...]:
    """A sentence for each thing that somebody learns, and one about all that learn nothing; a closing one."""
    dropped = tuple(dropping(plan))
    return tuple(map(plain, dropped or sentences(statement(plan))))


def dropping(plan: PlacedPlan) -> list[str]:
    """What a plan does that only removes a kept table."""
    drops = [step for step in plan.steps if isinstance(step, DropStep)]
    return [f"Each node removes its own part of the kept table {step.table}." for step in drops]


def sentences(found: Statement) -> tuple[str, ...]:
    """A statement as a list."""
    return (
        *_answer(found),
        *(each.sentence for each in found.besides),
        *nothing_new(found),
        *found.sizes,
        *found.kept,
        found.closing,
    )


def _answer(found: Statement) -> list[str]:
    if found.answer is None:
        return [no_answer(found), *(f"It is allowed by {each}." for each in found.keeps_allowed)]
    return [f"{_get(found.answer.recipients)} the answer, {found.answer.rows}: {_made(found.answer)}.", *_notes(found)]


def _made(answer: Answered) -> str:
    return "; ".join(f"{each.name} {_is_made_of(each.made_of)}" for each in (*answer.outputs, *answer.beyond))


def _is_made_of(clause: str) -> str:
    """A number of rows is made of no value, and depends on which rows there are."""
    return clause if clause.startswith("depends on ") else f"is {clause}"


def _get(parties: tuple[str, ...]) -> str:
    return f"{listed(parties)} {'learns' if len(parties) == 1 else 'learn'}"


def _notes(found: Statement) -> list[str]:
    if found.answer is None:
        return []
    columns = [f"{column} ({how})" for column, how in deciding(found.answer.decided_by, found.answer.recipients)]
    rows = [f"{DECIDED[found.answer.each_row]} {listed(columns)}."] if columns else []
    return [*rows, *found.answer.notes, *(f"It is allowed by {each}." for each in found.answer.allowed)]


def no_answer(found: Statement) -> str:
    """What is to be said where nothing is opened."""
    if found.recipients:
        return f"{listed(found.recipients)} gets the answer from its own tables and learns nothing new."
    return NOTHING_OPENED


def nothing_new(found: Statement) -> list[str]:
    """About those that learn nothing."""
    learn = "learns" if len(found.untold) == 1 else "learn"
    return [f"{listed(found.untold)} {learn} nothing from the tables of others."] if found.untold else []

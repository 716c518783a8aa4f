"""Whether an owner's rules bind a question, what they say of any, and which tables they leave wholly open."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from tacit.plan.facts.catalog import Table
from tacit.plan.policy.exposure import offered
from tacit.plan.policy.refusal import Problem


def protected(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether an owner's rules bind a query: not where the owner alone gets the answer."""
    return table.terms is not None and set(recipients) != {table.owner}


def shown(table: Table, column: str, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see a column row by row."""
    return all("select" in offered(table, column, each).ways for each in recipients)


def knows(table: Table, column: str | None, recipient: str) -> bool:
    """Whether a recipient knows a column row by row, as its owner or as it may see it.

    Without a column: which rows there are, which it also knows if it may learn which of them match.
    """
    if column is not None:
        return shown(table, column, (recipient,))
    return partly_open(table, (recipient,)) or (table.terms is not None and recipient in table.terms.matches)


def wholly_open(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see all columns row by row."""
    return bool(recipients) and all(shown(table, each.field.name, recipients) for each in table.columns)


def partly_open(table: Table, recipients: tuple[str, ...]) -> bool:
    """Whether all recipients may see a column row by row, and hence which rows there are."""
    return bool(recipients) and any(shown(table, each.field.name, recipients) for each in table.columns)


def of_offer(table: Table, question: Callable[[], str], recipients: tuple[str, ...], today: date) -> list[Problem]:
    """What a table's own terms say of any question: who may ask, until when, and which. question: makes its hash."""
    terms = table.terms
    assert terms is not None, "only tables with terms bind a question"
    found = [
        Problem("recipient", table.owner, table.name, None, "receive", f"{each} is no recipient of {table.name}", each)
        for each in recipients
        if each != table.owner and each not in terms.recipients
    ]
    first = next(each for each in recipients if each != table.owner)
    if terms.until is not None and today > terms.until:
        sentence = f"{table.name} was offered until {terms.until.isoformat()}"
        found.append(Problem("until", table.owner, table.name, None, "receive", sentence, first))
    if terms.allow is not None and (asked := question()) not in terms.allow:
        sentence = f"{table.name} is offered for certain questions, and not for {asked}"
        found.append(Problem("allow", table.owner, table.name, None, "receive", sentence, first))
    return found

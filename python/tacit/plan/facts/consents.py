"""What owners consent to show besides answers, with the terms of their tables."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.facts.catalog import Table


def matches_allowed(table: Table, party: str) -> bool:
    """Whether a party may learn which single rows of a table match another's, or are there.

    A consent to matches says nothing of the parties that take part: the terms name them.
    """
    return table.terms is None or party == table.owner or party in table.terms.matches


def rows_allowed(table: Table, parties: Iterable[str]) -> bool:
    """Whether parties may learn which single rows of a table there are, and its owner promises no floor for any."""
    floors = [table.terms.least_group if table.terms else None, *(each.terms.least_group for each in table.columns)]
    return all(each is None for each in floors) and all(matches_allowed(table, party) for party in parties)


def lasts(table: Table) -> bool:
    """Whether an offer allows it without an end, and in any question.

    Of a question whose answer the owner alone gets nothing has compared it with that.
    """
    return table.terms is None or (table.terms.until is None and table.terms.allow is None)

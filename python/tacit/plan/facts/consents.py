"""What owners consent to show besides answers, with the terms of their tables."""

from __future__ import annotations

from tacit.plan.facts.catalog import Table


def matches_allowed(table: Table, party: str) -> bool:
    """Whether a party may learn which single rows of a table match another's, or are there.

    A consent to matches says nothing of the parties that take part: the terms name them.
    """
    return table.terms is None or party == table.owner or party in table.terms.matches

"""What an owner's agent says when it refuses: the rule, and nothing of the data, of earlier questions or of numbers."""

from __future__ import annotations

from tacit.plan.facts.catalog import Table


class Refused(Exception):
    """A question that an owner's agent does not answer. rule: which rule says so.

    looked: data were looked at, so that the refusal tells something of them, and counts.
    """

    def __init__(self, table: Table, rule: str, sentence: str, looked: bool = False) -> None:
        super().__init__(f"refused by {table.owner}: {rule}: {sentence}.")
        self.table = table.name
        self.rule = rule
        self.looked = looked


def too_near(table: Table) -> Refused:
    """What is told of differences, whichever they are."""
    return Refused(table, "differences", "too near to what was answered; ask in the next period", looked=True)


def foretold(table: Table) -> Refused:
    """The same where the words of questions alone decide it, so that everybody can foretell it."""
    return Refused(table, "differences", "too near to what was answered; ask in the next period")


def unclear(table: Table, what: str) -> Refused:
    """The query has a form of which the owner alone cannot tell the rows. No data are looked at."""
    return Refused(table, "differences", f"what {what} selects of {table.name} is not known here; ask without it")


def used_up(table: Table, rule: str) -> Refused:
    """The table has given all answers, or all refusals, of the period. rule: which."""
    what = {"questions": "has given its answers", "refusals": "has refused as often as it may"}[rule]
    return Refused(table, rule, f"{table.name} {what} in this period; ask in the next period")


def may_be_refused(owner: str) -> str:
    """What an account says in advance of a question that this owner checks."""
    return f"may be refused after looking at {owner}'s data"

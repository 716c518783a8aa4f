"""What an owner's rules do not allow, in a sentence that says who refuses what, where, and what would pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from tacit.plan.algebra.refusals import Position, QueryError

Rule = OneOf[
    "recipient", "until", "allow", "closed", "select", "matches", "group", "join", "filter", "function",
    "linear", "weights", "repeats", "cuts", "constants", "with", "floor", "sizes", "kept", "window",
    "differences",
]  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """A use of an owner's table that its rules do not allow.

    column: None for its rows. way: as derived. sentence: what happens with which column, a clause without a full stop.
    detail: what else is to blame, by its name. position: line and column in the text.
    """

    rule: Rule
    owner: str
    table: str
    column: str | None
    way: str
    sentence: str
    recipient: str
    detail: str = ""
    position: Position | None = None

    @property
    def ask(self) -> str:
        """What to do where no change of the query passes."""
        what = self.table if self.column is None else f"{self.table}.{self.column}"
        return f"ask {self.owner} for {what}, rule {self.rule}"


class PolicyRefusal(QueryError):
    """A query that an owner's rules refuse. problems: all that they refuse, the first of which the sentence tells.

    change: the smallest change that passes, or whom to ask. changed_query, changed_recipients: the query after it, None
    where there is none.
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        self.problem = problems[0]
        self.change = self.problem.ask
        self.changed_query: str | None = None
        self.changed_recipients: tuple[str, ...] | None = None
        super().__init__(self.problem.sentence, self.problem.position)

    @property
    def rule(self) -> Rule:
        """The rule that refuses."""
        return self.problem.rule

    def __str__(self) -> str:
        line = "" if self.position is None else f" (line {self.position[0]}, column {self.position[1]})"
        return f"refused by {self.problem.owner}: {self.problem.rule}: {self.problem.sentence}{line}; {self.change}."

    def json(self) -> dict[str, Any]:
        """For programs."""
        line, column = self.position or (None, None)
        return {
            "rule": self.problem.rule,
            "owner": self.problem.owner,
            "table": self.problem.table,
            "column": self.problem.column,
            "way": self.problem.way,
            "recipient": self.problem.recipient,
            "line": line,
            "column_in_text": column,
            "sentence": str(self),
            "change": self.change,
            "changed_query": self.changed_query,
            "changed_recipients": None if self.changed_recipients is None else list(self.changed_recipients),
            "static": True,
        }

"""Generated queries over generated data, on every engine, against DuckDB on the pooled clear data.

A failure prints the question, as a block for an .slt file, a smaller one that fails too, and the seed that repeats it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .asking import REFUSALS, Asker
from .queries import Question
from .running import Engine, among_threads, in_clear
from .searching import NIGHTLY, Draw, search
from .worlds import THREE, TWO

FEATURES = (
    "FILTER", "BOOL_OR", "SUM(DISTINCT)", "QUANTILE_DISC", "QUANTILE_CONT", "ROLLUP", "GROUPING SETS",
    "INTERSECT of queries", "EXCEPT of queries",
    "+", "-", "*", "negation", "CASE", "simple CASE", "COALESCE", "NULLIF", "CAST", "date - date", "date + days",
    "comparison", "BETWEEN", "IN list", "IS NULL", "AND", "OR", "NOT", "NULL literal", "UNION ALL",
    "UNION ALL of queries", "UNION of queries", "DISTINCT", "DISTINCT in a subquery", "GROUP BY",
    "GROUP BY in a subquery", "HAVING", "SUM", "COUNT", "COUNT(*)", "COUNT(DISTINCT)", "AVG", "MEDIAN", "MIN", "MAX",
    "division", "expression over aggregates", "aggregates without GROUP BY", "JOIN on one key", "JOIN on several keys",
    "JOIN of three", "USING", "comma join", "cross join with one row", "self-join after aggregation",
    "scalar subquery", "scalar of matching rows", "EXISTS of matching rows", "EXISTS of a subquery",
    "EXISTS by another comparison", "IN of matching rows", "IN of a subquery", "ANY and ALL of a subquery",
    "ANY and ALL of matching rows", "average of matching rows", "average of a subquery",
    "a condition on a subquery as a value", "IN (SELECT)", "CTE", "*", "filter in a subquery", "LIMIT in a subquery",
    "ORDER BY",
    "NULLS FIRST", "NULLS LAST", "LIMIT", "OFFSET", "BOOLEAN", "INTEGER", "BIGINT", "DECIMAL", "DATE", "TIMESTAMP",
    "EXTRACT", "LENGTH", "LAST_DAY", "%", "//", "ABS and its like", "LIKE", "function of a string",
    "IS DISTINCT FROM", "day of a moment", "dictionary", "bytes", "hashed", "negative number", "bounds of a type",
    "empty table",
    "duplicate rows", "NULL in a key", "2 owners", "3 owners", "padded rows", "outputs without names",
    "ORDER BY what is not selected", "announced rows", "consent to filter", "consent to groups", "consent to matches",
    "several recipients", "output named as another column", "computed column named as the one it hides",
    "LIMIT by a column named as another", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN",
    "a condition of one side in ON",
    "QUALIFY", "ROWS frame", "row_number OVER", "rank OVER", "dense_rank OVER",
    "ntile OVER", "lag OVER", "lead OVER", "first_value OVER", "last_value OVER", "count OVER", "sum OVER", "max OVER",
)  # fmt: skip


@dataclass
class Tally:
    """What a run of generated questions has met."""

    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)

    def note(self, question: Question, outcome: str) -> None:
        """Count a question that did not fail."""
        self.outcomes[outcome] += 1
        self.asked.update(question.features)
        if outcome.startswith("equal"):
            self.answered.update(question.features)

    def assert_healthy(self) -> None:
        """Most questions have answers, most answers have rows, some match rows of owners, few questions are refused."""
        assert self._share("equal") >= 0.9, self.outcomes
        assert self._share("equal") - self._share("no rows") >= 0.4, self.outcomes
        assert self._share("psi") >= 0.02, self.outcomes
        assert self._share("circuit_psi") >= 0.005, self.outcomes
        assert sum(map(self._share, ("refused: " + each for each in REFUSALS))) <= 0.05, self.outcomes

    def _share(self, part: str) -> float:
        """Of all questions, those with such a part of an outcome."""
        found = sum(count for outcome, count in self.outcomes.items() if part in outcome.split(", "))
        return found / self.outcomes.total()


def compare(engine: Engine, examples: int, keys: Path, who: Draw = lambda chance: THREE, *, each: int = 8) -> Tally:
    """Check ``examples`` generated questions on an engine."""
    tally = Tally()
    with Asker(engine, keys) as asker:
        search(lambda question: tally.note(question, asker.check(question)), examples, each=each, who=who)
    return tally


def test_the_reference_engine(keys: Path) -> None:
    tally = compare(in_clear, 500, keys)
    tally.assert_healthy()


def test_three_nodes(keys: Path) -> None:
    compare(among_threads, 1000 if NIGHTLY else 40, keys)


def test_two_nodes(keys: Path) -> None:
    compare(among_threads, 1000 if NIGHTLY else 12, keys, lambda chance: TWO)

"""Generated queries over generated data, on every engine, against DuckDB on the pooled clear data.

A failure prints the question, as a block for an .slt file, a smaller one that fails too, and the seed that repeats it.
Of each construct enough questions have to be answered, so that none goes away unseen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .asking import REFUSALS, Asker
from .chance import Chance
from .queries import Question, question
from .running import Engine, among_threads, in_clear
from .searching import NIGHTLY, ONE, SEED, Draw, search
from .shrinking import shrunk
from .worlds import THREE, TWO, worlds

ASKED = 350
"""Questions of `make test` in clear."""
LEAST = 2
"""Of so many questions, so many with each construct are answered."""
ANSWERED = 0.5
"""Of the questions with a construct, so many are answered."""
TELLING = 30
"""So many questions with a construct tell how many are answered."""

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
    "EXTRACT", "LENGTH", "LAST_DAY", "%", "//", "division by a column", "ABS and its like", "LIKE",
    "function of a string",
    "IS DISTINCT FROM", "day of a moment", "dictionary", "bytes", "hashed", "negative number", "bounds of a type",
    "empty table",
    "duplicate rows", "NULL in a key", "3 owners", "padded rows", "outputs without names",
    "ORDER BY what is not selected", "announced rows", "consent to filter", "consent to groups", "consent to matches",
    "consent to sizes",
    "columns that others read",
    "several recipients", "output named as another column", "computed column named as the one it hides",
    "LIMIT by a column named as another", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN",
    "a condition of one side in ON",
    "QUALIFY", "ROWS frame", "row_number OVER", "rank OVER", "dense_rank OVER",
    "ntile OVER", "lag OVER", "lead OVER", "first_value OVER", "last_value OVER", "count OVER", "sum OVER", "max OVER",
    "min OVER", "avg OVER", "RANGE frame", "window over groups", "CUBE", "GROUPING", "WITHIN GROUP", "ANY_VALUE",
    "VARIANCE and its like", "COVAR and its like", "NATURAL JOIN", "CROSS JOIN", "theta join", "band join",
    "LEFT JOIN USING", "RIGHT JOIN USING", "FULL JOIN USING", "expression as a key", "united table",
    "set operations of three", "IN of several columns", "subquery in a subquery", "ROUND and its like",
    "rounded quotient", "rounded AVG", "aggregate of a half",
    "CAST to a number", "DATE_DIFF", "POSITION", "IF", "IFNULL", "DATE_TRUNC", "INTERVAL", "condition on a string",
    "window in a subquery", "top of groups", "set operation in a subquery", "join in a subquery", "GROUP BY ALL",
    "NATURAL LEFT JOIN", "table.*", "named window", "names of columns in FROM",
    "expression of a key", "columns that others read", "IS TRUE", "DOUBLE", "SMALLINT", "TINYINT",
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

    def assert_of_many(self) -> None:
        """What holds of a search; a question that is asked alone has no shares."""
        if ONE is None:
            self.assert_healthy()
            self.assert_answered()

    def assert_healthy(self) -> None:
        """Most questions have answers, most answers have rows, some match rows of owners, few questions are refused."""
        assert self._share("equal") >= 0.87, self.outcomes
        assert self._share("equal") - self._share("no rows") >= 0.5, self.outcomes
        assert self._share("psi") >= 0.02, self.outcomes
        assert self._share("circuit_psi") >= 0.005, self.outcomes
        assert self._share("sliced") >= 0.01, self.outcomes
        assert self._share("trusted") >= 0.01, self.outcomes
        assert self._share("counted") >= 0.01, self.outcomes
        assert self._share("out of range") <= 0.005, self.outcomes
        assert sum(map(self._share, ("refused: " + each for each in REFUSALS))) <= 0.1, self.outcomes

    def assert_answered(self) -> None:
        """Questions with each construct are answered, and most of those that are asked."""
        few = {each: self.answered[each] for each in FEATURES if self.answered[each] < LEAST}
        assert not few, f"hardly a question is answered with {few}"
        refused = {each: self._part(each) for each in FEATURES if self._part(each) < ANSWERED}
        assert not refused, f"too few questions are answered with {refused}"

    def _part(self, feature: str) -> float:
        """Of the questions with a construct, those that are answered; all where too few are asked to tell."""
        return self.answered[feature] / self.asked[feature] if self.asked[feature] >= TELLING else 1.0

    def _share(self, part: str) -> float:
        """Of all questions, those with such a part of an outcome."""
        found = sum(count for outcome, count in self.outcomes.items() if part in outcome.split(", "))
        return found / self.outcomes.total()


def compare(
    engine: Engine,
    examples: int,
    keys: Path,
    who: Draw = lambda chance: THREE,
    *,
    seed: int | str = SEED,
    each: int = 8,
    listening: bool = False,
) -> Tally:
    """Check ``examples`` generated questions on an engine. each: those over one federation.

    listening: its parties are processes, each with a port.
    """
    tally = Tally()
    with Asker(engine, keys, listening) as asker:
        search(lambda asked: tally.note(asked, _checked(asker, asked)), examples, each=each, seed=seed, who=who)
    return tally


def _checked(asker: Asker, asked: Question) -> str:
    """The outcome of a question. A failure tells of a smaller question, too."""
    try:
        return asker.check(asked)
    except Exception as error:
        kind = _kind(error)
        error.add_note(f"Smaller:{shrunk(asked, lambda smaller: _failure(asker, smaller) == kind)!r}")
        raise


def _failure(asker: Asker, asked: Question) -> tuple[str, str] | None:
    try:
        asker.check(asked)
    except Exception as error:
        return _kind(error)
    return None


def _kind(error: Exception) -> tuple[str, str]:
    """What failures have alike that are one."""
    return type(error).__name__, getattr(error, "construct", "")


def test_the_reference_engine(keys: Path) -> None:
    tally = compare(in_clear, ASKED, keys)
    tally.assert_of_many()


def test_three_nodes(keys: Path) -> None:
    compare(among_threads, 500 if NIGHTLY else 40, keys)


def test_two_nodes(keys: Path) -> None:
    compare(among_threads, 500 if NIGHTLY else 12, keys, lambda chance: TWO)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_many_more_questions(part: int, keys: Path) -> None:
    tally = compare(in_clear, 2000, keys, seed=f"{SEED}-{part}")
    tally.assert_of_many()


def test_a_question_that_fails_is_made_smaller() -> None:
    world = worlds(Chance("a world"))
    asked = next(each for at in range(99) if " MAX(" in (each := question(world, str(at))).query)
    smaller = shrunk(asked, lambda each: " MAX(" in each.query)
    assert len(smaller.query) < len(asked.query) / 2 and " MAX(" in smaller.query
    assert not any(table.rows for table in smaller.world.tables)

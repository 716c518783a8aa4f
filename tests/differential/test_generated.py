"""Generated queries over generated data, on every engine, against DuckDB on the pooled clear data.

`make test` asks the same questions every time, `make nightly` new ones. A failure prints the seed and the question as a
block for an .slt file. TACIT_SEED=<seed> repeats the run and looks for a smaller question that fails.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from hypothesis import HealthCheck, Phase, given, seed, settings

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.physical.placed import KeysStep, PsiStep
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import between_two, pooled, recipients_of_two, store
from .queries import Question, questions
from .running import Engine, among_threads, ask, in_clear, reference

REPEATED = "TACIT_SEED" in os.environ
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SEED = int(os.environ.get("TACIT_SEED", random.SystemRandom().randrange(2**32) if NIGHTLY else 1))

REFUSALS = (
    "a quotient under MPC",
    "LIMIT on an order by",
    "an order by",
    "DOUBLE arithmetic under MPC",
    "so that the owner computes it, or use",
    "% may leave",
    "rounding a DECIMAL under MPC",
    "the day of a TIMESTAMP under MPC",
    "a change of a string's type or dictionary under MPC",
    "the output or order of a VARCHAR without a max_length",
    "more than 128",
)
"""Refusals that generated queries may meet, as their sentences have them. Any other refusal is an error."""

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
    "empty table", "keys for all to read",
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

    asked: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)

    def note(self, question: Question, outcome: str) -> None:
        """Count a question that did not fail."""
        self.asked += 1
        self.outcomes[outcome] += 1
        if outcome.startswith("equal"):
            self.answered.update(question.features)

    def assert_healthy(self) -> None:
        """Most questions have answers, most answers have rows, some match rows of owners, few questions are refused."""
        assert self._share("equal") >= 0.9, self.outcomes
        assert self._share("equal") - self._share("no rows") >= 0.4, self.outcomes
        assert self._share("psi") >= 0.02, self.outcomes
        assert self._share("circuit_psi") >= 0.005, self.outcomes
        assert self._share("sliced") >= 0.01, self.outcomes
        assert sum(map(self._share, ("refused: " + each for each in REFUSALS))) <= 0.05, self.outcomes

    def _share(self, part: str) -> float:
        """Of all questions, those with such a part of an outcome."""
        return sum(count for outcome, count in self.outcomes.items() if part in outcome.split(", ")) / self.asked


def check(question: Question, engine: Engine, keys: Path, suite: str = "rep3") -> str:
    """Ask a question both ways. Returns "equal", or why there is nothing to compare. suite: the federation's engine."""
    with tempfile.TemporaryDirectory(prefix="tacit-test-") as name:
        folder = Path(name)
        tables, to = question.world.declared(), question.to
        if suite == "two":
            tables, to = between_two(tables), recipients_of_two(to)
        federation = store(tables, folder, keys, engine=suite)
        with pooled(federation) as database:
            try:
                expected = reference(database, question.query)
            except (duckdb.OutOfRangeException, duckdb.ConversionException):
                return _overflow(question.query, to, federation, engine, folder)
        try:
            plan = compile_query(question.query, federation.catalog, to)
            found = engine(federation, plan, folder)
        except QueryError as error:
            return _refusal(error)
        assert_equal(found, expected, question.order, question.total)
        matched = {step.operator.op for step in plan.steps if isinstance(step, PsiStep)}
        matched |= {"sliced" for step in plan.steps if isinstance(step, KeysStep)}
        return ", ".join(["equal" if found.rows else "equal, no rows", *sorted(matched)])


def _overflow(query: str, to: tuple[str, ...], federation: Federation, engine: Engine, folder: Path) -> str:
    """DuckDB refuses a number that does not fit its type. tacit computes it exactly or says so, and never fails."""
    try:
        ask(federation, query, engine, folder, to)
    except QueryError as error:
        return _refusal(error)
    except RunError as error:
        assert error.fault is Fault.INPUT, error
    return "overflow"


def _refusal(error: QueryError) -> str:
    found = next((refusal for refusal in REFUSALS if refusal in str(error)), None)
    if found is None:
        raise error
    return f"refused: {found}"


def search(run: Callable[[Question], None], examples: int, number: int = SEED) -> None:
    """Run ``examples`` generated questions."""

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, *([Phase.shrink] if NIGHTLY or REPEATED else [])],
        suppress_health_check=list(HealthCheck),
    )
    @given(questions())
    def each(question: Question) -> None:
        run(question)

    try:
        each()
    except BaseException as error:
        error.add_note(f"Repeat with TACIT_SEED={number}")
        raise


def compare(engine: Engine, examples: int, keys: Path, suite: str = "rep3") -> Tally:
    """Check ``examples`` generated questions on an engine."""
    tally = Tally()
    search(lambda question: tally.note(question, check(question, engine, keys, suite)), examples)
    return tally


def test_generated_questions_contain_everything() -> None:
    met: Counter[str] = Counter()
    search(lambda question: met.update(question.features), 1200, number=1)
    assert [feature for feature in FEATURES if not met[feature]] == []


def test_the_reference_engine(keys: Path) -> None:
    tally = compare(in_clear, 5000 if NIGHTLY else 200, keys)
    tally.assert_healthy()
    if NIGHTLY:
        assert [feature for feature in FEATURES if not tally.answered[feature]] == []


def test_three_nodes(keys: Path) -> None:
    compare(among_threads, 1000 if NIGHTLY else 40, keys)


def test_two_nodes(keys: Path) -> None:
    compare(among_threads, 1000 if NIGHTLY else 12, keys, "two")

"""The smallest change of a refused query that its owners allow: candidates on its syntax, each tried by the checker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.check import check
from tacit.plan.policy.refusal import PolicyRefusal, Problem, Rule
from tacit.sql.bind import bind
from tacit.sql.cuts import cut
from tacit.sql.edits import (
    Change,
    Edit,
    aggregated,
    counted,
    counting_units,
    inner_joined,
    multiples,
    of_count,
    other_function,
    plain_groups,
    raised,
    without_condition,
    without_group,
    without_order,
    without_output,
)
from tacit.sql.text import Text

DEEPEST = 3
MOST_TRIES = 40
"""Of one refusal. Each try binds and checks a query, which takes milliseconds."""

EDITS: dict[Rule, tuple[Callable[[Edit], Iterator[Change]], ...]] = {
    "closed": (without_output, without_condition, without_order, without_group, counted),
    "select": (without_order, without_condition, aggregated, without_output, counted),
    "matches": (counted, counting_units, without_output),
    "group": (without_group, without_output, counted),
    "join": (without_condition, without_output),
    "filter": (without_condition, without_output, without_group),
    "function": (other_function, of_count, without_output, without_condition),
    "linear": (multiples, without_output),
    "weights": (of_count, without_output, without_condition, without_order),
    "repeats": (counting_units, without_output, without_condition, without_order),
    "cuts": (cut, without_condition, without_output),
    "constants": (without_condition, without_output),
    "with": (without_condition, without_output),
    "floor": (raised, inner_joined, without_group, without_condition, counted),
    "differences": (plain_groups, without_output, without_condition),
}
"""What is tried against each rule, the smallest change first."""


@dataclass(frozen=True)
class Attempt:
    """A query after some changes. sentences: what they are. refusal: of the query, None where it is allowed."""

    sql: str
    recipients: tuple[str, ...]
    sentences: tuple[str, ...]
    refusal: PolicyRefusal | None


def advise(refusal: PolicyRefusal, sql: str, catalog: Catalog, recipients: tuple[str, ...], today: date) -> None:
    """Write into a refusal the first change that passes; where none does, it says whom to ask."""
    found = _first(Attempt(sql, recipients, (), refusal), catalog, today)
    if found is None:
        return
    refusal.change = " and ".join(found.sentences)
    refusal.changed_query = found.sql
    refusal.changed_recipients = found.recipients


def _first(start: Attempt, catalog: Catalog, today: date) -> Attempt | None:
    """Breadth first: one change before two."""
    level, tries = [start], 0
    for _ in range(DEEPEST):
        following: list[Attempt] = []
        for attempt in level:
            for each in islice(_candidates(attempt, catalog, today), MOST_TRIES - tries):
                tries += 1
                if each.refusal is None:
                    return each
                following.append(each)
        level = following
    return None


def _candidates(attempt: Attempt, catalog: Catalog, today: date) -> Iterator[Attempt]:
    """The query after each change against its first refusal. What no longer is a query is left out."""
    assert attempt.refusal is not None, "an allowed query needs no change"
    problem = attempt.refusal.problem
    for sentence, sql, recipients in _changes(attempt, problem, catalog):
        try:
            refusal = _refusal(sql, catalog, recipients, today)
        except QueryError:
            continue
        if refusal is None or refusal.problem != problem:
            yield Attempt(sql, recipients, (*attempt.sentences, sentence), refusal)


def _refusal(sql: str, catalog: Catalog, recipients: tuple[str, ...], today: date) -> PolicyRefusal | None:
    relation = bind(sql, catalog)
    try:
        check(relation, catalog, recipients, today)
    except PolicyRefusal as refusal:
        return refusal
    return None


def _changes(attempt: Attempt, problem: Problem, catalog: Catalog) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Sentence, text and recipients of each change to try."""
    if problem.rule == "recipient":
        yield from ((f"--to {','.join(each)}", attempt.sql, each) for each in _others(attempt, problem, catalog))
        return
    for edit in EDITS.get(problem.rule, ()):
        for sentence, changed in edit(Edit(Text(attempt.sql), problem, catalog)):
            yield sentence, changed.sql("duckdb"), attempt.recipients


def _others(attempt: Attempt, problem: Problem, catalog: Catalog) -> Iterator[tuple[str, ...]]:
    """Those recipients whom the owner lists, or else each whom it lists."""
    table = next((each for each in catalog.tables if each.name == problem.table), None)
    if table is None:  # an array, of which a kept table is made
        return
    listed = {table.owner, *(table.terms.recipients if table.terms else ())}
    left = tuple(each for each in attempt.recipients if each in listed)
    if left:
        yield left
    else:
        yield from ((each,) for each in sorted(listed - {table.owner}))

"""Rows that a recipient knows, beside others of the same table.

Who knows rows knows how many units a condition on what it knows selects. A condition that is certain for some of
these, and depends on other columns for the rest, is a known number and one about the rest. The floor of all of them
is no floor of the rest. Nor is it where the condition asks more of some rows than of others, as what it asks of the
others may hold for all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tacit.plan.algebra.expressions import conjunction, conjuncts
from tacit.plan.algebra.relations import Aggregate, Expr, Scan
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column
from tacit.plan.policy.expanded import expanded
from tacit.plan.policy.guards import Guard, Hidden
from tacit.plan.policy.knowing import Known
from tacit.plan.policy.outcomes import ByOutcome, Row, outcomes_by

Cell = tuple[bool, ...]
OUT: Cell = (False,)
"""The cell of rows that a filter leaves out. Nobody counts it."""


def is_padded(
    aggregate: Aggregate,
    guard: Guard,
    scan: Scan,
    hidden: Hidden,
    catalog: Catalog,
    shown: Collection[Aggregate] = (),
) -> bool:
    """Whether what a guard counts of a scan are known rows beside others. aggregate: the guarded one.

    hidden: the columns of all tables with owners' rules that one recipient does not know. shown: aggregates beneath
    that have guards of their own.
    """
    if all(source in hidden[scan] for _, source in scan.columns):
        return False
    found = expanded(aggregate.input, scan, hidden, catalog, shown)
    known = found.known
    keys = [found.of(column(aggregate.input, each)) for each in aggregate.keys]
    conditions = [found.of(each) for refined in guard.refined for each in refined.conditions]
    parts = [each for hold in found.holds for each in conjuncts(hold)]
    if any(map(known.is_mixed, (*keys, *known.keys))) or any(map(known.blends, (*conditions, *parts))):
        return True
    return any(map(known.is_mixed, (*conditions, *parts))) and _is_told(conditions, parts, known)


def _is_told(conditions: Sequence[Expr], filters: Sequence[Expr], known: Known) -> bool:
    """Whether some rows may be in two cells, of which each has rows for which more, or less, is asked."""
    found = outcomes_by([conjunction(filters), *conditions], lambda each: not known.hides(each), known.is_mixed)
    if found is None:
        return True
    rows = list({frozenset(_by_cell(each).items()): _by_cell(each) for each in found}.values())
    return any(sum(_has_others(cell, its, rows) for cell, its in each.items()) > 1 for each in rows)


def _by_cell(outcomes: ByOutcome) -> dict[Cell, frozenset[Row]]:
    """What has to be true of rows, beside what is known of them, to be in each cell."""
    found: dict[Cell, frozenset[Row]] = {}
    for outcome, needed in outcomes:
        cell = outcome if outcome[0] else OUT
        found[cell] = found.get(cell, frozenset()) | needed
    return found


def _has_others(cell: Cell, needed: frozenset[Row], rows: Sequence[Mapping[Cell, frozenset[Row]]]) -> bool:
    """Whether a cell has rows for which something else is needed. Nobody counts whom filters leave out."""
    others = (each.get(cell, frozenset[Row]()) for each in rows)
    return any(each != needed and (bool(each) or cell == OUT) for each in others)

"""Rows that columns which a recipient sees decide, beside others of the same table.

Who sees a column row by row knows how many units a condition on it selects. A condition that is certain for some of
these, and depends on other columns for the rest, is a known number and one about the rest. The floor of all of them
is no floor of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.plan.algebra.expressions import conjunction, conjuncts
from tacit.plan.algebra.relations import Aggregate, Expr, Scan
from tacit.plan.facts.fields import column, columns_of
from tacit.plan.policy.expanded import Expanded, expanded
from tacit.plan.policy.guards import Guard, Hidden
from tacit.plan.policy.outcomes import is_small, outcomes_by

OUT = (False,)
"""The cell of rows that a filter leaves out. Nobody counts it."""


def is_padded(aggregate: Aggregate, guard: Guard, scan: Scan) -> bool:
    """Whether what a guard counts of a scan are known rows beside others. aggregate: the guarded one."""
    if not _sees_some(scan, guard.hidden):
        return False
    known = expanded(aggregate.input, scan, guard.hidden)
    keys = [known.of(column(aggregate.input, each)) for each in aggregate.keys]
    conditions = [known.of(each) for refined in guard.refined for each in refined.conditions]
    parts = [each for hold in known.holds for each in conjuncts(hold)]
    if not any(_is_mixed(each, known) for each in (*keys, *conditions, *parts)):
        return False
    return any(_is_mixed(each, known) for each in keys) or _is_told(conditions, parts, known)


def _sees_some(scan: Scan, hidden: Hidden) -> bool:
    return any(source not in hidden.get(scan, frozenset()) for _, source in scan.columns) and scan in hidden


def _is_mixed(expr: Expr, known: Expanded) -> bool:
    """Whether an expression is computed from columns that are seen, and from others, as far as it is looked at."""
    if not is_small(expr):
        return True
    read = columns_of(expr)
    return not read.isdisjoint(known.seen) and not read.isdisjoint(known.secret)


def _is_told(conditions: Sequence[Expr], filters: Sequence[Expr], known: Expanded) -> bool:
    """Whether some rows may be in two cells of which each has rows that are certain."""
    found = outcomes_by([conjunction(filters), *conditions], lambda each: columns_of(each).isdisjoint(known.secret))
    if found is None:
        return True
    cells = [frozenset(map(_cell, each)) for each in found]
    certain = {OUT}.union(*(each for each in cells if len(each) == 1))
    return any(len(each) > 1 and len(each & certain) > 1 for each in cells)


def _cell(outcome: tuple[bool, ...]) -> tuple[bool, ...]:
    return outcome if outcome[0] else OUT

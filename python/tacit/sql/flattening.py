"""Expressions over a projection as expressions over its input, as long as they stay small."""

from __future__ import annotations

from tacit.plan.algebra.expressions import subexpressions, substitute
from tacit.plan.algebra.relations import ColumnRef, Expr

MOST = 1000
"""Parts of expressions. Columns that are used several times at each of many levels would grow without end."""

Outputs = tuple[tuple[str, Expr], ...]


def beneath(exprs: tuple[Expr, ...], outputs: Outputs) -> tuple[Expr, ...] | None:
    """The expressions with the columns that a projection outputs replaced, None if they would be too large."""
    known = dict(outputs)
    sizes = {name: sum(1 for _ in subexpressions(each)) for name, each in outputs}
    parts = [part for each in exprs for part in subexpressions(each)]
    if sum(sizes.get(part.name, 1) if isinstance(part, ColumnRef) else 1 for part in parts) > MOST:
        return None
    return tuple(substitute(each, known) for each in exprs)

"""Averages and quotients that a subquery of FROM outputs, as what they are divided from: conditions compare that.

The parts become further columns of the subquery, which no name of the query means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.plan.algebra.expressions import reference, subexpressions, substitute, with_nulls
from tacit.plan.algebra.relations import ColumnRef, Expr, Project, Relation
from tacit.plan.algebra.types import Double
from tacit.plan.facts.fields import columns_of, field_of
from tacit.sql.flattening import Outputs, beneath
from tacit.sql.quotients import is_quotient
from tacit.sql.scope import fresh


def with_parts(relation: Relation, taken: set[str]) -> tuple[Relation, dict[str, Expr]]:
    """The relation with the columns that its quotients are computed from, and the quotients by their columns' names."""
    base, outputs = _flat(relation)
    quotients = {name: each for name, each in outputs if is_quotient(each)}
    if not quotients:
        return relation, {}
    known = taken | {name.lower() for name, _ in outputs}
    parts: dict[str, Expr] = {}
    for name in sorted({name for each in quotients.values() for name in columns_of(each)}):
        part = replace(reference(field_of(base, name)), name=fresh(name, "part", known))
        known.add(part.name.lower())
        parts[name] = part
        outputs = (*outputs, (part.name, reference(field_of(base, name))))
    return Project(base, outputs), {name: substitute(each, parts) for name, each in quotients.items()}


def divided(expr: Expr, quotients: Mapping[str, Expr]) -> Expr:
    """A DOUBLE with the quotients that its columns stand for. Beside a row without a match these are NULL too."""
    if not isinstance(expr.type, Double):
        return expr
    used = [each for each in subexpressions(expr) if isinstance(each, ColumnRef) and each.name in quotients]
    return substitute(expr, {each.name: _like(each, quotients[each.name]) for each in used})


def _like(column: ColumnRef, quotient: Expr) -> Expr:
    """The quotient, NULL where its column may be."""
    return with_nulls(quotient) if column.nullable else quotient


def _flat(relation: Relation) -> tuple[Relation, Outputs]:
    """The projections on top of a relation that has a DOUBLE as one, and what is beneath."""
    if not isinstance(relation, Project) or not any(isinstance(each.type, Double) for _, each in relation.outputs):
        return relation, ()
    names, exprs = (tuple(each) for each in zip(*relation.outputs, strict=True))
    base = relation.input
    while isinstance(base, Project) and (found := beneath(exprs, base.outputs)) is not None:
        base, exprs = base.input, found
    return base, tuple(zip(names, exprs, strict=True))

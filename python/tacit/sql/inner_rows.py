"""Rows of subqueries beside those of the query around: values of one that matches, and whether there is one."""

from __future__ import annotations

from tacit.plan.algebra.expressions import substitute
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Aggregate, Aggregation, ColumnRef, Expr, Literal, Project, Relation
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import column, columns_of
from tacit.sql import arithmetic
from tacit.sql.attached import Attached, Matched
from tacit.sql.coercion import integer_literal
from tacit.sql.correlation import Detached, detached, grouped, is_correlated, keyed
from tacit.sql.one_row import OneRow, is_null_without_rows
from tacit.sql.quotients import comparison
from tacit.sql.scope import is_around, seen_from_around

TRUE, FALSE, UNKNOWN = Literal(True, Boolean()), Literal(False, Boolean()), Literal(None, Boolean())


class InnerRows:
    """The rows of the subqueries of one SELECT, as columns that are attached to its own."""

    def __init__(self, attached: Attached) -> None:
        self.attached = attached

    def of_row(self, one: OneRow, rejects_null: bool) -> Expr:
        """The value of a subquery that is one aggregate. Without rows its counts are 0, its other aggregates NULL."""
        used = columns_of(one.value).union(*(columns_of(each) for each in one.present))
        inner = rejects_null and not one.present and is_null_without_rows(one)
        row = self.row(one.base, tuple(sorted(name for name in used if not is_around(name))), inner)
        value = seen_from_around(substitute(one.value, row))
        for each in one.present:
            value = arithmetic.choice(
                [(seen_from_around(substitute(each, row)), value)], Literal(None, value.type), None
            )
        return value

    def row(self, base: Relation, used: tuple[str, ...], inner: bool = False) -> dict[str, Expr]:
        """Columns of a relation of one row. inner: rows of the query around without one may be left out."""
        if not is_correlated(base):
            return dict(self.attached.beside(Project(base, tuple((name, column(base, name)) for name in used))))
        if not (isinstance(base, Aggregate) and not base.keys):
            return dict(self.matched(detached(base), used, not inner))
        found: dict[str, Expr] = dict(self.matched(grouped(base), used, not inner))
        counts = {each.name for each in base.aggregations if each.function.startswith("count")}
        for name in counts & set(used) if not inner else ():
            found[name] = arithmetic.coalesce([found[name], integer_literal(0)], None)
        return found

    def matched(self, inner: Detached, used: tuple[str, ...], kept: bool) -> dict[str, ColumnRef]:
        """Columns of the row of a detached subquery that matches. kept: rows without one stay, beside NULLs."""
        keys = tuple(correlation.column for correlation in inner.correlations)
        wanted = dict.fromkeys((*keys, *used))
        relation = Project(inner.relation, tuple((name, column(inner.relation, name)) for name in wanted))
        outer, at = tuple(correlation.outer for correlation in inner.correlations), inner.correlations[0].position
        return self.attached.matched(Matched(relation, keys, outer, "right" if kept else "none", at))

    def has_rows(self, relation: Relation, position: Position | None) -> Expr:
        """Whether a relation has rows at all."""
        counted = Aggregate(relation, (), (Aggregation("rows", "count_rows", None, position=position),))
        return comparison("gt", self.row(counted, ("rows",))["rows"], integer_literal(0), position)

    def some(self, inner: Detached, position: Position | None) -> Expr:
        """Whether a row matches."""
        if not inner.correlations:
            return self.has_rows(inner.relation, position)
        rows, keys = self.keys(inner, ())
        return self.attached.marked(
            rows, keys, tuple(correlation.outer for correlation in inner.correlations), position
        )

    def keys(self, inner: Detached, first: tuple[str, ...]) -> tuple[Relation, tuple[str, ...]]:
        """A detached subquery with different columns for the values that an IN compares and for its correlations."""
        wanted = [
            column(inner.relation, name)
            for name in (*first, *(correlation.column for correlation in inner.correlations))
        ]
        return keyed(inner.relation, list(wanted), set())

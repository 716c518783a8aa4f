"""Subqueries in expressions: scalar ones, EXISTS, IN, and comparisons with ANY and ALL.

Each becomes an expression over columns that are attached to the relation around it (tacit.sql.attached). A subquery
that names columns of the query around is joined by the values that it compares with them (tacit.sql.correlation).
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import Aggregate, Aggregation, ColumnRef, Expr, Project, Relation
from tacit.plan.algebra.types import Double
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.sql import arithmetic
from tacit.sql.attached import Attached
from tacit.sql.correlation import EQUALITIES, Detached, detached, is_correlated
from tacit.sql.expressions import Expressions
from tacit.sql.inner_rows import FALSE, TRUE, InnerRows
from tacit.sql.joins import Joined, filtered, is_single_row, join_all
from tacit.sql.membership import Membership, member_query
from tacit.sql.one_row import one_row, without_outputs
from tacit.sql.places import Places
from tacit.sql.quotients import comparison
from tacit.sql.scope import Scope, fresh
from tacit.sql.text import Text


class Subqueries:
    """The subqueries of one SELECT. query: binds one within a scope. places: where they stand, told before."""

    def __init__(
        self,
        query: Callable[[exp.Expr, Scope], Relation],
        text: Text,
        catalog: Catalog,
        taken: set[str],
        places: Places,
    ) -> None:
        self.query = query
        self.text = text
        self.catalog = catalog
        self.attached = Attached(taken)
        self.rows = InnerRows(self.attached)
        self.members = Membership(query, text, self.rows, places)
        self.places = places

    def bind(self, node: exp.Expr, bind: Expressions) -> Expr:
        """The expression that a subquery stands for."""
        match node:
            case exp.Exists():
                return self._exists(node, bind.scope)
            case exp.In():
                return self.members.member(node, node.args["query"], bind, self.places.is_positive(node))
            case exp.Binary():
                return self.members.quantified(node, bind)
            case _:
                return self._scalar(node, bind.scope)

    def choices(self, node: exp.Expr, bind: Expressions) -> tuple[list[Expr], Relation] | None:
        """Values of the query around, and the relation among whose rows they have to be for an IN or EXISTS to hold.

        None where it cannot be told like that.
        """
        query = member_query(node)
        if query is not None:
            relation, values = self.members.compared(node, query, bind)
            if is_correlated(relation) and one_row(relation, TRUE) is not None:
                return None
        else:
            relation, values = without_outputs(self.query(_unlimited(node.this), bind.scope)), []
            if not is_correlated(relation) or one_row(relation, TRUE) is not None:
                return None
        if not is_correlated(relation):
            return values, relation
        inner = detached(relation)
        if any(correlation.op != "eq" for correlation in inner.correlations):
            return None
        rows, keys = self.rows.keys(inner, names(relation) if values else ())
        return [*values, *(correlation.outer for correlation in inner.correlations)], Project(
            rows, tuple((k, column(rows, k)) for k in keys)
        )

    def _scalar(self, node: exp.Expr, scope: Scope) -> Expr:
        relation = self.query(node, scope)
        found = fields(relation)
        if len(found) != 1:
            raise self.text.invalid(node, f"a scalar subquery must have one column, not {len(found)}.")
        if is_single_row(relation) and not is_correlated(relation) and not isinstance(found[0].type, Double):
            value = ColumnRef(found[0].name, found[0].type, found[0].nullable)
            name = "scalar"
            made = self.rows.attached.beside(Project(relation, ((name, value),)))[name]
            return ColumnRef(made.name, made.type, True)
        one = one_row(relation, reference(found[0]))
        if one is not None:
            return self.rows.of_row(one, self.places.rejects_null(node))
        return self._unique(node, relation)

    def _unique(self, node: exp.Expr, relation: Relation) -> Expr:
        """The value of the one row that matches."""
        inner = detached(relation)
        keys = tuple(correlation.column for correlation in inner.correlations)
        if (
            any(correlation.op != "eq" for correlation in inner.correlations)
            or not keys
            or not is_unique(inner.relation, keys, self.catalog)
        ):
            raise UnsupportedSQL(
                "a scalar subquery that may have no row or several",
                "make it one aggregate without GROUP BY, such as MAX(...)",
                self.text.position(node),
            )
        kept = not self.places.rejects_null(node)
        (value,) = names(relation)
        return self.rows.matched(inner, (value,), kept)[value]

    def _exists(self, node: exp.Exists, scope: Scope) -> Expr:
        relation = without_outputs(self.query(_unlimited(node.this), scope))
        if is_single_row(relation):
            return TRUE
        position = self.text.position(node)
        if not is_correlated(relation):
            return self.rows.has_rows(relation, position)
        one = one_row(relation, TRUE)
        if one is not None:
            return _known(self.rows.of_row(one, False), position)
        inner = detached(relation)
        if all(correlation.op == "eq" for correlation in inner.correlations):
            rows, keys = self.rows.keys(inner, ())
            return self.rows.attached.marked(
                rows, keys, tuple(correlation.outer for correlation in inner.correlations), position
            )
        return self._other_value(inner, self.places.rejects_null(node), position)

    def _other_value(self, inner: Detached, rejects_null: bool, position: Position | None) -> Expr:
        """Whether a matching row has a value other than, less than, or greater than the one of the query around."""
        equal = tuple(correlation for correlation in inner.correlations if correlation.op == "eq")
        other, *more = (correlation for correlation in inner.correlations if correlation.op != "eq")
        if more:
            raise UnsupportedSQL("EXISTS with two other comparisons than = with the query around", EQUALITIES, position)
        known = {name.lower() for name in names(inner.relation)}
        least, most = fresh("least", "other", known), fresh("greatest", "other", known)
        ends = {"ne": (least, most), "lt": (least,), "le": (least,), "gt": (most,), "ge": (most,)}[other.op]
        totals = (Aggregation(least, "min", other.column), Aggregation(most, "max", other.column))
        base = Aggregate(
            inner.relation,
            tuple(dict.fromkeys(correlation.column for correlation in equal)),
            tuple(each for each in totals if each.name in ends),
        )
        row = self.rows.matched(Detached(base, equal), ends, not rejects_null) if equal else self.rows.row(base, ends)
        tests = [comparison(other.op, row[end], other.outer, other.position) for end in ends]
        holds = arithmetic.logic("or", tests, position)
        return holds if rejects_null else _known(holds, position)


def _unlimited(query: exp.Expr) -> exp.Expr:
    """The query of an EXISTS without a LIMIT of one row."""
    limit = query.args.get("limit")
    if not isinstance(limit, exp.Limit) or query.args.get("offset") or str(limit.expression) != "1":
        return query
    found = query.copy()
    found.set("limit", None)
    return found


def _known(condition: Expr, position: Position | None) -> Expr:
    """A condition whose NULL is FALSE."""
    return arithmetic.choice([(condition, TRUE)], FALSE, position)


def joined_with(items: list[Joined], conditions: list[Expr], attached: Attached, catalog: Catalog) -> Relation:
    """All items joined under all conditions, which may use columns of subqueries."""
    before = [each for each in conditions if not columns_of(each) & attached.made.keys()]
    after = [each for each in conditions if each not in before]
    relation = join_all(items, before, catalog)
    relation = attached.added(relation, {name for each in after for name in columns_of(each)})
    return filtered(relation, after)

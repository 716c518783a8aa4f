"""IN, ANY and ALL: a value compared with all rows of a subquery, with SQL's rules for NULL and for no rows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import Aggregate, Aggregation, ColumnRef, Expr, Filter, Operator, Project, Relation
from tacit.plan.facts.fields import column, fields, names
from tacit.sql import arithmetic
from tacit.sql.coercion import Mismatch, coerce, common_type, integer_literal, text_in
from tacit.sql.correlation import EQUALITIES, Correlation, Detached, detached, is_correlated, without_around
from tacit.sql.expressions import Expressions
from tacit.sql.inner_rows import FALSE, TRUE, UNKNOWN, InnerRows
from tacit.sql.one_row import OneRow, one_row
from tacit.sql.places import Places
from tacit.sql.quotients import comparison
from tacit.sql.scope import Scope
from tacit.sql.text import Text

QUANTIFIED: dict[type[exp.Expr], Operator] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge",
}  # fmt: skip
NEGATED: dict[Operator, Operator] = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


class Membership:
    """Comparisons of values with the rows of subqueries. query: binds one within a scope."""

    def __init__(
        self, query: Callable[[exp.Expr, Scope], Relation], text: Text, rows: InnerRows, places: Places
    ) -> None:
        self.query = query
        self.text = text
        self.rows = rows
        self.places = places

    def member(self, node: exp.Expr, query: exp.Expr, bind: Expressions, positive: bool) -> Expr:
        """value IN (SELECT ...). positive: NULL may be FALSE."""
        relation, values = self.compared(node, query, bind)
        position = self.text.position(node)
        if is_correlated(relation) and one_row(relation, TRUE) is not None:
            return self._is_row(relation, values, position)
        inner = detached(relation)
        self._only_equalities(inner)
        found = names(relation)
        rows, keys = self.rows.keys(inner, found)
        outer = tuple(correlation.outer for correlation in inner.correlations)
        mark = self.rows.attached.marked(rows, keys, (*values, *outer), position)
        nullable = any(each.nullable for each in values) or any(each.nullable for each in fields(relation))
        if positive or not nullable:
            return mark
        if len(values) > 1:
            instead = "write NOT EXISTS"
            raise UnsupportedSQL("IN of several columns that may be NULL, under NOT or as a value,", instead, position)
        unknown = self._unknown(inner, column(relation, found[0]), values[0], position)
        return arithmetic.choice([(mark, TRUE), (unknown, UNKNOWN)], FALSE, position)

    def _unknown(self, inner: Detached, choice: ColumnRef, value: Expr, position: Position | None) -> Expr:
        """Whether NULL is the answer of an IN that found nothing: a choice is NULL, or the value, and some exist."""
        missing = Filter(inner.relation, arithmetic.is_null(choice, position))
        tests = [self.rows.some(Detached(missing, inner.correlations), position)] if choice.nullable else []
        if value.nullable:
            some = self.rows.some(inner, position)
            tests.append(arithmetic.logic("and", [arithmetic.is_null(value, position), some], position))
        return arithmetic.logic("or", tests, position)

    def _is_row(self, relation: Relation, values: list[Expr], position: Position | None) -> Expr:
        """value IN (SELECT of one aggregate)."""
        tests = []
        for value, each in zip(values, fields(relation), strict=True):
            one = one_row(relation, reference(each))
            assert one is not None
            tests.append(comparison("eq", value, self.rows.of_row(OneRow(one.base, one.value, ()), False), position))
        one = one_row(relation, TRUE)
        assert one is not None
        holds = arithmetic.logic("and", tests, position) if len(tests) > 1 else tests[0]
        if not one.present:
            return holds
        return arithmetic.choice([(self.rows.of_row(one, False), holds)], FALSE, position)

    def compared(self, node: exp.Expr, query: exp.Expr, bind: Expressions) -> tuple[Relation, list[Expr]]:
        """The choices of an IN and the values looked for, of common types."""
        relation = self.query(query, bind.scope)
        what = "an IN" if isinstance(node, exp.In) else "an ANY or ALL"
        left = node.this.unnest()
        nodes = left.expressions if isinstance(left, exp.Tuple) else [left]
        found = fields(relation)
        if len(found) != len(nodes):
            wanted = "exactly one column" if len(nodes) == 1 else f"{len(nodes)} columns, as its left side has"
            raise self.text.invalid(node, f"the SELECT of {what} must have {wanted}.")
        values, outputs = [], []
        for each, choice in zip(nodes, map(reference, found), strict=True):
            value = bind.bind(each)
            without_around(value, f"on the left of {what} in a subquery")
            try:
                target = common_type(value, choice)
                values.append(text_in(target, coerce(value, target)))
                outputs.append((choice.name, coerce(choice, target)))
            except Mismatch as error:
                raise self.text.invalid(node, f"{error}.") from None
        same = all(each == ColumnRef(name, each.type, each.nullable) for name, each in outputs)
        return relation if same else Project(relation, tuple(outputs)), values

    def quantified(self, node: exp.Binary, bind: Expressions) -> Expr:
        """A comparison with ANY or ALL choices."""
        op, every = QUANTIFIED[type(node)], isinstance(node.expression, exp.All)
        position = self.text.position(node)
        if op == ("ne" if every else "eq"):
            positive = not every and self.places.is_positive(node)
            member = self.member(node, node.expression.this, bind, positive)
            return arithmetic.logic("not", [member], position) if every else member
        if every:
            return self._for_all(node, op, bind)
        return arithmetic.logic("not", [self._for_all(node, NEGATED[op], bind)], position)

    def _for_all(self, node: exp.Binary, op: Operator, bind: Expressions) -> Expr:
        """Whether a comparison holds with all choices: with their least or greatest, or with both for equality."""
        relation, values = self.compared(node, node.expression.this, bind)
        position = self.text.position(node)
        (choice,) = names(relation)
        ends = {"eq": ("min", "max"), "lt": ("min",), "le": ("min",), "gt": ("max",), "ge": ("max",)}[op]
        totals = (
            Aggregation("min", "min", choice),
            Aggregation("max", "max", choice),
            Aggregation("rows", "count_rows", None),
            Aggregation("values", "count", choice),
        )
        wanted = (*ends, "rows", "values")
        row = self.rows.row(Aggregate(relation, (), tuple(each for each in totals if each.name in wanted)), wanted)
        tests = [comparison(op, values[0], row[end], position) for end in ends]
        holds = arithmetic.logic("and", tests, position) if len(tests) > 1 else tests[0]
        empty = comparison("eq", row["rows"], integer_literal(0), position)
        fails = arithmetic.logic("not", [holds], position)
        missing = comparison("lt", row["values"], row["rows"], position)
        return arithmetic.choice([(empty, TRUE), (fails, FALSE), (missing, UNKNOWN)], holds, position)

    def _only_equalities(self, inner: Detached) -> None:
        other: Correlation | None = next(
            (correlation for correlation in inner.correlations if correlation.op != "eq"), None
        )
        if other is not None:
            what = "another comparison than = with the query around, in the SELECT of an IN,"
            raise UnsupportedSQL(what, EQUALITIES, other.position)


def member_query(node: exp.Expr) -> exp.Expr | None:
    """The query among whose rows IN or = ANY looks for a value."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        found = node.expression.this
    else:
        found = node.args.get("query") if isinstance(node, exp.In) else None
    return found if isinstance(found, exp.Expr) else None

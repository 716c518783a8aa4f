"""Subqueries in expressions: scalar ones, EXISTS, IN, and comparisons with ANY and ALL.

Each becomes an expression over columns that are attached to the relation around it (tacit.sql.attached). A subquery
that names columns of the query around is joined by the values that it compares with them (tacit.sql.correlation).
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tacit.plan.algebra.expressions import reference, substitute
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    ColumnRef,
    Expr,
    Filter,
    Literal,
    Operator,
    Project,
    Relation,
)
from tacit.plan.algebra.types import Boolean, Double
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.sql import arithmetic
from tacit.sql.attached import Attached, Matched
from tacit.sql.coercion import Mismatch, coerce, common_type, integer_literal
from tacit.sql.correlation import EQUALITIES, Detached, Link, detached, grouped, is_correlated, keyed, without_around
from tacit.sql.expressions import Expressions
from tacit.sql.joins import Joined, filtered, is_single_row, join_all
from tacit.sql.one_row import OneRow, is_null_without_rows, one_row, without_outputs
from tacit.sql.places import Places
from tacit.sql.quotients import comparison
from tacit.sql.scope import Scope, fresh, is_around, seen_from_around
from tacit.sql.text import Text

TRUE, FALSE, UNKNOWN = Literal(True, Boolean()), Literal(False, Boolean()), Literal(None, Boolean())
QUANTIFIED: dict[type[exp.Expr], Operator] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge",
}  # fmt: skip
NEGATED: dict[Operator, Operator] = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


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
        self.places = places

    def bind(self, node: exp.Expr, bind: Expressions) -> Expr:
        """The expression that a subquery stands for."""
        match node:
            case exp.Exists():
                return self._exists(node, bind.scope)
            case exp.In():
                return self._member(node, node.args["query"], bind, self.places.is_positive(node))
            case exp.Binary():
                return self._quantified(node, bind)
            case _:
                return self._scalar(node, bind.scope)

    def choices(self, node: exp.Expr, bind: Expressions) -> tuple[list[Expr], Relation] | None:
        """Values of the query around, and the relation among whose rows they have to be for an IN or EXISTS to hold.

        None where it cannot be told like that.
        """
        query = member_query(node)
        if query is not None:
            relation, values = self._compared(node, query, bind)
            if is_correlated(relation) and one_row(relation, TRUE) is not None:
                return None
        else:
            relation, values = without_outputs(self.query(_unlimited(node.this), bind.scope)), []
            if not is_correlated(relation) or one_row(relation, TRUE) is not None:
                return None
        if not is_correlated(relation):
            return values, relation
        inner = detached(relation)
        if any(link.op != "eq" for link in inner.links):
            return None
        rows, keys = self._keys(inner, names(relation) if values else ())
        return [*values, *(link.outer for link in inner.links)], Project(
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
            made = self.attached.beside(Project(relation, ((name, value),)))[name]
            return ColumnRef(made.name, made.type, True)
        one = one_row(relation, reference(found[0]))
        if one is not None:
            return self._of_row(one, self.places.rejects_null(node))
        return self._unique(node, relation)

    def _unique(self, node: exp.Expr, relation: Relation) -> Expr:
        """The value of the one row that matches."""
        inner = detached(relation)
        keys = tuple(link.column for link in inner.links)
        if (
            any(link.op != "eq" for link in inner.links)
            or not keys
            or not is_unique(inner.relation, keys, self.catalog)
        ):
            raise UnsupportedSQL(
                "a scalar subquery that may have no row or several",
                "make it one aggregate without GROUP BY, such as MAX(...)",
                self.text.position(node),
            )
        kept = self._kept(self.places.rejects_null(node))
        (value,) = names(relation)
        return self._matched(inner, (value,), kept)[value]

    def _of_row(self, one: OneRow, rejects_null: bool) -> Expr:
        """The value of a subquery that is one aggregate. Without rows its counts are 0, its other aggregates NULL."""
        used = columns_of(one.value).union(*(columns_of(each) for each in one.present))
        inner = rejects_null and not one.present and is_null_without_rows(one)
        row = self._row(one.base, tuple(sorted(name for name in used if not is_around(name))), inner)
        value = seen_from_around(substitute(one.value, row))
        for each in one.present:
            value = arithmetic.choice(
                [(seen_from_around(substitute(each, row)), value)], Literal(None, value.type), None
            )
        return value

    def _row(self, base: Relation, used: tuple[str, ...], inner: bool = False) -> dict[str, Expr]:
        """Columns of a relation of one row. inner: rows of the query around without one may be left out."""
        if not is_correlated(base):
            return dict(self.attached.beside(Project(base, tuple((name, column(base, name)) for name in used))))
        if not (isinstance(base, Aggregate) and not base.keys):
            return dict(self._matched(detached(base), used, self._kept(inner)))
        found: dict[str, Expr] = dict(self._matched(grouped(base), used, self._kept(inner)))
        counts = {each.name for each in base.aggregations if each.function.startswith("count")}
        for name in counts & set(used) if not inner else ():
            found[name] = arithmetic.coalesce([found[name], integer_literal(0)], None)
        return found

    def _matched(self, inner: Detached, used: tuple[str, ...], kept: bool) -> dict[str, ColumnRef]:
        """Columns of the row of a detached subquery that matches. kept: rows without one stay, beside NULLs."""
        keys = tuple(link.column for link in inner.links)
        wanted = dict.fromkeys((*keys, *used))
        relation = Project(inner.relation, tuple((name, column(inner.relation, name)) for name in wanted))
        outer, at = tuple(link.outer for link in inner.links), inner.links[0].position
        return self.attached.matched(Matched(relation, keys, outer, "right" if kept else "none", at))

    def _kept(self, rejects_null: bool) -> bool:
        return not rejects_null

    def _exists(self, node: exp.Exists, scope: Scope) -> Expr:
        relation = without_outputs(self.query(_unlimited(node.this), scope))
        if is_single_row(relation):
            return TRUE
        position = self.text.position(node)
        if not is_correlated(relation):
            return self._has_rows(relation, position)
        one = one_row(relation, TRUE)
        if one is not None:
            return _known(self._of_row(one, False), position)
        inner = detached(relation)
        if all(link.op == "eq" for link in inner.links):
            rows, keys = self._keys(inner, ())
            return self.attached.marked(rows, keys, tuple(link.outer for link in inner.links), position)
        return self._other_value(inner, self.places.rejects_null(node), position)

    def _has_rows(self, relation: Relation, position: Position | None) -> Expr:
        counted = Aggregate(relation, (), (Aggregation("rows", "count_rows", None, position=position),))
        return comparison("gt", self._row(counted, ("rows",))["rows"], integer_literal(0), position)

    def _other_value(self, inner: Detached, rejects_null: bool, position: Position | None) -> Expr:
        """Whether a matching row has a value other than, less than, or greater than the one of the query around."""
        equal = tuple(link for link in inner.links if link.op == "eq")
        other, *more = (link for link in inner.links if link.op != "eq")
        if more:
            raise UnsupportedSQL("EXISTS with two other comparisons than = with the query around", EQUALITIES, position)
        known = {name.lower() for name in names(inner.relation)}
        least, most = fresh("least", "other", known), fresh("greatest", "other", known)
        ends = {"ne": (least, most), "lt": (least,), "le": (least,), "gt": (most,), "ge": (most,)}[other.op]
        totals = (Aggregation(least, "min", other.column), Aggregation(most, "max", other.column))
        base = Aggregate(
            inner.relation,
            tuple(dict.fromkeys(link.column for link in equal)),
            tuple(each for each in totals if each.name in ends),
        )
        row = self._matched(Detached(base, equal), ends, not rejects_null) if equal else self._row(base, ends)
        tests = [comparison(other.op, row[end], other.outer, other.position) for end in ends]
        holds = arithmetic.logic("or", tests, position)
        return holds if rejects_null else _known(holds, position)

    def _member(self, node: exp.Expr, query: exp.Expr, bind: Expressions, positive: bool) -> Expr:
        """value IN (SELECT ...). positive: NULL may be FALSE."""
        relation, values = self._compared(node, query, bind)
        position = self.text.position(node)
        if is_correlated(relation) and one_row(relation, TRUE) is not None:
            return self._is_row(relation, values, position)
        inner = detached(relation)
        self._only_equalities(inner)
        found = names(relation)
        rows, keys = self._keys(inner, found)
        outer = tuple(link.outer for link in inner.links)
        mark = self.attached.marked(rows, keys, (*values, *outer), position)
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
        tests = [self._some(Detached(missing, inner.links), position)] if choice.nullable else []
        if value.nullable:
            some = self._some(inner, position)
            tests.append(arithmetic.logic("and", [arithmetic.is_null(value, position), some], position))
        return arithmetic.logic("or", tests, position)

    def _some(self, inner: Detached, position: Position | None) -> Expr:
        """Whether a row matches."""
        if not inner.links:
            return self._has_rows(inner.relation, position)
        rows, keys = self._keys(inner, ())
        return self.attached.marked(rows, keys, tuple(link.outer for link in inner.links), position)

    def _is_row(self, relation: Relation, values: list[Expr], position: Position | None) -> Expr:
        """value IN (SELECT of one aggregate)."""
        tests = []
        for value, each in zip(values, fields(relation), strict=True):
            one = one_row(relation, reference(each))
            assert one is not None
            tests.append(comparison("eq", value, self._of_row(OneRow(one.base, one.value, ()), False), position))
        one = one_row(relation, TRUE)
        assert one is not None
        holds = arithmetic.logic("and", tests, position) if len(tests) > 1 else tests[0]
        if not one.present:
            return holds
        return arithmetic.choice([(self._of_row(one, False), holds)], FALSE, position)

    def _compared(self, node: exp.Expr, query: exp.Expr, bind: Expressions) -> tuple[Relation, list[Expr]]:
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
                values.append(coerce(value, target))
                outputs.append((choice.name, coerce(choice, target)))
            except Mismatch as error:
                raise self.text.invalid(node, f"{error}.") from None
        same = all(each == ColumnRef(name, each.type, each.nullable) for name, each in outputs)
        return relation if same else Project(relation, tuple(outputs)), values

    def _quantified(self, node: exp.Binary, bind: Expressions) -> Expr:
        """A comparison with ANY or ALL choices."""
        op, every = QUANTIFIED[type(node)], isinstance(node.expression, exp.All)
        position = self.text.position(node)
        if op == ("ne" if every else "eq"):
            positive = not every and self.places.is_positive(node)
            member = self._member(node, node.expression.this, bind, positive)
            return arithmetic.logic("not", [member], position) if every else member
        if every:
            return self._for_all(node, op, bind)
        return arithmetic.logic("not", [self._for_all(node, NEGATED[op], bind)], position)

    def _for_all(self, node: exp.Binary, op: Operator, bind: Expressions) -> Expr:
        """Whether a comparison holds with all choices: with their least or greatest, or with both for equality."""
        relation, values = self._compared(node, node.expression.this, bind)
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
        row = self._row(Aggregate(relation, (), tuple(each for each in totals if each.name in wanted)), wanted)
        tests = [comparison(op, values[0], row[end], position) for end in ends]
        holds = arithmetic.logic("and", tests, position) if len(tests) > 1 else tests[0]
        empty = comparison("eq", row["rows"], integer_literal(0), position)
        fails = arithmetic.logic("not", [holds], position)
        missing = comparison("lt", row["values"], row["rows"], position)
        return arithmetic.choice([(empty, TRUE), (fails, FALSE), (missing, UNKNOWN)], holds, position)

    def _keys(self, inner: Detached, first: tuple[str, ...]) -> tuple[Relation, tuple[str, ...]]:
        """A detached subquery with different columns for the values that an IN compares and for its links."""
        wanted = [column(inner.relation, name) for name in (*first, *(link.column for link in inner.links))]
        return keyed(inner.relation, list(wanted), set())

    def _only_equalities(self, inner: Detached) -> None:
        other: Link | None = next((link for link in inner.links if link.op != "eq"), None)
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


def _unlimited(query: exp.Expr) -> exp.Expr:
    """The query of an EXISTS without a LIMIT that leaves it a row."""
    limit = query.args.get("limit")
    if limit is None or query.args.get("offset") or str(limit.expression) in ("0", "NULL"):
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

"""Expressions of SQL to typed expressions of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from decimal import Decimal as Exact

from sqlglot import exp

from tacit.plan.algebra.refusals import Position, QueryError
from tacit.plan.algebra.relations import Expr, Literal
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Boolean, Double, Integer
from tacit.sql import arithmetic, calendar, functions, intervals
from tacit.sql.aggregate_calls import is_aggregate
from tacit.sql.casts import cast
from tacit.sql.chains import is_long, summed, terms
from tacit.sql.coercion import (
    NULL,
    Mismatch,
    date_literal,
    decimal_literal,
    integer_literal,
    moment_literal,
    text_literal,
)
from tacit.sql.divided_columns import divided
from tacit.sql.intervals import is_interval
from tacit.sql.quotients import comparison, null_test
from tacit.sql.scope import Scope
from tacit.sql.text import Text, only

_ARITHMETIC: dict[type[exp.Expr], Op] = {exp.Add: "add", exp.Sub: "sub", exp.Mul: "mul"}
_COMPARISONS: dict[type[exp.Expr], Op] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge",
}  # fmt: skip
_INSTEAD: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Interval: ("an INTERVAL by itself", "add it to a DATE or a TIMESTAMP"),
    exp.CurrentDate: ("CURRENT_DATE", "write the day itself, which all parties have to agree on"),
    exp.CurrentTimestamp: ("the current moment", "write the moment itself, which all parties have to agree on"),
    exp.Rand: ("RANDOM", "leave it out: all parties have to agree on the answer"),
    exp.Array: ("a list", "select its members as columns"),
    exp.Columns: ("COLUMNS", "name each column"),
    exp.AtTimeZone: ("AT TIME ZONE", "store all moments in one zone, in a TIMESTAMP column"),
    exp.Parameter: ("a parameter", "write the value itself"),
    exp.Placeholder: ("a parameter", "write the value itself"),
    exp.Values: ("VALUES", "put the rows into a table of an owner"),
    exp.IgnoreNulls: ("IGNORE NULLS here", "leave it out"),
    exp.RespectNulls: ("RESPECT NULLS", "leave it out"),
}
_WRITTEN_AS = {"EVERY": "BOOL_AND", "STD": "STDDEV"}
"""Functions of other databases, by what DuckDB calls them."""


class Expressions:
    """Binds expressions over one scope.

    aggregate: what to do with an aggregate call, or None where none may stand (with ``place`` saying where that is).
    window: the same of a window function.
    subquery: binds a subquery, an EXISTS, an IN of a subquery, or a comparison with ANY or ALL of one.
    quotients: what columns of subqueries are divided from, for comparisons.
    aliases: lower-case names of the SELECT list to their expressions, used where the scope has no such column.
    """

    def __init__(
        self,
        scope: Scope,
        text: Text,
        place: str,
        subquery: Callable[[exp.Expr, Expressions], Expr],
        aggregate: Callable[[exp.Expr], Expr] | None = None,
        aliases: Mapping[str, exp.Expr] | None = None,
        quotients: Mapping[str, Expr] | None = None,
        window: Callable[[exp.Window], Expr] | None = None,
    ) -> None:
        self.scope = scope
        self.text = text
        self.place = place
        self.subquery = subquery
        self.aggregate = aggregate
        self.aliases = aliases or {}
        self.window = window
        self.quotients = quotients or {}

    def bind(self, node: exp.Expr) -> Expr:
        """A typed expression. A contradiction of types is told at its place in the text."""
        try:
            return self._bind(node)
        except Mismatch as error:
            raise self.text.invalid(node, f"{error}.") from None

    def condition(self, node: exp.Expr) -> Expr:
        """An expression that must be a BOOLEAN."""
        bound = self.bind(node)
        try:
            return arithmetic.condition(bound)
        except Mismatch as error:
            raise self.text.invalid(node, f"{error}.") from None

    def _bind(self, node: exp.Expr) -> Expr:
        position = self.text.position(node)
        match node:
            case exp.Paren():
                return self.bind(node.this)
            case exp.Column():
                return self._column(node)
            case exp.Literal():
                return self._literal(node)
            case exp.Boolean():
                return Literal(bool(node.this), Boolean())
            case exp.Null():
                return NULL
            case exp.Neg():
                return arithmetic.negation(self.bind(node.this), position)
            case exp.Div():
                return arithmetic.quotient(self.bind(node.this), self.bind(node.expression), position)
            case exp.Add() | exp.Sub() if is_interval(node.expression) or is_interval(node.this):
                return self._shifted(node)
            case exp.Add() | exp.Sub() if is_long(node):
                return self._summed(node)
            case exp.Binary() if type(node) in _ARITHMETIC:
                pair = self.bind(node.this), self.bind(node.expression)
                return arithmetic.binary(_ARITHMETIC[type(node)], *pair, position)
            case exp.Binary() if isinstance(node.expression, exp.Any | exp.All) and type(node) in _COMPARISONS:
                return self.subquery(node, self)
            case exp.Binary() if type(node) in _COMPARISONS:
                pair = self.bind(node.this), self.bind(node.expression)
                return self._compared(_COMPARISONS[type(node)], *pair, position)
            case exp.And() | exp.Or():
                op: Op = "and" if isinstance(node, exp.And) else "or"
                return arithmetic.logic(op, [self.condition(each) for each in node.flatten()], position)
            case exp.Not():
                return arithmetic.logic("not", [self.condition(node.this)], position)
            case exp.Window():
                return self._window(node)
            case exp.AggFunc() | exp.Filter() | exp.WithinGroup() | exp.IgnoreNulls() if is_aggregate(node):
                return self._aggregate(node)
            case exp.Subquery() | exp.Exists():
                return self.subquery(node, self)
            case _:
                return self._lowered(node)

    def _lowered(self, node: exp.Expr) -> Expr:
        """Constructs that are written with others."""
        position = self.text.position(node)
        match node:
            case exp.Is(expression=exp.Null()):
                return null_test(divided(self.bind(node.this), self.quotients), position)
            case exp.Between():
                value, low, high = (self.bind(each) for each in (node.this, node.args["low"], node.args["high"]))
                pair = (
                    self._compared("ge", value, low, position),
                    self._compared("le", value, high, position),
                )
                return arithmetic.logic("and", pair, position)
            case exp.In():
                return self._in(node)
            case exp.Case():
                return self._case(node)
            case exp.If():
                otherwise = NULL if node.args.get("false") is None else self.bind(node.args["false"])
                return arithmetic.choice(
                    [(self.condition(node.this), self.bind(node.args["true"]))], otherwise, position
                )
            case exp.Coalesce():
                return arithmetic.coalesce([self.bind(each) for each in (node.this, *node.expressions)], position)
            case exp.Nullif():
                return arithmetic.nullif(self.bind(node.this), self.bind(node.expression), position)
            case exp.Cast():
                return self._cast(node)
            case _:
                found = functions.bound(self, node)
                if found is None:
                    raise self._refusal(node)
                return found

    def _summed(self, node: exp.Expr) -> Expr:
        """A sum of many terms."""
        first, others = terms(node)
        values = [self.bind(first), *(self.bind(each.value) for each in others)]
        return summed(values, [each.op for each in others])

    def _shifted(self, node: exp.Add | exp.Sub) -> Expr:
        """A day or moment plus or minus an INTERVAL."""
        value, span = node.this, node.expression
        if is_interval(value) and isinstance(node, exp.Add) and not is_interval(span):
            value, span = span, value
        if is_interval(value) or not is_interval(span):
            raise self.text.unsupported(node, "arithmetic of INTERVALs", "add an INTERVAL to a DATE or a TIMESTAMP")
        by = intervals.span(span, self.text)
        by = intervals.negative(by) if isinstance(node, exp.Sub) else by
        return calendar.shifted(self.bind(value), by, self.text.position(node))

    def _compared(self, op: Op, a: Expr, b: Expr, position: Position | None) -> Expr:
        return comparison(op, divided(a, self.quotients), divided(b, self.quotients), position)

    def _column(self, node: exp.Column) -> Expr:
        if isinstance(node.this, exp.Star):
            raise self.text.invalid(node, "* can only stand alone in a SELECT list or in COUNT(*).")
        if node.args.get("db"):
            raise self.text.unsupported(node, "a column name with a schema", "write table.column")
        name = node.name.lower()
        if not node.table and name in self.aliases and self.scope.lookup(name, "", node, self.text) is None:
            inner = copy(self)
            inner.aliases = {alias: each for alias, each in self.aliases.items() if alias != name}
            return inner.bind(self.aliases[name])
        return replace(self.scope.find(node, self.text), position=self.text.position(node))

    def _literal(self, node: exp.Literal) -> Expr:
        written = self.text.written(node)
        if node.is_string:
            return text_literal(str(node.this))
        if "e" in written.lower():
            return Literal(float(Exact(written)), Double())
        return decimal_literal(written) if "." in written else integer_literal(int(written))

    def _aggregate(self, node: exp.Expr) -> Expr:
        if self.aggregate is None:
            raise self.text.invalid(node, f"an aggregate cannot stand in {self.place}; compute it in a subquery.")
        return self.aggregate(node)

    def _window(self, node: exp.Window) -> Expr:
        if self.window is None:
            raise self.text.invalid(node, f"a window function cannot stand in {self.place}; compute it in a subquery.")
        return self.window(node)

    def _in(self, node: exp.In) -> Expr:
        only(node, self.text, {"this", "expressions", "query"}, "IN")
        if node.args.get("query") is not None:
            return self.subquery(node, self)
        value = self.bind(node.this)
        position = self.text.position(node)
        tests = [self._compared("eq", value, self.bind(each), position) for each in node.expressions]
        return arithmetic.logic("or", tests, position)

    def _case(self, node: exp.Case) -> Expr:
        position = self.text.position(node)
        tested = None if node.this is None else self.bind(node.this)
        branches = []
        for each in node.args["ifs"]:
            if tested is None:
                test = self.condition(each.this)
            else:
                test = self._compared("eq", tested, self.bind(each.this), position)
            branches.append((test, self.bind(each.args["true"])))
        default = node.args.get("default")
        return arithmetic.choice(branches, NULL if default is None else self.bind(default), position)

    def _cast(self, node: exp.Cast) -> Expr:
        if isinstance(node, exp.TryCast):
            raise self.text.unsupported(node, "TRY_CAST", "clean the column before the query")
        only(node, self.text, {"this", "to"}, "CAST")
        value = self.bind(node.this)
        if node.to.is_type("date") and isinstance(node.this, exp.Literal) and node.this.is_string:
            return date_literal(str(node.this.this))
        if node.to.is_type("timestamp", "timestampntz") and isinstance(node.this, exp.Literal) and node.this.is_string:
            return moment_literal(str(node.this.this))
        return cast(value, node, self.text)

    def _refusal(self, node: exp.Expr) -> QueryError:
        if type(node) in _INSTEAD:
            return self.text.unsupported(node, *_INSTEAD[type(node)])
        if isinstance(node, exp.Func):
            name = node.name if isinstance(node, exp.Anonymous) else self.text.word(node)
            if name.upper() in _WRITTEN_AS:
                return self.text.unsupported(node, f"the function {name.upper()}", f"write {_WRITTEN_AS[name.upper()]}")
            return self.text.unsupported(
                node, f"the function {name.upper()}", "compute it in a column before the query"
            )
        return self.text.unsupported(
            node, f"{node.sql('duckdb')!r} as an expression", "use + - *, comparisons, AND, OR, NOT and CASE"
        )


def constant_integer(node: exp.Expr, text: Text, what: str) -> int:
    """A whole number written as such, for LIMIT and OFFSET."""
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        found = integer_literal(int(node.this))
        assert isinstance(found.type, Integer)
        return found.type.low
    raise text.unsupported(node, f"an expression in {what}", "write a whole number")


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND joins, without their parentheses."""
    found, left = [], [node]
    while left:
        match left.pop():
            case exp.Paren() as paren:
                left.append(paren.this)
            case exp.And() as both:
                left += [both.expression, both.this]
            case condition:
                found.append(condition)
    return found

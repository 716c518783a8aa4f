"""Aggregates: collecting the aggregate calls of a SELECT, and checking that everything else is a group's key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from tacit.plan.algebra.relations import (
    Aggregate,
    AggregateFunction,
    Aggregation,
    Call,
    ColumnRef,
    Expr,
    Literal,
    Project,
    Relation,
)
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, sql_name
from tacit.plan.facts.fields import aggregation_field, columns_of
from tacit.sql.arithmetic import quotient
from tacit.sql.coercion import integer_literal
from tacit.sql.correlation import without_around
from tacit.sql.scope import fresh, is_around
from tacit.sql.text import Text

_FUNCTIONS: dict[type[exp.Expr], AggregateFunction] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


class Grouping:
    """The aggregates and keys of one SELECT over an input relation.

    An aggregate call is replaced by a column of the aggregation's output; equal calls share one.
    argument: binds the argument of an aggregate over the input.
    """

    def __init__(
        self, input: Relation, keys: list[Expr], argument: Callable[[exp.Expr], Expr], taken: set[str], text: Text
    ) -> None:
        self.input = input
        self.grouped = bool(keys)
        self.argument = argument
        self.taken = taken
        self.text = text
        self.inputs: dict[Expr, str] = {}
        self.keys = {key: self._input(key, "group") for key in keys}
        self.aggregations: dict[tuple[AggregateFunction, str | None], Aggregation] = {}

    def collect(self, node: exp.AggFunc) -> Expr:
        """The expression that stands for an aggregate call."""
        if isinstance(node, exp.Count):
            return self._count(node)
        if isinstance(node.this, exp.Distinct):
            raise self.text.unsupported(node, "DISTINCT in this aggregate", "aggregate a subquery with SELECT DISTINCT")
        if isinstance(node, exp.Avg):
            return self._average(node)
        if isinstance(node, exp.Median):
            return self._median(node)
        if type(node) not in _FUNCTIONS:
            raise self.text.unsupported(
                node, f"the aggregate {node.sql_name()}", "use SUM, COUNT, AVG, MEDIAN, MIN or MAX"
            )
        argument = self._number(node) if isinstance(node, exp.Sum) else self._argument(node)
        return self._output(_FUNCTIONS[type(node)], argument, node)

    def relation(self, input: Relation) -> Relation:
        """The aggregation, over the input with the scalar subqueries that arguments and keys use."""
        if any(not isinstance(each, ColumnRef) for each in self.inputs):
            input = Project(input, tuple((name, each) for each, name in self.inputs.items()))
        positions = tuple(None if isinstance(key, Literal) else key.position for key in self.keys)
        return Aggregate(input, tuple(self.keys.values()), tuple(self.aggregations.values()), positions)

    def over_groups(self, expr: Expr, node: exp.Expr, allowed: set[str]) -> Expr:
        """The expression over the aggregation's output: keys become its columns; no other input column may remain.

        allowed: further columns of the output (aggregates have their own names already), here those of subqueries.
        """
        if expr in self.keys:
            position = None if isinstance(expr, Literal) else expr.position
            return ColumnRef(self.keys[expr], expr.type, expr.nullable, position)
        match expr:
            case ColumnRef(name):
                if is_around(name):
                    return expr
                if name not in allowed and name not in {each.name for each in self.aggregations.values()}:
                    raise self.text.invalid(
                        node, f"the column {name!r} must be in GROUP BY or inside an aggregate such as MIN({name})."
                    )
                return expr
            case Literal():
                return expr
            case Call(op, args, type_, nullable, position):
                return Call(op, tuple(self.over_groups(arg, node, allowed) for arg in args), type_, nullable, position)

    def _count(self, node: exp.Count) -> Expr:
        if node.this is None or isinstance(node.this, exp.Star):
            return self._output("count_rows", None, node)
        if node.expressions or (isinstance(node.this, exp.Distinct) and len(node.this.expressions) != 1):
            raise self.text.unsupported(
                node, "COUNT of several columns", "count the rows of a SELECT DISTINCT subquery"
            )
        if isinstance(node.this, exp.Distinct):
            return self._output("count_distinct", self._bound(node, node.this.expressions[0]), node)
        return self._counted(self._bound(node, node.this), node)

    def _counted(self, argument: Expr, node: exp.AggFunc) -> ColumnRef:
        """The number of values. Where none is NULL that is the number of rows, of which the column is told beside."""
        if argument.nullable:
            return self._output("count", argument, node)
        rows = self._output("count_rows", None, node)
        if columns_of(argument):
            known, name = self.aggregations["count_rows", None], self._input(argument, "value")
            counted = tuple(dict.fromkeys((*known.counted, name)))
            self.aggregations["count_rows", None] = replace(known, counted=counted)
        return rows

    def _average(self, node: exp.Avg) -> Expr:
        argument = self._number(node)
        total = self._output("sum", argument, node)
        counts: AggregateFunction = "count" if argument.nullable else "count_rows"
        count = self._output(counts, argument if argument.nullable else None, node)
        return Call("average", (total, count), Double(), total.nullable, self.text.position(node))

    def _median(self, node: exp.Median) -> Expr:
        argument = self._argument(node)
        if not isinstance(argument.type, Integer):
            fix = "use MIN, MAX or AVG, or a whole number"
            raise self.text.unsupported(node, f"MEDIAN of a {sql_name(argument.type)}", fix)
        return quotient(self._output("middle", argument, node), integer_literal(2), self.text.position(node))

    def _number(self, node: exp.AggFunc) -> Expr:
        argument = self._argument(node)
        if isinstance(argument.type, Boolean) and isinstance(node, exp.Sum):
            return Call("cast", (argument,), Integer(0, 1, "INTEGER"), argument.nullable)
        if not isinstance(argument.type, Integer | Decimal):
            raise self.text.invalid(node, f"{node.sql_name()} takes a number, not {sql_name(argument.type)}.")
        return argument

    def _argument(self, node: exp.AggFunc) -> Expr:
        return self._bound(node, node.this)

    def _bound(self, node: exp.AggFunc, argument: exp.Expr) -> Expr:
        bound = self.argument(argument)
        without_around(bound, "in an aggregate of the subquery")
        if isinstance(bound.type, Double):
            raise self.text.unsupported(node, "an aggregate of a DOUBLE", "aggregate first, then divide")
        return bound

    def _output(self, function: AggregateFunction, argument: Expr | None, node: exp.AggFunc) -> ColumnRef:
        source = None if argument is None else self._input(argument, "value")
        if (function, source) not in self.aggregations:
            name = fresh("count" if source is None else f"{function}_{source}", "total", self.taken)
            self.taken.add(name.lower())
            known = argument.position if isinstance(argument, Call) else None
            position = known or self.text.position(node)
            self.aggregations[function, source] = Aggregation(name, function, source, position=position)
        found = self.aggregations[function, source]
        over = self.input if argument is None else Project(self.input, ((source or "", argument),))
        output = aggregation_field(found, over, self.grouped)
        return ColumnRef(output.name, output.type, output.nullable, self.text.position(node))

    def _input(self, expr: Expr, what: str) -> str:
        """The input column of a key or an argument; a computed one gets a new name."""
        if expr not in self.inputs:
            plain = isinstance(expr, ColumnRef)
            name = expr.name if isinstance(expr, ColumnRef) else fresh(what, "computed", self.taken)
            if not plain:
                self.taken.add(name.lower())
            self.inputs[expr] = name
        return self.inputs[expr]


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression calls an aggregate itself (not in a subquery)."""
    if isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.AggFunc) and not isinstance(node, exp.Window):
        return True
    return any(has_aggregate(each) for each in node.iter_expressions())

"""Groups: the keys and aggregates of a SELECT, and checking that everything else follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    Rank,
    Relation,
    Union,
)
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.fields import aggregation_field, column, columns_of
from tacit.sql.aggregates import aggregate
from tacit.sql.scope import fresh, is_around
from tacit.sql.text import Text


class Grouping:
    """The aggregates and keys of one SELECT over an input relation.

    An aggregate call is replaced by a column of the aggregation's output; equal calls share one.
    sets: the keys of each grouping set; one with all keys where the query names none.
    argument: binds the argument of an aggregate over the input.
    """

    def __init__(
        self,
        input: Relation,
        sets: list[list[Expr]],
        argument: Callable[[exp.Expr], Expr],
        taken: set[str],
        text: Text,
    ) -> None:
        self.input = input
        self.sets = [tuple(dict.fromkeys(keys)) for keys in sets]
        self.grouped = all(self.sets)
        self.argument = argument
        self.taken = taken
        self.text = text
        self.inputs: dict[Expr, str] = {}
        self.keys = {key: self._input(key, "group") for keys in self.sets for key in keys}
        self.aggregations: dict[tuple[AggregateFunction, str | None, Rank | None], Aggregation] = {}
        self.levels: dict[tuple[Expr, ...], str] = {}

    def collect(self, node: exp.Expr) -> Expr:
        """The expression that stands for an aggregate call."""
        return aggregate(node, self)

    def rows(self) -> Relation:
        """The groups without the scalar subqueries, whose columns are only named: for the bound on their number."""
        return self._sets(self._given(self.input))

    def relation(self, input: Relation) -> Relation:
        """The aggregation, over the input with the scalar subqueries that arguments and keys use."""
        computed = any(not isinstance(each, ColumnRef) for each in self.inputs)
        return self._sets(self._given(input) if computed else input)

    def _given(self, input: Relation) -> Relation:
        """The columns that arguments and keys are."""
        return Project(input, tuple((name, each) for each, name in self.inputs.items()))

    def _sets(self, input: Relation) -> Relation:
        found = [self._aggregate(input, keys) for keys in self.sets]
        if len(found) == 1:
            return found[0]
        return Union(tuple(self._widened(each, keys) for each, keys in zip(found, self.sets, strict=True)))

    def over_groups(self, expr: Expr, node: exp.Expr, allowed: set[str]) -> Expr:
        """The expression over the aggregation's output: keys become its columns; no other input column may remain.

        allowed: further columns of the output (aggregates have their own names already), here those of subqueries.
        """
        if expr in self.keys:
            position = None if isinstance(expr, Literal) else expr.position
            return ColumnRef(self.keys[expr], expr.type, expr.nullable or not self._always(expr), position)
        match expr:
            case ColumnRef(name):
                if is_around(name):
                    return expr
                own = {each.name for each in self.aggregations.values()} | {*self.levels.values()}
                if name not in allowed and name not in own:
                    raise self.text.invalid(
                        node, f"the column {name!r} must be in GROUP BY or inside an aggregate such as MIN({name})."
                    )
                return expr
            case Literal():
                return expr
            case Call(op, args, type_, nullable, position):
                over = tuple(self.over_groups(arg, node, allowed) for arg in args)
                return Call(op, over, type_, nullable or self._may_lack(expr, over), position)

    def counted(self, argument: Expr, node: exp.Expr) -> ColumnRef:
        """The number of values. Where none is NULL that is the number of rows, of which the column is told beside."""
        if argument.nullable:
            return self.output("count", argument, node)
        rows = self.output("count_rows", None, node)
        if columns_of(argument):
            known, name = self.aggregations["count_rows", None, None], self._input(argument, "value")
            counted = tuple(dict.fromkeys((*known.counted, name)))
            self.aggregations["count_rows", None, None] = replace(known, counted=counted)
        return rows

    def output(
        self, function: AggregateFunction, argument: Expr | None, node: exp.Expr, rank: Rank | None = None
    ) -> ColumnRef:
        """The column of an aggregate. node: for its place in the text."""
        source = None if argument is None else self._input(argument, "value")
        if (function, source, rank) not in self.aggregations:
            name = fresh("count" if source is None else f"{function}_{source}", "total", self.taken)
            self.taken.add(name.lower())
            known = argument.position if isinstance(argument, Call) else None
            position = known or self.text.position(node)
            self.aggregations[function, source, rank] = Aggregation(
                name, function, source, position=position, rank=rank
            )
        found = self.aggregations[function, source, rank]
        over = self.input if argument is None else Project(self.input, ((source or "", argument),))
        output = aggregation_field(found, over, self.grouped)
        return ColumnRef(output.name, output.type, output.nullable, self.text.position(node))

    def level(self, node: exp.Grouping | exp.GroupingId) -> Expr:
        """What GROUPING says of keys: a bit each, the first one highest, set where a grouping set lacks the key."""
        keys = tuple(self.argument(each) for each in node.expressions)
        for key, written in zip(keys, node.expressions, strict=True):
            if key not in self.keys:
                raise self.text.invalid(written, "GROUPING takes keys of GROUP BY.")
        if len(self.sets) == 1:
            return Literal(0, Integer(0, 0, "BIGINT"))
        if keys not in self.levels:
            name = fresh("grouping", "level", self.taken)
            self.taken.add(name.lower())
            self.levels[keys] = name
        return ColumnRef(self.levels[keys], Integer(0, (1 << len(keys)) - 1, "BIGINT"), False, self.text.position(node))

    def _aggregate(self, input: Relation, keys: tuple[Expr, ...]) -> Aggregate:
        positions = tuple(None if isinstance(key, Literal) else key.position for key in keys)
        names = tuple(self.keys[key] for key in keys)
        aggregations = tuple(self.aggregations.values())
        if not names and not aggregations:  # one row, of which nothing is shown
            aggregations = (Aggregation(fresh("count", "total", self.taken), "count_rows", None),)
        return Aggregate(input, names, aggregations, positions)

    def _widened(self, found: Aggregate, keys: tuple[Expr, ...]) -> Relation:
        """A grouping set's rows with NULL for the keys that it lacks."""
        outputs: list[tuple[str, Expr]] = [
            (name, column(found, name) if key in keys else Literal(None, key.type)) for key, name in self.keys.items()
        ]
        outputs += [(each.name, column(found, each.name)) for each in self.aggregations.values()]
        for named, name in self.levels.items():
            lacked = sum((key not in keys) << place for place, key in enumerate(reversed(named)))
            outputs.append((name, Literal(lacked, Integer(lacked, lacked, "BIGINT"))))
        return Project(found, tuple(outputs))

    def _always(self, key: Expr) -> bool:
        """Whether all grouping sets have a key."""
        return all(key in keys for keys in self.sets)

    def _may_lack(self, expr: Call, over: tuple[Expr, ...]) -> bool:
        """Whether a value may be NULL because a key in it is."""
        return expr.op != "is_null" and any(
            mine.nullable and not was.nullable for mine, was in zip(over, expr.args, strict=True)
        )

    def _input(self, expr: Expr, what: str) -> str:
        """The input column of a key or an argument; a computed one gets a new name."""
        if expr not in self.inputs:
            plain = isinstance(expr, ColumnRef)
            name = expr.name if isinstance(expr, ColumnRef) else fresh(what, "computed", self.taken)
            if not plain:
                self.taken.add(name.lower())
            self.inputs[expr] = name
        return self.inputs[expr]


def _within(node: exp.Window) -> Iterator[exp.Expr]:
    """What stands in a window function and its OVER clause: the function itself is none of a group."""
    call = node.this
    while isinstance(call, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        call = call.this
    yield from call.iter_expressions()
    yield from (each for each in node.iter_expressions() if each is not node.this)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression calls an aggregate itself (not in a subquery)."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, exp.AggFunc):
            return True
        if isinstance(each, exp.Window):
            waiting += _within(each)
        elif not isinstance(each, exp.Query):
            waiting += each.iter_expressions()
    return False

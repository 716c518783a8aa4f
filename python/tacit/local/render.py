"""Relations of the algebra as DuckDB SQL: one SELECT per operator, each over its input as the subquery ``t``."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Protocol

from sqlglot import exp

from tacit.local.expressions import INPUT, column, render_expression
from tacit.local.sql_types import NO_COLUMNS, cast
from tacit.local.statistics import ranked
from tacit.local.windows import AMONG_PEERS, tells_peers_apart, windowed
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Constants,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    SortKey,
    Union,
    Window,
)
from tacit.plan.algebra.types import Field
from tacit.plan.facts.fields import aggregation_field, names

_KINDS = {"none": "inner", "left": "left", "right": "right", "both": "full"}

Outputs = Iterable[tuple[str, exp.Expr]]


class Leaves(Protocol):
    """Where the rows of a relation's leaves are."""

    def scanned(self, scan: Scan) -> str:
        """The database's table or view with the columns that a scan reads, under their own names."""

    def opened(self, opened: Opened) -> str:
        """The database's table or view with the rows of a release."""

    def sliced(self, sliced: Slice) -> str:
        """The database's table with the rows of a slice."""


def render(relation: Relation, output: tuple[Field, ...], leaves: Leaves, secret: bytes | None = None) -> str:
    """The SQL of a relation. Its result has exactly the output's columns, in these types, in the relation's order.

    secret: orders rows whose sort keys are equal, so that neither their order nor which of them a LIMIT keeps tells
    anything. Without it they come as DuckDB has them, which may be as a file does.
    """
    typed = ((each.name, cast(column(each.name), each.type)) for each in output)
    return _over(_Renderer(leaves, secret).render(relation), typed).sql(dialect="duckdb")


class _Renderer:
    def __init__(self, leaves: Leaves, secret: bytes | None) -> None:
        self._leaves = leaves
        self._secret = secret

    def render(self, relation: Relation) -> exp.Query:
        """One operator and all beneath it."""
        match relation:
            case Scan():
                columns = [(name, column(source)) for name, source in relation.columns]
                return _select(columns).from_(_table(self._leaves.scanned(relation)))
            case Constants():
                return _constants(relation)
            case Opened():
                return _select(_columns(names(relation))).from_(_table(self._leaves.opened(relation)))
            case Filter(input, predicate):
                return _over(self.render(input), _columns(names(input))).where(render_expression(predicate))
            case Project(input, outputs):
                return _over(self.render(input), [(name, render_expression(each)) for name, each in outputs])
            case Union(inputs):
                return self._union(inputs, names(relation))
            case Join():
                return self._join(relation, _KINDS[relation.kept])
            case Mark():
                return self._mark(relation)
            case Slice():
                return _select(_columns(names(relation))).from_(_table(self._leaves.sliced(relation)))
            case Pairs(left, right):
                return self._beside(left, right).join(self._side(right, "r"), join_type="cross")
            case FullJoin():
                return self._join(relation, "full")
            case KeptScan() | Match():
                raise TypeError("a local part reads its owner's tables only")
            case Broadcast(input, scalar):
                return self._beside(input, scalar).join(self._side(scalar, "r"), join_type="cross")
            case Aggregate():
                return self._aggregate(relation)
            case Window():
                return self._window(relation)
            case Sort(input, keys):
                ordered = _over(self.render(input), _columns(names(input)))
                return ordered.order_by(*[_sort_key(key) for key in keys], *self._among_equals(relation))
            case Limit(input, count, offset):
                return _limit(self.render(input), names(input), count, offset)

    def _union(self, inputs: tuple[Relation, ...], output: tuple[str, ...]) -> exp.Query:
        branches = [
            _over(self.render(each), [(name, column(own)) for name, own in zip(output, names(each), strict=True)])
            for each in inputs
        ]
        whole: exp.Query = branches[0]
        for branch in branches[1:]:
            whole = exp.union(whole, branch, distinct=False, copy=False)
        return whole

    def _among_equals(self, sort: Sort) -> list[exp.Expr]:
        """The order of rows whose keys are equal, by a keyed hash of their places. Equal sorts have one order."""
        if self._secret is None:
            return []
        return [self._places(self._secret, sort)]

    def _places(self, secret: bytes, relation: Sort | Window) -> exp.Expr:
        """A keyed hash of a row's place. Equal relations have one order by it."""
        key = exp.Literal.string(hmac.digest(secret, repr(relation).encode(), "sha256").hex())
        place = exp.cast(exp.Window(this=exp.RowNumber()), "TEXT")
        return exp.SHA2(this=exp.DPipe(this=key, expression=place), length=exp.Literal.number(256))

    def _join(self, join: Join | FullJoin, kind: str) -> exp.Query:
        matches = [
            exp.EQ(this=column(left, "l"), expression=column(right, "r"))
            for left, right in zip(join.left_keys, join.right_keys, strict=True)
        ]
        return self._beside(join.left, join.right).join(
            self._side(join.right, "r"), on=exp.and_(*matches), join_type=kind
        )

    def _mark(self, mark: Mark) -> exp.Query:
        """Whether there is an equal key, as EXISTS, which is never NULL."""
        equal = [
            exp.EQ(this=column(mine, "l"), expression=column(its, "r"))
            for mine, its in zip(mark.input_keys, mark.choice_keys, strict=True)
        ]
        rows = exp.select("1").from_(self._side(mark.choices, "r")).where(*equal)
        outputs = [*_columns(names(mark.input), "l"), (mark.name, exp.Exists(this=rows))]
        return _select(outputs).from_(self._side(mark.input, "l"))

    def _beside(self, left: Relation, right: Relation) -> exp.Select:
        """The columns of both sides, from the left side, to be joined with the right one."""
        both = [*_columns(names(left), "l"), *_columns(names(right), "r")]
        return _select(both).from_(self._side(left, "l"))

    def _side(self, relation: Relation, alias: str) -> exp.Expr:
        return self.render(relation).subquery(alias, copy=False)

    def _window(self, window: Window) -> exp.Query:
        below, kept = self.render(window.input), _columns(names(window.input))
        if self._secret is not None and any(map(tells_peers_apart, window.outputs)):
            places = self._places(self._secret, window)
            below = _over(below, [*kept, (AMONG_PEERS, places)])
            return _over(below, [*kept, *windowed(window, AMONG_PEERS)])
        return _over(below, [*kept, *windowed(window)])

    def _aggregate(self, relation: Aggregate) -> exp.Query:
        aggregates = [(each.name, _aggregation(each, relation.input)) for each in relation.aggregations]
        grouped = _over(self.render(relation.input), [*_columns(relation.keys), *aggregates])
        return grouped.group_by(*[column(key) for key in relation.keys])


def _aggregation(aggregation: Aggregation, input: Relation) -> exp.Expr:
    """An aggregate function. A type the planner knows better than the function implies is cast to."""
    rendered = _function(aggregation, input)
    return rendered if aggregation.known is None else cast(rendered, aggregation.known.type)


def _function(aggregation: Aggregation, input: Relation) -> exp.Expr:
    if aggregation.column is None:
        return exp.Count(this=exp.Star())
    argument = column(aggregation.column)
    match aggregation.function:
        case "count" | "count_rows":
            return exp.Count(this=argument)
        case "count_distinct":
            return exp.Count(this=exp.Distinct(expressions=[argument]))
        case "sum":
            return exp.Sum(this=argument)
        case "sum_distinct":
            return exp.Sum(this=exp.Distinct(expressions=[argument]))
        case "min":
            return exp.Min(this=argument)
        case "max":
            return exp.Max(this=argument)
        case "middle":
            wide = cast(argument, aggregation_field(aggregation, input, True).type)
            lower, upper = (
                exp.func("quantile_disc", each, exp.Literal.number(0.5)) for each in (wide, exp.Neg(this=wide))
            )
            return exp.Sub(this=lower, expression=upper)
        case "ranked":
            assert aggregation.rank is not None, "a value at a place has a place"
            return ranked(argument, aggregation.rank)


def _sort_key(key: SortKey) -> exp.Ordered:
    return exp.Ordered(this=column(key.column), desc=key.descending, nulls_first=key.nulls_first)


def _limit(ordered: exp.Query, output: tuple[str, ...], count: int | None, offset: int) -> exp.Query:
    """The head of rows in their order, which DuckDB keeps from a subquery."""
    head = _over(ordered, _columns(output))
    if count is not None:
        head = head.limit(count)
    return head.offset(offset) if offset else head


def _over(query: exp.Query, outputs: Outputs) -> exp.Select:
    """SELECT outputs FROM (query) AS t."""
    return _select(outputs).from_(query.subquery(INPUT, copy=False))


def _select(outputs: Outputs) -> exp.Select:
    listed = [exp.alias_(value, name, quoted=True) for name, value in outputs]
    return exp.select(*(listed or [exp.alias_(exp.true(), NO_COLUMNS, quoted=True)]))


def _columns(listed: Iterable[str], relation: str = INPUT) -> list[tuple[str, exp.Expr]]:
    return [(name, column(name, relation)) for name in listed]


def _constants(relation: Constants) -> exp.Query:
    """A VALUES list."""
    types = [each.type for each in relation.fields]
    rows = [
        exp.Tuple(expressions=[cast(render_expression(each), type_) for each, type_ in zip(row, types, strict=True)])
        for row in relation.rows
    ]
    columns = [exp.to_identifier(each, quoted=True) for each in names(relation)]
    alias = exp.TableAlias(this=exp.to_identifier(INPUT, quoted=True), columns=columns)
    return _select(_columns(names(relation))).from_(exp.Values(expressions=rows, alias=alias))


def _table(name: str) -> exp.Expr:
    return exp.alias_(exp.Table(this=exp.to_identifier(name, quoted=True)), INPUT, table=True)

"""What a relation's output looks like: its fields and its public row bound. Both are functions of the tree alone."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod

from tacit.plan.algebra import bounds
from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Literal,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
    WindowOutput,
)
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, Type, Varchar


@once
def fields(relation: Relation) -> tuple[Field, ...]:
    """The output columns in order."""
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return relation.fields
        case Filter(input, _) | Sort(input, _) | Limit(input, _, _) | Slice(input):
            return fields(input)
        case Project(_, outputs):
            return tuple(Field(name, e.type, e.nullable) for name, e in outputs)
        case Union(inputs):
            return tuple(reduce(_wider, column) for column in zip(*map(fields, inputs), strict=True))
        case Join(left, right):
            return _beside(left, relation.keeps_right) + _beside(right, relation.keeps_left)
        case Match(left, right) | Pairs(left, right):
            return fields(left) + fields(right)
        case Mark(input, _, _, _, name):
            return (*fields(input), Field(name, Boolean(), False))
        case FullJoin(left, right):
            return _beside(left, True) + _beside(right, True)
        case Broadcast(input, scalar):
            return fields(input) + fields(scalar)
        case Aggregate():
            return _aggregate_fields(relation)
        case Window(input, _, _, outputs):
            return fields(input) + tuple(window_field(each, input) for each in outputs)


def field_of(relation: Relation, name: str) -> Field:
    """The output column of this name."""
    return next(each for each in fields(relation) if each.name == name)


def names(relation: Relation) -> tuple[str, ...]:
    """The names of the output columns in order."""
    return tuple(each.name for each in fields(relation))


def column(relation: Relation, name: str) -> ColumnRef:
    """A reference to an output column."""
    found = field_of(relation, name)
    return ColumnRef(found.name, found.type, found.nullable)


def columns_of(expr: Expr) -> frozenset[str]:
    """The names of the columns that an expression uses."""
    match expr:
        case ColumnRef(name):
            return frozenset({name})
        case Literal():
            return frozenset()
        case Call(_, args):
            return frozenset().union(*map(columns_of, args))


@once
def row_bound(relation: Relation) -> int | None:
    """A public upper bound on the number of rows, or None where a table beneath declares none."""
    match relation:
        case Scan() | KeptScan():
            return relation.rows
        case Constants(rows):
            return len(rows)
        case Opened():
            return None
        case Filter() | Project() | Window() | Sort() | Broadcast() | Mark() | Slice():
            return row_bound(relation.input)
        case Union(inputs, most):
            return least(added([row_bound(input) for input in inputs]), most)
        case Join(left, right):
            matched = multiplied(row_bound(right), relation.repeats)
            return added([row_bound(left), matched]) if relation.keeps_left else matched
        case Pairs(left, right):
            return multiplied(row_bound(left), row_bound(right))
        case FullJoin(left, right):
            return added([row_bound(left), row_bound(right)])
        case Match(left, right, _, _, right_unique):
            return least(row_bound(left), row_bound(right)) if right_unique else row_bound(right)
        case Aggregate(_, (), _):
            return 1  # also of no rows
        case Aggregate(input, keys, _):
            return least(row_bound(input), group_domain(input, keys))
        case Limit(input, count, _):
            return least(row_bound(input), count)


def most_rows(relation: Relation) -> int:
    """The row bound that widths are computed with."""
    found = row_bound(relation)
    return bounds.UNDECLARED_ROWS if found is None else found


def group_domain(input: Relation, keys: tuple[str, ...]) -> int | None:
    """How many groups the public bounds of the keys allow (1 without keys), or None if a key has no bounds."""
    sizes = [bounds.domain_size(key.type, key.nullable) for key in (field_of(input, key) for key in keys)]
    return None if None in sizes else prod(size for size in sizes if size is not None)


def least(a: int | None, b: int | None) -> int | None:
    """The smaller bound, where None is no bound."""
    return min((each for each in (a, b) if each is not None), default=None)


def added(each: list[int | None]) -> int | None:
    """The sum of bounds, None if one of them is no bound."""
    return None if None in each else sum(rows for rows in each if rows is not None)


def multiplied(a: int | None, b: int | None) -> int | None:
    """The product of bounds, None if one of them is no bound."""
    return None if a is None or b is None else a * b


def _beside(side: Relation, absent: bool) -> tuple[Field, ...]:
    """The columns of one side of a join. absent: whether rows of the other side may have no row of this one."""
    return tuple(replace(each, nullable=True) for each in fields(side)) if absent else fields(side)


def _wider(a: Field, b: Field) -> Field:
    return Field(a.name, _union_type(a.type, b.type), a.nullable or b.nullable)


def _union_type(a: Type, b: Type) -> Type:
    """Both sides have one SQL type already; only bounds differ."""
    if isinstance(a, Varchar) and isinstance(b, Varchar) and a.values is None and b.values is None:
        known = None if a.max_length is None or b.max_length is None else max(a.max_length, b.max_length)
        return Varchar(known)
    ranges = bounds.encoded_range(a), bounds.encoded_range(b)
    if ranges[0] is None or ranges[1] is None:
        return a
    return bounds.with_range(a, bounds.either(ranges[0], ranges[1]))


def _aggregate_fields(relation: Aggregate) -> tuple[Field, ...]:
    keys = tuple(field_of(relation.input, key) for key in relation.keys)
    return keys + tuple(aggregation_field(each, relation.input, bool(keys)) for each in relation.aggregations)


def aggregation_field(aggregation: Aggregation, input: Relation, grouped: bool) -> Field:
    """The output field of one aggregate over an input. grouped: there are keys, so no group is empty."""
    if aggregation.known is not None:
        return aggregation.known
    if aggregation.function in ("count", "count_rows", "count_distinct"):
        return Field(aggregation.name, Integer(0, most_rows(input), "BIGINT"), False)
    assert aggregation.column is not None
    argument = field_of(input, aggregation.column)
    nullable = argument.nullable or not grouped
    if aggregation.function in ("sum", "sum_distinct", "middle"):
        summands = 2 if aggregation.function == "middle" else most_rows(input)
        return Field(aggregation.name, _sum_type(argument.type, summands), nullable)
    return Field(aggregation.name, argument.type, nullable)


def window_field(output: WindowOutput, input: Relation) -> Field:
    """The field of one output of a window over an input."""
    rows, frame = most_rows(input), output.frame
    if frame.unit == "rows" and frame.start is not None and frame.end is not None:
        rows = min(rows, frame.end - frame.start + 1)
    match output.function:
        case "row_number" | "rank" | "dense_rank" | "owner_rank":
            return Field(output.name, Integer(1, max(rows, 1), "BIGINT"), False)
        case "ntile":
            return Field(output.name, Integer(1, output.number or 1, "BIGINT"), False)
        case "count_rows" | "count":
            return Field(output.name, Integer(0, rows, "BIGINT"), False)
    assert output.column is not None, "what is left is over a column"
    argument = field_of(input, output.column)
    match output.function:
        case "lag" | "lead":
            if output.default is None:
                return Field(output.name, argument.type, True)
            return replace(_wider(argument, field_of(input, output.default)), name=output.name)
        case "sum":
            type_ = _sum_type(argument.type, rows)
        case _:
            type_ = argument.type
    return Field(output.name, type_, argument.nullable or frame.may_be_empty)


def _sum_type(type_: Type, rows: int) -> Type:
    found = bounds.sum_of_rows(bounds.range_of(type_), rows)
    match type_:
        case Decimal(_, scale):
            return Decimal(38, scale, *found)
        case Integer():
            return Integer(*found, "HUGEINT")
        case _:
            raise TypeError(f"SUM over {type_}")

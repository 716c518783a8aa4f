"""Splitting an aggregation through a union into partial aggregations and one over their results.

SUM becomes the sum of partial sums, COUNT the sum of partial counts, MIN and MAX themselves, DISTINCT a distinct of
partial ones. COUNT and SUM of distinct values and quantiles do not split. Inputs that cannot be aggregated locally
contribute each row as a partial result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tacit.plan.algebra.relations import Aggregate, Aggregation, Call, Expr, Literal, Relation, Union
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import aggregation_field, column
from tacit.plan.facts.sizes import Announced, Padded, size_rule
from tacit.plan.rules.simplify import projected

WHOLE = ("count_distinct", "sum_distinct", "middle", "ranked")
"""Functions of which parts of a group say too little."""

ONE = Literal(1, Integer(1, 1, "BIGINT"))
ZERO = Literal(0, Integer(0, 0, "BIGINT"))


def split_aggregate(relation: Aggregate, is_local: Callable[[Relation], bool], catalog: Catalog) -> Aggregate | None:
    """The split aggregation; None where no owner can make its part smaller. is_local: what an owner may compute."""
    assert isinstance(relation.input, Union)
    if any(each.function in WHOLE for each in relation.aggregations):
        return None
    inputs = relation.input.inputs
    parts = [partial(each, relation) for each in inputs]
    split = [is_local(part) and _shrinks(each, part, catalog) for each, part in zip(inputs, parts, strict=True)]
    if not any(split):
        return None
    chosen = tuple(
        part if yes else _rows_as_partials(each, relation) for each, part, yes in zip(inputs, parts, split, strict=True)
    )
    return Aggregate(Union(chosen), relation.keys, tuple(final(each, relation) for each in relation.aggregations))


def partial(input: Relation, relation: Aggregate) -> Aggregate:
    """The aggregation over one input of its union."""
    return Aggregate(input, relation.keys, tuple(replace(each, known=None) for each in relation.aggregations))


def _shrinks(input: Relation, aggregated: Relation, catalog: Catalog) -> bool:
    """Whether local aggregation makes fewer rows enter MPC."""
    before, after = size_rule(input, catalog), size_rule(aggregated, catalog)
    match before, after:
        case _, Announced(source=shown):
            return not shown
        case Padded(rows), Padded(groups):
            return groups < rows
        case _:
            return after is not None


def final(aggregation: Aggregation, relation: Aggregate) -> Aggregation:
    """What makes of partial results one of the whole relation."""
    field = aggregation_field(aggregation, relation.input, bool(relation.keys))
    function = aggregation.function if aggregation.function in ("min", "max") else "sum"
    return Aggregation(aggregation.name, function, aggregation.name, field, aggregation.position)


def _rows_as_partials(input: Relation, relation: Aggregate) -> Relation:
    keys = tuple((key, column(input, key)) for key in relation.keys)
    values = tuple((each.name, _row_value(each, input)) for each in relation.aggregations)
    return projected(input, keys + values)


def _row_value(aggregation: Aggregation, input: Relation) -> Expr:
    """What one row contributes to a partial result."""
    if aggregation.column is None:
        return ONE
    value = column(input, aggregation.column)
    if aggregation.function != "count":
        return value
    missing = Call("is_null", (value,), Boolean(), False)
    return Call("if", (missing, ZERO, ONE), Integer(0, 1, "BIGINT"), False)

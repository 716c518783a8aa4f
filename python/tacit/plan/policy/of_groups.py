"""What aggregates of a group tell of its rows, as far as the text of a query and declared keys say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tacit.plan.algebra.relations import Aggregate, Aggregation, Call, Expr
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import columns_of, field_of
from tacit.plan.policy.conditions import choose, either, negated, positive, whole
from tacit.plan.policy.knowing import Known
from tacit.plan.policy.outcomes import outcomes


def of_one_row(relation: Aggregate, columns: Mapping[str, Expr], own: Mapping[str, Expr]) -> dict[str, Expr]:
    """The aggregates of groups of one row each. columns: of the rows. own: aggregates that are not looked into."""
    return {each.name: _of_one_row(each, columns) or own[each.name] for each in relation.aggregations}


def _of_one_row(aggregation: Aggregation, columns: Mapping[str, Expr]) -> Expr | None:
    value = None if aggregation.column is None else columns[aggregation.column]
    match aggregation.function:
        case "sum" | "min" | "max":
            return value
        case "count" | "count_distinct" if value is not None and value.nullable:
            return choose(Call("is_null", (value,), Boolean(), False), whole(0), whole(1))
        case "count" | "count_distinct" | "count_rows":
            return whole(1)
        case _:
            return None


def known_of(relation: Aggregate, names: Mapping[str, str], columns: Mapping[str, Expr], known: Known) -> Known:
    """What is known of aggregates. names: by which they are known. columns: of the rows. known: of these."""
    for each in relation.aggregations:
        value = None if each.column is None else columns[each.column]
        told = value is not None and (known.hides(value) or bool(columns_of(value)))
        known = known.computed(names[each.name], (value,)) if told and value else known.counted(names[each.name])
    return known


def tests_of(relation: Aggregate) -> Iterator[tuple[str, str]]:
    """The greatest values of conditions: each one's name, and that of its argument."""
    for each in relation.aggregations:
        found = None if each.column is None else field_of(relation.input, each.column)
        if each.function == "max" and found is not None and isinstance(found.type, Boolean):
            yield each.name, found.name


def fulfilled(tests: Mapping[str, Expr], maxima: Mapping[str, Expr], holds: tuple[Expr, ...]) -> Iterator[Expr]:
    """What holds of the greatest values of tests: one that every row fulfils some of, and none that no row fulfils."""
    found = outcomes(list(tests.values()), holds)
    if not tests or found is None:
        return
    if all(any(each) for each in found):
        yield either(*(maxima[name] for name in tests))
    for place, name in enumerate(tests):
        if not any(each[place] for each in found):
            yield negated(positive(maxima[name]))

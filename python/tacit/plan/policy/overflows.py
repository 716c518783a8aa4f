"""Values that DuckDB may refuse to compute for an owner, whose error would tell of rows that no guard has counted.

Bounds that owners declare say which values cannot occur. They are checked of whole columns, before any query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.plan.algebra.functions import fits
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Aggregate, Call, Expr
from tacit.plan.facts.fields import aggregation_field, columns_of
from tacit.plan.policy.offers import protected, wholly_open
from tacit.plan.policy.state import Instance, Item, Items, State, union


def beyond_bounds(exprs: Iterable[Expr], below: State, recipients: tuple[str, ...]) -> Items:
    """The instances of single rows of which a value of these expressions may be too large for its type."""
    bound = _bound(below, recipients)
    beyond = (each for each in _calls(exprs if bound else ()) if not fits(each.type))
    return union(_of(columns_of(each), below, bound, each.position) for each in beyond)


def sums_beyond_bounds(relation: Aggregate, below: State, recipients: tuple[str, ...]) -> Items:
    """The same of sums. relation: over the input as it was built anew."""
    bound = _bound(below, recipients)
    found = ((each, aggregation_field(each, relation.input, bool(relation.keys))) for each in relation.aggregations)
    return union(
        _of([each.column], below, bound, each.position)
        for each, output in found
        if bound and each.column is not None and not fits(output.type)
    )


def _calls(exprs: Iterable[Expr]) -> Iterator[Call]:
    """All calls in expressions, which may be nested deeply, each once."""
    waiting, known = [*exprs], set[int]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Call) and id(each) not in known:
            known.add(id(each))
            waiting += each.args
            yield each


def _bound(below: State, recipients: tuple[str, ...]) -> frozenset[Instance]:
    ruled = (each for each in below.one if protected(each.table, recipients))
    return frozenset(each for each in ruled if not wholly_open(each.table, recipients))


def _of(columns: Iterable[str], below: State, bound: frozenset[Instance], position: Position | None) -> Items:
    """It tells which rows there are, too, so that it is refused of columns that are seen."""
    read = {item.instance for name in columns for item in below.columns[name].items} & bound
    return frozenset(Item(each, None, "floor", detail="overflow", position=position) for each in read)

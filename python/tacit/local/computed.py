"""Which of the owners' columns a local part computes with: where to look when a value leaves its type's range."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.relations import Aggregate, Call, ColumnRef, Expr, Filter, Project, Relation, Window
from tacit.plan.algebra.trees import children, scans

CAN_LEAVE_RANGE = {"add", "sub", "mul", "neg", "rescale", "cast"}


def computed_columns(relation: Relation) -> tuple[str, ...]:
    """The columns, under their tables' names, in arithmetic, casts and sums, in the order of the tables."""
    used = set(_computed(relation))
    sources = [source for scan in scans(relation) for name, source in scan.columns if name in used]
    return tuple(dict.fromkeys(sources))


def _computed(relation: Relation) -> Iterator[str]:
    match relation:
        case Filter(_, predicate):
            yield from _in_arithmetic(predicate)
        case Project(_, outputs):
            for _, expr in outputs:
                yield from _in_arithmetic(expr)
        case Aggregate(_, _, aggregations):
            yield from (each.column for each in aggregations if each.function == "sum" and each.column is not None)
        case Window(_, _, _, outputs):
            yield from (each.column for each in outputs if each.function == "sum" and each.column is not None)
        case _:
            pass
    for child in children(relation):
        yield from _computed(child)


def _in_arithmetic(expr: Expr) -> Iterator[str]:
    for each in subexpressions(expr):
        if isinstance(each, Call) and each.op in CAN_LEAVE_RANGE:
            yield from (part.name for part in subexpressions(each) if isinstance(part, ColumnRef))

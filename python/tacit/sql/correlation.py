"""Subqueries that name columns of the query around them, as relations that do not.

A condition that compares a value of the subquery with one of the query around is taken out. The subquery gets a column
with its own value, and the query around joins by that column. Through an aggregate this makes the column one of its
keys, so there only equalities can be taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import conjunction, conjuncts, reference, subexpressions
from tacit.plan.algebra.once import once
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    Join,
    Limit,
    Literal,
    Mark,
    Operator,
    Project,
    Relation,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import columns_of, field_of, fields, names
from tacit.plan.policy.constants import FLIPPED
from tacit.sql.joins import same_encoding
from tacit.sql.scope import AROUND, fresh, is_around, seen_from_around

INSTEAD = "compare it by = with a column of the subquery"
EQUALITIES = "write =, or join the tables"


@dataclass(frozen=True)
class Correlation:
    """A condition taken out of a subquery: ``column op outer``, outer being over the query around."""

    column: str
    op: Operator
    outer: Expr
    position: Position | None


@dataclass(frozen=True)
class Detached:
    """A subquery without columns of the query around, and the conditions that were taken out of it."""

    relation: Relation
    correlations: tuple[Correlation, ...] = ()


@once
def is_correlated(relation: Relation) -> bool:
    """Whether a relation uses columns of a query around."""
    return any(_around(each) for each in _expressions(relation)) or any(map(is_correlated, children(relation)))


def around_columns(relation: Relation) -> list[ColumnRef]:
    """The columns of queries around that a relation uses."""
    own = [found for each in _expressions(relation) for found in _around(each)]
    return own + [found for each in children(relation) for found in around_columns(each)]


def detached(relation: Relation) -> Detached:
    """The relation and its conditions with the query around. Raises UnsupportedSQL where that cannot be."""
    if not is_correlated(relation):
        return Detached(relation)
    match relation:
        case Filter(input, predicate):
            return _filter(detached(input), conjuncts(predicate))
        case Project(input, outputs) if not any(_around(each) for _, each in outputs):
            return _project(detached(input), outputs)
        case Aggregate(input, keys) if keys:
            return _aggregate(relation, detached(input))
        case Join(left, right, kept="none" | "right") if not is_correlated(left):
            inner = _beside(detached(right), names(left))
            return replace(inner, relation=replace(relation, right=inner.relation))
        case Broadcast(input, scalar) if not is_correlated(scalar):
            inner = _beside(detached(input), names(scalar))
            return replace(inner, relation=Broadcast(inner.relation, scalar))
        case Mark(input, choices) if not is_correlated(choices):
            inner = _beside(detached(input), (relation.name, *names(choices)))
            return replace(inner, relation=replace(relation, input=inner.relation))
        case Sort(input, _):
            return detached(input)
        case _:
            raise _beneath(relation)


def grouped(relation: Aggregate) -> Detached:
    """An aggregate over all rows that match, as one with a group for each value that the query around compares."""
    return _aggregate(relation, detached(relation.input))


def refused(column: ColumnRef, where: str, instead: str = INSTEAD) -> UnsupportedSQL:
    """The refusal of a column of the query around."""
    name = column.name.lstrip(AROUND)
    return UnsupportedSQL(f"{name} of the query around, {where},", instead, column.position)


def _beneath(relation: Relation) -> UnsupportedSQL:
    """The refusal of a column of the query around beneath what takes the rows of a subquery together."""
    column = around_columns(relation)[0]
    match relation:
        case Limit():
            return refused(column, "beneath a LIMIT", "take MIN or MAX of the rows that match")
        case Union():
            return refused(column, "in a set operation", "write a subquery for each of its sides")
        case Window():
            window = "compute the window function in a subquery of FROM, partitioned by the column to compare"
            return refused(column, "beneath a window function", window)
        case _:
            return refused(column, "in this part of a subquery", "compare it in WHERE of the subquery itself")


def without_around(expr: Expr, where: str) -> None:
    """Refuse an expression that uses a column of a query around."""
    for column in _around(expr):
        raise refused(column, where)


def keyed(relation: Relation, keys: list[Expr], taken: set[str]) -> tuple[Relation, tuple[str, ...]]:
    """The relation with a column of its own for each key; computed ones and repeated ones are added."""
    found: list[str] = []
    added: list[tuple[str, Expr]] = []
    known = taken | {name.lower() for name in names(relation)}
    for key in keys:
        if isinstance(key, ColumnRef) and key.name not in found:
            found.append(key.name)
            continue
        name = fresh("key", "outer", known)
        known.add(name.lower())
        added.append((name, key))
        found.append(name)
    if added:
        same = tuple((each.name, reference(each)) for each in fields(relation))
        relation = Project(relation, (*same, *added))
    return relation, tuple(found)


def _filter(inner: Detached, conditions: list[Expr]) -> Detached:
    own = [each for each in conditions if not _around(each)]
    correlated = [_correlation(each) for each in conditions if _around(each)]
    relation = Filter(inner.relation, conjunction(own)) if own else inner.relation
    relation, columns = keyed(relation, [same_encoding(key) for key, _ in correlated], set())
    correlations = (
        replace(correlation, column=column) for column, (_, correlation) in zip(columns, correlated, strict=True)
    )
    return Detached(relation, (*inner.correlations, *correlations))


def _correlation(condition: Expr) -> tuple[Expr, Correlation]:
    """The subquery's own value, and what it is compared with."""
    without_around(seen_from_around(condition), "two levels deep")
    position = None if isinstance(condition, Literal) else condition.position
    if not _uses_own(condition):
        return Literal(True, Boolean()), Correlation("", "eq", seen_from_around(condition), position)
    if isinstance(condition, Call) and condition.op in FLIPPED:
        a, b = condition.args
        if not _around(a) and not _uses_own(b):
            return a, Correlation("", condition.op, seen_from_around(b), position)
        if not _around(b) and not _uses_own(a):
            return b, Correlation("", FLIPPED[condition.op], seen_from_around(a), position)
    raise refused(_around(condition)[0], "in this condition of a subquery")


def _project(inner: Detached, outputs: tuple[tuple[str, Expr], ...]) -> Detached:
    """The correlation columns stay beside the outputs."""
    known = {each.name: name for name, each in outputs if isinstance(each, ColumnRef)}
    taken = {name.lower() for name, _ in outputs}
    for correlation in inner.correlations:
        if correlation.column not in known:
            known[correlation.column] = fresh(correlation.column, "outer", taken)
            taken.add(known[correlation.column].lower())
            outputs = (*outputs, (known[correlation.column], reference(field_of(inner.relation, correlation.column))))
    return Detached(
        Project(inner.relation, outputs), tuple(replace(e, column=known[e.column]) for e in inner.correlations)
    )


def _renamed(inner: Detached, taken: set[str]) -> Detached:
    """With correlations called unlike the outputs of an aggregate, beside all other columns."""
    known = taken | {name.lower() for name in names(inner.relation)}
    new: dict[str, str] = {}
    for name in (correlation.column for correlation in inner.correlations if correlation.column.lower() in taken):
        new[name] = fresh(name, "outer", known)
        known.add(new[name].lower())
    if not new:
        return inner
    same = tuple((each.name, reference(each)) for each in fields(inner.relation))
    added = tuple((each, reference(field_of(inner.relation, name))) for name, each in new.items())
    correlations = tuple(
        replace(correlation, column=new.get(correlation.column, correlation.column))
        for correlation in inner.correlations
    )
    return Detached(Project(inner.relation, (*same, *added)), correlations)


def _beside(inner: Detached, others: tuple[str, ...]) -> Detached:
    """With correlations called unlike other columns, which the columns that the subquery shows are unlike already."""
    taken = {name.lower() for name in others}
    new = {correlation.column: "" for correlation in inner.correlations if correlation.column.lower() in taken}
    if not new:
        return inner
    taken |= {name.lower() for name in names(inner.relation)}
    for name in new:
        new[name] = fresh(name, "outer", taken)
        taken.add(new[name].lower())
    outputs = tuple((new.get(each.name, each.name), reference(each)) for each in fields(inner.relation))
    correlations = tuple(
        replace(correlation, column=new.get(correlation.column, correlation.column))
        for correlation in inner.correlations
    )
    return Detached(Project(inner.relation, outputs), correlations)


def _aggregate(relation: Aggregate, inner: Detached) -> Detached:
    inner = _renamed(inner, {each.name.lower() for each in relation.aggregations})
    for correlation in inner.correlations:
        if correlation.op != "eq":
            what = "another comparison than = with the query around, beneath an aggregate or DISTINCT,"
            raise UnsupportedSQL(what, EQUALITIES, correlation.position)
    new = tuple(
        dict.fromkeys(
            correlation.column for correlation in inner.correlations if correlation.column not in relation.keys
        )
    )
    positions = (*relation.positions, *(None for _ in new)) if relation.positions else ()
    return replace(
        inner, relation=replace(relation, input=inner.relation, keys=(*relation.keys, *new), positions=positions)
    )


def _expressions(relation: Relation) -> tuple[Expr, ...]:
    match relation:
        case Filter(_, predicate):
            return (predicate,)
        case Project(_, outputs):
            return tuple(each for _, each in outputs)
        case _:
            return ()


def _around(expr: Expr) -> list[ColumnRef]:
    return [each for each in subexpressions(expr) if isinstance(each, ColumnRef) and is_around(each.name)]


def _uses_own(expr: Expr) -> bool:
    return not all(map(is_around, columns_of(expr)))

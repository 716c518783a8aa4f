"""Small relations, for the tests of the passes."""

from __future__ import annotations

from tests.plan.catalogs import MIXED

from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Call,
    ColumnRef,
    Expr,
    Filter,
    Literal,
    Project,
    Relation,
)
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.fields import column
from tacit.sql import bind

ALL = "(SELECT * FROM padded UNION ALL SELECT * FROM announced UNION ALL SELECT * FROM consenting) t"


def bound(query: str) -> Relation:
    """A query over the mixed catalog, bound."""
    return bind(query.replace("$ALL", ALL), MIXED)


def above(relation: Relation, name: str, number: int) -> Call:
    """A condition: column > number."""
    return Call("gt", (column(relation, name), whole(number)), Boolean(), column(relation, name).nullable)


def whole(number: int) -> Literal:
    """A constant."""
    return Literal(number, Integer(number, number, "INTEGER"))


def selected(relation: Relation, *names: str) -> Project:
    """A projection to some columns."""
    return Project(relation, tuple((name, column(relation, name)) for name in names))


def filtered(relation: Relation, condition: Expr) -> Filter:
    """A filter."""
    return Filter(relation, condition)


def counted(relation: Relation, *keys: str) -> Aggregate:
    """COUNT(*) by keys."""
    return Aggregate(relation, keys, (Aggregation("n", "count_rows", None),))


def is_column(expr: Expr, name: str) -> bool:
    """Whether an expression is a column of this name."""
    return isinstance(expr, ColumnRef) and expr.name == name

"""USING and NATURAL: columns of equal names on both sides of a join are equal, and stand once."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.refusals import UnknownName
from tacit.plan.algebra.relations import ColumnRef, Expr
from tacit.sql import arithmetic
from tacit.sql.coercion import Mismatch
from tacit.sql.scope import Scope
from tacit.sql.text import Text

Pair = tuple[ColumnRef, ColumnRef]


def pairs_of(columns: list[exp.Expr], left: Scope, right: Scope, text: Text) -> dict[str, Pair]:
    """Lower-case name to the columns of both sides, for the names that USING lists."""
    return {node.name.lower(): (_column(left, node, text), _column(right, node, text)) for node in columns}


def natural(join: exp.Join, left: Scope, right: Scope, text: Text) -> list[exp.Expr]:
    """The names that both sides have."""
    mine = {name.lower() for name, _ in left.star("", join, text)}
    common = [name for name, _ in right.star("", join, text) if name.lower() in mine]
    if not common:
        raise text.invalid(join, "a NATURAL JOIN needs a column name that both sides have; write JOIN ... ON.")
    return [exp.to_identifier(name) for name in common]


def equal(name: str, pair: Pair, node: exp.Expr, text: Text) -> Expr:
    """That the columns of both sides are equal."""
    try:
        return arithmetic.comparison("eq", *pair, text.position(node))
    except Mismatch as error:
        raise text.invalid(node, f"{error}; both are called {name}.") from None


def _column(scope: Scope, node: exp.Expr, text: Text) -> ColumnRef:
    found = scope.lookup(node.name, "", node, text)
    if found is None:
        known = [visible for source in scope.sources for visible, _ in source.columns]
        raise UnknownName("column", node.name, known, text.position(node))
    return found

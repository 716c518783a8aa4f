"""Rows of constants: VALUES lists, and the one row of a SELECT without FROM. Everybody knows them, as they stand in the
question."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from tacit.plan.algebra.relations import ColumnRef, Constants, Expr, Literal
from tacit.plan.algebra.types import Field, Integer, Type
from tacit.plan.facts.catalog import Catalog
from tacit.sql.coercion import Mismatch, coerce, common_type
from tacit.sql.expressions import Expressions
from tacit.sql.scope import Scope
from tacit.sql.text import Text, only


def values_list(node: exp.Values, text: Text, catalog: Catalog) -> Constants:
    """The rows of a VALUES list, with DuckDB's names col0, col1, ..."""
    only(node, text, {"expressions", "alias"}, "VALUES")
    rows = [_bound(each, text) for each in node.expressions]
    uneven = next((at for at, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if uneven is not None:
        sizes = f"{len(rows[0])} and {len(rows[uneven])}"
        raise text.invalid(node.expressions[uneven], f"rows of VALUES have {sizes} values; write as many in each.")
    columns = [_column(list(column), node, text) for column in zip(*rows, strict=True)]
    fields = tuple(
        Field(f"col{at}", type_, any(each.nullable for each in found)) for at, (found, type_) in enumerate(columns)
    )
    return Constants(tuple(zip(*(found for found, _ in columns), strict=True)), fields, catalog.nodes[0])


def one_row(name: str, catalog: Catalog) -> Constants:
    """A row about which nothing is asked."""
    one = Integer(1, 1, "INTEGER")
    return Constants(((Literal(1, one),),), (Field(name, one, False),), catalog.nodes[0])


def _bound(row: exp.Expr, text: Text) -> list[Expr]:
    """The values of a row."""

    def refused(node: exp.Expr, _: Expressions) -> Expr:
        raise text.unsupported(node, "a subquery in VALUES", "write UNION ALL of SELECTs")

    bind = Expressions(Scope(), text, "VALUES", refused)
    return [bind.bind(each) for each in (row.expressions if isinstance(row, exp.Tuple) else [row])]


def _column(values: list[Expr], node: exp.Expr, text: Text) -> tuple[list[Expr], Type]:
    """The values of a column in one type."""
    try:
        whole = reduce(_wider, values)
        return [coerce(each, whole.type) for each in values], whole.type
    except Mismatch as error:
        raise text.invalid(node, f"in VALUES: {error}.") from None


def _wider(a: Expr, b: Expr) -> Expr:
    """A stand-in for both."""
    if isinstance(a, Literal) and a.value is None:
        return b
    return ColumnRef("", common_type(a, b), False)

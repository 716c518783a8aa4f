"""ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import Limit, Relation, Sort, SortKey
from tacit.sql.expressions import constant_integer
from tacit.sql.text import Text, only


@dataclass(frozen=True)
class Key:
    """An ORDER BY term: its expression, and the output column it names ("" if it names none)."""

    node: exp.Expr
    output: str


def order_terms(query: exp.Query, items: list[tuple[str, exp.Expr]], text: Text) -> list[Key]:
    """The terms of ORDER BY. A whole number or a bare name of the SELECT list means that output column."""
    return [output_term(ordered.this, items, text) for ordered in _ordered(query, text)]


def sorted_by(relation: Relation, query: exp.Query, columns: list[str]) -> Relation:
    """The relation in order, one column for each term of ORDER BY."""
    keys = sort_keys(query, columns)
    return Sort(relation, keys) if keys else relation


def sort_keys(query: exp.Query, columns: list[str]) -> tuple[SortKey, ...]:
    """ORDER BY, of which each term has its column."""
    order, keys = query.args.get("order"), list[SortKey]()
    for column, ordered in zip(columns, [] if order is None else order.expressions, strict=True):
        if all(key.column != column for key in keys):
            keys.append(SortKey(column, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))))
    return tuple(keys)


def limited(relation: Relation, query: exp.Query, text: Text) -> Relation:
    """The first rows in order."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if limit is None and offset is None:
        return relation
    if limit is not None and (options := limit.args.get("limit_options")) is not None and options.args.get("percent"):
        raise text.unsupported(limit, "LIMIT with a percentage", "write a number of rows")
    if query.args.get("order") is None:
        node = limit or offset
        raise UnsupportedSQL(
            "LIMIT without ORDER BY", "say which rows come first with ORDER BY", text.position(node) if node else None
        )
    if isinstance(limit, exp.Fetch):
        raise text.unsupported(limit, "FETCH FIRST", "write LIMIT")
    count = None
    if limit is not None:
        only(limit, text, {"expression"}, "LIMIT")
        count = constant_integer(limit.expression, text, "LIMIT")
    skipped = 0 if offset is None else constant_integer(offset.expression, text, "OFFSET")
    return Limit(relation, count, skipped)


def _ordered(query: exp.Query, text: Text) -> list[exp.Ordered]:
    order = query.args.get("order")
    if order is None:
        return []
    only(order, text, {"expressions"}, "ORDER BY")
    for each in order.expressions:
        only(each, text, {"this", "desc", "nulls_first"}, "ORDER BY")
    return list(order.expressions)


def output_term(node: exp.Expr, items: list[tuple[str, exp.Expr]], text: Text) -> Key:
    """A term that may name an output column."""
    if isinstance(node, exp.Var | exp.Column) and node.name == "ALL":
        raise text.unsupported(node, "ORDER BY ALL", "name the columns")
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this)
        if not 1 <= place <= len(items):
            raise text.invalid(node, f"ORDER BY {place} is out of range; the SELECT list has {len(items)} columns.")
        return Key(items[place - 1][1], items[place - 1][0])
    if isinstance(node, exp.Literal):
        raise text.invalid(
            node, "ORDER BY takes columns and places of the SELECT list, such as 1, and no other constant."
        )
    if isinstance(node, exp.Column) and not node.table:
        for name, item in items:
            if name.lower() == node.name.lower():
                return Key(item, name)
    return Key(node, "")

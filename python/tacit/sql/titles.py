"""The name of an output column without an alias: the text DuckDB makes of its expression."""

from __future__ import annotations

import re
from functools import lru_cache

import duckdb
from sqlglot import exp

from tacit.plan.algebra.refusals import Position
from tacit.sql.chains import terms
from tacit.sql.function_titles import function_text
from tacit.sql.text import Text
from tacit.sql.window_titles import mark, window_title

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=",
    exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip

_TYPE_KEYWORDS = {"int", "integer", "smallint", "bigint", "decimal", "dec", "numeric", "boolean", "varchar"}
"""Types that DuckDB's grammar knows and writes in its own way; other type names stay as the query writes them."""


def title(node: exp.Expr, text: Text) -> str:
    """The name of an output column: a column's own name, else its expression as DuckDB writes it."""
    for cast in node.find_all(exp.Cast):
        cast.meta["written"] = text.type_name(cast)
    mark(node, text)
    for function in node.find_all(exp.Func):
        is_aggregate = isinstance(function, exp.AggFunc)
        function.meta["word"] = text.word(function).lower() if is_aggregate else text.written_name(function)
    for interval in node.find_all(exp.Interval):
        shown = (
            text.sql[interval.this.meta["start"] : interval.this.meta["end"] + 1]
            if "start" in interval.this.meta
            else ""
        )
        interval.this.meta["shown"] = shown if shown.isdigit() else f"'{interval.this.name}'"
    return _title(node)


def place_of(name: str, text: Text) -> Position | None:
    """Line and column of the first computed output column of that name."""
    computed = (each for select in text.statement().find_all(exp.Select) for each in select.expressions)
    titled = (each for each in computed if not each.is_star and title(each, text) == name)
    return next((text.position(each) for each in titled), None)


def _title(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Column) else _text(node)


def _text(node: exp.Expr) -> str:
    match node:
        case _ if _is_subquery(node):
            return _parsed(node)
        case exp.Paren() | exp.Alias():
            return _title(node.this) if isinstance(node, exp.Paren) else _text(node.this)
        case exp.Column():
            return ".".join(_quoted(part) for part in (node.table, node.name) if part)
        case exp.Literal():
            return "'" + node.this.replace("'", "''") + "'" if node.is_string else str(node.this)
        case exp.Boolean():
            return str(node.this).lower()
        case exp.Null():
            return "NULL"
        case exp.Neg():
            return _negation(node)
        case exp.Window():
            return window_title(node, _inner)
        case exp.And() | exp.Or():
            sign = " AND " if isinstance(node, exp.And) else " OR "
            return f"({sign.join(_inner(each) for each in _chain(node, type(node)))})"
        case exp.Cast():
            return f"CAST({_inner(node.this)} AS {_type(node)})"
        case exp.Coalesce():
            return f"COALESCE({', '.join(_inner(each) for each in (node.this, *node.expressions))})"
        case exp.Nullif():
            return f'"nullif"({_inner(node.this)}, {_inner(node.expression)})'
        case exp.Add() | exp.Sub():
            return _sum(node)
        case exp.Binary() if type(node) in _SIGNS:
            return f"({_inner(node.this)} {_SIGNS[type(node)]} {_inner(node.expression)})"
        case exp.Count(this=exp.Star()) | exp.Count(this=None):
            return "count_star()"
        case exp.Filter() | exp.WithinGroup() | exp.IgnoreNulls():
            return _around(node)
        case exp.Grouping() | exp.GroupingId():
            return f"GROUPING({', '.join(map(_inner, node.expressions))})"
        case exp.AggFunc():
            return f"{node.meta['word']}({_arguments(node)})"
        case _:
            return _condition(node)


def _sum(node: exp.Add | exp.Sub) -> str:
    """A sum, which may have many terms."""
    first, others = terms(node)
    signs = {"add": "+", "sub": "-"}
    if not others:  # of an INTERVAL
        return f"({_inner(node.this)} {_SIGNS[type(node)]} {_inner(node.expression)})"
    return "(" * len(others) + _inner(first) + "".join(f" {signs[each.op]} {_inner(each.value)})" for each in others)


def _is_subquery(node: exp.Expr) -> bool:
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Subquery | exp.Exists) or isinstance(node.args.get("expression"), exp.Any | exp.All)


def _parsed(node: exp.Expr) -> str:
    """A subquery in an expression as DuckDB's own parser writes it."""
    query = f"SELECT {node.sql('duckdb')}"
    with duckdb.connect() as database:
        found = database.execute("SELECT json_deserialize_sql(json_serialize_sql(?::VARCHAR))", [query]).fetchone()
    assert found is not None
    return str(found[0]).removeprefix("SELECT ")


def _negation(node: exp.Neg) -> str:
    """A negated constant is a constant, however often it is negated."""
    inner, negative = node.unnest(), False
    while isinstance(inner, exp.Neg):
        inner, negative = inner.this.unnest(), not negative
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return f"{'-' if negative else ''}{inner.this}"
    return f"(-({_inner(node.this)}))"


def _condition(node: exp.Expr) -> str:
    match node:
        case exp.Not(this=exp.Is(this=tested, expression=exp.Boolean() as wanted)):
            return f"(CAST({_inner(tested)} AS BOOLEAN) IS DISTINCT FROM {_inner(wanted)})"
        case exp.Not(this=exp.Is(this=tested, expression=exp.Null())):
            return f"({_inner(tested)} IS NOT NULL)"
        case exp.Not():
            return f"(NOT {_inner(node.this)})"
        case exp.Is(expression=exp.Null()):
            return f"({_inner(node.this)} IS {_inner(node.expression)})"
        case exp.Between():
            return f"({_inner(node.this)} BETWEEN {_inner(node.args['low'])} AND {_inner(node.args['high'])})"
        case exp.In():
            return f"({_inner(node.this)} IN ({', '.join(_inner(each) for each in node.expressions)}))"
        case exp.Case():
            return _case(node)
        case _:
            return function_text(node, _inner, _quoted) or node.sql("duckdb")


def _chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The members of a chain of ANDs or ORs, also of those in parentheses."""
    bare = node.unnest()
    return [*_chain(bare.this, kind), *_chain(bare.expression, kind)] if isinstance(bare, kind) else [node]


def _inner(node: exp.Expr) -> str:
    """A part of an expression: parentheses vanish, and columns keep their table."""
    return _inner(node.this) if isinstance(node, exp.Paren) else _text(node)


def _type(node: exp.Cast) -> str:
    written = str(node.meta["written"])
    if written.lower() not in _TYPE_KEYWORDS:
        return written
    shown = {"int": "INTEGER", "integer": "INTEGER", "varchar": "VARCHAR"}
    return shown.get(written.lower()) or node.to.sql("duckdb")


def _around(node: exp.Expr) -> str:
    """An aggregate with its FILTER, or with the order of WITHIN GROUP, which DuckDB writes inside."""
    match node:
        case exp.Filter():
            return f"{_text(node.this)} FILTER (WHERE {_inner(node.expression.this)})"
        case exp.WithinGroup():
            order = node.expression.expressions[0]
            direction = " DESC" if order.args.get("desc") else ""
            name = node.this.meta["word"].replace("percentile", "quantile")
            return f"{name}({_inner(node.this.this)} ORDER BY {_inner(order.this)}{direction})"
        case _:
            return f"{node.this.meta.get('word', 'any_value')}({_arguments(node.this)})"


def _arguments(node: exp.AggFunc) -> str:
    if isinstance(node.this, exp.Distinct):
        return f"DISTINCT {', '.join(_inner(each) for each in node.this.expressions)}"
    parts = (node.this, node.args.get("expression"), node.args.get("quantile"))
    return ", ".join(_inner(each) for each in parts if isinstance(each, exp.Expr))


def _case(node: exp.Case) -> str:
    tested = node.this
    branches = ""
    for each in node.args["ifs"]:
        test = _inner(each.this) if tested is None else f"({_inner(tested)} = {_inner(each.this)})"
        branches += f" WHEN ({test}) THEN ({_inner(each.args['true'])})"
    default = node.args.get("default")
    return f"CASE {branches} ELSE {'NULL' if default is None else _inner(default)} END"


def _quoted(name: str) -> str:
    """A name as DuckDB shows it inside an expression."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _keywords():
        return name
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=1)
def _keywords() -> frozenset[str]:
    """DuckDB's keywords, which it quotes."""
    with duckdb.connect() as database:
        return frozenset(name for (name,) in database.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall())

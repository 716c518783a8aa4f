"""The text that DuckDB makes of functions and predicates, in the names of output columns without an alias."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Write = Callable[[exp.Expr], str]

SIGNS: dict[type[exp.Expr], str] = {
    exp.Mod: "%", exp.IntDiv: "//", exp.DPipe: "||", exp.Pow: "**", exp.StartsWith: "^@", exp.Like: "~~",
    exp.ILike: "~~*", exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
NEGATED = {"~~": "!~~", "~~*": "!~~*"}
UNITS = {
    "YEAR": ("to_years", "INTEGER"), "QUARTER": ("to_quarters", "INTEGER"), "MONTH": ("to_months", "INTEGER"),
    "WEEK": ("to_weeks", "INTEGER"), "DAY": ("to_days", "INTEGER"), "HOUR": ("to_hours", "BIGINT"),
    "MINUTE": ("to_minutes", "BIGINT"),
}  # fmt: skip


def function_text(node: exp.Expr, inner: Write, quoted: Callable[[str], str]) -> str | None:
    """The text of a function or predicate; None of what is none."""
    word = node.meta.get("word")
    match node:
        case exp.Extract():
            return f"date_part('{node.this.name}', {inner(node.expression)})"
        case exp.SimilarTo():
            return f"regexp_full_match({inner(node.this)}, {inner(node.expression)})"
        case exp.Escape(this=exp.Like() | exp.ILike() as test):
            parts = f"{inner(test.this)}, {inner(test.expression)}, {inner(node.expression)}"
            kind = "ilike" if isinstance(test, exp.ILike) else "like"
            return f"{'not_' if test.args.get('negate') else ''}{kind}_escape({parts})"
        case exp.Is(expression=exp.Boolean() as wanted):
            return f"(CAST({inner(node.this)} AS BOOLEAN) IS NOT DISTINCT FROM {inner(wanted)})"
        case exp.Interval():
            return _interval(node)
        case exp.Abs() if word is None:
            return f"(@({inner(node.this)}))"
        case exp.Expr() if word is None and type(node) in SIGNS:
            sign = SIGNS[type(node)]
            return f"({inner(node.this)} {NEGATED[sign] if node.args.get('negate') else sign} {inner(node.expression)})"
        case exp.Func() if not isinstance(node, exp.AggFunc):
            name = word or ("position" if isinstance(node, exp.StrPosition) else node.sql_name())
            return f"{quoted(str(name).lower())}({', '.join(_arguments(node, inner))})"
        case _:
            return None


def _arguments(node: exp.Func, inner: Write) -> list[str]:
    """A function's arguments in DuckDB's order, which the parser changes for some."""
    unit = node.args.get("unit")
    units = [f"'{unit.name.lower()}'"] if isinstance(unit, exp.Expr) else []
    names = ("expression", "this") if isinstance(node, exp.DateDiff) else tuple(node.arg_types)
    found: list[exp.Expr] = []
    for name in names:
        value = node.args.get(name)
        if name != "unit":
            found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, exp.Expr)]
    if isinstance(node, exp.Log) and node.args.get("expression") is not None and _is_named(node):
        found = found[1:]
    return [*units, *map(inner, found)]


def _is_named(node: exp.Expr) -> bool:
    """Whether the base of a logarithm is in the function's name."""
    return str(node.meta.get("word", "")).lower() in ("log2", "log10")


def _interval(node: exp.Interval) -> str | None:
    unit = node.args.get("unit")
    if unit is None or unit.name.upper() not in UNITS or not isinstance(node.this, exp.Literal):
        return None
    function, type_ = UNITS[unit.name.upper()]
    return f"{function}(CAST(trunc(CAST({node.this.meta.get('shown', node.this.name)} AS DOUBLE)) AS {type_}))"

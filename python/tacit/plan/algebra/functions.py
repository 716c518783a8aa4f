"""Scalar functions that a party computes that sees their arguments: an owner over its table, or a recipient.

Nodes compute divisions of whole numbers, roundings and parts of days, too (tacit.plan.algebra.divisions).

Each is what DuckDB makes of its SQL. Where DuckDB refuses a division by zero the result is NULL: an error in an owner's
local part would tell of rows that the answer does not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from tacit.plan.algebra import bounds
from tacit.plan.algebra.relations import Call, Expr, FunctionName, Literal
from tacit.plan.algebra.types import Boolean, Type


@dataclass(frozen=True)
class Function:
    """sql: its SQL, with the arguments' in braces. said: its name in sentences. strict: NULL for a NULL argument."""

    sql: str
    said: str
    strict: bool = True


def _plain(name: str, arguments: int, said: str | None = None) -> Function:
    """A function that is called by its name."""
    listed = ", ".join(f"{{{place}}}" for place in range(arguments))
    return Function(f"{name}({listed})", said or name.upper())


FUNCTIONS: Final[dict[str, Function]] = {
    "date_part": _plain("date_part", 2, "EXTRACT"),
    "date_trunc": _plain("date_trunc", 2),
    "date_diff": _plain("date_diff", 3),
    "plus_interval": Function("({0} + to_months({1}) + to_days({2}) + to_microseconds({3}))", "an INTERVAL"),
    "last_day": _plain("last_day", 1),
    "dayname": _plain("dayname", 1),
    "monthname": _plain("monthname", 1),
    "like": Function("({0} LIKE {1})", "LIKE"),
    "like_escape": Function("({0} LIKE {1} ESCAPE {2})", "LIKE"),
    "ilike": Function("({0} ILIKE {1})", "ILIKE"),
    "ilike_escape": Function("({0} ILIKE {1} ESCAPE {2})", "ILIKE"),
    "similar": Function("({0} SIMILAR TO {1})", "SIMILAR TO"),
    "starts_with": _plain("starts_with", 2),
    "ends_with": _plain("ends_with", 2),
    "contains": _plain("contains", 2),
    "substring_from": _plain("substring", 2),
    "substring": _plain("substring", 3),
    "left": _plain('"left"', 2, "LEFT"),
    "right": _plain('"right"', 2, "RIGHT"),
    "upper": _plain("upper", 1),
    "lower": _plain("lower", 1),
    "trim": _plain("trim", 2),
    "ltrim": _plain("ltrim", 2),
    "rtrim": _plain("rtrim", 2),
    "length": _plain("length", 1),
    "position": _plain("strpos", 2, "POSITION"),
    "replace": _plain("replace", 3),
    "reverse": _plain("reverse", 1),
    "append": Function("({0} || {1})", "||"),
    "text": Function("CAST({0} AS VARCHAR)", "a CAST to VARCHAR"),
    "round": _plain("round", 2),
    "floor": _plain("floor", 1),
    "ceil": _plain("ceil", 1),
    "trunc": _plain("trunc", 1),
    "abs": _plain("abs", 1),
    "int_div": Function("({0} // nullif({1}, 0))", "//"),
    "mod": Function("({0} % nullif({1}, 0))", "%"),
    "sqrt": _plain("sqrt", 1),
    "cbrt": _plain("cbrt", 1),
    "exp": _plain("exp", 1),
    "ln": _plain("ln", 1),
    "log10": _plain("log10", 1),
    "log2": _plain("log2", 1),
    "power": _plain("power", 2),
}

PREDICATES: Final = frozenset(
    ("like", "like_escape", "ilike", "ilike_escape", "similar", "starts_with", "ends_with", "contains")
)
"""Functions that are conditions."""

STRICT: Final = frozenset(
    (
        "add", "sub", "mul", "neg", "rescale", "cast", "div", "eq", "ne", "lt", "le", "gt", "ge", "not",
        "average", "covariance", "root", "interpolate", "half", "ratio", "rounded",
        "numerator", "denominator",
    )
)  # fmt: skip
"""Operators that are NULL wherever an operand is."""

assert set(FUNCTIONS) == set(get_args(FunctionName)), "each function has its SQL"


def is_function(expr: Expr) -> bool:
    """Whether the expression is a call of a function of this table."""
    return isinstance(expr, Call) and expr.op in FUNCTIONS


def is_strict(expr: Expr) -> bool:
    """Whether the expression is NULL in every row in which all its columns are."""
    if isinstance(expr, Literal):
        return True
    if not isinstance(expr, Call):
        return True
    found = FUNCTIONS.get(expr.op)
    strict = expr.op in STRICT if found is None else found.strict
    return strict and all(map(is_strict, expr.args))


def is_total(expr: Expr) -> bool:
    """Whether the expression has a value in every row that its columns' bounds allow, so that it fails in none."""
    if not isinstance(expr, Call):
        return True
    return fits(expr.type) and all(map(is_total, expr.args))


def fits(type_: Type) -> bool:
    """Whether a type's name allows all values that its bounds do."""
    allowed, found = bounds.sql_range(type_), bounds.encoded_range(type_)
    if allowed is None or found is None or isinstance(type_, Boolean):
        return True
    return allowed[0] <= found[0] and found[1] <= allowed[1]

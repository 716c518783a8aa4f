"""Expressions of the algebra as DuckDB SQL. Columns are those of the input, the subquery ``t``."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tacit.local.average import average, whole_number, wide
from tacit.local.fractions import rounded, told
from tacit.local.sql_types import cast, literal
from tacit.local.statistics import covariance, half, interpolated
from tacit.plan.algebra.functions import FUNCTIONS
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal

INPUT = "t"
"""The alias of every operator's input."""

BINARY: dict[str, type[exp.Binary]] = {
    "add": exp.Add,
    "sub": exp.Sub,
    "mul": exp.Mul,
    "div": exp.Div,
    "eq": exp.EQ,
    "ne": exp.NEQ,
    "lt": exp.LT,
    "le": exp.LTE,
    "gt": exp.GT,
    "ge": exp.GTE,
    "and": exp.And,
    "or": exp.Or,
}


def column(name: str, relation: str = INPUT) -> exp.Column:
    """A column by its name."""
    return exp.column(name, table=relation, quoted=True)


def render_expression(expr: Expr) -> exp.Expr:
    """The expression in SQL, in parentheses where it needs them. DuckDB's result type is the expression's own."""
    match expr:
        case ColumnRef(name):
            return column(name)
        case Literal(value, type_):
            return literal(value, type_)
        case Call():
            return _call(expr)


def _call(call: Call) -> exp.Expr:
    args = [render_expression(each) for each in call.args]
    if call.op in BINARY:
        left, right = args
        return exp.Paren(this=BINARY[call.op](this=left, expression=right))
    if call.op in FUNCTIONS:
        return exp.Var(this=FUNCTIONS[call.op].sql.format(*[each.sql("duckdb") for each in args]))
    return OTHERS[call.op](call, args)


def _negated(_: Call, args: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.Neg(this=exp.Paren(this=args[0])))


def _not(_: Call, args: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.Not(this=args[0]))


def _is_null(_: Call, args: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.Is(this=args[0], expression=exp.Null()))


def _if(_: Call, args: list[exp.Expr]) -> exp.Expr:
    condition, then, otherwise = args
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def _cast(call: Call, args: list[exp.Expr]) -> exp.Expr:
    return cast(args[0], call.type)


def _average(call: Call, args: list[exp.Expr]) -> exp.Expr:
    total, count = args
    return average(total, count, call.args[0].type)


def _covariance(call: Call, args: list[exp.Expr]) -> exp.Expr:
    return covariance(args, [each.type for each in call.args])


def _root(_: Call, args: list[exp.Expr]) -> exp.Expr:
    return exp.func("sqrt", args[0])


def _interpolated(call: Call, args: list[exp.Expr]) -> exp.Expr:
    return interpolated(args, call.args[0].type, call.type)


def _ratio(call: Call, args: list[exp.Expr]) -> exp.Expr:
    a, b = (whole_number(each, arg.type) for each, arg in zip(args[:2], call.args[:2], strict=True))
    shift = call.args[2]
    assert isinstance(shift, Literal) and isinstance(shift.value, int), "a constant"
    raised = exp.Paren(this=exp.Mul(this=a, expression=wide(exp.Literal.string(str(1 << shift.value)))))
    divisor = exp.func("nullif", b, wide(exp.Literal.number(0)))
    return exp.Paren(this=exp.IntDiv(this=raised, expression=divisor))


def _rounded(call: Call, args: list[exp.Expr]) -> exp.Expr:
    return rounded(args, [each.type for each in call.args[:2]], call.type)


def _told(call: Call, args: list[exp.Expr]) -> exp.Expr:
    assert call.op in ("numerator", "denominator"), "parts of a fraction"
    shift, most, steps = (each.value for each in call.args[1:] if isinstance(each, Literal))
    assert isinstance(shift, int) and isinstance(most, int) and isinstance(steps, int), "constants"
    return told(call.op, args[0], (shift, most, steps), call.type)


def _half(call: Call, args: list[exp.Expr]) -> exp.Expr:
    return half(args[0], call.args[0].type, call.type)


OTHERS: dict[str, Callable[[Call, list[exp.Expr]], exp.Expr]] = {
    "neg": _negated,
    "not": _not,
    "is_null": _is_null,
    "if": _if,
    "cast": _cast,
    "rescale": _cast,
    "average": _average,
    "covariance": _covariance,
    "root": _root,
    "interpolate": _interpolated,
    "half": _half,
    "numerator": _told,
    "denominator": _told,
    "ratio": _ratio,
    "rounded": _rounded,
}

"""Comparisons with averages say what DuckDB's DOUBLEs say, also where both sides are equal."""

from __future__ import annotations

import random
from fractions import Fraction

import duckdb
import pytest

from tacit.local.expressions import render_expression
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer
from tacit.plan.rules.averages import without_average

SIGNS: dict[Operator, str] = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=", "ne": "<>"}
TRIES = 25


def averaged(scale: int, factor: tuple[int, int] | None) -> Expr:
    """AVG(y), times a factor if there is one: its encoding and its digits after the point."""
    total = ColumnRef("total", Decimal(38, scale, 0, 10**9), False)
    count = ColumnRef("count", Integer(1, 64, "BIGINT"), False)
    mean = Call("average", (total, count), Double(), False)
    if factor is None:
        return mean
    by = Literal(factor[0], Decimal(9, factor[1], factor[0], factor[0]))
    return Call("mul", (Call("cast", (by,), Double(), False), mean), Double(), False)


def evaluated(expr: Expr, row: dict[str, Fraction]) -> Fraction | bool:
    """An expression without DOUBLEs, exactly."""
    if isinstance(expr, ColumnRef):
        return row[expr.name]
    if isinstance(expr, Literal):
        scale = expr.type.scale if isinstance(expr.type, Decimal) else 0
        return Fraction(int(expr.value or 0), 10**scale)
    args = [evaluated(each, row) for each in expr.args]
    match expr.op:
        case "rescale":
            return args[0]
        case "mul":
            return args[0] * args[1]
        case "and":
            return all(args)
        case "or":
            return any(args)
        case "not":
            return not args[0]
        case "if":
            return args[1] if args[0] else args[2]
        case "lt":
            return args[0] < args[1]
        case "le":
            return args[0] <= args[1]
        case "gt":
            return args[0] > args[1]
        case "ge":
            return args[0] >= args[1]
        case "eq":
            return args[0] == args[1]
        case "ne":
            return args[0] != args[1]
        case _:
            raise AssertionError(expr.op)


@pytest.mark.parametrize("op", SIGNS)
@pytest.mark.parametrize("factor", [None, (2, 1), (1, 1), (7, 1), (15, 1), (333, 3)])
@pytest.mark.parametrize("scale", [0, 2, 3])
def test_a_comparison_is_that_of_doubles(op: Operator, factor: tuple[int, int] | None, scale: int) -> None:
    draw = random.Random(f"{op} {factor} {scale}")
    number = ColumnRef("x", Decimal(9, scale, 0, 5000) if scale else Integer(0, 5000, "INTEGER"), False)
    taken = Call("cast", (number,), Double(), False)
    told: list[Expr] = []
    whole = Call(op, (taken, averaged(scale, factor)), Boolean(), False)
    found = without_average(whole, lambda odd: told.append(odd) or ColumnRef("odd", Boolean(), False))
    if found is whole:
        assert factor not in (None, (2, 1), (1, 1))
        return
    assert not any(isinstance(each.type, Double) for each in parts(found))
    by = Fraction(1) if factor is None else Fraction(factor[0], 10 ** factor[1])
    with duckdb.connect() as database:
        database.execute("SET disabled_optimizers = 'aggregate_function_rewriter'")
        for _ in range(TRIES):
            unit, rows = 10**scale, draw.randint(1, 12)
            x = draw.randint(0, 5000)
            total = int(x * rows / by) + draw.choice([0, 0, 0, 1, -1])
            values = [total // rows + (place < total % rows) for place in range(rows)]
            right = "" if factor is None else f"{float(by)}::DECIMAL(9,{factor[1]}) * "
            type_ = f"DECIMAL(18,{scale})" if scale else "BIGINT"
            texts = [_decimal(each, scale) for each in values]
            listed = ", ".join(f"({each}::{type_})" for each in texts)
            query = (
                f"SELECT {_decimal(x, scale)}::{type_} {SIGNS[op]} (SELECT {right}AVG(y) FROM (VALUES {listed}) t(y))"
            )
            ((expected,),) = database.execute(query).fetchall()
            odd = (
                f"SELECT {sql(told[0])} FROM (SELECT {_decimal(x, scale)}::{type_} AS x) t" if told else "SELECT FALSE"
            )
            row = {
                "odd": database.execute(odd).fetchall()[0][0],
                "x": Fraction(x, unit),
                "total": Fraction(sum(values), unit),
                "count": Fraction(rows),
            }
            assert evaluated(found, row) == expected, (query, row)


def sql(expr: Expr) -> str:
    return render_expression(expr).sql("duckdb")


def _decimal(encoded: int, scale: int) -> str:
    digits = str(encoded).rjust(scale + 1, "0")
    return f"'{digits[:-scale]}.{digits[-scale:]}'" if scale else digits


def parts(expr: Expr) -> list[Expr]:
    return [expr, *(each for arg in (expr.args if isinstance(expr, Call) else ()) for each in parts(arg))]

"""Expressions on whole numbers, computed in Python, with every value held against its declared bounds."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.plan.algebra import bounds
from tacit.plan.algebra.civil import in_numbers
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal


def value_of(expr: Expr, row: Mapping[str, int | None]) -> int | None:
    """The encoded value of an expression in a row. A value outside its type's bounds fails."""
    found = _value(expr, row)
    if found is not None:
        low, high = bounds.range_of(expr.type)
        assert low <= found <= high, f"{found} is not from {low} to {high}: {expr}"
    return found


def _value(expr: Expr, row: Mapping[str, int | None]) -> int | None:
    match expr:
        case ColumnRef(name):
            return row[name]
        case Literal(value):
            assert value is None or isinstance(value, int)
            return value
        case Call("if", (condition, then, otherwise)):
            return value_of(then if value_of(condition, row) else otherwise, row)
        case Call("is_null", (inner,)):
            return value_of(inner, row) is None
        case Call("ratio" | "rounded"):
            found = in_numbers(expr)
            assert found is not None
            return value_of(found, row)
        case Call(op, args):
            values = [value_of(arg, row) for arg in args]
            return _applied(op, [each for each in values if each is not None]) if None not in values else None


def _applied(op: str, values: list[int]) -> int | None:
    match op, values:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "neg", [a]:
            return -a
        case "not", [a]:
            return not a
        case "and", [a, b]:
            return a and b
        case "cast", [a]:
            return a
        case "int_div", [a, b]:
            return None if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
        case "mod", [a, b]:
            return None if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)
        case (("eq" | "lt" | "gt" | "ge" | "ne"), [a, b]):
            return {"eq": a == b, "lt": a < b, "gt": a > b, "ge": a >= b, "ne": a != b}[op]
        case _:
            raise AssertionError(f"{op} of {len(values)} values")

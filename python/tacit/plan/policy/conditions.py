"""The few expressions that guards are made of."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.plan.algebra.expressions import joined
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp, Type, Varchar

TRUE = Literal(True, Boolean())
FALSE = Literal(False, Boolean())


def every(*conditions: Expr) -> Expr:
    """All conditions joined by AND; TRUE if there are none."""
    found = [each for each in conditions if each != TRUE]
    return joined("and", found) if found else TRUE


def either(*conditions: Expr) -> Expr:
    """All conditions joined by OR; FALSE if there are none."""
    found = [each for each in conditions if each != FALSE]
    return joined("or", found) if found else FALSE


def negated(condition: Expr) -> Expr:
    """NOT."""
    if isinstance(condition, Call) and condition.op == "not":
        return condition.args[0]
    return Call("not", (condition,), Boolean(), condition.nullable)


def present(value: Expr) -> Expr:
    """IS NOT NULL."""
    return negated(Call("is_null", (value,), Boolean(), False)) if value.nullable else TRUE


def positive(condition: Expr) -> Expr:
    """Whether a condition is TRUE, which is never NULL."""
    return choose(condition, TRUE, FALSE) if condition.nullable else condition


def choose(condition: Expr, then: Expr, otherwise: Expr | None = None) -> Expr:
    """CASE WHEN condition THEN then ELSE otherwise END; NULL without otherwise."""
    if condition == TRUE:
        return then
    other = Literal(None, then.type) if otherwise is None else otherwise
    return Call("if", (condition, then, other), then.type, then.nullable or other.nullable)


def at_least(count: Expr, least: int) -> Expr:
    """count >= least."""
    return Call("ge", (count, whole(least)), Boolean(), count.nullable)


def same(a: Expr, b: Expr) -> Expr:
    """a = b."""
    return Call("eq", (a, b), Boolean(), a.nullable or b.nullable)


def whole(number: int) -> Literal:
    """A constant."""
    return Literal(number, Integer(number, number, "BIGINT"))


def lowest(type_: Type) -> Literal:
    """Some value of a type."""
    match type_:
        case Boolean():
            return FALSE
        case Integer(low) | Date(low) | Timestamp(low):
            return Literal(low, type_)
        case Decimal(_, _, low):
            return Literal(low, type_)
        case Varchar(_, values):
            return Literal((values or ("",))[0], type_)
        case Double():
            return Literal(0.0, type_)


def comparable(key: Expr) -> tuple[Expr, ...]:
    """Expressions that are equal, and not NULL, where keys are equal or both NULL."""
    return (positive(present(key)), choose(present(key), key, lowest(key.type))) if key.nullable else (key,)


def refreshed(expr: Expr, known: Mapping[str, Field]) -> Expr:
    """The expression over columns of which more may be NULL than when it was bound."""
    match expr:
        case ColumnRef(name):
            return ColumnRef(name, expr.type, known[name].nullable)
        case Literal():
            return expr
        case Call(op, args, type_, nullable, position):
            new = tuple(refreshed(each, known) for each in args)
            decisive = list(zip(args, new, strict=True))[1 if op == "if" else 0 :]
            more = op != "is_null" and any(b.nullable and not a.nullable for a, b in decisive)
            return Call(op, new, type_, nullable or more, position)

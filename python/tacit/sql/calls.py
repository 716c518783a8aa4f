"""Calls of functions, with what is known of their results; those of constants are computed at once."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra import bounds
from tacit.plan.algebra.folding import Constant, NoValue, values_of
from tacit.plan.algebra.functions import FUNCTIONS
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, FunctionName, Literal
from tacit.plan.algebra.types import Decimal, Double, Integer, IntegerName, Type, Varchar, sql_name
from tacit.plan.algebra.words import of_words, results
from tacit.sql.coercion import Mismatch, coerce

TEXT = Varchar(None)


def call(
    op: FunctionName, args: tuple[Expr, ...], type_: Type, position: Position | None, *, null: bool = False
) -> Expr:
    """A call. null: it can be NULL where no argument is."""
    if all(isinstance(each, Literal) for each in args):
        return constant(op, tuple(each for each in args if isinstance(each, Literal)), type_)
    nullable = null or any(each.nullable for each in args)
    found = Call(op, args, type_, nullable, position)
    words = results(found)
    if words is None:
        return found
    nothing = any(each is None for each in words[1].values())
    type_ = of_words(words[1]) if isinstance(type_, Varchar) else type_
    return replace(found, type=type_, nullable=nullable or nothing)


def constant(op: FunctionName, args: tuple[Literal, ...], type_: Type) -> Expr:
    """The value of a call of constants."""
    try:
        (value,) = values_of(op, [args], type_)
    except NoValue as error:
        raise Mismatch(f"{FUNCTIONS[op].said} has no value here: {error}") from None
    return known(value, type_)


def known(value: Constant, type_: Type) -> Expr:
    """A computed constant. A number has the type of its function, and adapts to no other as a written one does."""
    if value is None:
        return Literal(None, type_)
    match type_:
        case Varchar():
            return Literal(value, Varchar(len(str(value).encode())))
        case Integer() | Decimal():
            exact = bounds.with_range(type_, (int(value), int(value)))
            return Call("cast", (Literal(value, exact),), exact, False)
        case _ if bounds.encoded_range(type_) is not None:
            return Literal(value, bounds.with_range(type_, (int(value), int(value))))
        case _:
            return Literal(value, type_)


def word(value: str) -> Literal:
    """A constant string."""
    return Literal(value, Varchar(len(value.encode())))


def number(value: int, sql: IntegerName = "INTEGER") -> Literal:
    """A constant whole number."""
    return Literal(value, Integer(value, value, sql))


def string(expr: Expr, said: str) -> Expr:
    """An argument that has to be a string."""
    if isinstance(expr, Literal) and expr.value is None:
        return Literal(None, TEXT)
    if not isinstance(expr.type, Varchar):
        raise Mismatch(f"{said} takes a VARCHAR, not {sql_name(expr.type)}; CAST it to VARCHAR")
    return expr


def whole(expr: Expr, said: str) -> Expr:
    """An argument that has to be a whole number."""
    if not isinstance(expr.type, Integer):
        raise Mismatch(f"{said} takes a whole number here, not {sql_name(expr.type)}")
    return coerce(expr, Integer(0, 0, "BIGINT"))


def numeric(expr: Expr, said: str) -> Integer | Decimal | Double:
    """The type of an argument that has to be a number."""
    if not isinstance(expr.type, Integer | Decimal | Double):
        raise Mismatch(f"{said} takes a number, not {sql_name(expr.type)}")
    return expr.type


def written(expr: Expr) -> int | None:
    """A whole number that is a constant, also a computed one."""
    while isinstance(expr, Call) and expr.op == "cast":
        (expr,) = expr.args
    if isinstance(expr, Literal) and isinstance(expr.type, Integer) and isinstance(expr.value, int):
        return expr.value
    return None


def longest(type_: Type) -> int | None:
    """The most bytes of a string, None without a bound."""
    if not isinstance(type_, Varchar):
        return None
    if type_.values is not None:
        return max((len(each.encode()) for each in type_.values), default=0)
    return type_.max_length

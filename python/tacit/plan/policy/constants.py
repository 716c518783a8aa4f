"""Which constants a condition compares a column with, and whether its owner allows them.

Encodings are whole numbers. So each comparison by order cuts a column's values in two at one of them: those below it,
and the others. ``age <= 17`` is ``age < 18``. With ``cuts`` a column may be cut at those numbers only, so that no
interval between two neighbouring cuts is ever divided.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf
from typing import Final

from tacit.plan.algebra import bounds, moments
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.terms import ColumnTerms

Constant = Fraction | str | None
"""A number as people write it, a string, or NULL. Days and moments count in days since 1970."""

FLIPPED: Final[dict[Operator, Operator]] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
COMPARISONS: Final = frozenset(FLIPPED)
WHOLE_DOUBLES: Final = 1 << 53
"""All whole numbers up to this one are DOUBLEs."""


class NotConstant(Exception):
    """The expression has no value that its text alone tells."""


def constant(expr: Expr) -> Constant:
    """The value of an expression without columns. Raises NotConstant where it is none that this knows to compute."""
    match expr:
        case Literal(None):
            return None
        case Literal(str() as text):
            return text
        case Literal(int() | float() as number, type_) if abs(number) != inf:
            return Fraction(number) / unit(type_)
        case Call("cast" | "rescale", (inner,), type_):
            return _cast(constant(inner), type_)
        case Call("neg", (inner,)):
            return -_number(inner)
        case Call("add" | "sub" | "mul" as op, (a, b), type_) if not isinstance(type_, Double):
            left, right = _number(a), _number(b)
            return left + right if op == "add" else left - right if op == "sub" else left * right
        case _:
            raise NotConstant


def _cast(value: Constant, type_: Type) -> Constant:
    """The value in another type. Raises NotConstant where it is rounded, or is no value of that type."""
    match type_, value:
        case _, None:
            return None
        case Varchar(), str():
            return value
        case Double(), Fraction() if abs(value) <= WHOLE_DOUBLES and value.denominator == 1:
            return value
        case Boolean() | Integer() | Decimal() | Date() | Timestamp(), Fraction() if _encoded(value, type_) is not None:
            return value
        case _:
            raise NotConstant


def _number(expr: Expr) -> Fraction:
    found = constant(expr)
    if not isinstance(found, Fraction):
        raise NotConstant
    return found


def allows(terms: ColumnTerms, type_: Type, op: Operator, value: Constant) -> bool:
    """Whether a column may be compared so with a constant."""
    if value is None or (terms.cuts is None and terms.constants is None):
        return True
    if op in ("eq", "ne"):
        return terms.constants is not None and _encoded(value, type_) in terms.constants
    return terms.cuts is not None and isinstance(value, Fraction) and _may_cut(terms, type_, cut(op, value, type_))


def cut(op: Operator, value: Fraction, type_: Type) -> int:
    """The encoded number at which a comparison cuts a column: what is below it is told from what is not."""
    encoded = value * unit(type_)
    return ceil(encoded) if op in ("lt", "ge") else floor(encoded) + 1


def _may_cut(terms: ColumnTerms, type_: Type, at: int) -> bool:
    known = bounds.encoded_range(type_)
    if known is not None and not known[0] < at <= known[1]:
        return True  # all values are on one side, whatever the data
    if terms.cuts == "month":
        return at % unit(type_) == 0 and moments.starts_month(at // unit(type_))
    return terms.cuts is not None and at in terms.cuts


def written(value: Constant, type_: Type) -> Literal | None:
    """A constant as a literal of a type; None where it is NULL, or no value of the type."""
    match type_, value:
        case Boolean(), Fraction() if value in (0, 1):
            return Literal(bool(value), type_)
        case (Boolean() | Double(), _) | (_, None):
            return None
        case Varchar(_, values), str():
            return Literal(value, type_) if values is None or value in values else None
        case _:
            encoded = None if isinstance(type_, Varchar) or isinstance(value, str) else _encoded(value, type_)
            return None if encoded is None else Literal(encoded, type_)


def _encoded(value: Constant, type_: Type) -> int | str | None:
    if not isinstance(value, Fraction):
        return value
    encoded = value * unit(type_)
    return int(encoded) if encoded.denominator == 1 else None


def unit(type_: Type) -> int:
    """What 1 is encoded as: of a moment, a day."""
    match type_:
        case Decimal(_, scale):
            return int(10**scale)
        case Timestamp():
            return moments.DAY
        case _:
            return 1


def unchanged(expr: Expr) -> Expr:
    """The expression without what leaves each value as it is: casts, + 0, * 1, and choices by TRUE or FALSE."""
    inner = unwritten(expr)
    return unchanged(inner) if inner is not expr else _without_arithmetic(expr)


def unwritten(expr: Expr) -> Expr:
    """The expression without casts, and choices by TRUE or FALSE."""
    match expr:
        case Call("cast" | "rescale", (inner,), type_) if not isinstance(inner, Literal) and _keeps(inner.type, type_):
            return unwritten(inner)
        case Call("if", (Literal(test), then, otherwise)):
            return unwritten(then if test else otherwise)
        case Call("and", (inner, Literal(True))) | Call("and", (Literal(True), inner)):
            return unwritten(inner)
        case Call("or", (inner, Literal(False))) | Call("or", (Literal(False), inner)):
            return unwritten(inner)
        case _:
            return expr


def _keeps(from_: Type, to: Type) -> bool:
    """Whether a cast leaves each value as it is."""
    match from_, to:
        case (Boolean() | Integer(), Integer() | Decimal()) | (Date(), Timestamp()):
            return True
        case Integer(low, high), Double():
            return max(abs(low), abs(high)) <= WHOLE_DOUBLES
        case Decimal(), Decimal():
            return to.scale >= from_.scale
        case _:
            return type(from_) is type(to)


def _without_arithmetic(expr: Expr) -> Expr:
    match expr:
        case Call("add" | "sub", (inner, other)) if _is(other, 0) and _keeps(inner.type, expr.type):
            return unchanged(inner)
        case Call("add", (other, inner)) if _is(other, 0) and _keeps(inner.type, expr.type):
            return unchanged(inner)
        case Call("mul", (inner, other)) | Call("mul", (other, inner)) if _is(other, 1) and _keeps(
            inner.type, expr.type
        ):
            return unchanged(inner)
        case Call("neg", (Call("neg", (inner,)),)) | Call("not", (Call("not", (inner,)),)):
            return unchanged(inner)
        case _:
            return expr


def _is(expr: Expr, number: int) -> bool:
    if isinstance(expr, ColumnRef):
        return False
    try:
        return constant(expr) == number
    except NotConstant:
        return False

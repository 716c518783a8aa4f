"""Exact public ranges of encoded values.

Every number, date, timestamp, boolean and dictionary string has an integer encoding within public bounds. This pass
computes the bounds of each computed value from those of its operands. So secure steps work on exactly as many bits as
the data may need, and nothing can overflow. Row bounds turn the range of a value into the range of its sum; a relation
without a declared bound counts as having at most 2**31 rows.
"""

from __future__ import annotations

from tacit.plan.algebra import moments
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Type, Varchar

Range = tuple[int, int]

UNDECLARED_ROWS = 1 << 31
EXACT_DOUBLE = 1 << 50
"""Numbers of up to this many units of their last digit are different DOUBLEs, with different quotients by a constant.

Two of them differ by a factor of at least 1 + 2^-50. As DOUBLEs, which rounds decimals, they differ by one of at least
1 + 3/4 2^-50, that is by three units in the last place, of which rounding the quotient takes one.
"""
INTEGER_RANGES: dict[str, Range] = {
    name: (-(1 << bits - 1), (1 << bits - 1) - 1)
    for name, bits in [("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 128)]
}


def encoded_range(type_: Type) -> Range | None:
    """The inclusive range of a type's integer encoding; None for strings without a dictionary and DOUBLE."""
    match type_:
        case Boolean():
            return 0, 1
        case Integer(low, high) | Decimal(_, _, low, high) | Date(low, high) | Timestamp(low, high):
            return low, high
        case Varchar(_, values):
            return None if values is None else (0, max(len(values) - 1, 0))
        case Double():
            return None


def is_told_by_double(type_: Type) -> bool:
    """Whether all numbers of a type are different DOUBLEs."""
    found = encoded_range(type_)
    return found is not None and found[0] >= -EXACT_DOUBLE and found[1] <= EXACT_DOUBLE


def sql_range(type_: Type) -> Range | None:
    """The encodings that a type has by its name alone; None where it has no bounds."""
    match type_:
        case Integer(_, _, sql):
            return INTEGER_RANGES[sql]
        case Decimal(precision):
            return 1 - 10**precision, 10**precision - 1
        case Date():
            return moments.DAYS
        case Timestamp():
            return moments.MOMENTS
        case _:
            return None


def range_of(type_: Type) -> Range:
    """The range of a type that is known to have one."""
    found = encoded_range(type_)
    if found is None:
        raise TypeError(f"{type_} has no integer encoding")
    return found


def add(a: Range, b: Range) -> Range:
    """All a + b."""
    return a[0] + b[0], a[1] + b[1]


def subtract(a: Range, b: Range) -> Range:
    """All a - b."""
    return a[0] - b[1], a[1] - b[0]


def multiply(a: Range, b: Range) -> Range:
    """All a * b."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def rescale(a: Range, digits: int) -> Range:
    """All a with ``digits`` more digits after the point; a negative number of them rounds."""
    if digits >= 0:
        return a[0] * 10**digits, a[1] * 10**digits
    return a[0] // 10**-digits, -(-a[1] // 10**-digits)


def negate(a: Range) -> Range:
    """All -a."""
    return -a[1], -a[0]


def either(a: Range, b: Range) -> Range:
    """All of a and all of b."""
    return min(a[0], b[0]), max(a[1], b[1])


def sum_of_rows(a: Range, rows: int) -> Range:
    """The sum of at least one and at most ``rows`` values of a."""
    return min(a[0], a[0] * rows), max(a[1], a[1] * rows)


def with_range(type_: Type, found: Range) -> Type:
    """The same type with other bounds."""
    match type_:
        case Integer(_, _, sql):
            return Integer(*found, sql)
        case Decimal(precision, scale):
            return Decimal(precision, scale, *found)
        case Date():
            return Date(*found)
        case Timestamp():
            return Timestamp(*found)
        case Boolean() | Varchar() | Double():
            return type_


def domain_size(type_: Type, nullable: bool) -> int | None:
    """How many different values, NULL included, a column can have by its public bounds; None if unbounded."""
    found = encoded_range(type_)
    return None if found is None else found[1] - found[0] + 1 + nullable

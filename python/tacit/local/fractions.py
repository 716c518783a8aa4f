"""Fractions of whole numbers, rounded exactly: by macros in each run's database."""

from __future__ import annotations

from sqlglot import exp

from tacit.local.average import whole_number, wide
from tacit.local.sql_types import cast
from tacit.local.statistics import decimal
from tacit.plan.algebra.types import Decimal, Type

MACROS = (
    # n / d, rounded, of a positive d.
    """CREATE MACRO rounded_quotient(n, d, how) AS CASE how
        WHEN 'floor' THEN n // d - CASE WHEN n % d < 0 THEN 1 ELSE 0 END
        WHEN 'ceil' THEN n // d + CASE WHEN n % d > 0 THEN 1 ELSE 0 END
        WHEN 'round' THEN sign(n) * ((2 * abs(n) + d) // (2 * d))
        WHEN 'even' THEN sign(n) * nearest(abs(n), d)
        ELSE n // d END""",
    # n / d, rounded, NULL where d is 0.
    """CREATE MACRO rounded_fraction(n, d, how) AS rounded_quotient(n * sign(d), nullif(abs(d), 0), how)""",
)


def rounded(args: list[exp.Expr], types: list[Type], into: Type) -> exp.Expr:
    """A fraction of numbers of these types, times and by constants, as a whole number or decimal."""
    numerator, denominator, mode, times, by = args
    sides = zip((numerator, denominator), types, (times, by), strict=True)
    above, below = (exp.Mul(this=whole_number(each, type_), expression=wide(factor)) for each, type_, factor in sides)
    found = exp.func("rounded_fraction", above, below, mode)
    return decimal(found, into) if isinstance(into, Decimal) else cast(found, into)

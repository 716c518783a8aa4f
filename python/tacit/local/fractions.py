"""Fractions of whole numbers, rounded exactly, and found from ratios: by macros in each run's database.

A fraction p / q, times a power of two m of at least q squared, is rounded down to r. It is the first continued fraction
of (2 r + 1) / (2 m) that is rounded to r: the difference is at most 1 / (2 q^2) (Legendre).
"""

from __future__ import annotations

from typing import Literal as OneOf

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
    # The fraction p / q whose ratio is r, which is not negative.
    """CREATE MACRO fraction_of(r, m, steps) AS list_reduce(list_transform(range(steps), lambda i:
            {'n': 2 * r + 1, 'd': 2 * m, 'p': 1::HUGEINT, 'q': 0::HUGEINT, 'less_p': 0::HUGEINT, 'less_q': 1::HUGEINT}),
        lambda f, other: CASE WHEN f.q > 0 AND f.p * m // greatest(f.q, 1) = r THEN f ELSE
            {'n': f.d, 'd': greatest(f.n % f.d, 1), 'p': f.n // f.d * f.p + f.less_p, 'q': f.n // f.d * f.q + f.less_q,
            'less_p': f.p, 'less_q': f.q} END)""",
    # Beyond the largest number are those that are divided by 0, and then 0 / 0.
    """CREATE MACRO fraction_numerator(r, m, most, steps) AS CASE
        WHEN r IS NULL THEN NULL WHEN r > most + 1 THEN 0::HUGEINT WHEN abs(r) > most THEN sign(r)::HUGEINT
        ELSE sign(r) * (fraction_of(abs(r), m, steps)).p END""",
    """CREATE MACRO fraction_denominator(r, m, most, steps) AS CASE
        WHEN r IS NULL THEN NULL WHEN abs(r) > most THEN 0::HUGEINT
        ELSE (fraction_of(abs(r), m, steps)).q END""",
)


def told(
    part: OneOf["numerator", "denominator"], number: exp.Expr, constants: tuple[int, int, int], into: Type
) -> exp.Expr:
    """A part of the fraction that a ratio tells. constants: its shift, the most that it may be, and enough steps."""
    shift, most, steps = constants
    power, largest = (wide(exp.Literal.string(str(each))) for each in (1 << shift, most))
    found = exp.func(f"fraction_{part}", wide(number), power, largest, exp.Literal.number(steps))
    return decimal(found, into) if isinstance(into, Decimal) else cast(found, into)


def rounded(args: list[exp.Expr], types: list[Type], into: Type) -> exp.Expr:
    """A fraction of numbers of these types, times and by constants, as a whole number or decimal."""
    numerator, denominator, mode, times, by = args
    sides = zip((numerator, denominator), types, (times, by), strict=True)
    above, below = (exp.Mul(this=whole_number(each, type_), expression=wide(factor)) for each, type_, factor in sides)
    found = exp.func("rounded_fraction", above, below, mode)
    return decimal(found, into) if isinstance(into, Decimal) else cast(found, into)

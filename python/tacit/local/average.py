"""AVG from a sum and a count, to the last bit as DuckDB computes it: by macros in each run's database.

DuckDB sums exactly, divides by the count (times the power of ten of a decimal) in 80-bit floating point, and rounds
that to a DOUBLE. So its result is rounded thrice: the sum to 64 significant bits, the quotient to 64, the result to
53. Dividing DOUBLEs instead (as one of DuckDB's optimizers does in some queries) differs in the last bit for one
average of decimals in four. Here whole numbers of up to 127 bits are divided exactly. A divisor of more than 63 bits
(more than 18 digits after the point, over many rows) does not leave enough of them: then DOUBLEs are divided.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.types import Decimal, Type

MACROS = (
    # The number of significant bits of a number that is not negative.
    "CREATE MACRO significant(x) AS length(ltrim(x::BIT::VARCHAR, '0'))",
    # n / d to the nearest whole number, to the even one of two.
    """CREATE MACRO nearest(n, d) AS n // d +
        CASE WHEN 2 * (n % d) > d OR 2 * (n % d) = d AND (n // d) % 2 = 1 THEN 1 ELSE 0 END""",
    # x as m * 2**up, m of 64 bits.
    """CREATE MACRO rounded(x) AS list_transform([greatest(significant(x) - 64, 0)],
        lambda up: {'m': nearest(x, 1::HUGEINT << up), 'up': up})[1]""",
    # How far m must be shifted for m / d to have 64 bits.
    """CREATE MACRO room(m, d) AS list_transform([significant(d) - significant(m)], lambda more: greatest(0, 63 + more +
        CASE WHEN m << greatest(more, 0) < d << greatest(-more, 0) THEN 1 ELSE 0 END))[1]""",
    # m / d * 2**exponent.
    """CREATE MACRO quotient(m, d, exponent) AS list_transform([room(m, d)],
        lambda shift: nearest(m << shift, d)::DOUBLE * pow(2.0::DOUBLE, exponent - shift))[1]""",
    # total / count / 10**scale. 10**scale is taken as 5**scale, which shortens the divisor, and 2**scale.
    """CREATE MACRO average(total, count, scale, fives) AS CASE
        WHEN total IS NULL OR count = 0 THEN NULL
        WHEN total = 0 THEN 0.0::DOUBLE
        WHEN significant(count::HUGEINT * fives) > 63 THEN total::DOUBLE / (count::DOUBLE * pow(10.0::DOUBLE, scale))
        ELSE sign(total) * list_transform([rounded(abs(total))],
            lambda v: quotient(v.m, count::HUGEINT * fives, v.up - scale))[1] END""",
)


def average(total: exp.Expr, count: exp.Expr, type_: Type) -> exp.Expr:
    """The average of numbers of which the total, a column of this type, and the count are known."""
    scale = scale_of(type_)
    fives = wide(exp.Literal.string(str(5**scale)))
    return exp.func("average", whole_number(total, type_), count, exp.Literal.number(scale), fives)


def scale_of(type_: Type) -> int:
    """Digits after the point."""
    return type_.scale if isinstance(type_, Decimal) else 0


def whole_number(value: exp.Expr, type_: Type) -> exp.Expr:
    """A number of this type in units of its last digit."""
    if scale_of(type_):
        digits = exp.Cast(this=value, to=exp.DataType.build("VARCHAR"))
        value = exp.func("replace", digits, exp.Literal.string("."), exp.Literal.string(""))
    return wide(value)


def wide(value: exp.Expr) -> exp.Expr:
    """A whole number of up to 127 bits."""
    return exp.Cast(this=value, to=exp.DataType.build("HUGEINT", dialect="duckdb"))

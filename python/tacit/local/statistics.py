"""Variances, covariances and quantiles from what MPC computes exactly: by macros in each run's database.

The sum of products about the means is the sum of products xy less q y less r y / n. Here x and y are the sums of the
factors, and x is q n + r. No part of it is larger than a sum of products can be, so that whole numbers of up to 127
bits are enough. It is rounded when it becomes a DOUBLE, and at each division and root that follows: the result is
within eight units in the last place of the true one. DuckDB adds up DOUBLEs row by row, and is less exact.

Quantiles are DuckDB's, to the last bit.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.local.average import scale_of, whole_number, wide
from tacit.local.sql_types import cast
from tacit.plan.algebra.moments import DAY
from tacit.plan.algebra.relations import Rank
from tacit.plan.algebra.types import Decimal, Timestamp, Type

NARROW = 18
"""Digits of decimals that DuckDB computes on in 64 bits."""

MACROS = (
    # a - b / n as a DOUBLE, from whole numbers with 0 <= b < n; of a large a no part is worth a unit.
    """CREATE MACRO less_part(a, b, n) AS CASE
        WHEN abs(a) < 1::HUGEINT << 90 THEN (a * n - b)::DOUBLE / n::DOUBLE ELSE a::DOUBLE END""",
    # products - q y - rest / n
    """CREATE MACRO less_parts(whole, rest, n) AS CASE
        WHEN rest % n < 0 THEN less_part(whole - rest // n + 1, rest % n + n, n)
        ELSE less_part(whole - rest // n, rest % n, n) END""",
    # The covariance from the sums of products and of factors. lacks: what the divisor lacks of n.
    """CREATE MACRO covariance(products, x, y, n, lacks, scale) AS CASE
        WHEN n <= lacks THEN NULL
        ELSE less_parts(products - x // n * y, x % n * y, n::HUGEINT) / (n - lacks)::DOUBLE
            / pow(10.0::DOUBLE, scale) END""",
    # How far the position (n - 1) * fraction is behind the value before it.
    """CREATE MACRO behind(n, fraction) AS (n - 1)::DOUBLE * fraction - floor((n - 1)::DOUBLE * fraction)""",
    # The value at the position (a n + shift) / b, rounded up, of a list.
    """CREATE MACRO ranked(found, a, b, shift) AS list_sort(found)[(a * len(found) + shift + b - 1) // b]""",
    # The decimal text of a whole number of units of a last digit.
    """CREATE MACRO pointed(x, scale) AS list_transform([lpad(abs(x)::VARCHAR,
        greatest(length(abs(x)::VARCHAR), scale + 1)::INTEGER, '0')], lambda text: CASE WHEN x < 0 THEN '-' ELSE '' END
        || left(text, -scale) || '.' || right(text, scale))[1]""",
)


def covariance(sums: list[exp.Expr], types: list[Type]) -> exp.Expr:
    """From the sums of products and of both factors, the count, and what the divisor lacks of it. types: of these."""
    products, x, y = (whole_number(each, type_) for each, type_ in zip(sums[:3], types[:3], strict=True))
    return exp.func("covariance", products, x, y, *sums[3:], exp.Literal.number(scale_of(types[0])))


def interpolated(values: list[exp.Expr], of: Type, into: Type) -> exp.Expr:
    """Between two neighbours of a type, from the count of all values and a fraction."""
    low, high, count, fraction = values
    behind = exp.func("behind", count, fraction)
    match into:
        case Timestamp():
            low, high = (exp.func("epoch_us", cast(each, into)) for each in (low, high))
            return exp.func("make_timestamp", _whole(exp.func("round", _between(low, high, behind)), "BIGINT"))
        case Decimal(precision):
            low, high = whole_number(low, of), whole_number(high, of)
            if precision <= NARROW:
                return decimal(_whole(exp.func("trunc", _between(low, high, behind)), "HUGEINT"), into)
            part = _whole(exp.func("trunc", exp.Mul(this=_double(_less(high, low)), expression=behind)), "HUGEINT")
            return decimal(exp.Paren(this=exp.Add(this=low, expression=part)), into)
        case _:
            return _between(_double(low), _double(high), behind)


def half(total: exp.Expr, of: Type, into: Type) -> exp.Expr:
    """Half of the sum of two values: of days as a moment, of decimals rounded as DuckDB rounds it."""
    if isinstance(into, Timestamp):
        micro = exp.Mul(this=exp.Paren(this=wide(total)), expression=exp.Literal.number(DAY // 2))
        return exp.func("make_timestamp", _whole(exp.Paren(this=micro), "BIGINT"))
    assert isinstance(into, Decimal), "halves are of days and decimals"
    both = whole_number(total, of)
    two = exp.Literal.number(2)
    if into.precision > NARROW:
        both = exp.Paren(this=exp.Sub(this=both, expression=exp.func("abs", exp.Mod(this=both.copy(), expression=two))))
    return decimal(exp.Paren(this=exp.IntDiv(this=both, expression=two.copy())), into)


def ranked(argument: exp.Expr, rank: Rank) -> exp.Expr:
    """The value at a position in the order of values, NULL of none."""
    a, b, shift = (exp.Literal.number(each) for each in (rank.numerator, rank.denominator, rank.shift))
    present = exp.Where(this=exp.Not(this=exp.Is(this=argument.copy(), expression=exp.Null())))
    return exp.func("ranked", exp.Filter(this=exp.func("list", argument), expression=present), a, b, shift)


def _between(low: exp.Expr, high: exp.Expr, behind: exp.Expr) -> exp.Expr:
    part = exp.Mul(this=_double(_less(high, low)), expression=behind)
    return exp.Paren(this=exp.Add(this=_double(low), expression=part))


def _less(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Sub(this=a.copy(), expression=b.copy()))


def _double(value: exp.Expr) -> exp.Expr:
    return exp.cast(value.copy(), "DOUBLE")


def _whole(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(name, dialect="duckdb"))


def decimal(units: exp.Expr, type_: Decimal) -> exp.Expr:
    """A decimal from a whole number of units of its last digit."""
    text = exp.func("pointed", units, exp.Literal.number(type_.scale)) if type_.scale else units
    return cast(text, type_)

"""What a program's releases have opened, as NumPy's arrays at a recipient."""

from __future__ import annotations

import duckdb
import numpy

from tacit.local.array_values import WORD, Values
from tacit.local.database import quoted
from tacit.plan.physical.placed import Result

WORDS = """
SELECT value < 0 AS negative,
       CAST(abs(value) // 18446744073709551616::HUGEINT AS UBIGINT) AS high,
       CAST(abs(value) % 18446744073709551616::HUGEINT AS UBIGINT) AS low
FROM (SELECT CAST({column} AS HUGEINT) AS value FROM {rows})
"""


def result_array(database: duckdb.DuckDBPyConnection, rows: str, column: str, result: Result) -> Values:
    """The array of opened rows, which are its elements in C order. rows: the FROM item, which is read once."""
    found = database.execute(WORDS.format(column=quoted(column), rows=rows)).fetchnumpy()
    negative, high, low = (numpy.asarray(found[name]) for name in ("negative", "high", "low"))
    return _decoded(negative, high, low, result).reshape(result.shape)


def _decoded(negative: Values, high: Values, low: Values, result: Result) -> Values:
    if result.dtype == "fixed":
        size = numpy.ldexp(high.astype(float), WORD - result.fraction) + numpy.ldexp(
            low.astype(float), -result.fraction
        )
        real: Values = numpy.where(negative, -size, size)
        return real
    if high.any():
        raise OverflowError(f"{result.name} has an element of more than 64 bits")
    if result.dtype == "bool":
        return low.astype(bool)
    signed: Values = numpy.where(negative, ~low + numpy.uint64(1), low).view(numpy.int64)
    return signed.astype(numpy.dtype(result.dtype))

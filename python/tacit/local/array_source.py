"""An owner's array as programs read it: from its .npy file to a table of one column of integers, in C order.

The file stays where it is, mapped into memory. All of it is held against the offer before anything is shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy
from numpy.lib.format import open_memmap

from tacit.local.array_values import Values, Wrong, nearest, out_of_bounds, pieces, shown, too_long, words
from tacit.local.database import quoted
from tacit.local.encode import BIGINT, WIDE
from tacit.local.errors import DataError
from tacit.local.stored import stamp
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.programs.declared import declared
from tacit.plan.programs.facts import Array
from tacit.plan.programs.graph import Settings

VALUE = "value"
"""The one column."""
WORDS = "CAST(sign AS HUGEINT) * (CAST(high AS HUGEINT) * 18446744073709551616::HUGEINT + low)"
"""An integer of more than 64 bits, of its sign and the words of its absolute value."""


@dataclass(frozen=True)
class ArraySource:
    """An array whose file is open, and has the declared shape and type. stamp: see ``tacit.local.stored.stamp``."""

    array: OfferedArray
    path: str
    values: Values
    stamp: tuple[int, ...]

    def verify_unchanged(self) -> None:
        """The file is still the one that was opened. Raises DataError."""
        if stamp(self.path) != self.stamp:
            raise DataError(self.path, "the file changed while it was read", "ask again once it is complete")


def open_array(array: OfferedArray) -> ArraySource:
    """Open the file of an array that this party owns. Raises DataError if it has another shape or type."""
    if array.path is None:
        advice = f"write its path as [arrays.{array.name}] in private/{array.owner}.toml"
        raise DataError(f"array {array.name}", "it has no file", advice)
    opened = stamp(array.path)
    values = _mapped(array.path)
    found, wanted = values.dtype, numpy.dtype(array.dtype)
    if (found.kind, found.itemsize) != (wanted.kind, wanted.itemsize):
        advice = f"store it as {wanted.name}, or declare its real dtype in the offer"
        raise DataError(array.path, f"its elements are {found.name}, not the declared {wanted.name}", advice)
    if values.shape != array.shape:
        problem = f"its shape is {_shape(values.shape)}, not the declared {_shape(array.shape)}"
        raise DataError(array.path, problem, "store the array that was offered, or declare its real shape in the offer")
    return ArraySource(array, array.path, values, opened)


Block = tuple[int, int]
"""The first of some rows of an array, and the one behind the last."""


def load_array(
    database: duckdb.DuckDBPyConnection, source: ArraySource, fraction: int, relation: str, block: Block | None = None
) -> int:
    """Check all elements, and write the nearest integers to them times 2^fraction to the new table ``relation``.

    fraction: bits after the point, of numbers that are no integers. block: take its rows alone. Returns the number of
    rows of the table; raises DataError.
    """
    facts = _facts(source.array, fraction)
    kind = "BOOLEAN" if facts.dtype == "bool" else "BIGINT" if facts.low in BIGINT and facts.high in BIGINT else WIDE
    name = quoted(relation)
    database.execute(f"CREATE OR REPLACE TABLE {name} ({VALUE} {kind})")
    return sum(_append(database, name, kind, integers) for integers in _checked(source, facts, block))


def check_block(source: ArraySource, fraction: int, block: Block | None) -> int:
    """Check rows of an array against its offer. Returns the number of elements; raises DataError."""
    return sum(each.size for each in _checked(source, _facts(source.array, fraction), block))


def check_array(array: OfferedArray) -> int:
    """Check an array that this party owns against its offer. Returns the number of elements; raises DataError."""
    source = open_array(array)
    return sum(each.size for each in _checked(source, _facts(array, Settings.fraction)))


def _facts(array: OfferedArray, fraction: int) -> Array:
    return declared(array.name, array.shape, array.dtype, (array.low, array.high), array.row_norm, fraction)


def _checked(source: ArraySource, facts: Array, block: Block | None = None) -> Iterator[Values]:
    """All elements as integers, or bits, in C order; refused where one is not as it is offered. block: of its rows.

    A block is mapped by itself, so that no more of the file than that is in memory.
    """
    array, values, start = source.array, source.values, 0
    if block is not None:
        values, start = _mapped(source.path)[slice(*block)], block[0] * (array.size // array.shape[0])
    low = facts.low if array.low is None else array.low
    high = facts.high if array.high is None else array.high
    for at, piece in pieces(values, 1 if facts.norm2 is None else facts.columns):
        first = start + at
        _refuse(source, first, out_of_bounds(piece, low, high))
        integers = piece if facts.dtype == "bool" else nearest(piece, facts.fraction)
        if facts.norm2 is not None:
            _check_norms(source, first, integers, facts.norm2)
        yield integers.reshape(-1)
    source.verify_unchanged()


def _mapped(path: str) -> Values:
    """The elements of a file, not yet read."""
    try:
        return open_memmap(path, mode="r")
    except ValueError as error:
        if "Python objects" in str(error):
            raise DataError(path, "it holds Python objects", "store an array of numbers with numpy.save") from None
        raise DataError(path, "the file is no whole .npy file", "store the array with numpy.save") from None
    except OSError as error:
        raise DataError(path, f"the file cannot be mapped ({error.strerror})", "put it on a local disk") from None


def _refuse(source: ArraySource, first: int, wrong: Wrong | None) -> None:
    if wrong is not None:
        at = _index(first + wrong.at, source.array.shape)
        raise DataError(source.path, f"{f'the element {at}' if at else 'it'} {wrong.problem}", wrong.advice)


def _check_norms(source: ArraySource, first: int, integers: Values, most: int) -> None:
    """Rows are as short as declared, which everybody relies on. most: of the squares of a row, after rounding."""
    columns, norm = integers.shape[1], source.array.row_norm
    row = too_long(integers, most)
    if row is not None and norm is not None:
        at = _index(first + row * columns, source.array.shape)[:-1]
        which = f"the row {at}" if at else "it"
        problem = f"{which} has a Euclidean norm above the declared row_norm {shown(norm)}"
        raise DataError(source.path, problem, "correct it, or declare another row_norm")


def _index(position: int, shape: tuple[int, ...]) -> list[int]:
    """The index of an element by its position in C order."""
    return [int(each) for each in numpy.unravel_index(position, shape)]


def _append(database: duckdb.DuckDBPyConnection, table: str, kind: str, integers: Values) -> int:
    """Write integers to a table. Returns their number."""
    columns: dict[str, Any]
    if kind == WIDE:
        columns = dict(zip(("sign", "high", "low"), words(integers), strict=True))
    else:
        columns = {VALUE: integers if kind == "BOOLEAN" else integers.astype(numpy.int64)}
    database.register("piece", columns)
    database.execute(f"INSERT INTO {table} SELECT {WORDS if kind == WIDE else VALUE} FROM piece").fetchall()
    database.unregister("piece")
    return integers.size


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "one number"

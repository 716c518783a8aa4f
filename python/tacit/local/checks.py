"""The load checks: an owner's data is as its offer declares, or nothing is shared.

The other parties rely on declared bounds for the width of every secure step, and on unique keys for the kind of join.
Data that breaks a declaration would make a wrong answer. One query over a table's least and greatest values settles
numbers and dates. DuckDB answers it from a Parquet file's statistics where they are there and exact, without reading a
row. Strings need a second query, a dictionary and a unique key one each. Only when a check fails is its row looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import duckdb

from tacit.local.database import quoted, text
from tacit.local.encode import MOST_DIGITS
from tacit.local.errors import DataError
from tacit.local.source import Source
from tacit.local.sql_types import literal, shown
from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.algebra.types import Date, Decimal, Field, Integer, Timestamp, Varchar

WIDEST = 10**MOST_DIGITS - 1
"""The largest HUGEINT that is passed on exactly. It is nobody's own declaration."""


@dataclass(frozen=True)
class Check:
    """One thing that must hold in every row of a column.

    fails: an aggregate expression that is TRUE if some row breaks it. broken: the condition of such a row.
    problem: what is wrong with it, after the value if ``quotes``.
    """

    field: Field
    fails: str
    broken: str
    problem: str
    advice: str
    quotes: bool = True


def check_source(database: duckdb.DuckDBPyConnection, source: Source) -> int:
    """Check what is declared about the columns in use. Returns the number of rows; raises DataError."""
    rows = _check_values(database, source)
    _check_row_bound(source, rows)
    for keys in source.table.unique:
        _check_unique(database, source, [field.name for field in source.fields if field.name in keys])
    declared = {column.field.name: column.repeats for column in source.table.columns}
    for name in (field.name for field in source.fields):
        if (most := declared[name]) is not None:
            _check_repeats(database, source, name, most)
    return rows


def _check_values(database: duckdb.DuckDBPyConnection, source: Source) -> int:
    numbers = [check for field in source.fields for check in (*_null_checks(field), *_bound_checks(field))]
    strings = [check for field in source.fields for check in _text_checks(field, source.may_have_nul)]
    (rows, *failed), *_ = database.execute(_summary(["count(*)"], numbers, source.raw)).fetchall()
    broken = _failures(numbers, failed)
    if strings:
        broken += _failures(strings, database.execute(_summary([], strings, source.raw)).fetchall()[0])
    for check in _dictionary_checks(source.fields):
        values = f"SELECT DISTINCT {quoted(check.field.name)} FROM {source.raw}"
        broken += _failures([check], database.execute(_summary([], [check], f"({values})")).fetchall()[0])
    if broken:
        raise min((_located(database, source, check) for check in broken), key=lambda error: error.row or 0)
    return int(rows)


def _summary(more: list[str], checks: list[Check], rows: str) -> str:
    return f"SELECT {', '.join([*more, *(check.fails for check in checks)])} FROM {rows}"


def _failures(checks: list[Check], failed: Iterable[object]) -> list[Check]:
    """The checks that fail. NULL means that the column has no value to break one."""
    return [check for check, fails in zip(checks, failed, strict=True) if fails]


def _null_checks(field: Field) -> Iterator[Check]:
    if not field.nullable:
        name = quoted(field.name)
        advice = "fill it in, or declare the column nullable = true in the offer"
        yield Check(field, f"count(*) > count({name})", f"{name} IS NULL", "the value is missing", advice, quotes=False)


def _bound_checks(field: Field) -> Iterator[Check]:
    match field.type:
        case Integer(low, high) | Decimal(_, _, low, high) | Date(low, high) | Timestamp(low, high):
            name = quoted(field.name)
            for sign, function, word, bound in (("<", "min", "below", low), (">", "max", "above", high)):
                limit = literal(bound, field.type).sql(dialect="duckdb")
                problem = f"is {word} the declared {function} {shown(bound, field.type)}"
                advice = f"correct the value, or declare another {function} in the offer"
                if isinstance(field.type, Integer) and abs(bound) == WIDEST:
                    problem, advice = f"has more than {MOST_DIGITS} digits", "correct the value"
                yield Check(field, f"{function}({name}) {sign} {limit}", f"{name} {sign} {limit}", problem, advice)


def _text_checks(field: Field, may_have_nul: bool) -> Iterator[Check]:
    if not isinstance(field.type, Varchar) or field.type.values is not None:
        return
    name = quoted(field.name)
    if may_have_nul:
        nul = f"contains({name}, chr(0))"
        yield Check(field, f"bool_or({nul})", nul, "the value contains a NUL character", "remove it", quotes=False)
    if field.type.max_length is not None:
        longest = field.type.max_length
        problem = f"is longer than the declared max_length, {longest} bytes of UTF-8"
        advice = "shorten the value, or declare another max_length in the offer"
        yield Check(field, f"max(strlen({name})) > {longest}", f"strlen({name}) > {longest}", problem, advice)


def _dictionary_checks(fields: Iterable[Field]) -> Iterator[Check]:
    for field in fields:
        if isinstance(field.type, Varchar) and field.type.values is not None:
            unknown = f"{quoted(field.name)} NOT IN ({', '.join(text(value) for value in field.type.values)})"
            problem = "is not among the declared values"
            advice = "correct the value, or add it to values in the offer"
            yield Check(field, f"bool_or({unknown})", unknown, problem, advice)


def _located(database: duckdb.DuckDBPyConnection, source: Source, check: Check) -> DataError:
    """The error for the first row that breaks a check."""
    value = f"left(CAST({quoted(check.field.name)} AS VARCHAR), 41)"
    first = f"SELECT {source.position} + 1, {value} FROM {source.numbered} WHERE {check.broken}"
    (row, found), *_ = database.execute(f"{first} ORDER BY 1 LIMIT 1").fetchall()
    problem = f"{_quote(found, check.field)} {check.problem}" if check.quotes else check.problem
    return DataError(source.path, problem, check.advice, row=row, column=check.field.name)


def _quote(value: str, field: Field) -> str:
    if not isinstance(field.type, Varchar):
        return value
    return repr(value if len(value) <= 40 else value[:40] + "...")


def _check_row_bound(source: Source, rows: int) -> None:
    declared = source.table.bound
    bound = UNDECLARED_ROWS if declared is None else declared
    if source.table.exact and rows < bound:
        problem = f"there are {rows} rows, and its offer says that there are exactly {bound}"
        raise DataError(source.path, problem, "add the missing rows, or correct rows in the offer")
    if rows > bound:
        problem = f"there are {rows} rows, more than the {bound} declared"
        if declared is None:
            problem = f"there are {rows} rows, more than the {bound} of a table without declared rows"
        raise DataError(source.path, problem, "remove rows, or declare more rows in the offer")


def _check_unique(database: duckdb.DuckDBPyConnection, source: Source, keys: list[str]) -> None:
    """No two rows have the same key. NULL counts as a value, so that DISTINCT over a unique key is no work."""
    listed = ", ".join(quoted(key) for key in keys)
    repeated = f"SELECT 1 FROM {source.raw} GROUP BY {listed} HAVING count(*) > 1 LIMIT 1"
    if not database.execute(repeated).fetchall():
        return
    row = quoted("row number")  # no column of a table can have this name
    numbered = f"SELECT {source.position} + 1 AS {row}, {listed} FROM {source.numbered}"
    firsts = f"SELECT {row}, min({row}) OVER (PARTITION BY {listed}) AS first FROM ({numbered})"
    second = f"SELECT {row}, first FROM ({firsts}) WHERE {row} > first ORDER BY {row} LIMIT 1"
    (second_row, first), *_ = database.execute(second).fetchall()
    problem = f"the value repeats that of row {first}, but is declared unique"
    advice = "remove one of the rows, or the key from unique in the offer"
    raise DataError(source.path, problem, advice, row=second_row, column=" and ".join(keys))


def _check_repeats(database: duckdb.DuckDBPyConnection, source: Source, name: str, most: int) -> None:
    """No value but NULL is in more rows than declared."""
    key = quoted(name)
    values = f"FROM {source.raw} WHERE {key} IS NOT NULL GROUP BY {key}"
    if not database.execute(f"SELECT 1 {values} HAVING count(*) > {most} LIMIT 1").fetchall():
        return
    row, time = quoted("row number"), quoted("time of the value")
    rows = f"SELECT {source.position} + 1 AS {row}, {key} FROM {source.numbered} WHERE {key} IS NOT NULL"
    times = f"SELECT {row}, row_number() OVER (PARTITION BY {key} ORDER BY {row}) AS {time} FROM ({rows})"
    (first,), *_ = database.execute(f"SELECT min({row}) FROM ({times}) WHERE {time} > {most}").fetchall()
    problem = f"the value is in more than {most} rows, the declared repeats"
    raise DataError(source.path, problem, "remove rows, or raise repeats in the offer", row=first, column=name)

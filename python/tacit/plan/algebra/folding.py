"""Functions of constants, computed when a query is bound: by DuckDB itself, whose functions they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal as Exact
from typing import Any

import duckdb

from tacit.plan.algebra import moments
from tacit.plan.algebra.functions import FUNCTIONS
from tacit.plan.algebra.relations import Literal
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Timestamp, Type, sql_name

Constant = int | bool | float | str | None


class NoValue(Exception):
    """DuckDB has no value for a function of these constants. str(): what it says, without what comes after a line."""


def values_of(name: str, rows: Sequence[Sequence[Literal]], type_: Type) -> list[Constant]:
    """The function's values, as encoded, of each row of arguments. type_: theirs."""
    listed = [_sql(name, row) for row in rows]
    try:
        with duckdb.connect(config={"threads": 1}) as database:
            found = [database.execute(f"SELECT {text}", given).fetchall()[0][0] for text, given in listed]
    except duckdb.Error as error:
        raise NoValue(str(error).partition("\n")[0]) from None
    return [_encoded(each, type_) for each in found]


def _sql(name: str, row: Sequence[Literal]) -> tuple[str, list[Any]]:
    """The call with a parameter for each argument."""
    typed = [f"CAST(? AS {sql_name(each.type)})" for each in row]
    return FUNCTIONS[name].sql.format(*typed), [_plain(each) for each in row]


def _plain(literal: Literal) -> object:
    """A constant as DuckDB takes it."""
    match literal.value, literal.type:
        case None, _:
            return None
        case int() as value, Decimal(_, scale):
            return str(Exact(value).scaleb(-scale))
        case int() as value, Date():
            return moments.day_text(value)
        case int() as value, Timestamp():
            return moments.moment_text(value)
        case int() as value, Boolean():
            return bool(value)
        case value, _:
            return value


def _encoded(value: Any, type_: Type) -> Constant:
    match type_:
        case _ if value is None:
            return None
        case Decimal(_, scale):
            return int(Exact(value).scaleb(scale))
        case Date() if isinstance(value, date):
            return value.toordinal() - moments.EPOCH
        case Timestamp() if isinstance(value, datetime):
            return _microseconds(value)
        case Date() | Timestamp():
            raise NoValue("it is a moment before the year 1 or after the year 9999")
        case Double():
            return float(value)
        case Boolean():
            return bool(value)
        case _:
            found: Constant = value
            return found


def _microseconds(value: datetime) -> int:
    day, time = value.date().toordinal() - moments.EPOCH, value.time()
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return day * moments.DAY + seconds * moments.SECOND + time.microsecond

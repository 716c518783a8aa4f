"""Owners' offers: the tables of each, with columns, types and the public bounds that everybody may rely on.

An offer is one file, ``offers/NAME.toml``, which its owner alone writes. All parties hold the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal as Number
from decimal import InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Final

from tacit.agent.federation_section import FederationError, Section, read_section, shown
from tacit.plan.algebra.bounds import INTEGER_RANGES
from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, IntegerName, Type, Varchar
from tacit.plan.facts.catalog import Column, Table

CONSENTS = ("filter", "groups", "matches")
INTEGERS: Final[tuple[IntegerName, ...]] = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
TYPES = "BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, DECIMAL(p,s), DATE or VARCHAR"
EPOCH = date(1970, 1, 1).toordinal()
DATES = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
MOST_DIGITS = 38
WIDEST = 10**MOST_DIGITS - 1
"""The largest whole number that Arrow carries exactly, as decimal128(38, 0)."""


def read_offers(folder: Path, parties: tuple[str, ...]) -> tuple[Table, ...]:
    """The tables that all parties offer, in the parties' order. Raises RunError with the first mistake."""
    strangers = sorted(file for file in folder.glob("*.toml") if file.stem not in parties)
    for file in strangers:
        problem = f"there is no party {file.stem!r}"
        raise FederationError(file, "", problem, "add it to the federation file, or remove this file")
    tables: dict[str, Table] = {}
    for owner in parties:
        for table in _read_offer(folder / f"{owner}.toml", owner, parties):
            first = tables.setdefault(table.name.lower(), table)
            if first is not table:
                problem = f"{first.owner} offers a table {first.name!r} too"
                advice = "rename one, because SQL takes them for the same name"
                raise FederationError(folder / f"{owner}.toml", f"[tables.{table.name}]", problem, advice)
    if not tables:
        raise FederationError(folder, "", "no party offers a table", "an owner writes [tables.NAME] in NAME.toml there")
    return tuple(tables.values())


def _read_offer(path: Path, owner: str, parties: tuple[str, ...]) -> tuple[Table, ...]:
    """One owner's tables; none without a file."""
    if not path.exists():
        return ()
    root = read_section(path, "correct the permissions of the file")
    tables = tuple(_table(section, owner, parties) for section in root.sections("tables"))
    root.close()
    return tables


def _table(section: Section, owner: str, parties: tuple[str, ...]) -> Table:
    """A section ``[tables.NAME]``."""
    columns = _columns(section.section("columns"), parties)
    rows, most_rows = section.count("rows", least=0), section.count("most_rows", least=0)
    section.not_both("rows", "most_rows", "keep rows, which bounds the table and hides its number")
    table = Table(
        section.name,
        owner,
        columns,
        unique=_unique(section, columns),
        rows=rows,
        consents=_consents(section),
        most_rows=most_rows,
        delivered=section.flag("delivered", default=False),
    )
    section.close()
    if table.delivered:
        _check_delivered(section, table)
    return table


def _check_delivered(section: Section, table: Table) -> None:
    """Refuse what a table that is delivered cannot have."""
    if table.consents:
        advice = "remove consents, because nothing of it is computed at its owner"
        raise section.error("is delivered and has consents", advice)
    for column in table.columns:
        if column.field.type == Varchar(None):
            problem = f"is delivered, and its column {column.field.name} is a VARCHAR without max_length"
            raise section.error(problem, "declare max_length or values, because nodes keep the bytes of strings")


def _unique(section: Section, columns: tuple[Column, ...]) -> tuple[frozenset[str], ...]:
    value = section.optional("unique")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, list) and each for each in value):
        raise section.error(
            f"unique is {value!r}", 'write a list of lists of columns, for example [["id"], ["year", "nr"]]'
        )
    keys = [section.name_list("unique", each) for each in value]
    for key in keys:
        section.all_known("unique", key, (column.field.name for column in columns), "column of the table")
    return tuple(frozenset(key) for key in keys)


def _consents(section: Section) -> frozenset[str]:
    consents = section.names("consents", default=())
    section.all_known("consents", consents, CONSENTS, "consent")
    return frozenset(consents)


def _columns(section: Section, parties: tuple[str, ...]) -> tuple[Column, ...]:
    section.check_names("columns")
    columns = tuple(_column(section, name, entry, parties) for name, entry in section.items())
    if not columns:
        raise section.error("has no columns", 'add a line for each, for example id = "INTEGER"')
    return columns


def _column(section: Section, name: str, entry: object, parties: tuple[str, ...]) -> Column:
    column = section.inline(name, {"type": entry} if isinstance(entry, str) else entry)
    field = Field(name, _type(column), column.flag("nullable", default=False))
    readers = column.names("readers", default=())
    column.all_known("readers", readers, parties, "party")
    column.close()
    return Column(field, frozenset(readers))


def _type(column: Section) -> Type:
    written = column.text("type")
    name = " ".join(written.upper().split())
    for integer in INTEGERS:
        if name == integer:
            low, high = INTEGER_RANGES[integer]
            return Integer(*_range(column, (max(low, -WIDEST), min(high, WIDEST)), _WHOLE), integer)
    if name in ("BOOLEAN", "DATE", "VARCHAR"):
        return {"BOOLEAN": _boolean, "DATE": _date, "VARCHAR": _varchar}[name](column)
    if found := DECIMAL.fullmatch(name):
        return _decimal(column, int(found[1]), int(found[2] or 0))
    raise column.error(f"type is {written!r}", f"write {TYPES}")


def _boolean(_: Section) -> Type:
    return Boolean()


def _date(column: Section) -> Type:
    return Date(*_range(column, DATES, _DAY))


def _decimal(column: Section, precision: int, scale: int) -> Type:
    if not (1 <= precision <= MOST_DIGITS and scale <= precision):
        raise column.error(
            f"type is DECIMAL({precision},{scale})", "write a precision from 1 to 38 and a scale not above it"
        )
    most = 10**precision - 1
    wanted = f"as a number with at most {scale} digits after the point, in quotes if it has any"
    bounds = _Bounds(lambda value: _scaled(value, scale), wanted)
    return Decimal(precision, scale, *_range(column, (-most, most), bounds))


def _varchar(column: Section) -> Type:
    max_length = column.count("max_length", least=1)
    values = column.optional("values")
    column.not_both("values", "max_length", "keep values only")
    if values is None:
        return Varchar(max_length)
    listed = column.name_list("values", values)
    if not listed:
        raise column.error("values is empty", "list the strings that occur, or leave values out")
    if any("\0" in value for value in listed):
        raise column.error("values has a string with a NUL character", "leave NUL out of strings")
    longest = max(len(value.encode()) for value in listed)
    return Varchar(longest, tuple(sorted(listed, key=str.encode)))


@dataclass(frozen=True)
class _Bounds:
    """How bounds of a type are written. encode: a TOML value to its encoding, or None if it is no value of the type."""

    encode: Callable[[object], int | None]
    wanted: str


def _range(column: Section, widest: tuple[int, int], bounds: _Bounds) -> tuple[int, int]:
    """min and max in encoded form, within the type's own range, which they default to."""
    low, high = _bound(column, "min", widest[0], widest, bounds), _bound(column, "max", widest[1], widest, bounds)
    if low > high:
        raise column.error("min is above max", "exchange them")
    return low, high


def _bound(column: Section, key: str, default: int, widest: tuple[int, int], bounds: _Bounds) -> int:
    value = column.optional(key)
    if value is None:
        return default
    encoded = bounds.encode(value)
    if encoded is None:
        raise column.error(f"{key} is {shown(value)}", f"write it {bounds.wanted}")
    if not widest[0] <= encoded <= widest[1]:
        raise column.error(f"{key} is {shown(value)}, which the type cannot hold", "correct it or take a wider type")
    return encoded


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _day(value: object) -> int | None:
    if type(value) is date:
        return value.toordinal() - EPOCH
    try:
        return date.fromisoformat(value).toordinal() - EPOCH if isinstance(value, str) else None
    except ValueError:
        return None


def _scaled(value: object, scale: int) -> int | None:
    """value * 10**scale if that is whole. A TOML float is taken as it is written."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Number(str(value))
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 2 * MOST_DIGITS:
        return None
    encoded = Fraction(number) * 10**scale
    return encoded.numerator if encoded.denominator == 1 else None


_WHOLE = _Bounds(_whole, "as a whole number")
_DAY = _Bounds(_day, "as a date, for example 2024-12-31")

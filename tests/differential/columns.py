"""Generated columns: every supported type with its public bounds, and a small pool of values within them.

The pools are small so that values repeat and keys meet; they favour the bounds, zero and the values beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal as OneOf

from .chance import Chance

Family = OneOf["whole", "decimal", "date", "moment", "text", "flag"]
Value = int | Decimal | date | datetime | str | bool | None

WIDTHS = [("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64)]
WHOLE = {name: (-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in WIDTHS}
WHOLE_BOUNDS = [(-5, 20), (0, 99), (-1000, 1000), (7, 7), (-3, -1), (0, 2**31 - 1), (-(2**31), 2**31 - 1)]
DIGITS = [(4, 2), (9, 0), (10, 2), (18, 4), (18, 18), (24, 3), (38, 2)]
DAYS = [(date(2020, 1, 1), date(2020, 3, 1)), (date(1969, 12, 30), date(1970, 1, 2)), (date.min, date.max)]
MICROSECOND = timedelta(microseconds=1)
MOMENTS = [
    (datetime(2020, 1, 1), datetime(2020, 3, 1, 12)),
    (datetime(1969, 12, 31, 23, 59, 59, 999_990), datetime(1970, 1, 1, 0, 0, 0, 20)),
    (datetime.min, datetime.max),
]
STRINGS = [
    "",
    " ",
    "a",
    "A",
    "ab",
    "a ",
    "b",
    "é",
    "it's",
    "日本",
    "NULL",
    "1",
    "a,b",
    'x"y',
    "zzzz",
    "line one, longer",
]


@dataclass(frozen=True)
class Column:
    """A column of a table. declaration: its entry in the offer. values: what its rows are drawn from.

    shown: whether it can be output and ordered (a string without max_length can only be compared). readers: whom its
    owner lets read it.
    """

    name: str
    family: Family
    declaration: str
    values: tuple[Value, ...]
    nullable: bool
    features: frozenset[str]
    shown: bool = True
    readers: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """Its SQL type."""
        return self.declaration.split('"')[1]

    @property
    def line(self) -> str:
        """Its line in the offer."""
        nullable = ", nullable = true" if self.nullable else ""
        readers = f", readers = [{', '.join(map(repr, self.readers))}]" if self.readers else ""
        return f"columns.{self.name} = {{ {self.declaration}{nullable}{readers} }}"


def columns(chance: Chance, name: str, families: tuple[Family, ...], *, key: bool = False) -> Column:
    """A column of one of the families."""
    family, nullable = chance.pick(families), chance.often(2)
    if family == "flag":
        return Column(name, family, 'type = "BOOLEAN"', (True, False), nullable, frozenset({"BOOLEAN"}))
    makers = {"whole": _whole, "decimal": _decimal, "date": _date, "moment": _moment, "text": _text}
    return makers[family](chance, name, nullable, key)


def _whole(chance: Chance, name: str, nullable: bool, key: bool) -> Column:
    sql = chance.pick(["INTEGER", "INTEGER", "BIGINT", "SMALLINT", "TINYINT"])
    least, most = WHOLE[sql]
    bounds = [*WHOLE_BOUNDS[: 3 if key else 7], *WHOLE_BOUNDS[:3], WHOLE[sql]]
    low, high = chance.pick([(low, high) for low, high in bounds if least <= low and high <= most])
    values = _pool(chance, low, high, 3 if key else 1)
    features = frozenset({sql} | _signs(values) | ({"bounds of a type"} if (low, high) == WHOLE[sql] else set()))
    return Column(name, "whole", f'type = "{sql}", min = {low}, max = {high}', values, nullable, features)


def _decimal(chance: Chance, name: str, nullable: bool, key: bool) -> Column:
    if not key and chance.often(5):
        return _double(chance, name, nullable)
    precision, scale = chance.pick(DIGITS)
    most = 10**precision - 1
    low, high = chance.pick([(-most, most), (-min(999, most), min(999, most)), (0, min(5000, most))])
    encoded = _pool(chance, low, high, 3 if key else 1)
    values = tuple(Decimal(f"{each}e-{scale}") for each in encoded)
    features = frozenset({"DECIMAL"} | _signs(encoded) | ({"bounds of a type"} if high == most else set()))
    shown = [f"{Decimal(f'{bound}e-{scale}'):f}" for bound in (low, high)]
    declaration = f'type = "DECIMAL({precision},{scale})", min = "{shown[0]}", max = "{shown[1]}"'
    return Column(name, "decimal", declaration, values, nullable, features)


def _double(chance: Chance, name: str, nullable: bool) -> Column:
    """A column that is stored as DOUBLE, and is a decimal of so many digits."""
    scale = chance.pick([0, 2, 3])
    values = tuple(Decimal(f"{each}e-{scale}") for each in _pool(chance, -999, 999, 1))
    declaration = f'type = "DOUBLE", scale = {scale}, min = -1000, max = 1000'
    return Column(name, "decimal", declaration, values, nullable, frozenset({"DOUBLE"}))


def _date(chance: Chance, name: str, nullable: bool, key: bool) -> Column:
    low, high = chance.pick(DAYS)
    days = _pool(chance, low.toordinal(), high.toordinal(), 3 if key else 1)
    values = tuple(low + timedelta(days=day - low.toordinal()) for day in days)
    declaration = f'type = "DATE", min = "{low.isoformat()}", max = "{high.isoformat()}"'
    features = frozenset({"DATE", "bounds of a type"} if low == date.min else {"DATE"})
    return Column(name, "date", declaration, values, nullable, features)


def _moment(chance: Chance, name: str, nullable: bool, key: bool) -> Column:
    low, high = chance.pick(MOMENTS)
    steps = [
        low,
        high,
        low + MICROSECOND,
        high - MICROSECOND,
        low + timedelta(days=1),
        low.replace(microsecond=500_000),
    ]
    pool = sorted({each for each in steps if low <= each <= high})
    values = tuple(chance.several(pool, 3 if key else 1, 5))
    declaration = f'type = "TIMESTAMP", min = "{low}", max = "{high}"'
    features = frozenset({"TIMESTAMP", "bounds of a type"} if low == datetime.min else {"TIMESTAMP"})
    return Column(name, "moment", declaration, values, nullable, features)


def _text(chance: Chance, name: str, nullable: bool, key: bool) -> Column:
    values = tuple(chance.several(STRINGS, 3 if key else 1, 5))
    longest = max(max(len(value.encode()) for value in values), 1)
    match chance.pick(["dictionary", "bytes", "bytes", "hashed", "hashed", "unshown"]):
        case "dictionary":
            listed = ", ".join('"' + value.replace('"', '\\"') + '"' for value in values)
            return Column(
                name, "text", f'type = "VARCHAR", values = [{listed}]', values, nullable, frozenset({"dictionary"})
            )
        case "bytes":
            declaration, feature = f'type = "VARCHAR", max_length = {longest}', "bytes"
        case "hashed":
            declaration, feature = 'type = "VARCHAR", max_length = 30', "hashed"
        case _:
            return Column(name, "text", 'type = "VARCHAR"', values, nullable, frozenset({"hashed"}), shown=False)
    return Column(name, "text", declaration, values, nullable, frozenset({feature}))


def _pool(chance: Chance, low: int, high: int, least: int) -> tuple[int, ...]:
    """A few values, at least ``least`` if there are: often the bounds, zero and their neighbours."""
    special = [each for each in (low, high, 0, 1, -1, low + 1, high - 1, 2, 10) if low <= each <= high]
    near = (max(low, -9), min(high, 9)) if low <= 9 and high >= -9 else (low, min(high, low + 9))
    found = [chance.pick(special) if chance.often(2) else chance.between(*near) for _ in range(chance.between(1, 5))]
    return tuple(dict.fromkeys([*found, *special[: max(least - len(set(found)), 0)]]))


def _signs(values: tuple[int, ...]) -> set[str]:
    return {"negative number"} if min(values) < 0 else set()


def literal(value: Value) -> str:
    """A value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case Decimal():
            text = f"{value:f}"
            return text if "." in text else f"{text}.0"
        case int():
            return str(value) if value != -(2**63) else "(-9223372036854775807 - 1)"


def csv_text(value: Value) -> str:
    """A value as the CSV files write it."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            return str(value)
        case date():
            return value.isoformat()
        case str():
            return '"' + value.replace('"', '""') + '"'
        case Decimal():
            return f"{value:f}"
        case int():
            return str(value)

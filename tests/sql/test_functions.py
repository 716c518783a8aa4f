"""Each function has DuckDB's type and DuckDB's values, within the bounds and lengths that are derived for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal as Exact
from typing import Any

import duckdb
import pytest

from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.plan.algebra.folding import _encoded
from tacit.plan.algebra.relations import Opened, Scan
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp, Varchar, sql_name
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.fields import fields
from tacit.sql import bind

WORDS = ("", "Berlin", "Bergen", "oslo", "Ålesund", "a%b", "日本", "straße")
"""A dictionary; sorted by bytes below."""

COLUMNS = (
    Field("i", Integer(-1000, 1000, "INTEGER"), True),
    Field("p", Integer(1, 9, "INTEGER"), False),
    Field("b", Integer(-(1 << 62), 1 << 62, "BIGINT"), True),
    Field("n", Decimal(15, 2, -99999, 99999), True),
    Field("m", Decimal(9, 4, 1, 50000), False),
    Field("d", Date(-10_000, 20_000), True),
    Field("e", Date(8000, 10_600), False),
    Field("t", Timestamp(-800_000_000_000_000, 1_700_000_000_000_000), True),
    Field("s", Varchar(24), True),
    Field("r", Varchar(24), False),
    Field("w", Varchar(None, tuple(sorted(WORDS, key=str.encode))), True),
    Field("f", Boolean(), True),
)
CATALOG = Catalog(("a", "b", "c"), "rep3", ("a", "b", "c"), (Table("x", "a", tuple(map(Column, COLUMNS)), rows=200),))
SEEDS = 4
PIECES = ("a", "B", "é", "ß", "日", " ", "ɐ", "%", "_", "ab", "x", "İ", "'")

DAYS = """
EXTRACT(YEAR FROM d); EXTRACT(QUARTER FROM d); MONTH(t); DAY(d); DAYOFWEEK(d); ISODOW(d); DAYOFYEAR(t); WEEK(d);
HOUR(t); MINUTE(t); SECOND(t); DATE_PART('millisecond', t); DATE_PART('microsecond', t); HOUR(d); ISOYEAR(d); DECADE(d);
EXTRACT(EPOCH FROM t); DATE_TRUNC('year', d); DATE_TRUNC('quarter', t); DATE_TRUNC('month', d); DATE_TRUNC('week', d);
DATE_TRUNC('day', t); DATE_TRUNC('hour', t); DATE_TRUNC('minute', t); DATE_TRUNC('second', t); DATE_TRUNC('decade', d);
DATE_DIFF('year', d, e); DATE_DIFF('quarter', d, t); DATE_DIFF('month', e, d); DATE_DIFF('week', d, e);
DATE_DIFF('day', d, e); DATEDIFF('day', d, t); DATE_DIFF('hour', t, e); DATE_DIFF('minute', e, t); LAST_DAY(d);
DAYNAME(d); MONTHNAME(t); d + INTERVAL '3' DAY; d - INTERVAL '1' MONTH; d + INTERVAL 2 YEAR; t - INTERVAL '90' DAY;
t + INTERVAL '5' HOUR; d + INTERVAL '1 month 3 days'; d + INTERVAL '-7' DAY; INTERVAL '1' WEEK + e;
DATE '1998-12-01' - INTERVAL '90' DAY; DATE '2024-01-31' + INTERVAL '1' MONTH;
d < DATE '1995-01-01' + INTERVAL '1' YEAR; e <= DATE '1998-12-01' - INTERVAL '90' DAY; d > e + INTERVAL '3' DAY;
e BETWEEN DATE '1995-01-01' AND DATE '1995-01-01' + INTERVAL '1' YEAR; d >= TIMESTAMP '1990-01-01 12:00:00';
d < TIMESTAMP '1990-01-01 12:00:00'; TIMESTAMP '1990-01-01 12:00:00' < d; d = DATE '1990-01-01' + INTERVAL '0' DAY;
d <> TIMESTAMP '1990-01-01 12:00:00'; DATE_ADD(d, INTERVAL 1 DAY); YEAR(DATE '2020-02-29'); YEAR(DATE '2020-02-29') + i
"""
STRINGS = """
s LIKE 'a%'; s NOT LIKE '%é%'; s LIKE '_a%'; s ILIKE '%AB%'; s LIKE '%!%%' ESCAPE '!'; s NOT ILIKE 'A%' ESCAPE 'x';
s SIMILAR TO '.*(ab|x).*'; s LIKE r; starts_with(s, 'a'); s ^@ r; ends_with(s, 'b'); contains(s, 'é'); prefix(s, 'ab');
suffix(s, r); SUBSTRING(s FROM 2 FOR 3); SUBSTRING(s FROM 2); SUBSTR(s, -3); SUBSTRING(s, 0, 2); SUBSTRING(s, i, 2);
SUBSTRING(s, 3, -2); LEFT(s, 2); LEFT(s, -2); RIGHT(s, 3); RIGHT(s, -1); LEFT(s, p); UPPER(s); LOWER(s); TRIM(s);
LTRIM(s, 'a'); RTRIM(s); TRIM(BOTH 'b' FROM s); LENGTH(s); POSITION('b' IN s); STRPOS(s, 'a'); REPLACE(s, 'a', 'xyz');
REPLACE(s, r, 'q'); REVERSE(s); s || r; s || '!'; s || i; CONCAT(s, r, i); CONCAT(s, NULL); n || '';
CAST(i AS VARCHAR); CAST(n AS VARCHAR); CAST(d AS VARCHAR); CAST(t AS VARCHAR); CAST(f AS VARCHAR); m::VARCHAR;
UPPER('abc') || s; LENGTH('日本'); 'abc' LIKE 'a%'; w LIKE 'Ber%'; w NOT LIKE '%e%'; UPPER(w); LENGTH(w); LEFT(w, 1);
SUBSTRING(w FROM 1 FOR 3) = 'Ber'; w || '!'; POSITION('e' IN w) > 0; UPPER(LEFT(w, 2)); w SIMILAR TO '[a-z]*'
"""
NUMBERS = """
ROUND(n); ROUND(n, 1); ROUND(n, 2); ROUND(n, -1); ROUND(n, 5); ROUND(m, 2); ROUND(i); ROUND(i, -1); ROUND(b, -3);
ROUND(i / 7, 2); FLOOR(n); CEIL(n); CEILING(m); FLOOR(i); TRUNC(n); TRUNC(i); FLOOR(i / 7); ABS(i); ABS(n); ABS(i / 7);
@ i; SIGN(i); SIGN(n); SIGN(i / 7); i // 7; i // p; b // 3; n // 4; i % 7; i % p; n % 0.3; n % 7; i % 2.5; MOD(b, p);
SQRT(p); SQRT(m); CBRT(i); EXP(p); LN(m); LOG(p); LOG10(m); LOG2(p); POWER(p, 2); p ** 3; POW(m, 0.5);
CAST(n AS INTEGER); CAST(m AS BIGINT); CAST(n / 2 AS DOUBLE); GREATEST(i, p); LEAST(i, n); GREATEST(i, 5, p);
GREATEST(d, e); LEAST(s, r); GREATEST(i, NULL); LEAST(t, d); ROUND(2.5); SQRT(2); 7 // 2; 7 % 2; ABS(-3); SIGN(-2);
CAST(2.5 AS INTEGER); FLOOR(-2.5)
"""
TESTS = """
f IS TRUE; f IS NOT TRUE; f IS FALSE; f IS NOT FALSE; f IS UNKNOWN; f IS NOT UNKNOWN; (i > 3) IS TRUE;
i IS DISTINCT FROM p; i IS NOT DISTINCT FROM 5; s IS DISTINCT FROM r; d IS NOT DISTINCT FROM e; i IS DISTINCT FROM NULL;
n > b; n * m > b; CASE WHEN s LIKE 'a%' THEN i ELSE p END; COALESCE(LEFT(s, 1), 'none'); NULLIF(i % 3, 0);
EXTRACT(YEAR FROM d) IN (1990, 1991); CASE EXTRACT(MONTH FROM d) WHEN 1 THEN 'one' ELSE 'other' END
"""


def listed(text: str) -> list[str]:
    return [" ".join(each.split()) for each in text.split(";")]


@dataclass(frozen=True)
class Leaves:
    def scanned(self, scan: Scan) -> str:
        return scan.table

    def opened(self, opened: Opened) -> str:
        raise AssertionError("nothing is opened before placement")


@pytest.fixture(scope="module")
def databases() -> Iterator[list[duckdb.DuckDBPyConnection]]:
    found = [_filled(seed) for seed in range(SEEDS)]
    yield found
    for each in found:
        each.close()


def _filled(seed: int) -> duckdb.DuckDBPyConnection:
    database, draw = duckdb.connect(), random.Random(seed)
    for macro in MACROS:
        database.execute(macro)
    columns = ", ".join(f"{each.name} {sql_name(each.type)}" for each in COLUMNS)
    database.execute(f"CREATE TABLE x ({columns})")
    rows = [[_value(each, draw) for each in COLUMNS] for _ in range(50)]
    database.executemany(f"INSERT INTO x VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    return database


def _value(field: Field, draw: random.Random) -> Any:
    if field.nullable and draw.random() < 0.15:
        return None
    match field.type:
        case Integer(low, high):
            return draw.choice([low, high, draw.randint(low, high), min(max(draw.randint(-9, 9), low), high)])
        case Decimal(_, scale, low, high):
            return Exact(draw.choice([low, high, draw.randint(low, high)])).scaleb(-scale)
        case Date(low, high):
            return date(1970, 1, 1) + timedelta(days=draw.choice([low, high, draw.randint(low, high)]))
        case Timestamp(low, high):
            return datetime(1970, 1, 1) + timedelta(microseconds=draw.choice([low, high, draw.randint(low, high)]))
        case Varchar(_, None):
            text = "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 8)))
            return text if len(text.encode()) <= 24 else "ab"
        case Varchar(_, values):
            return draw.choice(values or ("",))
        case _:
            return draw.random() < 0.5


@pytest.mark.parametrize("expression", listed(DAYS + ";" + STRINGS + ";" + NUMBERS + ";" + TESTS))
def test_a_function_is_what_duckdb_makes_of_it(databases: list[duckdb.DuckDBPyConnection], expression: str) -> None:
    query = f"SELECT {expression} AS v FROM x"
    relation = bind(query, CATALOG)
    (field,) = fields(relation)
    text = render(relation, (field,), Leaves())
    for seed, database in enumerate(databases):
        print(f"seed {seed}: {text}")
        found, expected = (_answer(database, each) for each in (text, query))
        assert found == expected
        for value in found[1:]:
            assert within(value, field), f"{value!r} is outside {field}"


@pytest.mark.parametrize("expression", ["i // (p - 5)", "i % (p - 5)", "n % (p - 5)", "n // (p - 5)", "b % (i - i)"])
def test_a_division_by_zero_is_null(databases: list[duckdb.DuckDBPyConnection], expression: str) -> None:
    relation = bind(f"SELECT {expression} AS v FROM x", CATALOG)
    (field,) = fields(relation)
    assert field.nullable
    for database in databases:
        found = _answer(database, render(relation, (field,), Leaves()))
        assert found == _answer(database, f"SELECT TRY({expression}) FROM x")
        assert None in found


def _answer(database: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    """The type of the one column, and its values. A NaN is told as such."""
    found = database.execute(query)
    assert found.description is not None
    return [found.description[0][1], *(repr(v) if isinstance(v, float) else v for (v,) in found.fetchall())]


def within(value: Any, field: Field) -> bool:
    """Whether a value is one that the field can have."""
    if value is None:
        return field.nullable
    match field.type:
        case Varchar(max_length, None):
            return max_length is None or len(value.encode()) <= max_length
        case Varchar(_, values):
            return values is not None and value in values
        case Boolean() | Double():
            return True
        case Integer(low, high) | Decimal(_, _, low, high) | Date(low, high) | Timestamp(low, high):
            return low <= int(_encoded(value, field.type) or 0) <= high


TITLED = """
length(s); LENGTH(x.s); ABS(CASE WHEN i > 1 THEN 1 ELSE 0 END); EXTRACT(YEAR FROM d); YEAR(d); i % 3; i // 3; s || 'x';
concat(s, i); left(s, 1); SUBSTRING(s FROM 2 FOR 2); substr(s, 2); upper(s); replace(s, 'a', 'b'); s LIKE 'a%';
s NOT LIKE 'a%'; s ILIKE 'a'; s SIMILAR TO 'a'; s LIKE 'a' ESCAPE '!'; greatest(i, 3); LAST_DAY(d);
i IS DISTINCT FROM 3;
i IS NOT DISTINCT FROM 3; f IS TRUE; f IS NOT TRUE; f IS UNKNOWN; round(n, 1); ceiling(n); pow(i, 2); i ** 2;
date_trunc('month', d); DATE_DIFF('day', d, d); d - INTERVAL '90' DAY; trim(s); TRIM(BOTH 'x' FROM s); ltrim(s);
POSITION('a' IN s); strpos(s, 'a'); CAST(i AS VARCHAR); s ^@ 'a'; log(i); log10(i); @i; suffix(s, 'a')
"""


@pytest.mark.parametrize("expression", listed(TITLED))
def test_a_column_without_a_name_has_duckdbs(databases: list[duckdb.DuckDBPyConnection], expression: str) -> None:
    query = f"SELECT {expression} FROM x"
    (field,) = fields(bind(query, CATALOG))
    found = databases[0].execute(query).description
    assert found is not None
    assert field.name == found[0][0]

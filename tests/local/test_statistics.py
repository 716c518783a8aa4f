"""Variances and covariances from exact sums: how far they are from the true values, and from DuckDB's."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest

from tacit.local.macros import MACROS

UNITS = 8
"""Of the last place: how far results are at most from the true ones."""


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for macro in MACROS:
            connection.execute(macro)
        yield connection


def _numbers(generator: random.Random, bits: int, count: int, far: int) -> list[int]:
    return [far + generator.randrange(-(1 << bits), 1 << bits) for _ in range(count)]


def _covariance(database: duckdb.DuckDBPyConnection, x: list[int], y: list[int], lacks: int, scale: int) -> float:
    products = sum(a * b for a, b in zip(x, y, strict=True))
    query = "SELECT covariance(?::HUGEINT, ?::HUGEINT, ?::HUGEINT, ?::BIGINT, ?, ?)"
    found = database.execute(query, [products, sum(x), sum(y), len(x), lacks, scale]).fetchone()
    assert found is not None
    return float(found[0])


def _true(x: list[int], y: list[int], lacks: int, scale: int) -> Fraction:
    n = len(x)
    products = sum(a * b for a, b in zip(x, y, strict=True))
    return (products - Fraction(sum(x) * sum(y), n)) / (n - lacks) / 10**scale


@pytest.mark.parametrize("bits", [1, 4, 20, 31, 50])
@pytest.mark.parametrize("far", [0, 1_000_000_007, -(1 << 52)])
@pytest.mark.parametrize("lacks", [0, 1])
def test_covariances_are_the_true_ones_but_for_roundings(
    database: duckdb.DuckDBPyConnection, bits: int, far: int, lacks: int
) -> None:
    generator = random.Random(f"{bits} {far} {lacks}")
    for count in (2, 3, 7, 100, 1000):
        for scale in (0, 4, 20):
            x = _numbers(generator, bits, count, far)
            for y in (x, _numbers(generator, bits, count, -far)):
                true = _true(x, y, lacks, scale)
                found = _covariance(database, x, y, lacks, scale)
                assert abs(Fraction(found) - true) <= UNITS * Fraction(math.ulp(float(true)))


def test_duckdb_agrees_but_for_what_it_loses_row_by_row(database: duckdb.DuckDBPyConnection) -> None:
    """Its error grows with the number of rows and with how far the values are from zero."""
    generator = random.Random(5)
    x, y = (_numbers(generator, 20, 500, 1_000_000) for _ in range(2))
    rows = ", ".join(f"({a}, {b})" for a, b in zip(x, y, strict=True))
    query = f"SELECT var_samp(x), var_pop(x), covar_samp(x, y), covar_pop(x, y) FROM (VALUES {rows}) t(x, y)"
    theirs = database.execute(query).fetchone()
    assert theirs is not None
    mine = [_covariance(database, x, each, lacks, 0) for each in (x, y) for lacks in (1, 0)]
    size = math.sqrt(sum(a * a for a in x) * sum(b * b for b in y)) / len(x)
    for a, b in zip(mine, theirs, strict=True):
        assert abs(a - b) <= len(x) * math.ulp(size)


def test_one_row_has_no_sample_variance(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT covariance(25::HUGEINT, 5::HUGEINT, 5::HUGEINT, n, 1, 0), covariance(25, 5, 5, 1, 0, 0)"
    found = database.execute(f"{query} FROM (VALUES (0), (1)) t(n)").fetchall()
    assert found == [(None, 0.0), (None, 0.0)]

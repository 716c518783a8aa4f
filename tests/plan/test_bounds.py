"""Ranges hold every value that their operands allow, and no more."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.plan.algebra import bounds
from tacit.plan.algebra.refusals import QueryError, TooWide
from tacit.plan.algebra.relations import Literal, Project, Scan
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer, Varchar
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import COLLISION_BITS, WIDEST, Hashes, hashes, kind_of, ring_of, width_of
from tacit.plan.rules.prune import prune
from tacit.plan.rules.simplify import simplify
from tacit.sql import bind

from .catalogs import MIXED

RANGES = st.tuples(st.integers(-20, 20), st.integers(0, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(a=RANGES, b=RANGES)
def test_ranges_are_exact(a: bounds.Range, b: bounds.Range) -> None:
    pairs = list(product(range(a[0], a[1] + 1), range(b[0], b[1] + 1)))
    for function, values in [
        (bounds.add, [x + y for x, y in pairs]),
        (bounds.subtract, [x - y for x, y in pairs]),
        (bounds.multiply, [x * y for x, y in pairs]),
    ]:
        assert function(a, b) == (min(values), max(values))
    assert bounds.negate(a) == (-a[1], -a[0])
    assert bounds.sum_of_rows(a, 3) == (min(a[0], 3 * a[0]), max(a[1], 3 * a[1]))


@given(found=RANGES)
def test_widths_hold_every_value_and_zero(found: bounds.Range) -> None:
    width = width_of(found)
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if found[0] < 0 else (0, (1 << width) - 1)
    assert low <= min(found[0], 0) and max(found[1], 0) <= high
    assert width == 1 or not (low // 2 <= found[0] and found[1] <= high // 2)


def test_a_sum_counts_undeclared_rows_as_two_to_the_31() -> None:
    (declared,) = fields(bind("SELECT SUM(s) AS t FROM padded", MIXED))
    (undeclared,) = fields(bind("SELECT SUM(s) AS t FROM announced", MIXED))
    assert declared.type == Integer(-100 * 40, 100 * 40, "HUGEINT")
    assert undeclared.type == Integer(-100 << 31, 100 << 31, "HUGEINT")


def test_rings_are_as_small_as_the_values_allow() -> None:
    assert ring_of(Integer(0, 2**63 - 1)) == "ring64"
    assert ring_of(Integer(0, 2**63)) == "ring128"
    assert ring_of(Integer(-(2**63), 0)) == "ring64"
    assert kind_of(Decimal(38, 0, -(2**127), 2**127 - 1), False, "bits", Hashes(64)).width == 128


@pytest.mark.parametrize("found", [(0, 2**127), (-(2**127) - 1, 0)])
def test_more_than_128_bits_are_refused(found: bounds.Range) -> None:
    with pytest.raises(TooWide, match="more than 128"):
        kind_of(Integer(*found), False, "bits", Hashes(64))


def test_domains() -> None:
    assert bounds.domain_size(Integer(-1, 3), True) == 6
    assert bounds.domain_size(Boolean(), False) == 2
    assert bounds.domain_size(Varchar(None, ("a", "b")), False) == 2
    assert bounds.domain_size(Varchar(8), False) is None


@pytest.mark.parametrize(
    ("query", "strings"),
    [
        ("SELECT COUNT(*) AS n FROM padded WHERE w = 'a'", 40 + 1),
        ("SELECT COUNT(*) AS n FROM padded WHERE w = 'a' OR x = 'b' OR x = 'a'", 2 * 40 + 2),
        ("SELECT COUNT(*) AS n FROM padded a JOIN (SELECT DISTINCT w FROM announced) b ON a.w = b.w", 40 + (1 << 31)),
        ("SELECT x, COUNT(*) AS n FROM announced WHERE x <> w AND x <> v GROUP BY x", 3 << 31),
        ("SELECT COUNT(*) AS n FROM announced WHERE u = 'kiwi'", 2),
    ],
)
def test_hashes_are_wide_enough_for_all_strings_of_a_query(query: str, strings: int) -> None:
    """Of n strings any two have one hash with a probability of at most n (n - 1) / 2 / 2^width."""
    width = hashes(simplify(prune(bind(query, MIXED)))).width
    assert width is not None
    assert Fraction(strings * (strings - 1), 2 << width) <= Fraction(1, 1 << COLLISION_BITS)
    assert width <= 2 * (strings - 1).bit_length() + COLLISION_BITS, "and no wider"


def test_more_strings_than_hashes_tell_apart_are_refused() -> None:
    columns = [Field(f"x{number}", Varchar(None), False) for number in range(1 << 13)]
    scan = Scan("t", "a", tuple((each.name, each.name) for each in columns), tuple(columns))
    assert hashes(scan) == Hashes(WIDEST)
    with pytest.raises(QueryError, match=r"17,592,186,044,417 strings, more than the 2\^44"):
        hashes(Project(scan, (("one", Literal("a string", Varchar(8))),)))

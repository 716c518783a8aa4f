"""Questions that told of single people by windows, marks, subqueries, functions and grouping sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tacit.audit.refusals import Refused
from tacit.plan.algebra.refusals import InvalidSQL
from tacit.plan.policy.check import check
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind

from . import corpus, tables
from .product import Product
from .reference.offers import texts_of
from .test_breaks_of_cells import person, same

Data = dict[str, Sequence[Mapping[str, Any]]]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


def rule(product: Product, sql: str) -> str:
    """The rule that refuses a question by its text alone, if one does."""
    catalog = product.federation.catalog
    try:
        check(bind(sql, catalog), catalog, ("north",), date(2026, 6, 1))
    except PolicyRefusal as refusal:
        return refusal.rule
    return ""


# 1. A row's number is a weight that no column of a table is in --------------------------------------------------------

NUMBERS = "(SELECT row_number() OVER () AS w FROM (SELECT 1 AS one FROM labels) o) x"


@pytest.mark.parametrize("value", ["x.w", "x.w * x.w", "x.w * x.w * x.w * x.w * x.w * x.w", "x.w * p.points"])
def test_numbers_of_rows_are_weights(product: Product, value: str) -> None:
    """Power sums of the seats of VIPs tell which of the first fifty seats are VIPs'."""
    assert rule(product, f"SELECT SUM({value}) AS s FROM {NUMBERS} JOIN people p ON p.seat = x.w WHERE p.vip") in (
        "weights",
        "linear",
    )


@pytest.mark.parametrize("function", ["row_number()", "rank()", "lag(label)", "COUNT(*)"])
def test_numbers_of_rows_that_are_known_are_known(product: Product, function: str) -> None:
    """48 of 49, or 49: the number of a row of north's own stands beside the seat."""
    inner = f"SELECT label, {function} OVER (ORDER BY label) AS w FROM labels"
    sql = f"SELECT COUNT(*) AS n FROM ({inner}) l JOIN people p ON l.label = p.seat WHERE NOT (l.w = 7 AND p.vip)"
    assert rule(product, sql) == "floor"


# 2. A mark is a condition, also as a number --------------------------------------------------------------------------

MEMBER = "l.label IN (SELECT id FROM customers WHERE id = 7)"
MARKS = (
    f"SELECT SUM(x.m) AS s FROM (SELECT l.label, CAST({MEMBER} AS INTEGER) AS m FROM labels l) x "
    "JOIN people p ON p.seat = x.label WHERE p.vip",
    "SELECT SUM(x.m) AS s FROM (SELECT l.label, CAST(EXISTS (SELECT 1 FROM customers c WHERE c.id = l.label AND "
    "c.id = 7) AS INTEGER) AS m FROM labels l) x JOIN people p ON p.seat = x.label WHERE p.vip",
    f"SELECT SUM(CAST(x.m AS INTEGER) * p.points) AS s FROM (SELECT l.label, {MEMBER} AS m FROM labels l) x "
    "JOIN people p ON p.seat = x.label",
    f"SELECT MAX(x.m) AS s FROM (SELECT l.label, {MEMBER} AS m FROM labels l) x "
    "JOIN people p ON p.seat = x.label WHERE p.vip",
)


@pytest.mark.parametrize("sql", MARKS)
def test_a_mark_decides_who_contributes(product: Product, sql: str) -> None:
    """1 where the person in seat 7 is a VIP, 0 where it is none."""
    assert same(product, sql, person(7, vip=False, points=1), person(7, vip=True, points=2))


# 3. Keys and thresholds that no column is in --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        # people.ssn may meet labels.ssn, and not labels.label.
        (
            "SELECT COUNT(*) AS n FROM (SELECT DISTINCT m.k FROM rooms r CROSS JOIN (SELECT MAX(label) AS k FROM "
            "labels) m) x JOIN people p ON p.ssn = x.k",
            "filter",
        ),
        (f"SELECT COUNT(*) AS n FROM {NUMBERS} JOIN people p ON p.ssn = x.w", "with"),
        (
            "SELECT COUNT(*) AS n FROM (SELECT DISTINCT n FROM (SELECT COUNT(*) AS n FROM labels GROUP BY half) g) x "
            "JOIN people p ON p.ssn = x.n",
            "with",
        ),
        # people.points may be compared with constants.
        (
            "SELECT COUNT(*) AS n FROM (SELECT ssn, COUNT(*) AS n FROM copies GROUP BY ssn) c "
            "JOIN people p ON c.ssn = p.ssn WHERE p.points > c.n",
            "with",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT c.ssn, (SELECT COUNT(*) FROM copies k WHERE k.ssn = c.ssn) AS n "
            "FROM customers c) x JOIN people p ON x.ssn = p.ssn WHERE p.points > x.n",
            "with",
        ),
    ],
)
def test_numbers_of_rows_are_no_constants(product: Product, sql: str, refused: str) -> None:
    assert rule(product, sql) == refused


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people p WHERE p.points > (SELECT MAX(label) FROM labels)",
        "SELECT COUNT(*) AS n FROM people p JOIN (SELECT ssn FROM customers UNION ALL SELECT ssn FROM clients) c "
        "ON p.ssn = c.ssn",
    ],
)
def test_own_columns_stay_allowed(product: Product, sql: str) -> None:
    assert rule(product, sql) in ("", "repeats")


# 4. Others' rows that decide by a constant which rows there are, which the owner's agent does not see -----------------

BELOW = "CASE WHEN p.seat < {} THEN 1 ELSE 0 END"
BY_CONSTANTS = (
    f"SELECT SUM(points) AS s FROM people p JOIN (SELECT DISTINCT 1 AS k FROM labels) x ON {BELOW} = x.k",
    f"SELECT SUM(points) AS s FROM people p WHERE {BELOW} IN (SELECT 1 FROM labels)",
    "SELECT SUM(points) AS s FROM people p "
    f"WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS k FROM labels) l WHERE l.k = {BELOW})",
)


@pytest.mark.parametrize("sql", BY_CONSTANTS)
def test_rows_that_meet_a_constant_of_others_are_aggregated_once(product: Product, sql: str) -> None:
    """The points of the person in seat 27. The owner's agent would find that both sums are of all people."""
    twice = f"{sql.format(27)} UNION ALL {sql.format(28)}"
    assert rule(product, sql.format(27)) == ""
    assert rule(product, twice) == "differences"
    assert same(product, twice, person(27, points=3), person(27, points=700))


# 5. Errors of an owner's engine, before any guard ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(salary * 30000) AS s FROM people",
        "SELECT SUM(CASE WHEN vip THEN salary ELSE 0 END * 30000) AS s FROM people",
        "SELECT SUM(CASE WHEN seat = 7 THEN salary ELSE 0 END * 30000) AS s FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE points * points * points * points > 5",
        # An error says that seat 7 is a VIP, though all who ask may see seats.
        "SELECT COUNT(*) AS n FROM (SELECT seat * 300000000 AS x FROM people WHERE vip) p WHERE x > 5",
    ],
)
def test_no_value_is_beyond_its_type(product: Product, sql: str) -> None:
    """The query failed where somebody has 71,583 or more, and so on: which salary is whose, bit by bit."""
    assert rule(product, sql) == "floor"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CAST(salary AS BIGINT) * 30000) AS s FROM people",
        "SELECT SUM(salary * 3) AS s FROM people",
        "SELECT SUM(salary) * 1000000 * SUM(points) AS s FROM people",
    ],
)
def test_values_within_their_types_stay_allowed(product: Product, sql: str) -> None:
    assert rule(product, sql) == ""


@pytest.mark.parametrize("place", ["points * 10000000", "CASE WHEN vip THEN points ELSE 1 END * 10000000"])
@pytest.mark.parametrize("call", ["substring(city, {})", "substring(city, 1, {})", "left(city, {})", "right(city, {})"])
def test_places_in_strings_are_within_32_bits(product: Product, call: str, place: str) -> None:
    """DuckDB fails where a place is not."""
    with pytest.raises(InvalidSQL, match="32 bits"):
        rule(product, f"SELECT COUNT(*) AS n FROM people WHERE {call.format(place)} = 'Oslo'")


# 6. What accounts say of a column that others see row by row -------------------------------------------------------


def test_an_account_tells_what_a_recipient_may_do_with_a_column(tmp_path: Path) -> None:
    """Only west sees floors row by row. north was told that it does, where it gets a sum above the floor."""
    offers = dict(texts_of(corpus.FEDERATION))
    for old, new in (
        ('use = ["select"], to = ["north"]', 'use = ["select", "aggregate"], to = ["west"]'),
        ("[tables.rooms]", "[tables.rooms]\nleast_group = 10"),
    ):
        assert old in offers["south"]
        offers["south"] = offers["south"].replace(old, new)
    catalog = Product(offers, tmp_path).federation.catalog
    found = check(bind("SELECT SUM(floor) AS n FROM rooms", catalog), catalog, ("north",), date(2026, 6, 1))
    assert [each.sentence for each in found.ruling.allowances] == [
        "rooms.floor may be aggregated where 10 or more units stand behind it (use aggregate, functions sum)"
    ]


# 7. A quantile of values among others is any position of them -------------------------------------------------------

QUANTILES = (
    "SELECT quantile_disc(CASE WHEN seat <= 100 THEN 0 ELSE bonus END, 0.25) AS v FROM people",
    "SELECT MEDIAN(bonus - 10000 * CASE WHEN seat <= 209 THEN 1 ELSE 0 END) AS v FROM people",
    "SELECT MEDIAN(bonus - 10000 * CAST(seat <= 209 AS INTEGER)) AS v FROM people",
    "SELECT MEDIAN(v) AS v FROM (SELECT bonus AS v FROM people UNION ALL SELECT revenue FROM customers) x",
    "SELECT MEDIAN(v) AS v FROM (SELECT ssn, SUM(CASE WHEN seat <= 209 THEN 0 ELSE bonus END) AS v FROM people "
    "GROUP BY ssn) x",
)
"""By how many values stand before the others, the least one of these."""


def test_a_quantile_among_other_values_needs_the_ends(tmp_path: Path) -> None:
    offers = dict(texts_of(corpus.FEDERATION))
    old = 'functions = ["count", "sum", "avg", "min", "max", "quantile"]'
    assert old in offers["south"]
    offers["south"] = offers["south"].replace(old, 'functions = ["count", "sum", "avg", "quantile"]')
    product = Product(offers, tmp_path)
    assert [rule(product, sql) for sql in QUANTILES] == ["function"] * len(QUANTILES)
    for sql in ("MEDIAN(bonus)", "MEDIAN(bonus * 2 + 1)", "quantile_disc(bonus, 0.3) FILTER (WHERE city = 'Oslo')"):
        assert rule(product, f"SELECT {sql} AS v FROM people") == ""


@pytest.mark.parametrize("sql", QUANTILES)
def test_a_quantile_among_other_values_is_allowed_with_the_ends(product: Product, sql: str) -> None:
    assert rule(product, sql) == ""


# 8. A condition on a value that is computed of what is known and of what is not -------------------------------------

COMPUTED = (
    "CAST(seat AS VARCHAR) || CAST(vip AS VARCHAR) <> '7true'",
    "seat * 2 + CASE WHEN vip THEN 1 ELSE 0 END <> 15",
    "NOT (seat * CASE WHEN vip THEN 1 ELSE 0 END = 7)",
    "seat % CASE WHEN vip THEN 421 ELSE 422 END <> 7 OR seat > 7",
    "NOT (CASE WHEN vip THEN CAST(seat AS VARCHAR) ELSE '' END LIKE '7')",
    "greatest(seat, CASE WHEN vip THEN 8 ELSE 7 END) <> 8",
)


@pytest.mark.parametrize("condition", COMPUTED)
def test_a_computed_value_of_known_rows_is_no_padding(product: Product, condition: str) -> None:
    """419 of 420, or 420."""
    sql = f"SELECT COUNT(*) AS n FROM people WHERE {condition}"
    assert same(product, sql, person(7, vip=False), person(7, vip=True))


# 9. A condition of one question that stands as a key of a join with others in the next -----------------------------


@pytest.mark.parametrize("key", [BELOW, "p.seat // {} * 2 + 1", "CAST(p.seat < {} AS INTEGER)"])
@pytest.mark.parametrize("check", ["sets", "text"])
def test_computed_keys_of_joins_with_others_are_refused(tmp_path: Path, check: str, key: str) -> None:
    """Both answers are over all people, as far as their owner sees it: their difference is the one of seat 27."""
    offers = dict(texts_of(corpus.FEDERATION))
    offers["south"] = offers["south"].replace("[tables.people]", f'[tables.people]\ndifferences = "{check}"')
    product = Product(offers, tmp_path)
    data = dict(tables.federation_rows())
    joined = "SELECT SUM(points) AS s FROM people p JOIN (SELECT DISTINCT 1 AS k FROM labels) x ON "
    by_ssn = "SELECT SUM(points) AS s FROM people p JOIN labels l ON CAST(p.ssn AS BIGINT) = l.ssn"
    assert product.checked([by_ssn], ("north",), data).rule == ""
    for seat in (27, 28):
        with pytest.raises(Refused, match="computed of own columns"):
            product.checked([f"{joined}{key.format(seat)} = x.k", by_ssn], ("north",), data)
    assert product.checked([by_ssn], ("north",), data).rule == ""

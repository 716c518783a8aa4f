"""What windows, and values of one unit's rows, could tell of single people: by the order of equal rows, or by a match.

The rules once knew of numbers of rows no order, and of averages and variances no match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from . import corpus
from .product import Product
from .reference.offers import texts_of
from .rendered import Rendered
from .test_breaks_of_matches import BASE, NORTH, TARGET, Data, labels

ONE = "(SELECT ssn, 1 AS one FROM labels)"
MATCHED = f"orders o LEFT JOIN {ONE} l ON l.ssn = o.ssn"
FRAME = "PARTITION BY ssn ORDER BY day ROWS"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


@pytest.fixture(scope="module")
def rules(product: Product) -> Rendered:
    return Rendered(product.federation.catalog)


def ordering(*, target: int, orders: int = 1) -> Data:
    """One person has this key and as many orders, more than all others if they are many."""
    found = dict(BASE)
    others = [each for each in BASE["orders"] if each["ssn"] != TARGET]
    first: Mapping[str, Any] = others[0]
    its = [{**first, "number": 5000 + at, "ssn": target} for at in range(orders)]
    return {**found, "orders": [*others[:900], *its], "labels": labels(TARGET)}


def seated(*, vip: bool, all_but: int) -> Data:
    """A person in a seat who is a VIP or not, and a label for each seat, of which half is 0 for that seat alone."""
    found: dict[str, Sequence[Mapping[str, Any]]] = dict(BASE)
    found["people"] = [{**each, "vip": vip} if each["seat"] == all_but else each for each in BASE["people"]]
    found["labels"] = [{"ssn": 50_000 + at, "label": at, "bit": 1, "half": int(at != all_but)} for at in range(1, 421)]
    return found


# --- which of several orders of a day is the first


@pytest.mark.parametrize("call", ["COUNT(*)", "COUNT(amount)", "SUM(1)", "MIN(item)", "FIRST_VALUE(item)"])
@pytest.mark.parametrize("rows", ["UNBOUNDED PRECEDING", "BETWEEN 1 PRECEDING AND CURRENT ROW"])
def test_numbers_of_rows_in_a_frame_tell_equal_rows_apart(rules: Rendered, call: str, rows: str) -> None:
    """The same question had several answers, as engines take the orders of one day in any order."""
    sql = f"SELECT COUNT(*) AS n FROM (SELECT {call} OVER ({FRAME} {rows}) AS r FROM orders) o WHERE r IS NOT NULL"
    assert rules.verdict(sql, NORTH).rule in ("window", "function")
    assert rules.verdict(sql.replace(f"ROWS {rows}", ""), NORTH).rule in ("", "window", "function")


def test_numbers_of_rows_in_a_frame_by_days_stay_allowed(rules: Rendered) -> None:
    inner = "SELECT COUNT(*) OVER (PARTITION BY ssn ORDER BY day) AS r FROM orders"
    assert rules.verdict(f"SELECT COUNT(*) AS n FROM ({inner}) o WHERE r > 1", NORTH).allowed


# --- a match within a value of several rows


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("VAR_POP(l.one)", "a IS NOT NULL"),
        ("STDDEV_SAMP(l.one)", "a IS NOT NULL"),
        ("AVG(l.one)", "CAST(a AS VARCHAR) = '1.0'"),
        ("AVG(l.one)", "a > 0"),
        ("MEDIAN(l.one)", "a = 1"),
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        "SELECT COUNT(*) AS n FROM {} WHERE v > 3 OR {}",
        "SELECT SUM(CASE WHEN v > 3 OR {1} THEN 1 ELSE 0 END) AS n FROM {0}",
    ],
)
def test_values_of_several_rows_tell_of_matches(rules: Rendered, shape: str, value: str, test: str) -> None:
    """90 where the person whom north looks for has ordered something, else 89: those with more orders are as many."""
    groups = f"(SELECT o.ssn, COUNT(*) AS v, {value} AS a FROM {MATCHED} GROUP BY o.ssn) x"
    sql = shape.format(groups, test)
    if rules.verdict(sql, NORTH).allowed:
        one, other = (rules.answer(sql, NORTH, ordering(target=key)) for key in (TARGET, 99_000))
        assert one.seen() == other.seen()
    assert rules.verdict(f"SELECT COUNT(*) AS n FROM {groups} WHERE {test}", NORTH).allowed


MISSING = (
    f"SELECT COUNT(bonus) AS b, COUNT(l.one + bonus) AS n FROM people p LEFT JOIN {ONE} l ON l.ssn = p.ssn",
    f"SELECT COUNT(bonus) AS b, SUM(l.one + bonus) AS n FROM people p LEFT JOIN {ONE} l ON l.ssn = p.ssn",
    f"SELECT COUNT(bonus) AS b, COUNT(y + bonus) AS n FROM (SELECT bonus, 1 - l.one AS y FROM people p "
    f"LEFT JOIN {ONE} l ON l.ssn = p.ssn) x",
    "SELECT COUNT(bonus) AS b, COUNT(CASE WHEN p.ssn IN (SELECT ssn FROM labels) THEN bonus END) AS n FROM people p",
    f"SELECT COUNT(bonus) AS b, COUNT((SELECT MAX(one) FROM {ONE} l WHERE l.ssn = p.ssn) + bonus) AS n FROM people p",
)


@pytest.mark.parametrize("sql", MISSING)
def test_a_value_that_is_missing_without_a_match_is_counted_by_the_match(rules: Rendered, sql: str) -> None:
    """All people but one match. Values were withheld where that one has a bonus, and shown where it has none."""
    others = [each for each in BASE["people"] if each["ssn"] != TARGET]
    one = next(each for each in BASE["people"] if each["ssn"] == TARGET)
    matched = [{"ssn": each["ssn"], "label": at, "bit": 1, "half": 1} for at, each in enumerate(others)]
    answers = [
        rules.answer(sql, NORTH, {**BASE, "people": [*others, {**one, "bonus": bonus}], "labels": matched}).rows
        for bonus in (5, None)
    ]
    assert answers[0] == answers[1]


CARD = 'card = { type = "BIGINT", min = 1, max = 99999, use = ["join"], with = ["visits.card"] }\nemail'
LOST = (
    'card = { type = "BIGINT", min = 1, max = 99999, nullable = true, use = ["join", "aggregate"], '
    'functions = ["count"], with = ["labels.ssn"] }\nemail'
)


def test_a_key_that_may_be_missing_is_counted_by_the_match(tmp_path: Path) -> None:
    """All cards but one match. Values were withheld where the person in seat 9 has a card, and shown where not."""
    offers = dict(texts_of(corpus.FEDERATION))
    for old, new in ((CARD, LOST), ('["seat"], ["card"]]', '["seat"]]')):
        assert old in offers["south"]
        offers["south"] = offers["south"].replace(old, new)
    rules = Rendered(Product(offers, tmp_path).federation.catalog)
    data = seated(vip=True, all_but=9)
    data["labels"] = [{**each, "ssn": 50_000 + each["label"]} for each in data["labels"] if each["label"] != 9]
    sql = f"SELECT COUNT(p.card) AS b, COUNT(l.one) AS n FROM people p LEFT JOIN {ONE} l ON l.ssn = p.card"
    answers = []
    for card in (50_009, None):
        people = [{**each, "card": each["card"] if each["seat"] % 4 else None} for each in data["people"]]
        people = [{**each, "card": card} if each["seat"] == 9 else each for each in people]
        answers.append(rules.answer(sql, NORTH, {**data, "people": people}).rows)
    assert answers[0] == answers[1]


# --- known rows beside others, by what is not looked into

SCORES = "SELECT score FROM survey GROUP BY score"
KNOWN = (
    "SELECT p.seat AS k, MAX(l.half) AS half FROM people p LEFT JOIN labels l ON l.label = p.seat GROUP BY p.seat",
    "SELECT p.room AS k, MAX(l.half) AS half FROM rooms p LEFT JOIN labels l ON l.label = p.room GROUP BY p.room",
    "SELECT p.room AS k, MAX(l.half) AS half FROM labels l RIGHT JOIN rooms p ON l.label = p.room GROUP BY p.room",
    # what a guard has counted
    f"SELECT label AS k, half FROM labels WHERE label NOT IN (SELECT score + 900 FROM ({SCORES}) g)",
    f"SELECT label AS k, half FROM labels WHERE label IN ({SCORES})",
    f"SELECT label AS k, half FROM labels l LEFT JOIN ({SCORES}) g ON g.score = l.label",
    f"SELECT label AS k, half FROM labels l JOIN ({SCORES}) g ON g.score = l.label",
    f"SELECT score AS k, CASE WHEN score = 9 THEN 0 ELSE 1 END AS half FROM ({SCORES}) g",
)


@pytest.mark.parametrize("inner", KNOWN)
def test_seen_rows_with_their_matches_and_shown_groups_are_known(rules: Rendered, inner: str) -> None:
    """420 or 419, or of a part of these one more or less: whether the person in seat 9 is a VIP."""
    sql = f"SELECT COUNT(*) AS n FROM ({inner}) x JOIN people q ON q.seat = x.k WHERE q.vip OR x.half = 1"
    if rules.verdict(sql, NORTH).allowed:
        one, other = (rules.answer(sql, NORTH, seated(vip=vip, all_but=9)) for vip in (True, False))
        assert one.seen() == other.seen()


# --- two questions, of which the owner saw no condition

COUNTED = (
    ("COUNT(*)", "orders o JOIN labels l ON l.ssn = o.ssn"),
    ("COUNT(*)", "orders o LEFT JOIN labels l ON l.ssn = o.ssn"),
    ("COUNT(*)", "orders o SEMI JOIN labels l ON l.ssn = o.ssn"),
    ("COUNT(l.one)", MATCHED),
    ("SUM(l.one)", MATCHED),
)


@pytest.mark.parametrize(("value", "rows"), COUNTED)
def test_the_owner_does_not_take_numbers_of_its_rows_for_others(product: Product, value: str, rows: str) -> None:
    """One person has 13 orders, nobody else 9 or more: 361, and 362. Whether others' rows leave some out is theirs."""
    data = ordering(target=TARGET, orders=13)
    inner = f"(SELECT o.ssn, {value} AS v FROM {rows} GROUP BY o.ssn) x"
    for sql in (
        f"SELECT COUNT(*) AS n FROM {inner} WHERE v < 9",
        f"SELECT v < 9 AS few, COUNT(*) AS n FROM {inner} GROUP BY few",
        f"SELECT SUM(CASE WHEN v < 9 THEN v ELSE 0 END) AS n FROM {inner}",
    ):
        assert product.checked([sql], NORTH, data).rule == "differences"
    assert product.checked([f"SELECT SUM(v) AS n FROM {inner}"], NORTH, data).rule == ""


def test_the_owner_knows_that_each_of_its_rows_stands_alone(product: Product) -> None:
    """What is counted beside one row of south's are rows of north's."""
    inner = "(SELECT p.ssn, COUNT(*) AS v FROM people p JOIN copies k ON k.ssn = p.ssn GROUP BY p.ssn) x"
    assert product.checked([f"SELECT COUNT(*) AS n FROM {inner} WHERE v > 2"], NORTH, BASE).rule == ""

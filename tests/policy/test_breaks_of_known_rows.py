"""Questions whose rows a recipient knows but for a few, so that a number above the floor told of these few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from . import corpus, tables
from .product import Product
from .reference.offers import texts_of
from .test_breaks_of_cells import changed, person, same

Data = dict[str, Sequence[Mapping[str, Any]]]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


def tells_of_seat_7(product: Product, sql: str) -> bool:
    """Whether the answer says that the person in seat 7 is a VIP."""
    return not same(product, sql, person(7, vip=False), person(7, vip=True))


def without(data: Data, table: str, ssn: int) -> Data:
    """The data without a unit."""
    return {**data, table: [each for each in data[table] if each["ssn"] != ssn]}


# 1. A LIMIT says how many rows there are ------------------------------------------------------------------------------

FIRST = "(SELECT c.id FROM customers c JOIN people p ON c.ssn = p.ssn ORDER BY c.id LIMIT 20) x"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM (SELECT seat FROM people WHERE vip ORDER BY seat LIMIT 20) x WHERE seat <> 7",
        "SELECT seat = 7 AS g, COUNT(*) AS n FROM (SELECT seat FROM people WHERE vip ORDER BY seat LIMIT 20) x "
        "GROUP BY g HAVING COUNT(*) > 0",
        "SELECT COUNT(*) AS n FROM (SELECT seat FROM people WHERE vip ORDER BY seat LIMIT 20) x "
        "JOIN labels l ON l.label = x.seat WHERE l.half = 1 AND l.label <> 7",
    ],
)
def test_rows_below_a_limit_are_known_in_number(product: Product, sql: str) -> None:
    """19 of 20, or 20."""
    assert not tells_of_seat_7(product, sql)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM {FIRST} WHERE id <> 7",
        f"SELECT id = 7 AS g, COUNT(*) AS n FROM {FIRST} GROUP BY g HAVING COUNT(*) > 0",
    ],
)
def test_a_limit_of_matches_tells_of_no_single_match(product: Product, sql: str) -> None:
    """As above: whether customer 7 is in people."""
    data = dict(tables.federation_rows())
    assert same(product, sql, data, without(data, "people", 107))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(salary) AS s FROM (SELECT salary FROM people WHERE vip ORDER BY seat LIMIT 30) x",
        "SELECT COUNT(*) AS n FROM (SELECT vip FROM people ORDER BY seat LIMIT 100) x WHERE vip",
        "SELECT COUNT(*) AS n FROM (SELECT id FROM customers ORDER BY id LIMIT 100) x WHERE id > 50",
        "SELECT n FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n LIMIT 2) x WHERE n > 20",
    ],
)
def test_a_limit_of_known_rows_or_of_groups_may_be_filtered(product: Product, sql: str) -> None:
    assert product.verdict(sql, ("north",)).rule == ""


# 2. What a unit's group computes of columns that are seen is known, too -----------------------------------------------

PER_UNIT = (
    "SELECT COUNT(*) AS n FROM (SELECT ssn, vip AS v, MAX(seat) AS s FROM people GROUP BY ssn, vip) x "
    "WHERE NOT (s = 7 AND v)",
    "SELECT COUNT(*) AS n FROM (SELECT ssn, MAX(CASE WHEN vip THEN seat ELSE 0 END) AS m FROM people GROUP BY ssn) x "
    "WHERE m <> 7",
    "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people GROUP BY ssn "
    "HAVING SUM(CASE WHEN seat = 7 AND vip THEN 1 ELSE 0 END) = 0) x",
    "SELECT COUNT(*) AS n FROM (SELECT ssn, COUNT(CASE WHEN seat = 7 AND vip THEN 1 END) AS m FROM people "
    "GROUP BY ssn) x WHERE m = 0",
    "SELECT m, COUNT(*) AS n FROM (SELECT ssn, COUNT(CASE WHEN seat = 7 AND vip THEN 1 END) AS m FROM people "
    "GROUP BY ssn) x GROUP BY m HAVING COUNT(*) > 0",
)


@pytest.mark.parametrize("sql", PER_UNIT)
def test_known_values_of_a_unit_are_no_padding(product: Product, sql: str) -> None:
    """419 of 420, or 420."""
    assert not tells_of_seat_7(product, sql)


# 3. Own rows that meet rows which are seen are known as these are -----------------------------------------------------

IN_TEXT = "SELECT 7 AS s, 1 AS f FROM people WHERE seat = 1" + "".join(
    f" UNION ALL SELECT {seat}, 0 FROM people WHERE seat = 1" for seat in range(8, 30)
)
VIPS_AS_NUMBERS = "(SELECT seat, CASE WHEN vip THEN 1 ELSE 0 END AS k FROM people) p"
BESIDE_OWN = (
    "SELECT COUNT(*) AS n FROM labels l JOIN people p ON l.label = p.seat WHERE NOT (l.label = 7 AND p.vip)",
    "SELECT g, COUNT(*) AS n FROM (SELECT l.label = 7 AND p.vip AS g FROM labels l JOIN people p ON l.label = p.seat) "
    "x GROUP BY g HAVING COUNT(*) > 0",
    f"SELECT COUNT(*) AS n FROM (SELECT s, MAX(f) AS f FROM ({IN_TEXT}) t GROUP BY s) u "
    "JOIN people p ON u.s = p.seat WHERE NOT (u.f = 1 AND p.vip)",
    "SELECT COUNT(*) AS n FROM (SELECT l.label AS k FROM labels l FULL JOIN customers c ON l.ssn = c.ssn "
    "GROUP BY l.label) f JOIN people p ON f.k = p.seat WHERE NOT (f.k = 7 AND p.vip)",
    "SELECT COUNT(*) AS n FROM labels l JOIN customers c ON l.ssn = c.ssn JOIN people p ON l.label = p.seat "
    "WHERE c.id <> 7 OR NOT p.vip",
)
BY_KEYS = (
    "SELECT COUNT(*) AS n FROM labels l "
    "JOIN (SELECT CASE WHEN seat = 7 AND vip THEN 0 ELSE 1 END AS k FROM people) p ON l.label = p.k WHERE l.label = 1",
    "SELECT l.half, COUNT(*) AS n FROM labels l "
    "JOIN (SELECT CASE WHEN seat = 7 AND vip THEN 0 ELSE 1 END AS k FROM people) p ON l.label = p.k "
    "GROUP BY l.half HAVING COUNT(*) > 0",
    f"SELECT COUNT(*) AS n FROM labels l JOIN {VIPS_AS_NUMBERS} ON l.label = p.k "
    "WHERE NOT (p.seat = 7 AND l.label = 1)",
    f"SELECT COUNT(*) AS n FROM rooms r JOIN {VIPS_AS_NUMBERS} ON r.room = p.k + 1 "
    "WHERE NOT (p.seat = 7 AND r.room = 2)",
)


@pytest.mark.parametrize("sql", (*BESIDE_OWN, *BY_KEYS))
def test_own_rows_that_meet_known_rows_are_no_padding(product: Product, sql: str) -> None:
    """48 of 49, or 49: north's own row stands for seat 7. Or a key of a join has the condition in it."""
    assert not tells_of_seat_7(product, sql)


def test_matches_that_a_recipient_may_learn_are_known_rows(tmp_path: Path) -> None:
    """Where north may learn which customers are in people, it knows how many are."""
    told = changed(tmp_path, "south", "least_group = 10", 'matches = ["north"]')
    sql = "SELECT COUNT(*) AS n FROM customers c JOIN people p ON c.ssn = p.ssn WHERE NOT (c.id = 7 AND p.vip)"
    assert told.verdict("SELECT c.id FROM customers c JOIN people p ON c.ssn = p.ssn", ("north",)).rule == ""
    assert same(told, sql, person(107, vip=False), person(107, vip=True))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM labels l JOIN people p ON l.label = p.seat WHERE l.half = 1 AND p.vip",
        "SELECT l.half, COUNT(*) AS n FROM labels l JOIN people p ON l.label = p.seat WHERE p.vip GROUP BY l.half",
        "SELECT COUNT(*) AS n FROM customers c JOIN people p ON c.ssn = p.ssn WHERE c.segment = 'home' AND p.vip",
        "SELECT SUM(CASE WHEN c.segment = 'home' AND p.vip THEN 1 ELSE 0 END) AS n FROM customers c "
        "JOIN people p ON c.ssn = p.ssn",
        "SELECT AVG(n) AS a FROM (SELECT ssn, SUM(CASE WHEN seat <= 200 AND vip THEN 1 ELSE 0 END) AS n FROM people "
        "GROUP BY ssn) x",
        "SELECT COUNT(*) AS n FROM people, (SELECT COUNT(*) AS n FROM customers) z WHERE seat < z.n AND vip",
    ],
)
def test_own_rows_beside_others_are_asked_for(product: Product, sql: str) -> None:
    assert product.verdict(sql, ("north",)).rule == ""


NEARLY = (
    "SELECT COUNT(*) AS n FROM people WHERE city <> 'zz' AND NOT (seat = 7 AND vip)",
    "SELECT COUNT(*) AS n FROM people WHERE NOT (city = 'zz' OR (seat = 7 AND vip))",
    "SELECT COUNT(*) AS n FROM people WHERE CASE WHEN points <= 998 THEN seat <> 7 OR NOT vip ELSE FALSE END",
    "SELECT SUM(CASE WHEN seat <= 200 AND NOT (seat = 7 AND vip) THEN 1 ELSE 0 END) AS n FROM people "
    "WHERE points <= 998",
    "SELECT COUNT(*) AS n FROM people WHERE (seat <> 7 AND points <= 998) OR (seat = 7 AND vip)",
)


@pytest.mark.parametrize("sql", NEARLY)
def test_a_condition_that_nearly_all_fulfil_is_as_good_as_none(product: Product, sql: str) -> None:
    """419 of 420, or 420: that nobody has more than 998 points, and lives in zz, is easily known."""
    assert not tells_of_seat_7(product, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CASE WHEN seat <= 200 AND vip THEN 1 ELSE 0 END) AS n FROM people WHERE city = 'Oslo'",
        "SELECT SUM(CASE WHEN vip THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN seat <= 200 AND vip THEN 1 ELSE 0 END) AS b "
        "FROM people WHERE points > 100",
        "SELECT COUNT(*) AS n FROM people WHERE seat BETWEEN 100 AND 300 AND (vip OR city = 'Oslo')",
    ],
)
def test_a_condition_on_some_of_the_known_rows_is_asked_for(product: Product, sql: str) -> None:
    assert product.verdict(sql, ("north",)).rule == ""


# 4. Rows that are seen repeat others as own ones do -------------------------------------------------------------------


@pytest.mark.parametrize("base", ["people WHERE seat", "rooms WHERE room"])
def test_rows_that_are_seen_repeat_no_others(product: Product, base: str) -> None:
    """A number whose bits say who of a list is a VIP: known rows of people stand in the text so often as a bit says."""
    listed = " UNION ALL ".join(f"SELECT {7 + bit} AS s FROM {base} <= {2**bit}" for bit in range(4))
    more = " UNION ALL ".join(f"SELECT {20 + at} FROM {base} <= 1" for at in range(60))
    assert not tells_of_seat_7(
        product, f"SELECT COUNT(*) AS n FROM ({listed} UNION ALL {more}) u JOIN people p ON u.s = p.seat WHERE p.vip"
    )


def test_groups_that_repeated_rows_make_are_apart(product: Product) -> None:
    """50 and 51: north puts customer 7 in one group of two, and 50 others in both."""
    data = dict(tables.federation_rows())
    both = range(110, 160)
    data["copies"] = [{"ssn": ssn, "copy": group} for group in (1, 2) for ssn in both] + [{"ssn": 107, "copy": 2}]
    inner = "SELECT DISTINCT p.ssn AS s, k.copy AS copy FROM copies k JOIN people p ON k.ssn = p.ssn"
    for sql in (
        "SELECT k.copy, COUNT(DISTINCT p.ssn) AS n FROM copies k JOIN people p ON k.ssn = p.ssn GROUP BY k.copy",
        "SELECT k.copy FROM copies k JOIN people p ON k.ssn = p.ssn GROUP BY k.copy",
        f"SELECT copy, COUNT(DISTINCT s) AS n FROM ({inner}) x GROUP BY copy",
        "SELECT COUNT(DISTINCT CASE WHEN k.copy = 1 THEN p.city END) AS n FROM copies k JOIN people p ON k.ssn = p.ssn",
    ):
        assert product.verdict(sql, ("north",)).rule == "repeats"
        assert same(product, sql, data, without(data, "people", 107))


def test_repeated_rows_may_be_counted_once_in_groups_of_their_own(product: Product) -> None:
    for sql in (
        "SELECT COUNT(DISTINCT p.ssn) AS n FROM copies k JOIN people p ON k.ssn = p.ssn",
        "SELECT p.city, COUNT(DISTINCT p.ssn) AS n FROM copies k JOIN people p ON k.ssn = p.ssn GROUP BY p.city",
    ):
        assert product.verdict(sql, ("north",)).rule == ""


# 5. A UNION that matches by way of a join -----------------------------------------------------------------------------


def test_a_union_joined_with_own_rows_tells_of_nobody_but_one(product: Product) -> None:
    """49 or 50 customers with a label, or in people as a VIP; customer 7 alone has no label."""
    data = dict(tables.federation_rows())
    data["labels"] = [{"ssn": 100 + at, "label": at, "bit": 1, "half": 0} for at in range(1, 51) if at != 7]
    sql = (
        "SELECT COUNT(DISTINCT c.ssn) AS n FROM customers c "
        "JOIN (SELECT ssn FROM people WHERE vip UNION ALL SELECT ssn FROM labels) u ON c.ssn = u.ssn WHERE c.id <= 50"
    )
    assert same(product, sql, person(107, data, vip=False), person(107, data, vip=True))


# 6. How many different values of seen columns there are ---------------------------------------------------------------


def test_a_number_of_seen_values_names_no_row(product: Product) -> None:
    """As many as VIPs, and one more if the person in seat 7 is none."""
    assert not tells_of_seat_7(
        product,
        "SELECT COUNT(DISTINCT CASE WHEN vip THEN seat ELSE 7 END) AS d, SUM(CASE WHEN vip THEN 1 ELSE 0 END) AS n "
        "FROM people",
    )


def test_rows_may_be_counted_by_a_unique_column_that_is_seen(product: Product) -> None:
    assert product.verdict("SELECT COUNT(DISTINCT seat) AS n FROM people WHERE vip", ("north",)).rule == ""


# 7. Several recipients, of whom one knows more ------------------------------------------------------------------------

BOTH = ("north", "west")
HALL = """
[tables.hall]
recipients = ["north", "west"]
least_group = 10
unit = "chair"
unique = [["chair"]]
rows = 512
[tables.hall.columns]
chair = { type = "INTEGER", min = 1, max = 9999, use = ["join", "select"], to = ["north"] }
number = { type = "INTEGER", min = 0, max = 9999, use = ["aggregate", "filter", "select"], to = ["north"] }
key = { type = "INTEGER", min = 1, max = 9999, use = ["join"] }
vip = { type = "BOOLEAN", use = ["filter"] }

[tables.here]
"""
SEEN = """
recipients = ["north", "west"]
least_group = 10
unit = "chair"
unique = [["chair"], ["key"]]
rows = 512
[tables.here.columns]
chair = { type = "INTEGER", min = 1, max = 9999, use = ["join"] }
key = { type = "INTEGER", min = 1, max = 9999, use = ["join"] }
there = { type = "BOOLEAN", use = ["filter"] }
"""
BOARD = """
[tables.board]
recipients = ["north"]
least_group = 10
unit = "chair"
unique = [["chair"]]
rows = 512
[tables.board.columns]
chair = { type = "INTEGER", min = 1, max = 9999, use = ["join"] }
mark = { type = "INTEGER", min = 0, max = 9, nullable = true, use = ["aggregate"] }
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Product:
    """South's hall, whose chairs north sees and west does not; west's board, of which north gets totals."""
    offers = {"north": '[tables.own]\nopen = true\nrows = 8\ncolumns.x = { type = "INTEGER", min = 0, max = 9 }\n',
              "south": HALL + SEEN, "west": BOARD}  # fmt: skip
    return Product(offers, tmp_path_factory.mktemp("shared"))


def hall(**values: Any) -> Data:
    """Forty chairs, of which every other one is a VIP's; chair 7 has these values."""
    chairs = [{"chair": at, "number": at, "key": 100 + at, "vip": at % 2 == 0, "there": at % 2 == 0}
              for at in range(1, 41)]  # fmt: skip
    changed_chairs = [{**each, **values} if each["chair"] == 7 else each for each in chairs]
    board = [{"chair": at, "mark": None if at == 7 else 1} for at in range(1, 41)]
    return {"hall": changed_chairs, "here": changed_chairs, "board": board}


def agrees(shared: Product, sql: str, one: Data, other: Data) -> bool:
    """Whether both recipients see the same, or are refused."""
    if shared.verdict(sql, BOTH).rule:
        return True
    first, second = (shared.answer(sql, BOTH, each).seen() for each in (one, other))
    return first == second


def test_what_one_recipient_sees_are_weights_though_others_do_not_see_it(shared: Product) -> None:
    """North knows all numbers, of which it may have totals, too. Another table decides whose are added."""
    sql = "SELECT SUM(h.number) AS s FROM hall h JOIN board b ON h.chair = b.chair"
    assert shared.verdict(sql, BOTH).rule == "weights"


def test_nulls_of_a_recipient_s_protected_table_are_written_conditions(shared: Product) -> None:
    """West has marked all chairs but 7. A number if nobody is there, NULL if somebody is."""
    sql = "SELECT COUNT(b.mark) AS v FROM here h JOIN board b ON h.chair = b.chair WHERE h.there"
    assert agrees(shared, sql, hall(there=False), hall(there=True))


def test_the_setting_of_several_recipients_has_answers(shared: Product) -> None:
    sql = "SELECT COUNT(*) AS n FROM here h JOIN board b ON h.chair = b.chair WHERE h.there"
    assert shared.verdict(sql, BOTH).rule == ""
    assert shared.answer(sql, BOTH, hall()).rows == ((20,),)


# 8. Crashes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_that_is_none_is_compared(product: Product, number: str) -> None:
    product.verdict(f"SELECT COUNT(*) AS n FROM people WHERE points < {number}", ("north",))

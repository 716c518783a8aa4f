"""Questions with conditions, NULLs and unions that told of single people once, crashed, or took minutes to plan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from . import corpus, tables
from .product import Product
from .reference.offers import texts_of
from .test_breaks import Ask, asker

Data = dict[str, Sequence[Mapping[str, Any]]]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


@pytest.fixture
def ask(product: Product) -> Ask:
    return asker(product)


def person(seat: int, data: Data | None = None, **values: Any) -> Data:
    """All tables, where one person has these values."""
    found = dict(data or tables.federation_rows())
    found["people"] = [{**each, **values} if each["seat"] == seat else each for each in found["people"]]
    return found


def same(product: Product, sql: str, one: Data, other: Data) -> bool:
    """Whether north sees the same, or is refused (then nothing is seen)."""
    if product.verdict(sql, ("north",)).rule:
        return True
    first, second = (product.answer(sql, ("north",), each).seen() for each in (one, other))
    return first == second


def changed(tmp_path: Path, owner: str, old: str, new: str) -> Product:
    offers = dict(texts_of(corpus.FEDERATION))
    assert old in offers[owner]
    offers[owner] = offers[owner].replace(old, f"{new}\n{old}", 1)
    return Product(offers, tmp_path)


# 1. A constant of a union is compared in the encoding of another type ------------------------------------------------

KEYS = ("1 + 0", "1 * 1", "0 + 1", "CASE WHEN TRUE THEN 1 ELSE 2 END")


@pytest.mark.parametrize("key", KEYS)
def test_a_constant_of_a_union_keeps_its_scale(product: Product, key: str) -> None:
    """The exact salary of the person in seat 7, in one question, and no floor at all for people's group.

    ``constants`` are found by ``unchanged``, which goes through the rescale of 1 + 0 to DECIMAL(.., 1). The Literal(1)
    is then put under the key's type, as 0.1. So no group "may be of" people, and ``none`` is TRUE for the group 1.0.
    """
    sql = (
        f"SELECT k, SUM(s) AS v FROM (SELECT {key} AS k, salary AS s FROM people WHERE seat = 7 "
        "UNION ALL SELECT 1.5, revenue FROM customers) x GROUP BY k"
    )
    assert same(product, sql, person(7, salary=20_000), person(7, salary=77_777))


# 2. Recipients' own NULLs count as stored ones -----------------------------------------------------------------------

OWN_NULLS = (
    "SELECT SUM(CASE WHEN c.mark IS NULL THEN 0 ELSE 1 END) AS v "
    "FROM customers c JOIN people p ON c.ssn = p.ssn WHERE p.vip",
    "SELECT SUM(CASE WHEN c.mark IS NULL THEN 0 ELSE p.points END) AS v "
    "FROM customers c JOIN people p ON c.ssn = p.ssn WHERE p.vip",
)


@pytest.mark.parametrize("sql", OWN_NULLS)
def test_a_recipient_s_own_nulls_are_written_conditions(product: Product, sql: str) -> None:
    """Customer 1 alone has a mark (tables.py: north chooses that): 0 if this person is no VIP, NULL if it is one.

    ``_unknown(stored=True)`` takes the NULLs of every Scan for stored ones, those that north plants, too.
    """
    assert same(product, sql, person(101, vip=False), person(101, vip=True))


def test_a_recipient_s_own_nulls_tell_a_bit_for_each_group(product: Product) -> None:
    """As above, with a bit for each segment: north names them, and marks one customer in each."""
    data = dict(tables.federation_rows())
    data["customers"] = [
        {**each, "segment": ("home", "office", "shop")[at % 3], "mark": 1 if at < 3 else None}
        for at, each in enumerate(data["customers"])
    ]
    sql = (
        "SELECT c.segment, SUM(CASE WHEN c.mark IS NULL THEN 0 ELSE 1 END) AS v "
        "FROM customers c JOIN people p ON c.ssn = p.ssn WHERE p.vip GROUP BY c.segment"
    )
    for seat in (101, 102, 103):
        assert same(product, sql, person(seat, data, vip=False), person(seat, data, vip=True))


def test_nulls_that_a_recipient_sees_are_written_conditions(tmp_path: Path) -> None:
    """As above, with a column of people itself that north sees row by row: who has no locker is no secret."""
    locker = 'locker = { type = "INTEGER", min = 1, max = 99, nullable = true, use = ["select"] }'
    product = changed(tmp_path, "south", "salary = {", locker)
    data = dict(tables.federation_rows())
    data["people"] = [{**each, "locker": 7 if each["seat"] == 101 else None} for each in data["people"]]
    sql = "SELECT SUM(CASE WHEN locker IS NULL THEN 0 ELSE points END) AS v FROM people WHERE vip"
    assert same(product, sql, person(101, data, vip=False), person(101, data, vip=True))


# 3. Units counted once over both sides of a union --------------------------------------------------------------------

TWICE = (
    "SELECT COUNT(*) AS n, COUNT(DISTINCT ssn) AS d FROM (SELECT ssn FROM people WHERE vip "
    "UNION ALL SELECT ssn FROM customers WHERE id = 1) x",
    "SELECT COUNT(*) AS n, SUM(n) AS d FROM (SELECT ssn, COUNT(*) AS n FROM (SELECT ssn FROM people WHERE vip "
    "UNION ALL SELECT ssn FROM customers WHERE id = 1) x GROUP BY ssn) y",
)


@pytest.mark.parametrize("sql", TWICE)
def test_a_union_with_own_rows_does_not_tell_who_is_on_both_sides(product: Product, ask: Ask, sql: str) -> None:
    """n - d is 1 if customer 1 is among people who are VIPs. People's side is the same set in every such question, so
    that the owner's check lets 100 customers be asked after one by one."""
    if ask(sql) or ask(sql.replace("id = 1", "id = 2")):
        return
    assert same(product, sql, person(101, vip=False), person(101, vip=True))


def test_a_union_with_own_rows_tells_of_one_person_in_each_group(product: Product) -> None:
    """As above: a bit for each city in one question."""
    sql = (
        "SELECT city, COUNT(*) AS n, COUNT(DISTINCT ssn) AS d FROM (SELECT city, ssn FROM people WHERE vip "
        "UNION ALL SELECT CASE WHEN id = 1 THEN 'Oslo' ELSE 'Bodo' END AS city, ssn FROM customers WHERE id <= 2) x "
        "GROUP BY city"
    )
    rows = person(101, person(102, city="Bodo"), city="Oslo")
    assert same(product, sql, person(101, rows, vip=False), person(101, rows, vip=True))


WEIGHED = (
    "SELECT SUM(m) AS s FROM (SELECT ssn, SUM(w) AS m FROM (SELECT ssn, 0 AS w FROM people WHERE vip "
    "UNION ALL SELECT ssn, bit FROM labels) x GROUP BY ssn HAVING COUNT(*) > 1) y",
    "SELECT SUM(m) AS s FROM (SELECT ssn, SUM(w) AS m, COUNT(*) AS n FROM (SELECT ssn, 0 AS w FROM people WHERE vip "
    "UNION ALL SELECT ssn, bit FROM labels) x GROUP BY ssn) y WHERE n > 1",
    "SELECT SUM(CASE WHEN n > 1 THEN m ELSE 0 END) AS s FROM (SELECT ssn, SUM(w) AS m, COUNT(*) AS n FROM "
    "(SELECT ssn, 0 AS w FROM people WHERE vip UNION ALL SELECT ssn, bit FROM labels) x GROUP BY ssn) y",
)


@pytest.mark.parametrize("sql", WEIGHED)
def test_a_union_grouped_by_units_is_a_join_and_has_its_weights(product: Product, sql: str) -> None:
    """The sum's bits are those of all VIPs among 50 people that north lists: 50 bits of single people in one number.

    A union's rows are not ``beside`` each other, so that ``weights`` sees nothing. GROUP BY ssn puts them together.
    """
    assert same(product, sql, person(107, vip=False), person(107, vip=True))


def test_a_union_grouped_by_a_key_is_a_join_that_with_forbids(product: Product) -> None:
    """As above, by people.card, which may be joined with visits.card alone."""
    sql = WEIGHED[0].replace("SELECT ssn, 0", "SELECT card, 0").replace("SELECT ssn, SUM", "SELECT card, SUM")
    sql = sql.replace("GROUP BY ssn", "GROUP BY card")
    data = dict(tables.federation_rows())
    data["labels"] = [{**each, "ssn": 50_000 + each["ssn"]} for each in data["labels"]]
    assert same(product, sql, person(107, data, vip=False), person(107, data, vip=True))


def test_a_union_with_keys_in_the_text_is_no_membership_table(product: Product) -> None:
    """As above, with people whom the question's text names, where no condition on ssn is allowed.

    The bits of 24 people; and with COUNT(DISTINCT ssn) below, of one."""
    listed = " UNION ALL ".join(f"SELECT {100 + at}, {2**at} FROM rooms WHERE room = 1" for at in range(24))
    bits = (
        "SELECT SUM(m) AS d FROM (SELECT ssn, SUM(w) AS m FROM (SELECT ssn, 0 AS w FROM people WHERE vip "
        f"UNION ALL {listed}) x GROUP BY ssn HAVING COUNT(*) > 1) y"
    )
    one = (
        "SELECT COUNT(*) AS n, COUNT(DISTINCT ssn) AS d FROM (SELECT ssn FROM people WHERE vip "
        "UNION ALL SELECT 107 FROM rooms WHERE room = 1) x"
    )
    assert same(product, bits, person(107, vip=False), person(107, vip=True))
    assert same(product, one, person(107, vip=False), person(107, vip=True))


def test_a_union_without_duplicates_hides_nobody_but_one(product: Product) -> None:
    """One more than north's own rows if the person with ssn 107 is a VIP. North lists every number but this one, and
    knows nothing of anybody: all other VIPs are duplicates of its rows. The floor is that of all VIPs."""
    data = dict(tables.federation_rows())
    numbers = [each["ssn"] for each in data["people"] if each["ssn"] != 107]
    data["customers"] = [
        {**dict(data["customers"][0]), "id": at, "ssn": number} for at, number in enumerate(numbers, start=1)
    ]
    sql = "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people WHERE vip UNION SELECT ssn FROM customers) x"
    assert same(product, sql, person(107, data, vip=False), person(107, data, vip=True))


def test_a_union_in_a_subquery_hides_nobody_but_one(product: Product) -> None:
    """As above: 50 or 51 of 51 customers, of whom 50 have a label."""
    data = dict(tables.federation_rows())
    data["customers"] = [each for each in data["customers"] if each["id"] <= 51]
    data["labels"] = [
        {**each, "ssn": row["ssn"]}
        for each, row in zip(data["labels"], (row for row in data["customers"] if row["ssn"] != 107), strict=True)
    ]
    sql = (
        "SELECT COUNT(*) AS n FROM customers WHERE ssn IN "
        "(SELECT ssn FROM people WHERE vip UNION ALL SELECT ssn FROM labels)"
    )
    assert same(product, sql, person(107, data, vip=False), person(107, data, vip=True))


# 4. What people's side of a union says of NULLs is taken for what a whole group says ----------------------------------


def test_nulls_of_a_unit_s_group_are_stored_only_if_all_its_rows_say_so(product: Product) -> None:
    """675860 if the person of customer 1 has a bonus, NULL if it has none.

    The group of a unit has rows of both sides. ``_groups`` looks at people's side alone, where t is NULL only where
    bonus is. North's 0 for one ssn makes the cell "has a NULL and has none": of one unit, or empty.
    """
    sql = (
        "SELECT SUM(m) AS d FROM (SELECT ssn, SUM(t) AS m FROM (SELECT ssn, bonus AS t FROM people "
        "UNION ALL SELECT ssn, 0 FROM customers WHERE id = 1) x GROUP BY ssn) y"
    )
    assert same(product, sql, person(101, bonus=0), person(101, bonus=None))


# 5. After a FULL JOIN a constant is none -----------------------------------------------------------------------------


def test_a_constant_beside_a_full_join_is_a_condition(product: Product) -> None:
    """1 or 2: whether the person with ssn 107 lives in Oslo. ``_optional`` keeps ``constant``, though ``one`` is NULL
    for who has no partner. So ``_depends`` sees no condition, and nothing counts the cells.

    With MAX(CASE WHEN f.one IS NULL THEN ...) of a column that is not NULL, it would be the value itself.
    """
    sql = (
        "SELECT COUNT(DISTINCT CASE WHEN f.one IS NULL THEN p.city ELSE 'Oslo' END) AS v "
        "FROM (SELECT l.ssn AS ssn, c.one AS one FROM labels l "
        "FULL JOIN (SELECT ssn, 1 AS one FROM customers) c ON l.ssn = c.ssn) f JOIN people p ON f.ssn = p.ssn"
    )
    data = dict(tables.federation_rows())
    data["customers"] = [each for each in data["customers"] if each["ssn"] != 107]
    assert same(product, sql, person(107, data, city="Oslo"), person(107, data, city="Bodo"))


# 6. Minutes to plan ---------------------------------------------------------------------------------------------------

SLOW = """
from pathlib import Path
import sys, tempfile
from tests.policy import corpus
from tests.policy.product import Product
from tests.policy.reference.offers import texts_of
from tests.policy.test_breaks import asker
sql, step, last, owner = sys.argv[1:]
for at in range(16 if owner == "check" else 12):
    sql = f"SELECT {step} FROM ({sql}) x{at}"
product = Product(texts_of(corpus.FEDERATION), Path(tempfile.mkdtemp()))
print(product.verdict(f"{last} FROM ({sql}) y", ("north",)))
if owner == "check":
    print(asker(product)(f"{last} FROM ({sql}) y"))
"""


@pytest.mark.parametrize(
    ("base", "step", "last", "by"),
    [
        (
            "SELECT points AS a, seat <= 100 AS b FROM people",
            "a, CASE WHEN b THEN b ELSE NOT b END AS b",
            "SELECT SUM(CASE WHEN b THEN a ELSE 0 END) AS v",
            "plan",
        ),
        ("SELECT bonus AS a FROM people", "a + a AS a", "SELECT SUM(a) AS v", "check"),
    ],
)
def test_nested_values_are_planned_and_checked_within_seconds(base: str, step: str, last: str, by: str) -> None:
    """A condition that each of twelve subqueries uses three times: 3 ** 12 parts, which ``outcomes`` reads one by one
    before it looks at MOST. The same over customers, which no guard protects, takes 0.1 s.

    A nullable value that each of 16 subqueries adds to itself: 2 ** 16 for ``is_stored`` and ``_null`` (10 s), and as
    many pieces of the owner's own check, each with a condition (13 of them take a minute)."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", SLOW, base, step, last, by]
    running = subprocess.Popen(command, cwd=root, start_new_session=True)
    try:
        assert running.wait(timeout=25) == 0
    except subprocess.TimeoutExpired:
        pytest.fail("still at it after 25 s")
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)


# 7. Proofs that no row is in a cell, where one is --------------------------------------------------------------------

DOUBLES = "CAST(bit AS DOUBLE) = CAST(9007199254740993 AS DOUBLE) AND bit < 9007199254740993"


@pytest.mark.parametrize(
    "value", ["SUM(CASE WHEN l.b THEN p.salary ELSE 0 END)", "SUM(CASE WHEN l.b AND p.vip THEN 1 ELSE 0 END)"]
)
def test_a_cast_to_double_is_no_number_without_rounding(product: Product, value: str) -> None:
    """The exact salary of the person with ssn 101, in one question; or whether it is a VIP.

    2**53 and 2**53 + 1 are one DOUBLE. ``outcomes`` compares them as fractions (``unchanged`` goes through the column's
    cast, ``constant`` through that of the constant), and takes the cell for impossible. So it is not counted.
    """
    data = dict(tables.federation_rows())
    data["labels"] = [{**each, "bit": 2**53 if each["ssn"] == 101 else 5} for each in data["labels"]]
    sql = f"SELECT {value} AS v FROM (SELECT ssn, {DOUBLES} AS b FROM labels) l JOIN people p ON l.ssn = p.ssn"
    one, other = person(101, data, salary=20_000, vip=False), person(101, data, salary=77_777, vip=True)
    assert same(product, sql, one, other)


def test_a_decimal_that_is_rounded_to_be_compared_is_another_one(tmp_path: Path) -> None:
    """As above: 1.5 beside a DECIMAL(38,0) is rounded to 2, as DuckDB has it. ``constant`` goes through that cast."""
    wide = changed(tmp_path, "north", "half = {", 'wide = { type = "DECIMAL(38,0)", min = 0, max = 100 }')
    data = dict(tables.federation_rows())
    data["labels"] = [{**each, "wide": 2 if each["ssn"] == 101 else 5} for each in data["labels"]]
    sql = (
        "SELECT SUM(CASE WHEN l.b THEN p.salary ELSE 0 END) AS v "
        "FROM (SELECT ssn, wide = 1.5 AS b FROM labels) l JOIN people p ON l.ssn = p.ssn"
    )
    assert same(wide, sql, person(101, data, salary=20_000), person(101, data, salary=77_777))


def test_a_decimal_is_cut_where_it_is_compared(tmp_path: Path) -> None:
    """``cuts = [100]`` allows "rate < 99.4", which cuts at 99: the same wrong reading of a rounded constant."""
    rate = 'rate = { type = "DECIMAL(38,0)", min = 0, max = 1000, use = ["filter"], cuts = [100, 200] }'
    cut = changed(tmp_path, "south", "grade = {", rate)
    data = dict(tables.federation_rows())
    data["people"] = [{**each, "rate": 99 if each["seat"] <= 20 else 50} for each in data["people"]]
    sql = "SELECT COUNT(*) AS n FROM people WHERE rate < {}"
    if not cut.verdict(sql.format("99.4"), ("north",)).rule:
        one, other = (cut.answer(sql.format(each), ("north",), data).seen() for each in ("99.4", "100"))
        assert one == other


# With the offers as they are: DECIMAL(38,0) beside 101.5 has DECIMAL(38,0) as its common type, and 101.5 becomes 102.
ROUNDED = "CAST(seat AS DECIMAL(38,0)) = 101.5"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(CASE WHEN {ROUNDED} THEN salary ELSE 0 END) AS v FROM people",
        f"SELECT city, SUM(CASE WHEN {ROUNDED} THEN salary ELSE 0 END) AS v FROM people GROUP BY city",
        f"SELECT SUM(CASE WHEN {ROUNDED} AND vip THEN 1 ELSE 0 END) AS v FROM people",
        f"SELECT COUNT(CASE WHEN NOT ({ROUNDED} AND vip) THEN 1 END) AS v, COUNT(*) AS n FROM people",
        "SELECT SUM(CASE WHEN l.b THEN p.salary ELSE 0 END) AS v FROM "
        "(SELECT ssn, CAST(id AS DECIMAL(38,0)) = 1.5 AS b FROM customers) l JOIN people p ON l.ssn = p.ssn",
    ],
)
def test_a_rounded_constant_is_no_way_to_name_a_person(product: Product, ask: Ask, sql: str) -> None:
    """The exact salary of the person in seat 102, its city, and whether it is a VIP. The owner's check counts the cell
    rightly, as one person, takes the number for withheld, and lets every such question pass."""
    one, other = person(102, salary=20_000, vip=False), person(102, salary=77_777, vip=True)
    assert ask(sql) or same(product, sql, one, other)


@pytest.mark.parametrize(("condition", "cut"), [("< 17.4", "< 18"), ("> 17.6", ">= 18"), ("< 29.4", "< 30")])
def test_a_rounded_constant_cuts_where_the_owner_says(product: Product, condition: str, cut: str) -> None:
    """age may be cut at 18 and 30: with this also at 17, 19 and 29, which is a single year."""
    sql = f"SELECT COUNT(*) AS n FROM people WHERE CAST(age AS DECIMAL(38,0)) {condition}"
    if product.verdict(sql, ("north",)).rule:
        return
    other = product.answer(f"SELECT COUNT(*) AS n FROM people WHERE age {cut}", ("north",), tables.federation_rows())
    assert product.answer(sql, ("north",), tables.federation_rows()).rows == other.rows


# 8. A promise that is not kept: constants of several lengths ----------------------------------------------------------


def test_constants_of_other_lengths_say_whose_rows_they_are(product: Product) -> None:
    """The answer was empty: 'west' is cast to the type of 'south', and was no constant then."""
    sides = "SELECT 'south' AS o FROM people UNION ALL SELECT 'west' FROM visits"
    sql = f"SELECT o, COUNT(*) AS n FROM ({sides}) x GROUP BY o"
    assert len(product.answer(sql, ("north",), tables.federation_rows()).rows) == 2


def test_a_small_group_of_one_owner_hides_no_other_owner_s_groups(product: Product) -> None:
    """With five people in Bodo the answer is empty, though Oslo and Bergen would join the rest. It is not if visits are
    the first side: "the smallest" are those with the fewest units of the first table, here all groups of visits."""
    data = dict(tables.federation_rows())
    cities = ["Oslo"] * 12 + ["Bergen"] * 15 + ["Bodo"] * 5
    data["people"] = [{**each, "city": city} for each, city in zip(data["people"], cities, strict=False)]
    sides = ["SELECT 1 AS o, city AS g FROM people", "SELECT 2 AS o, clinic AS g FROM visits"]
    found = [
        len(
            product.answer(
                f"SELECT o, g, COUNT(*) AS n FROM ({' UNION ALL '.join(each)}) x GROUP BY o, g", ("north",), data
            ).rows
        )
        for each in (sides, sides[::-1])
    ]
    assert found[0] == found[1]


# 9. Crashes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(salary) AS s FROM (SELECT salary, seat FROM people UNION ALL SELECT revenue, id FROM customers) x "
        "WHERE seat <= 201",
        "SELECT COUNT(*) AS n FROM (SELECT seat FROM people UNION ALL SELECT id FROM customers) x WHERE seat <= 201",
    ],
)
def test_a_refusal_is_a_sentence(product: Product, sql: str) -> None:
    """Both ended in a traceback."""
    product.verdict(sql, ("north",))


# 10. Columns that are seen decide for all but one ---------------------------------------------------------------------

BLOCKS = "CASE " + " ".join(f"WHEN seat <= {20 * at} THEN {at}" for at in range(1, 20)) + " ELSE 20 END"
CHOSEN = " OR ".join(f"seat = {20 * at + 7}" for at in range(20))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people WHERE NOT (seat = 7 AND vip)",
        "SELECT COUNT(*) AS n FROM (SELECT seat AS s, vip AS v FROM people) p WHERE s <> 7 OR NOT v",
        "SELECT COUNT(*) AS n FROM people WHERE CASE WHEN seat = 7 THEN vip ELSE TRUE END",
        "SELECT seat = 7 AND vip AS g, COUNT(*) AS n FROM people GROUP BY g",
        "SELECT CASE WHEN seat <= 200 AND NOT (seat = 7 AND vip) THEN 1 ELSE 0 END AS g, COUNT(*) AS n FROM people "
        "GROUP BY g",
        "SELECT COUNT(*) AS n FROM people WHERE seat BETWEEN 8 AND 16 OR (seat = 7 AND vip)",
        "SELECT SUM(CASE WHEN seat <= 200 AND NOT (seat = 7 AND vip) THEN 1 ELSE 0 END) AS n FROM people",
        f"SELECT g, COUNT(*) AS n FROM (SELECT {BLOCKS} AS g FROM people WHERE NOT (vip AND ({CHOSEN}))) x GROUP BY g",
    ],
)
def test_a_condition_that_seen_columns_decide_for_all_but_one_tells_of_that_one(product: Product, sql: str) -> None:
    """19 of 20 seats, or 20: a bit for each of 20 people in the last question, all sets of which are large and apart.

    The owner's check leaves sets by seen columns out, as open, so that none of its sets differ by one person."""
    if not product.verdict(sql, ("north",)).rule:
        assert same(product, sql, person(7, vip=False), person(7, vip=True))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people WHERE seat <= 200 AND vip",
        "SELECT COUNT(*) AS n FROM people WHERE seat <= 200 AND seat <> 7",
        "SELECT SUM(CASE WHEN seat <= 200 AND vip THEN 1 ELSE 0 END) AS n FROM people",
        "SELECT seat <= 200 AS g, SUM(CASE WHEN vip THEN salary ELSE 0 END) AS s FROM people GROUP BY g",
        "SELECT city, COUNT(*) AS n FROM people WHERE vip OR city = 'Oslo' GROUP BY city",
    ],
)
def test_seen_columns_beside_others_are_no_padding(product: Product, sql: str) -> None:
    assert product.verdict(sql, ("north",)).rule == ""

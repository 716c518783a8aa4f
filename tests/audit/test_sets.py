"""Which rows a query selects: conditions, groups, branches, joins, and what is folded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.audit.refusals import Refused

from .tables import Owner, people


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    """Eight people: four of Oslo, of which three are important, three of Bergen, one of Bodo. Rows count from 1."""
    found = Owner(tmp_path)
    cities = people("Oslo", "Oslo", "Oslo", "Oslo", "Bergen", "Bergen", "Bergen", "Bodo")
    important = [{**each, "vip": at < 3, "pay": "" if at == 3 else each["pay"]} for at, each in enumerate(cities)]
    found.has(important, [(0, 5), (0, 6), (1, 7), (4, 9)])
    return found


def rows(owner: Owner, sql: str) -> list[list[int]]:
    """The sets of a question in which every row counts once."""
    found = owner.sets(sql)
    assert all(times == 1 for each in found for times in each.values())
    return sorted(sorted(each) for each in found)


OSLO, BERGEN, ALL = [1, 2, 3, 4], [5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM people", [ALL]),
        ("SELECT COUNT(*) AS n FROM people WHERE city = 'Oslo'", [OSLO]),
        ("SELECT COUNT(*) FROM people WHERE city = 'Bodo'", []),
        ("SELECT SUM(pay) FROM people", [[1, 2, 3, 5, 6, 7, 8]]),
        ("SELECT COUNT(*) FROM (SELECT city AS a, vip AS b FROM people) AS t WHERE a = 'Oslo' AND b", [[1, 2, 3]]),
        ("SELECT COUNT(*) FROM people WHERE city IN ('Oslo', 'Bergen') AND NOT vip", [[4, 5, 6, 7]]),
        ("WITH oslo AS (SELECT id FROM people WHERE city = 'Oslo') SELECT COUNT(*) FROM oslo", [OSLO]),
        ("SELECT COUNT(*) FROM people WHERE pay > (SELECT AVG(pay) FROM people)", [ALL[:3] + ALL[4:], [5, 6, 7, 8]]),
        ("SELECT COUNT(*) FROM people ORDER BY 1 LIMIT 1", [ALL]),
        ("SELECT AVG(n) FROM (SELECT id, SUM(pay) AS n FROM people GROUP BY id) AS t", [[1, 2, 3, 5, 6, 7, 8]]),
        ("SELECT id, pay FROM people", []),
    ],
)
def test_conditions(owner: Owner, sql: str, expected: list[list[int]]) -> None:
    found = rows(owner, sql)
    assert [each for each in found if each not in expected] == []
    assert [each for each in expected if each not in found] == []


def test_small_groups_are_folded_with_the_smallest_others(owner: Owner) -> None:
    """Bodo is one person, so that Bergen, the smallest other group, joins it."""
    assert rows(owner, "SELECT city, COUNT(*) FROM people GROUP BY city") == [OSLO, [5, 6, 7, 8]]
    dropping = owner.with_terms(small="drop")
    assert rows(dropping, "SELECT city, COUNT(*) FROM people GROUP BY city") == [OSLO, BERGEN]


def test_where_those_who_are_not_counted_are_protected_small_groups_are_left_out(owner: Owner) -> None:
    strict = owner.with_terms(complement=True)
    assert rows(strict, "SELECT city, COUNT(*) FROM people GROUP BY city") == [OSLO, BERGEN]


def test_below_a_condition_small_groups_are_left_out(owner: Owner) -> None:
    assert rows(owner, "SELECT city, COUNT(*) FROM people GROUP BY city HAVING COUNT(*) > 1") == [OSLO, BERGEN]


def test_all_groups_of_the_smallest_size_are_folded(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    owner.has(people(*["Oslo"] * 3, *["Bergen"] * 3, *["Moss"] * 4, "Bodo"))
    assert rows(owner, "SELECT city, COUNT(*) FROM people GROUP BY city") == [[1, 2, 3, 4, 5, 6, 11], [7, 8, 9, 10]]


def test_a_rest_that_is_large_stays_as_it_is(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    owner.has(people(*["Oslo"] * 3, "Bodo", "Moss", "Voss"))
    assert rows(owner, "SELECT city, COUNT(*) FROM people GROUP BY city") == [[1, 2, 3], [4, 5, 6]]


def test_branches_are_sets_of_their_own(owner: Owner) -> None:
    """Three important people and five others. Branches that are too small make no difference to be shown."""
    sql = "SELECT COUNT(*), SUM(CASE WHEN vip THEN 1 ELSE 0 END) FROM people"
    assert rows(owner, sql) == [[1, 2, 3], ALL]
    assert rows(owner, "SELECT COUNT(*), SUM(CASE WHEN city = 'Bodo' THEN 1 ELSE 0 END) FROM people") == [ALL]
    nested = "SELECT SUM(v) FROM (SELECT CASE WHEN vip THEN id ELSE 0 END AS v FROM people) AS t"
    assert rows(owner, nested) == [[1, 2, 3]]
    both = "SELECT SUM(CASE WHEN vip THEN id ELSE 2 * id END) FROM people"
    assert rows(owner, both) == [[1, 2, 3], [4, 5, 6, 7, 8]]


def test_another_owners_table_restricts_nothing(owner: Owner) -> None:
    join = "SELECT COUNT(*) FROM people p JOIN customers c ON p.id = c.ssn"
    assert rows(owner, join) == [ALL]
    assert rows(owner, f"{join} WHERE p.city = 'Oslo' AND c.segment = 3") == [OSLO]
    assert rows(owner, join.replace("COUNT(*)", "c.segment, COUNT(*)") + " GROUP BY c.segment") == [ALL]


def test_groups_beside_another_owners_table_are_those_that_could_be_shown(owner: Owner) -> None:
    join = "SELECT p.city, COUNT(*) FROM people p JOIN customers c ON p.id = c.ssn GROUP BY p.city"
    assert rows(owner, join) == [OSLO, BERGEN]


def test_own_joins_are_computed_and_rows_count_as_often_as_they_match(owner: Owner) -> None:
    join = "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person"
    assert owner.sets(join) == [{1: 2, 2: 1, 5: 1}]


def test_groups_by_another_owners_key_that_is_equal(owner: Owner) -> None:
    """The groups of c.ssn are those of people.id: one unit each, and so the outer aggregate merges them."""
    inner = "SELECT c.ssn, COUNT(*) AS n FROM customers c JOIN people p ON c.ssn = p.id GROUP BY c.ssn"
    assert rows(owner, f"SELECT SUM(n) FROM ({inner}) AS t") == [ALL]


def test_a_limit_below_an_aggregate_is_refused(owner: Owner) -> None:
    with pytest.raises(
        Refused, match=r"^refused by south: differences: what a LIMIT selects of people is not known here"
    ):
        owner.question("SELECT SUM(pay) FROM (SELECT pay FROM people ORDER BY pay LIMIT 4) AS t")


def test_what_only_the_owner_gets_is_not_checked(owner: Owner) -> None:
    assert owner.question("SELECT id, pay FROM people", to=("south",)) is None
    assert owner.with_terms(differences="off").question("SELECT COUNT(*) FROM people") is None
    assert owner.question("SELECT COUNT(*) FROM visits") is None

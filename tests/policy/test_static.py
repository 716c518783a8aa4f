"""The static check of owners' rules: what is refused, by which rule, where in the text, and which change passes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import PolicyError
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Table
from tacit.plan.policy.allowed import disclosed
from tacit.plan.policy.check import check
from tacit.plan.policy.question import question_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query, statements

from .owners import OWNERS, PEOPLE, TODAY, allowed, refusal, terms, with_table

JOINED = "customers c JOIN people p ON c.ssn = p.ssn"
NORTH = ("north",)
ABSENT = "a join that is not an inner one tells which units of people are missing, and nothing counts them"

REFUSED = [
    # query, recipients, rule, place, sentence, change
    (
        "SELECT email AS total FROM people ORDER BY salary DESC LIMIT 1", "north", "closed", 8,
        "people.email is closed", "ask for COUNT(*)",
    ),
    ("SELECT seat, email FROM people", "north", "closed", 14, "people.email is closed", "leave out email"),
    (
        "SELECT salary FROM people", "north", "select", 8,
        "people.salary would be seen row by row; it may be aggregated", "write AVG(salary)",
    ),
    (
        "SELECT seat FROM people WHERE vip", "north", "select", 31,
        "which rows are shown tells people.vip of each", "leave out WHERE vip",
    ),
    (
        "SELECT seat FROM people ORDER BY salary", "north", "select", 34,
        "the order tells people.salary's ranks", "order by seat",
    ),
    (
        f"SELECT c.ssn FROM {JOINED}", "north", "matches", 48,
        "each row tells that this unit is in people", "ask for COUNT(*)",
    ),
    (
        "SELECT MAX(salary) FROM people", "north", "function", 12,
        "MAX gives one value of people.salary; count, sum, avg are allowed", "write AVG(salary)",
    ),
    (
        "SELECT SUM(salary*salary) FROM people", "north", "linear", 12,
        "more than a multiple of people.salary is added up", "write SUM(salary)",
    ),
    (
        "SELECT seat, ROW_NUMBER() OVER (ORDER BY seat) AS n FROM people", "north", "window", 14,
        "ROW_NUMBER OVER tells of other rows of people than it stands beside, which nothing counts",
        "ask south for people, rule window",
    ),
    (
        "SELECT city, SUM(COUNT(*)) OVER () AS n FROM people GROUP BY city", "north", "window", 14,
        "SUM OVER tells of other rows of people than it stands beside, which nothing counts",
        "ask south for people, rule window",
    ),
    (
        "SELECT SUM(n) FROM (SELECT ssn, ROW_NUMBER() OVER (ORDER BY id) AS n FROM customers) c "
        "JOIN people p ON c.ssn = p.ssn", "north", "weights", 8,
        "values that north knows, customers.*, are added over rows that people decides", "write COUNT(*)",
    ),
    (
        f"SELECT SUM(c.weight) FROM {JOINED}", "north", "weights", 8,
        "values that north knows, customers.weight, are added over rows that people decides", "write COUNT(*)",
    ),
    (
        "SELECT COUNT(*) FROM copies k JOIN people p ON k.ssn = p.ssn", "north", "repeats", 8,
        "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
    (
        f"SELECT c.ssn, c.segment, COUNT(*) FROM {JOINED} GROUP BY c.ssn, c.segment", "north", "floor", 69,
        "each group is one unit of people; groups need 10", "leave out GROUP BY c.ssn",
    ),
    (
        "SELECT city FROM people GROUP BY city HAVING COUNT(*) = 1", "north", "floor", 46,
        "no group of 10 or more fulfils the condition", "write COUNT(*) >= 10",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE age = 37", "north", "cuts", 35,
        "people.age may be cut at 18, 30, 45, 65, and tested in no other way", "write age >= 30 AND age < 45",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE ssn = 1", "north", "filter", 35,
        "people.ssn is a key of joins; conditions on it are closed", "leave out WHERE ssn = 1",
    ),
    ("SELECT COUNT(*) FROM people", "north,west", "recipient", None, "west is no recipient of people", "--to north"),
    (
        "SELECT COUNT(*) FROM people WHERE since = '2023-03-15'", "north", "cuts", 35,
        "people.since may be cut at months, and tested in no other way",
        "write since >= CAST('2023-03-01' AS DATE) AND since < CAST('2023-04-01' AS DATE)",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE rate > 1.75", "north", "cuts", 35,
        "people.rate may be cut at 1.50, 3.00, and tested in no other way", "write rate >= 1.50",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE vip AND grade = 'C'", "north", "constants", 43,
        "people.grade may be equal to 'A', 'B', and tested in no other way", "leave out grade = 'C'",
    ),
    (
        f"SELECT COUNT(*) FROM {JOINED} WHERE p.points > c.revenue", "north", "with", 71,
        "people.points would meet customers.revenue; it may be compared with constants only",
        "leave out WHERE p.points > c.revenue",
    ),
    (
        "SELECT salary, COUNT(*) FROM people GROUP BY salary", "north", "group", 46,
        "people.salary would make groups; it may be aggregated", "leave out GROUP BY salary",
    ),
    (
        "SELECT COUNT(*) FROM customers c JOIN people p ON c.id = p.salary", "north", "join", 51,
        "people.salary would be a key of joins; it may be aggregated", "ask south for people.salary, rule join",
    ),
    (
        "SELECT 1 AS one FROM visits", "north", "select", None,
        "each row tells of one of visits, of which no column is seen row by row", "ask for COUNT(*)",
    ),
    (
        "SELECT floor FROM rooms", "south", "select", 8,
        "rooms.floor would be seen row by row; not all who ask may see it", "ask for COUNT(*)",
    ),
    (
        "SELECT COUNT(*) FROM customers c LEFT JOIN people p ON c.ssn = p.ssn", "north", "floor", 44,
        ABSENT, "ask south for people, rule floor",
    ),
    (
        "SELECT COUNT(*) FROM customers c ANTI JOIN people p ON c.ssn = p.ssn", "north", "floor", 44,
        ABSENT, "ask south for people, rule floor",
    ),
    (
        "SELECT COUNT(*) FROM customers c, people p WHERE c.revenue > 5", "north", "floor", 35,
        ABSENT, "ask south for people, rule floor",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT a.ssn AS k FROM customers a, copies b) c JOIN people p ON c.k = p.ssn", "north",
        "repeats", 8, "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT a.ssn AS k FROM customers a LEFT JOIN copies b ON a.ssn = b.ssn) c "
        "JOIN people p ON c.k = p.ssn", "north",
        "repeats", 8, "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "to", "rule", "place", "sentence", "change"), REFUSED, ids=lambda each: str(each)[:60]
)
def test_a_refusal_has_rule_place_sentence_and_a_change_that_passes(
    query: str, to: str, rule: str, place: int | None, sentence: str, change: str
) -> None:
    found = refusal(query, to=tuple(to.split(",")))
    assert found is not None
    assert (found.problem.rule, found.problem.sentence, found.change) == (rule, sentence, change)
    assert found.position == (None if place is None else (1, place))
    where = "" if place is None else f" (line 1, column {place})"
    assert str(found) == f"refused by {found.problem.owner}: {rule}: {sentence}{where}; {change}."
    if found.changed_query is not None:
        assert found.changed_recipients is not None
        assert refusal(found.changed_query, to=found.changed_recipients) is None


ALLOWED = [
    "SELECT COUNT(*) FROM (SELECT a.* FROM customers a ANTI JOIN copies b ON a.ssn = b.ssn) c "
    "JOIN people p ON c.ssn = p.ssn",
    "SELECT COUNT(*), SUM(b.copy) FROM customers a LEFT JOIN copies b ON a.ssn = b.ssn",
    "SELECT COUNT(*) FROM customers c SEMI JOIN people p ON c.ssn = p.ssn",
    "SELECT id, RANK() OVER (ORDER BY revenue) AS place FROM customers",
    "SELECT COUNT(*) FROM (SELECT ssn, ROW_NUMBER() OVER (PARTITION BY segment ORDER BY id) AS n FROM customers) c "
    "JOIN people p ON c.ssn = p.ssn WHERE n = 1",
    "SELECT COUNT(*) FROM people",
    f"SELECT COUNT(*) FROM {JOINED}",
    f"SELECT COUNT(DISTINCT c.ssn) FROM {JOINED}",
    f"SELECT c.segment, AVG(p.salary) AS pay, COUNT(*) AS n FROM {JOINED} GROUP BY c.segment ORDER BY n DESC LIMIT 3",
    f"SELECT SUM(c.revenue) FROM {JOINED}",
    "SELECT city, COUNT(*) FROM people GROUP BY city HAVING COUNT(*) >= 50 AND COUNT(*) < 1000",
    "SELECT COUNT(*) FROM people WHERE age >= 30 AND NOT age > 44 AND since < '2023-03-01' AND rate < 3",
    "SELECT COUNT(*) FROM people WHERE age <= 29 OR age >= 121 OR CAST(age AS BIGINT) >= 65",
    "SELECT COUNT(*) FROM people WHERE grade IN ('A', 'B') OR grade <> 'A'",
    "SELECT MAX(bonus) AS most, COUNT(bonus) AS given FROM people",
    "SELECT SUM(CASE WHEN vip THEN salary ELSE 0 END) AS vips, COUNT(*) AS n FROM people",
    "SELECT seat FROM people ORDER BY seat LIMIT 3",
    "SELECT seat, COUNT(*) FROM people GROUP BY seat",
    f"SELECT COUNT(*) FROM {JOINED} WHERE p.score > c.revenue",
    "SELECT COUNT(*) FROM people WHERE points > (SELECT AVG(points) FROM people)",
    "SELECT AVG(n) AS visits FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) v",
    "SELECT COUNT(*) FROM (SELECT DISTINCT p.ssn FROM copies k JOIN people p ON k.ssn = p.ssn) x",
    "SELECT COUNT(*) FROM customers WHERE ssn IN (SELECT ssn FROM visits WHERE clinic = 'hill')",
    "SELECT c.id FROM customers c JOIN members m ON m.ssn = c.ssn",
    "SELECT room FROM rooms",
    "SELECT revenue FROM customers WHERE weight > 5",
]


@pytest.mark.parametrize("query", ALLOWED)
def test_ordinary_questions_are_allowed(query: str) -> None:
    assert refusal(query) is None


ATTACKS = [
    # what is told, by name of the attack, and the rules of which one refuses
    (f"SELECT c.id, COUNT(*) FROM {JOINED} GROUP BY c.id", {"floor"}),  # a membership table
    (f"SELECT c.weight, SUM(c.weight) FROM {JOINED} GROUP BY c.weight", {"weights"}),
    (f"SELECT AVG(c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT MIN(c.id) FROM {JOINED}", {"weights"}),
    (f"SELECT COUNT(DISTINCT c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT SUM(p.points + c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT SUM(p.points * c.weight) FROM {JOINED}", {"weights", "linear"}),
    (f"SELECT SUM(CASE WHEN p.vip THEN c.weight ELSE 0 END) FROM {JOINED}", {"weights"}),
    (f"SELECT segment FROM (SELECT c.segment, SUM(c.weight) AS w FROM {JOINED} GROUP BY c.segment) x WHERE w > 9",
     {"weights"}),
    ("SELECT SUM(k.n) FROM (SELECT ssn, COUNT(*) AS n FROM copies GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn",
     {"weights"}),
    (f"SELECT SUM(n) FROM (SELECT p.ssn, SUM(c.weight) AS n FROM {JOINED} GROUP BY p.ssn) x", {"weights"}),
    ("SELECT SUM(n) FROM (SELECT p.ssn, COUNT(*) AS n FROM copies k JOIN people p ON k.ssn = p.ssn GROUP BY p.ssn) x",
     {"repeats"}),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT p.ssn, k.copy FROM copies k JOIN people p ON k.ssn = p.ssn) x",
     {"repeats"}),
    ("SELECT AVG(p.salary) FROM copies k JOIN people p ON k.ssn = p.ssn", {"repeats"}),
    ("SELECT SUM(n * n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"linear"}),
    ("SELECT SUM(x) FROM (SELECT points AS x FROM people UNION ALL SELECT -points FROM people WHERE vip) q",
     {"repeats"}),
    ("SELECT city, SUM(x) FROM (SELECT city, 1 AS x FROM people UNION ALL SELECT city, -1 FROM people) q GROUP BY city",
     {"repeats"}),
    ("SELECT MAX(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT COUNT(DISTINCT n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT MEDIAN(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT SUM(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", set()),
    ("SELECT SUM(k.n) FROM (SELECT ssn, SUM(1) AS n FROM copies GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn",
     {"weights"}),
    ("SELECT SUM(k.n) FROM (SELECT ssn, MAX(CASE WHEN copy = 1 THEN 1 WHEN copy = 2 THEN 2 ELSE 4 END) AS n FROM copies"
     " GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT SUM(k.w) FROM (SELECT DISTINCT ssn, CASE WHEN id = 1 THEN 1 ELSE 2 END AS w FROM customers) k"
     " JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT SUM(k.w) FROM (SELECT ssn, MAX(w) AS w FROM (SELECT ssn, 1 AS w FROM copies WHERE copy = 0 UNION ALL"
     " SELECT ssn, 2 FROM copies WHERE copy = 1) u GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT MAX(n) FROM (SELECT ssn, SUM(1) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT MAX(n) FROM (SELECT ssn, SUM(CASE WHEN clinic = 'hill' THEN 1 ELSE 0 END) AS n FROM visits GROUP BY ssn)",
     {"function"}),
    ("SELECT SUM(seat * seat) FROM people WHERE vip", {"linear"}),
    ("SELECT MAX(seat) FROM people WHERE vip", {"function"}),
    ("SELECT SUM(seat) FROM people WHERE vip", {"weights"}),
    ("SELECT AVG(seat) FROM people WHERE vip", {"weights"}),
    ("SELECT SUM(seat) FROM people", set()),
    ("SELECT MAX(seat) FROM people", set()),
    ("SELECT vip, COUNT(*) FROM people GROUP BY vip", set()),
    ("SELECT t, COUNT(*) AS n FROM (SELECT ssn, COUNT(DISTINCT clinic) AS t FROM visits GROUP BY ssn) q GROUP BY t",
     {"function"}),
    ("SELECT COUNT(*) FROM (SELECT ssn, MIN(points) AS t FROM people GROUP BY ssn) q WHERE t > 3", {"function"}),
    ("SELECT COUNT(*) FROM (SELECT ssn, SUM(points) AS t FROM people GROUP BY ssn) q WHERE t > 3", set()),
    ("SELECT MAX(t) FROM (SELECT ssn, SUM(seat) AS t FROM people WHERE vip GROUP BY ssn) q", {"function"}),
    ("SELECT AVG(t) FROM (SELECT c.ssn, COUNT(*) AS t FROM customers c JOIN visits v ON v.ssn = c.ssn GROUP BY c.ssn)",
     set()),
    ("SELECT SUM(points * points) FROM people", {"linear"}),
    ("SELECT SUM(points * CASE WHEN vip THEN 2 ELSE 3 END) FROM people", {"linear"}),
    ("SELECT SUM(t * t) FROM (SELECT ssn, SUM(cost) AS t FROM visits GROUP BY ssn) x", {"linear"}),
    ("SELECT COUNT(*) FROM people WHERE age < 31", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age > 30", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age <= 30", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age + 1 >= 31", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age IN (18)", {"cuts"}),
    ("SELECT SUM(CASE WHEN age >= 44 THEN 1 ELSE 0 END) FROM people", {"cuts"}),
    ("SELECT age >= 44 AS old, COUNT(*) FROM people GROUP BY old", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age > (SELECT MAX(copy) FROM copies)", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE grade >= 'A'", {"constants"}),
    ("SELECT COUNT(*) FROM people WHERE COALESCE(grade, 'C') = 'A'", set()),  # of what is never NULL
    (f"SELECT COUNT(*) FROM {JOINED} WHERE p.points - c.revenue > 0", {"with"}),
    (f"SELECT SUM(CASE WHEN p.points = c.revenue THEN 1 ELSE 0 END) FROM {JOINED}", {"with"}),
    ("SELECT COUNT(*) FROM customers c JOIN people p ON c.id = p.ssn", {"with"}),
    ("SELECT COUNT(*) FROM people WHERE ssn IS NOT NULL", {"filter"}),
    ("SELECT COUNT(*) FROM (SELECT ssn FROM visits GROUP BY ssn HAVING SUM(cost) > 5) x", {"filter"}),
    ("SELECT COUNT(*) FROM people WHERE salary > (SELECT AVG(salary) FROM people)", {"filter"}),
    ("SELECT COUNT(ssn) FROM people", {"function"}),
    ("SELECT COUNT(vip) FROM people", {"function"}),
    ("SELECT city FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) x WHERE n + 0 < 3", {"floor"}),
    ("SELECT city FROM people GROUP BY city HAVING NOT COUNT(*) > 1", {"floor"}),
    ("SELECT city FROM people GROUP BY city HAVING COUNT(DISTINCT ssn) IN (1, 2)", {"floor"}),
    ("SELECT AVG(points) FROM (SELECT points FROM people ORDER BY salary DESC LIMIT 20) x", {"select"}),
    ("SELECT t FROM (SELECT ssn, SUM(cost) AS t FROM visits GROUP BY ssn) x", {"floor"}),
    ("SELECT seat, COUNT(*) FROM people WHERE vip GROUP BY seat", {"floor", "select"}),
    ("SELECT floor FROM rooms", set()),
    ("SELECT COUNT(*) FROM copies k JOIN visits v ON k.ssn = v.ssn", {"floor"}),
    ("SELECT SUM(a.cost) FROM visits a JOIN visits b ON a.ssn = b.ssn", {"floor"}),
    ("SELECT k.copy FROM copies k LEFT JOIN visits v ON k.ssn = v.ssn", {"matches", "floor"}),
    ("SELECT COUNT(*) FROM copies k FULL JOIN visits v ON k.ssn = v.ssn", {"floor", "repeats"}),
    ("SELECT a.copy FROM copies a JOIN copies b ON a.ssn = b.ssn", set()),
    ("SELECT SUM(v.w) FROM people p JOIN (VALUES (1, 1), (2, 2)) v(ssn, w) ON p.ssn = v.ssn", {"weights"}),
    ("SELECT COUNT(*) FROM people UNION ALL SELECT 1", {"weights"}),
    ("SELECT SUM(v.w) FROM customers c JOIN (VALUES (1, 1), (2, 2)) v(ssn, w) ON c.ssn = v.ssn", set()),
    ("SELECT DISTINCT ON (city) points FROM people ORDER BY points", {"select"}),
    ("SELECT city FROM people EXCEPT ALL SELECT segment FROM customers", {"window", "floor"}),
]  # fmt: skip


def _query(each: object) -> str | None:
    """A query names its test. Sets of rules have no order to be named in."""
    return each[:90] if isinstance(each, str) else None


@pytest.mark.parametrize(("query", "rules"), ATTACKS, ids=_query)
def test_attacks_are_refused(query: str, rules: set[str]) -> None:
    found = refusal(query)
    assert ("" if found is None else found.problem.rule) in (rules or {""})


def south_says(**changes: object) -> Table:
    """The table of people under other terms."""
    assert PEOPLE.terms is not None
    return replace(PEOPLE, terms=replace(PEOPLE.terms, **changes))  # type: ignore[arg-type] # names and values by kind


def rule_of(query: str, changed: Table, to: tuple[str, ...] = NORTH) -> str | None:
    found = refusal(query, with_table(changed), to)
    return None if found is None else found.problem.rule


def test_an_offer_ends_after_its_last_day() -> None:
    catalog = with_table(south_says(until=TODAY))
    assert refusal("SELECT COUNT(*) FROM people", catalog, today=TODAY) is None
    found = refusal("SELECT COUNT(*) FROM people", catalog, today=date(2026, 11, 2))
    assert found is not None
    assert found.problem.rule == "until"
    assert found.problem.sentence == "people was offered until 2026-11-01"


def test_listed_questions_are_allowed_whatever_the_rules_are_called_and_no_others() -> None:
    query = "SELECT COUNT(*) FROM people"
    question = question_hash(bind(query, OWNERS), OWNERS, NORTH)
    assert rule_of(query, south_says(allow=frozenset({question}))) is None
    assert rule_of(query, south_says(allow=frozenset({question}), least_group=50)) is None
    assert rule_of("SELECT COUNT(DISTINCT ssn) FROM people", south_says(allow=frozenset({question}))) == "allow"
    assert question_hash(bind(query, OWNERS), OWNERS, ("north", "west")) != question
    assert question_hash(bind("SELECT COUNT(*) AS n FROM people", OWNERS), OWNERS, NORTH) != question
    assert question_hash(bind("SELECT  COUNT(*)\nFROM people", OWNERS), OWNERS, NORTH) == question


def test_all_recipients_have_to_be_listed() -> None:
    assert refusal("SELECT COUNT(*) FROM visits", to=("north", "south")) is None
    found = refusal("SELECT COUNT(*) FROM visits v JOIN people p ON v.ssn = p.ssn", to=("north", "south", "west"))
    assert found is not None
    assert (found.problem.owner, found.problem.rule) == ("south", "recipient")


def test_an_owner_s_rules_do_not_bind_what_the_owner_alone_receives() -> None:
    query = "SELECT email, salary, ssn FROM people WHERE age = 37 ORDER BY salary"
    assert refusal(query, to=("south",)) is None
    assert allowed(query, to=("south",)).guards == ()
    assert refusal("SELECT salary FROM people", to=("south", "north")) is not None


def test_what_an_owner_lists_may_be_added_up_or_repeat_its_rows() -> None:
    weighted = f"SELECT SUM(c.weight) FROM {JOINED}"
    repeated = "SELECT COUNT(*) FROM copies k JOIN people p ON k.ssn = p.ssn"
    assert rule_of(weighted, south_says(weights=frozenset({"customers.weight"}))) is None
    assert rule_of(weighted, south_says(weights=frozenset({"customers.*"}))) is None
    assert rule_of(weighted, south_says(weights=frozenset({"copies.*"}))) == "weights"
    assert rule_of(repeated, south_says(weights=frozenset({"copies.*"}))) is None


def test_a_table_without_a_bound_on_rows_or_without_open_columns_is_closed() -> None:
    assert rule_of("SELECT COUNT(*) FROM people", replace(PEOPLE, rows=None)) == "sizes"
    shut = replace(PEOPLE, columns=tuple(replace(each, terms=terms()) for each in PEOPLE.columns))
    assert rule_of("SELECT COUNT(*) FROM people", shut) == "closed"
    assert rule_of("SELECT city, COUNT(*) FROM people GROUP BY city", south_says(least_group=None)) == "floor"


def test_repeated_rows_need_a_key_where_rows_are_the_unit() -> None:
    joined = "SELECT COUNT(*) FROM answers a JOIN customers c ON a.k = c.ssn"
    assert allowed(joined).guards[0].floors[0].unit == ()
    repeated = "SELECT COUNT(*) FROM (SELECT ssn FROM people) p JOIN visits v ON p.ssn = v.ssn"
    assert [each.unit for each in allowed(repeated, with_table(south_says(unit=()))).guards[0].floors] == [
        ("seat",), ("ssn",),
    ]  # fmt: skip
    keyless = replace(south_says(unit=()), unique=())
    query = (
        "SELECT COUNT(*) FROM people p JOIN (SELECT ssn, clinic FROM visits GROUP BY ssn, clinic) v ON p.ssn = v.ssn"
    )
    with pytest.raises(QueryError):
        allowed(query, with_table(keyless))


def test_nothing_is_kept_of_a_table_with_rules() -> None:
    with pytest.raises(PolicyRefusal) as caught:
        compile_query("CREATE TABLE k AS SELECT city FROM people", OWNERS, ())
    assert caught.value.problem.rule == "kept"
    assert "keeping is not allowed yet" in str(caught.value)
    assert compile_query("CREATE TABLE k AS SELECT id FROM customers", OWNERS, ()).steps


# --- guards


def test_a_guard_counts_units_of_each_owner_at_the_highest_floor() -> None:
    joined = "people p JOIN visits v ON p.ssn = v.ssn"
    query = f"SELECT p.city, AVG(p.salary) AS pay, COUNT(*) AS n FROM {joined} GROUP BY p.city"
    (guard,) = allowed(query).guards
    assert [(each.scan.table, each.unit, each.least) for each in guard.floors] == [
        ("people", ("ssn",), 10), ("visits", ("ssn",), 15),
    ]  # fmt: skip
    assert guard.small == "fold"
    (refined,) = [each for each in guard.refined if each.floors]
    assert refined.conditions == ()
    assert [(each.scan.table, each.least) for each in refined.floors] == [("people", 20)]


def test_contributors_are_those_that_conditions_and_null_leave() -> None:
    query = (
        "SELECT city, SUM(CASE WHEN vip THEN points END) AS s, COUNT(bonus) AS b, COUNT(*) FROM people GROUP BY city"
    )
    found = allowed(query)
    (guard,) = found.guards
    assert [len(each.conditions) for each in guard.refined] == [2, 1]
    names = {column for column, _ in guard.aggregate.input.outputs}  # type: ignore[union-attr] # a projection
    assert any(name.startswith("condition") for name in names)


def test_conditions_on_a_recipient_s_own_rows_reach_the_guard() -> None:
    query = (
        "SELECT SUM(k.w) FROM (SELECT ssn, CASE WHEN id = 1 THEN 1 WHEN id = 2 THEN 2 ELSE 4 END AS w FROM customers)"
    )
    (guard,) = allowed(f"{query} k JOIN people p ON k.ssn = p.ssn").guards
    assert [len(each.conditions) for each in guard.refined] == [2]


def test_conditions_of_a_unit_s_rows_are_carried_to_the_guard() -> None:
    query = "SELECT SUM(t) AS s FROM (SELECT ssn, SUM(CASE WHEN clinic = 'hill' THEN cost ELSE 0 END) AS t FROM visits"
    (guard,) = allowed(f"{query} GROUP BY ssn) v").guards
    assert [len(each.conditions) for each in guard.refined] == [2]


def test_what_stands_above_groups_has_no_row_of_small_ones() -> None:
    plain = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
    assert [each.small for each in allowed(f"{plain} ORDER BY n").guards] == ["fold"]
    for query in (f"{plain} HAVING COUNT(*) > 20", f"{plain} ORDER BY n LIMIT 2", f"SELECT COUNT(*) FROM ({plain}) x"):
        assert {each.small for each in allowed(query).guards} == {"drop"}


def test_no_guard_where_rows_themselves_may_be_seen() -> None:
    assert allowed("SELECT seat, COUNT(*) FROM people GROUP BY seat").guards == ()
    assert allowed("SELECT COUNT(*) FROM rooms").guards == ()


def test_guards_name_aggregates_and_scans_of_the_query() -> None:
    query = "SELECT COUNT(*) FROM people p JOIN people q ON p.ssn = q.ssn WHERE q.vip"
    found = allowed(query)
    (guard,) = found.guards
    assert guard.aggregate == found.state.relation.input  # type: ignore[union-attr] # a projection over it
    first, second = (each.scan for each in guard.floors)
    assert first != second


# --- P7, P8, P9

QUESTIONS = [*ALLOWED, *(query for query, _ in ATTACKS), *(row[0] for row in REFUSED if row[1] == "north")]


def tightened() -> list[Table]:
    """People and visits under terms that allow less, an attribute at a time."""
    found = [
        south_says(recipients=frozenset[str]()),
        south_says(least_group=11),
        south_says(least_group=400),
        south_says(until=date(2020, 1, 1)),
        south_says(allow=frozenset[str]()),
        south_says(weights=frozenset[str]()),
        south_says(complement=True),
        south_says(small="drop"),
    ]
    for place, column in enumerate(PEOPLE.columns):
        ways = column.terms.ways
        tighter = [replace(column.terms, ways=ways - {way}) for way in ways]
        tighter += [replace(column.terms, functions=column.terms.functions - {each}) for each in column.terms.functions]
        tighter += [replace(column.terms, partners=frozenset({"x.y"}))] if "join" in ways else []
        tighter += [replace(column.terms, cuts=(30,))] if column.terms.cuts else []
        tighter += [replace(column.terms, constants=frozenset({"A"}))] if column.terms.constants else []
        tighter += [replace(column.terms, cuts=(50,))] if column.terms.cuts is None and "filter" in ways else []
        tighter += [replace(column.terms, to=frozenset[str]())] if "select" in ways else []
        for each in tighter:
            columns = [*PEOPLE.columns]
            columns[place] = replace(column, terms=each)
            found.append(replace(PEOPLE, columns=tuple(columns)))
    return found


def test_tighter_terms_never_allow_more() -> None:
    def passes(query: str, table: Table | None = None) -> bool:
        catalog = OWNERS if table is None else with_table(table)
        try:
            check(bind(query, catalog), catalog, NORTH, TODAY)
        except PolicyRefusal:
            return False
        return True

    refused = [query for query in QUESTIONS if not passes(query)]
    assert len(refused) > 40
    assert [(query, table) for table in tightened() for query in refused if passes(query, table)] == []
    nobody = tightened()[0]
    assert sum(not passes(query, nobody) for query in ALLOWED) > 5, "tightening matters"


DISGUISES = {
    "SELECT salary FROM people": [
        "SELECT salary AS seat FROM people",
        "SELECT salary + 0 AS s FROM people",
        "SELECT 1 * salary AS s FROM people",
        "SELECT CAST(salary AS BIGINT) AS s FROM people",
        "WITH t AS (SELECT salary AS a FROM people) SELECT a FROM t",
        "SELECT x.a FROM (SELECT salary AS a FROM people) x",
        "SELECT CASE WHEN TRUE THEN salary ELSE 0 END AS s FROM people",
        "SELECT salary FROM people UNION ALL SELECT x FROM empty",
        "SELECT x FROM empty UNION ALL SELECT salary FROM people",
    ],
    "SELECT MAX(salary) FROM people": [
        "SELECT MAX(salary + 0) AS m FROM people",
        "SELECT MAX(CAST(salary AS BIGINT)) AS m FROM people",
        "SELECT MAX(s) FROM (SELECT salary * 1 AS s FROM people) x",
        "WITH t AS (SELECT salary AS points FROM people) SELECT MAX(points) FROM t",
        "SELECT MAX(CASE WHEN TRUE THEN salary END) AS m FROM people",
        "SELECT MAX(s) FROM (SELECT salary AS s FROM people UNION ALL SELECT x FROM empty) u",
        "SELECT MAX(salary) FROM people WHERE TRUE",
    ],
    f"SELECT SUM(c.weight) FROM {JOINED}": [
        "SELECT SUM(c.weight) FROM people p JOIN customers c ON p.ssn = c.ssn",
        "SELECT SUM(c.weight) FROM customers c, people p WHERE p.ssn = c.ssn",
        "SELECT SUM(weight) FROM customers WHERE ssn IN (SELECT ssn FROM people)",
        f"SELECT SUM(w) FROM (SELECT c.weight + 0 AS w FROM {JOINED}) x",
        f"SELECT SUM(CAST(c.weight AS BIGINT)) FROM {JOINED}",
    ],
    f"SELECT c.segment, AVG(p.salary) FROM {JOINED} GROUP BY c.segment": [
        "SELECT c.segment, AVG(p.salary) FROM people p JOIN customers c ON p.ssn = c.ssn GROUP BY c.segment",
        f"SELECT s, AVG(t) FROM (SELECT c.segment AS s, p.salary + 0 AS t FROM {JOINED}) x GROUP BY s",
        f"WITH x AS (SELECT c.segment, p.salary AS a FROM {JOINED}) SELECT segment, AVG(a) FROM x GROUP BY 1",
        f"SELECT c.segment, AVG(CASE WHEN TRUE THEN p.salary END) FROM {JOINED} GROUP BY c.segment",
    ],
    "SELECT COUNT(*) FROM people WHERE vip": [
        "SELECT COUNT(*) FROM people WHERE vip = TRUE",
        "SELECT COUNT(*) FROM people WHERE NOT NOT vip",
        "SELECT COUNT(*) FROM (SELECT vip AS v FROM people) x WHERE v",
        "SELECT COUNT(*) FROM people WHERE CASE WHEN vip THEN TRUE ELSE FALSE END",
    ],
}


@pytest.mark.parametrize("query", DISGUISES)
def test_disguises_have_the_same_verdict_and_the_same_sources(query: str) -> None:
    plain = seen(query)
    assert {each: seen(each) for each in DISGUISES[query]} == dict.fromkeys(DISGUISES[query], plain)


def seen(query: str) -> tuple[object, ...]:
    """A query's rule and column, or what it discloses."""
    try:
        found = disclosed(allowed(query).state, NORTH)
    except PolicyRefusal as refused:
        return refused.problem.rule, refused.problem.table, refused.problem.column
    return tuple(sorted({(each.table, each.column, each.way, each.function or "") for each in found}))


def test_the_check_has_no_way_to_data() -> None:
    assert [*inspect.signature(check).parameters] == ["relation", "catalog", "recipients", "today"]
    assert all(each.path is None for each in OWNERS.tables)
    room = Path(inspect.getfile(check)).parent
    lines = [line for path in room.glob("*.py") for line in path.read_text().splitlines()]
    roots = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert roots <= {
        "__future__", "collections", "dataclasses", "datetime", "decimal", "fractions", "functools", "hashlib",
        "itertools", "json", "math", "tacit", "typing",
    }  # fmt: skip


# --- errors and statements


def test_a_refusal_is_a_policy_error_with_exit_status_three() -> None:
    with pytest.raises(PolicyRefusal) as caught:
        compile_query("SELECT seat, email FROM people", OWNERS, NORTH, today=TODAY)
    assert caught.value.changed_query == "SELECT seat FROM people"
    found = diagnose(caught.value)
    assert isinstance(found, PolicyError)
    assert found.exit_status == 3
    assert str(found) == "refused by south: closed: people.email is closed (line 1, column 14); leave out email."
    assert found.position == (1, 14)


def test_a_refusal_has_all_its_parts_for_programs() -> None:
    found = refusal("SELECT seat, email FROM people")
    assert found is not None
    assert found.json() == {
        "rule": "closed", "owner": "south", "table": "people", "column": "email", "way": "value", "recipient": "north",
        "line": 1, "column_in_text": 14, "sentence": str(found), "change": "leave out email",
        "changed_query": "SELECT seat FROM people", "changed_recipients": ["north"], "static": True,
    }  # fmt: skip


def test_semicolons_divide_statements_and_nothing_else_does() -> None:
    assert statements("SELECT ';' FROM t; -- a ; b\nSELECT 2;; ") == ["SELECT ';' FROM t", " -- a ; b\nSELECT 2"]


def test_disclosures_name_the_rule_that_allows_each() -> None:
    found = disclosed(allowed("SELECT city, AVG(salary) AS pay FROM people WHERE vip GROUP BY city").state, NORTH)
    assert [each.sentence for each in found] == [
        "people.city may be a key of groups where 10 or more units stand behind it (use group)",
        "people.salary may be aggregated where 20 or more units stand behind it (use aggregate, functions avg)",
        "people.vip may be tested in conditions where 10 or more units stand behind it (use filter)",
        "people.city may be a key of groups where 10 or more units stand behind it (use group)",
    ]


def test_tables_without_terms_are_as_they_were() -> None:
    free = replace(OWNERS, tables=tuple(replace(each, terms=None) for each in OWNERS.tables))
    relation = bind("SELECT email, MAX(salary) FROM people GROUP BY email", free)
    found = check(relation, free, NORTH, TODAY)
    assert found.relation is relation
    assert found.guards == ()

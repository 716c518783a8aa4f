"""Questions that told of single people once, each with what it told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.audit.check import judge, question
from tacit.audit.history import History
from tacit.audit.refusals import Refused
from tacit.plan.facts.catalog import KeptColumn, KeptTable
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.sources import Source, Use
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query

from . import corpus, tables
from .product import Product
from .reference.offers import texts_of

NOW = 1_000_000.0
Ask = Callable[..., str]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


@pytest.fixture
def ask(product: Product, tmp_path: Path) -> Ask:
    """Who asks one question after another: the rule that refuses it, "differences" of an owner's own, or ""."""
    return asker(product)


def asker(product: Product) -> Ask:
    federation = product.federation_of(tables.federation_rows())
    known: dict[str, History] = {}

    def answered(sql: str, to: tuple[str, ...] = ("north",)) -> str:
        if rule := product.verdict(sql, to).rule:
            return rule
        query = bind(sql, federation.catalog)
        for owner in federation.parties:
            try:
                asked = question(query, to, federation.catalog, owner, federation.privates[owner].forms)
                if asked is not None:
                    known[owner] = judge(known.get(owner, History()), asked, NOW)
            except Refused:
                return "differences"
        return ""

    return answered


OWN = "(SELECT COUNT(*) AS n FROM customers) z"
"""One row, of which south knows nothing, and north that n is never negative."""


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(salary) AS s FROM people, {OWN} WHERE seat <= 100 + {{}} OR z.n < 0",
        f"SELECT SUM(CASE WHEN seat <= 100 + {{}} OR z.n < 0 THEN salary ELSE 0 END) AS s FROM people, {OWN}",
        f"SELECT seat <= 100 + {{}} OR z.n < 0 AS g, SUM(salary) AS s FROM people, {OWN} GROUP BY g",
        "SELECT SUM(salary) AS s FROM people WHERE points <= (SELECT COUNT(*) FROM customers) - 400 + {}",
        "SELECT SUM(salary) AS s FROM customers c JOIN people p ON c.ssn = p.ssn WHERE seat <= 100 + {} OR c.id < 0",
    ],
)
def test_a_condition_mixed_with_what_the_owner_does_not_know_is_no_way_past_its_check(ask: Ask, sql: str) -> None:
    """Two such questions gave the salary of the person in seat 101."""
    assert not {"differences", "filter"}.isdisjoint((ask(sql.format(0)), ask(sql.format(1))))


@pytest.mark.parametrize(
    "value",
    [
        "SUM(CASE WHEN seat <= {} THEN salary ELSE 0 END)",
        "SUM(CASE WHEN seat <= {} THEN points END)",
        "COUNT(CASE WHEN seat <= {} THEN salary END)",
        "MAX(CASE WHEN seat <= {} THEN bonus ELSE 0 END)",
    ],
)
def test_a_condition_within_a_sum_for_each_unit_makes_another_set(ask: Ask, value: str) -> None:
    """Two such questions gave the salary of the person in seat 101: the owner took each for the sum over all people."""
    sql = f"SELECT SUM(t) AS s FROM (SELECT ssn, {value} AS t FROM people GROUP BY ssn) x"
    assert (ask(sql.format(100)), ask(sql.format(101))) == ("", "differences")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT x.illness, x.s FROM ({{}}) x, {OWN}",
        "SELECT illness, s FROM ({}) x UNION ALL SELECT segment, COUNT(*) AS s FROM customers GROUP BY segment",
    ],
)
def test_groups_that_the_answer_shows_without_a_rest_row_are_the_owner_s_sets(ask: Ask, sql: str) -> None:
    """The total less the two groups shown was the sum of three people: the owner's check took one group for folded."""
    groups = "SELECT illness, SUM(points) AS s FROM people GROUP BY illness"
    assert (ask(sql.format(groups)), ask("SELECT SUM(points) AS s FROM people")) == ("", "differences")


def in_text(base: str, numbers: range) -> str:
    """A table that the question's text makes: a key and a weight in each row."""
    return " UNION ALL ".join(f"SELECT {100 + at} AS ssn, {2**at} AS w FROM {base}" for at in numbers)


@pytest.mark.parametrize("base", ["rooms WHERE room = 1", "(SELECT COUNT(*) AS n FROM people) x"])
@pytest.mark.parametrize("shown", ["SUM(u.w)", "COUNT(*)", "MAX(u.w)"])
def test_a_table_written_into_the_question_is_no_membership_table(ask: Ask, base: str, shown: str) -> None:
    """SUM(u.w) had a bit for each person of a list: who of them is in people, and a VIP. Neither did ``with`` hold, nor
    that no condition on ssn is allowed."""
    sql = f"SELECT {shown} AS s FROM ({in_text(base, range(24))}) u JOIN people p ON u.ssn = p.ssn WHERE p.vip"
    assert ask(sql) in ("filter", "with", "weights", "repeats")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(seat) AS s FROM people WHERE vip AND seat <= 30",
        "SELECT AVG(seat) AS s FROM people WHERE vip AND seat <= 30",
        "SELECT SUM(r.floor) AS s FROM rooms r JOIN people p ON p.seat = r.room WHERE p.vip",
        "SELECT SUM(CASE WHEN vip THEN seat ELSE 0 END) AS s FROM people WHERE seat <= 30",
    ],
)
def test_values_that_a_recipient_sees_row_by_row_are_weights_as_its_own_are(ask: Ask, sql: str) -> None:
    """Who knows all seats, such as 1, 2, 4, 8 and so on, reads from their sum who is a VIP."""
    assert ask(sql) in ("weights", "function")


@pytest.mark.parametrize("value", ["COUNT({})", "AVG({}) + 0", "MAX({})"])
def test_a_zero_counts_where_it_is_not_summed(ask: Ask, value: str) -> None:
    """Two such questions told whether the person in seat 300 is a VIP: the owner took the zeros for no rows."""
    sql = f"SELECT {value.format('CASE WHEN seat <= 200 THEN bonus ELSE 0 END')} AS n FROM people WHERE vip"
    assert (ask(sql), ask(f"{sql} AND seat <> 300")) == ("", "differences")


def test_own_conditions_count_beside_conditions_on_others_columns(ask: Ask) -> None:
    """As above for a person in seat 101, where c.id > 0 always holds."""
    sql = (
        "SELECT SUM(CASE WHEN p.seat <= {} AND c.id > 0 THEN p.salary ELSE 0 END) AS s "
        "FROM customers c JOIN people p ON c.ssn = p.ssn"
    )
    assert (ask(sql.format(150)), ask(sql.format(151))) == ("", "differences")


@pytest.mark.parametrize("uses", [None, (Use(Source("north", "labels", "bit")), Use(Source("north", "labels", "ssn")))])
@pytest.mark.parametrize("join", ["mine m JOIN people p", "people p JOIN mine m"])
def test_what_nodes_keep_of_own_tables_are_weights_as_these_are(
    product: Product, join: str, uses: tuple[Use, ...] | None
) -> None:
    """CREATE TABLE mine AS SELECT * FROM labels made SUM(m.bit) a bit for each VIP of a list."""
    catalog = product.federation.catalog
    labels = next(each for each in catalog.tables if each.name == "labels")
    kind = Kind("bits", 63, signed=False, nullable=False)
    columns = tuple(KeptColumn(each.field, kind, frozenset(), uses) for each in labels.columns)
    unique = (frozenset({"ssn"}),)
    north = ("north",)
    kept = KeptTable(
        "mine", "0" * 32, columns, 64, True, False, unique, north, ("labels",), "00", "SELECT ...", told=False
    )
    with pytest.raises(PolicyRefusal) as refused:
        sql = f"SELECT SUM(m.bit) AS s FROM {join} ON m.ssn = p.ssn WHERE p.vip"
        compile_query(sql, replace(catalog, kept=(kept,)), ("north",))
    assert refused.value.problem.rule in ("weights", "with")


@pytest.mark.parametrize("base", ["seat <= 100", "z.n < 0 OR age < 37 + 0 * seat"])
def test_words_alone_are_no_way_past_the_check_either(tmp_path: Path, base: str) -> None:
    """With ``text`` such a condition was taken for none, so that all such questions were answered."""
    offers = {name: text.replace("least_group = 10", 'least_group = 10\ndifferences = "text"', 1)
              for name, text in texts_of(corpus.FEDERATION).items()}  # fmt: skip
    ask = asker(Product(offers, tmp_path))
    rule = ask(f"SELECT SUM(salary) AS s FROM people, {OWN} WHERE {base} OR z.n < 0")
    assert rule in ("differences", "cuts", "floor")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CASE WHEN seat = {} AND vip THEN 1 ELSE 0 END) AS v FROM people",
        "SELECT COUNT(CASE WHEN seat = {} AND vip THEN 1 END) AS v FROM people",
        "SELECT AVG(n) AS v FROM (SELECT ssn, SUM(CASE WHEN seat = {} AND vip THEN 1 ELSE 0 END) AS n "
        "FROM people GROUP BY ssn) x",
        "SELECT city, SUM(CASE WHEN seat = {} AND vip THEN salary ELSE 0 END) AS v FROM people GROUP BY city",
        "SELECT SUM(CASE WHEN l.label = {} AND p.vip THEN 1 ELSE 0 END) AS v FROM labels l "
        "JOIN people p ON l.ssn = p.ssn",
        "SELECT COUNT(*) AS v FROM (SELECT ssn FROM people WHERE seat = {} AND vip "
        "UNION ALL SELECT ssn FROM customers) x",
    ],
)
def test_nobody_is_told_from_few(product: Product, sql: str) -> None:
    """A UNION ALL of such selects reads in one answer who of a list is a VIP: a bit for each row, and no question more.

    The floor of a total hides 0 as well as 1 to k - 1. That of a cell, and of one input of a UNION, does not.
    """
    data = dict(tables.federation_rows())
    answers = []
    for vip in (False, True):
        data["people"] = [{**each, "vip": vip} if each["seat"] in (7, 107) else each for each in data["people"]]
        answers.append([product.answer(sql.format(7), ("north",), data).seen()])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(NULLIF(seat = 7 AND vip, TRUE)) AS v FROM people",
        "SELECT SUM(CASE WHEN seat <= 200 THEN 1 ELSE 0 END) AS a, "
        "SUM(CASE WHEN seat <= 200 AND NOT (seat = 7 AND vip) THEN 1 ELSE 0 END) AS b FROM people",
    ],
)
def test_a_seen_column_and_a_hidden_one_are_no_single_condition(product: Product, sql: str) -> None:
    """For all seats but one the condition would be known."""
    assert product.verdict(sql, ("north",)).rule == "filter"

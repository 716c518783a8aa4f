"""Where padding is dropped, by which bounds, and whose consent it takes to count rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest

from tacit.plan.account.explain import explain_text
from tacit.plan.account.learnt import learnt
from tacit.plan.account.serialise import plan_hash
from tacit.plan.algebra.types import Integer, Varchar
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.fields import row_bound
from tacit.plan.facts.terms import ColumnTerms, Terms, Way
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.disclosure import CountedRows, Disclosure
from tacit.plan.physical.operators import GroupBy, Resize
from tacit.plan.physical.placed import PlacedPlan, SecureStep
from tacit.plan.place import KeptAs, place_kept
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query

from .catalogs import Columns, catalog, kept_table, table
from .permits import assert_counts_are_consented, assert_permits_are_those_needed

PARTIES = ("a", "b", "c")
EVERYBODY = frozenset(PARTIES)
ID = Integer(0, 1_000_000, "INTEGER")
DAY = Integer(0, 999, "INTEGER")
CUSTOMERS: Columns = [("id", ID, False), ("segment", Varchar(None, tuple("abcdefghij")), False)]
ORDERS: Columns = [("nr", ID, False), ("who", ID, False), ("day", DAY, False)]
SIZED = ("sizes",)

COUNTED = (
    "SELECT o.day, COUNT(*) AS n, SUM(o.nr) AS s FROM customers c JOIN orders o ON c.id = o.who "
    "WHERE c.segment = 'a' GROUP BY o.day, o.who"
)
"""Of ten segments one is left, and nobody has to know how many customers and orders that are."""


def of(customers: Table, orders: Table) -> Catalog:
    return catalog(PARTIES, customers, orders)


def customers(consents: tuple[str, ...] = SIZED, rows: int = 20_000) -> Table:
    return table("customers", "a", CUSTOMERS, [["id"]], rows, consents=list(consents))


def orders(consents: tuple[str, ...] = SIZED, rows: int = 200_000, unique: str = "nr") -> Table:
    return table("orders", "b", ORDERS, [[unique]], rows, consents=list(consents))


def planned(catalog: Catalog, query: str = COUNTED, to: tuple[str, ...] = ("c",)) -> PlacedPlan:
    plan = compile_query(query, catalog, to)
    assert_permits_are_those_needed(plan)
    assert_counts_are_consented(plan)
    return plan


def resizes(plan: PlacedPlan) -> list[Resize]:
    return [step.operator for step in plan.steps if isinstance(step, SecureStep) and isinstance(step.operator, Resize)]


def counts(plan: PlacedPlan) -> list[Disclosure]:
    """The numbers of valid rows that are opened. Each is of a step that opens one."""
    found = [each for each in plan.disclosures if isinstance(each.shown, CountedRows)]
    assert [each.site.step for each in found] == [each.id for each in resizes(plan) if each.rows is None]
    return found


def seconds(plan: PlacedPlan) -> float:
    return total(predict(plan)).seconds


def test_rows_are_counted_where_all_owners_consent() -> None:
    plan = planned(of(customers(), orders()))
    (count,) = counts(plan)
    assert count.recipients == PARTIES and count.kind == "size"
    assert seconds(plan) < 0.99 * seconds(planned(of(customers(()), orders(()))))
    said = next(each for each in learnt(plan) if "the exact number" in each)
    assert "customers.segment of a (a condition)" in said
    assert "consenting to show how many rows a step on secret shares leaves" in said


@pytest.mark.parametrize(("one", "other"), [((), SIZED), (SIZED, ()), (("filter", "groups", "matches"), SIZED)])
def test_rows_are_not_counted_without_the_consent_of_all(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert not resizes(planned(of(customers(one), orders(other))))


SELECT = ColumnTerms(frozenset({"select"}))
TERMS = Terms(EVERYBODY, matches=EVERYBODY)


def ruled(terms: Terms, columns: Mapping[str, ColumnTerms] | None = None) -> Catalog:
    """Customers with terms, all columns open to select but those that say otherwise."""
    found = columns or {}
    listed = tuple(replace(each, terms=found.get(each.field.name, SELECT)) for each in customers().columns)
    return of(replace(customers(), columns=listed, terms=terms), orders())


@pytest.mark.parametrize(
    ("terms", "columns", "counted"),
    [
        (TERMS, {}, True),
        (replace(TERMS, matches=frozenset({"a", "b"})), {}, False),
        (replace(TERMS, recipients=frozenset({"a", "c"})), {}, False),
        (TERMS, {"segment": replace(SELECT, to=frozenset({"c"}))}, False),
        (TERMS, {"id": replace(SELECT, to=frozenset({"c"}))}, False),
    ],
    ids=["all may", "b and c may not know matches", "b is no recipient", "b does not select", "b sees no keys"],
)
def test_of_tables_with_terms_all_nodes_may_see_what_decides_rows(
    terms: Terms, columns: Mapping[str, ColumnTerms], counted: bool
) -> None:
    assert bool(counts(planned(ruled(terms, columns)))) == counted


DISGUISES = [
    "customers c JOIN orders o ON c.id = o.who WHERE c.segment = 'a'",
    "orders o JOIN customers c ON c.id = o.who WHERE 'a' = c.segment",
    "(SELECT id AS k FROM customers WHERE segment = 'a') c JOIN orders o ON c.k = o.who",
    "(SELECT id, segment = 'a' AS chosen FROM customers) c JOIN orders o ON c.id = o.who WHERE c.chosen",
    "(SELECT id, CASE WHEN segment = 'a' THEN 1 ELSE 0 END AS x FROM customers) c JOIN orders o ON c.id = o.who "
    "WHERE c.x = 1",
    "orders o WHERE o.who IN (SELECT id FROM customers WHERE segment = 'a')",
    "orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.id = o.who AND c.segment = 'a')",
]


@pytest.mark.parametrize("rows", DISGUISES)
def test_disguises_of_what_decides_rows_change_nothing(rows: str) -> None:
    query = f"SELECT o.day, o.who, COUNT(*) AS n, SUM(o.nr) AS s FROM {rows} GROUP BY o.day, o.who"
    assert counts(planned(ruled(TERMS), query)), "all may see what decides it"
    hidden = {"segment": replace(SELECT, to=frozenset({"c"}))}
    assert not counts(planned(ruled(TERMS, hidden), query))
    assert not counts(planned(of(customers(()), orders()), query))


def tightened() -> list[Catalog]:
    """Terms that allow less than those under which rows are counted, an attribute at a time."""
    tables = [replace(TERMS, recipients=EVERYBODY - {each}) for each in "bc"]
    tables += [replace(TERMS, matches=EVERYBODY - {each}) for each in "bc"]
    tables += [replace(TERMS, least_group=1)]
    columns = [{name: replace(SELECT, to=EVERYBODY - {each})} for name in ("id", "segment") for each in "bc"]
    return [*map(ruled, tables), *(ruled(TERMS, each) for each in columns)]


def test_tighter_terms_never_show_a_number_more() -> None:
    allowed = 0
    for each in tightened():
        try:
            plan = planned(each)
        except PolicyRefusal:
            continue
        allowed += 1
        assert not counts(plan)
    assert allowed >= 4, "c may still ask"


def test_a_table_with_a_floor_is_never_counted() -> None:
    ways: frozenset[Way] = frozenset({"join", "filter", "group", "aggregate", "select"})
    every = dict.fromkeys(("id", "segment"), ColumnTerms(ways, frozenset({"count"})))
    floor = replace(TERMS, least_group=2, differences="off")
    assert not counts(planned(ruled(floor, every)))
    of_column = {"segment": replace(SELECT, least_group=2)}
    assert not counts(planned(ruled(TERMS, of_column)))


@pytest.mark.parametrize(
    ("terms", "counted"),
    [
        (replace(TERMS, differences="off"), True),
        (replace(TERMS, differences="sets"), False),
        (replace(TERMS, differences="off", until=date(2020, 1, 1)), False),
        (replace(TERMS, differences="off", allow=frozenset({"q:" + "0" * 64})), False),
    ],
    ids=["any time", "questions that are counted", "until a day that is past", "other questions"],
)
def test_who_asks_for_itself_shows_no_number_that_its_offer_no_longer_shows(terms: Terms, counted: bool) -> None:
    """Its rules do not bind what it alone receives. But the other nodes would learn the number."""
    assert bool(counts(planned(ruled(terms), to=("a",)))) == counted


def test_a_recipient_that_is_no_node_may_know_the_number() -> None:
    """It learns the number from the rows that it gets."""
    query = COUNTED.replace("COUNT(*) AS n, SUM(o.nr) AS s", "COUNT(*) AS n")
    for terms, counted in ((TERMS, True), (replace(TERMS, matches=frozenset("ab")), False)):
        two = replace(ruled(terms), engine="two", nodes=("a", "b"))
        assert bool(counts(planned(two, query))) == counted


def test_an_aggregate_of_no_rows_is_a_row() -> None:
    """As two of them are groups of others."""
    none = (
        "(SELECT COUNT(*) AS n FROM (SELECT c.id FROM customers c JOIN orders p ON c.id = p.{} ORDER BY 1 LIMIT 0) z)"
    )
    both = f"SELECT n FROM ({none.format('who')} UNION ALL {none.format('nr')}) y GROUP BY n"
    query = f"SELECT o.day, COUNT(*) AS n FROM orders o JOIN ({both}) s ON o.day = s.n GROUP BY o.day, o.who"
    plan = planned(of(customers((), 2_000), orders((), 20_000)), query)
    assert all(each.rows is None or each.rows > 0 for each in resizes(plan))
    groups = [step.operator for step in plan.steps if isinstance(step, SecureStep)]
    assert all(each.groups is None or each.groups > 0 for each in groups if isinstance(each, GroupBy))
    assert row_bound(bind(none.format("who")[1:-1], of(customers(), orders()))) == 1


def test_kept_tables_are_neither_counted_nor_made_of_what_is() -> None:
    kept = replace(kept_table("kept", [("id", ID, False)], 100_000), owners=("a",), unique=(frozenset({"id"}),))
    query = COUNTED.replace("customers c", "kept c").replace("WHERE c.segment = 'a' ", "WHERE c.id < 9 ")
    assert not counts(planned(replace(of(customers(), orders()), kept=(kept,)), query))
    source = of(customers(), orders())
    plan = place_kept(bind(COUNTED, source), source, KeptAs("new", False, False), COUNTED)
    assert not counts(plan)


def test_no_more_rows_than_the_smaller_side_of_unique_keys() -> None:
    query = "SELECT MAX(o.day) OVER (PARTITION BY c.segment) AS m FROM customers c JOIN orders o ON c.id = o.who"
    plan = planned(of(customers((), 1_000), orders((), 300_000, "who")), query)
    assert not counts(plan)
    assert [each.rows for each in resizes(plan)] == [1_000]
    text = " ".join(explain_text(plan).split())
    assert "Padding that is dropped" in text and "at most 1,000 are valid: predicted" in text


def test_padding_stays_where_it_costs_less_than_to_drop_it() -> None:
    query = "SELECT COUNT(*) AS n, SUM(o.nr) AS s FROM customers c JOIN orders o ON c.id = o.who"
    assert not resizes(planned(of(customers(SIZED, 1_000), orders(SIZED, 300_000, "who")), query))


def test_a_guess_of_no_rows_is_part_of_the_hash() -> None:
    """Nothing and 0 differ."""
    plan = planned(of(customers(), orders()))
    steps = [step for step in plan.steps if isinstance(step, SecureStep) and step.expected is not None]
    assert steps
    hashes = set()
    for expected in (0, None):
        changed = [replace(each, expected=expected) if each in steps else each for each in plan.steps]
        hashes.add(plan_hash(replace(plan, steps=tuple(changed))))
    assert len(hashes) == 2

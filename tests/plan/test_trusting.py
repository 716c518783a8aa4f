"""Which party orders the rows of joins and groups, and where none may."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tacit.plan.account.explain import explain_text
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import FUNCTIONS, ColumnTerms, Terms, selecting
from tacit.plan.physical.operators import GroupBy, GroupJoin, Join
from tacit.plan.physical.placed import PlacedPlan, SecureStep
from tacit.sql import compile_query

from .catalogs import TRUSTED, Columns, catalog, kept_table, table
from .permits import assert_permits_are_those_needed

KEY = Integer(0, 1_000_000, "INTEGER")
PEOPLE: Columns = [("id", KEY, False), ("v", Integer(0, 9, "INTEGER"), False)]
JOIN = "SELECT SUM(r.v) AS s FROM l JOIN r ON l.id = r.id"
GROUPS = "SELECT id, SUM(v) AS s FROM (SELECT id, v FROM l UNION ALL SELECT id, v FROM r) u GROUP BY id"


def of_readers(left: Iterable[str], right: Iterable[str], owners: tuple[str, str] = ("a", "b")) -> Catalog:
    """Two tables whose ids these parties read."""
    return catalog(
        ("c", "b", "a"),
        table("l", owners[0], PEOPLE, [["id"]], 50_000, readers={"id": frozenset(left)}),
        table("r", owners[1], PEOPLE, rows=50_000, readers={"id": frozenset(right)}),
    )


def trusted(plan: PlacedPlan) -> dict[str, str | None]:
    """Step to the party that orders its rows. Nobody orders those of a join that is one step with its groups."""
    operators = [step.operator for step in plan.steps if isinstance(step, SecureStep)]
    found = {f"{each.id}.{each.op}": each.trusted for each in operators if isinstance(each, Join | GroupBy)}
    return found | {f"{each.id}.{each.op}": None for each in operators if isinstance(each, GroupJoin)}


def orders(query: str, catalog: Catalog, to: tuple[str, ...] = ("b",)) -> set[str | None]:
    """Who orders the rows of a query's joins and groups. Its permits are those that its operators need."""
    plan = compile_query(query, catalog, to)
    assert_permits_are_those_needed(plan)
    return set(trusted(plan).values())


def test_who_reads_all_keys_orders_the_rows() -> None:
    assert orders(JOIN, of_readers("c", "c")) == {"c"}
    assert orders(GROUPS, of_readers("c", "c")) == {"c"}
    assert orders(JOIN, of_readers("", "a")) == {"a"}, "an owner reads its own"


def test_who_reads_one_side_alone_does_not() -> None:
    plan = compile_query(JOIN, of_readers("", "c"), ("b",))
    assert set(trusted(plan).values()) == {None}
    assert "c may not read all keys and what decides which rows there are" in " ".join(explain_text(plan).split())
    assert orders(JOIN, of_readers("", "")) == {None}


def test_of_several_it_is_the_one_that_sees_keys_of_the_fewest_tables_of_others() -> None:
    assert orders(JOIN, of_readers("c", "ac"), ("c",)) == {"a"}, "an owner of one sees keys of one other table"
    assert orders(JOIN, of_readers("b", "a"), ("c",)) == {"b"}, "of two owners the first one of the membership"
    assert orders(JOIN, of_readers("b", "a"), ("a",)) == {"a"}, "of two owners the recipient"


def test_keys_that_all_nodes_read_are_matched() -> None:
    assert orders(JOIN, of_readers("abc", "abc")) == set()


def test_a_condition_on_what_it_does_not_read_is_decisive() -> None:
    assert orders(f"{JOIN} WHERE r.v > 3", of_readers("c", "c")) == {None}
    assert orders(f"{JOIN} WHERE r.id > 3", of_readers("c", "c")) == {"c"}
    limited = "SELECT l.v FROM l JOIN (SELECT id FROM r ORDER BY v LIMIT 9) x ON l.id = x.id"
    assert orders(limited, of_readers("c", "c")) == {None}


def test_a_value_that_needs_an_order_of_its_own_is_sorted() -> None:
    assert orders(GROUPS.replace("SUM", "MAX"), of_readers("c", "c")) == {None}
    assert orders(GROUPS.replace("SUM(", "COUNT(DISTINCT "), of_readers("c", "c")) == {None}


def test_two_nodes_and_parties_that_are_no_nodes_order_nothing() -> None:
    two = replace(of_readers("b", ""), parties=("a", "b"), nodes=("a", "b"), engine="two")
    assert orders(JOIN, two) == {None}
    outside = replace(of_readers("d", "d"), parties=("c", "b", "a", "d"))
    assert orders(JOIN, outside) == {None}


def test_rows_of_kept_tables_are_not_shown() -> None:
    kept = kept_table("known", PEOPLE, 50_000)
    read = replace(kept, columns=tuple(replace(each, readers=frozenset({"c"})) for each in kept.columns))
    found = replace(of_readers("c", "c"), kept=(replace(read, owners=("a",), tables=("l",)),))
    assert orders("SELECT SUM(known.v) AS s FROM l JOIN known ON l.id = known.id", found) == {None}


def with_terms(ways: Iterable[str], to: Iterable[str], matches: Iterable[str]) -> Catalog:
    """The right table is not opened: its ids may be used in these ways, and seen row by row by these parties."""
    found = of_readers("c", "")
    table = Terms(frozenset("abc"), 2, matches=frozenset(matches), differences="off")
    key = ColumnTerms(frozenset(ways), to=frozenset(to))  # type: ignore[arg-type]  # ways by their names
    value = ColumnTerms(frozenset({"aggregate"}), frozenset(FUNCTIONS))
    left, right = found.tables
    columns = tuple(
        Column(each.field, selecting(table, terms), terms)
        for each, terms in zip(right.columns, (key, value), strict=True)
    )
    ruled: Table = replace(right, columns=columns, terms=table)
    return replace(found, tables=(left, ruled))


@pytest.mark.parametrize(
    ("ways", "to", "matches", "found"),
    [
        ({"join", "select"}, "c", "c", {"c"}),
        ({"join", "select"}, "c", "", {None}),
        ({"join", "select"}, "a", "ac", {"a"}),
        ({"join"}, "", "c", {None}),
        ({"join", "group"}, "", "abc", {None}),
    ],
)
def test_terms_allow_it_by_select_and_matches(ways: set[str], to: str, matches: str, found: set[str | None]) -> None:
    """A floor or a way beneath select lets nobody see a key row by row."""
    assert orders(JOIN, with_terms(ways, to, matches), ("a",)) == found


def test_the_account_says_what_it_sees_and_who_allows_it() -> None:
    query = "SELECT d.zip, SUM(s.score) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn GROUP BY d.zip"
    text = " ".join(explain_text(compile_query(query, TRUSTED, ("regulator",))).split())
    assert "regulator learns the values of the keys of the join" in text
    assert "Allowed by the offer of bureau_a, letting it read these columns" in text
    assert "is ordered by regulator, which may read its keys: predicted" in text

"""Questions on kept results of programs over tables: allowed to whom the program could have revealed these results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.audit.check import question
from tacit.plan import explain_text
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, Table
from tacit.plan.facts.sources import Source as Origin
from tacit.plan.facts.sources import Use
from tacit.plan.facts.terms import Terms, open_terms
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.policy.results import computed_tables
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import NODES as ROWS_OF_NODES
from tacit.plan.programs.identity import Source, digest
from tacit.plan.programs.queries import RowArray
from tacit.plan.read_tables import named_query
from tacit.sql import bind, bind_rows, compile_query

from .test_breaks_of_kept import ID, NODES, SSN, kept_by, refused, ruled

AGES = Table(
    "ages", "b", (ruled("id", 1, 1000, "program"), ruled("age", 0, 120, "program"), ruled("pay", 0, 120)), ID, 8,
    exact=True, terms=Terms(frozenset({"a"}), computing="any", least_group=5),
)  # fmt: skip
OPEN = Table("towns", "c", (Column(SSN),), (frozenset({"ssn"}),), 20, exact=True, terms=open_terms(NODES))
ANY = Catalog(NODES, "rep3", NODES, (AGES, OPEN))
QUERY = "SELECT age FROM ages WHERE id < 50"
ASKED = "SELECT SUM(x) AS s FROM k WHERE x > 3"


def of_rows(query: str = QUERY, of: Catalog = ANY) -> str:
    named = named_query(query, bind_rows(query, of), of)
    source = Source(ROWS_OF_NODES, RowArray(named, "age").text, named)
    program = Program(lambda x: {"x": x + 1}, {"x": Declared((8,), "int64", 0, 120)}, Settings())
    return program.text({"x": source})


HASH = program_hash(digest(of_rows()))


def offered(catalog: Catalog, **changes: Any) -> Catalog:
    """The catalog with other terms of ages. columns: the table's."""
    columns = changes.pop("columns", AGES.columns)
    terms = replace(AGES.terms or Terms(frozenset()), **changes)
    return replace(catalog, tables=(replace(AGES, columns=columns, terms=terms), OPEN))


KEPT = kept_by(f"CREATE TABLE k (x) AS {of_rows()}", ANY)
LISTED = offered(KEPT, computing=frozenset({HASH}))


@pytest.mark.parametrize("catalog", [KEPT, LISTED])
@pytest.mark.parametrize(
    "sql",
    [ASKED, "SELECT x FROM k", "SELECT x, COUNT(*) AS n FROM k GROUP BY x ORDER BY x",
     "SELECT COUNT(*) AS n FROM k JOIN towns t ON k.x = t.ssn"],
)  # fmt: skip
def test_who_may_see_results_may_ask_of_them(catalog: Catalog, sql: str) -> None:
    """Columns that only programs may use had no way for questions, and so their results had none."""
    assert compile_query(of_rows(), catalog, ("a",)).steps, "the program would be revealed"
    plan = compile_query(sql, catalog, ("a",))
    (rule,) = (each.sentence for each in plan.ruling.allowances if each.owner == "b")
    assert rule.startswith("the columns ages.age, ages.id, of which a program has made k, may be computed on (")
    assert f"b's rule: {rule}." in " ".join(explain_text(plan).split())


CLOSED = (ruled("id", 1, 1000, "program"), ruled("age", 0, 120, "aggregate"), ruled("pay", 0, 120))
FEWER: dict[str, tuple[Catalog, tuple[str, ...], str]] = {
    "another recipient": (KEPT, ("c",), "recipient"),
    "one recipient more": (LISTED, ("a", "c"), "recipient"),
    "recipients that are no more": (offered(KEPT, recipients=frozenset({"c"})), ("a",), "recipient"),
    "another program": (offered(KEPT, computing=frozenset({"p:" + "0" * 64})), ("a",), "kept"),
    "no program": (offered(KEPT, computing=frozenset()), ("a",), "kept"),
    "a column that is closed to programs": (offered(LISTED, columns=CLOSED), ("a",), "kept"),
    "a column that is gone": (offered(LISTED, columns=AGES.columns[:1]), ("a",), "kept"),
    "a table that is gone": (replace(LISTED, tables=(OPEN,)), ("a",), "kept"),
    "another owner's table": (replace(LISTED, tables=(replace(AGES, owner="c"), OPEN)), ("a",), "kept"),
}  # fmt: skip


@pytest.mark.parametrize("what", FEWER)
def test_what_would_not_be_revealed_is_not_asked(what: str) -> None:
    catalog, to, rule = FEWER[what]
    with pytest.raises(QueryError):
        compile_query(of_rows(), catalog, to)
    with pytest.raises(PolicyRefusal) as caught:
        compile_query(ASKED, catalog, to)
    assert caught.value.rule == rule and caught.value.problem.owner == "b"


def test_the_refusal_says_what_to_write() -> None:
    with pytest.raises(PolicyRefusal) as caught:
        compile_query(ASKED, offered(KEPT, computing=frozenset({"p:" + "0" * 64})), ("a",))
    assert str(caught.value) == (
        "refused by b: kept: k is made of the columns ages.age, ages.id, which b opens to certain programs alone, and "
        f'not to {HASH}; b has to write "{HASH}" in allow at [tables.ages] in offers/b.toml.'
    )


def test_the_table_itself_stays_closed() -> None:
    """Results may be asked. What they are made of, beside them or alone, is asked under the rules of questions."""
    assert refused("SELECT age FROM ages", LISTED) != ""
    assert refused("SELECT COUNT(*) AS n FROM k JOIN ages s ON k.x = s.id", LISTED) != ""
    assert refused("SELECT COUNT(*) AS n FROM ages WHERE age IN (SELECT x FROM k)", KEPT) != ""
    with pytest.raises(PolicyRefusal, match="kept"):
        compile_query("CREATE TABLE again AS SELECT x FROM k", KEPT, ("a",))


def test_a_table_of_which_more_than_results_is_kept_is_bound_by_its_own_rules() -> None:
    (kept,) = KEPT.kept
    assert computed_tables(kept) == {"ages"}
    direct = Use(Origin("b", "ages", "age"), ("sum",))
    column = replace(kept.columns[0], uses=(*(kept.columns[0].uses or ()), direct))
    mixed = replace(kept, columns=(column,))
    for each in (mixed, replace(kept, presence=(direct,)), replace(kept, presence=None), silent(kept.columns[0])):
        found = replace(kept, columns=(each,)) if isinstance(each, KeptColumn) else each
        assert computed_tables(found) == frozenset()
        assert refused(ASKED, replace(KEPT, kept=(found,))) in ("kept", "weights")


def silent(column: KeptColumn) -> KeptColumn:
    return replace(column, uses=None)


def test_consents_of_the_table_show_nothing_of_its_results() -> None:
    told = replace(AGES, consents=frozenset({"sizes", "filter", "groups", "matches"}), terms=replace(
        AGES.terms or Terms(frozenset()), least_group=None, matches=frozenset(NODES)
    ))  # fmt: skip
    plans = [
        compile_query(
            "SELECT COUNT(*) AS n FROM k JOIN towns t ON k.x = t.ssn WHERE k.x > 3",
            replace(KEPT, tables=(each, OPEN)),
            ("a",),
        )
        for each in (AGES, told)
    ]
    assert plans[0].disclosures == plans[1].disclosures and plans[0].steps == plans[1].steps


def test_the_owner_compares_no_results_with_answers() -> None:
    """Programs are not compared with answers, and a question on results is what a program could have computed."""
    assert question(bind(ASKED, KEPT), ("a",), KEPT, "b", {}) is None

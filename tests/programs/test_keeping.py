"""Results of programs that the nodes keep: what the statement and its plan say, and what owners' rules do."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan import explain_text, learnt
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Boolean, Decimal, Field
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, KeptColumn, KeptTable
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.terms import ArrayTerms
from tacit.plan.physical.placed import KeepStep, PlacedPlan, ProgramStep
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import Source, digest
from tacit.sql import compile_query

ANY = ArrayTerms(frozenset({"program"}), frozenset({"a"}), None)
X = OfferedArray("points", "b", (6,), "int16", Fraction(-9), Fraction(9), terms=ANY)
CATALOG = Catalog(("a", "b", "c"), "rep3", ("a", "b", "c"), (), arrays=(X,))


def program(function: Any) -> str:
    return Program(function, {"x": Declared((6,), "int16", -9, 9)}, Settings()).text({"x": Source("b", "points")})


def shifted(x: Any) -> Any:
    return {"up": x * 100 + 250, "above": x > 0}


def keeping(function: Any = shifted, columns: str = "up DECIMAL(18, 2), above") -> str:
    return f"CREATE TABLE moved ({columns}) AS {program(function)}"


def placed(text: str, catalog: Catalog = CATALOG) -> PlacedPlan:
    return compile_query(text, catalog, ("a",))


def test_results_become_columns_of_one_table() -> None:
    plan = placed(keeping())
    assert plan.recipients == () and [type(each).__name__ for each in plan.steps] == [
        "ArrayStep", "InputStep", "ProgramStep", "KeepStep",
    ]  # fmt: skip
    made = next(each for each in plan.steps if isinstance(each, ProgramStep)).operator.outputs
    assert [(each.id, each.column) for each in made] == [(4, "up"), (4, "above")]
    keep = plan.steps[-1]
    assert isinstance(keep, KeepStep) and (keep.id, keep.operator.input, keep.rows_bound) == (5, 4, "6")
    assert keep.fields == (Field("up", Decimal(18, 2, -650, 1150), False), Field("above", Boolean(), False))
    assert (keep.about.owners, keep.about.tables, keep.about.exact) == (("b",), ("points",), True)
    assert [each.json() for each in keep.about.fields[0].uses or ()] == [
        {"owner": "b", "table": "points", "column": None, "through": ["program"]}
    ]
    assert not [each for each in plan.disclosures if each.kind != "size"], "nothing is opened"


def test_the_account_says_what_is_kept_and_of_what() -> None:
    page = " ".join(explain_text(placed(keeping())).replace("|", "").split())
    assert "CREATE TABLE moved (up DECIMAL(18, 2), above) AS program p:" in page
    assert "a, b and c keep up, above as shares under the name moved" in page
    assert "6 rows, made of points" in page


@pytest.mark.parametrize(
    ("function", "columns", "sentence"),
    [
        (shifted, "up", "the columns of moved are not the results of the program: up, above"),
        (shifted, "up DECIMAL(3, 2), above", r"from -650 to 1150, beyond DECIMAL\(3, 2\)"),
        (shifted, "up, up", "the column up is named twice"),
        (lambda x: x.sum(), "result", "the result result is no vector"),
        (lambda x: x / 3, "result", "is not of whole numbers, .* and write DECIMAL"),
        (lambda x: {"a": x, "b": x[:3]}, "a, b", "a has 6 elements, b has 3 elements; keep them in several"),
    ],
)
def test_what_is_no_table_is_one_sentence(function: Any, columns: str, sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence):
        placed(keeping(function, columns))


def test_names_are_those_of_no_other_table() -> None:
    with pytest.raises(QueryError, match="there is a kept table 'moved' already; replace it"):
        placed(keeping(), replace(CATALOG, kept=(table(),)))
    assert placed(keeping().replace("CREATE", "CREATE OR REPLACE"), replace(CATALOG, kept=(table(),))).steps


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (replace(ANY, ways=frozenset()), 'b: closed: .*b has to write use = \\["program"\\] at'),
        (
            replace(ANY, programs=frozenset()),
            'b: allow: the array points is open to no program, .* write "p:.*" in allow',
        ),
        (replace(ANY, programs=frozenset({"p:1"})), "b: allow: the array points is open to certain programs, and not"),
        (replace(ANY, until=date(2020, 1, 1)), "b: until: the array points was offered until 2020-01-01"),
    ],
)
def test_only_what_the_program_may_compute_on_is_kept(terms: ArrayTerms, sentence: str) -> None:
    with pytest.raises(PolicyRefusal, match=sentence):
        placed(keeping(), replace(CATALOG, arrays=(replace(X, terms=terms),)))


def table() -> KeptTable:
    """What the plan keeps, as its files would describe it."""
    keep = placed(keeping()).steps[-1]
    assert isinstance(keep, KeepStep)
    kinds = Kind("ring64", 12, True, False), Kind("bits", 1, False, False)
    columns = tuple(
        KeptColumn(each.field, kind, frozenset(), each.uses)
        for each, kind in zip(keep.about.fields, kinds, strict=True)
    )
    return KeptTable(
        "moved", "0" * 32, columns, 6, False, False, (), ("b",), ("points",), "0" * 64, keeping(), (), exact=True,
        told=True, program=keep.about.program,
    )  # fmt: skip


QUERY = "SELECT SUM(up) AS total FROM moved WHERE above"
HASH = program_hash(digest(program(shifted)))
LISTED = replace(CATALOG, arrays=(replace(X, terms=replace(ANY, programs=frozenset({HASH}))),))


def test_a_listed_program_is_kept_and_asked_as_it_would_be_revealed() -> None:
    """Who may see all results can compute on them alone: so the same hash and recipients are needed, and no more."""
    assert placed(program(shifted), LISTED).ruling.allowances and placed(keeping(), LISTED).ruling.allowances
    kept = replace(LISTED, kept=(table(),))
    assert placed(QUERY, kept).steps
    for to in ("c", "b"):
        others = (to, "a") if to == "b" else (to,)
        allowed = to == "b"
        for text in (program(shifted), QUERY):
            if allowed:
                assert compile_query(text, kept, others).steps
                continue
            with pytest.raises(PolicyRefusal, match=f"b: recipient: {to} is no recipient of the array points"):
                compile_query(text, kept, others)


def test_of_results_of_results_no_program_is_known() -> None:
    """A table that SQL makes of results is what no owner has listed."""
    again = replace(table(), name="again", program=None, query="CREATE TABLE again AS SELECT up, above FROM moved")
    asked = QUERY.replace("moved", "again")
    assert placed(asked, replace(CATALOG, kept=(again,))).steps, "any program may compute on it"
    with pytest.raises(PolicyRefusal, match="certain programs alone, and not to what is computed of results; ask b"):
        placed(asked, replace(LISTED, kept=(again,)))


def test_the_account_says_by_which_rules() -> None:
    listed = "b's rule: the array points may be computed on (it lists this program)."
    page = " ".join(explain_text(placed(keeping(), LISTED)).split())
    assert f"Allowed by {listed}" in page
    assert f"It is allowed by {listed}" in learnt(placed(keeping(), LISTED))
    kept = placed(QUERY, replace(LISTED, kept=(table(),)))
    of = "b's rule: the array points, of which a program has made moved, may be computed on (it lists this program)."
    assert f"It is allowed by {of}" in learnt(kept) and f"Allowed by {of}" in " ".join(explain_text(kept).split())


def test_sql_reads_it_under_the_rules_of_the_arrays_behind() -> None:
    kept = replace(CATALOG, kept=(table(),))
    page = " ".join(explain_text(placed(QUERY, kept)).split())
    assert "points of b" in page and "made of points" in page
    for terms, sentence in (
        (replace(ANY, programs=frozenset()), "b: kept: moved is made of the array points, which b opens to no program"),
        (
            replace(ANY, programs=frozenset({"p:1"})),
            f"to certain programs alone, and not to {HASH}; b has to write",
        ),
        (replace(ANY, ways=frozenset()), f'b has to write use = ..program.. and "{HASH}" in allow at'),
        (replace(ANY, recipients=frozenset()), "b: recipient: a is no recipient of the array points, of which moved"),
        (replace(ANY, until=date(2020, 1, 1)), "b: until: the array points, of which moved is made, was offered until"),
    ):
        with pytest.raises(PolicyRefusal, match=sentence):
            placed(QUERY, replace(kept, arrays=(replace(X, terms=terms),)))
    assert compile_query(QUERY, replace(kept, arrays=(replace(X, terms=ArrayTerms()),)), ("b",)).steps, "its own"

"""What a plan's permits open: what its operators need, and what a person reads before it runs.

Each column of a permit is an output of the query, or is listed beyond the answer, or follows from outputs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.plan.account.explain import explain_text
from tacit.plan.account.sentences import beyond, what
from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.algebra.expressions import substitute
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Limit, Literal, Opened, Project, Relation, Sort
from tacit.plan.algebra.types import Double
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical.disclosure import Disclosure, KeyValues, OpenedColumns, SeenKeys
from tacit.plan.physical.operators import Named
from tacit.plan.physical.operators import Project as Computing
from tacit.plan.physical.placed import InputStep, LocalStep, PlacedPlan, ReleaseStep, SecureStep, TailStep
from tacit.plan.physical.values import Integer
from tacit.sql import compile_query

from .catalogs import CATALOGS
from .golden import cases, files
from .permits import assert_exact_sizes_are_consented, assert_permits_are_those_needed

PACKAGE = Path(tacit.__file__).parent
GOLDEN = Path(__file__).parent / "golden"
PLANS = pytest.mark.parametrize("path", files(GOLDEN), ids=lambda path: path.stem)


def plans(path: Path) -> Iterator[PlacedPlan]:
    for case in cases(path):
        yield compile_query(case.query, CATALOGS[case.catalog], case.recipients)


def outputs(relation: Relation) -> dict[str, Expr]:
    """What the recipient computes of opened columns, by the names of the answer."""
    match relation:
        case Opened(_, found):
            return {each.name: ColumnRef(each.name, each.type, each.nullable) for each in found}
        case Project(input, columns):
            below = outputs(input)
            return {name: substitute(each, below) for name, each in columns}
        case Sort(input, _) | Limit(input, _, _):
            return outputs(input)
        case _:
            raise AssertionError(f"{relation} is no tail")


def constant(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value not in (None, 0)


def implied(expr: Expr, known: set[str]) -> str | None:
    """The one column that the value of an output gives away to who knows others, as arithmetic can be undone."""
    match expr:
        case ColumnRef(name):
            return name
        case Call("neg" | "not" | "cast" | "rescale", (inner,)):
            return implied(inner, known)
        case Call("add" | "sub", (a, b), type_) if not isinstance(type_, Double):
            sides = [(a, b), (b, a)]
            return next((implied(hidden, known) for seen, hidden in sides if follows(seen, known)), None)
        case Call("mul", (a, b), type_) if not isinstance(type_, Double):
            return implied(a, known) if constant(b) else implied(b, known) if constant(a) else None
        case Call("div", (a, b)) if constant(b):
            return implied(a, known)
        case _:
            return None


def follows(expr: Expr, known: set[str]) -> bool:
    """Whether a value that is never NULL is known to who knows these columns."""
    match expr:
        case ColumnRef(name, _, nullable):
            return name in known and not nullable
        case Call(_, args, _, nullable):
            return not nullable and all(follows(each, known) for each in args)
        case _:
            return isinstance(expr, Literal) and expr.value is not None


def unexplained(plan: PlacedPlan) -> set[str]:
    """Columns of permits that are no outputs, are not listed beyond the answer, and do not follow from outputs."""
    (tail,) = (step for step in plan.steps if isinstance(step, TailStep))
    found: set[str] = set()
    for disclosure in plan.disclosures:
        opened = {column.name for column in disclosure.permit.columns}
        if isinstance(disclosure.shown, KeyValues | SeenKeys):  # not to the recipients of the answer
            found |= opened - {each.name for each in disclosure.shown.columns}
            continue
        if not opened:
            continue
        answer = outputs(tail.relation)
        known = {each.name for each in answer.values() if isinstance(each, ColumnRef)}
        known |= {name for name, _ in beyond(disclosure) if re.search(rf"[(;] ?{re.escape(name)}: ", what(disclosure))}
        while new := {each for expr in answer.values() if (each := implied(expr, known))} - known:
            known |= new
        found |= {name for name in opened - known if not always_the_same(plan, name)}
    return found


def always_the_same(plan: PlacedPlan, name: str) -> bool:
    """Whether an opened column is a constant, in place of the outputs of a query that has no others."""
    (release,) = (step for step in plan.steps if isinstance(step, ReleaseStep))
    steps = {step.id: step for step in plan.steps}
    before = steps[release.operator.input]
    if isinstance(before, InputStep):
        local = steps[before.local]
        (source,) = (each.source for each in before.operator.columns if each.name == name)
        assert isinstance(local, LocalStep)
        return isinstance(local.relation, Project) and isinstance(dict(local.relation.outputs)[source], Literal)
    computed = (
        before.operator.columns if isinstance(before, SecureStep) and isinstance(before.operator, Computing) else ()
    )
    return any(each.name == name and isinstance(each.expr, Integer) for each in computed)


@PLANS
def test_each_opened_column_is_explained(path: Path) -> None:
    found = [plan for plan in plans(path) if any(each.columns for each in plan.permits)]
    assert found
    for plan in found:
        assert unexplained(plan) == set(), plan.query


@PLANS
def test_explain_prints_each_opened_column(path: Path) -> None:
    for plan in plans(path):
        text = explain_text(plan)
        assert ("What may be opened, and nothing else" in text) == bool(plan.disclosures)
        shown = " ".join(text.partition("What may be opened")[2].partition("\n\n")[0].split())
        for disclosure in plan.disclosures:
            assert disclosure.site.name in shown
            for column in disclosure.permit.columns:
                assert f" {column.name}:" in shown, plan.query


@PLANS
def test_permits_are_those_that_the_operators_need(path: Path) -> None:
    """The planner's account against the native session's own, made of the operators alone."""
    for plan in plans(path):
        assert_permits_are_those_needed(plan)
        assert_exact_sizes_are_consented(plan)


def test_no_permit_exists_without_a_disclosure() -> None:
    """One place makes permits, of what a disclosure says."""
    made = [
        path.relative_to(PACKAGE)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Permit"
    ]
    assert made == [Path("plan/physical/disclosure.py")]


@PLANS
def test_each_opened_column_and_number_has_sources(path: Path) -> None:
    for plan in plans(path):
        assert plan.catalog is not None
        declared = {(each.owner, each.name): {c.field.name for c in each.columns} for each in plan.catalog.tables}
        for disclosure in plan.disclosures:
            derivation, permit = disclosure.derivation, disclosure.permit
            assert derived(disclosure) == [each.name for each in permit.columns]
            assert derivation.presence, "rows come from tables"
            uses = [*derivation.presence, *(use for _, found in derivation.values for use in found)]
            for source in (use.source for use in uses):
                assert source.column is None or source.column in declared[str(source.owner), source.table]


def derived(disclosure: Disclosure) -> list[str]:
    """The opened columns that have sources. A key that a party sees stands for those of all sides."""
    names = [name for name, _ in disclosure.derivation.values]
    if not isinstance(disclosure.shown, SeenKeys):
        return names
    assert len(names) == sum(disclosure.shown.sides)
    return names[: disclosure.shown.sides[0]]


def credit() -> PlacedPlan:
    return next(plans(GOLDEN / "demos.slt"))


def test_a_column_more_in_a_permit_is_found() -> None:
    """As if the planner opened more than its sentences say."""
    plan = credit()
    (disclosure,) = plan.disclosures
    assert isinstance(disclosure.shown, OpenedColumns)
    extra = Named("ssn", Kind("bits", 30, signed=False, nullable=False))
    columns = (*disclosure.shown.columns, extra)
    forged = replace(disclosure, shown=replace(disclosure.shown, columns=columns))
    assert unexplained(replace(plan, disclosures=(forged,))) == {"ssn"}


def test_an_operand_that_no_sentence_names_is_found() -> None:
    plan = credit()
    (disclosure,) = plan.disclosures
    assert isinstance(disclosure.shown, OpenedColumns)
    forged = replace(disclosure, shown=replace(disclosure.shown, beyond=()))
    assert unexplained(replace(plan, disclosures=(forged,))) == {"sum_score", "count_score"}


def test_permits_bound_the_rows() -> None:
    """By what owners declare, or by what widths are computed for."""
    union = "SELECT s FROM announced UNION ALL SELECT s FROM padded"
    mixed = CATALOGS["mixed"]

    def most(catalog: Catalog) -> list[int]:
        plan = compile_query(f"SELECT s FROM ({union}) t", catalog, ("p",))
        return [each.rows for each in plan.permits]

    padded = next(each.rows for each in mixed.tables if each.name == "padded")
    assert padded is not None
    assert most(mixed) == [UNDECLARED_ROWS, UNDECLARED_ROWS + padded]
    bounded = [replace(each, most_rows=70) if each.name == "announced" else each for each in mixed.tables]
    assert most(replace(mixed, tables=tuple(bounded))) == [70, 70 + padded]

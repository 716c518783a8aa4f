"""A program's text becomes a placed plan at every party, or one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan import explain_text, learnt, plan_hash
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import ArrayTerms
from tacit.plan.physical.placed import ArrayStep, GuardStep, InputStep, PlacedPlan, ProgramStep, ReleaseStep, ResultStep
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import Source, digest
from tacit.sql import compile_query

X = OfferedArray("features", "a", (8, 3), "float64", Fraction(-4), Fraction(4), Fraction(5))
Y = OfferedArray("labels", "d", (8,), "bool")
N = OfferedArray("counts", "b", (8,), "int64", Fraction(0), Fraction(1 << 40))
CATALOG = Catalog(("a", "b", "c", "d"), "rep3", ("a", "b", "c"), (), arrays=(X, Y, N))
SOURCES = {"x": Source("a", "features"), "y": Source("d", "labels"), "n": Source("b", "counts")}
DECLARED = {
    "x": Declared((8, 3), "float64", -4, 4, row_norm=5),
    "y": Declared((8,), "bool"),
    "n": Declared((8,), "int64", 0, 1 << 40),
}


def text(function: Any, sources: Mapping[str, Source] = SOURCES, **declared: Declared) -> str:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return Program(function, {name: {**DECLARED, **declared}[name] for name in names}, Settings()).text(sources)


def placed(function: Any, to: tuple[str, ...] = ("a",), catalog: Catalog = CATALOG, **declared: Declared) -> PlacedPlan:
    return compile_query(text(function, **declared), catalog, to)


def fit(x: Any, y: Any) -> Any:
    w = np.clip(x.T @ (np.sigmoid(x.sum(axis=1)) - y) / len(y), -8, 8)
    return {"w": w, "share": y.mean()}


def test_steps() -> None:
    plan = placed(fit, ("a", "d"))
    assert [type(step).__name__ for step in plan.steps] == [
        "ArrayStep", "InputStep", "ArrayStep", "InputStep", "ProgramStep", "ReleaseStep", "ReleaseStep", "ResultStep",
    ]  # fmt: skip
    assert [step.id for step in plan.steps] == [1, 2, 3, 4, 5, 8, 9, 10]
    program = next(step for step in plan.steps if isinstance(step, ProgramStep)).operator
    assert [(each.id, each.column) for each in program.outputs] == [(6, "w"), (7, "share")]
    assert [each.step for each in program.inputs] == [2, 4]
    assert [each.operator.input for each in plan.steps if isinstance(each, ReleaseStep)] == [6, 7]
    assert {step.party: (step.array, step.fraction) for step in plan.steps if isinstance(step, ArrayStep)} == {
        "a": ("features", 16), "d": ("labels", 0),
    }  # fmt: skip
    inputs = [step.operator for step in plan.steps if isinstance(step, InputStep)]
    assert [(each.rows, each.ordered, each.columns[0].kind.repr) for each in inputs] == [
        (None, True, "ring64"), (None, True, "bits"),
    ]  # fmt: skip
    (result,) = (step for step in plan.steps if isinstance(step, ResultStep))
    assert [(each.name, each.shape, each.dtype) for each in result.arrays] == [
        ("w", (3,), "fixed"),
        ("share", (), "fixed"),
    ]
    assert plan.clients == ("d",)


def test_a_wide_array_enters_in_the_wide_ring() -> None:
    wide = replace(N, high=Fraction((1 << 63) - 1), dtype="int64", low=Fraction(-(1 << 63)))
    plan = placed(lambda n: n.max(), catalog=replace(CATALOG, arrays=(wide,)), n=Declared((8,), "int64"))
    (step,) = (step for step in plan.steps if isinstance(step, InputStep))
    assert step.operator.columns[0].kind.repr == "ring128"


def test_an_array_that_is_read_twice_is_shared_once() -> None:
    def both(x: Any, z: Any) -> Any:
        return x @ z.T

    declared = {"x": DECLARED["x"], "z": DECLARED["x"]}
    sources = {"x": SOURCES["x"], "z": SOURCES["x"]}
    plan = compile_query(Program(both, declared, Settings()).text(sources), CATALOG, ("a",))
    program = next(step for step in plan.steps if isinstance(step, ProgramStep)).operator
    assert len(plan.steps) == 5 and [each.step for each in program.inputs] == [2, 2]


def test_disclosures() -> None:
    plan = placed(lambda x, y: {"w": x.sum(axis=0), "share": y.mean(), "rounded": (x * x)[0]}, ("b", "d"))
    answers = [each for each in plan.disclosures if each.kind == "answer"]
    assert [(each.site.name, each.recipients, each.derivation.rows) for each in answers] == [
        ("9.release", ("b", "d"), 3), ("10.release", ("b", "d"), 1), ("11.release", ("b", "d"), 3),
    ]  # fmt: skip
    made = {name: [use.source.table for use in uses] for each in answers for name, uses in each.derivation.outputs}
    assert made == {"w": ["features"], "share": ["labels"], "rounded": ["features"]}
    sizes = [each for each in plan.permits if each.kind == "size"]
    assert [(each.site, each.recipients, each.rows) for each in sizes] == [
        ("2.input", ("a", "b", "c"), 24), ("4.input", ("a", "b", "c"), 8),
        ("9.release", ("d",), 3), ("10.release", ("d",), 1), ("11.release", ("d",), 3),
    ]  # fmt: skip
    opened = [each.columns[0] for each in plan.permits if each.kind == "answer"]
    assert [(each.name, each.kind.repr) for each in opened] == [
        ("w", "ring64"),
        ("share", "ring64"),
        ("rounded", "ring64"),
    ]


def bounded(x: Any, n: Any) -> Any:
    return {"w": np.bound(x.sum(axis=0), 9, check=True), "count": n.max()}


def test_a_guard_is_before_all_releases_and_opens_one_bit_to_all_parties() -> None:
    plan = placed(bounded, ("d",))
    assert [type(step).__name__ for step in plan.steps[4:]] == [
        "ProgramStep", "GuardStep", "ReleaseStep", "ReleaseStep", "ResultStep",
    ]  # fmt: skip
    assert [step.id for step in plan.steps[4:]] == [5, 9, 10, 11, 12]
    guard = plan.steps[5]
    assert isinstance(guard, GuardStep)
    assert (guard.operator.guard, guard.operator.to, guard.operator.input) == (True, ("a", "b", "c", "d"), 6)
    (shown,) = (each for each in plan.disclosures if each.kind == "bound")
    assert (shown.site.name, shown.recipients) == ("9.release", ("a", "b", "c", "d"))
    assert [(name, [use.source.table for use in uses]) for name, uses in shown.derivation.values] == [
        ("outside", ["features"]),
    ]  # fmt: skip
    permits = [each for each in plan.permits if each.site == "9.release"]
    assert [(each.kind, each.recipients, each.rows, len(each.columns)) for each in permits] == [
        ("size", ("d",), 1, 0), ("value", ("a", "b", "c", "d"), 1, 1),
    ]  # fmt: skip
    assert plan.clients == ("d",)
    page = explain_text(plan)
    said = "one bit: whether the bound that the program checks holds, which depends on features of a"
    assert f"a, b, c and d learn {said}" in " ".join(page.split())
    assert "open to a, b, c, d whether a checked bound does not hold, which ends the run" in " ".join(page.split())


def test_a_bound_that_is_proved_needs_no_guard() -> None:
    plan = placed(lambda x: np.bound(x, 5, check=True), ("a",))
    assert not any(isinstance(step, GuardStep) for step in plan.steps)
    assert all(each.kind != "bound" for each in plan.disclosures)


def test_who_is_told_of_a_bound_has_to_be_a_recipient() -> None:
    asked = text(bounded)
    listed = ArrayTerms(frozenset({"program"}), frozenset({"d"}), frozenset({program_hash(digest(asked))}))
    bound_by = replace(CATALOG, arrays=(replace(X, terms=listed), Y, N))
    with pytest.raises(PolicyRefusal) as caught:
        compile_query(asked, bound_by, ("d",))
    assert str(caught.value).startswith(
        "refused by a: recipient: b is no recipient of the array features, and would be told whether the bounds that "
        "the program checks hold"
    )
    assert '"b" in recipients and "c" in recipients at [arrays.features]' in str(caught.value)
    to_all = replace(listed, recipients=frozenset("bcd"))
    plan = compile_query(asked, replace(CATALOG, arrays=(replace(X, terms=to_all), Y, N)), ("d",))
    assert [each.owner for each in plan.ruling.allowances] == ["a"]


def test_a_bound_of_an_owners_array_tells_others_though_the_owner_alone_gets_the_result() -> None:
    to_nobody = ArrayTerms(frozenset({"program"}), programs=None)
    own = replace(CATALOG, arrays=(replace(X, terms=to_nobody), Y, N))
    assert placed(lambda x: x.sum(), ("a",), own).ruling.allowances == ()
    with pytest.raises(PolicyRefusal, match="recipient: b is no recipient of the array features, and would be told"):
        placed(lambda x: np.bound(x.sum(), 9, check=True), ("a",), own)
    beside = replace(CATALOG, arrays=(X, Y, replace(N, terms=to_nobody)))
    with pytest.raises(PolicyRefusal, match="b: recipient: d is no recipient of the array counts"):
        compile_query(text(bounded), beside, ("d",))


def test_permits_are_of_the_tables_that_are_released() -> None:
    plan = placed(lambda x: {"bits": x > 0, "w": x}, ("a",))
    program = next(step for step in plan.steps if isinstance(step, ProgramStep)).operator
    made = {each.id: each for each in program.outputs}
    releases = {f"{step.id}.release": made[step.operator.input] for step in plan.steps if isinstance(step, ReleaseStep)}
    opened = [each for each in plan.permits if each.kind == "answer"]
    assert {each.site: each.columns[0].kind for each in opened} == {k: v.kind for k, v in releases.items()}


def test_the_page_says_who_gets_what_of_whose_arrays() -> None:
    shown = explain_text(placed(fit, ("d",)), ())
    flat = " ".join(shown.split())
    assert "d gets 2 arrays of 4 elements:" in flat
    assert "computed by the program from features of a and labels of d (its own), any element of which may show" in flat
    assert "share one number, exact" in flat and "array of 3, error at most" in flat and "rounded to" in flat
    assert "x: the array features of a (8 x 3)" in flat
    assert f"program {program_hash(digest(text(fit)))}" in flat
    assert "a, b and c learn nothing from the tables of others." in flat
    assert "a puts the 24 elements of its array features into secret shares" in flat
    assert "Nobody learns anything else." in flat
    assert any("the answer, 2 arrays of 4 elements: w is array of 3" in each for each in learnt(placed(fit, ("d",))))


def test_the_plan_hash_covers_program_recipients_and_offers() -> None:
    plans = [
        placed(fit),
        placed(fit, ("d",)),
        placed(lambda x, y: {"w": x.sum(axis=0), "share": y.mean()}),
        placed(fit, catalog=replace(CATALOG, arrays=(replace(X, low=Fraction(-3)), Y, N))),
        placed(fit, catalog=replace(CATALOG, engine="two", nodes=("a", "b"))),
    ]
    assert len({plan_hash(each) for each in plans}) == 5
    assert plan_hash(placed(fit)) == plan_hash(placed(fit))


def test_engines_have_the_same_program() -> None:
    operators = [
        next(step.operator.json() for step in plan.steps if isinstance(step, ProgramStep))
        for plan in (placed(fit), placed(fit, catalog=replace(CATALOG, engine="two", nodes=("a", "b"))))
    ]
    assert operators[0] == operators[1]


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing private": (
        lambda: compile_query(text(lambda: np.zeros(3) + 1), CATALOG, ("a",)),
        "reads no owner's array",
    ),
    "no recipient": (lambda: placed(fit, ()), "the program has no recipient"),
    "stranger": (lambda: placed(fit, ("z",)), "the recipient 'z' is not one of the parties"),
    "engine": (lambda: placed(fit, catalog=replace(CATALOG, nodes=("a", "b"))), "is not available"),
    "no array": (
        lambda: placed(fit, catalog=replace(CATALOG, arrays=(Y, replace(X, name="other")))),
        "a offers no array 'features'; its arrays are: other",
    ),
    "no source": (
        lambda: compile_query(text(fit, {"x": SOURCES["x"]}), CATALOG, ("a",)),
        "does not say whose array y is",
    ),
    "bounds": (
        lambda: placed(fit, x=Declared((8, 3), "float64", -4, 3)),
        "takes x for: array of 8 x 3, fixed, from -4 to 3.*a offers features: array of 8 x 3, fixed, from -4 to 4",
    ),
    "shape": (lambda: placed(lambda x: x, x=Declared((9, 3), "float64", -4, 4)), "array of 9 x 3"),
    "norm": (lambda: placed(lambda x: x, x=Declared((8, 3), "float64", -4, 4, row_norm=4)), "takes x for"),
    "type": (lambda: placed(lambda x: x, x=Declared((8, 3), "int8", -4, 4)), "takes x for"),
    "not a program": (lambda: compile_query("{}", CATALOG, ("a",)), "does not say its version"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    attempt, sentence = REFUSED[name]
    with pytest.raises(QueryError, match=sentence):
        attempt()


def test_a_program_may_rely_on_less_than_is_declared() -> None:
    assert placed(lambda x: x.sum(), x=Declared((8, 3), "float64", -9, 9)).steps


def test_owners_rules_hold() -> None:
    day, hash_ = date(2026, 1, 1), program_hash(digest(text(fit)))
    closed = replace(X, terms=ArrayTerms())
    listed = replace(X, terms=ArrayTerms(frozenset({"program"}), frozenset({"b"}), frozenset({hash_})))
    with pytest.raises(PolicyRefusal, match="closed"):
        compile_query(text(fit), replace(CATALOG, arrays=(closed, Y)), ("b",), today=day)
    plan = compile_query(text(fit), replace(CATALOG, arrays=(listed, Y)), ("b",), today=day)
    assert [each.owner for each in plan.ruling.allowances] == ["a"]
    with pytest.raises(PolicyRefusal, match="certain programs"):
        other = text(lambda x, y: {"w": x.sum(axis=0), "share": y.mean()})
        compile_query(other, replace(CATALOG, arrays=(listed, Y)), ("b",), today=day)


PLACED = """
from tests.programs.test_placing import fit, placed
from tacit.plan import plan_hash
print(plan_hash(placed(fit)).hex())
"""


def test_other_processes_place_the_same() -> None:
    """Python orders sets anew in each process: no plan may depend on it."""
    hashes = {
        subprocess.run(
            [sys.executable, "-c", PLACED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2", "3")
    }
    assert hashes == {plan_hash(placed(fit)).hex()}

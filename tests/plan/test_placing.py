"""Placed plans: the engine's limits, the plan hash, the predicted cost and the account."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tacit.plan import explain_json, explain_text, learnt, plan_hash, plan_json
from tacit.plan.account.page import WIDTH
from tacit.plan.account.serialise import canonical
from tacit.plan.account.statement import takes_part
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Link
from tacit.plan.physical.cost import ASSUMED_ROWS, predict, total
from tacit.plan.physical.operators import CircuitPsi, GroupBy, Join, Psi, Resize, inputs
from tacit.plan.physical.placed import (
    InputStep,
    KeysStep,
    NativeStep,
    PlacedPlan,
    PsiStep,
    ReleaseStep,
    SecureStep,
)
from tacit.sql import compile_query

from .catalogs import CATALOGS, CREDIT, HEALTH, MIXED
from .golden import Case, cases, files
from .test_golden import GOLDEN

QUERY = "SELECT d.zip, SUM(s.score) AS total FROM demographics d JOIN scores_a s ON d.ssn = s.ssn GROUP BY d.zip"
ALL_CASES = [case for path in files(GOLDEN) for case in cases(path)]


def compiled(query: str = QUERY) -> PlacedPlan:
    """A plan of the credit question's catalog."""
    return compile_query(query, CREDIT, ("regulator",))


def test_other_engines_and_parties_outside_the_federation_are_refused() -> None:
    with pytest.raises(QueryError, match="engine 'two' with 3 nodes is not available"):
        compile_query(QUERY, replace(CREDIT, engine="two"), ("regulator",))
    with pytest.raises(QueryError, match="engine 'rep3' with 2 nodes is not available"):
        compile_query(QUERY, replace(CREDIT, nodes=("regulator", "bureau_a")), ("regulator",))
    with pytest.raises(QueryError, match="use 'rep3' with 3 or 'two' with 2 or 'four' with 4 nodes"):
        compile_query(QUERY, replace(CREDIT, engine="four"), ("regulator",))
    with pytest.raises(QueryError, match="recipient 'press' is not one of the parties"):
        compile_query(QUERY, CREDIT, ("press",))
    with pytest.raises(QueryError, match="no recipient"):
        compile_query(QUERY, CREDIT, ())


def test_owners_and_recipients_need_not_be_nodes() -> None:
    outside = replace(CREDIT, engine="two", nodes=("regulator", "bureau_b"))
    plan = compile_query(QUERY, outside, ("regulator",))
    assert plan.clients == ("bureau_a",)
    assert "bureau_b and bureau_a learn nothing from the tables of others." in learnt(plan)
    joins = " ".join(plan.joins)
    assert "bureau_a is no node, and only nodes match their rows" in joins or not joins
    elsewhere = compile_query(QUERY, outside, ("bureau_a",))
    told = [each for each in learnt(elsewhere) if each.startswith("bureau_a learns")]
    assert any("how many rows the nodes open" in each for each in told)
    assert any("the answer, " in each and "zip is " in each and "total is " in each for each in told)
    keeping = compile_query("CREATE TABLE kept AS SELECT ssn, score FROM scores_a", outside, ())
    assert keeping.clients == ("bureau_a",)
    assert any("for later queries that all of them and bureau_a approve" in each for each in learnt(keeping))


def test_steps_are_numbered_and_named_in_order() -> None:
    for case in ALL_CASES:
        plan = _plan(case)
        assert [step.id for step in plan.steps] == list(range(1, len(plan.steps) + 1))
        for step in plan.steps:
            if isinstance(step, NativeStep):
                assert step.operator.id == step.id
                assert all(source < step.id for source in inputs(step.operator))


def test_permits_are_exactly_announced_sizes_matches_keys_that_are_seen_and_releases() -> None:
    for case in ALL_CASES:
        plan = _plan(case)
        opened = [step for step in plan.steps if isinstance(step, ReleaseStep)]
        psis = [step for step in plan.steps if isinstance(step, PsiStep)]
        sites = [
            f"{step.id}.input" for step in plan.steps if isinstance(step, InputStep) and step.operator.rows is None
        ]
        for step in psis:
            sides = zip(("left", "right"), step.sides, strict=True)
            site = f"{step.id}.{step.operator.op}"
            sites += [f"{site}/{name}" for name, side in sides if side.rows is None]
            sites += [] if isinstance(step.operator, CircuitPsi) else [site]
        expected: list[tuple[str, str, list[str], list[str]]] = [(site, "size", list(plan.nodes), []) for site in sites]
        expected += [
            (f"{step.id}.psi", "matches", [side.owner], [])
            for step in psis
            for side in step.sides
            if isinstance(step.operator, Psi)
        ]
        expected += [
            (f"{step.id}.release", "value", list(step.operator.to), [each.name for each in step.fields])
            for step in plan.steps
            if isinstance(step, KeysStep)
        ]
        expected += [
            (f"{step.id}.resize", "count", list(plan.nodes), [])
            for step in plan.steps
            if isinstance(step, SecureStep) and isinstance(step.operator, Resize) and step.operator.rows is None
        ]
        outside = [(step, [each for each in step.operator.to if each not in plan.nodes]) for step in opened]
        expected += [(f"{step.id}.release", "size", told, []) for step, told in outside if told]
        expected += [
            (
                f"{each.id}.{each.op}",
                "keys",
                [each.trusted],
                [*(each.keys if isinstance(each, GroupBy) else each.left_keys)],
            )
            for each in (step.operator for step in plan.steps if isinstance(step, SecureStep))
            if isinstance(each, Join | GroupBy) and each.trusted is not None
        ]
        expected += [
            (
                f"{step.id}.release",
                plan.disclosures[-1].kind,
                list(step.operator.to),
                [each.name for each in step.fields],
            )
            for step in opened
        ]
        permits = [each.json() for each in plan.permits]
        names = [[column["name"] for column in each["columns"]] for each in permits]
        found = [(each["site"], each["kind"], each["recipients"], of) for each, of in zip(permits, names, strict=True)]
        assert sorted(found) == sorted(expected)
        assert all(step.operator.columns == tuple(each.name for each in step.fields) for step in opened)


def test_the_hash_covers_everything_but_paths() -> None:
    plan = compiled()
    assert plan_hash(plan) == plan_hash(compiled()) and len(plan_hash(plan)) == 32
    assert plan.catalog is not None
    table = replace(plan.catalog.tables[0], path="/somewhere/else.csv")
    moved = replace(plan, catalog=replace(plan.catalog, tables=(table, *plan.catalog.tables[1:])))
    assert plan_hash(moved) == plan_hash(plan)
    consenting = replace(plan.catalog.tables[0], consents=frozenset({"filter"}))
    others = [
        replace(plan, query=QUERY + " "),
        replace(plan, recipients=("bureau_a",)),
        replace(plan, disclosures=()),
        replace(plan, steps=plan.steps[:-1]),
        replace(plan, catalog=replace(plan.catalog, tables=(consenting, *plan.catalog.tables[1:]))),
    ]
    assert len({plan_hash(each) for each in [plan, *others]}) == len(others) + 1


def test_plan_json_is_canonical_and_complete() -> None:
    for case in ALL_CASES:
        plan = _plan(case)
        text = canonical(plan_json(plan))
        assert canonical(json.loads(text)) == text
        assert '"path"' not in text


def test_predicted_cost_follows_from_sizes_and_network() -> None:
    plan = compiled(QUERY.replace("SUM", "MAX"))
    slow, fast = (predict(plan, network=Link(latency, 1e6)) for latency in (0.5, 0.0))
    assert [each.step for each in slow] == ["2.input", "4.input", "5.join", "6.group_by", "7.release"]
    join, quick = slow[2], fast[2]
    assert (join.rows, join.assumed) == (100_000, False)
    assert join.seconds == pytest.approx(quick.seconds + 0.5 * join.rounds)
    # The busiest node sends a third of the bytes or more; 4 microseconds for each row of both tables.
    assert join.bytes / 3 / 1e6 < quick.seconds - 4e-6 * 200_000 < join.bytes / 2 / 1e6
    assert total(slow).rounds == sum(each.rounds for each in slow)


def _groups_of_two(link: Link | None) -> PlacedPlan:
    pids = "SELECT pid FROM diagnoses_a UNION ALL SELECT pid FROM diagnoses_b"
    query = f"SELECT pid, COUNT(*) AS n FROM ({pids}) AS d GROUP BY pid"
    hospitals = replace(HEALTH, engine="two", nodes=("hospital_a", "hospital_b"), link=link)
    return compile_query(query, hospitals, ("hospital_a",))


def test_time_between_two_parties_is_what_their_primitives_take() -> None:
    free = Link(latency=0, bandwidth=1e15)
    seconds = {each.step.split(".")[1]: each.seconds for each in predict(_groups_of_two(None), network=free)}
    assert seconds["group_by"] > 0.05, "transfers and lookups"
    assert seconds["union"] < 0.001, "rows that are moved"


def test_a_fast_link_saves_processor_time_between_two_parties() -> None:
    def seconds(link: Link | None) -> float:
        return total(predict(_groups_of_two(link), network=Link(latency=0, bandwidth=1e12))).seconds

    silent, fast = seconds(None), seconds(Link(0.001, 1e9))
    assert 0 < fast < silent, "streamed transfers take more bytes and less time"
    assert seconds(None) == silent, "the same at all parties"


def test_rows_that_are_announced_later_are_assumed_or_given() -> None:
    plan = compile_query("SELECT SUM(a.s) AS t FROM announced a JOIN padded b ON a.id = b.g", MIXED, ("p",))
    announced = next(step for step in plan.steps if isinstance(step, InputStep) and step.operator.rows is None)
    assumed = {each.step: each for each in predict(plan)}
    assert assumed[f"{announced.id}.input"].rows == ASSUMED_ROWS and assumed[f"{announced.id}.input"].assumed
    known = predict(plan, {announced.id: 7})
    assert not any(each.assumed for each in known)


def test_explain_fits_its_width_and_names_every_party() -> None:
    for case in ALL_CASES:
        plan = _plan(case)
        text = explain_text(plan, ())
        assert max(len(line) for line in text.splitlines()) <= WIDTH
        assert all(any(party in sentence for sentence in learnt(plan)) for party in takes_part(plan))
        assert text.rstrip().endswith(f"Plan hash {plan_hash(plan).hex()}")
        assert text.count("\nNobody learns anything else.\n") == 1


def test_explain_prints_readers_in_clear() -> None:
    query = "SELECT COUNT(*) AS n FROM scores_a s JOIN demographics d ON s.ssn = d.ssn"
    text = explain_text(compile_query(query, CREDIT, ("bureau_b",)), ())
    assert "ssn by bureau_a, regulator" in text


def test_explain_json_has_plan_account_cost_and_hash() -> None:
    plan = compiled()
    found = explain_json(plan, predict(plan))
    assert set(found) == {"format", "question", "statement", "learns", "plan", "cost", "hash"}
    assert found["hash"] == plan_hash(plan).hex()
    assert found["cost"][-1]["step"] == "total"
    json.dumps(found)


def test_a_query_of_the_recipients_own_tables_shares_nothing() -> None:
    plan = compile_query("SELECT zip FROM demographics WHERE ssn > 5", CREDIT, ("regulator",))
    assert len(plan.steps) == 1 and plan.disclosures == ()
    assert predict(plan) == ()


def test_two_recipients_get_one_release() -> None:
    plan = compile_query("SELECT COUNT(*) AS n FROM diagnoses_a", HEALTH, ("research", "hospital_b"))
    (release,) = [step for step in plan.steps if isinstance(step, ReleaseStep)]
    assert release.operator.to == ("research", "hospital_b")


def _plan(case: Case) -> PlacedPlan:
    return compile_query(case.query, CATALOGS[case.catalog], case.recipients)

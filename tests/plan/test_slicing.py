"""Where rows are sliced, and why not elsewhere. tests/plan/rules/slicing.slt has the trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from tacit.plan.account.explain import explain_text
from tacit.plan.algebra.relations import Aggregate, Relation, Scan, Slice
from tacit.plan.algebra.trees import children, owner, slices
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.expected import SHARED, expected_rows, shared_part
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.sizes import Announced, size_rule
from tacit.plan.facts.terms import Terms
from tacit.plan.physical.placed import InputStep, KeysStep, LocalStep, PlacedPlan
from tacit.plan.rules.sequence import RULES, applied
from tacit.plan.rules.sliceable import Slicing
from tacit.plan.rules.stage import Stage
from tacit.sql import bind, compile_query

from .catalogs import DIAGNOSES, EVERYBODY, PID, SLICES, table

GROUPS = "SELECT pid, COUNT(*) AS n FROM (SELECT * FROM diagnoses_a UNION ALL SELECT * FROM diagnoses_b) d GROUP BY pid"
NURSES = GROUPS.replace("diagnoses_a", "nurses")
GUESS = "half of the rows or more are taken to have a key that another owner has"


def planned(query: str, catalog: Catalog, to: tuple[str, ...] = ("research",)) -> PlacedPlan:
    return compile_query(query, catalog, to)


def is_sliced(plan: PlacedPlan) -> bool:
    found = [step for step in plan.steps if isinstance(step, KeysStep)]
    locals_ = [step for step in plan.steps if isinstance(step, LocalStep) and slices(step.relation)]
    assert bool(found) == bool(locals_)
    return bool(found)


def with_terms(catalog: Catalog, name: str, terms: Terms | None) -> Catalog:
    """The catalog with other terms of a table."""
    tables = (replace(each, terms=terms) if each.name == name else each for each in catalog.tables)
    return replace(catalog, tables=tuple(tables))


def with_rows(rows: int) -> Catalog:
    return replace(SLICES, tables=tuple(replace(each, rows=rows) for each in SLICES.tables))


def test_explain_says_why_it_is_done_and_how_long_both_plans_take() -> None:
    plan = planned(GROUPS, SLICES)
    (reason,) = plan.slicing
    assert is_sliced(plan)
    assert reason.startswith(
        "pid of diagnoses_a and diagnoses_b: rows whose key one owner alone has are computed on by"
    )
    assert "s in all" in reason and reason.endswith(GUESS)
    text = explain_text(plan)
    assert "Slices of rows by keys that all parties may read" in text
    assert "announced only when the query runs, and of slices what stands above." in " ".join(text.split())


def test_explain_says_why_it_is_not_worth_it() -> None:
    plan = planned(GROUPS, with_rows(8))
    (reason,) = plan.slicing
    assert not is_sliced(plan)
    assert reason.startswith("pid of diagnoses_a and diagnoses_b: not sliced: predicted 0.0")
    assert "with slices" in reason


def test_explain_says_who_may_not_read_a_key() -> None:
    plan = planned(NURSES, SLICES)
    assert not is_sliced(plan)
    assert plan.slicing == ("pid of nurses and diagnoses_b: not sliced: research may not read the keys of all rows",)


def test_a_key_that_only_its_owner_reads_is_no_word_worth() -> None:
    assert planned(GROUPS.replace("pid", "diag"), SLICES).slicing == ()


def test_a_recipient_has_to_read_keys_too() -> None:
    """It is no node, and learns nothing of keys; but it is a party of the question."""
    catalog = replace(SLICES, parties=(*SLICES.parties, "clinic"))
    assert is_sliced(planned(GROUPS, catalog))
    assert not is_sliced(planned(GROUPS, catalog, ("clinic",)))
    assert not is_sliced(planned(GROUPS, catalog, ("research", "clinic")))


OPEN = Terms(recipients=EVERYBODY, matches=EVERYBODY)


@pytest.mark.parametrize(
    ("terms", "sliced"),
    [
        (OPEN, True),
        (replace(OPEN, least_group=10), False),
        (replace(OPEN, matches=EVERYBODY - {"research"}), False),
        (None, True),
    ],
)
def test_what_terms_have_to_allow(terms: Terms | None, sliced: bool) -> None:
    """Whatever the policy says of the question: here only the rule of slices is asked."""
    catalog = with_terms(SLICES, "diagnoses_a", terms)
    found = list(Slicing(catalog, Readers(catalog), EVERYBODY).parts(bind(GROUPS, catalog)))
    assert bool(found) == sliced


def test_what_nodes_keep_is_not_sliced() -> None:
    assert is_sliced(planned(GROUPS, SLICES))
    assert not is_sliced(planned(f"CREATE TABLE numbers AS {GROUPS}", SLICES))


def test_a_part_that_stands_twice_is_told_once() -> None:
    twice = f"WITH g AS ({GROUPS}) SELECT a.pid, b.n FROM g a JOIN g b ON a.n = b.pid"
    assert len(planned(twice, SLICES).slicing) == 1


def test_a_condition_on_a_column_that_not_all_read_is_above_the_slices() -> None:
    plan = planned(GROUPS.replace("GROUP BY", "WHERE diag = 'x' GROUP BY"), SLICES)
    assert is_sliced(plan)
    for step in plan.steps:
        for each in slices(step.relation) if isinstance(step, LocalStep) else ():
            assert isinstance(each.input, Scan)
    padded = [step.operator for step in plan.steps if isinstance(step, InputStep) and slices_of(plan, step)]
    assert padded
    assert all(each.pad_to_source and each.rows is None for each in padded)


def test_consents_to_exact_numbers_are_not_about_slices() -> None:
    """Of a patient who is known to one hospital alone, one would say whether the condition holds."""
    tables = tuple(replace(each, consents=frozenset({"filter", "groups"})) for each in SLICES.tables)
    query = GROUPS.replace("GROUP BY", "WHERE diag = 'x' GROUP BY").replace("pid, COUNT(*)", "pid, MIN(day)")
    for catalog in (SLICES, replace(SLICES, tables=tables)):
        pricing = Preferring(catalog)
        tree = applied(RULES, Stage(bind(query, catalog)), pricing).core
        local = [each for each in parts(tree) if slices(each)]
        assert len(local) == 4
        for each in local:
            size = size_rule(each, catalog)
            assert isinstance(size, Announced)
            assert size.source
            assert {counted.rows for counted in size.counted} <= {"shared rows", "own rows"}


@dataclass
class Preferring:
    """Prices by which what is asked last is the fastest: whatever can be sliced is."""

    catalog: Catalog
    recipients: tuple[str, ...] = ()
    times: Iterator[int] = field(default_factory=lambda: count(0, -1))

    def bounds(self, stage: Stage) -> tuple[tuple[Relation, int], ...]:
        return ()

    def mergeable(self, stage: Stage) -> tuple[Relation, ...]:
        return ()

    def seconds(self, stage: Stage) -> float:
        return next(self.times)


def parts(relation: Relation) -> Iterator[Relation]:
    """The largest parts that one owner computes."""
    if owner(relation) is not None:
        yield relation
        return
    for child in children(relation):
        yield from parts(child)


def slices_of(plan: PlacedPlan, step: InputStep) -> tuple[Slice, ...]:
    (local,) = (each for each in plan.steps if isinstance(each, LocalStep) and each.id == step.local)
    return slices(local.relation)


def test_groups_by_the_key_are_announced_as_they_are() -> None:
    plan = planned(GROUPS, SLICES)
    found = [step.operator for step in plan.steps if isinstance(step, InputStep) and slices_of(plan, step)]
    assert len(found) == 4
    assert not any(each.pad_to_source for each in found)


def test_keys_of_several_types_at_one_owner_are_not_opened() -> None:
    columns = [("pid", Integer(0, 10_000_000, "BIGINT"), False), *DIAGNOSES[1:]]
    wide = table("wide_a", "hospital_a", columns, [["pid"]], rows=100_000, readers={"pid": EVERYBODY})
    catalog = replace(SLICES, tables=(*SLICES.tables, wide))
    query = "SELECT w.diag, d.day FROM wide_a w JOIN ({}) d ON w.pid = d.pid"
    union = "SELECT * FROM diagnoses_a UNION ALL SELECT * FROM diagnoses_b"
    assert not is_sliced(planned(query.format(union), catalog))


def test_what_is_expected_of_keys() -> None:
    scan = Scan("diagnoses_a", "hospital_a", (("pid", "pid"),), (Field("pid", PID, False),), 1_000)
    few = replace(scan, fields=(Field("pid", Integer(0, 9, "INTEGER"), False),))
    assert shared_part((scan,), None) == SHARED
    assert shared_part((scan,), 10_000_001) == SHARED
    assert shared_part((few,), 10) > 0.99
    assert expected_rows(Slice(scan, ("pid",), (scan,), True)) == 500
    assert expected_rows(Slice(few, ("pid",), (few,), False)) == 0
    assert expected_rows(Aggregate(few, ("pid",), ())) == 10

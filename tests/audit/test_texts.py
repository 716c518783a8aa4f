"""The check by words alone: it reads no file, and what it allows isolates nobody where whole cells are large."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.atoms import atoms_of
from tacit.audit.linear import isolates
from tacit.audit.refusals import Refused
from tacit.audit.texts import Cell, cells, outcomes, too_near
from tacit.audit.vectors import trimmed
from tacit.plan.algebra.types import Boolean, Field, Integer, Varchar
from tacit.plan.facts.catalog import Column

from .tables import ANY, Owner

COUNT = "SELECT COUNT(*) FROM people"
CUTS = {"pay": replace(ANY, cuts=(100, 200)), "vip": replace(ANY, constants=frozenset({True, False}))}


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    """There are no files."""
    return Owner(tmp_path, columns=CUTS).with_terms(differences="text")


def is_refused(owner: Owner, sql: str) -> str:
    with pytest.raises(Refused) as found:
        owner.answers(sql)
    assert not found.value.looked
    return str(found.value)


def test_whole_cells_and_what_they_make_up(owner: Owner) -> None:
    for condition in ("pay < 100", "pay >= 100 AND pay < 200", "pay < 200", "NOT pay >= 200", "TRUE"):
        owner.answers(f"{COUNT} WHERE {condition}")
    owner.answers(COUNT)
    assert len(owner.history.answers) == 6


@pytest.mark.parametrize(
    "condition",
    ["pay > 200 AND pay < 300", "pay = 100", "id = 3", "pay < 100 AND vip", "pay IS NULL", "pay > id"],
)
def test_other_conditions(owner: Owner, condition: str) -> None:
    said = is_refused(owner, f"{COUNT} WHERE {condition}")
    assert said == "refused by south: differences: too near to what was answered; ask in the next period."


@pytest.mark.parametrize("condition", ["pay < 150", "pay < 100 OR id = 3"])
def test_more_than_a_whole_cell_may_be_asked_without_the_cell(owner: Owner, condition: str) -> None:
    owner.answers(f"{COUNT} WHERE {condition}")
    assert "too near" in is_refused(owner, f"{COUNT} WHERE pay < 100")


def test_nullable_columns_leave_a_rest(owner: Owner) -> None:
    """The whole less both cells is those whose pay is NULL."""
    owner.answers(COUNT)
    owner.answers(f"{COUNT} WHERE pay < 200")
    assert "too near" in is_refused(owner, f"{COUNT} WHERE pay >= 200")


def test_groups_and_branches(owner: Owner) -> None:
    owner.answers("SELECT vip, COUNT(*) FROM people GROUP BY vip")
    owner.answers("SELECT SUM(CASE WHEN vip THEN 1 ELSE 0 END) FROM people")
    assert "a group whose values are not public" in is_refused(owner, "SELECT id, COUNT(*) FROM people GROUP BY id")
    assert "LIMIT" in is_refused(owner, "SELECT SUM(id) FROM (SELECT id FROM people ORDER BY id LIMIT 3) AS t")
    assert "another table of the same owner" in is_refused(
        owner, "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person"
    )


def test_another_owners_conditions_are_left_out(owner: Owner) -> None:
    join = "SELECT COUNT(*) FROM people p JOIN customers c ON p.id = c.ssn"
    owner.answers(f"{join} WHERE c.segment > 3 AND p.vip")
    assert "too near" in is_refused(owner, f"{join} WHERE c.segment > 3 AND p.id > 3")


def test_every_question_counts(owner: Owner) -> None:
    limited = owner.with_terms(questions=2)
    limited.answers(COUNT)
    limited.answers(COUNT)
    assert "questions" in is_refused(limited, COUNT)


NUMBER, TRUTH = Integer(0, 9, "INTEGER"), Boolean()
COLUMNS = (
    Column(Field("a", NUMBER, False), terms=replace(ANY, cuts=(3, 6))),
    Column(Field("b", NUMBER, True), terms=replace(ANY, constants=frozenset({1, 2}))),
    Column(Field("c", TRUTH, True), terms=replace(ANY, constants=frozenset({True, False}))),
    Column(Field("d", Varchar(3), False), terms=ANY),
)
TESTS = st.one_of(
    st.tuples(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]), st.integers(2, 7)).map(
        lambda t: [t[0], ["column", "a", False], ["constant", t[1]]]
    ),
    st.tuples(st.sampled_from(["eq", "ne", "lt"]), st.integers(1, 3)).map(
        lambda t: [t[0], ["column", "b", True], ["constant", t[1]]]
    ),
    st.tuples(st.sampled_from(["lt", "ge"]), st.integers(2, 7)).map(
        lambda t: [{"lt": "gt", "ge": "le"}[t[0]], ["constant", t[1]], ["column", "a", False]]
    ),
    st.just(["column", "c", True]),
    st.just(["is_null", ["column", "c", True]]),
    st.just(["eq", ["column", "d", False], ["constant", "x"]]),
)
REGIONS = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        inner.map(lambda a: ["not", a]),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
        st.tuples(inner, inner, inner).map(lambda t: ["if", *t]),
    ),
    max_leaves=3,
)
Person = dict[str, object]


def holds(said: list[object], person: Person) -> object:
    """A region's value for a person, as SQL says."""
    op, *args = said
    match op:
        case "column":
            return person[str(args[0])]
        case "constant":
            return args[0]
    found = [holds(each, person) for each in args]  # type: ignore[arg-type]  # regions within regions
    match op:
        case "not":
            return None if found[0] is None else not found[0]
        case "and":
            return False if False in found else None if None in found else True
        case "or":
            return True if True in found else None if None in found else False
        case "is_null":
            return found[0] is None
        case "if":
            return found[1] if found[0] is True else found[2]
    compare: dict[object, Callable[[int, int], bool]] = {
        "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__, "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
    }  # fmt: skip
    return None if None in found else compare[op](found[0], found[1])  # type: ignore[arg-type]  # numbers


EVERYBODY = [
    dict(zip("abcd", each, strict=True))
    for each in product(range(0, 10, 1), (None, 1, 2, 3), (None, True, False), ("x", "y"))
]


@settings(max_examples=300, deadline=None)
@given(st.lists(REGIONS, min_size=1, max_size=3), st.integers(0, 2**30))
def test_what_words_allow_isolates_nobody(said: list[list[object]], seed: int) -> None:
    """For people of whom each whole cell has three, and three in all if a region is about other columns."""
    distinct = [each for at, each in enumerate(said) if each not in said[:at]]
    if too_near(distinct, COLUMNS):
        return
    draw = random.Random(seed)
    whole = [cell for column in COLUMNS for cell in cells(column) if cell.large]
    people = [draw.choice([p for p in EVERYBODY if _within(cell, p)]) for cell in whole for _ in range(3)]
    members = [
        (trimmed((sum((holds(each, p) is True) << at for at, each in enumerate(distinct)),)), bytes([number]))
        for number, p in enumerate(people)
    ]
    assert not isolates(atoms_of(members), 3)


def _within(cell: Cell, person: Person) -> bool:
    value = person[cell.column]
    if value is None or cell.value is not None:
        return value is not None and value == cell.value
    return (cell.low is None or int(str(value)) >= cell.low) and (cell.high is None or int(str(value)) < cell.high)


@settings(max_examples=300, deadline=None)
@given(REGIONS, st.sampled_from(EVERYBODY))
def test_outcomes_contain_what_happens(said: list[object], person: Person) -> None:
    for column in COLUMNS:
        for cell in cells(column):
            inside = person[cell.column] is None if cell.null else (
                person[cell.column] is not None and person[cell.column] not in cell.but
                if cell.but is not None else _within(cell, person)
            )  # fmt: skip
            if inside:
                assert holds(said, person) in outcomes(said, {cell.column: cell})


def test_cells_make_up_a_column() -> None:
    assert [(each.low, each.high) for each in cells(COLUMNS[0])] == [(None, 3), (3, 6), (6, None)]
    assert [each.large for each in cells(COLUMNS[1])] == [True, True, False, False]
    assert cells(COLUMNS[3]) == []

"""The owner's check of sequences of questions, with changes of its table between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.atoms import Atom
from tacit.audit.check import DAY, refused
from tacit.audit.refusals import Refused
from tacit.audit.vectors import entries_of
from tacit.plan.facts.terms import ColumnTerms

from . import minimum
from .tables import ANY, Owner, Person, people

COUNT = "SELECT COUNT(*) FROM people"
PAY = "SELECT SUM(pay) FROM people"
TOO_NEAR = "refused by south: differences: too near to what was answered; ask in the next period."


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    """Eight of Oslo, four of Bergen and one of Bodo; floor 3."""
    found = Owner(tmp_path)
    found.has(people(*["Oslo"] * 8, *["Bergen"] * 4, "Bodo"))
    return found


def too_near(owner: Owner, sql: str) -> None:
    before = owner.history
    with pytest.raises(Refused) as found:
        owner.answers(sql)
    assert str(found.value) == TOO_NEAR
    assert found.value.looked
    assert owner.history is before


# --- trackers ---------------------------------------------------------------------------------------------------------


def test_nesting(owner: Owner) -> None:
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    too_near(owner, f"{COUNT} WHERE city = 'Oslo' OR city = 'Bodo'")
    owner.answers(f"{COUNT} WHERE city = 'Oslo' OR city = 'Bergen'")
    too_near(owner, f"{PAY} WHERE city IN ('Oslo', 'Bergen') AND id <> 2")


def test_a_whole_and_its_parts(owner: Owner) -> None:
    """The groups fold Bodo into Bergen; afterwards Bergen alone would tell of Bodo."""
    owner.answers("SELECT city, COUNT(*) FROM people GROUP BY city")
    owner.answers(COUNT)
    too_near(owner, f"{COUNT} WHERE city = 'Bergen'")


def test_an_individual_tracker(owner: Owner) -> None:
    owner.answers(f"{PAY} WHERE city = 'Oslo'")
    too_near(owner, f"{PAY} WHERE city = 'Oslo' AND NOT id = 3")


def test_a_general_tracker(owner: Owner) -> None:
    """The sums over C or T and over C or not T, less the whole, are that over C."""
    owner.answers(PAY)
    owner.answers(f"{PAY} WHERE id = 9 OR id < 6")
    too_near(owner, f"{PAY} WHERE id = 9 OR NOT id < 6")


def test_conditional_sums_of_one_query(owner: Owner) -> None:
    """Each is over enough people, and both conditions together split them too finely: neither is shown."""
    branches = "SUM(CASE WHEN id < 6 THEN pay ELSE 0 END), SUM(CASE WHEN id < 7 THEN pay ELSE 0 END)"
    owner.answers(f"SELECT {branches} FROM people")
    assert owner.sets(f"SELECT {branches} FROM people") == []
    apart = "SUM(CASE WHEN id < 6 THEN pay ELSE 0 END), SUM(CASE WHEN id < 9 THEN pay ELSE 0 END)"
    owner.answers(f"SELECT {apart} FROM people")
    too_near(owner, f"{PAY} WHERE id < 8")


def test_questions_of_one_query_count_together(owner: Owner) -> None:
    both = f"SELECT a.n, b.n AS m FROM ({COUNT.replace('COUNT(*)', 'COUNT(*) AS n')}) AS a, " + (
        "(SELECT COUNT(*) AS n FROM people WHERE id <> 3) AS b"
    )
    too_near(owner, both)


def test_a_join_is_checked_as_its_own_side(owner: Owner) -> None:
    join = "SELECT COUNT(*) FROM people p JOIN customers c ON p.id = c.ssn"
    owner.answers(f"{join} WHERE p.city = 'Oslo'")
    owner.answers(f"{join} WHERE p.city = 'Oslo' AND c.segment > 3")
    too_near(owner, f"{join} WHERE p.city = 'Oslo' AND p.id <> 3")
    too_near(owner, f"{join} WHERE c.segment > 3 AND p.city = 'Oslo' AND p.id <> 3")
    too_near(owner, f"{COUNT} WHERE city = 'Oslo' AND id <> 3")


def test_ordinary_group_bys_are_answered(owner: Owner) -> None:
    for sql in (
        "SELECT city, COUNT(*) FROM people GROUP BY city",
        "SELECT city, AVG(pay) FROM people GROUP BY city",
        "SELECT city, MAX(pay) FROM people GROUP BY city ORDER BY 2 DESC",
        COUNT,
        "SELECT AVG(pay) FROM people WHERE city = 'Oslo'",
    ):
        owner.answers(sql)
    assert len(owner.history.answers) == 5


def test_groups_that_are_once_folded_and_once_left_out(owner: Owner) -> None:
    """Bergen with Bodo, and Bergen without: a condition on groups leaves small ones out."""
    owner.answers("SELECT city, COUNT(*) FROM people GROUP BY city")
    too_near(owner, "SELECT city, COUNT(*) AS n FROM people GROUP BY city HAVING COUNT(*) > 1")


# --- changes of data --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda found: [*found, {**found[0], "id": 99}],
        lambda found: found[1:],
        lambda found: [{**found[0], "city": "Bergen"}, *found[1:]],
        lambda found: [{**found[0], "id": 99}, *found[1:]],
    ],
)
def test_one_row_more_less_or_elsewhere(owner: Owner, change: Callable[[list[Person]], list[Person]]) -> None:
    before = people(*["Oslo"] * 8, *["Bergen"] * 4, "Bodo")
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    owner.has(change(before))
    too_near(owner, f"{COUNT} WHERE city = 'Oslo'")
    owner.has(before)
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")


def test_other_values_matter_where_they_are_added_up(owner: Owner) -> None:
    before = people(*["Oslo"] * 8)
    owner.has(before)
    owner.answers(PAY)
    owner.answers("SELECT SUM(id) FROM people")
    owner.has([{**before[0], "pay": 999}, *before[1:]])
    owner.answers("SELECT SUM(id) FROM people")
    owner.answers(COUNT)
    too_near(owner, PAY)


def test_one_value_shows_among_many_that_changed_in_another_column(owner: Owner) -> None:
    """Versions of whole rows would hide it: they would all be new."""
    before = people(*["Oslo"] * 8)
    owner.has(before)
    owner.answers("SELECT SUM(pay), SUM(id * 1) FROM people")
    owner.has([{**each, "pay": 999 if at == 0 else each["pay"], "city": "Moss"} for at, each in enumerate(before)])
    too_near(owner, PAY)


def test_many_changed_values_are_no_difference(owner: Owner) -> None:
    before = people(*["Oslo"] * 8)
    owner.has(before)
    owner.answers(PAY)
    owner.has([{**each, "pay": 999} for each in before])
    owner.answers(PAY)


def test_without_a_unique_key_rows_may_only_be_added(tmp_path: Path) -> None:
    owner = Owner(tmp_path, unique=())
    before = people(*["Oslo"] * 8)
    owner.has(before)
    owner.answers(COUNT)
    owner.has([*before, *people(*["Oslo"] * 3, start=50)])
    owner.answers(COUNT)
    owner.has([{**each, "pay": 1} for each in before])
    too_near(owner, COUNT)


# --- floors, units, columns -------------------------------------------------------------------------------------------


def test_units_count_and_not_rows(tmp_path: Path) -> None:
    owner = Owner(tmp_path, unique=()).with_terms(unit=("pay",))
    owner.has([{**each, "pay": 100 + at // 3} for at, each in enumerate(people(*["Oslo"] * 12, *["Bodo"] * 3))])
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    too_near(owner, COUNT)


def test_rows_of_nobody_are_not_counted(tmp_path: Path) -> None:
    owner = Owner(tmp_path).with_terms(unit=("pay",))
    nobody = [{**each, "pay": None} for each in people(*["Bodo"] * 2, start=50)]
    owner.has([*people(*["Oslo"] * 8), *nobody])
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    owner.answers(COUNT)


def test_a_column_with_a_higher_floor(tmp_path: Path) -> None:
    owner = Owner(tmp_path, columns={"pay": ColumnTerms(ANY.ways, ANY.functions, 5)})
    owner.has(people(*["Oslo"] * 8, *["Bergen"] * 4))
    owner.answers(COUNT)
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    owner.answers(PAY)
    too_near(owner, f"{PAY} WHERE city = 'Oslo'")


def test_columns_that_are_open_row_by_row_need_no_floor(tmp_path: Path) -> None:
    seen = ColumnTerms(frozenset({"select"}))
    owner = Owner(tmp_path, columns={"city": seen, "vip": seen})
    owner.has(people(*["Oslo"] * 8, "Bodo"))
    owner.answers("SELECT COUNT(city) FROM people WHERE city = 'Oslo'")
    owner.answers("SELECT COUNT(city) FROM people WHERE city = 'Oslo' OR city = 'Bodo'")
    owner.answers("SELECT SUM(pay) FROM people WHERE city = 'Oslo'")
    too_near(owner, "SELECT SUM(pay) FROM people WHERE city = 'Oslo' OR city = 'Bodo'")


# --- numbers of questions ---------------------------------------------------------------------------------------------


def test_the_same_question_over_the_same_table_is_no_further_one(owner: Owner) -> None:
    limited = owner.with_terms(questions=1)
    for _ in range(3):
        limited.answers(COUNT)
    assert len(limited.history.answers) == 1
    with pytest.raises(
        Refused, match=r"^refused by south: questions: people has given its answers in this period; ask"
    ):
        limited.answers(f"{COUNT} WHERE city = 'Oslo'")
    limited.now += 31 * DAY
    limited.answers(f"{COUNT} WHERE city = 'Oslo'")


def test_the_same_question_with_others_data_counts_again(owner: Owner) -> None:
    join = "SELECT COUNT(*) FROM people p JOIN customers c ON p.id = c.ssn"
    limited = owner.with_terms(questions=2)
    limited.answers(join)
    limited.answers(join)
    with pytest.raises(Refused, match="questions"):
        limited.answers(join)


def test_the_same_question_counts_again_when_anything_has_changed(owner: Owner) -> None:
    owner.answers(COUNT)
    owner.has([*people(*["Oslo"] * 8, *["Bergen"] * 4, "Bodo")[:-1], {**people("Voss", start=12)[0]}])
    owner.answers(COUNT)
    assert len(owner.history.answers) == 2


def test_refusals_are_numbered(owner: Owner) -> None:
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    for _ in range(5):
        owner.history = refused(owner.history, "people", owner.now)
    with pytest.raises(Refused, match=r"^refused by south: refusals: people has refused as often as it may"):
        owner.answers(COUNT)
    owner.now += 31 * DAY
    owner.answers(COUNT)


def test_differences_are_looked_for_within_the_period(owner: Owner) -> None:
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    owner.now += 29 * DAY
    too_near(owner, f"{COUNT} WHERE city = 'Oslo' OR city = 'Bodo'")
    owner.answers(COUNT)
    owner.now += 2 * DAY
    owner.answers(f"{COUNT} WHERE city = 'Oslo' OR city = 'Bodo'")
    too_near(owner, f"{COUNT} WHERE city = 'Oslo'")


# --- sequences --------------------------------------------------------------------------------------------------------

CONDITIONS: dict[str, Callable[[Person], bool]] = {
    "TRUE": lambda p: True,
    "city = 'A'": lambda p: p["city"] == "A",
    "city <> 'A'": lambda p: p["city"] != "A",
    "vip": lambda p: bool(p["vip"]),
    "city = 'A' OR vip": lambda p: p["city"] == "A" or bool(p["vip"]),
    "city = 'A' AND NOT vip": lambda p: p["city"] == "A" and not p["vip"],
    "id < 4": lambda p: int(str(p["id"])) < 4,
    "id <> 2": lambda p: p["id"] != 2,
}
LEAST = 2
Edit = tuple[int, str, object]
EDITS = st.one_of(
    st.tuples(st.integers(0, 6), st.just("city"), st.sampled_from("AB")),
    st.tuples(st.integers(0, 6), st.just("vip"), st.booleans()),
    st.tuples(st.integers(0, 6), st.just("pay"), st.integers(1, 3)),
)
PEOPLE = st.lists(
    st.fixed_dictionaries({"city": st.sampled_from("AB"), "vip": st.booleans(), "pay": st.integers(1, 2)}),
    min_size=7, max_size=7,
)  # fmt: skip
QUESTIONS = st.lists(
    st.tuples(st.sampled_from(sorted(CONDITIONS)), st.booleans(), st.none() | EDITS), min_size=1, max_size=4
)


def isolated(sums: Sequence[dict[object, object]], least: int) -> bool:
    """Whether sums isolate somebody. Each has its unknowns, and the unit of each."""
    unknowns = {key: unit for each in sums for key, unit in each.items()}
    atoms: dict[tuple[int, ...], set[bytes]] = {}
    for key, unit in unknowns.items():
        atoms.setdefault(entries_of({at: 1 for at, each in enumerate(sums) if key in each}), set()).add(
            repr(unit).encode()
        )
    return minimum.isolates([Atom(entries, frozenset(units)) for entries, units in atoms.items()], least)


@settings(max_examples=40, deadline=None)
@given(PEOPLE, QUESTIONS)
def test_sequences_are_answered_exactly_as_far_as_nobody_is_isolated(
    drawn: list[Person], asked: list[tuple[str, bool, Edit | None]]
) -> None:
    """Counts have a person as an unknown, sums of pay a person's pay as it was. Every refusal has a reason."""
    with TemporaryDirectory() as folder:
        owner = Owner(Path(folder)).with_terms(least_group=LEAST)
        found = [{"id": at, **each} for at, each in enumerate(drawn)]
        counts: list[dict[object, object]] = []
        pays: list[dict[object, object]] = []
        for sql, sums, edit in asked:
            if edit is not None:
                found[edit[0]] = {**found[edit[0]], edit[1]: edit[2]}
            owner.has(found)
            chosen = [each for each in found if CONDITIONS[sql](each)]
            more = ([{p["id"]: p["id"] for p in chosen}], [{(p["id"], p["pay"]): p["id"] for p in chosen}])
            if len(chosen) < LEAST:
                more = ([], [])
            now_counts, now_pays = counts + more[0], pays + (more[1] if sums else [])
            refuse = isolated(now_counts, LEAST) or isolated(now_pays, LEAST)
            question = f"{PAY if sums else COUNT} WHERE {sql}"
            if refuse:
                too_near(owner, question)
            else:
                owner.answers(question)
                counts, pays = now_counts, now_pays


def test_histories_are_kept_apart_by_what_names_rows(owner: Owner) -> None:
    owner.answers(f"{COUNT} WHERE city = 'Oslo'")
    other = owner.with_terms(unit=("pay",))
    other.answers(COUNT)
    assert len(other.history.records) == 2

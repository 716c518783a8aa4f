"""The exact check: equal to its definition on small matrices, and right on the known ways to isolate a person."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit import linear, search
from tacit.audit.atoms import Atom, atoms_of
from tacit.audit.linear import isolates
from tacit.audit.vectors import PRIME, Parities, Residues, entries_of, entry, packed

from . import minimum

UNITS = [bytes([number]) for number in range(7)]
ATOMS = st.builds(
    Atom,
    st.dictionaries(st.integers(0, 4), st.integers(1, 2), min_size=1).map(entries_of),
    st.frozensets(st.sampled_from(UNITS), min_size=1, max_size=4),
)


def people(*sizes: int) -> list[frozenset[bytes]]:
    """Disjoint sets of people of these sizes."""
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    return [frozenset(n.to_bytes(2, "big") for n in range(at, at + n)) for at, n in zip(starts, sizes, strict=True)]


def asked(*sets: frozenset[bytes]) -> list[Atom]:
    """The atoms of sets of people, of which each is one row."""
    everybody = frozenset().union(*sets)
    return atoms_of(((sum((person in each) << n for n, each in enumerate(sets)),), person) for person in everybody)


@settings(max_examples=400, deadline=None)
@given(st.lists(ATOMS, max_size=6, unique_by=lambda each: each.entries), st.integers(1, 4))
def test_the_check_equals_its_definition(atoms: list[Atom], least: int) -> None:
    assert isolates(atoms, least) == minimum.isolates(atoms, least)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.frozensets(st.sampled_from(UNITS)), max_size=6), st.integers(2, 4))
def test_the_check_equals_its_definition_for_sets_of_people(sets: list[frozenset[bytes]], least: int) -> None:
    atoms = asked(*sets) if sets else []
    assert isolates(atoms, least) == minimum.isolates(atoms, least)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.frozensets(st.sampled_from(UNITS), min_size=1), min_size=1, max_size=5), st.integers(1, 4))
def test_a_further_set_never_undoes_what_is_isolated(sets: list[frozenset[bytes]], least: int) -> None:
    if isolates(asked(*sets[:-1]) if sets[:-1] else [], least):
        assert isolates(asked(*sets), least)


def test_one_large_set_isolates_nobody() -> None:
    (oslo,) = people(10)
    assert not isolates(asked(oslo), 10)
    assert isolates(asked(oslo), 11)
    assert not isolates(asked(oslo, oslo), 10)


def test_nested_sets() -> None:
    oslo, vips, others = people(40, 9, 10)
    assert isolates(asked(oslo, oslo | vips), 10)
    assert not isolates(asked(oslo, oslo | others), 10)


def test_an_individual_tracker() -> None:
    """C = A and B isolates one person. Neither is asked for: A, and A without B."""
    rest, one = people(50, 1)
    assert isolates(asked(rest | one, rest), 5)


def test_a_general_tracker() -> None:
    """q(C) = q(C or T) + q(C or not T) - q(T) - q(not T): all four sets are large."""
    tracked, untracked, target_in, target_out = people(30, 30, 1, 1)
    tracker, complement = tracked | target_in, untracked | target_out
    target = target_in | target_out
    assert not isolates(asked(tracker, complement, tracker | target_out), 1)
    assert isolates(asked(tracker, complement, tracker | target, complement | target), 3)
    assert not isolates(asked(tracker, complement), 3)


def test_a_union_tracker() -> None:
    """Two trackers that do not meet, and unions of the target with each: what the definition says at each question."""
    first, second, target, nobody = people(4, 4, 1, 5)
    sets = [first | nobody, second | nobody, first | second | nobody, target | first, target | second]
    found = [isolates(asked(*sets[: n + 1]), 3) for n in range(len(sets))]
    assert found == [minimum.isolates(asked(*sets[: n + 1]), 3) for n in range(len(sets))]
    assert found == [False, False, False, True, True]


def test_a_half_is_found_where_whole_coefficients_do_not_do() -> None:
    """(A|C) + (B|C) - (A|B) is twice C."""
    first, second, both = people(30, 30, 2)
    assert isolates(asked(first | both, second | both, first | second, first, second), 3)


def test_families_count_with_their_smallest_atom() -> None:
    """Two families, each of an atom of three people and one of one: the second row is about five people."""
    columns = ({0: 1}, {0: 1, 1: 2}, {1: 1}, {0: 2, 1: 1})
    atoms = [Atom(entries_of(each), units) for each, units in zip(columns, people(3, 3, 1, 1), strict=True)]
    assert [isolates(atoms, least) for least in (5, 6)] == [False, True]
    assert [minimum.isolates(atoms, least) for least in (5, 6)] == [False, True]


def test_a_total_of_its_groups_is_no_further_row() -> None:
    groups = people(10, 11, 12)
    assert not isolates(asked(*groups, groups[0] | groups[1] | groups[2]), 10)
    assert isolates(asked(*groups, groups[0] | groups[1] | groups[2] | frozenset({b"new"})), 10)


def test_units_with_several_rows_count_once() -> None:
    members = [((1,), b"one")] * 20 + [((3,), bytes([n])) for n in range(20)]
    assert isolates(atoms_of(members), 10)


def test_rows_without_a_unit_protect_nobody() -> None:
    members: list[tuple[tuple[int, ...], bytes | None]] = [((3,), bytes([n])) for n in range(20)]
    assert not isolates(atoms_of([*members, ((1,), None)]), 10)


def test_what_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows that need the search, which is not allowed to take a step."""
    groups = people(4, 4, 4, 4)
    sets = [groups[0] | groups[1] | groups[2], groups[1] | groups[2] | groups[3], groups[0] | groups[3] | groups[1]]
    assert not isolates(asked(*sets), 5)
    monkeypatch.setattr(search, "MOST_WORK", 0)
    monkeypatch.setattr(linear, "_spread", lambda *_: False)
    assert isolates(asked(*sets), 5)


def test_more_sets_than_can_be_looked_at_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets that a large atom has alone are none of them."""
    groups = people(10, 11, 12)
    overlapping = [groups[0] | groups[1], groups[1] | groups[2], groups[0] | groups[2]]
    assert not isolates(asked(*overlapping), 5)
    monkeypatch.setattr(linear, "MOST_ROWS", 2)
    assert isolates(asked(*overlapping), 5)
    assert not isolates(asked(*groups), 5)


@given(st.lists(st.lists(st.integers(0, PRIME - 1), min_size=4, max_size=4), max_size=6))
def test_residues_span_what_their_annihilators_say(vectors: list[list[int]]) -> None:
    span = Residues(4)
    for each in vectors:
        inside = all(sum(value * each[at] for at, value in found.items()) % PRIME == 0 for found in span.annihilators())
        assert span.add(entries_of(dict(enumerate(each)))) != inside
    assert len([*span.annihilators()]) == 4 - span.rank
    assert all(not span.reduced(packed(entries_of(dict(enumerate(each))))) for each in vectors)


@given(st.integers(0, PRIME - 1), st.integers(0, PRIME - 1), st.integers(0, PRIME - 1))
def test_products_are_reduced(value: int, factor: int, other: int) -> None:
    first, second = (packed(entries_of({0: a, 1: b})) for a, b in ((value, 1), (other, 5)))
    vector = Residues(2)._less(first, factor, second)
    assert (entry(vector, 0), entry(vector, 1)) == ((value - factor * other) % PRIME, (1 - factor * 5) % PRIME)


def test_parities_are_less_than_the_rank() -> None:
    span = Parities()
    assert [span.add((each,)) for each in (0b011, 0b110, 0b101)] == [True, True, False]
    residues = Residues(3)
    assert [residues.add((each,)) for each in (0b011, 0b110, 0b101)] == [True, True, True]

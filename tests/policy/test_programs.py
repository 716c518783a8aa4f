"""Owners' rules of arrays: which programs may compute on them, for whom and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.terms import ArrayTerms
from tacit.plan.policy.programs import check_program, program_hash
from tacit.plan.policy.refusal import PolicyRefusal

TODAY = date(2027, 1, 31)
HASH = program_hash("ab" * 32)
OTHER = program_hash("cd" * 32)
TERMS = ArrayTerms(frozenset({"program"}), frozenset({"north"}), frozenset({HASH}), TODAY)
WHERE = "at [arrays.x] in offers/south.toml."


def array(terms: ArrayTerms | None = TERMS, name: str = "x", owner: str = "south") -> OfferedArray:
    return OfferedArray(name, owner, (3, 2), "float64", Fraction(-1), Fraction(1), terms=terms)


def refusal(*arrays: OfferedArray, to: tuple[str, ...] = ("north",), today: date = TODAY) -> PolicyRefusal:
    with pytest.raises(PolicyRefusal) as caught:
        check_program(arrays, HASH, to, today)
    return caught.value


def test_a_listed_program_is_allowed() -> None:
    ruling = check_program([array()], HASH, ("north",), TODAY)
    assert [(each.owner, each.sentence) for each in ruling.allowances] == [
        ("south", "the array x may be computed on (it lists this program)")
    ]


def test_an_array_may_be_open_to_any_program() -> None:
    ruling = check_program([array(replace(TERMS, programs=None))], OTHER, ("north",), TODAY)
    assert ruling.allowances[0].sentence == (
        'the array x may be computed on (any program may compute on it, programs = "any")'
    )


@pytest.mark.parametrize(
    ("terms", "to", "sentence"),
    [
        (ArrayTerms(), ("north",),
         f"closed: the array x is closed; south has to write use = [\"program\"], \"{HASH}\" in allow "
         f'and "north" in recipients {WHERE}'),
        (replace(TERMS, ways=frozenset()), ("north",),
         f'closed: the array x is closed; south has to write use = ["program"] {WHERE}'),
        (replace(TERMS, programs=frozenset()), ("north",),
         f"allow: the array x is open to no program, and so not to {HASH}; "
         f'south has to write "{HASH}" in allow {WHERE}'),
        (replace(TERMS, programs=frozenset({OTHER})), ("north",),
         f"allow: the array x is open to certain programs, and not to {HASH}; "
         f'south has to write "{HASH}" in allow {WHERE}'),
        (TERMS, ("north", "west"),
         f'recipient: west is no recipient of the array x; south has to write "west" in recipients {WHERE}'),
        (TERMS, ("south", "west"),
         f'recipient: west is no recipient of the array x; south has to write "west" in recipients {WHERE}'),
        (replace(TERMS, until=date(2027, 1, 30)), ("north",),
         "until: the array x was offered until 2027-01-30; "
         f"south has to write until = 2027-01-31 or later {WHERE}"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_refused_with_what_would_allow_it(
    terms: ArrayTerms, to: tuple[str, ...], sentence: str
) -> None:
    assert str(refusal(array(terms), to=to)) == f"refused by south: {sentence}"


def test_the_first_array_that_refuses_is_told() -> None:
    found = refusal(array(), array(ArrayTerms(), "y", "west"), to=("north",))
    assert str(found).startswith("refused by west: closed: the array y is closed; west has to write ")
    assert [(each.owner, each.table, each.rule, each.way) for each in found.problems] == [
        ("west", "y", "closed", "program"), ("west", "y", "recipient", "program")
    ]  # fmt: skip


def test_rules_do_not_bind_what_the_owner_alone_receives() -> None:
    assert check_program([array(ArrayTerms())], HASH, ("south",), TODAY).allowances == ()
    assert refusal(array(ArrayTerms()), to=("south", "north")).rule == "closed"


def test_catalogs_without_offers_bind_nothing() -> None:
    assert check_program([array(None)], HASH, ("north",), TODAY).allowances == ()

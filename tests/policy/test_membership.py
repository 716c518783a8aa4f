"""Allowed questions single out nobody: a search that finds weights and conditions where a rule is switched off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Final

import pytest

from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy import aggregated, check, grouped
from tacit.plan.policy.state import NOTHING

from .product import Product
from .properties.membership import EVERY, VARIANTS, Asked, broken, offers, samples, singled_out
from .properties.membership_questions import questions
from .rendered import Rendered

NORTH: Final = ("north",)
Found = tuple[str, tuple[str, ...], str]
ATTACKS: Final = {
    "a group of seen rows": r"JOIN \(SELECT t\d+\.ssn, (?:SUM|MAX)\(CASE .* FROM points .* GROUP BY t\d+\.ssn\) a ON",
    "DISTINCT": r"JOIN \(SELECT DISTINCT t\d+\.ssn, CASE ",
    "the first of each": r"DISTINCT ON \(t\d+\.ssn\)",
    "a number of seen rows": r"SELECT t\d+\.ssn, COUNT\(\*\) AS n FROM \(.* FROM visits",
    "a key that a guard shows": r"FROM logs GROUP BY ssn\) t",
    "a match of groups": r"LEFT JOIN \(SELECT ssn, n FROM .* WHERE ssn = \d+\)",
    "how often": r"FROM points .* JOIN .* FROM copies",
    "which rows": r"FROM daily .* (?:SEMI )?JOIN .* FROM chosen",
    "rows by keys of the recipient": r" b ON a\.n = b\.ssn",
    "a computed key": r"ON p\.ssn (?:\+|//|%) \d+ = a\.ssn",
    "a computed choice": r"p\.ssn IN \(SELECT n FROM",
}
"""What makes attacks of the tests of breaks, as questions of this search have it."""


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Catalog]:
    @cache
    def made(variant: str) -> Catalog:
        return Product(offers(variant), tmp_path_factory.mktemp(variant)).federation.catalog

    return made


def breaks(subject: Rendered, variant: str, seed: int, count: int, every: bool = False) -> Iterator[Found]:
    """Allowed questions that tell more than the lemma says. every: all sets are tried."""
    allowed = 0
    for sql, to in questions(seed, count):
        if subject.verdict(sql, to).allowed:
            allowed += 1
            bases = EVERY if every else samples(seed)
            if found := broken(Asked(subject, sql, to), variant == "fold", bases):
                yield sql, to, found
    assert allowed * 10 > count, "few questions are allowed"


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_allowed_question_singles_out_a_person(catalogs: Callable[[str], Catalog], variant: str) -> None:
    assert list(breaks(Rendered(catalogs(variant)), variant, 1, 50)) == []


MUTANTS: Final[Mapping[str, tuple[tuple[object, str, Any], ...]]] = {
    "weights": ((aggregated, "_weights", lambda *_: NOTHING),),
    "repeats": ((aggregated, "repeats", lambda *_: NOTHING), (grouped, "repeating", lambda *_: NOTHING)),
    "known": ((grouped, "_known", lambda items, _: items),),
    "powers": ((aggregated, "_powers", lambda *_: NOTHING),),
}
"""Rules of the derivation that are switched off: in which module, by which name, and what stands in its place."""


def without_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "problems_of_form", lambda *_: ())


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_the_search_finds_breaks(
    catalogs: Callable[[str], Catalog], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_form(monkeypatch)
    for module, name, other in MUTANTS[rule]:
        monkeypatch.setattr(module, name, other)
    found = list(islice(breaks(Rendered(catalogs("drop")), "drop", SEEDS[rule], 150), 1))
    assert found, rule


@pytest.mark.parametrize("rule", ["weights", "repeats", "known"])
def test_the_form_of_questions_refuses_what_the_derivation_overlooks(
    catalogs: Callable[[str], Catalog], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second check shares no fact with the first one."""
    for module, name, other in MUTANTS[rule]:
        monkeypatch.setattr(module, name, other)
    assert not list(islice(breaks(Rendered(catalogs("drop")), "drop", SEEDS[rule], 150), 1)), rule


SEEDS: Final = {"weights": 8, "repeats": 5, "known": 1, "powers": 8}
"""Seeds of which one of the first questions breaks each."""


def test_a_weight_is_found_by_both_criteria(
    catalogs: Callable[[str], Catalog], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_form(monkeypatch)
    monkeypatch.setattr(aggregated, "_weights", lambda *_: NOTHING)
    sql = "SELECT SUM(c.weight) AS n FROM people p JOIN customers c ON p.ssn = c.ssn"
    for variant in ("drop", "fold"):
        asked = Asked(Rendered(catalogs(variant)), sql, NORTH)
        assert broken(asked, variant == "fold", samples(1))
    assert len(set(asked.answers(EVERY))) == 4096 - 1 - 12 - 66 + 1, "all sets of three or more, and no answer"


@pytest.mark.parametrize(
    ("sql", "different"),
    [
        ("SELECT COUNT(*) AS n FROM people", 11),
        ("SELECT city, age > 30 AS old, COUNT(*) AS n FROM people GROUP BY city, age > 30", 16),
        ("SELECT c.segment, COUNT(*) AS n FROM people p JOIN customers c ON p.ssn = c.ssn GROUP BY c.segment", 25),
        ("SELECT COUNT(*) AS n FROM staff WHERE vip", 11),
        ("SELECT c.ssn > 2 AS k, COUNT(*) AS n FROM people p JOIN customers c ON p.ssn = c.ssn GROUP BY k", 9),
    ],
)
def test_groups_of_many_tell_no_more_than_their_numbers(
    catalogs: Callable[[str], Catalog], sql: str, different: int
) -> None:
    """Each answer is a number from the floor on in each group, or none. All sets in one query, and each alone."""
    asked = Asked(Rendered(catalogs("drop")), sql, NORTH)
    assert len(set(asked.answers(EVERY))) == different
    assert singled_out(asked, EVERY) == []
    assert all(asked.alone(each) == asked.found[each] for each in EVERY[::97])


def test_questions_have_what_attacks_are_made_of() -> None:
    asked = [sql for sql, _ in questions(1, 3000)]
    assert [name for name, pattern in ATTACKS.items() if not any(re.search(pattern, sql) for sql in asked)] == []


@pytest.mark.nightly
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(10, 14))
def test_no_question_of_many_singles_out_a_person(catalogs: Callable[[str], Catalog], variant: str, seed: int) -> None:
    assert list(breaks(Rendered(catalogs(variant)), variant, seed, 1500)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("variant", VARIANTS)
def test_nor_does_one_of_a_few_for_any_set(catalogs: Callable[[str], Catalog], variant: str) -> None:
    assert list(breaks(Rendered(catalogs(variant)), variant, 20, 200, every=True)) == []

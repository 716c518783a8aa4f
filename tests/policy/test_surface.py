"""P1 to P12 over the whole surface of docs/sql.md: each question is refused by a rule, or has the properties."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from . import corpus, plain
from .product import Product
from .properties import surface, surface_checks
from .properties.surface import NORTH
from .rendered import NOT_SQL, Rendered
from .worlds import Prepared

LEASTS = (2, 3)
NEVER: Final = frozenset({"CORR", "COVAR_POP", "SUM(DISTINCT x)"})
"""Constructs that no offer allows of single rows; see docs/rules.md."""


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Rendered]:
    folders = {least: tmp_path_factory.mktemp(f"least{least}") for least in LEASTS}
    return {
        each: Rendered(Product(surface.offers(each), folder).federation.catalog) for each, folder in folders.items()
    }


@cache
def asked(seed: int, least: int) -> tuple[str, ...]:
    """Questions with every construct."""
    return tuple(surface.generated(seed, least))


_allowed: dict[tuple[int, int, int], tuple[str, ...]] = {}


def allowed(subject: Rendered, seed: int, least: int) -> tuple[str, ...]:
    """Questions that are allowed, with every construct that any of them has."""
    key = (id(subject), seed, least)
    if key not in _allowed:
        found = surface.generated(seed, least, lambda sql: subject.verdict(sql, NORTH).allowed, NEVER)
        _allowed[key] = tuple(found)
    return _allowed[key]


def none(found: Iterable[tuple[object, ...]]) -> bool:
    """Whether a search finds nothing; what it finds stands in the failure."""
    first = list(islice(found, 2))
    assert first == []
    return True


def counts(questions: Iterable[str]) -> Counter[str]:
    return Counter(name for sql in questions for name in surface.constructs(sql))


def test_every_construct_is_asked_and_refused_by_a_rule_or_allowed(subjects: Mapping[int, Rendered]) -> None:
    questions = asked(1, 3)
    assert {name for name in surface.PATTERNS if counts(questions)[name] < 3} == set()
    rules = {sql: subjects[3].verdict(sql, NORTH).rule for sql in questions}
    assert [sql for sql, rule in rules.items() if rule == NOT_SQL] == []
    assert len(questions) > 120
    assert len({rule for rule in rules.values()}) > 8, "many rules refuse"
    assert [sql for sql, rule in rules.items() if surface.constructs(sql) & NEVER and not rule] == []


def test_every_construct_is_in_questions_that_are_allowed(subjects: Mapping[int, Rendered]) -> None:
    """Rules that refuse everything have no meaning either."""
    found = counts(allowed(subjects[3], 2, 1))
    assert {name for name in surface.PATTERNS if not found[name]} == NEVER
    assert sum(found.values()) > 200


@pytest.mark.parametrize("least", LEASTS)
def test_closed_columns_never_show(subjects: Mapping[int, Rendered], least: int) -> None:
    assert none(surface_checks.closed_columns(subjects[least], allowed(subjects[least], 2, 1), 1, 2))


@pytest.mark.parametrize("least", LEASTS)
def test_keys_that_are_only_joined_may_have_any_names(subjects: Mapping[int, Rendered], least: int) -> None:
    assert none(surface_checks.joined_keys(subjects[least], allowed(subjects[least], 2, 1), 2, 3))


@pytest.mark.parametrize("least", LEASTS)
def test_fewer_units_than_the_floor_are_as_none(subjects: Mapping[int, Rendered], least: int) -> None:
    assert none(surface_checks.few_units(subjects[least], allowed(subjects[least], 2, 1), least, 3, 4))

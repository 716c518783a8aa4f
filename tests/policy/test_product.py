"""The product refuses, withholds and answers as the reference does, and has the same properties."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from . import corpus, plain, tables
from .product import Product
from .properties import checks, worlds
from .reference.offers import texts_of
from .subjects import Reference

HOSTILE, USEFUL = corpus.hostile(), corpus.useful()
REFUSED = [each for each in HOSTILE if each.rules[0] not in ("withheld", "differences")]
WITHHELD = [each for each in HOSTILE if each.rules == ("withheld",)]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(texts_of(corpus.FEDERATION), tmp_path_factory.mktemp("federation"))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(texts_of(corpus.FEDERATION))


@pytest.fixture
def small(tmp_path: Path) -> Product:
    return Product(worlds.offers(2), tmp_path)


def none(found: Iterable[tuple[object, ...]]) -> bool:
    """Whether a search finds nothing; what it finds stands in the failure."""
    first = list(islice(found, 2))
    assert first == []
    return True


@pytest.mark.parametrize("question", REFUSED, ids=corpus.identity)
def test_what_is_hostile_is_refused_by_its_rule(product: Product, question: corpus.Question) -> None:
    assert product.verdict(question.sql, question.to).rule in question.rules


@pytest.mark.parametrize("question", [*USEFUL, *WITHHELD], ids=corpus.identity)
def test_what_is_allowed_is_allowed(product: Product, question: corpus.Question) -> None:
    assert product.verdict(question.sql, question.to).rule == ""


@pytest.mark.parametrize("question", REFUSED, ids=corpus.identity)
def test_no_disguise_makes_it_allowed(product: Product, question: corpus.Question) -> None:
    for sql in corpus.disguises(question.sql):
        assert not product.verdict(sql, question.to).allowed, sql


@pytest.mark.nightly
@pytest.mark.parametrize("question", [*USEFUL, *WITHHELD], ids=corpus.identity)
def test_answers_are_those_of_the_reference(product: Product, reference: Reference, question: corpus.Question) -> None:
    data = tables.federation_rows()
    mine, expected = (each.answer(question.sql, question.to, data) for each in (product, reference))
    assert len(mine.columns) == len(expected.columns)
    assert ("rest" in mine.columns) == ("rest" in expected.columns)
    assert plain.same(mine.rows, expected.rows)


def test_without_rules_answers_are_those_of_the_reference(tmp_path: Path) -> None:
    subjects = Product(worlds.opened(), tmp_path), Reference(worlds.opened())
    assert none(checks.other_answers(*subjects, checks.QUESTIONS, 7, 1))


def test_questions_of_the_small_world_are_allowed(small: Product) -> None:
    assert none(checks.refused(small))


def test_answers_in_small_worlds_are_those_of_the_reference(small: Product) -> None:
    assert none(checks.other_answers(small, Reference(worlds.offers(2)), checks.QUESTIONS, 6, 1))


@pytest.mark.nightly
@pytest.mark.parametrize("least", [2, 3])
def test_answers_in_many_small_worlds_are_those_of_the_reference(tmp_path: Path, least: int) -> None:
    subjects = Product(worlds.offers(least), tmp_path), Reference(worlds.offers(least))
    assert none(checks.other_answers(*subjects, checks.QUESTIONS, 16, 30))


@pytest.mark.nightly
def test_closed_columns_never_show(small: Product) -> None:
    assert none(checks.closed_columns(small, 1, 1))


@pytest.mark.nightly
def test_keys_that_are_only_joined_may_have_any_names(small: Product) -> None:
    assert none(checks.joined_keys(small, 2, 2))

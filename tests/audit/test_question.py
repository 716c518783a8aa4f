"""A question's hash is that of its meaning, of the columns it reads and its recipients, and of no rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit.audit.question import question_hash
from tacit.plan.facts.catalog import Catalog
from tacit.sql import bind

from .tables import Owner

SQL = "SELECT city, COUNT(*) AS n FROM people WHERE id > 5 GROUP BY city"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Owner(tmp_path).catalog


def of(sql: str, catalog: Catalog, to: tuple[str, ...] = ("north",)) -> str:
    return question_hash(bind(sql, catalog), catalog, to)


def test_other_words_of_the_same_meaning(catalog: Catalog) -> None:
    assert of(SQL, catalog) == of("select city, count(*) as n\nfrom people where (id > 5) group by 1", catalog)
    assert of(SQL, catalog, ("north", "south")) == of(SQL, catalog, ("south", "north"))


def test_rules_engine_and_files_are_no_part(catalog: Catalog) -> None:
    tables = tuple(replace(each, terms=None, path="elsewhere.csv") for each in catalog.tables)
    assert of(SQL, catalog) == of(SQL, replace(catalog, tables=tables, engine="rep3", nodes=("south",)))


def test_another_condition_recipient_or_column(catalog: Catalog) -> None:
    people, *others = catalog.tables
    wider = replace(people, columns=people.columns[:-1])
    hashes = [
        of(SQL, catalog),
        of(SQL.replace("5", "6"), catalog),
        of(SQL, catalog, ("west",)),
        of(SQL, replace(catalog, tables=(wider, *others))),
    ]
    assert len(set(hashes)) == 4

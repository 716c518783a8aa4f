"""Whatever the owners' files hold, the answer included: with declared sizes every message has the same size."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.agent.federation import Federation
from tacit.plan.algebra.types import Date, Integer, Type, Varchar
from tacit.plan.facts.catalog import Catalog, Table

from .rehearsal import Seen, compiled, rehearse, write
from .twins import TWINS, Twins

Rehearsed = Callable[[Twins], tuple[Federation, dict[str, Seen]]]
EPOCH = date(1970, 1, 1)
FEW = 6
"""Most draws of a column come from this many values, so that keys meet."""


def values(type_: Type) -> st.SearchStrategy[Any]:
    """Values of a declared type: often the same few, sometimes extreme."""
    match type_:
        case Integer(low, high):
            return st.integers(low, min(high, low + FEW)) | st.integers(low, high)
        case Date(low, high):
            return st.integers(low, high).map(lambda day: EPOCH + timedelta(days=day))
        case Varchar(_, values) if values is not None:
            return st.sampled_from(values)
        case Varchar(longest):
            assert longest is not None
            return st.sampled_from(["008.45", "401.9"]) | st.text("abc.0123", min_size=1, max_size=longest)
    raise AssertionError(f"no demo has a column of type {type_}")


def contents(table: Table) -> st.SearchStrategy[str]:
    """The content of a table's file: at most as many rows as declared, keys unique where declared."""
    row = st.tuples(*(values(column.field.type) for column in table.columns))
    names = [column.field.name for column in table.columns]
    unique_by = tuple(
        lambda row, key=key: tuple(row[names.index(name)] for name in sorted(key)) for key in table.unique
    )
    rows = st.lists(row, max_size=table.rows, unique_by=unique_by or None)
    return rows.map(lambda found: "\n".join([",".join(names), *(",".join(map(str, row)) for row in found)]) + "\n")


def inputs(catalog: Catalog) -> st.SearchStrategy[dict[str, str]]:
    """Files for all tables of a catalog."""
    return st.fixed_dictionaries({table.name: contents(table) for table in catalog.tables})


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    """The first input of a question, and what all parties see of its run."""

    @cache
    def of(place: int) -> tuple[Federation, dict[str, Seen]]:
        twins = TWINS[place]
        federation = write(twins.scenario, twins.tables, twins.one, tmp_path_factory.mktemp("one"))
        return federation, rehearse(federation, compiled(twins.scenario, federation))

    return lambda twins: of(TWINS.index(twins))


def check(twins: Twins, federation: Federation, expected: dict[str, Seen], data: st.DataObject) -> None:
    files = data.draw(inputs(federation.catalog))
    with tempfile.TemporaryDirectory() as folder:
        other = write(twins.scenario, twins.tables, files, Path(folder))
        seen = rehearse(other, compiled(twins.scenario, other))
    for party, each in seen.items():
        assert each.error is None
        assert each.messages == expected[party].messages
        assert each.opened == expected[party].opened  # steps and sizes


QUESTIONS = pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins.scenario.name)
DRAWN = settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))


@QUESTIONS
@DRAWN
@given(data=st.data())
def test_messages_do_not_depend_on_data(rehearsed: Rehearsed, twins: Twins, data: st.DataObject) -> None:
    check(twins, *rehearsed(twins), data)


@pytest.mark.nightly
@QUESTIONS
@settings(DRAWN, max_examples=100)
@given(data=st.data())
def test_messages_do_not_depend_on_much_data(rehearsed: Rehearsed, twins: Twins, data: st.DataObject) -> None:
    check(twins, *rehearsed(twins), data)

"""What is refused, and the sentence that says so, as a text file; and that nothing else than refusals is raised."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.golden import check, files

from tacit.plan.algebra.refusals import QueryError, UnsupportedSQL
from tacit.plan.facts.catalog import Catalog
from tacit.sql import compile_query

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", files(GOLDEN), ids=lambda path: path.stem)
def test_refusals(path: Path) -> None:
    check(path, _refusal)


def _refusal(query: str, catalog: Catalog, recipients: tuple[str, ...]) -> str:
    with pytest.raises(QueryError) as caught:
        compile_query(query, catalog, recipients)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_an_unsupported_construct_has_its_name_its_place_and_its_replacement() -> None:
    error = UnsupportedSQL("LIKE", "compare with =", (2, 5))
    assert (error.construct, error.instead, error.position) == ("LIKE", "compare with =", (2, 5))
    assert str(error) == "line 2, column 5: LIKE is not supported; compare with =."

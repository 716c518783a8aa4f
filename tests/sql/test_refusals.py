"""What is refused, and the sentence that says so, as a text file; and that nothing else than refusals is raised."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.golden import check, files

from tacit.plan.algebra.refusals import QueryError, UnsupportedSQL
from tacit.plan.facts.catalog import Catalog
from tacit.sql import compile_query
from tacit.sql.text import Text

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


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELEC t.id FROM t", "line 1, column 1: 'SELEC' begins no statement; did you mean SELECT?"),
        ("-- all\n  WTH x AS (SELECT 1)", "line 2, column 3: 'WTH' begins no statement; did you mean WITH?"),
        (
            "please tell me",
            "line 1, column 1: 'please' begins no statement; it begins with SELECT, WITH, CREATE TABLE or DROP TABLE.",
        ),
        ("  ", "the query is not SQL; check its syntax."),
        ("SELECT t.id FRM t", "line 1, column 17: the query is not valid SQL near 't'; check the syntax there."),
    ],
)
def test_a_misspelt_verb_is_named_and_not_what_the_parser_stumbles_over(query: str, sentence: str) -> None:
    with pytest.raises(QueryError) as caught:
        Text(query).statement()
    assert str(caught.value) == sentence

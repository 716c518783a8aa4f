"""Places in an order, as the nodes compute them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.sql import compile_query

from .catalogs import CREDIT

UNION = "(SELECT score FROM scores_a UNION ALL SELECT score FROM scores_b) x"


@pytest.mark.parametrize(("rows", "refused"), [(100_000, False), (107_373, False), (107_374, True)])
def test_a_fine_fraction_of_many_rows_is_refused(rows: int, refused: bool) -> None:
    catalog = replace(CREDIT, tables=tuple(replace(each, rows=rows) for each in CREDIT.tables))
    query = f"SELECT QUANTILE_DISC(score, 0.1234) AS q, QUANTILE_DISC(score, 0.0001) AS r FROM {UNION}"
    if not refused:
        assert compile_query(query, catalog, ("regulator",)).steps
        return
    with pytest.raises(UnsupportedSQL, match="a fraction in parts of 10,000 of up to 214,748 rows"):
        compile_query(query, catalog, ("regulator",))

"""Constants in one input of a union that is kept: beside copies of a column they pass for copies."""

from __future__ import annotations

import pytest

from .test_breaks_of_partners import BESIDE, kept_by, rule

NONE = "SELECT ssn, {} AS k FROM towns WHERE ssn > 900"
IN = "SELECT COUNT(*) FROM people p WHERE p.{} IN (SELECT k FROM {})"


@pytest.mark.parametrize("union", ["UNION ALL", "UNION"])
@pytest.mark.parametrize(("key", "name", "constant"), [("team", "size", "5"), ("city", "name", "'Oslo'")])
def test_a_kept_constant_of_a_union_is_a_constant(union: str, key: str, name: str, constant: str) -> None:
    """It asks who is in Oslo, which no town is called."""
    rows = f"{NONE.format(name)} {union} SELECT ssn, {constant} FROM towns"
    assert rule(IN.format(key, f"({rows}) u")) == "filter"
    assert rule(IN.format(key, "k"), kept_by(f"CREATE TABLE k AS {rows}")) == "weights", "constants of the keeper"


def test_so_it_is_beside_cuts() -> None:
    """It asks who is above 37, which no cut is at. All rows of k have 37."""
    catalog = kept_by(f"CREATE TABLE k AS {NONE.format('size')} UNION ALL SELECT ssn, 37 FROM towns")
    asked = "SELECT COUNT(DISTINCT p.ssn) FROM people p JOIN k t ON p.ssn = t.ssn WHERE p.age > t.k"
    assert rule(BESIDE.format("p.age > 37")) == "cuts"
    assert rule(asked, catalog) == "weights"

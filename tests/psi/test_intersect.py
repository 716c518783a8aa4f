"""`tacit.psi.intersect`: Arrow in, Arrow out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import polars
import pyarrow
import pytest

import tacit.psi
from tacit.agent.faults import RunError
from tacit.psi.tables import Matched

from .pairs import Pair


def test_tables_in_and_out(pair: Pair) -> None:
    a = pyarrow.table({"mail": ["Ann@x.org", "bob@x.org", None], "city": ["Oslo", "Bergen", "Oslo"]})
    b = polars.DataFrame({"email": ["cy@x.org", "ann@X.org"], "amount": [1.5, 2.5]})

    def match(me: str, table: object, key: str) -> Matched:
        federation = pair.folder / "federation.toml"
        return tacit.psi.intersect(table, federation=federation, me=me, key=[key], normalise={key: "email"})

    with ThreadPoolExecutor(2) as pool:
        ends = pool.submit(match, "a", a, "mail"), pool.submit(match, "b", b, "email")
        first, second = (end.result(timeout=60) for end in ends)
    assert pyarrow.table(first).to_pylist() == [{"mail": "Ann@x.org", "city": "Oslo"}]
    assert polars.DataFrame(second).rows() == [("ann@X.org", 2.5)]
    assert polars.DataFrame(second).rows() == [("ann@X.org", 2.5)], "it can be read again"
    assert (first.report.keys, first.report.null, first.report.rate) == (1, 1, 0.5)


def test_a_wrong_key_is_named(pair: Pair) -> None:
    table = pyarrow.table({"mail": ["x"]})
    with pytest.raises(RunError, match="there is no column 'email'; perhaps you mean mail"):
        tacit.psi.intersect(table, federation=pair.folder / "federation.toml", me="a", key=["email"])

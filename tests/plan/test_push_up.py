"""The upper frontier: what is opened, and what that tells beyond the answer."""

from __future__ import annotations

import pytest

from tacit.plan.algebra import Limit, Sort
from tacit.plan.fields import names
from tacit.plan.push_up import push_up
from tacit.plan.refusals import UnsupportedSQL

from .relations import bound


@pytest.mark.parametrize(
    ("outputs", "opened"),
    [
        ("s", ["s"]),
        ("s + 1 AS x", ["s"]),
        ("-(s * 2) AS x", ["s"]),
        ("s * 0 AS x", ["x"]),
        ("s * g AS x", ["x"]),
        ("s, s + g AS x", ["s", "g"]),
        ("k, k + s AS x", ["k", "x"]),  # where k is NULL, the sum does not give s away
        ("s + g AS x, s - g AS y", ["x", "y"]),
        ("s / 2 AS x", ["s"]),
        ("NOT f AS x", ["f"]),
        ("s > 1 AS x", ["x"]),
        ("CASE WHEN f THEN s END AS x", ["x"]),
        ("1 AS one", ["row"]),
    ],
)
def test_an_answer_opens_what_it_gives_away_and_no_more(outputs: str, opened: list[str]) -> None:
    split = push_up(bound(f"SELECT {outputs} FROM padded"))
    assert list(names(split.core)) == opened
    assert split.beyond == ()


def test_a_quotient_opens_both_operands_and_says_so() -> None:
    split = push_up(bound("SELECT g, SUM(s) / SUM(g) AS q FROM padded GROUP BY g"))
    assert names(split.core) == ("g", "sum_s", "sum_g")
    assert [(each.output, each.columns) for each in split.beyond] == [("q", ("sum_s", "sum_g"))]


def test_operands_that_the_answer_has_are_not_beyond_it() -> None:
    split = push_up(bound("SELECT SUM(s) AS t, COUNT(*) AS n, AVG(s) AS a FROM padded"))
    assert names(split.core) == ("t", "n") and split.beyond == ()


def test_an_order_of_opened_columns_is_made_in_clear() -> None:
    split = push_up(bound("SELECT s, k + 1 AS x FROM padded ORDER BY x, s DESC"))
    assert not split.ordered and isinstance(split.tail, Sort)


def test_an_order_of_hidden_columns_is_made_under_mpc_and_hides_them() -> None:
    split = push_up(bound("SELECT s FROM padded ORDER BY g"))
    assert split.ordered and names(split.core) == ("s",)


def test_a_limit_stays_under_mpc() -> None:
    split = push_up(bound("SELECT s + 1 AS x FROM padded ORDER BY x LIMIT 3"))
    assert split.ordered
    assert isinstance(split.core, Limit) or names(split.core) == ("s",)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT g, AVG(s) AS a FROM padded GROUP BY g ORDER BY a LIMIT 2",
        "SELECT g FROM padded GROUP BY g ORDER BY AVG(s)",
    ],
)
def test_a_quotient_cannot_order_hidden_rows(query: str) -> None:
    with pytest.raises(UnsupportedSQL):
        push_up(bound(query))

"""The upper frontier: what is opened, and what that tells beyond the answer."""

from __future__ import annotations

import random

import pytest

from tacit.plan.algebra.bounds import EXACT_DOUBLE
from tacit.plan.algebra.relations import Limit, Project, Relation, Sort
from tacit.plan.algebra.types import Double
from tacit.plan.facts.fields import fields, names
from tacit.plan.rules.push_up import push_up
from tacit.plan.rules.quotients import with_quotients_above

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


ROUNDED = ("ROUND(AVG(s), 1)", "CAST(AVG(d) AS INTEGER)", "FLOOR(SUM(d) / 3)", "ROUND(SUM(d), 1)", "SUM(s) % 7 + 1")
PARTS = "SUM(d) AS t, SUM(s) AS u, COUNT(*) AS n, COUNT(d) AS c, COUNT(s) AS e"


@pytest.mark.parametrize("output", ROUNDED)
def test_what_is_rounded_opens_its_rounding_alone(output: str) -> None:
    """Unless its parts are opened anyway."""
    split = push_up(with_quotients_above(bound(f"SELECT {output} AS x FROM padded")))
    assert list(names(split.core)) == ["x"]
    assert split.beyond == ()
    beside = push_up(with_quotients_above(bound(f"SELECT {output} AS x, {PARTS} FROM padded")))
    assert "x" not in names(beside.core)


@pytest.mark.parametrize(
    ("output", "beyond"),
    [
        ("s / 3 AS x", ()),
        ("-s / 0.001 AS x", ()),
        ("s / -7 AS x", ()),
        ("d / 3 AS x", ()),
        ("s / 1e100 AS x", ()),
        # 0 for every row, infinite for every row but 0, or with fewer digits: they give nothing away, or not all.
        ("s / 1e308 / 1e308 AS x", ("s",)),
        ("s / 3 / 3 AS x", ("s",)),
        ("s / 1e308 AS x", ("s",)),
        ("s / 5e-324 AS x", ("s",)),
        ("s * 1e-320 AS x", ("s",)),
        ("s * 1e308 * 1e308 AS x", ("s",)),
        ("s + 1e100 AS x", ("s",)),
        ("(s + 1e100) / 3 AS x", ("s",)),
    ],
)
def test_rounding_that_hides_a_value_makes_it_a_disclosure(output: str, beyond: tuple[str, ...]) -> None:
    split = push_up(bound(f"SELECT {output} FROM padded"))
    assert [each.columns for each in split.beyond] == ([beyond] if beyond else [])


def test_values_that_a_double_does_not_tell_apart_are_a_disclosure() -> None:
    """Whole numbers from 2^53 on are rounded, and so are the quotients of smaller ones."""
    split = push_up(bound("SELECT CAST(b * 1000 AS DOUBLE) AS x FROM padded"))  # below 2^50
    assert split.beyond == ()
    for output in ("CAST(b * 10000 AS DOUBLE)", "b * 10000 / 3", "CAST(b * 10000 AS DOUBLE) / 3"):
        assert push_up(bound(f"SELECT {output} AS x FROM padded")).beyond != (), output


def test_quotients_that_count_as_telling_are_all_different() -> None:
    """As the recipient computes them: a decimal as a DOUBLE, divided by a constant. Neighbours are the closest."""
    draw = random.Random(1)
    for _ in range(20_000):
        near = draw.randrange(EXACT_DOUBLE - 1 if draw.random() < 0.5 else 1 << draw.randrange(1, 50))
        divisor = draw.choice([float(draw.randrange(1, 10**6)), draw.random() * 2.0 ** draw.randrange(-500, 500)])
        scale = 10.0 ** draw.randrange(0, 23)
        assert near / scale / divisor < (near + 1) / scale / divisor, (near, scale, divisor)


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
def test_hidden_quotients_order_rows_as_whole_numbers(query: str) -> None:
    split = push_up(bound(query))
    assert split.ordered and not isinstance(split.tail, Sort)
    assert not [each for each in fields(_sorted(split.core)) if isinstance(each.type, Double)]


def _sorted(relation: Relation) -> Relation:
    """What is sorted beneath a limit or a choice of columns."""
    while not isinstance(relation, Sort):
        assert isinstance(relation, Limit | Project)
        relation = relation.input
    return relation.input

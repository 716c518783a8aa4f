"""Disguises never hide a source: whatever a query is wrapped in, its account names the column and how much is shown."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, product

import pytest

from tacit.plan import explain_text
from tacit.plan.account.origins import Origin
from tacit.plan.account.statement import statement
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

from .catalogs import MIXED
from .test_kept import kept

Shown = tuple[str, ...]
VALUE = ("row by row",)
VALUES = ("row by row", "each different value")
ONE = (*VALUES, "one row's value")
RANDOM = 150
"""Chains of three to five disguises."""


@dataclass(frozen=True)
class Base:
    """A query with a column v, where that comes from, and how it is shown if no disguise changes it."""

    query: str
    table: str
    column: str
    shown: Shown = VALUE


BASES = (
    Base("SELECT s AS v FROM padded", "padded", "s"),
    Base("SELECT s AS v FROM announced ORDER BY k DESC LIMIT 1", "announced", "s"),
    Base("SELECT b.s AS v FROM padded a JOIN announced b ON a.id = b.id", "announced", "s"),
    Base("SELECT g AS v FROM consenting WHERE s > 3", "consenting", "g"),
    Base("SELECT MAX(s) AS v FROM announced GROUP BY g", "announced", "s", ONE),
    Base("SELECT SUM(s) AS v FROM announced GROUP BY id", "announced", "s"),
)

Disguise = Callable[[str, str], str]
"""A query in place of one with a column v, and a name that no other one has."""


def selecting(expression: str) -> Disguise:
    return lambda query, name: f"SELECT {expression} AS v FROM ({query}) {name}"


DISGUISES: dict[str, tuple[Disguise, Shown]] = {
    "renamed": (lambda query, name: f"SELECT total AS v FROM (SELECT v AS total FROM ({query}) {name}) {name}_", VALUE),
    "cast": (selecting("CAST(v AS HUGEINT)"), VALUE),
    "plus zero": (selecting("v + 0"), VALUE),
    "times one": (selecting("v * 1"), VALUE),
    "minus itself once": (selecting("2 * v - v"), VALUE),
    "negated": (selecting("-v"), VALUE),
    "case": (selecting("CASE WHEN TRUE THEN v ELSE 0 END"), VALUE),
    "case of itself": (selecting("CASE WHEN v > 5 THEN v ELSE v END"), VALUE),
    "coalesce": (selecting("COALESCE(v, 0)"), VALUE),
    "whole quotient": (selecting("v // 2"), VALUE),
    "remainder": (selecting("v % 7"), VALUE),
    "rounded": (selecting("ROUND(v, -1)"), VALUE),
    "greatest": (selecting("GREATEST(v, 0)"), VALUE),
    "letters": (selecting("LENGTH(v || '!')"), VALUE),
    "common table": (lambda query, name: f"WITH {name} AS ({query}) SELECT v FROM {name}", VALUE),
    "union": (lambda query, name: f"SELECT v FROM ({query}) {name} UNION ALL SELECT 7 AS v FROM padded", VALUE),
    "ordered": (lambda query, name: f"SELECT v FROM ({query}) {name} ORDER BY v DESC", VALUE),
    "limited": (lambda query, name: f"SELECT v FROM ({query}) {name} ORDER BY v LIMIT 2", VALUE),
    "joined": (
        lambda query, name: f"SELECT {name}.v AS v FROM ({query}) {name} JOIN padded q ON q.id = {name}.v",
        VALUE,
    ),
    "in a subquery": (
        lambda query, name: (
            f"SELECT v FROM ({query}) {name} WHERE EXISTS (SELECT 1 FROM padded q WHERE q.id = {name}.v)"
        ),
        VALUE,
    ),
    "not in a subquery": (
        lambda query, name: f"SELECT v FROM ({query}) {name} WHERE v NOT IN (SELECT id FROM padded)",
        VALUE,
    ),
    "its own subquery": (
        lambda query, name: (
            f"SELECT (SELECT MAX({name}_.v) FROM ({query}) {name}_ WHERE {name}_.v = {name}.v) AS v"
            f" FROM ({query}) {name}"
        ),
        ONE,
    ),
    "distinct": (lambda query, name: f"SELECT DISTINCT v FROM ({query}) {name}", VALUES),
    "grouped": (lambda query, name: f"SELECT v FROM ({query}) {name} GROUP BY v HAVING COUNT(*) > 0", VALUES),
    "sum of one": (
        lambda query, name: f"SELECT SUM(v) AS v FROM (SELECT v FROM ({query}) {name} LIMIT 1) {name}_",
        ONE,
    ),
    "largest": (lambda query, name: f"SELECT MAX(v) AS v FROM ({query}) {name}", ONE),
}

KEPT = "kept table"
"""A disguise by two queries: the nodes keep the first one's rows."""
NAMES = (*DISGUISES, KEPT)


def disguised(base: Base, chain: tuple[str, ...]) -> tuple[str, Catalog, Shown]:
    """A base query in all disguises of a chain, the first one innermost; and how much is shown at most."""
    query, catalog, shown, numbers = base.query, MIXED, base.shown, count()
    for name in chain:
        number = next(numbers)
        if name == KEPT:
            table = replace(kept(f"CREATE TABLE k{number} AS {query}", catalog), name=f"k{number}")
            query, catalog = f"SELECT v FROM k{number}", replace(catalog, kept=(*catalog.kept, table))
            continue
        disguise, more = DISGUISES[name]
        query, shown = disguise(query, f"d{number}"), more if len(more) > len(shown) else shown
    return query, catalog, shown


def origins(plan: PlacedPlan) -> Iterator[Origin]:
    answer = statement(plan).answer
    assert answer is not None
    (output,) = answer.outputs
    yield from output.sources


def held(base: Base, chain: tuple[str, ...]) -> bool:
    """Check a disguised query of another party; False if there is no plan of it."""
    to = "q" if base.table == "consenting" else "r"
    try:
        query, catalog, shown = disguised(base, chain)
        plan = compile_query(query, catalog, (to,))
    except QueryError:
        return False
    found = [each for each in origins(plan) if (each.table, each.column) == (base.table, base.column)]
    assert found, f"{query} hides {base.table}.{base.column}"
    assert any(each.shown in shown and not each.decides for each in found), f"{query} is told as {found}"
    assert f"{base.table}.{base.column} of" in " ".join(explain_text(plan, ()).partition("What else")[0].split())
    return True


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.query)
def test_two_disguises_hide_nothing(base: Base) -> None:
    """Of the pairs a sixth, another one for the next base."""
    hold(base, tuple(product(NAMES, repeat=2))[BASES.index(base) % 6 :: 6])


@pytest.mark.nightly
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.query)
def test_any_two_disguises_hide_nothing(base: Base) -> None:
    hold(base, tuple(product(NAMES, repeat=2)))


def hold(base: Base, pairs: tuple[tuple[str, ...], ...]) -> None:
    """Assert that neither one disguise hides anything nor any of these pairs."""
    chains = [(), *((name,) for name in NAMES), *pairs]
    done = sum(held(base, chain) for chain in chains)
    assert done > len(chains) * 2 // 3, f"{done} of {len(chains)} have plans"


def test_chains_of_disguises_hide_nothing() -> None:
    done = 0
    for seed in range(RANDOM):
        draw = random.Random(seed)
        base, length = draw.choice(BASES), draw.randint(3, 5)
        chain = tuple(draw.choice(NAMES) for _ in range(length))
        print(f"seed {seed}: {base.query} in {', '.join(chain)}")
        done += held(base, chain)
    assert done > RANDOM // 3, f"{done} of {RANDOM} have plans"


def test_a_sum_of_many_rows_is_no_value_of_one() -> None:
    plan = compile_query("SELECT SUM(s) AS v FROM announced GROUP BY g", MIXED, ("r",))
    assert [each.shown for each in origins(plan)] == ["aggregate"]


def test_a_source_that_is_left_out_is_found() -> None:
    """As if lineage missed what a cast passes."""
    base = BASES[0]
    with pytest.raises(AssertionError, match="hides"):
        held(replace(base, column="k"), ("cast",))
    with pytest.raises(AssertionError, match="is told as"):
        held(replace(base, query="SELECT SUM(s) AS v FROM padded"), ("cast",))

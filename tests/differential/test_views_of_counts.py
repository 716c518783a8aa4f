"""Numbers of valid rows: what nodes see of them, and that nothing else follows from the rows that are counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.federation import Federation
from tacit.plan.physical.disclosure import CountedRows
from tacit.plan.physical.operators import Resize
from tacit.plan.physical.placed import PlacedPlan, SecureStep
from tacit.sql import compile_query

from .costs import assert_as_declared
from .federations import Declared, make_keys, store
from .slices import Seen, watched

CUSTOMERS = """[tables.customers]
owner = "a"
path = "a/customers.csv"
unique = [["id"]]
consents = ["sizes"]
columns.id = { type = "INTEGER", min = 0, max = 999999 }
columns.segment = { type = "INTEGER", min = 0, max = 9 }
"""
ORDERS = """[tables.orders]
owner = "d"
path = "d/orders.csv"
consents = ["sizes"]
columns.who = { type = "INTEGER", min = 0, max = 999999 }
columns.day = { type = "INTEGER", min = 0, max = 999 }
"""
QUERY = (
    "SELECT o.day, o.who, COUNT(*) AS n FROM customers c JOIN orders o ON c.id = o.who "
    "WHERE c.segment = 1 GROUP BY o.day, o.who"
)
Rows = list[tuple[int, int]]
SOME: tuple[Rows, Rows] = ([(1, 1), (2, 1), (3, 5)], [(1, 10), (1, 20), (2, 10), (3, 30), (7, 10)])
"""Three orders are of customers of the segment."""
OTHERS: tuple[Rows, Rows] = ([(8, 2), (9, 1), (5, 9)], [(9, 500), (9, 500), (5, 1), (9, 7), (8, 8)])
"""So are three of these."""
FEWER: tuple[Rows, Rows] = ([(1, 1), (2, 2), (3, 5)], [(1, 10), (1, 20), (2, 10), (3, 30), (7, 10)])


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), ("a", "b", "c", "d"))


def federation_of(folder: Path, keys: Path, tables: tuple[Rows, Rows]) -> Federation:
    """d, who owns orders, is no node."""
    folder.mkdir()
    texts = ["".join(f"{one},{other}\n" for one, other in rows) for rows in tables]
    listed = {
        "customers": Declared(CUSTOMERS, f"id,segment\n{texts[0]}"),
        "orders": Declared(ORDERS, f"who,day\n{texts[1]}"),
    }
    return store(listed, folder, keys, clients=("d",))


def counting(federation: Federation) -> PlacedPlan:
    return compile_query(QUERY, federation.catalog, ("c",))


def resizes(plan: PlacedPlan) -> list[str]:
    steps = (step.operator for step in plan.steps if isinstance(step, SecureStep))
    return [f"{each.id}.resize" for each in steps if isinstance(each, Resize)]


def run(folder: Path, keys: Path, tables: tuple[Rows, Rows]) -> tuple[PlacedPlan, dict[str, Seen]]:
    federation = federation_of(folder, keys, tables)
    plan = counting(federation)
    seen = watched(federation, plan)
    assert all(each.error is None for each in seen.values())
    return plan, seen


def test_nodes_see_the_number_and_clients_nothing(all_keys: Path, tmp_path: Path) -> None:
    plan, seen = run(tmp_path / "one", all_keys, SOME)
    (counted,) = resizes(plan)
    (told,) = (each for each in plan.disclosures if isinstance(each.shown, CountedRows))
    assert told.recipients == ("a", "b", "c") and told.shown.owners == ("a", "d")
    for party in ("a", "b", "c"):
        assert seen[party].figures[counted]["rows"] == 3
        assert counted in seen[party].opened
    assert counted not in seen["d"].opened
    assert seen["d"].figures[counted]["rows"] is None
    assert_as_declared(plan, {party: each.figures for party, each in seen.items()})


def test_messages_follow_from_the_number_alone(all_keys: Path, tmp_path: Path) -> None:
    _, some = run(tmp_path / "some", all_keys, SOME)
    _, others = run(tmp_path / "others", all_keys, OTHERS)
    plan, fewer = run(tmp_path / "fewer", all_keys, FEWER)
    (counted,) = resizes(plan)
    before = int(counted.split(".")[0])
    for party, seen in some.items():
        assert seen.messages == others[party].messages, party
        early = [each for each in seen.messages if int(str(each[0]).partition(".")[0]) <= before]
        assert early == [each for each in fewer[party].messages if int(str(each[0]).partition(".")[0]) <= before], party
    assert fewer["a"].figures[counted]["rows"] == 2
    assert some["a"].messages != fewer["a"].messages


def test_a_number_that_is_not_approved_is_not_opened(all_keys: Path, tmp_path: Path) -> None:
    federation = federation_of(tmp_path / "one", all_keys, SOME)
    plan = counting(federation)
    (counted,) = resizes(plan)
    kept = tuple(each for each in plan.disclosures if not isinstance(each.shown, CountedRows))
    seen = watched(federation, plan, approved=replace(plan, disclosures=kept))
    assert all(seen[party].error is not None for party in ("a", "b", "c"))
    assert any(isinstance(each.error, _native.PolicyError) for each in seen.values())
    assert not any(counted in each.opened for each in seen.values())

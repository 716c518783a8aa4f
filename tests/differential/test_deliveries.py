"""Deliveries: tables that their owners hand to the nodes ahead, and that queries read without these owners."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.plan.permits import assert_permits_are_those_needed

from tacit import connect
from tacit.agent.federation import Federation
from tacit.agent.kept_catalog import with_kept
from tacit.agent.kept_descriptions import Descriptions
from tacit.agent.kept_store import KeptStore
from tacit.agent.steps import participants
from tacit.cli.demo.scenario import free_ports
from tacit.plan import learnt, plan_hash
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Table
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import MEMBERS, Declared, make_keys, pooled, store
from .running import among_threads, by_processes, execute, reference
from .test_clients import spread, table, union

CLIENTS = ("d", "e", "f")
TABLES = ("of_a", "of_d", "of_e")

QUERIES = (
    # What is asked, and which parties that are no nodes are needed to answer f.
    ("SELECT g, SUM(v) AS total, COUNT(*) AS n FROM {union} GROUP BY g", {"e", "f"}),
    ("SELECT AVG(v) AS mean, MIN(t) AS first FROM of_d WHERE g IS NOT NULL", {"f"}),
    ("SELECT p.id, p.t, q.v FROM of_d p JOIN of_a q ON p.id = q.id", {"f"}),
    ("SELECT COUNT(*) AS n FROM of_d p JOIN live_d q ON p.id = q.id", {"d", "f"}),
)


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), ("a", "b", "c", *CLIENTS))


def federation_of(keys: Path, folder: Path, engine: str, ports: list[int] | None = None) -> Federation:
    """Tables of a node and of two clients, of which those of a and d are delivered, and one more of d's, live."""
    tables = spread(("a", "d", "e"))
    for name in ("of_a", "of_d"):
        tables[name] = Declared(tables[name].section + "\ndelivered = true", tables[name].csv)
    tables["live_d"] = table("live_d", "d", 4, "rows = 9\n")
    return store(tables, folder, keys, ports, engine, CLIENTS)


def of(federation: Federation, query: str, party: str | None = None, to: tuple[str, ...] = ("f",)) -> PlacedPlan:
    """The plan of a query as a party makes it."""
    return compile_query(query, with_kept(federation, party, federation.catalog.nodes), to)


def offering(federation: Federation, name: str, /, **changes: object) -> Federation:
    """The same federation, of which an owner has changed its offer."""
    changed = [replace(each, **changes) if each.name == name else each for each in federation.catalog.tables]
    return replace(federation, catalog=replace(federation.catalog, tables=tuple(changed)))


def offered(federation: Federation, name: str) -> Table:
    return next(each for each in federation.catalog.tables if each.name == name)


@pytest.mark.parametrize("engine", MEMBERS)
def test_what_was_delivered_is_read_without_its_owner(all_keys: Path, tmp_path: Path, engine: str) -> None:
    federation = federation_of(all_keys, tmp_path, engine)
    with pytest.raises(QueryError, match=r"d offers of_d as delivered, and no delivery of it is here; .*tacit deliver"):
        of(federation, "SELECT id FROM of_d")
    for name, owner in (("of_a", "a"), ("of_d", "d")):
        plan = of(federation, f"DELIVER TABLE {name}", owner)
        assert plan_hash(plan) == plan_hash(of(federation, f"DELIVER TABLE {name}", "b"))
        assert set(participants(plan, federation.catalog.parties)) == {*plan.nodes, owner}
        assert_permits_are_those_needed(plan)
        execute(federation, plan, {})
    with pooled(federation) as database:
        # What the owners have now does not count.
        Path(str(offered(federation, "of_d").path)).write_text("id,g,v,t\n")
        for number, (query, outside) in enumerate(QUERIES):
            query = query.format(union=union(TABLES))
            plan = of(federation, query)
            assert set(participants(plan, federation.catalog.parties)) - set(plan.nodes) == outside
            assert plan_hash(plan) == plan_hash(of(federation, query, "a")) == plan_hash(of(federation, query, "f"))
            folder = tmp_path / f"{number}"
            folder.mkdir()
            assert_equal(among_threads(federation, plan, folder), reference(database, query), (), total=False)
        # What others keep of a delivery needs its owner, whatever is offered by then.
        execute(
            federation, of(federation, "CREATE TABLE made AS SELECT g, v FROM of_d UNION ALL SELECT g, v FROM of_e"), {}
        )
        count = "SELECT COUNT(*) AS n FROM made"
        assert of(federation, count).clients == ("d", "e", "f")
        # What nobody offers any more is allowed to nobody.
        elsewhere = offering(offering(federation, "of_d", name="of_x"), "of_e", name="of_d")
        with pytest.raises(PolicyRefusal, match="made has data of of_d, which is not offered; ask d for of_d"):
            of(elsewhere, count)


def test_offers_decide_what_is_read(all_keys: Path, tmp_path: Path) -> None:
    federation = federation_of(all_keys, tmp_path, "two")
    query = "SELECT SUM(v) AS total FROM of_d"
    execute(federation, of(federation, "DELIVER TABLE of_d"), {})
    first = Descriptions(federation).all()[0].table
    assert first is not None and first.name == "d.of_d"
    # An offer that does not say so any more: the owner gives its rows itself.
    live = offering(federation, "of_d", delivered=False)
    assert of(live, query).clients == ("d", "f")
    with pytest.raises(QueryError, match=r"d does not offer of_d for delivery; it would have to say delivered = true"):
        of(live, "DELIVER TABLE of_d")
    with pytest.raises(QueryError, match="there is no table 'of_x'"):
        of(live, "DELIVER TABLE of_x")
    # Another offer: what was delivered is not of it.
    with pytest.raises(
        QueryError, match=r"the offer of d has changed since it delivered of_d on 20\d\d-\d\d-\d\d; d and"
    ):
        of(offering(federation, "of_d", rows=20), query)
    # Once more: the nodes hold the later one alone.
    execute(federation, of(federation, "deliver table OF_D;"), {})
    later = Descriptions(federation).all()[0].table
    assert later is not None and later.id != first.id
    assert all([part.table for part in KeptStore(federation, node).parts()] == [later] for node in ("a", "b"))
    with pytest.raises(QueryError, match=r"there is no table 'd\.of_d'"):
        of(federation, 'SELECT id FROM "d.of_d"')
    KeptStore(federation, "b").drop("d.of_d")
    with pytest.raises(QueryError, match=r"none at b; put that back, or run `tacit deliver of_d` again"):
        of(federation, query)
    execute(federation, of(federation, "WITHDRAW TABLE of_d"), {})
    assert (Descriptions(federation).all(), KeptStore(federation, "a").parts()) == ([], [])
    with pytest.raises(QueryError, match="no delivery of it is here"):
        of(federation, query)
    # Of an owner that offers the table no more, by the delivery's own name.
    execute(federation, of(federation, "DELIVER TABLE of_d"), {})
    gone = offering(federation, "of_d", name="of_x")
    with pytest.raises(QueryError, match="there is no table 'of_d'"):
        of(gone, "WITHDRAW TABLE of_d")
    execute(gone, of(gone, "WITHDRAW TABLE d.of_d"), {})
    assert KeptStore(federation, "a").parts() == []


def test_the_account_says_what_is_delivered_and_since_when(all_keys: Path, tmp_path: Path) -> None:
    federation = federation_of(all_keys, tmp_path, "two")
    deliver = learnt(of(federation, "DELIVER TABLE of_d"))
    assert any(
        each.startswith("a and b learn the exact number of rows of of_d: there is no declared") for each in deliver
    )
    assert "as shares under the name d.of_d, for later queries that all of them approve and d need not" in deliver[-3]
    for name in ("of_a", "of_d"):
        execute(federation, of(federation, f"DELIVER TABLE {name}"), {})
    kept = {each.name: each for each in with_kept(federation, "b", ()).kept}
    query = "SELECT COUNT(*) AS n FROM (SELECT id FROM of_a UNION ALL SELECT id FROM of_d)"
    told = learnt(of(federation, query))
    (of_a,), (of_d,) = ([each for each in told if each.startswith(name)] for name in ("of_a is", "of_d is"))
    assert of_a.startswith("of_a is read as a delivered it on 20") and of_a.endswith("): a gives nothing now.")
    assert of_d.endswith(f"(shares {kept['d.of_d'].id[:8]}): d takes no part.")
    assert not any(each.startswith("d ") for each in told)


def test_processes_deliver_and_read(all_keys: Path, tmp_path: Path) -> None:
    federation = federation_of(all_keys, tmp_path, "rep3", free_ports(6))
    connection = connect(federation.path)
    for name in ("of_a", "of_d"):
        connection.run(connection.plan(f"DELIVER TABLE {name}"))
    query = QUERIES[1][0]
    with pooled(federation) as database:
        expected = reference(database, query)
    before = federation.ledger_path("d").read_text(encoding="utf-8")
    assert_equal(by_processes(federation, connection.plan(query, ("f",)), tmp_path), expected, (), total=False)
    assert federation.ledger_path("d").read_text(encoding="utf-8") == before
    (description,) = [each for each in Descriptions(federation).all() if each.name == "d.of_d"]
    assert description.table is not None
    for party in ("a", "b", "c", "f"):
        entries = [json.loads(line) for line in federation.ledger_path(party).read_text(encoding="utf-8").splitlines()]
        (read,) = entries[-2]["reads"]
        assert (read["table"], read["id"], read["delivered"][:2]) == ("d.of_d", description.table.id, "20")

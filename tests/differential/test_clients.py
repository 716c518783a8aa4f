"""Federations of more parties than nodes: owners and recipients that are clients of the nodes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.plan.permits import assert_exact_sizes_are_consented, assert_permits_are_those_needed

from tacit import connect
from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.agent.kept_catalog import with_kept
from tacit.agent.kept_descriptions import Descriptions
from tacit.agent.kept_store import KeptStore
from tacit.cli.demo.scenario import free_ports
from tacit.plan import plan_hash
from tacit.plan.account.learnt import learnt
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import MEMBERS, Declared, make_keys, pooled, store
from .running import among_threads, ask, by_processes, execute, reference

CLIENTS = ("d", "e", "f")
"""Parties that are no nodes."""

HOSPITALS = tuple(f"h{number:02}" for number in range(20))

QUERIES = (
    ("SELECT g, SUM(v) AS total, COUNT(*) AS n FROM {union} GROUP BY g", ()),
    ("SELECT AVG(v) AS mean, MIN(t) AS first FROM {union}", ()),
    ("SELECT id, g, t FROM {union} WHERE v > 20 ORDER BY id LIMIT 5", (0,)),
    ("SELECT p.id, p.t, q.v FROM {first} p JOIN {second} q ON p.id = q.id", ()),
)


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), ("a", "b", "c", *CLIENTS, *HOSPITALS))


def table(name: str, owner: str, start: int, facts: str = "") -> Declared:
    """Nine rows of an owner, with unique ids."""
    columns = """
columns.id = { type = "INTEGER", min = 0, max = 999 }
columns.g = { type = "INTEGER", min = 0, max = 3, nullable = true }
columns.v = { type = "INTEGER", min = -50, max = 50 }
columns.t = { type = "VARCHAR", max_length = 4 }"""
    section = f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\nunique = [["id"]]\n{facts}{columns}'
    row = "{id},{g},{v},{t}".format
    numbers = range(start, start + 9)
    rows = [row(id=i, g="" if i % 5 == 0 else i % 4, v=i * 37 % 101 - 50, t=f"t{i % 7}") for i in numbers]
    return Declared(section, "id,g,v,t\n" + "\n".join(rows) + "\n")


def union(names: tuple[str, ...]) -> str:
    """The rows of all tables."""
    return "(" + " UNION ALL ".join(f"SELECT * FROM {name}" for name in names) + ") u"


def spread(owners: tuple[str, ...]) -> dict[str, Declared]:
    """A table for each owner: of every other one the size is declared, of the others announced."""
    facts = ("rows = 12\n", "")
    return {f"of_{owner}": table(f"of_{owner}", owner, 2 * at, facts[at % 2]) for at, owner in enumerate(owners)}


def questions(names: tuple[str, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """The queries over these tables."""
    named = {"union": union(names), "first": names[0], "second": names[-1]}
    return [(query.format(**named), keys) for query, keys in QUERIES]


@pytest.mark.parametrize("engine", MEMBERS)
@pytest.mark.parametrize("owners", ["some nodes", "no node"])
def test_clients_give_and_get(all_keys: Path, tmp_path: Path, engine: str, owners: str) -> None:
    parties = (*MEMBERS[engine], "d", "e") if owners == "some nodes" else ("d", "e")
    federation = store(spread(parties), tmp_path, all_keys, engine=engine, clients=CLIENTS)
    with pooled(federation) as database:
        for number, (query, keys) in enumerate(questions(tuple(f"of_{party}" for party in parties))):
            for place, to in enumerate((("f",), ("a", "d"), ("b",))):
                plan = compile_query(query, federation.catalog, to)
                assert_permits_are_those_needed(plan)
                assert_exact_sizes_are_consented(plan)
                outside = {party for party in (*parties, *to) if party not in plan.nodes}
                assert outside & {*to, "e"} <= set(plan.clients) <= outside
                folder = tmp_path / f"{number}-{place}"
                folder.mkdir()
                answer = ask(federation, query, among_threads, folder, to)
                assert_equal(answer, reference(database, query), keys, bool(keys))


@pytest.mark.parametrize("engine", MEMBERS)
@pytest.mark.parametrize("count", [2, 5, 11, 20])
def test_unions_of_many_owners(all_keys: Path, tmp_path: Path, count: int, engine: str) -> None:
    owners = HOSPITALS[:count]
    federation = store(spread(owners), tmp_path, all_keys, engine=engine, clients=(*owners, "d"))
    query = questions(tuple(f"of_{owner}" for owner in owners))[0][0]
    answer = ask(federation, query, among_threads, tmp_path, ("d",))
    with pooled(federation) as database:
        assert_equal(answer, reference(database, query), (), total=False)


@pytest.mark.parametrize("engine", MEMBERS)
def test_processes_of_clients(all_keys: Path, tmp_path: Path, engine: str) -> None:
    parties = ("a", "d", "e")
    ports = free_ports(len(MEMBERS[engine]) + len(CLIENTS))
    federation = store(spread(parties), tmp_path, all_keys, ports, engine, CLIENTS)
    query = questions(tuple(f"of_{party}" for party in parties))[0][0]
    answer = ask(federation, query, by_processes, tmp_path, ("f",))
    with pooled(federation) as database:
        assert_equal(answer, reference(database, query), (), total=False)
    for party in ("a", "b", "d", "f"):
        entries = federation.ledger_path(party).read_text(encoding="utf-8").splitlines()
        assert ["approved" in entries[0], "completed" in entries[-1]] == [True, True], party


OF_ALL = ("of_a", "of_d", "of_e")
KEEP = "CREATE TABLE pooled AS SELECT id, g, v, t FROM {union} WHERE v > -40"
"""Rows of a node and of two clients, of one of which the number is announced."""

OF_KEPT = (
    ("SELECT g, SUM(v) AS total, COUNT(*) AS n FROM pooled GROUP BY g", ("e", "d"), ("f",)),
    ("SELECT p.id, p.t, q.v FROM of_e p JOIN pooled q ON p.id = q.id", ("d", "e"), ("a", "f")),
    ("SELECT COUNT(*) AS n FROM (SELECT id FROM pooled UNION ALL SELECT id FROM of_a)", ("d", "e"), ("d",)),
)
"""Queries, the owners that are no nodes, and the recipients."""


def of(federation: Federation, party: str | None, query: str, to: tuple[str, ...] = ("a",)) -> PlacedPlan:
    """The plan of a query as a party makes it, from its own parts or from descriptions."""
    return compile_query(query, with_kept(federation, party, federation.catalog.nodes), to)


def ledger(federation: Federation, party: str) -> list[dict[str, Any]]:
    """The entries of a party's ledger."""
    return [json.loads(line) for line in federation.ledger_path(party).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("engine", MEMBERS)
def test_nodes_keep_what_clients_gave_and_clients_ask_about_it(all_keys: Path, tmp_path: Path, engine: str) -> None:
    federation = store(spread(("a", "d", "e")), tmp_path, all_keys, engine=engine, clients=CLIENTS)
    keep = KEEP.format(union=union(OF_ALL))
    with pooled(federation) as database:
        database.execute(keep)
        plan = of(federation, None, keep)
        assert plan.clients == ("d", "e")
        execute(federation, plan, {})
        assert all(bool(KeptStore(federation, party).parts()) == (party in plan.nodes) for party in federation.parties)
        for number, (query, owners, to) in enumerate(OF_KEPT):
            plan = of(federation, "d", query, to)
            assert (
                plan_hash(plan)
                == plan_hash(of(federation, "b", query, to))
                == plan_hash(of(federation, None, query, to))
            )
            assert_permits_are_those_needed(plan)
            assert set(plan.clients) == {*owners, *to} - set(plan.nodes)
            folder = tmp_path / f"{number}"
            folder.mkdir()
            assert_equal(among_threads(federation, plan, folder), reference(database, query), (), total=False)


@pytest.mark.parametrize("engine", MEMBERS)
def test_processes_keep_and_compare_what_they_know(all_keys: Path, tmp_path: Path, engine: str) -> None:
    ports = free_ports(len(MEMBERS[engine]) + len(CLIENTS))
    federation = store(spread(("a", "d", "e")), tmp_path, all_keys, ports, engine, CLIENTS)
    keep, query = KEEP.format(union=union(OF_ALL)), OF_KEPT[0][0]
    with pooled(federation) as database:
        database.execute(keep)
        expected = reference(database, query)
    connection = connect(federation.path)
    connection.run(connection.plan(keep))
    (description,) = Descriptions(federation).all()
    older = description.path.read_text(encoding="utf-8")
    answer = by_processes(federation, connection.plan(query, ("f",)), tmp_path)
    assert_equal(answer, expected, (), total=False)
    for party in ("a", "d", "f"):
        assert description.table is not None
        assert [each["id"] for each in ledger(federation, party)[-2]["reads"]] == [description.table.id], party
    # Of an owner that has given rows, the ledger says that they were kept, and of what.
    entries = ledger(federation, "d")
    assert [entry["kind"] for entry in entries] == ["approved", "completed"] * 2
    assert entries[0]["keeps"] == [{"table": "pooled", "columns": ["id", "g", "v", "t"], "made_of": list(OF_ALL)}]
    connection.run(connection.plan(keep.replace("CREATE", "CREATE OR REPLACE")))
    description.path.write_text(older, encoding="utf-8")
    with pytest.raises(RunError, match="do not have shares of one run: pooled"):
        by_processes(federation, connection.plan(query, ("f",)), tmp_path)
    connection.run(connection.plan("DROP TABLE pooled"))
    assert Descriptions(federation).all()[0].path == description.path, "it is of another table"
    description.path.write_text("{}", encoding="utf-8")
    with pytest.raises(QueryError, match=r"is damaged .* or copy that of a node"):
        of(federation, "f", query)
    description.path.unlink()
    with pytest.raises(QueryError, match="there is no table 'pooled'"):
        of(federation, "f", query)


def test_an_owner_that_is_no_party_any_more_approves_nothing(all_keys: Path, tmp_path: Path) -> None:
    federation = store(spread(("a", "d")), tmp_path, all_keys, engine="two", clients=("d",))
    keep = KEEP.format(union=union(("of_a", "of_d")))
    execute(federation, of(federation, None, keep), {})
    catalog = with_kept(federation, None, ("a", "b"))
    left = replace(catalog, parties=("a", "b"), tables=catalog.tables[:1])
    with pytest.raises(QueryError, match="has data of 'd', which would have to approve"):
        compile_query("SELECT COUNT(*) AS n FROM pooled", left, ("a",))


def test_what_recipients_outside_the_nodes_learn_is_told(all_keys: Path, tmp_path: Path) -> None:
    federation = store(spread(("a", "d")), tmp_path, all_keys, engine="two", clients=CLIENTS)
    query = f"SELECT SUM(v) AS total FROM {union(('of_a', 'of_d'))} WHERE id > 3 GROUP BY t"
    sentences = learnt(compile_query(query, federation.catalog, ("f",)))
    told = [each for each in sentences if each.startswith("f learns")]
    assert len(told) == 2 and "the answer" in told[0] and "how many rows the nodes open" in told[1]
    assert any(each.startswith("a and b learn the exact number of rows of of_d") for each in sentences), sentences
    assert "d learns nothing from the tables of others." in sentences


def test_a_description_that_cannot_be_written_is_told(all_keys: Path, tmp_path: Path) -> None:
    federation = store(spread(("a", "d")), tmp_path, all_keys, engine="two", clients=("d",))
    (tmp_path / "kept").write_text("a file in place of the folder", encoding="utf-8")
    with pytest.raises(RunError, match=r"pooled\.json: cannot be written \(.*\); the table is kept"):
        execute(federation, of(federation, None, KEEP.format(union=union(("of_a", "of_d")))), {})
    assert all(KeptStore(federation, node).parts() for node in ("a", "b"))

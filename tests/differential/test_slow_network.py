"""A network of 60 ms: a whole query between two parties waits for its declared rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit import _native, connect
from tacit.agent.federation import Federation
from tacit.agent.steps import secure_operators
from tacit.cli.demo.scenario import free_ports
from tacit.plan.physical.cost import total

from .federations import Declared, pooled, store
from .running import reference

LATENCY = 0.06
TABLE = """
rows = 40
unique = [["k"]]
columns.k = { type = "INTEGER", min = 0, max = 63 }
columns.v = { type = "INTEGER", min = 0, max = 99 }
"""
QUERIES = [
    "SELECT COUNT(*) AS n, SUM(v) AS s FROM (SELECT v FROM x UNION ALL SELECT v FROM y) u WHERE v > 49",
    "SELECT x.v, COUNT(*) AS n FROM x JOIN y ON x.k = y.k WHERE x.v <= y.v GROUP BY x.v",
]


def table(name: str, owner: str, factor: int) -> Declared:
    """A table of forty rows."""
    rows = "\n".join(f"{i},{i * factor % 100}" for i in range(40))
    return Declared(f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\n{TABLE}', f"k,v\n{rows}\n")


def delay(federation: Federation, latency: float) -> None:
    """Let each party's messages take so many seconds more."""
    for private in federation.privates.values():
        with private.path.open("a") as file:
            file.write(f"[network]\nlatency = {latency}\n")


@pytest.mark.parametrize(
    "query", [QUERIES[0], pytest.param(QUERIES[1], marks=pytest.mark.nightly)], ids=["sum", "join and group"]
)
def test_rounds_are_the_declared_ones_and_each_takes_its_time(query: str, keys: Path, tmp_path: Path) -> None:
    federation = store({"x": table("x", "a", 37), "y": table("y", "b", 41)}, tmp_path, keys, free_ports(2), "two")
    delay(federation, LATENCY)
    answer = connect(federation.path).sql(query)
    with pooled(federation) as database:
        assert sorted(answer.rows()) == sorted(reference(database, query).rows)
    predicted = answer.cost.predicted_total
    seconds = sum(each.seconds for each in answer.cost.actual if each.bytes)
    assert answer.cost.as_predicted
    assert predicted.rounds >= 5
    plan = connect(federation.path).plan(query)
    operators = json.dumps([each.json() for each in secure_operators(plan)])
    in_turn = _native.cost("two", operators, {}, nodes=list(plan.nodes), ahead=False)
    assert predicted.rounds_ahead > 0
    assert predicted.rounds < sum(each["rounds"] for each in in_turn), "what is made ahead is not waited for"
    assert predicted.seconds >= LATENCY * predicted.rounds
    # Some rounds of one party's steps are under way together with the other's, hence not all of their latencies add up.
    assert seconds > 0.5 * LATENCY * predicted.rounds


def test_a_declared_slow_network_saves_rounds_by_garbling(keys: Path, tmp_path: Path) -> None:
    federation = store({"x": table("x", "a", 37), "y": table("y", "b", 41)}, tmp_path, keys, free_ports(2), "two")
    undeclared = federation.path.read_text()
    federation.path.write_text(f"{undeclared}[link]\nlatency = 0\nbandwidth = 1e6\n")
    thin = connect(federation.path)
    without = total(thin.predict(thin.plan(QUERIES[1])))
    assert without.circuits > without.garbled == 0
    delay(federation, 0.005)
    federation.path.write_text(f"{undeclared}[link]\nlatency = 0.06\nbandwidth = 100e6\n")
    declared = connect(federation.path)
    answer = declared.sql(QUERIES[1])
    with pooled(federation) as database:
        assert sorted(answer.rows()) == sorted(reference(database, QUERIES[1]).rows)
    predicted = answer.cost.predicted_total
    assert answer.cost.as_predicted
    assert 0 < predicted.garbled <= predicted.circuits
    assert predicted.rounds < without.rounds
    assert f"{predicted.garbled:,} of {predicted.circuits:,} circuits are garbled" in str(declared.explain(QUERIES[1]))

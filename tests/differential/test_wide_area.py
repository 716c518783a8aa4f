"""A wide area network, of 40 ms one way and 100 Mbit/s: whole queries among processes, whose messages are held back.

Rounds are the declared ones, and those that are written here. Seconds are the predicted ones for the declared link,
within a factor: a party's work comes on top, and messages of both parties' own steps may be under way together.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit import connect
from tacit.agent.federation import Federation
from tacit.cli.demo.scenario import free_ports

from .comparing import assert_equal
from .federations import MEMBERS, Declared, pooled, store
from .running import Result, reference

LATENCY, BANDWIDTH = 0.04, 12_500_000
LESS, MORE = 0.5, 2.0
"""Measured seconds over predicted ones, at least and at most."""
WORK = 3.0
"""Seconds that the processors of a busy machine may take besides."""

COLUMNS = """
rows = 60
columns.k = { type = "INTEGER", min = 0, max = 99 }
columns.v = { type = "INTEGER", min = 0, max = 999 }
"""
ALL = "(SELECT * FROM x UNION ALL SELECT * FROM y UNION ALL SELECT * FROM z) u"
RANK = "RANK() OVER (PARTITION BY k ORDER BY v)"
OF_TWO = "(SELECT * FROM x UNION ALL SELECT * FROM y) u"
QUERIES = [
    ("rep3", f"SELECT COUNT(*) AS n, SUM(v) AS s FROM {ALL} WHERE v > 499", 18),
    ("rep3", "SELECT y.k, y.v, x.v AS w FROM x JOIN y ON x.k = y.k", 43),
    ("rep3", f"SELECT k, SUM(v) AS s, COUNT(*) AS n FROM {ALL} GROUP BY k HAVING COUNT(*) > 2", 48),
    ("rep3", f"SELECT SUM(v) AS s FROM (SELECT v, {RANK} AS r FROM {ALL}) WHERE r = 1", 103),
    ("rep3", f"SELECT k, v, {RANK} AS r FROM {ALL}", 8),
    ("rep3", f"SELECT k, v FROM {ALL} ORDER BY v DESC, k LIMIT 5", 19),
    ("two", f"SELECT COUNT(*) AS n, SUM(v) AS s FROM {OF_TWO} WHERE v > 499", 6),
    ("two", "SELECT y.k, y.v, x.v AS w FROM x JOIN y ON x.k = y.k", 46),
]
"""Engine, query, and its rounds."""
QUICK = (1, 6)
"""Those that `make test` asks."""


def table(name: str, owner: str, factor: int) -> Declared:
    """Fifty rows; those of x have unique keys."""
    unique = 'unique = [["k"]]' if name == "x" else ""
    rows = "\n".join(f"{i if name == 'x' else i * factor % 60},{i * factor % 1000}" for i in range(50))
    section = f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\n{unique}{COLUMNS}'
    return Declared(section, f"k,v\n{rows}\n")


def wide(engine: str, keys: Path, folder: Path) -> Federation:
    """Owners that are far apart, and say so."""
    tables = {name: table(name, owner, 7 + 30 * at) for at, (name, owner) in enumerate(zip("xyz", "abc", strict=True))}
    if engine == "two":
        del tables["z"]
    federation = store(tables, folder, keys, free_ports(len(MEMBERS[engine])), engine)
    with federation.path.open("a") as file:
        file.write(f"[link]\nlatency = {LATENCY}\nbandwidth = {BANDWIDTH}\n")
    for private in federation.privates.values():
        with private.path.open("a") as file:
            file.write(f"[network]\nlatency = {LATENCY}\nbandwidth = {BANDWIDTH}\n")
    return federation


@pytest.mark.parametrize(
    ("engine", "query", "rounds"),
    [pytest.param(*each, marks=[] if at in QUICK else pytest.mark.nightly) for at, each in enumerate(QUERIES)],
)
def test_rounds_and_seconds_are_those_told(engine: str, query: str, rounds: int, keys: Path, tmp_path: Path) -> None:
    federation = wide(engine, keys, tmp_path)
    answer = connect(federation.path).sql(query)
    with pooled(federation) as database:
        expected = reference(database, query)
    found = Result(expected.names, expected.types, answer.rows())
    assert_equal(found, expected, (), total="ORDER BY v DESC" in query)
    cost = answer.cost
    assert cost.as_predicted
    assert (cost.predicted_total.rounds, cost.actual_total.rounds) == (rounds, rounds)
    predicted = cost.predicted_total.seconds
    measured = sum(each.seconds for each in cost.actual if each.bytes)
    assert predicted >= LATENCY * rounds
    assert LESS * predicted <= measured <= MORE * predicted + WORK, (measured, predicted)

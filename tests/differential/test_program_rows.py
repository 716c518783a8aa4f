"""Programs on the rows of queries and of kept tables: what they compute is what NumPy does of DuckDB's rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pytest

import tacit
import tacit.numpy as np
from tacit.agent.array_answer import load_arrays
from tacit.agent.connection import Connection
from tacit.agent.federated import Pending
from tacit.agent.federation import Federation

from .federations import MEMBERS, Declared, pooled, store
from .running import execute

PEOPLE = """owner = "a"
path = "a/people.csv"
rows = 6
exact = true
unique = [["id"]]
columns.id = { type = "INTEGER", min = 1, max = 99 }
columns.age = { type = "INTEGER", min = 18, max = 99 }
columns.bmi = { type = "DECIMAL(5,1)", min = 10, max = 60 }
columns.ill = "BOOLEAN"
columns.note = { type = "INTEGER", min = 0, max = 9, nullable = true }
"""
VISITS = """owner = "b"
path = "b/visits.csv"
rows = 9
columns.id = { type = "INTEGER", min = 1, max = 99 }
columns.cost = { type = "DECIMAL(8,2)", min = -50, max = 1000 }
"""
TABLES = {
    "people": Declared(
        f"[tables.people]\n{PEOPLE}",
        "id,age,bmi,ill,note\n1,40,22.5,true,1\n2,99,31.0,false,\n3,18,19.5,false,3\n5,33,27.2,true,\n"
        "8,71,40.0,true,5\n9,52,24.9,false,0\n",
    ),
    "visits": Declared(
        f"[tables.visits]\n{VISITS}",
        "id,cost\n1,10.50\n1,-3.25\n2,700.00\n4,99.00\n8,1000.00\n3,0.01\n",
    ),
}
MATCHED = "SELECT p.age, p.bmi, p.ill, v.cost FROM people p JOIN visits v ON p.id = v.id WHERE p.age < 90"


def federated(engine: str, keys: Path, folder: Path) -> tuple[Federation, Connection]:
    federation = store(TABLES, folder, keys, engine=engine)
    return federation, tacit.connect(federation.path)


def keep(federation: Federation, fed: Connection, name: str, query: str) -> None:
    execute(federation, fed.plan(f"CREATE TABLE {name} AS {query}"), {})


def revealed(federation: Federation, asked: Pending) -> dict[str, Any]:
    """What a program gives, every party a thread."""
    plan = asked.connection.plan(asked.text, "a")
    with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
        answer = Path(folder) / "a.npz"
        execute(federation, plan, {"a": answer})
        return load_arrays(answer, plan)


def columns(database: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    found = database.sql(query).fetchnumpy()
    return {name: numpy.asarray(each) for name, each in found.items()}


def summed(x: Any, ill: Any, there: Any) -> Any:
    n = np.maximum(there.sum(), 1)
    return {"n": there.sum(), "mean": (x * there.reshape(-1, 1)).sum(axis=0) / n, "ill": (ill & there).sum(), "all": x}


@pytest.mark.parametrize("engine", MEMBERS)
def test_columns_of_kept_tables_and_of_queries(engine: str, keys: Path, tmp_path: Path) -> None:
    federation, fed = federated(engine, keys, tmp_path)
    keep(federation, fed, "matched", MATCHED)
    with pooled(federation) as database:
        clear = columns(database, MATCHED)
    clear_x = numpy.column_stack([clear[each].astype(float) for each in ("age", "bmi", "cost")])
    for rows in (fed.kept("matched"), fed.rows(MATCHED)):
        x, there = rows.padded_array("age", "bmi", "cost")
        ill, _ = rows.padded_array("ill")
        assert (x.shape[1:], there.shape, ill.dtype.name) == ((3,), x.shape[:1], "bool")
        found = revealed(federation, fed.program(summed)(x, ill, there))
        assert (found["n"], found["ill"]) == (len(clear_x), clear["ill"].sum())
        assert numpy.abs(found["mean"] - clear_x.mean(axis=0)).max() < 1e-2
        there_are = found["all"][found["all"].any(axis=1)]
        assert numpy.abs(_ordered(there_are) - _ordered(clear_x)).max() < 1e-3
        assert len(found["all"]) == x.shape[0] > len(clear_x), "other rows are zero"


def _ordered(rows: Any) -> Any:
    return rows[numpy.lexsort(numpy.round(rows, 2).T)]

"""The demo's proof: the same query on all owners' files pooled in the clear, in plain DuckDB, gives the same rows."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb

from tacit.agent.answer import Answer
from tacit.agent.faults import Fault, RunError
from tacit.cli.demo.scenario import MACROS, Scenario


def check_against_pooled_data(scenario: Scenario, folder: Path, answer: Answer) -> None:
    """Raises RunError if the answer differs from DuckDB's on the pooled files."""
    expected = pooled_rows(scenario, folder)
    found = answer.rows()
    if len(found) != len(expected) or not all(map(_same_row, found, expected)):
        raise RunError(Fault.INTERNAL, "the answer differs from DuckDB's on the pooled data.")


def pooled_rows(scenario: Scenario, folder: Path) -> list[tuple[object, ...]]:
    """What DuckDB answers on the files of all owners together."""
    with duckdb.connect() as database:
        database.execute(MACROS)
        for table in scenario.tables(1):
            path = folder / table.owner / f"{table.name}.csv"
            database.execute(f"CREATE TABLE {table.name} AS SELECT * FROM ({table.select}) LIMIT 0")  # its types
            database.execute(f"COPY {table.name} FROM '{path}' (HEADER)")
        return database.execute(scenario.query).fetchall()


def _same_row(found: tuple[object, ...], expected: tuple[object, ...]) -> bool:
    return len(found) == len(expected) and all(map(_same_value, found, expected))


def _same_value(found: object, expected: object) -> bool:
    """Equal; floating-point numbers up to the last bits, which depend on the order of additions."""
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-12)
    return found == expected

"""The order of an answer's rows tells what ORDER BY says, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.federation import Federation

from .federations import Declared, pooled, store
from .running import Engine, among_threads, ask, in_clear, reference

COLUMNS = """
columns.dept = { type = "INTEGER", min = 0, max = 20 }
columns.salary = { type = "INTEGER", min = 0, max = 200000 }
columns.bonus = { type = "INTEGER", min = 0, max = 1000 }
"""
ROWS = 16
BOTH = "(SELECT * FROM ta UNION ALL SELECT * FROM tb) u"

TIES = [
    f"SELECT CASE WHEN u.salary < 100000 THEN 0 ELSE 1 END AS salary, SUM(bonus) AS s FROM {BOTH} GROUP BY u.salary "
    "ORDER BY 1 LIMIT 100",
    f"SELECT u.dept * 0 AS salary, SUM(bonus) AS s FROM {BOTH} GROUP BY u.dept, u.salary ORDER BY 1 LIMIT 100",
    f"SELECT dept, SUM(bonus) AS s FROM {BOTH} GROUP BY dept, salary ORDER BY dept LIMIT 100",
    f"SELECT dept, salary, SUM(bonus) AS s FROM {BOTH} GROUP BY dept, salary ORDER BY dept LIMIT 100",
    f"SELECT SUM(bonus) AS s FROM {BOTH} GROUP BY dept, salary ORDER BY dept",
    f"SELECT bonus FROM {BOTH} ORDER BY dept",
    f"SELECT bonus FROM (SELECT dept, salary, bonus FROM {BOTH} ORDER BY dept, salary LIMIT 100) v "
    "ORDER BY dept LIMIT 50",
    # One owner's part, which it sorts in clear.
    "SELECT bonus FROM ta ORDER BY dept",
    "SELECT bonus FROM ta ORDER BY dept LIMIT 100",
    "SELECT SUM(bonus) AS s FROM ta GROUP BY dept, salary ORDER BY dept LIMIT 100",
]
"""Every row is in the department 3, so that these orders hold all rows equal. The last output tells rows apart."""

CUT = [
    f"SELECT dept, salary FROM {BOTH} GROUP BY dept, salary ORDER BY dept LIMIT 4",
    f"SELECT salary FROM {BOTH} ORDER BY dept LIMIT 4",
    "SELECT salary FROM ta ORDER BY dept LIMIT 4",
]

WHOLE = [
    f"SELECT SUM(u.bonus) AS salary FROM {BOTH} GROUP BY u.salary ORDER BY 1 LIMIT 100",
    f"SELECT (u.salary - 7000) * (u.salary - 7000) + u.salary AS salary, SUM(bonus) AS s FROM {BOTH} GROUP BY u.salary "
    "ORDER BY 1 LIMIT 5",
    f"SELECT SUM(s) AS s FROM (SELECT 200000 - v.salary AS salary, s FROM (SELECT salary, SUM(bonus) AS s FROM {BOTH} "
    "GROUP BY salary) v ORDER BY 1 LIMIT 5) w",
    f"SELECT salary, -s AS s FROM (SELECT bonus AS s, salary FROM {BOTH} ORDER BY bonus LIMIT 8) v ORDER BY s LIMIT 3",
]
"""Orders without ties, by columns that are named as what they hide."""


@pytest.fixture(params=["rep3", "two"])
def suite(request: pytest.FixtureRequest) -> str:
    """An engine of nodes."""
    return str(request.param)


def federation(keys: Path, folder: Path, engine: str = "rep3") -> Federation:
    """Rows of two owners; the salary rises with the place in the files, the bonus falls."""

    def table(name: str, owner: str, first: int) -> Declared:
        section = f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\nrows = {ROWS // 2}\n{COLUMNS}'
        rows = [f"3,{1000 * row},{ROWS - row}" for row in range(first, first + ROWS // 2)]
        return Declared(section, "\n".join(["dept,salary,bonus", *rows]) + "\n")

    # Neither file's order is that of the answer's recipient, who is another party where there is one.
    return store({"ta": table("ta", "b", 0), "tb": table("tb", "a", ROWS // 2)}, folder, keys, engine=engine)


def answers(found: Federation, query: str, engine: Engine, folder: Path, runs: int) -> list[list[int]]:
    """The last output of all rows in their order, once for each run."""
    lists = []
    for run in range(runs):
        place = folder / f"{abs(hash(query))}-{run}"
        place.mkdir()
        lists.append([row[-1] for row in ask(found, query, engine, place).rows])
    return lists


@pytest.mark.parametrize("query", TIES)
def test_equal_rows_come_in_any_order(query: str, keys: Path, tmp_path: Path) -> None:
    """Eight rows, or more, come five times in the same order with a probability of 8!^-4, which is below 2^-61."""
    found = answers(federation(keys, tmp_path), query, in_clear, tmp_path, 5)
    assert all(sorted(each) == sorted(found[0]) and len(each) in (ROWS // 2, ROWS) for each in found)
    assert len({tuple(each) for each in found}) > 1, f"always {found[0]}"


@pytest.mark.parametrize("query", [TIES[0], TIES[3], TIES[7]], ids=["computed", "prefix", "one owner"])
def test_equal_rows_come_in_any_order_from_nodes(query: str, suite: str, keys: Path, tmp_path: Path) -> None:
    """Eight rows come four times in the same order with a probability of 8!^-3, which is below 2^-45."""
    found = answers(federation(keys, tmp_path, suite), query, among_threads, tmp_path, 4)
    assert len({tuple(each) for each in found}) > 1, f"always {found[0]}"


@pytest.mark.parametrize("query", CUT)
def test_a_limit_keeps_any_of_equal_rows(query: str, keys: Path, tmp_path: Path) -> None:
    """Four of eight rows or more: the same set 8 times has a probability of at most 70^-7, which is below 2^-42."""
    found = answers(federation(keys, tmp_path), query, in_clear, tmp_path, 8)
    assert len({frozenset(each) for each in found}) > 1, f"always {found[0]}"


@pytest.mark.parametrize("query", WHOLE)
def test_a_computed_column_is_sorted_under_any_name(query: str, suite: str, keys: Path, tmp_path: Path) -> None:
    asked = federation(keys, tmp_path, suite)
    with pooled(asked) as database:
        expected = reference(database, query)
    for number, engine in enumerate([in_clear, among_threads] if suite == "rep3" else [among_threads]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert ask(asked, query, engine, folder).rows == expected.rows

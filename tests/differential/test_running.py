"""The runner of tests itself: a party that fails or is stuck keeps nobody waiting, and is named."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.sql import compile_query

from .federations import MEMBERS, Declared, store
from .running import GivenSession, among_threads, ask, sessions_of, together

TABLES = {
    name: Declared(f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\n{bounds}', f"v\n{value}\n")
    for name, owner, bounds, value in (
        ("x", "a", 'columns.v = { type = "INTEGER", min = 0, max = 9 }\n', 3),
        ("y", "b", 'columns.v = { type = "INTEGER", min = 0, max = 9 }\n', 10),
    )
}
QUERY = "SELECT SUM(v) AS s FROM (SELECT v FROM x UNION ALL SELECT v FROM y) u"
ENGINES = pytest.mark.parametrize("engine", ["rep3", "two"])


@ENGINES
def test_wrong_data_at_one_party_ends_the_run_with_that_error(engine: str, keys: Path, tmp_path: Path) -> None:
    federation = store(TABLES, tmp_path, keys, engine=engine)
    with pytest.raises(RunError, match="10 is above the declared max 9") as caught:
        ask(federation, QUERY, among_threads, tmp_path)
    assert caught.value.fault is Fault.INPUT


@ENGINES
def test_a_party_that_never_ends_is_named(engine: str, keys: Path, tmp_path: Path) -> None:
    stuck = threading.Event()

    @dataclass
    class Stuck(GivenSession):
        def _prepare(self, *_: object) -> None:
            stuck.wait()

    federation = store({**TABLES, "y": Declared(TABLES["y"].section, "v\n4\n")}, tmp_path, keys, engine=engine)
    plan = compile_query(QUERY, federation.catalog, federation.recipients)
    runs = [
        (Stuck if session.me == "b" else GivenSession)(federation, session.me, plan, lambda _: None, session=session)
        for session in sessions_of(plan)
    ]
    try:
        with pytest.raises(pytest.fail.Exception, match=r"did not end in 1 s") as caught:
            together(runs, limit=1.0)
    finally:
        stuck.set()
    named = str(caught.value).split(" did not end")[0].split(", ")
    assert named == list(MEMBERS[engine]), "the others wait for it"

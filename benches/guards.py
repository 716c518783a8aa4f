"""What guards cost: a group-by of two owners' rows under MPC, with and without the count of one owner's units.

    python benches/guards.py --rows 100000                       rep3 and two, unit proven once and unit that repeats
    python benches/guards.py --rows 100000 --small fold          the same with small groups in one row

The owner's check of differences, which is no part of a run, is off. Nodes are threads of one process. Prints one JSON
object a measurement. ``grouping`` is the time of the steps from the group-by on, of the slowest node, ``predicted``
that of processes over TLS. Keys have more values than there are rows, so that no owner groups before sharing. There may
be as many groups as rows: the guard compares as often as it ever does.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from queries import PARTIES, Table, write_federation

QUERY = """\
SELECT k, SUM(v) AS total
FROM (SELECT k, v FROM own UNION ALL SELECT k, v FROM theirs) u
GROUP BY k"""

GUARDS: dict[str, str | None] = {"none": None, "once": "", "repeats": 'unit = "unit"'}
"""Rules of the second owner's table: none, each row a unit, or a column that repeats."""


def tables(rows: int, guard: str, small: str) -> list[Table]:
    """Half of the rows each, of a thousand groups; each unit has four rows."""
    select = (
        "SELECT (hash(i, '{0}') % 1000)::INTEGER AS k, (i % 1000)::INTEGER AS v,"
        " (hash(i // 4) % 9999999)::INTEGER AS unit FROM range({1}) t(i)"
    )
    half, unit = rows // 2, GUARDS[guard]
    ruled = f'least_group = 10\nrecipients = ["a"]\nsmall = "{small}"\ndifferences = "off"\n{unit}'
    rules = "open = true" if unit is None else ruled
    columns = _columns(ruled=unit is not None)
    return [
        Table("own", "a", select.format("own", half), _columns(ruled=False), f"rows = {half}"),
        Table("theirs", "b", select.format("theirs", half), columns, f"rows = {half}", rules),
    ]


def _columns(*, ruled: bool) -> str:
    """Columns of both tables, with what they may be used for where there are rules."""
    highest = {"k": 9_999_999, "v": 1_000, "unit": 9_999_999}
    use = {"k": ', use = ["group"]', "v": ', use = ["aggregate"]'} if ruled else {}
    return "\n".join(
        f'{name} = {{ type = "INTEGER", min = 0, max = {most}{use.get(name, "")} }}' for name, most in highest.items()
    )


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure guards with all nodes in one process.")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of both owners together")
    parser.add_argument("--engines", default="rep3,two")
    parser.add_argument("--guards", default=",".join(GUARDS), help=f"of: {' '.join(GUARDS)}")
    parser.add_argument("--small", choices=("drop", "fold"), default="drop", help="what becomes of small groups")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for engine in options.engines.split(","):
        for measured in measurements(engine, options):
            print(json.dumps({**measured, "load": os.getloadavg()[0]}), flush=True)


def measurements(engine: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Each guard of one engine."""
    from tacit.agent.federation import Federation

    for guard in options.guards.split(","):
        with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
            parties = PARTIES if engine == "rep3" else PARTIES[:2]
            write_federation(Path(folder), tables(options.rows, guard, options.small), engine, parties)
            federation = Federation.load(Path(folder) / "federation.toml")
            found = {"guard": guard, "engine": engine, "rows": options.rows, "small": options.small}
            yield found | asked(federation, planned(federation), options.repeats)


def planned(federation: Any) -> Any:
    """The placed plan of the query under the owners' rules."""
    from tacit.plan.place import place
    from tacit.sql import bind

    return place(bind(QUERY, federation.catalog), federation.catalog, ("a",), QUERY)


def asked(federation: Any, plan: Any, repeats: int) -> dict[str, Any]:
    """Run a plan among threads: time of the grouping and all after it, predicted and actual, and traffic."""
    from tacit.plan.physical.cost import predict
    from tacit.plan.physical.operators import GroupBy
    from tacit.plan.physical.placed import SecureStep

    first = min(each.id for each in plan.steps if isinstance(each, SecureStep) and isinstance(each.operator, GroupBy))
    grouping, sent, rounds = [], 0, 0
    for _ in range(repeats):
        nodes = run(federation, plan)
        steps = [[each for name, each in found.items() if int(name.split(".")[0]) >= first] for found in nodes]
        grouping.append(max(sum(each["seconds"] for each in node) for node in steps))
        sent = sum(each["bytes_sent"] for node in steps for each in node)
        rounds = sum(each["rounds"] for each in steps[0])
    predicted = sum(each.seconds for each in predict(plan) if int(each.step.split(".")[0]) >= first)
    return {"grouping": grouping, "predicted": predicted, "bytes": sent, "rounds": rounds}


def run(federation: Any, plan: Any) -> list[Any]:
    """Each node's figures of one run."""
    from unsigned import Unsigned

    from tacit import _native
    from tacit.agent.party import PartyRun
    from tacit.agent.recording import Recording
    from tacit.agent.steps import secure_operators

    class Given(PartyRun):
        """A party's run over a session in this process."""

        def _recording(self) -> Recording:
            return Unsigned(self.federation.members, self.me, (), ())

        def _connect(self, head: bytes) -> _native.Session:
            return sessions[self.me]

    permits, operators = (
        json.dumps([each.json() for each in listed]) for listed in (plan.permits, secure_operators(plan))
    )
    listed = _native.Session.in_memory(list(plan.nodes), permits, operators, engine=plan.engine)
    sessions, events = {each.me: each for each in listed}, {name: list[Any]() for name in plan.nodes}
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder, ThreadPoolExecutor(len(listed)) as threads:
        answers = {name: Path(folder) / f"{name}.duckdb" for name in plan.recipients}
        runs = [Given(federation, name, plan, events[name].append, answers.get(name)) for name in plan.nodes]
        for each in [threads.submit(party.run) for party in runs]:
            each.result()
    return [[each for each in found if each["event"] == "metrics"][-1]["steps"] for found in events.values()]


if __name__ == "__main__":
    main()

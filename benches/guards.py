"""What guards cost: a group-by of two owners' rows under MPC, with and without the count of one owner's units.

    python benches/guards.py --rows 100000                       rep3 and two, unit proven once and unit that repeats
    python benches/guards.py --rows 100000 --small fold          the same with small groups in one row

Prints one JSON object a measurement. ``grouping`` is the time of the steps from the group-by on, of the slowest node;
``seconds`` is what a user waits for. Keys have more values than there are rows, so that no owner groups before sharing,
and there may be as many groups as rows: the guard compares as often as it ever does.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from queries import PARTIES, Table, write_federation

QUERY = """\
SELECT k, SUM(v) AS total
FROM (SELECT k, v FROM own UNION ALL SELECT k, v FROM theirs) u
GROUP BY k"""

GUARDS: dict[str, tuple[str, ...] | None] = {"none": None, "once": (), "repeats": ("unit",)}
"""Of the second owner's table: no floor, each row a unit, or a column that repeats."""

LEAST = 10


def tables(rows: int) -> list[Table]:
    """Half of the rows each, of a thousand groups; each unit has four rows."""
    key = 'k = { type = "INTEGER", min = 0, max = 9999999 }'
    value = 'v = { type = "INTEGER", min = 0, max = 1000 }'
    unit = 'unit = { type = "INTEGER", min = 0, max = 9999999 }'
    select = (
        "SELECT (hash(i, '{0}') % 1000)::INTEGER AS k, (i % 1000)::INTEGER AS v,"
        " (hash(i // 4) % 9999999)::INTEGER AS unit FROM range({1}) t(i)"
    )
    half = rows // 2
    return [
        Table(name, owner, select.format(name, half), f"{key}\n{value}\n{unit}", f"rows = {half}")
        for name, owner in (("own", "a"), ("theirs", "b"))
    ]


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure guards with all parties' processes on this machine.")
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

    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        write_federation(Path(folder), tables(options.rows), engine, PARTIES if engine == "rep3" else PARTIES[:2])
        federation = Federation.load(Path(folder) / "federation.toml")
        for guard in options.guards.split(","):
            plan = planned(federation, GUARDS[guard], options.small)
            found = {"guard": guard, "engine": engine, "rows": options.rows, "small": options.small}
            yield found | asked(federation, plan, options.repeats)


def planned(federation: Any, unit: tuple[str, ...] | None, small: str) -> Any:
    """The placed plan of the query, guarded where the second owner's table has a unit."""
    from tacit.plan.algebra.relations import Aggregate
    from tacit.plan.algebra.trees import children, scans
    from tacit.plan.place import place
    from tacit.plan.policy.guarded import guarded
    from tacit.plan.policy.guards import Floor, Guard
    from tacit.sql import bind

    relation = bind(QUERY, federation.catalog)
    aggregate = relation
    while not isinstance(aggregate, Aggregate):
        (aggregate,) = children(aggregate)
    if unit is not None:
        (scan,) = (each for each in scans(aggregate) if each.table == "theirs")
        guard = Guard(aggregate, (Floor(scan, unit, LEAST),), (), "fold" if small == "fold" else "drop")
        relation = guarded(relation, (guard,), federation.catalog)
    return place(relation, federation.catalog, ("a",), QUERY)


def asked(federation: Any, plan: Any, repeats: int) -> dict[str, Any]:
    """Run a plan: wall clock, time of the grouping and all after it, predicted and actual, and traffic."""
    import tacit
    from tacit.plan.physical.operators import GroupBy
    from tacit.plan.physical.placed import SecureStep

    first = min(each.id for each in plan.steps if isinstance(each, SecureStep) and isinstance(each.operator, GroupBy))
    connection = tacit.connect(federation.path)
    seconds, grouping, predicted, sent, rounds = [], [], 0.0, 0, 0
    for _ in range(repeats):
        start = time.perf_counter()
        cost = connection.run(plan).cost
        seconds.append(time.perf_counter() - start)
        actual = [each for each in cost.actual if int(each.step.split(".")[0]) >= first]
        grouping.append(sum(each.seconds for each in actual))
        sent, rounds = sum(each.bytes for each in actual), sum(each.rounds for each in actual)
        predicted = sum(each.seconds for each in cost.predicted if int(each.step.split(".")[0]) >= first)
    return {"seconds": seconds, "grouping": grouping, "predicted": predicted, "bytes": sent, "rounds": rounds}


if __name__ == "__main__":
    main()

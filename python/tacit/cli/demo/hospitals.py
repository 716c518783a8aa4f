"""Five hospitals: how do operations end, by procedure? Three of them compute, and a registry alone gets the answer."""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

HOSPITALS = ("north", "south", "east", "west", "central")
PROCEDURES = ("appendectomy", "bypass", "cataract", "hernia", "hip", "knee")
SMALLEST = 10
"""Procedures of fewer operations are not shown."""

_UNION = "\n      UNION ALL\n      ".join(
    f"SELECT procedure, nights, readmitted FROM operations_{hospital}" for hospital in HOSPITALS
)
QUERY = f"""\
SELECT procedure, COUNT(*) AS operations, AVG(nights) AS nights, SUM(readmitted) AS readmitted
FROM ({_UNION}) o
GROUP BY procedure
HAVING COUNT(*) >= {SMALLEST}
ORDER BY operations DESC, procedure"""


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` operations in each hospital's file."""
    return tuple(
        DemoTable(f"operations_{hospital}", hospital, _operations(hospital, rows), _declaration(rows))
        for hospital in HOSPITALS
    )


def _operations(hospital: str, rows: int) -> str:
    listed = ", ".join(f"'{procedure}'" for procedure in PROCEDURES)
    procedure = f"pick([{listed}], i, 'procedure {hospital}')"
    nights = f"greatest(0, round(4 + 3 * bell(i, 'nights {hospital}')))::INTEGER"
    readmitted = f"(chance(i, 'readmitted {hospital}') < 0.06)::INTEGER"
    return f"SELECT {procedure} AS procedure, {nights} AS nights, {readmitted} AS readmitted FROM range({rows}) r(i)"


def _declaration(rows: int) -> str:
    listed = ", ".join(f'"{procedure}"' for procedure in PROCEDURES)
    return f"""
open = true
rows = {rows}
columns.procedure = {{ type = "VARCHAR", values = [{listed}] }}
columns.nights = {{ type = "INTEGER", min = 0, max = 99 }}
columns.readmitted = {{ type = "INTEGER", min = 0, max = 1 }}
"""


SCENARIO = Scenario(
    name="hospitals",
    question="How many operations of each kind do five hospitals do, how long do patients stay, and how many come back "
    f"within 30 days? Only kinds of at least {SMALLEST} operations are shown. Three of the hospitals compute; the "
    "other two share their rows with them, and a registry, which owns nothing, gets the answer.",
    query=QUERY,
    parties=HOSPITALS[:3],
    clients=(*HOSPITALS[3:], "registry"),
    recipients=("registry",),
    rows=2_000,
    tables=tables,
)

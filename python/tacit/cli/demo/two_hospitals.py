"""Two hospitals and no third party: how many of one's patients come to the other within thirty days?"""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

QUERY = """\
SELECT d.diagnosis, COUNT(*) AS readmissions, AVG(a.nights) AS avg_nights
FROM discharges d
JOIN admissions a ON d.pid = a.pid
WHERE a.day > d.day AND a.day <= d.day + 30
GROUP BY d.diagnosis
ORDER BY readmissions DESC, d.diagnosis"""

DIAGNOSES = ("heart failure", "COPD", "pneumonia", "stroke", "sepsis", "hip fracture", "diabetes", "kidney failure")
"""A public list: under MPC each is a small number."""


def tables(rows: int) -> tuple[DemoTable, ...]:
    """The last discharge of ``rows`` patients of one hospital, and ``rows`` admissions of patients of the other one."""
    return (
        DemoTable("discharges", "hospital_a", _discharges(rows), _discharge_declaration(rows)),
        DemoTable("admissions", "hospital_b", _admissions(rows), _admission_declaration(rows)),
    )


def _discharges(rows: int) -> str:
    listed = ", ".join(f"'{each}'" for each in DIAGNOSES)
    return (
        f"SELECT i::INTEGER AS pid, pick([{listed}], i, 'diagnosis') AS diagnosis, {_day('discharge')} AS day"
        f" FROM range({rows}) r(i)"
    )


def _admissions(rows: int) -> str:
    """Half of the patients are known to the first hospital; a third of these come soon after they left it."""
    patient = f"floor(chance(i, 'patient') * {2 * rows})::INTEGER"
    soon = f"CASE WHEN chance(i, 'soon') < 0.33 THEN {_day('discharge', patient)} + (1 + i % 30)::INTEGER"
    nights = "(1 + 13 * power(chance(i, 'nights'), 2))::INTEGER"
    return (
        f"SELECT {patient} AS pid, {soon} ELSE {_day('admission')} END AS day, {nights} AS nights"
        f" FROM range({rows}) r(i)"
    )


def _day(salt: str, number: str = "i") -> str:
    """A day of 2025."""
    return f"DATE '2025-01-01' + floor(chance({number}, 'day of {salt}') * 365)::INTEGER"


def _discharge_declaration(rows: int) -> str:
    listed = ", ".join(f'"{each}"' for each in DIAGNOSES)
    return f"""
open = true
rows = {rows}
unique = [["pid"]]
columns.pid = {{ type = "INTEGER", min = 0, max = 9999999 }}
columns.diagnosis = {{ type = "VARCHAR", values = [{listed}] }}
columns.day = {{ type = "DATE", min = 2025-01-01, max = 2026-12-31 }}
"""


def _admission_declaration(rows: int) -> str:
    return f"""
open = true
rows = {rows}
columns.pid = {{ type = "INTEGER", min = 0, max = 9999999 }}
columns.day = {{ type = "DATE", min = 2025-01-01, max = 2026-12-31 }}
columns.nights = {{ type = "INTEGER", min = 0, max = 365 }}
"""


SCENARIO = Scenario(
    name="two-hospitals",
    question="How many patients that hospital A discharged were admitted by hospital B within thirty days, by"
    " diagnosis, and for how many nights? There is no third party: the two hospitals compute between themselves.",
    query=QUERY,
    parties=("hospital_a", "hospital_b"),
    recipients=("hospital_a", "hospital_b"),
    rows=10_000,
    tables=tables,
    engine="two",
)

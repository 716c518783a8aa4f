"""Recurrence: how many patients had a second infection within weeks of one before, in either hospital?"""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

INFECTION = "008.45"
QUERY = f"""\
WITH infections AS (
  SELECT pid, day, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS nr
  FROM (SELECT pid, diag, day FROM diagnoses_a
        UNION ALL
        SELECT pid, diag, day FROM diagnoses_b) x
  WHERE diag = '{INFECTION}')
SELECT COUNT(DISTINCT first.pid) AS patients
FROM infections first
JOIN infections second ON first.pid = second.pid AND first.nr = second.nr - 1
WHERE second.day - first.day BETWEEN 15 AND 56"""

DIAGNOSES = (INFECTION, "401.9", "414.0", "428.0", "250.00", "584.9")


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` diagnoses at each hospital; half of the patients are known to both hospitals."""
    patients = max(1, rows // 8)
    return tuple(
        DemoTable(
            f"diagnoses_{letter}", f"hospital_{letter}", _diagnoses(letter, rows, first, patients), _declaration(rows)
        )
        for letter, first in (("a", 0), ("b", patients // 2))
    )


def _diagnoses(letter: str, rows: int, first_patient: int, patients: int) -> str:
    """What was found of whom on which day of 2024 or 2025."""
    listed = ", ".join(f"'{value}'" for value in DIAGNOSES)
    patient = f"{first_patient} + floor(chance(i, 'patient {letter}') * {patients})::INTEGER"
    day = f"DATE '2024-01-01' + floor(chance(i, 'day {letter}') * 731)::INTEGER"
    return (
        f"SELECT {patient} AS pid, pick([{listed}], i, 'diag {letter}') AS diag, {day} AS day FROM range({rows}) r(i)"
    )


def _declaration(rows: int) -> str:
    listed = ", ".join(f'"{value}"' for value in DIAGNOSES)
    return f"""
open = true
rows = {rows}
columns.pid = {{ type = "INTEGER", min = 0, max = 9999999 }}
columns.diag = {{ type = "VARCHAR", values = [{listed}] }}
columns.day = {{ type = "DATE", min = 2020-01-01, max = 2029-12-31 }}
"""


SCENARIO = Scenario(
    name="recurrence",
    question=f"How many patients had Clostridium difficile ({INFECTION}) again, 15 to 56 days after the time before? "
    "Two hospitals ask over both their records, since patients come back to either; a third node helps, without data.",
    query=QUERY,
    parties=("hospital_a", "hospital_b", "helper"),
    recipients=("hospital_a", "hospital_b"),
    rows=5_000,
    tables=tables,
)

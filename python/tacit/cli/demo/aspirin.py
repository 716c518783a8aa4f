"""Aspirin: how many patients with coronary disease got aspirin on or after their diagnosis, in either hospital?"""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

QUERY = """\
SELECT COUNT(*) AS patients
FROM (SELECT x.pid, MIN(x.day) AS first_day
      FROM (SELECT pid, diag, day FROM diagnoses_a
            UNION ALL
            SELECT pid, diag, day FROM diagnoses_b) x
      WHERE x.diag = '414.0'
      GROUP BY x.pid) d
JOIN (SELECT y.pid, MAX(y.day) AS last_day
      FROM (SELECT pid, med, day FROM medications_a
            UNION ALL
            SELECT pid, med, day FROM medications_b) y
      WHERE y.med = 'aspirin'
      GROUP BY y.pid) m ON d.pid = m.pid
WHERE d.first_day <= m.last_day"""

DIAGNOSES = ("401.9", "414.0", "428.0", "427.31", "250.00", "584.9", "272.4", "599.0")
MEDICATIONS = ("heparin", "aspirin", "metoprolol", "insulin", "furosemide", "warfarin", "lisinopril")


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` diagnoses and as many medications at each hospital; half of the patients are known to both hospitals."""
    patients = max(1, rows // 4)
    found = []
    for letter, first_patient in (("a", 0), ("b", patients // 2)):
        owner = f"hospital_{letter}"
        diagnoses = _events(f"d{letter}", "diag", DIAGNOSES, rows, first_patient, patients)
        medications = _events(f"m{letter}", "med", MEDICATIONS, rows, first_patient, patients)
        found.append(DemoTable(f"diagnoses_{letter}", owner, diagnoses, _declaration(rows, "diag", DIAGNOSES)))
        found.append(DemoTable(f"medications_{letter}", owner, medications, _declaration(rows, "med", MEDICATIONS)))
    return tuple(found)


def _events(salt: str, column: str, values: tuple[str, ...], rows: int, first_patient: int, patients: int) -> str:
    """What happened to whom on which day of 2024 or 2025."""
    listed = ", ".join(f"'{value}'" for value in values)
    patient = f"{first_patient} + floor(chance(i, 'patient {salt}') * {patients})::INTEGER"
    day = f"DATE '2024-01-01' + floor(chance(i, 'day {salt}') * 731)::INTEGER"
    value = f"pick([{listed}], i, 'value {salt}')"
    return f"SELECT {patient} AS pid, {value} AS {column}, {day} AS day FROM range({rows}) r(i)"


def _declaration(rows: int, column: str, values: tuple[str, ...]) -> str:
    """The codes are a public list: under MPC each is a small number."""
    listed = ", ".join(f'"{value}"' for value in values)
    return f"""
open = true
rows = {rows}
columns.pid = {{ type = "INTEGER", min = 0, max = 9999999 }}
columns.{column} = {{ type = "VARCHAR", values = [{listed}] }}
columns.day = {{ type = "DATE", min = 2020-01-01, max = 2029-12-31 }}
"""


SCENARIO = Scenario(
    name="aspirin",
    question="How many patients with coronary disease (414.0) got aspirin on or after the day of their first "
    "diagnosis? Two hospitals ask over both their records; a third node helps, without data.",
    query=QUERY,
    parties=("hospital_a", "hospital_b", "helper"),
    recipients=("hospital_a", "hospital_b"),
    rows=10_000,
    tables=tables,
)

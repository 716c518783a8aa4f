"""Comorbidity: which diagnoses do patients with C. difficile have most often, over two hospitals' records?"""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

QUERY = """\
SELECT d.diag, COUNT(*) AS cases
FROM (SELECT pid, diag FROM diagnoses_a
      UNION ALL
      SELECT pid, diag FROM diagnoses_b) d
JOIN (SELECT DISTINCT c.pid
      FROM (SELECT pid, diag FROM diagnoses_a
            UNION ALL
            SELECT pid, diag FROM diagnoses_b) c
      WHERE c.diag = '008.45') p ON d.pid = p.pid
GROUP BY d.diag
ORDER BY cases DESC, d.diag
LIMIT 10"""

CODES = (
    "401.9", "428.0", "427.31", "414.01", "250.00", "584.9", "272.4", "599.0", "518.81", "530.81",
    "496", "285.9", "038.9", "486", "244.9", "305.1", "V58.61", "995.92", "276.1", "300.00",
)  # fmt: skip
"""ICD-9 codes that are common in intensive care, the most common first."""


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` diagnoses in each hospital's file, about four a patient; both hospitals know half of the patients."""
    patients = max(1, rows // 4)
    return (
        DemoTable("diagnoses_a", "hospital_a", _diagnoses("a", rows, 0, patients), _declaration(rows)),
        DemoTable("diagnoses_b", "hospital_b", _diagnoses("b", rows, patients // 2, patients), _declaration(rows)),
    )


def _diagnoses(letter: str, rows: int, first_patient: int, patients: int) -> str:
    codes = ", ".join(f"'{code}'" for code in CODES)
    patient = f"{first_patient} + floor(chance(i, 'patient {letter}') * {patients})::INTEGER"
    code = f"pick([{codes}], i, 'code {letter}')"
    diagnosis = f"CASE WHEN chance(i, 'infection {letter}') < 0.02 THEN '008.45' ELSE {code} END"
    return f"SELECT {patient} AS pid, {diagnosis} AS diag FROM range({rows}) r(i)"


def _declaration(rows: int) -> str:
    return f"""
open = true
rows = {rows}
columns.pid = {{ type = "INTEGER", min = 0, max = 9999999 }}
columns.diag = {{ type = "VARCHAR", max_length = 6 }}
"""


SCENARIO = Scenario(
    name="comorbidity",
    question="Which ten diagnoses are most frequent among patients with a C. difficile infection (008.45)? Two "
    "hospitals ask over both their records; a patient may be known to both. A third node helps, without data.",
    query=QUERY,
    parties=("hospital_a", "hospital_b", "helper"),
    recipients=("hospital_a",),
    rows=10_000,
    tables=tables,
)

"""Two inputs for every demo question: other data with as many declared rows, and the same answer.

The second input has other keys, other values, other true row counts, other matches and other intermediate results:
everything that may differ without the answer, or what the account says goes beyond it, being different.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.cli.demo import aspirin, comorbidity, credit, hospitals, market, recurrence, two_hospitals
from tacit.cli.demo.scenario import DemoTable, Scenario

Rows = list[tuple[object, ...]]

ROWS = 20
"""The declared rows of the owners' tables (credit's regulator: 24)."""


@dataclass(frozen=True)
class Twins:
    """A question, its tables' declarations, and two inputs: for each table the content of its file."""

    scenario: Scenario
    tables: tuple[DemoTable, ...]
    one: dict[str, str]
    other: dict[str, str]


def _csv(header: str, rows: Rows) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def _credit() -> Twins:
    """Sums and counts of each ZIP are the same: the recipient divides them, so it sees them."""
    one = {
        "demographics": _csv("ssn,zip", [(500 + i, 10001 + i % 3) for i in range(9)]),
        "scores_a": _csv("ssn,score", [(500 + i, 600 + i) for i in range(9)]),
        "scores_b": _csv("ssn,score", [(500, 700), (501, 710), (502, 720)]),
    }
    sums = {10001: (600 + 603 + 606, 700), 10002: (601 + 604 + 607, 710), 10003: (602 + 605 + 608, 720)}
    people: Rows = [(900_000_000 + 37 * i, 10001 + i % 3) for i in range(3)]
    people += [(800_000_000 + i, 10001 + i % 3) for i in range(21)]
    in_a: Rows = [(12, 850), (13, 300), (900_000_000, sums[10001][1])]
    in_b: Rows = [(14, 845)]
    for i, (three, one_more) in enumerate(sums.values()):
        shares = (three // 3 - 40 - i, three // 3 + 7, three - 2 * (three // 3) + 33 + i)
        in_b += [(900_000_000 + 37 * i, share) for share in shares]
        in_a += [(900_000_000 + 37 * i, one_more)] if i else []
    other = {
        "demographics": _csv("ssn,zip", people),
        "scores_a": _csv("ssn,score", in_a),
        "scores_b": _csv("ssn,score", in_b),
    }
    return Twins(credit.SCENARIO, credit.tables(ROWS), one, other)


def _market() -> Twins:
    """The same revenues, earned by other companies, with other fleets and prices."""
    revenues = (30_000, 20_000, 7_000)
    one = {f"trips_{letter}": _csv("company,price", [(1, 10_000), (2, 0)]) for letter in "abc"}
    one["trips_b"] += "2,20000\n"
    one["trips_c"] += "3,3500\n3,3500\n"
    other = {
        "trips_a": _csv("company,price", [(7, revenues[0] - 1), (7, 1), (9, 0), (1, 0)]),
        "trips_b": _csv("company,price", []),
        "trips_c": _csv("company,price", [(12, 4_000)] * 5 + [(5, 1_000)] * 7),
    }
    return Twins(market.SCENARIO, market.tables(ROWS), one, other)


def _comorbidity() -> Twins:
    """The infected have the same diagnoses; who they are, where they were treated, and everybody else differ."""
    found = ["008.45", "401.9", "008.45", "401.9", "428.0", "250.00"]
    one: Rows = [(patient, code) for patient, code in zip((1, 1, 2, 2, 2, 1), found, strict=True)]
    elsewhere: Rows = [(50 + i, "401.9") for i in range(12)]
    other: Rows = [(9_000_000 + patient, code) for patient, code in zip((0, 0, 1, 1, 0, 1), found, strict=True)]
    return Twins(
        comorbidity.SCENARIO,
        comorbidity.tables(ROWS),
        {"diagnoses_a": _csv("pid,diag", one[:3]), "diagnoses_b": _csv("pid,diag", one[3:] + elsewhere)},
        {"diagnoses_a": _csv("pid,diag", [*other, (7, "486"), (8, "V58.61")]), "diagnoses_b": _csv("pid,diag", [])},
    )


def _aspirin() -> Twins:
    """Two patients count in both inputs: other people, days and hospitals."""
    events = {"diagnoses": "pid,diag,day", "medications": "pid,med,day"}
    one: dict[str, Rows] = {
        "diagnoses_a": [(1, "414.0", "2024-02-01"), (2, "414.0", "2024-02-02"), (3, "414.0", "2024-12-31")],
        "diagnoses_b": [(1, "428.0", "2024-01-01")],
        "medications_a": [(1, "aspirin", "2024-02-01"), (3, "aspirin", "2024-05-05")],
        "medications_b": [(2, "aspirin", "2025-01-01"), (1, "insulin", "2025-01-01")],
    }
    other: dict[str, Rows] = {
        "diagnoses_a": [],
        "diagnoses_b": [(9_999_000 + i % 4, "414.0", f"2021-03-{i + 1:02}") for i in range(20)],
        "medications_a": [(9_999_000, "aspirin", "2029-12-31"), (9_999_001, "aspirin", "2021-03-02")],
        "medications_b": [(9_999_002 + i, "aspirin", "2020-01-01") for i in range(15)],
    }
    files = [
        {name: _csv(events[name.split("_")[0]], rows) for name, rows in content.items()} for content in (one, other)
    ]
    return Twins(aspirin.SCENARIO, aspirin.tables(ROWS), files[0], files[1])


def _recurrence() -> Twins:
    """One patient has the infection again in time, in both inputs: another one, on other days, elsewhere."""
    found, header = recurrence.INFECTION, "pid,diag,day"
    one: Rows = [(1, found, "2024-02-01"), (2, found, "2024-02-02"), (1, "401.9", "2024-12-31")]
    one_too: Rows = [(1, found, "2024-03-01"), (2, found, "2024-02-10"), (3, found, "2025-01-01")]
    other: Rows = [(9_000_000, found, f"2021-0{month}-01") for month in range(1, 4)]
    return Twins(
        recurrence.SCENARIO,
        recurrence.tables(ROWS),
        {"diagnoses_a": _csv(header, one), "diagnoses_b": _csv(header, one_too)},
        {"diagnoses_a": _csv(header, []), "diagnoses_b": _csv(header, other)},
    )


def _two_hospitals() -> Twins:
    """As many nights after as many readmissions for each diagnosis: other patients, days and numbers of both."""
    discharges, admissions = "pid,diagnosis,day", "pid,day,nights"
    one: dict[str, Rows] = {
        "discharges": [(1, "stroke", "2025-03-01"), (2, "COPD", "2025-04-01"), (3, "COPD", "2025-05-01")],
        "admissions": [(1, "2025-03-02", 4), (1, "2025-03-31", 6), (2, "2025-04-20", 3), (3, "2025-06-30", 9)],
    }
    other: dict[str, Rows] = {
        "discharges": [(9_000_000 + i, "COPD" if i % 2 else "stroke", "2026-01-31") for i in range(20)],
        "admissions": [(9_000_000, "2026-02-01", 1), (9_000_002, "2026-03-02", 9), (9_000_019, "2026-02-28", 3)]
        + [(9_000_004, "2026-01-31", i) for i in range(10)],
    }
    files = [
        {"discharges": _csv(discharges, each["discharges"]), "admissions": _csv(admissions, each["admissions"])}
        for each in (one, other)
    ]
    return Twins(two_hospitals.SCENARIO, two_hospitals.tables(ROWS), files[0], files[1])


def _hospitals() -> Twins:
    """As many nights and readmissions of each procedure that is shown, in other hospitals, beside other procedures."""
    header, names = "procedure,nights,readmitted", hospitals.HOSPITALS
    one: list[Rows] = [[("hip", 5, i % 2)] * 4 for i in range(5)]
    one[0] += [("knee", 3, 0)] * 9
    hips: list[Rows] = [[("hip", 1, 1)] * 8 + [("hip", 7, 0)] * 4, [("hip", 8, 0)] * 8]
    other: list[Rows] = [[], hips[0], [("bypass", 99, 1)] * 5, [], hips[1]]
    files = [
        {f"operations_{name}": _csv(header, rows) for name, rows in zip(names, each, strict=True)}
        for each in (one, other)
    ]
    return Twins(hospitals.SCENARIO, hospitals.tables(ROWS), files[0], files[1])


TWINS = (_credit(), _market(), _comorbidity(), _aspirin(), _recurrence(), _two_hospitals(), _hospitals())

"""Credit scores by neighbourhood: a regulator knows where people live, two bureaus know their scores."""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

QUERY = """\
SELECT d.zip, AVG(s.score) AS avg_score
FROM demographics d
JOIN (SELECT ssn, score FROM scores_a
      UNION ALL
      SELECT ssn, score FROM scores_b) s ON d.ssn = s.ssn
GROUP BY d.zip
ORDER BY d.zip"""

SSN = "(100000000 + (i * 7654321 + 123456789) % 799999999)::INTEGER"
ZIP = "pick([10001 + 7 * z + 1000 * (z % 5) FOR z IN range(40)], i, 'zip')"
SSN_COLUMN = 'ssn = { type = "INTEGER", min = 0, max = 999999999 }'


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` people in each bureau's file, 6/5 as many in the regulator's; most people are in several files."""
    people = rows * 6 // 5
    return (
        DemoTable("demographics", "regulator", _people(people), _people_declaration(people)),
        DemoTable("scores_a", "bureau_a", _scores("a", 0, rows), _scores_declaration(rows)),
        DemoTable("scores_b", "bureau_b", _scores("b", rows // 2, rows), _scores_declaration(rows)),
    )


def _people(count: int) -> str:
    return f"SELECT {SSN} AS ssn, ({ZIP})::INTEGER AS zip FROM range({count}) r(i)"


def _scores(letter: str, first: int, rows: int) -> str:
    """A bureau's window of the population: scores differ by neighbourhood and person, and a little between bureaus."""
    person, bureau = "70 * bell(i, 'person')", f"12 * bell(i, 'bureau {letter}')"
    neighbourhood = f"60 * (chance({ZIP}, 'wealth') - 0.5)"
    score = f"greatest(300, least(850, 690 + {person} + {bureau} + {neighbourhood}))::INTEGER"
    return f"SELECT {SSN} AS ssn, {score} AS score FROM range({first}, {first + rows}) r(i)"


def _people_declaration(rows: int) -> str:
    return f"""
open = true
rows = {rows}
unique = [["ssn"]]
columns.{SSN_COLUMN}
columns.zip = {{ type = "INTEGER", min = 0, max = 99999 }}
"""


def _scores_declaration(rows: int) -> str:
    return f"""
open = true
rows = {rows}
columns.{SSN_COLUMN}
columns.score = {{ type = "INTEGER", min = 300, max = 850 }}
"""


SCENARIO = Scenario(
    name="credit",
    question="A regulator asks for the average credit score in each ZIP code. It knows where people live; two credit "
    "bureaus know their scores. Nobody may see anybody else's rows.",
    query=QUERY,
    parties=("regulator", "bureau_a", "bureau_b"),
    recipients=("regulator",),
    rows=10_000,
    tables=tables,
)

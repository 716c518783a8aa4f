"""Market concentration: three owners know which company earned what; how close is the market to a monopoly?"""

from __future__ import annotations

from tacit.cli.demo.scenario import DemoTable, Scenario

QUERY = """\
WITH revenue AS (
  SELECT t.company, SUM(t.price) AS rev
  FROM (SELECT company, price FROM trips_a
        UNION ALL
        SELECT company, price FROM trips_b
        UNION ALL
        SELECT company, price FROM trips_c) t
  WHERE t.price > 0
  GROUP BY t.company),
total AS (SELECT SUM(r.rev) AS total FROM revenue r)
SELECT SUM(r.rev * r.rev) / MAX(t.total * t.total) AS hhi
FROM revenue r CROSS JOIN total t"""


def tables(rows: int) -> tuple[DemoTable, ...]:
    """``rows`` trips in each owner's file; twelve companies, most of which drive for several owners."""
    return tuple(
        DemoTable(f"trips_{letter}", f"fleet_{letter}", _trips(letter, rows), _declaration(rows)) for letter in "abc"
    )


def _trips(letter: str, rows: int) -> str:
    """Prices in cents; one in a hundred is a refund (zero). The letter shifts which companies dominate."""
    shift = "abc".index(letter) * 3
    company = f"(1 + (pick(range(12), i, 'company {letter}') + {shift}) % 12)::INTEGER"
    fare = f"(400 + 2600 * chance(i, 'price {letter}'))::INTEGER"
    price = f"CASE WHEN chance(i, 'refund {letter}') < 0.01 THEN 0 ELSE {fare} END"
    return f"SELECT {company} AS company, {price} AS price FROM range({rows}) r(i)"


def _declaration(rows: int) -> str:
    return f"""
open = true
rows = {rows}
consents = ["groups"]
columns.company = {{ type = "INTEGER", min = 1, max = 12 }}
columns.price = {{ type = "INTEGER", min = 0, max = 100000 }}
"""


SCENARIO = Scenario(
    name="market",
    question="How concentrated is the market? Three owners know what each company earned on their trips, and ask for "
    "the Herfindahl-Hirschman index over all of them: the sum of squared market shares.",
    query=QUERY,
    parties=("fleet_a", "fleet_b", "fleet_c"),
    recipients=("fleet_a",),
    rows=100_000,
    tables=tables,
)

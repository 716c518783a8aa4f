"""P7, P8 and P9 of verdicts: tighter terms allow no more, disguises change nothing, no data are looked at."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tacit.plan.facts.catalog import Table
from tacit.plan.policy.allowed import disclosed
from tacit.plan.policy.check import check
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind

from .owners import OWNERS, PEOPLE, TODAY, allowed, south_says, with_table
from .verdicts import ALLOWED, ATTACKS, JOINED, NORTH, REFUSED

QUESTIONS = [*ALLOWED, *(query for query, _ in ATTACKS), *(row[0] for row in REFUSED if row[1] == "north")]


def tightened() -> list[Table]:
    """People and visits under terms that allow less, an attribute at a time."""
    found = [
        south_says(recipients=frozenset[str]()),
        south_says(least_group=11),
        south_says(least_group=400),
        south_says(until=date(2020, 1, 1)),
        south_says(allow=frozenset[str]()),
        south_says(weights=frozenset[str]()),
        south_says(complement=True),
        south_says(small="drop"),
    ]
    for place, column in enumerate(PEOPLE.columns):
        ways = column.terms.ways
        tighter = [replace(column.terms, ways=ways - {way}) for way in ways]
        tighter += [replace(column.terms, functions=column.terms.functions - {each}) for each in column.terms.functions]
        tighter += [replace(column.terms, partners=frozenset({"x.y"}))] if "join" in ways else []
        tighter += [replace(column.terms, cuts=(30,))] if column.terms.cuts else []
        tighter += [replace(column.terms, constants=frozenset({"A"}))] if column.terms.constants else []
        tighter += [replace(column.terms, cuts=(50,))] if column.terms.cuts is None and "filter" in ways else []
        tighter += [replace(column.terms, to=frozenset[str]())] if "select" in ways else []
        for each in tighter:
            columns = [*PEOPLE.columns]
            columns[place] = replace(column, terms=each)
            found.append(replace(PEOPLE, columns=tuple(columns)))
    return found


def test_tighter_terms_never_allow_more() -> None:
    def passes(query: str, table: Table | None = None) -> bool:
        catalog = OWNERS if table is None else with_table(table)
        try:
            check(bind(query, catalog), catalog, NORTH, TODAY)
        except PolicyRefusal:
            return False
        return True

    refused = [query for query in QUESTIONS if not passes(query)]
    assert len(refused) > 40
    assert [(query, table) for table in tightened() for query in refused if passes(query, table)] == []
    nobody = tightened()[0]
    assert sum(not passes(query, nobody) for query in ALLOWED) > 5, "tightening matters"


DISGUISES = {
    "SELECT salary FROM people": [
        "SELECT salary AS seat FROM people",
        "SELECT salary + 0 AS s FROM people",
        "SELECT 1 * salary AS s FROM people",
        "SELECT CAST(salary AS BIGINT) AS s FROM people",
        "WITH t AS (SELECT salary AS a FROM people) SELECT a FROM t",
        "SELECT x.a FROM (SELECT salary AS a FROM people) x",
        "SELECT CASE WHEN TRUE THEN salary ELSE 0 END AS s FROM people",
        "SELECT salary FROM people UNION ALL SELECT x FROM empty",
        "SELECT x FROM empty UNION ALL SELECT salary FROM people",
    ],
    "SELECT MAX(salary) FROM people": [
        "SELECT MAX(salary + 0) AS m FROM people",
        "SELECT MAX(CAST(salary AS BIGINT)) AS m FROM people",
        "SELECT MAX(s) FROM (SELECT salary * 1 AS s FROM people) x",
        "WITH t AS (SELECT salary AS points FROM people) SELECT MAX(points) FROM t",
        "SELECT MAX(CASE WHEN TRUE THEN salary END) AS m FROM people",
        "SELECT MAX(s) FROM (SELECT salary AS s FROM people UNION ALL SELECT x FROM empty) u",
        "SELECT MAX(salary) FROM people WHERE TRUE",
    ],
    f"SELECT SUM(c.weight) FROM {JOINED}": [
        "SELECT SUM(c.weight) FROM people p JOIN customers c ON p.ssn = c.ssn",
        "SELECT SUM(c.weight) FROM customers c, people p WHERE p.ssn = c.ssn",
        "SELECT SUM(weight) FROM customers WHERE ssn IN (SELECT ssn FROM people)",
        f"SELECT SUM(w) FROM (SELECT c.weight + 0 AS w FROM {JOINED}) x",
        f"SELECT SUM(CAST(c.weight AS BIGINT)) FROM {JOINED}",
    ],
    f"SELECT c.segment, AVG(p.salary) FROM {JOINED} GROUP BY c.segment": [
        "SELECT c.segment, AVG(p.salary) FROM people p JOIN customers c ON p.ssn = c.ssn GROUP BY c.segment",
        f"SELECT s, AVG(t) FROM (SELECT c.segment AS s, p.salary + 0 AS t FROM {JOINED}) x GROUP BY s",
        f"WITH x AS (SELECT c.segment, p.salary AS a FROM {JOINED}) SELECT segment, AVG(a) FROM x GROUP BY 1",
        f"SELECT c.segment, AVG(CASE WHEN TRUE THEN p.salary END) FROM {JOINED} GROUP BY c.segment",
    ],
    "SELECT COUNT(*) FROM people WHERE vip": [
        "SELECT COUNT(*) FROM people WHERE vip = TRUE",
        "SELECT COUNT(*) FROM people WHERE NOT NOT vip",
        "SELECT COUNT(*) FROM (SELECT vip AS v FROM people) x WHERE v",
        "SELECT COUNT(*) FROM people WHERE CASE WHEN vip THEN TRUE ELSE FALSE END",
    ],
}


@pytest.mark.parametrize("query", DISGUISES)
def test_disguises_have_the_same_verdict_and_the_same_sources(query: str) -> None:
    plain = seen(query)
    assert {each: seen(each) for each in DISGUISES[query]} == dict.fromkeys(DISGUISES[query], plain)


def seen(query: str) -> tuple[object, ...]:
    """A query's rule and column, or what it discloses."""
    try:
        found = disclosed(allowed(query).state, NORTH)
    except PolicyRefusal as refused:
        return refused.problem.rule, refused.problem.table, refused.problem.column
    return tuple(sorted({(each.table, each.column, each.way, each.function or "") for each in found}))


def test_the_check_has_no_way_to_data() -> None:
    assert [*inspect.signature(check).parameters] == ["relation", "catalog", "recipients", "today"]
    assert all(each.path is None for each in OWNERS.tables)
    room = Path(inspect.getfile(check)).parent
    lines = [line for path in room.glob("*.py") for line in path.read_text().splitlines()]
    roots = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert roots <= {
        "__future__", "collections", "dataclasses", "datetime", "decimal", "fractions", "functools", "hashlib",
        "itertools", "json", "math", "tacit", "typing",
    }  # fmt: skip

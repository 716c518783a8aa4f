"""The table of constructs in docs/rules.md: its examples have the verdicts that it says, and no construct is missing.

TACIT_UPDATE_GOLDEN=1 writes it instead of comparing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from .product import Product
from .properties import surface
from .properties.surface import NORTH
from .rendered import Rendered

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
TITLE = "## Constructs\n"
HEAD = """
What each construct of [SQL](sql.md) exposes, and what holds it. Here `people` and `stays` are tables with rules, of
which no row may be seen, and `customers` is the recipient's own. A test has the verdicts of all examples.

| construct | exposes | held by | allowed | refused, by rule |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A line of the table. refused: an example, and its rule; none where nothing is refused for the construct alone."""

    constructs: tuple[str, ...]
    exposes: str
    held: str
    allowed: str
    refused: str = ""
    rule: str = ""


JOINED = "customers c JOIN people p ON c.ssn = p.ssn"
ROWS = (
    Row(
        ("inner join, ON", "inner join, USING", "tables in FROM with equalities in WHERE", "several keys",
         "NATURAL JOIN", "SEMI JOIN", "IN", "EXISTS", "ANY"),
        "which units match, by `join` of both keys",
        "the units of each owner are counted in every group; `with`, `matches`, `repeats`, `weights`",
        f"SELECT COUNT(*) FROM {JOINED}",
        f"SELECT c.ssn FROM {JOINED}", "matches",
    ),
    Row(
        ("LEFT JOIN", "RIGHT JOIN"),
        "which units match, and which do not, by `join` of both keys",
        "rows with rules all stay; units with a match and without one are counted wherever a value depends on it",
        "SELECT c.segment, COUNT(*) FROM people p LEFT JOIN customers c ON c.ssn = p.ssn GROUP BY c.segment",
        "SELECT COUNT(*) FROM customers c LEFT JOIN people p ON c.ssn = p.ssn", "floor",
    ),
    Row(
        ("ANTI JOIN", "NOT IN", "NOT EXISTS"),
        "as a LEFT JOIN",
        "those who are left out have to reach the floor, too; a condition on others beside it is refused",
        "SELECT COUNT(*) FROM people WHERE ssn NOT IN (SELECT ssn FROM customers)",
        "SELECT COUNT(*) FROM people WHERE vip OR ssn NOT IN (SELECT ssn FROM customers)", "floor",
    ),
    Row(
        ("FULL JOIN", "CROSS JOIN", "theta join", "band join"),
        "rows of both sides that stay, or meet each row of the other side",
        "nothing counts these of single rows; of groups that are shown they are computed with these",
        "SELECT g.k, c.worth FROM (SELECT city AS k, COUNT(*) AS m FROM people GROUP BY city) g "
        "JOIN customers c ON g.m > c.worth",
        "SELECT COUNT(*) FROM people p JOIN customers c ON p.age > c.worth", "floor",
    ),
    Row(
        ("scalar", "correlated scalar", "ALL"),
        "what the subquery is made of, and `filter` of what is compared with it",
        "a guard of its own; `with` where single rows meet",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)",
        "SELECT COUNT(*) FROM people WHERE salary > (SELECT AVG(salary) FROM people)", "filter",
    ),
    Row(("WITH", "in FROM"), "what is in it", "the same rules in any words",
        "WITH x AS (SELECT city AS k FROM people) SELECT k, COUNT(*) FROM x GROUP BY k",
        "WITH x AS (SELECT email AS k FROM people) SELECT k, COUNT(*) FROM x GROUP BY k", "closed"),
    Row(
        ("SUM", "COUNT", "AVG", "FILTER", "CASE"),
        "`aggregate` of the argument, `filter` of conditions in it",
        "contributors are counted, and all cells of the conditions of one row; `linear`, `weights`",
        "SELECT AVG(salary) FILTER (WHERE vip) FROM people",
        "SELECT SUM(salary * salary) FROM people", "linear",
    ),
    Row(
        ("MIN", "MAX", "MEDIAN", "QUANTILE_DISC", "QUANTILE_CONT", "PERCENTILE_DISC, PERCENTILE_CONT", "BOOL_AND",
         "BOOL_OR", "ANY_VALUE"),
        "one unit's value",
        "`functions` has to name it",
        "SELECT MEDIAN(age) FROM people",
        "SELECT MEDIAN(salary) FROM people", "function",
    ),
    Row(
        ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP"),
        "`aggregate`, function `stddev`",
        "contributors are counted; the floor is three at least",
        "SELECT STDDEV_POP(salary) FROM people",
        "SELECT STDDEV_POP(bonus) FROM people", "function",
    ),
    Row(
        ("CORR", "COVAR_POP", "SUM(DISTINCT x)"),
        "sums of products, or who shares a value",
        "no offer allows it of single rows",
        "SELECT SUM(DISTINCT n) FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) g",
        "SELECT SUM(DISTINCT salary) FROM people", "linear",
    ),
    Row(
        ("COUNT(DISTINCT x)",),
        "of units nothing but their number; else `aggregate`, function `count_distinct`",
        "as COUNT",
        "SELECT COUNT(DISTINCT ssn) FROM people",
        "SELECT COUNT(DISTINCT city) FROM people", "function",
    ),
    Row(
        ("GROUP BY", "DISTINCT", "UNION", "INTERSECT", "EXCEPT"),
        "values of the keys, by `group`",
        "the units of each owner are counted in every group; small ones are folded or dropped",
        "SELECT city, COUNT(*) FROM people GROUP BY city",
        "SELECT ssn, COUNT(*) FROM stays GROUP BY ssn", "floor",
    ),
    Row(
        ("HAVING",),
        "no more than the aggregate shows",
        "it stands above the guard, and small groups are dropped",
        "SELECT city FROM people GROUP BY city HAVING SUM(salary) > 5",
        "SELECT city FROM people GROUP BY city HAVING COUNT(*) = 1", "floor",
    ),
    Row(
        ("ROLLUP", "CUBE", "GROUPING SETS"),
        "the same rows several times, so that totals without groups are small groups",
        "the owner's agent compares the groups of all sets; where others decide the rows, all sets add up what the "
        "finest one shows",
        "SELECT city, COUNT(*) FROM people GROUP BY ROLLUP (city)",
        f"SELECT c.segment, COUNT(DISTINCT p.ssn) FROM {JOINED} GROUP BY ROLLUP (c.segment)", "differences",
    ),
    Row(
        ("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE",
         "aggregates of partitions", "running aggregates", "ROWS frames", "QUALIFY"),
        "of groups no more than these; of single rows `filter` of the order, and the argument",
        "each partition of single rows has rows of one unit, in one order alone; values are conditions, or counted",
        "SELECT kind, COUNT(*) FROM (SELECT * FROM stays QUALIFY RANK() OVER (PARTITION BY ssn ORDER BY day) = 1) s "
        "GROUP BY kind",
        "SELECT COUNT(*) FROM (SELECT RANK() OVER (ORDER BY day) AS r FROM stays) s WHERE r < 5", "window",
    ),
    Row(
        ("UNION ALL", "UNION ALL of averages"),
        "what both sides expose; a constant says which rows are whose",
        "each owner's units are counted alone; `repeats` for a table on both sides",
        "SELECT COUNT(*), SUM(x) FROM (SELECT salary AS x FROM people UNION ALL SELECT cost FROM stays) u",
        "SELECT SUM(x) FROM (SELECT salary AS x FROM people UNION ALL SELECT 0 - salary FROM people WHERE vip) u",
        "repeats",
    ),
    Row(
        ("join of keys that repeat on both sides", "LEFT JOIN of such keys", "RIGHT JOIN of such keys",
         "FULL JOIN of such keys"),
        "rows of both sides as often as they have partners",
        "nothing counts these, so tables with rules refuse",
        "SELECT a.segment FROM customers a JOIN customers b ON a.worth = b.worth",
        "SELECT SUM(a.cost) FROM stays a JOIN stays b ON a.ssn = b.ssn", "floor",
    ),
    Row(
        ("INTERSECT ALL", "EXCEPT ALL"),
        "values of rows, and how often each is there",
        "of groups what they show; of single rows as windows without a unit",
        "SELECT city FROM people GROUP BY city EXCEPT ALL SELECT segment FROM customers",
        "SELECT city FROM people EXCEPT ALL SELECT segment FROM customers", "window",
    ),
    Row(
        ("DISTINCT ON",),
        "the first row of each group",
        "of groups what they show; `select` of single rows",
        "SELECT DISTINCT ON (g.n) g.k FROM (SELECT city AS k, COUNT(*) AS n FROM people GROUP BY city) g "
        "ORDER BY g.n, g.k",
        "SELECT DISTINCT ON (city) salary FROM people ORDER BY city, salary", "select",
    ),
    Row(
        ("VALUES as a query", "VALUES in FROM", "SELECT without FROM"),
        "nothing: constants are in the question",
        "beside rows with rules they could be weights, and are refused",
        "SELECT x.a FROM (VALUES (1), (2)) x(a)",
        "SELECT SUM(v.w) FROM people p JOIN (VALUES (1, 1), (2, 2)) v(ssn, w) ON p.ssn = v.ssn", "weights",
    ),
    Row(
        ("ORDER BY", "NULLS FIRST, NULLS LAST", "LIMIT", "LIMIT on an order by an average", "OFFSET"),
        "of groups nothing; of single rows the ranks of what sorts them, and how many there are",
        "above a guard, where small groups are dropped; `select` of the order of single rows",
        "SELECT city, SUM(salary) AS s FROM people GROUP BY city ORDER BY s DESC LIMIT 3",
        "SELECT AVG(salary) FROM (SELECT salary FROM people ORDER BY salary LIMIT 20) p", "select",
    ),
    Row(
        ("comparison", "AND, OR, NOT", "BETWEEN", "IN (list)", "IS NULL", "IS TRUE, IS FALSE", "IS DISTINCT FROM",
         "LIKE", "ILIKE"),
        "`filter` of each column in it",
        "`cuts`, `constants`, and `with` for comparisons with others' columns",
        "SELECT COUNT(*) FROM people WHERE city LIKE 'a%' AND NOT vip",
        "SELECT COUNT(*) FROM people WHERE salary > 5", "filter",
    ),
    Row(
        ("arithmetic", "CAST", "DATE and INTERVAL arithmetic", "EXTRACT", "SUBSTRING", "concatenation",
         "whole division and remainder", "COALESCE", "NULLIF", "GREATEST", "LEAST", "ROUND", "ABS", "FLOOR", "CEIL",
         "UPPER", "LOWER", "LENGTH", "DATE_TRUNC"),
        "all columns in it; above a guard nothing more",
        "only multiples are added up (`linear`); no value may be beyond its type (`floor`)",
        "SELECT ROUND(AVG(salary), 1) AS a, SUM(salary + 2 * bonus) AS s FROM people",
        "SELECT SUM(salary * bonus) FROM people", "linear",
    ),
    Row(
        ("whole division of several owners' columns", "whole division of aggregates, in a condition",
         "rounding of aggregates, in a condition", "parts of days of several owners"),
        "the same, though nodes compute it",
        "`with` where single rows meet; of groups that are shown no more than these",
        "SELECT g.k, g.m // c.worth AS n FROM (SELECT city AS k, COUNT(*) AS m FROM people GROUP BY city) g "
        "JOIN customers c ON c.ssn = g.m",
        f"SELECT COUNT(*) FROM {JOINED} WHERE p.salary % c.worth = 1", "filter",
    ),
    Row(
        ("average as a key", "quotient as a key", "window in the order of an average", "MIN and MAX of averages",
         "SUM and AVG of quotients by narrow numbers"),
        "the same",
        "of groups no more than these; of single rows `group` of all columns in a key, and `linear` for what is "
        "added up or compared",
        "SELECT city, RANK() OVER (ORDER BY AVG(salary)) AS r FROM people GROUP BY city",
        "SELECT MAX(salary / NULLIF(age, 0)) AS m FROM people", "linear",
    ),
    Row(
        ("rounded average as a key", "rounded quotient of several owners' columns",
         "months added to days of several owners"),
        "the same",
        "the same",
        "SELECT a, COUNT(*) AS n FROM (SELECT city, ROUND(AVG(salary)) AS a FROM people GROUP BY city) g GROUP BY a",
        f"SELECT COUNT(*) FROM {JOINED} WHERE ROUND(p.salary / NULLIF(c.worth, 0)) = 1", "filter",
    ),
    Row(
        ("aggregate of a number times a constant",),
        "the aggregate of the number alone",
        "as that aggregate; what is rounded is no multiple (`linear`)",
        "SELECT SUM(salary / 2) AS s, AVG(salary / 3) AS a FROM people",
        "SELECT SUM(ROUND(salary / 3)) AS s FROM people", "linear",
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return Rendered(Product(surface.offers(3), tmp_path_factory.mktemp("page")).federation.catalog)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _line(row: Row) -> str:
    cells = ["; ".join(row.constructs), row.exposes, row.held, f"`{row.allowed}`", f"`{row.refused}`: {row.rule}"]
    return f"| {' | '.join(map(_cell, cells))} |\n"


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text()
    start = text.index(TITLE)
    end = text.index("\n## ", start + len(TITLE))
    table = TITLE + HEAD + "".join(map(_line, ROWS))
    if os.environ.get("TACIT_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text[:start] + table + text[end:])
    else:
        assert text[start:end] == table


def test_every_construct_is_in_one_line() -> None:
    listed = [name for row in ROWS for name in row.constructs]
    assert sorted(listed) == sorted(surface.PATTERNS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.constructs[0])
def test_examples_have_their_verdicts(rules: Rendered, row: Row) -> None:
    assert rules.verdict(row.allowed, NORTH).rule == ""
    assert rules.verdict(row.refused, NORTH).rule == row.rule
    has = surface.constructs(row.allowed) | surface.constructs(row.refused)
    assert has & {*row.constructs}

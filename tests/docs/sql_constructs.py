"""What docs/sql.md lists: the constructs of SQL, each with a pattern that finds it in a golden query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """One thing that a query may have. pattern: a regular expression, without regard to case."""

    name: str
    pattern: str


def _named(*pairs: tuple[str, str]) -> list[Construct]:
    return [Construct(name, pattern) for name, pattern in pairs]


def _calls(*functions: str) -> list[Construct]:
    """Functions by their names."""
    return [Construct(name, rf"\b{name}\((?!DISTINCT)") for name in functions]


SECTIONS: list[tuple[str, list[Construct]]] = [
    (
        "Joins",
        _named(
            ("inner join, ON", r" JOIN \w+( \w+)? ON "),
            ("inner join, USING", r" JOIN \w+( \w+)? USING"),
            ("tables in FROM with equalities in WHERE", r"FROM \w+ \w+, \w+ \w+ WHERE"),
            ("several keys", r" ON \w+\.\w+ = \w+\.\w+ AND \w+\.\w+ = \w+\.\w+"),
            ("NATURAL JOIN", r"NATURAL JOIN"),
            ("LEFT JOIN", r"LEFT (OUTER )?JOIN"),
            ("RIGHT JOIN", r"RIGHT (OUTER )?JOIN"),
            ("FULL JOIN", r"FULL (OUTER )?JOIN"),
            ("SEMI JOIN", r"SEMI JOIN"),
            ("ANTI JOIN", r"ANTI JOIN"),
            ("CROSS JOIN", r"CROSS JOIN"),
            ("join of keys that repeat on both sides", r"visits v JOIN doses d ON v\.who = d\.who$"),
            ("LEFT JOIN of such keys", r"visits v LEFT JOIN doses"),
            ("RIGHT JOIN of such keys", r"visits v RIGHT JOIN doses"),
            ("FULL JOIN of such keys", r"visits v FULL JOIN doses"),
            ("theta join", r" JOIN \w+( \w+)? ON \w+\.\w+ [<>]"),
            ("band join", r" JOIN \w+( \w+)? ON \w+\.\w+ BETWEEN"),
        ),
    ),
    (
        "Subqueries",
        _named(
            ("scalar", r"[<>=+] \(SELECT"),
            (
                "correlated scalar",
                r"[<>=] \(SELECT (MAX|MIN|SUM|AVG|COUNT)\([^)]*\) FROM \w+( \w+)? WHERE \w+\.\w+ = \w+\.\w+",
            ),
            ("IN", r"(?<!NOT) IN \(SELECT"),
            ("NOT IN", r"NOT IN \(SELECT"),
            ("EXISTS", r"(?<!NOT )EXISTS \(SELECT"),
            ("NOT EXISTS", r"NOT EXISTS \(SELECT"),
            ("ALL", r"ALL \(SELECT"),
            ("ANY", r"ANY \(SELECT"),
            ("WITH", r"^WITH "),
            ("in FROM", r"FROM \(SELECT"),
        ),
    ),
    (
        "Aggregates",
        [
            *_calls("SUM", "COUNT", "AVG", "MIN", "MAX", "MEDIAN", "BOOL_AND", "BOOL_OR", "ANY_VALUE"),
            *_calls(
                "VAR_SAMP",
                "VAR_POP",
                "STDDEV_SAMP",
                "STDDEV_POP",
                "QUANTILE_DISC",
                "QUANTILE_CONT",
                "CORR",
                "COVAR_POP",
            ),
            *_named(
                ("COUNT(DISTINCT x)", r"COUNT\(DISTINCT"),
                ("SUM(DISTINCT x)", r"SUM\(DISTINCT"),
                ("PERCENTILE_DISC, PERCENTILE_CONT", r"PERCENTILE_(DISC|CONT)\(.* WITHIN GROUP"),
                ("FILTER", r"\) FILTER \(WHERE"),
                ("GROUP BY", r"GROUP BY \w+"),
                ("HAVING", r" HAVING "),
                ("ROLLUP", r"ROLLUP"),
                ("CUBE", r"CUBE"),
                ("GROUPING SETS", r"GROUPING SETS"),
            ),
        ],
    ),
    (
        "Window functions",
        [
            *_calls("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE"),
            *_named(
                ("aggregates of partitions", r"(SUM|COUNT|MIN|MAX|AVG)\([^)]*\) OVER \(PARTITION BY \w+(\.\w+)?\)"),
                ("running aggregates", r"(SUM|COUNT|MIN|MAX|AVG)\([^)]*\) OVER \([^)]*ORDER BY"),
                ("ROWS frames", r"ROWS BETWEEN"),
                ("QUALIFY", r" QUALIFY "),
            ),
        ],
    ),
    (
        "Sets, order and limits",
        _named(
            ("UNION ALL", r"UNION ALL"),
            ("UNION", r"UNION SELECT"),
            ("INTERSECT ALL", r"INTERSECT ALL"),
            ("EXCEPT ALL", r"EXCEPT ALL"),
            ("INTERSECT", r"INTERSECT SELECT"),
            ("EXCEPT", r"EXCEPT SELECT"),
            ("VALUES as a query", r"^VALUES"),
            ("VALUES in FROM", r"FROM \(VALUES"),
            ("SELECT without FROM", r"^SELECT 1 \+ 1"),
            ("DISTINCT ON", r"DISTINCT ON"),
            ("DISTINCT", r"SELECT DISTINCT"),
            ("ORDER BY", r"ORDER BY"),
            ("NULLS FIRST, NULLS LAST", r"NULLS (FIRST|LAST)"),
            ("LIMIT", r"LIMIT \d"),
            ("OFFSET", r"OFFSET \d"),
        ),
    ),
    (
        "Expressions",
        [
            *_named(
                ("arithmetic", r"\w \+ \w|\w \* \w"),
                ("comparison", r"[<>]=? "),
                ("AND, OR, NOT", r" OR "),
                ("BETWEEN", r" BETWEEN "),
                ("IN (list)", r" IN \([^S]"),
                ("IS NULL", r"IS (NOT )?NULL"),
                ("IS TRUE, IS FALSE", r"IS (NOT )?(TRUE|FALSE)"),
                ("IS DISTINCT FROM", r"IS (NOT )?DISTINCT FROM"),
                ("CASE", r"CASE "),
                ("CAST", r"CAST\("),
                ("DATE and INTERVAL arithmetic", r"INTERVAL"),
                ("EXTRACT", r"EXTRACT\("),
                ("LIKE", r"(?<!I)LIKE "),
                ("ILIKE", r"ILIKE "),
                ("SUBSTRING", r"SUBSTRING\("),
                ("concatenation", r"\|\|"),
                ("whole division and remainder", r" // | % "),
                ("whole division of several owners' columns", r"\b(\w)\.\w+ (//|%) (?!\1\.)\w\.\w+"),
                ("whole division of aggregates, in a condition", r"HAVING \w+\([^)]*\) (//|%) "),
                ("rounding of aggregates, in a condition", r"HAVING ROUND\("),
                ("rounded average as a key", r"ROUND\(AVG\(\w+\)(, 1)?\) AS a FROM .* GROUP BY a\b"),
                ("average as a key", r"AVG\(\w+\) AS a FROM (?!.*ROUND).* GROUP BY a\b"),
                ("quotient as a key", r" / (NULLIF\()?[a-z][\w., ]*\)? AS q\b.* GROUP BY q\b"),
                ("window in the order of an average", r"OVER \(ORDER BY AVG\("),
                ("MIN and MAX of averages", r"MAX\(a\) AS .* AVG\(\w+\) AS a\b"),
                ("SUM and AVG of quotients by narrow numbers", r"(SUM|AVG)\([\w.]+ / (NULLIF\()?[a-z]"),
                ("rounded quotient of several owners' columns", r"(\b\w)\.\w+\)? / NULLIF\((?!\1\.)\w\.\w+, 0\)"),
                ("aggregate of a number times a constant", r"(SUM|AVG|MIN|MAX)\(-?\w+ / \d"),
                ("months added to days of several owners", r"MAX\(\w+\) \+ INTERVAL 1 MONTH"),
                ("parts of days of several owners", r"HAVING YEAR\(MAX\("),
                ("LIMIT on an order by an average", r"AVG\([^)]*\) AS a .*ORDER BY a\b.* LIMIT"),
                ("UNION ALL of averages", r"AVG\(\w+\)[^()]* UNION ALL SELECT AVG\("),
            ),
            *_calls("COALESCE", "NULLIF", "GREATEST", "LEAST", "ROUND", "ABS", "FLOOR", "CEIL", "UPPER", "LOWER"),
            *_calls("LENGTH", "DATE_TRUNC"),
        ],
    ),
]

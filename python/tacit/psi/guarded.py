"""A number of common keys, or a sum over them, as the SQL question that shows it above owners' floors alone.

A match counts without a guard. The query counts the same rows under the engine's protection, where guards are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import parse_one
from sqlglot.errors import SqlglotError

from tacit.local.database import quoted
from tacit.plan.policy.matches import MatchedTable
from tacit.psi.parameters import LEAST, Parameters

KEYS, TOTAL = "keys", "total"
"""The columns of the answer."""


class Unaskable(Exception):
    """A number that no question shows above the floors. Its text is what to do instead."""


def question_texts(parameters: Parameters, named: Sequence[MatchedTable]) -> tuple[str, ...]:
    """Questions with the same answer. Raises Unaskable if no query would count what the match counts."""
    _check(parameters, named)
    first, second = named
    total, tables = _total(parameters, first, second), _joined(first, second)
    return tuple(f"SELECT {each} AS {KEYS}{total} FROM {tables}" for each in _counts(first, second))


def _total(parameters: Parameters, first: MatchedTable, second: MatchedTable) -> str:
    """The sum, as a further output; none if nothing is summed."""
    if parameters.summed is None:
        return ""
    owner, column = parameters.summed
    summed, other = (first, second) if first.table.owner == owner else (second, first)
    if column not in {each.field.name for each in summed.table.columns}:
        raise Unaskable(f"name a column that {owner} offers")
    if not _unique(other):
        raise Unaskable(f"declare {_listed(other)} unique, so that each row is added once")
    return f", SUM({_name(summed.table.name)}.{_name(column)}) AS {TOTAL}"


def _joined(first: MatchedTable, second: MatchedTable) -> str:
    keys = zip(_qualified(first), _qualified(second), strict=True)
    equal = " AND ".join(f"{one} = {other}" for one, other in keys)
    return f"{_name(first.table.name)} JOIN {_name(second.table.name)} ON {equal}"


def _check(parameters: Parameters, named: Sequence[MatchedTable]) -> None:
    """Refuse matches of other keys than those that SQL compares."""
    owners = {each.table.owner for each in named}
    for party in parameters.parties:
        if party not in owners:
            raise Unaskable(f"offer the table of {party} and name it in --tables, so that guards can count")
    if set(parameters.normalisers) != {"exact"}:
        raise Unaskable("leave out --normalise, and store keys in one spelling, since guards compare them as they are")
    if any(parameters.kinds):
        raise Unaskable("leave out --kind, since offers say what keys are")
    if parameters.least != LEAST:
        raise Unaskable("leave out --least, since owners' floors decide what is shown")


def _counts(first: MatchedTable, second: MatchedTable) -> tuple[str, ...]:
    """How many keys both have; of a key that repeats, by either column, as owners may allow one of them alone."""
    if _unique(first) and _unique(second):
        return ("COUNT(*)",)
    repeated, other = (second, first) if _unique(first) else (first, second)
    if not _unique(other) or len(repeated.keys) > 1:
        raise Unaskable(
            f"declare {_listed(other if not _unique(other) else repeated)} unique, so that keys are counted"
        )
    return tuple(f"COUNT(DISTINCT {_qualified(each)[0]})" for each in (repeated, other))


def _unique(matched: MatchedTable) -> bool:
    """Whether no two rows have the same key."""
    return any(each <= set(matched.keys) for each in matched.table.unique)


def _qualified(matched: MatchedTable) -> list[str]:
    return [f"{_name(matched.table.name)}.{_name(key)}" for key in matched.keys]


def _name(name: str) -> str:
    """A name of an offer as SQL takes it: in quotes if SQL has the word itself."""
    try:
        parse_one(f"SELECT {name}.{name} AS {name} FROM {name}", dialect="duckdb")
    except SqlglotError:
        return quoted(name)
    return name


def _listed(matched: MatchedTable) -> str:
    return " and ".join(_qualified(matched))

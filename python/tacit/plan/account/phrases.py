"""Sources in words: which column of whose table is shown, and whether row by row or as one number of many rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tacit.plan.account.origins import AVERAGE, DECIDED_BY, FUNCTIONS, Origin

OF_ALL_ROWS = {"group", "limit"}
"""Ways in which the rows of a table decide which rows there are, whatever is asked."""


def plain(text: str) -> str:
    """A text with names that somebody else chose, on one line and without signs that change how others are read."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def listed(names: Sequence[str]) -> str:
    """Names, for people."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def counted(rows: int) -> str:
    """A number of rows."""
    return "1 row" if rows == 1 else f"{rows:,} rows"


def value_text(found: Sequence[Origin], recipients: tuple[str, ...]) -> str:
    """What an output is made of, in a clause."""
    if not found:
        return "made of no column"
    alike: dict[tuple[object, ...], list[Origin]] = {}
    for each in found:
        alike.setdefault((each.shown, each.decides, each.functions, each.computed, each.column is None), []).append(
            each
        )
    told = [each for each in alike.values() if not _follows(each[0], found)]
    return "; ".join(_value(each[0], columns_text(each, recipients)) for each in told)


def _follows(origin: Origin, found: Sequence[Origin]) -> bool:
    """Whether which rows there are follows from what is said of columns: of the same table, an average, or deciding."""
    if origin.column is not None or "count_rows" in origin.functions:
        return False
    columns = [each for each in found if each.column is not None]
    same = any((each.owner, each.table) == (origin.owner, origin.table) for each in columns)
    return same or any(each.decides or AVERAGE in each.functions for each in columns)


def _value(origin: Origin, columns: str) -> str:
    """What is shown of sources that are shown alike."""
    if origin.column is None and "count_rows" not in origin.functions:
        return f"depends on which rows there are of {columns}"
    if origin.decides:
        return f"depends on {columns}{', row by row' if origin.shown == 'row by row' else ''}"
    made = "computed from " if origin.computed else ""
    match origin.shown:
        case "row by row":
            return f"{made}{columns}, row by row"
        case "each different value":
            return f"{made}each different value of {columns}, once"
        case "one row's value":
            return f"{made}{_function(origin)} {columns}, which is the value of a single row"
        case "aggregate":
            return f"{made}{_function(origin)} {columns}"


def _function(origin: Origin) -> str:
    match origin.functions:
        case ():
            return "a number made of"
        case (function,):
            return FUNCTIONS[function]
        case several:
            return f"a number made with {listed([each.upper() for each in several])} of"


def deciding(found: Iterable[Origin], recipients: tuple[str, ...]) -> list[tuple[str, str]]:
    """The columns that decide which rows an answer has, and how each does. Not which rows the tables have."""
    ways = _merged(each for each in found if each.column is not None or {*each.how} - OF_ALL_ROWS)
    return [(columns_text([each], recipients), _how(each)) for each in ways]


def _how(origin: Origin) -> str:
    """By what a source decides which rows there are."""
    how = listed([DECIDED_BY[each] for each in origin.how])
    return f"its number of rows, by {how}" if origin.column is None else how


def _merged(found: Iterable[Origin]) -> list[Origin]:
    """Each column once, with all by which it decides."""
    known: dict[tuple[object, ...], Origin] = {}
    for each in found:
        key = each.owner, each.table, each.column
        before = known.get(key)
        ways = {*each.how, *(before.how if before else ())}
        known[key] = replace(each, how=tuple(way for way in DECIDED_BY if way in ways))
    return list(known.values())


def columns_text(found: Iterable[Origin], recipients: tuple[str, ...]) -> str:
    """Columns, or tables where their rows count, by their owners."""
    owners: dict[str | None, list[str]] = {}
    for each in found:
        name = each.table if each.column is None else f"{each.table}.{each.column}"
        owners.setdefault(each.owner, []).append(plain(name))
    return listed([_of(owner, list(dict.fromkeys(names)), recipients) for owner, names in owners.items()])


def _of(owner: str | None, names: list[str], recipients: tuple[str, ...]) -> str:
    if owner is None:
        return f"{listed(names)} (kept shares, of whose data it is not known)"
    return f"{listed(names)} of {owner}{' (its own)' if recipients == (owner,) else ''}"

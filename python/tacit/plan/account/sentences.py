"""Disclosures in words: what is learnt, why it is shown, and what allows it."""

from __future__ import annotations

from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.facts.sizes import Counted
from tacit.plan.physical.disclosure import (
    AnnouncedRows,
    Disclosure,
    KeptRows,
    Matched,
    MatchingRows,
    NumberOfIds,
    NumberOfMatches,
    OpenedColumns,
    OpenedRows,
)


def what(disclosure: Disclosure) -> str:
    """What the recipients learn."""
    match disclosure.shown:
        case AnnouncedRows(_, counted):
            return " plus ".join(f"the exact number of {_counted(each)}" for each in counted)
        case MatchingRows(own, others, keys, repeats):
            often = f", and how many {_rows(others)} match each of these" if repeats else ""
            return f"which of its {_rows(own)} match {_rows(others)} on {_on(keys)}{often}"
        case NumberOfMatches(rows, others, keys):
            return f"the exact number of {_rows(rows)} that match {_rows(others)} on {_on(keys)}"
        case NumberOfIds(left, right, keys):
            both = f"{_rows(left)} match {_rows(right)} on {_on(keys)}"
            return f"the exact number of rows of the full join, and so how many {both}"
        case OpenedRows():
            return "how many rows the nodes open, the ones that do not count included"
        case KeptRows(table):
            return f"how many rows the kept table {table} has, the ones that do not count included"
        case OpenedColumns():
            return _opened(disclosure.shown)


def reason(disclosure: Disclosure) -> str:
    """Why it is shown."""
    match disclosure.shown:
        case AnnouncedRows(owner) if DisclosureRule.UNDECLARED_ROWS in disclosure.rules:
            return f"{owner} declares no rows for it"
        case AnnouncedRows():
            return "fewer rows enter MPC"
        case MatchingRows():
            return "private set intersection replaces an oblivious join"
        case NumberOfMatches():
            return "only these enter MPC"
        case NumberOfIds():
            return "universal ids replace an oblivious join"
        case OpenedRows():
            return "that many come from each node"
        case KeptRows():
            return "the table's description says so"
        case OpenedColumns(beyond=()):
            return "the query asks for it"
        case OpenedColumns():
            return "only clear arithmetic divides, so the recipient divides opened values"


def rule(disclosure: Disclosure) -> str:
    """What allows it."""
    return " and ".join(disclosure.rules)


def _counted(rows: Counted) -> str:
    of = " and ".join(rows.tables)
    match rows.rows:
        case "all":
            return f"rows of {of}"
        case "filtered":
            return f"rows left by local filters of {of}"
        case "joined":
            return f"rows left by a local join of {of}"
        case "groups":
            return f"local groups of {of}"
        case "filtered groups":
            return f"local groups of {of} that a condition leaves"


def _rows(side: Matched) -> str:
    return "groups of " * side.groups + f"rows of {' and '.join(side.tables)}"


def _on(keys: tuple[tuple[str, str], ...]) -> str:
    return " and ".join(f"{a} = {b}" for a, b in keys)


def _opened(shown: OpenedColumns) -> str:
    rows = "one row" if shown.bound == "1" else f"of at most {shown.bound} rows"
    extra = "".join(
        f"; and beyond it {_listed(each.columns)}, from which {each.output} is computed" for each in shown.beyond
    )
    return f"the answer: {_listed(shown.outputs)}, {rows}{extra}"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

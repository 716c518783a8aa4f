"""Disclosures in words: what is learnt, why it is shown, and what allows it."""

from __future__ import annotations

from typing import Literal as OneOf

from tacit.plan.account.origins import origins
from tacit.plan.account.phrases import columns_text, counted, deciding, listed, plain, value_text
from tacit.plan.account.programs import made_of, result_text
from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.facts.sizes import Counted
from tacit.plan.facts.sources import Use, exposure
from tacit.plan.physical.disclosure import (
    AnnouncedRows,
    ArrayRows,
    CountedRows,
    Disclosure,
    KeptRows,
    KeyValues,
    Matched,
    MatchingRows,
    NumberOfIds,
    NumberOfMatches,
    OpenedArray,
    OpenedBound,
    OpenedColumns,
    OpenedRows,
    SeenKeys,
)

EachRow = OneOf["row", "group", "whole", "element"]
"""A row of tables, a group of them, or all of them together; an element of a program's results."""

HOLDS = "the bound that the program checks holds"
BY_QUESTION = "each party that takes part, by starting this question"
BY_OFFER = {
    DisclosureRule.UNDECLARED_ROWS: "declaring no number of rows that true ones are filled up to",
    DisclosureRule.FILTER_CONSENT: "consenting to show how many rows a filter leaves",
    DisclosureRule.GROUPS_CONSENT: "consenting to show how many groups there are",
    DisclosureRule.MATCHES_CONSENT: "consenting to show which rows match",
    DisclosureRule.SIZES_CONSENT: "consenting to show how many rows a step on secret shares leaves",
    DisclosureRule.READABLE_KEYS: "letting all nodes read the columns that are compared",
    DisclosureRule.TRUSTED_KEYS: "letting it read these columns and those that decide which rows there are",
    DisclosureRule.PUBLIC_KEYS: "letting all parties of the question read the columns by which rows are sliced",
}


def what(disclosure: Disclosure) -> str:
    """What the recipients learn."""
    match disclosure.shown:
        case AnnouncedRows(_, counted_rows):
            return " plus ".join(f"the exact number of {_counted(each)}" for each in counted_rows)
        case ArrayRows(owner, array):
            return f"the number of elements of the array {plain(array)} of {owner}"
        case CountedRows():
            return _left(disclosure, disclosure.shown)
        case KeyValues(_, _, keys):
            columns = [" or ".join(each) for each in keys]
            several = "combination of values" if len(columns) > 1 else "value"
            return f"each different {several} of {listed(columns)}, once"
        case MatchingRows(own, others, keys, repeats):
            often = f", and how many {_rows(others)} match each of these" if repeats else ""
            return f"which of its {_rows(own)} match {_rows(others)} on {_on(keys)}{often}"
        case NumberOfMatches(matched, others, keys):
            return f"the exact number of {_rows(matched)} that match {_rows(others)} on {_on(keys)}"
        case NumberOfIds(left, right, keys):
            both = f"{_rows(left)} match {_rows(right)} on {_on(keys)}"
            return f"the exact number of rows of the full join, and so how many {both}"
        case OpenedRows():
            return "how many rows the nodes open, those that do not count included"
        case KeptRows(table):
            return f"how many rows the kept table {table} has, those that do not count included"
        case SeenKeys():
            return _seen(disclosure)
        case OpenedArray():
            made = "; ".join(text for _, text in outputs(disclosure))
            return f"the result {plain(disclosure.shown.name)} ({made})"
        case OpenedBound():
            return _bound(disclosure, disclosure.shown)
        case OpenedColumns():
            parts = [f"{name}: {made}" for name, made in (*outputs(disclosure), *beyond(disclosure))]
            return f"the answer, {rows(disclosure)} ({'; '.join(parts)})"


def _bound(disclosure: Disclosure, shown: OpenedBound) -> str:
    """Whether checked bounds hold, and of which arrays that depends."""
    ((_, uses),) = disclosure.derivation.values
    checks = f"all {shown.checks:,} bounds that the program checks hold" if shown.checks > 1 else HOLDS
    return f"one bit: whether {checks}, which depends on {columns_text(origins(uses), disclosure.recipients)}"


def _left(disclosure: Disclosure, counted: CountedRows) -> str:
    """How many rows a step leaves, and of what that depends."""
    names = [name for _, tables in counted.sides for name in tables]
    found = [f"{column} ({how})" for column, how in deciding_columns(disclosure)]
    which = f", which depends on {listed(found)}" if found else ""
    made = "groups" if counted.op in ("group_by", "group_join") else "rows"
    return f"the exact number of {made} that step {counted.step} makes of {listed(names)}{which}"


def _seen(disclosure: Disclosure) -> str:
    """The keys that a party sees."""
    parts = [f"{name}: {made}" for name, made in _made(disclosure, disclosure.derivation.values)]
    rows = [f"{column} ({how})" for column, how in deciding_columns(disclosure)]
    which = f", in rows that depend on {listed(rows)}" if rows else ""
    step = "join" if disclosure.site.op == "join" else "grouping"
    return (
        f"the values of the keys of the {step} in step {disclosure.site.step} ({'; '.join(parts)}{which}), without "
        "what stands beside them, and so how many rows have each"
    )


def outputs(disclosure: Disclosure) -> tuple[tuple[str, str], ...]:
    """The columns of an answer, and what each is made of."""
    if isinstance(disclosure.shown, OpenedArray):
        return tuple(
            (plain(name), f"{result_text(disclosure.shown)}; {made_of(origins(uses), disclosure.recipients)}")
            for name, uses in disclosure.derivation.outputs
        )
    return _made(disclosure, disclosure.derivation.outputs)


def beyond(disclosure: Disclosure) -> tuple[tuple[str, str], ...]:
    """The same of what is opened besides, since only a recipient can divide it."""
    shown = disclosure.shown
    opened = {name for each in shown.beyond for name in each.columns} if isinstance(shown, OpenedColumns) else set()
    return _made(disclosure, tuple(each for each in disclosure.derivation.values if each[0] in opened))


def _made(disclosure: Disclosure, columns: tuple[tuple[str, tuple[Use, ...]], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((plain(name), value_text(origins(uses), disclosure.recipients)) for name, uses in columns)


def rows(disclosure: Disclosure) -> str:
    """How many rows an answer has, and what each stands for."""
    most = disclosure.derivation.rows
    each = each_row(disclosure)
    bound = f"at most {counted(most)}" if most is not None and most < UNDECLARED_ROWS else "as many rows as there are"
    if each == "whole":
        return f"{'one row' if most == 1 else bound}, made of all rows together"
    return f"{bound}, one for each group" if each == "group" else bound


def each_row(disclosure: Disclosure) -> EachRow:
    """What a row of an answer stands for."""
    if isinstance(disclosure.shown, OpenedArray):
        return "element"
    uses = [use for use in disclosure.derivation.presence if use.source.column is None]
    if not uses or any(exposure(use) == "row by row" for use in uses):
        return "row"
    return "whole" if all("aggregate" in use.through for use in uses) else "group"


def notes(disclosure: Disclosure, withheld: tuple[str, ...]) -> tuple[str, ...]:
    """How few rows a number of an answer may stand for, and what a row by itself tells. withheld: what guards hide."""
    least = withheld or (_least(disclosure),)
    return tuple(each for each in (*least, _single(disclosure)) if each is not None)


def may_refuse(owner: str) -> str:
    """What is said in advance of a question that its owner holds against those that it has answered."""
    return f"{owner} may refuse after looking at its own data, if the answer is too near to earlier ones."


def _least(disclosure: Disclosure) -> str | None:
    derivation = disclosure.derivation
    if derivation.floor is not None:
        least = counted(derivation.floor)
        return f"Each row stands for at least {least} of the tables, as the question says itself: rows, not people."
    if any(exposure(use) == "aggregate" for _, uses in derivation.outputs for use in uses):
        return "No least number of rows is set for a number: made of a single row, it tells what that row holds."
    return None


def _single(disclosure: Disclosure) -> str | None:
    if each_row(disclosure) == "row" and deciding_columns(disclosure):
        return "Rows are shown one by one: a row in the answer tells that all of this holds for it."
    return None


def deciding_columns(disclosure: Disclosure) -> list[tuple[str, str]]:
    """The columns that decide which rows an answer has, and how each does."""
    return deciding(origins(disclosure.derivation.presence, rows=True), disclosure.recipients)


def reason(disclosure: Disclosure) -> str:
    """Why it is shown."""
    match disclosure.shown:
        case AnnouncedRows() if DisclosureRule.UNDECLARED_ROWS in disclosure.rules:
            return "there is no declared number of rows that true ones could be filled up to"
        case AnnouncedRows() if DisclosureRule.PUBLIC_KEYS in disclosure.rules:
            return "it follows from keys that all parties may read"
        case ArrayRows():
            return "the array's offer says it"
        case KeyValues():
            return "so that rows whose key nobody else has need not be computed on together with others"
        case AnnouncedRows() | CountedRows():
            return "so that the nodes compute on fewer rows"
        case MatchingRows():
            return "the owners match their keys directly, which is faster than a join on secret shares"
        case NumberOfMatches():
            return "so that the nodes compute on these rows alone"
        case NumberOfIds():
            return "the owners match their keys directly, which is faster than a full join on secret shares"
        case OpenedRows():
            return "each node sends as many"
        case KeptRows():
            return "the table's description says so"
        case SeenKeys():
            return "it orders the rows in clear, which is faster than sorting secret shares"
        case OpenedArray():
            return "the program reveals it"
        case OpenedBound():
            return "a bound that does not hold ends the run, and nothing else is revealed then"
        case OpenedColumns(beyond=()):
            return "the question asks for it"
        case OpenedColumns():
            return f"the question asks for it; {listed(disclosure.recipients)} divides, as shares cannot be divided"


def allowed(disclosure: Disclosure) -> str:
    """What allows it, for people: who, and by which part of an offer."""
    owners, parts = _owners(disclosure), [BY_OFFER[each] for each in disclosure.rules if each in BY_OFFER]
    if not parts:
        return BY_QUESTION
    if len(owners) == 1:
        return f"the offer of {owners[0]}, {listed(parts)}"
    return f"the offers of {listed(owners)}, {'each ' * (len(parts) > 1)}{' or '.join(parts)}"


def _owners(disclosure: Disclosure) -> tuple[str, ...]:
    """Whose offers allow it."""
    match disclosure.shown:
        case AnnouncedRows(owner) | KeyValues(owner):
            return (owner,)
        case CountedRows():
            return disclosure.shown.owners
        case MatchingRows(one, other) | NumberOfMatches(one, other) | NumberOfIds(one, other):
            return tuple(dict.fromkeys((one.owner, other.owner)))
        case SeenKeys():
            derivation = disclosure.derivation
            uses = [use for _, made in derivation.values for use in made] + [*derivation.presence]
            owners = dict.fromkeys(use.source.owner for use in uses)
            return tuple(each for each in owners if each is not None and each not in disclosure.recipients)
        case ArrayRows() | OpenedColumns() | OpenedArray() | OpenedBound() | OpenedRows() | KeptRows():
            return ()


def rule(disclosure: Disclosure) -> str:
    """What allows it, as ledgers name it."""
    return " and ".join(disclosure.rules)


def _counted(found: Counted) -> str:
    of = " and ".join(found.tables)
    match found.rows:
        case "all":
            return f"rows of {of}"
        case "filtered":
            return f"rows that conditions leave of {of}"
        case "joined":
            return f"rows that its owner's own join leaves of {of}"
        case "groups":
            return f"groups of {of}"
        case "filtered groups":
            return f"groups of {of} that a condition leaves"
        case "keys":
            return f"different keys of {of}"
        case "shared rows":
            return f"rows of {of} whose key another owner has too"
        case "own rows":
            return f"rows of {of} whose key no other owner has"
        case "shared keys":
            return f"different keys of {of} that another owner has too"
        case "own keys":
            return f"different keys of {of} that no other owner has"


def _rows(side: Matched) -> str:
    return "groups of " * side.groups + f"rows of {' and '.join(side.tables)}"


def _on(keys: tuple[tuple[str, str], ...]) -> str:
    return " and ".join(f"{a} = {b}" for a, b in keys)

"""An owner's terms in sentences, for who answers for them and does not read TOML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal as Number
from typing import Final, assert_never

from tacit.plan.algebra import moments
from tacit.plan.algebra.types import Date, Decimal, Timestamp, Type
from tacit.plan.facts.catalog import Column, Table
from tacit.plan.facts.terms import FUNCTIONS, OPEN_COLUMN, ColumnTerms, Function, Terms, open_terms, selecting

NAMES: Final[dict[Function, str]] = {
    "count": "count",
    "sum": "sum",
    "avg": "average",
    "stddev": "standard deviation",
    "count_distinct": "number of different values",
    "min": "least value",
    "max": "greatest value",
    "quantile": "quantiles",
}
ONE_UNIT: Final[frozenset[Function]] = frozenset({"min", "max", "quantile"})
"""Functions whose result is a value of one unit."""


@dataclass(frozen=True)
class Clause:
    """What an offer says of one subject, in sentences."""

    subject: str
    text: str


def is_open(table: Table, parties: tuple[str, ...]) -> bool:
    """Whether all parties may see every row of a table."""
    every = all(column.terms == OPEN_COLUMN for column in table.columns)
    return table.terms is None or (every and table.terms == open_terms(parties))


def table_clauses(table: Table, parties: tuple[str, ...]) -> tuple[Clause, ...]:
    """What a table's terms allow to the parties of a federation, then what those of its columns do."""
    terms = table.terms
    if terms is None or is_open(table, parties):
        return (Clause("open", _opened(table)),)
    subjects = (
        ("recipients", _recipients(table, terms)),
        ("floor", _floor(table, terms)),
        ("small groups", _small(terms)),
        ("time", _until(terms)),
        ("questions", _allow(terms)),
        ("programs", _programs(table, terms)),
        ("matches", _matches(table, terms)),
        ("weights", _weights(terms)),
        ("audit", _audit(table, terms)),
    )
    general = tuple(Clause(subject, text) for subject, text in subjects if text)
    return general + tuple(Clause(f"column {each.field.name}", _column(each, terms)) for each in table.columns)


def value_text(value: int | bool | str, type_: Type) -> str:
    """A constant of terms as SQL writes it. Numbers and dates come encoded."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    match type_:
        case Decimal(_, scale):
            return str(Number(value).scaleb(-scale))
        case Date():
            return moments.day_text(value)
        case Timestamp():
            return moments.moment_text(value)
        case _:
            return str(value)


def _opened(table: Table) -> str:
    readers = sorted({f"{column.field.name} to {_all(column.readers)}" for column in table.columns if column.readers})
    beside = f" Besides answers, queries may show {_all(readers)}." if readers else ""
    opened = f"{table.owner} has opened this table on purpose: all parties may see every row and every column."
    return f"{opened} No floor protects anybody.{beside}"


def _recipients(table: Table, terms: Terms) -> str:
    if not terms.recipients:
        return f"Nobody but {table.owner} may receive anything that derives from this table."
    who = f"Only {_all(terms.recipients)} may receive what derives from this table"
    if len(terms.recipients) == 1:
        return f"{who}, in answers that go to nobody else."
    return f"{who}. All recipients of an answer must be among these."


def _floor(table: Table, terms: Terms) -> str:
    single = any("select" in column.terms.ways for column in table.columns)
    exempt = " Only columns that may be seen row by row, as said below, are exempt." if single else ""
    return f"{_least_group(terms)}{exempt if terms.least_group else ''}"


def _least_group(terms: Terms) -> str:
    least = terms.least_group
    if least is None:
        return "None: what is open below is shown row by row."
    if not terms.unit:
        rows = f"Every group and every number that is shown derives from at least {_count(least, 'row')}."
        return f"{rows} This protects rows, not people: somebody with {_count(least, 'row')} is not protected."
    unit = _all(terms.unit)
    different = "combinations" if len(terms.unit) > 1 else "values"
    shown = f"Every group and every number that is shown derives from at least {least} different {different} of {unit}."
    return f"{shown} Rows in which {unit} is NULL count for none."


def _small(terms: Terms) -> str:
    if terms.least_group is None:
        return ""
    groups = {
        "fold": "Groups below the floor are added up in one rest row, which is above the floor itself.",
        "drop": "Groups below the floor are left out, so totals do not add up.",
    }[terms.small]
    if not terms.complement:
        return groups
    return f"{groups} Those that are not counted, for want of a match or by a condition, are protected by it, too."


def _until(terms: Terms) -> str:
    return f"Until {terms.until.isoformat()}, the last day, in UTC." if terms.until else "Without an end."


def _allow(terms: Terms) -> str:
    if terms.allow is None:
        return "Any question that keeps to these terms."
    return f"No question but {_all(terms.allow)}." if terms.allow else "No question: programs alone are listed."


def _programs(table: Table, terms: Terms) -> str:
    named = [each.field.name for each in table.columns if "program" in each.terms.ways]
    if not named:
        return ""
    what = f"{_all(named)}, and reveal any function of {'it' if len(named) == 1 else 'them'}"
    if terms.computing == "any":
        return f"Any program may compute on {what}, each value as it is and which rows there are included."
    if not terms.computing:
        return "No program is listed, so that none may compute on any column."
    return f"No program but {_all(terms.computing)} may compute on {what}."


def _matches(table: Table, terms: Terms) -> str:
    who = _all(terms.matches) if terms.matches else "Nobody"
    shown = f"{who} may learn which single rows match those of other tables, or whether a single row is there."
    return f"{shown} {_keys(table, terms)}" if terms.matches else shown


def _keys(table: Table, terms: Terms) -> str:
    """By which columns `tacit psi` may match a table: each value of these may be seen by who may learn matches."""
    finders = terms.matches & terms.recipients
    keys = [
        f"{each.field.name} for {_all(finders & selecting(terms, each.terms))}"
        for each in table.columns
        if finders & selecting(terms, each.terms)
    ]
    hidden = [
        each.field.name for each in table.columns if "join" in each.terms.ways or finders & selecting(terms, each.terms)
    ]
    rows = f"`tacit psi` may match rows by {_all(keys)}." if keys else "`tacit psi` may match no rows."
    return f"{rows} It may make universal ids by {_all(hidden)}." if hidden and finders else rows


def _weights(terms: Terms) -> str:
    if not terms.weights:
        return "No recipient's own values may be added up over rows that this table decides."
    columns = [f"every column of {each.removesuffix('.*')}" if "*" in each else each for each in sorted(terms.weights)]
    may = f"Of recipients' own values, those of {_all(columns)} may be added up over rows that this table decides."
    whole = sorted(each.removesuffix(".*") for each in terms.weights if each.endswith(".*"))
    return f"{may} Rows of {_all(whole)} may repeat rows of this table." if whole else may


def _audit(table: Table, terms: Terms) -> str:
    within = _count(terms.period, "day")
    limits = (
        f"Within {within}, {_count(terms.questions, 'question')} at most may be answered, to all recipients together."
    )
    if terms.least_group is None:
        return limits
    match terms.differences:
        case "off":
            return f"{limits} Answers are not compared: what two of them tell together is not looked for."
        case "text":
            how = f"{table.owner}'s agent compares the texts of questions"
            return (
                f"{limits} {how}, and refuses one that together with others could tell of fewer units than the floor."
            )
        case "sets":
            how = f"{table.owner}'s agent compares the rows of questions"
            most = f"After {_count(terms.refusals, 'such refusal')}, it answers nothing more"
            why = "together with others tells of fewer units than the floor"
            return f"{limits} {how}, and refuses one that {why}. {most} within that time."
        case _:
            assert_never(terms.differences)


def _column(column: Column, table: Terms) -> str:
    terms, type_ = column.terms, column.field.type
    programs = " Programs may compute on it." if "program" in terms.ways else ""
    if not terms.queried:
        return f"No query may use it.{programs}" if programs else "Closed: no query may use it."
    rounded = ""
    if column.rounded and isinstance(type_, Decimal):
        rounded = f" Its values are rounded to {_count(type_.scale, 'digit')} after the point."
    if terms.queried == {"select"}:
        return f"{_select(terms, table)}{rounded}{programs}"
    ways = [
        *([_join(terms)] if "join" in terms.ways else []),
        *([_filter(column)] if "filter" in terms.ways else []),
        *(["name groups, and be shown beside each"] if "group" in terms.ways else []),
        *([_aggregate(terms, table)] if "aggregate" in terms.ways else []),
    ]
    floor = f" Whatever it enters derives from at least {_least(terms, table)}." if terms.least_group else ""
    select = f" {_select(terms, table)}" if "select" in terms.ways else ""
    return f"It may {'; '.join(ways)}.{floor}{select}{rounded}{programs}"


def _select(terms: ColumnTerms, table: Terms) -> str:
    to = table.recipients if terms.to is None else terms.to
    return f"{_all(to) if to else 'Nobody'} may see each of its values, row by row, and use it in any way."


def _join(terms: ColumnTerms) -> str:
    return f"be a key of joins with {'any column' if terms.partners is None else _only(terms.partners)}"


def _filter(column: Column) -> str:
    terms, type_ = column.terms, column.field.type
    if terms.cuts == "month":
        what = "with first days of months, as before or since"
    elif terms.cuts is not None:
        what = f"with {_only(value_text(each, type_) for each in terms.cuts)}, as below or from there"
    elif terms.constants is not None:
        what = f"with {_only(value_text(each, type_) for each in sorted(terms.constants, key=_order))}, as equal to it"
    else:
        what = "with any constant"
    others = f", and with {_only(terms.partners)}" if terms.partners is not None else ""
    return f"be compared in conditions {what}{others}"


def _aggregate(terms: ColumnTerms, table: Terms) -> str:
    named = [NAMES[each] for each in FUNCTIONS if each in terms.functions]
    single = [NAMES[each] for each in FUNCTIONS if each in terms.functions & ONE_UNIT]
    warned = f" (of which {_all(single)} can be one unit's value)" if single else ""
    return f"be shown as its {_all(named)}{warned}"


def _least(terms: ColumnTerms, table: Terms) -> str:
    assert terms.least_group is not None
    return _count(terms.least_group, "unit" if table.unit else "row")


def _order(value: int | bool | str) -> tuple[int, str]:
    return (0, value) if isinstance(value, str) else (int(value), "")


def _only(names: Iterable[str]) -> str:
    """Some things and no others, in their order."""
    return f"{_all(names)} alone"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _all(names: Iterable[str]) -> str:
    """Names in words: a list in its order, a set in that of names."""
    listed = sorted(names) if isinstance(names, frozenset) else list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"

"""Owners' rules of a match: which party learns what of each table by it, held against the terms of the table's owner.

No guard precedes what a match shows, so that all of it is seen row by row, or needs ``matches``. Numbers of common keys
with a floor are questions of their own, which are answered as SQL's are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from typing import Literal as OneOf

from tacit.plan.algebra.relations import Scan
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.terms import Way
from tacit.plan.policy.exposure import offered, terms_of
from tacit.plan.policy.offers import of_offer
from tacit.plan.policy.question import match_hash
from tacit.plan.policy.refusal import PolicyRefusal, Problem
from tacit.plan.policy.sentences import problem
from tacit.plan.policy.state import Instance, Item, Role

Shows = OneOf["rows", "ids", "shares", "foreign"]
"""What leaves a match: which rows match, universal ids, shares of matching rows, or what a plug-in sends."""

SEEN: tuple[Shows, ...] = ("rows", "foreign")
"""By these the values of keys are seen, and not only how many are common."""


@dataclass(frozen=True)
class MatchedTable:
    """A table of a match. keys: its key columns, in the order of all parties. shown: further columns that leave it.

    opened: its owner has opened it to all parties on purpose.
    """

    table: Table
    keys: tuple[str, ...]
    shown: tuple[str, ...] = ()
    opened: bool = False

    @property
    def unoffered(self) -> tuple[str, ...]:
        """Columns that no offer names, and so allows nothing of."""
        known = {each.field.name for each in self.table.columns}
        return tuple(each for each in (*self.keys, *self.shown) if each not in known)


@dataclass(frozen=True)
class MatchQuestion:
    """A match that is to be started. recipients: who learns the outcome. tables: those that owners offer.

    said: what all parties say alike, but for costs.
    """

    parties: tuple[str, ...]
    recipients: tuple[str, ...]
    tables: tuple[MatchedTable, ...]
    shows: Shows
    said: Mapping[str, str]

    @property
    def receivers(self) -> tuple[str, ...]:
        """Who gets something that no guard precedes."""
        return self.recipients if self.shows == "rows" else self.parties

    @property
    def hash(self) -> str:
        """As offers list it."""
        return match_hash(self.said, [each.table for each in self.tables], self.recipients)


@dataclass(frozen=True)
class MatchAllowance:
    """What an owner allows of its table in a match. column: None for its rows. rule: the entries that allow it."""

    owner: str
    table: str
    column: str | None
    way: Way | OneOf["count"]
    recipients: tuple[str, ...]
    rule: str

    def json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)

    @property
    def sentence(self) -> str:
        """For people, after the owner's name."""
        name = self.table if self.column is None else f"{self.table}.{self.column}"
        done = {"select": "seen row by row", "join": "matched", "count": "counted exactly"}[self.way]
        return f"{name} may be {done} for {' and '.join(self.recipients)} ({self.rule})"


def check_match(question: MatchQuestion, today: date) -> tuple[MatchAllowance, ...]:
    """What the rules of all owners say of a match. Raises PolicyRefusal where one of them does not allow it."""
    problems = [each for matched in question.tables for each in _problems(matched, question, today)]
    if problems:
        raise PolicyRefusal(tuple(problems))
    return tuple(each for matched in question.tables for each in _allowances(matched, question))


def _problems(matched: MatchedTable, question: MatchQuestion, today: date) -> Iterator[Problem]:
    """What the owner of one table does not allow."""
    table = matched.table
    told, receivers = _told(matched, question), _others(question.receivers, table)
    everybody = tuple(dict.fromkeys((*receivers, *told)))
    if table.terms is None or not everybody:
        return
    yield from of_offer(table, lambda: question.hash, everybody, today)
    if matched.unoffered:
        # Others read this sentence, and may not know of columns that are not offered.
        sentence = f"a column that is named is not offered with {table.name}"
        yield Problem("closed", table.owner, table.name, None, "select", sentence, everybody[0])
        return
    for number, key in enumerate(matched.keys):
        for receiver in receivers:
            yield from _of_key(matched, key, receiver, question)
        yield from _strangers(matched, number, everybody[0], question)
    for receiver in receivers:
        if receiver not in table.terms.matches:
            yield _unmatched(matched, receiver, question)
        for column in matched.shown:
            yield from _of_shown(matched, column, receiver)
    for party in told:
        if party not in table.terms.matches:
            sentence = f"{party} would learn the exact number of rows of {table.name}, which no floor holds back"
            yield Problem("sizes", table.owner, table.name, None, "count", sentence, party)


def _told(matched: MatchedTable, question: MatchQuestion) -> tuple[str, ...]:
    """Who learns the number of a table's rows where its owner hides that behind a floor."""
    terms = matched.table.terms
    return _others(question.parties, matched.table) if terms is not None and terms.least_group is not None else ()


def _others(parties: tuple[str, ...], table: Table) -> tuple[str, ...]:
    return tuple(each for each in parties if each != table.owner)


def _of_key(matched: MatchedTable, key: str, receiver: str, question: MatchQuestion) -> Iterator[Problem]:
    """What is wrong with a key column: as one whose values are seen, or as one that is compared."""
    ways, terms = offered(matched.table, key, receiver).ways, terms_of(matched.table, key)
    if not terms.queried:
        yield _problem(matched, key, "join", "closed", receiver)
    elif question.shows in SEEN and "select" not in ways:
        yield _problem(matched, key, "value", "row", receiver)
    elif "join" not in ways:
        yield _problem(matched, key, "join", "join", receiver)


def _of_shown(matched: MatchedTable, column: str, receiver: str) -> Iterator[Problem]:
    """What is wrong with a column that leaves the table: it has to be seen row by row."""
    if "select" not in offered(matched.table, column, receiver).ways:
        closed = not terms_of(matched.table, column).queried
        yield _problem(matched, column, "value", "closed" if closed else "row", receiver)


def _strangers(matched: MatchedTable, number: int, receiver: str, question: MatchQuestion) -> Iterator[Problem]:
    """Columns of others that a key would meet, and that ``with`` does not name."""
    key = matched.keys[number]
    partners = terms_of(matched.table, key).partners
    if partners is None:
        return
    others = {each.table.owner: f"{each.table.name}.{each.keys[number]}" for each in question.tables}
    for party in _others(question.parties, matched.table):
        met = others.get(party, f"a file of {party} that no offer names")
        if met not in partners:
            yield _problem(matched, key, "with", "with", receiver, met)


def _unmatched(matched: MatchedTable, receiver: str, question: MatchQuestion) -> Problem:
    """A party that may not learn which single rows match."""
    table = matched.table.name
    match question.shows:
        case "rows":
            return _problem(matched, matched.keys[0], "join", "row join", receiver)
        case "ids":
            sentence = f"the number of ids tells {receiver} exactly how many keys of {table} are common"
        case "shares":
            sentence = f"what {receiver} computes of its shares of {table} is bound by no rule"
        case "foreign":
            sentence = f"what a plug-in sends {receiver} of {table} is bound by no rule"
    return Problem("matches", matched.table.owner, table, None, "join", sentence, receiver)


def _problem(matched: MatchedTable, column: str, role: Role, reason: str, receiver: str, detail: str = "") -> Problem:
    """A use of a column, in the words that queries are refused with."""
    table = matched.table
    scan = Scan(table.name, table.owner, (), (), table.rows)
    return problem(Item(Instance(0, scan, table), column, role, detail=detail), reason, receiver)


def _allowances(matched: MatchedTable, question: MatchQuestion) -> Iterator[MatchAllowance]:
    """By which entries an owner allows what a match shows."""
    table, owner = matched.table, matched.table.owner
    receivers, told = _others(question.receivers, table), _told(matched, question)
    if table.terms is None:
        return
    if matched.opened:
        yield MatchAllowance(owner, table.name, None, "select", _others(question.parties, table), "open = true")
        return
    way: Way = "select" if question.shows in SEEN else "join"
    for key in matched.keys if receivers else ():
        rule = way if way in terms_of(table, key).ways else "select"
        yield MatchAllowance(owner, table.name, key, way, receivers, f"use {rule}, matches")
    for column in matched.shown if receivers else ():
        yield MatchAllowance(owner, table.name, column, "select", receivers, "use select, matches")
    if told:
        yield MatchAllowance(owner, table.name, None, "count", told, "matches")

"""The properties, each as a search for what contradicts it. A search yields what it finds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..plain import same
from ..reference.evaluate import Data
from ..subjects import Subject
from .worlds import MEMBER_QUESTIONS, NORTH, ORDER_QUESTIONS, PEOPLE_QUESTIONS, Rows, renamed, with_rows, worlds

QUESTIONS = PEOPLE_QUESTIONS + ORDER_QUESTIONS + MEMBER_QUESTIONS
Found = Iterator[tuple[object, ...]]

MEASURES = {"people": ("salary", "bonus"), "orders": ("amount",), "members": ("fee",), "stays": ("cost",)}
"""Columns of which only aggregates are shown."""


AMOUNTS = (
    (),
    tuple(by for much in range(1, 13) for by in (much, -much)),
    tuple(by for much in range(1, 5) for by in (much, -much)),
    (1, -1),
)
"""By how much measures are changed to hide others' changes: if one is, if two are, if more are."""


def refused(subject: Subject, questions: Iterable[str] = QUESTIONS) -> Found:
    """Questions of the world that are not allowed: the other properties would say nothing of them."""
    for sql in questions:
        if not (verdict := subject.verdict(sql, NORTH)).allowed:
            yield sql, verdict.rule


def closed_columns(subject: Subject, seed: int, count: int) -> Found:
    """Answers that depend on a closed column."""
    for data in worlds(seed, count):
        people = data["people"]
        for emails in itertools.product("xy", repeat=min(len(people), 3)):
            other = [{**row, "email": email} for row, email in zip(people, itertools.cycle(emails), strict=False)]
            yield from _differ(subject, PEOPLE_QUESTIONS, data, with_rows(data, "people", other))


def joined_keys(subject: Subject, questions: Sequence[str], seed: int, count: int) -> Found:
    """Answers that depend on the names of keys which are only joined."""
    chance = random.Random(seed)
    for data in worlds(seed, count):
        names = dict(zip(range(1, 9), chance.sample(range(1, 90), 8), strict=True))
        yield from _differ(subject, questions, data, renamed(data, names))


def _differ(subject: Subject, questions: Iterable[str], one: Data, other: Data) -> Found:
    for sql in questions:
        first, second = (subject.answer(sql, NORTH, data) for data in (one, other))
        if first.seen() != second.seen():
            yield sql, first.rows, second.rows, one


def printed_lines(subject: Subject, questions: Sequence[str], seed: int, count: int) -> Found:
    """Lines beside answers that depend on the data."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for data in worlds(seed, count):
        for sql in questions:
            found.setdefault(sql, set()).add(subject.answer(sql, NORTH, data).lines)
    yield from ((sql, lines) for sql, lines in found.items() if len(lines) != 1)


def isolated_values(subject: Subject, questions: Sequence[str], table: str, least: int, seed: int, count: int) -> Found:
    """Fewer units than the floor of which a change of measures shows, whatever the others' measures are."""
    for data in worlds(seed, count):
        for sql in questions:
            yield from isolated_in(subject, sql, data, table, least)


def isolated_in(subject: Subject, sql: str, data: Data, table: str, least: int) -> Found:
    """The same of one question and its data."""
    units = sorted({row["ssn"] for row in data[table]})
    before = subject.answer(sql, NORTH, data).seen()
    for few in (each for size in range(1, least) for each in itertools.combinations(units, size)):
        for change in _changes(data[table], table, few):
            if not _hidden(subject, sql, before, with_rows(data, table, change), table, few):
                yield sql, few, change, before


def _changes(rows: Sequence[Mapping[str, Any]], table: str, few: Sequence[int]) -> Iterator[Rows]:
    """The rows with one measure, or with all, of some units changed by one."""
    for columns in (*((column,) for column in MEASURES[table]), MEASURES[table]):
        for by in (1, -1):
            changed = [_plus(row, columns, by) if row["ssn"] in few else row for row in rows]
            if changed != rows:
                yield changed


def _plus(row: Mapping[str, Any], columns: Iterable[str], by: int) -> dict[str, Any]:
    return {**row, **{column: row[column] + by for column in columns if row[column] is not None}}


def _hidden(subject: Subject, sql: str, before: tuple[object, ...], data: Data, table: str, few: Sequence[int]) -> bool:
    """Whether changes of other units' measures give the answer from before."""
    rows = list(data[table])
    others = [at for at, row in enumerate(rows) if row["ssn"] not in few]
    cells = [(at, column) for at in others for column in MEASURES[table] if rows[at][column] is not None]
    for size in range(len(few) * len(MEASURES[table]) * 2 + 1):
        for places in itertools.combinations(cells, size):
            for amounts in itertools.product(AMOUNTS[min(size, 3)], repeat=size):
                tried = [dict(row) for row in rows]
                for (at, column), by in zip(places, amounts, strict=True):
                    tried[at][column] += by
                if subject.answer(sql, NORTH, with_rows(data, table, tried)).seen() == before:
                    return True
    return False


def certain_members(subject: Subject, questions: Sequence[str], least: int, keys: int) -> Found:
    """Answers that make the presence of a unit certain, though others might stand for it.

    All assignments: each of so few keys is no member, or one with a plan. Customers are all but the last key.
    """
    customers = [{"ssn": key, "segment": "s" if key < 5 else "t"} for key in range(1, keys)]
    for sql in questions:
        certain: dict[object, frozenset[int]] = {}
        examples: dict[object, Rows] = {}
        for plans in itertools.product((None, "a", "b"), repeat=keys):
            members = [{"ssn": key, "plan": plan, "fee": 1} for key, plan in enumerate(plans, 1) if plan]
            seen = subject.answer(sql, NORTH, {"customers": customers, "members": members}).seen()
            present = frozenset(key for key, plan in enumerate(plans, 1) if plan)
            certain[seen] = certain.get(seen, present) & present
            if len(members) <= keys - least:
                examples.setdefault(seen, members)
        yield from ((sql, sorted(certain[seen]), members) for seen, members in examples.items() if certain[seen])


def certain_conditions(subject: Subject, questions: Sequence[str], least: int, keys: int) -> Found:
    """Answers that make it certain whether a condition holds of so few units. All assignments; one unit is apart."""
    for sql in questions:
        certain: dict[object, dict[int, bool]] = {}
        for vips in itertools.product((False, True), repeat=keys):
            people = [
                {"ssn": key, "city": "a" if key else "b", "vip": vip, "salary": 1, "bonus": 1, "email": "x"}
                for key, vip in enumerate(vips)
            ]
            seen = subject.answer(sql, NORTH, {**next(worlds(1, 1)), "people": people}).seen()
            known = certain.setdefault(seen, dict(enumerate(vips)))
            certain[seen] = {key: vip for key, vip in known.items() if vip == vips[key]}
        yield from ((sql, seen, known) for seen, known in certain.items() if 0 < len(known) < least)


def looser_when_tighter(before: Subject, after: Subject, questions: Sequence[str], seed: int, count: int) -> Found:
    """Questions that only the tighter offer allows, and rows, beside the rest, that only it shows."""
    for sql in questions:
        if after.verdict(sql, NORTH).allowed and not before.verdict(sql, NORTH).allowed:
            yield sql, "allowed"
    for data in worlds(seed, count):
        for sql in (each for each in questions if "LIMIT" not in each and "MAX" not in each):
            if before.verdict(sql, NORTH).allowed and after.verdict(sql, NORTH).allowed:
                shown = before.answer(sql, NORTH, data).ordinary()
                more = [row for row in after.answer(sql, NORTH, data).ordinary() if not _part_of(row, shown)]
                yield from ((sql, row, shown, data) for row in more)


def _part_of(row: tuple[Any, ...], shown: list[tuple[Any, ...]]) -> bool:
    """Whether it is a row that was shown, perhaps with less in it."""
    return any(all(a is None or a == b for a, b in zip(row, other, strict=True)) for other in shown)


def other_answers(one: Subject, other: Subject, questions: Iterable[str], seed: int, count: int) -> Found:
    """Answers in which two subjects differ."""
    for data in worlds(seed, count):
        for sql in questions:
            first, second = (each.answer(sql, NORTH, data) for each in (one, other))
            if first.columns != second.columns or not same(first.rows, second.rows):
                yield sql, first, second, data

"""The properties of questions of the whole surface, each as a search in small worlds for what contradicts it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping

from ..plain import same
from ..subjects import Subject
from .checks import Found, isolated_in
from .surface import CLOSED, NORTH, Data, Rows, renamed, with_rows, worlds


def closed_columns(subject: Subject, questions: Iterable[str], seed: int, count: int) -> Found:
    """P1: answers that depend on a closed column."""
    for data, sql in itertools.product(worlds(seed, count), questions):
        before = subject.answer(sql, NORTH, data)
        for table, column in CLOSED.items():
            other = [{**row, column: "x" if row[column] == "y" else "y"} for row in data[table]]
            if subject.answer(sql, NORTH, with_rows(data, table, other)).seen() != before.seen():
                yield sql, table, data


def joined_keys(subject: Subject, questions: Iterable[str], seed: int, count: int) -> Found:
    """P2: answers that depend on the names of keys which are only joined."""
    chance = random.Random(seed)
    asked = [sql for sql in questions if " g " not in sql]
    for data in worlds(seed, count):
        names = dict(zip(range(1, 9), chance.sample(range(1, 90), 8), strict=True))
        for sql in asked:
            one, other = (subject.answer(sql, NORTH, each) for each in (data, renamed(data, names)))
            if one.seen() != other.seen():
                yield sql, one.rows, other.rows, data


def few_units(subject: Subject, questions: Iterable[str], least: int, seed: int, count: int) -> Found:
    """P3: answers from which a table with fewer units than the floor differs from an empty one."""
    for data, sql in itertools.product(worlds(seed, count), questions):
        for table in ("people", "stays"):
            few = sorted({row["ssn"] for row in data[table]})[: least - 1]
            rows = [row for row in data[table] if row["ssn"] in few]
            some, none = (subject.answer(sql, NORTH, with_rows(data, table, each)) for each in (rows, []))
            if some.seen() != none.seen():
                yield sql, table, rows, some.rows, none.rows


def isolated_values(subject: Subject, asked: Iterable[tuple[str, Data]], least: int) -> Found:
    """P4: fewer units than the floor of which a change of measures shows, whatever the others' measures are."""
    for sql, data in asked:
        for table in ("people", "stays"):
            if table in sql:
                yield from isolated_in(subject, sql, data, table, least)


def other_answers(one: Subject, other: Subject, questions: Iterable[str], data: Data) -> Found:
    """P6: answers in which two subjects differ."""
    for sql in questions:
        first, second = (each.answer(sql, NORTH, data) for each in (one, other))
        if not same(first.rows, second.rows):
            yield sql, first, second, data


def looser_when_tighter(before: Subject, after: Subject, questions: Iterable[str]) -> Found:
    """P7: questions that only the tighter offers allow."""
    for sql in questions:
        if after.verdict(sql, NORTH).allowed and not before.verdict(sql, NORTH).allowed:
            yield sql, before.verdict(sql, NORTH)


def disguised(subject: Subject, questions: Iterable[str]) -> Found:
    """P8: other words for a question that have another verdict. Who orders rows, orders those of the whole question.

    A VALUES list in front of a UNION has no other words.
    """
    for sql in (each for each in questions if " ORDER BY n" not in each and not each.startswith(("WITH", "VALUES"))):
        for other in (f"WITH q AS ({sql}) SELECT * FROM q", f"SELECT x.* FROM ({sql}) x"):
            if subject.verdict(other, NORTH) != subject.verdict(sql, NORTH):
                yield sql, other, subject.verdict(sql, NORTH), subject.verdict(other, NORTH)


def certain_conditions(subject: Subject, questions: Iterable[str], least: int, keys: int) -> Found:
    """P5: answers that make it certain whether a condition holds of fewer units than the floor. All assignments."""
    data = next(worlds(1, 1))
    for sql in questions:
        certain: dict[object, dict[int, bool]] = {}
        for vips in itertools.product((False, True), repeat=keys):
            people = [{**data["people"][0], "ssn": key, "vip": vip} for key, vip in enumerate(vips, 1)]
            seen = subject.answer(sql, NORTH, {**data, "people": people}).seen()
            known = certain.setdefault(seen, dict(enumerate(vips)))
            certain[seen] = {key: vip for key, vip in known.items() if vip == vips[key]}
        yield from ((sql, seen, known) for seen, known in certain.items() if 0 < len(known) < least)


def other_members(subject: Subject, questions: Iterable[str], seed: int, count: int) -> Found:
    """P5: answers that tell whether the only key of a recipient's own table is there. Rows are as many, one way or the
    other: another unit that is equal in all else stands in its place.
    """
    for data, sql in itertools.product(worlds(seed, count), questions):
        one = {**data, "customers": [{"ssn": 1, "segment": "s", "worth": 3}], "copies": [{"ssn": 1, "copy": 1}]}
        with_it, without = _renamed_to(one, 1), _renamed_to(one, 99)
        first, second = (subject.answer(sql, NORTH, each) for each in (with_it, without))
        if first.seen() != second.seen():
            yield sql, first.rows, second.rows, data


def _renamed_to(data: Data, key: int) -> dict[str, Rows]:
    """The data of which the first unit of people and of stays has this key, and none else."""
    found: dict[str, Rows] = {table: [dict(row) for row in rows] for table, rows in data.items()}
    first = min(row["ssn"] for row in data["people"])
    for table in ("people", "stays"):
        found[table] = [{**row, "ssn": _new(row, first, key)} for row in data[table]]
    return found


def _new(row: Mapping[str, object], first: object, key: int) -> object:
    return key if row["ssn"] == first else 50 if row["ssn"] == 1 else row["ssn"]


def printed_lines(subject: Subject, questions: Iterable[str], seed: int) -> Found:
    """P9: columns and lines beside answers that depend on the data."""
    one, other = worlds(seed, 2)
    for sql in questions:
        first, second = (subject.answer(sql, NORTH, data) for data in (one, other))
        if (first.columns, first.lines) != (second.columns, second.lines):
            yield sql, first.lines, second.lines

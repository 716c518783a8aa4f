"""A smaller question that fails like a given one: less text, then fewer rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import monotonic

import sqlglot
from sqlglot import exp

from .queries import Question
from .worlds import Table, World

SECONDS = 30.0
"""How long a smaller question is looked for."""
OPTIONAL = ("where", "having", "qualify", "order", "limit", "offset", "distinct", "joins", "with_", "with")
"""Parts that a query may lose."""
TAKEN_APART = (exp.Connector, exp.SetOperation, exp.Func, exp.Paren, exp.Not, exp.Filter, exp.Window)
"""Expressions of which a part may stand in their place."""

Edit = Callable[[exp.Expr], None]
"""A change of a node in its tree."""
Fails = Callable[[Question], bool]
"""Whether a question fails as the first one did."""


def shrunk(question: Question, fails: Fails) -> Question:
    """The smallest question found; the same one if no smaller one fails. Order and ties are not compared in it."""
    end = monotonic() + SECONDS
    found = replace(question, order=(), total=False)
    if not fails(found):
        return question
    for smaller in (_less_text, _fewer_rows):
        found = _smallest(found, smaller, fails, end)
    return found


def _smallest(
    question: Question, smaller: Callable[[Question], Iterator[Question]], fails: Fails, end: float
) -> Question:
    while monotonic() < end:
        better = next((each for each in smaller(question) if monotonic() < end and fails(each)), None)
        if better is None:
            break
        question = better
    return question


def _less_text(question: Question) -> Iterator[Question]:
    """The question without a part of its text. One that only DuckDB reads stays as it is."""
    try:
        tree = sqlglot.parse_one(question.query, dialect="duckdb")
    except sqlglot.errors.ParseError:
        return
    for at, node in enumerate(tree.walk()):
        for edit in _edits(node):
            copy = tree.copy()
            edit(list(copy.walk())[at])
            text = copy.sql(dialect="duckdb")
            if len(text) < len(question.query):
                yield replace(question, query=text, loose=frozenset())


def _edits(node: exp.Expr) -> Iterator[Edit]:
    """Ways to leave out a part of a node, or most of it."""
    for name in [each for each in OPTIONAL if node.args.get(each)]:
        yield partial(_drop, name)
    listed = node.args.get("expressions")
    if isinstance(listed, list) and len(listed) > 1:
        yield from (partial(_drop_item, at) for at in range(len(listed)))
    if isinstance(node, TAKEN_APART) and node.parent is not None:
        yield from (partial(_put_child, name) for name in ("this", "expression") if node.args.get(name))


def _drop(name: str, node: exp.Expr) -> None:
    kept = node.args[name]
    node.set(name, kept[:-1] if isinstance(kept, list) else None)


def _drop_item(at: int, node: exp.Expr) -> None:
    del node.args["expressions"][at]


def _put_child(name: str, node: exp.Expr) -> None:
    if isinstance(child := node.args[name], exp.Expr):
        node.replace(child)


def _fewer_rows(question: Question) -> Iterator[Question]:
    """The question over a table with half of the rows, or without one."""
    for table in question.world.tables:
        count = len(table.rows)
        for start, stop in [(0, count // 2), (count // 2, count), *((at, at + 1) for at in range(count))]:
            if stop > start:
                yield replace(question, world=_without(question.world, table, start, stop))


def _without(world: World, table: Table, start: int, stop: int) -> World:
    less = replace(table, rows=table.rows[:start] + table.rows[stop:])
    return replace(world, tables=tuple(less if each is table else each for each in world.tables))

"""Owners' rules as a subject without a planner: the verdict on a bound query, and its guarded relation in DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

import duckdb

from tacit.local.macros import MACROS
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import names
from tacit.plan.policy.check import Allowed, check
from tacit.plan.policy.guarded import notice
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind

from .reference.evaluate import Data
from .subjects import Answer, Verdict
from .worlds import Prepared

TODAY = date(2026, 6, 1)
NOT_SQL = "no SQL of tacit"
"""In place of a rule: the query is refused whatever owners say."""


class Rendered:
    """A catalog as a subject. Data that are given again are not loaded again."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.loaded: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.database = duckdb.connect(config={"threads": 1})
        for macro in MACROS:
            self.database.execute(macro)
        for table in catalog.tables:
            columns = ", ".join(f"{each.field.name} {_type(each.field.type)}" for each in table.columns)
            self.database.execute(f"CREATE TABLE {table.name} ({columns})")
        self.checked = cache(self._checked)
        self.prepared = cache(lambda sql, to: Prepared(self.allowed(sql, to).relation))

    def verdict(self, sql: str, to: tuple[str, ...]) -> Verdict:
        found = self.checked(sql, to)
        return Verdict(found if isinstance(found, str) else "")

    def allowed(self, sql: str, to: tuple[str, ...]) -> Allowed:
        """What the rules say of a question that is allowed."""
        found = self.checked(sql, to)
        assert isinstance(found, Allowed), found
        return found

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer:
        self.load(data)
        found = self.allowed(sql, to)
        rows = self.prepared(sql, to).rows(self.database)
        return Answer(tuple(names(found.relation)), tuple(rows), notice(found.guards))

    def _checked(self, sql: str, to: tuple[str, ...]) -> Allowed | str:
        try:
            return check(bind(sql, self.catalog), self.catalog, to, TODAY)
        except PolicyRefusal as refusal:
            return refusal.rule
        except QueryError:
            return NOT_SQL

    def load(self, data: Data) -> None:
        """Put the rows into the database."""
        for table in self.catalog.tables:
            rows = data.get(table.name, ())
            if self.loaded.get(table.name) is rows:
                continue
            self.database.execute(f"TRUNCATE {table.name}")
            if rows:
                listed = [each.field.name for each in table.columns]
                marks = ", ".join("(" + ", ".join("?" for _ in listed) + ")" for _ in rows)
                values = [row[name] for row in rows for name in listed]
                self.database.execute(f"INSERT INTO {table.name} VALUES {marks}", values)
            self.loaded[table.name] = rows


class Unguarded:
    """The same verdicts, and answers without any guard."""

    def __init__(self, subject: Rendered) -> None:
        self.subject = subject
        self.verdict = subject.verdict
        self.asked = cache(lambda sql: bind(sql, subject.catalog))
        self.prepared = cache(lambda sql: Prepared(self.asked(sql)))

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer:
        self.subject.load(data)
        rows = self.prepared(sql).rows(self.subject.database)
        return Answer(tuple(names(self.asked(sql))), tuple(rows))


def _type(type_: object) -> str:
    return {"Boolean": "BOOLEAN", "Varchar": "VARCHAR", "Date": "DATE"}.get(type(type_).__name__, "BIGINT")

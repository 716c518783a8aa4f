"""The hash of a question: of what it means, of the tables that it reads and who gets the answer.

Owners' rules, engines and costs are no part of it, so that an owner can list questions in its rules.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans
from tacit.plan.facts.catalog import Catalog, Table


def question_hash(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> str:
    """The hash, as offers list it."""
    read = {each.table for each in scans(relation)} | {each.table for each in kept_scans(relation)}
    tables = [each for each in catalog.tables if each.name in read]
    kept = [each for each in catalog.kept if each.name in read]
    schema = [
        *([each.name, each.owner, [_digest(column.field, {}) for column in each.columns]] for each in tables),
        *([each.name, each.id, [_digest(column.field, {}) for column in each.columns]] for each in kept),
    ]
    question = json.dumps([_digest(relation, {}), schema, sorted(recipients)], ensure_ascii=True)
    return "q:" + hashlib.sha256(question.encode()).hexdigest()


def match_hash(said: Mapping[str, str], tables: Sequence[Table], recipients: tuple[str, ...]) -> str:
    """The hash of a match of tables, as offers list it. said: what all parties say alike, but for costs."""
    schema = [[each.name, each.owner, [_digest(column.field, {}) for column in each.columns]] for each in tables]
    question = json.dumps(["match", sorted(said.items()), schema, sorted(recipients)], ensure_ascii=True)
    return "q:" + hashlib.sha256(question.encode()).hexdigest()


def _digest(value: object, known: dict[int, str]) -> str:
    """The hash of a part, made of those of its own parts: a part that is used twice is read once."""
    if id(value) not in known:
        known[id(value)] = hashlib.sha256(_text(value, known).encode()).hexdigest()
    return known[id(value)]


def _text(value: object, known: dict[int, str]) -> str:
    if is_dataclass(value):
        parts = [[each.name, _digest(getattr(value, each.name), known)] for each in fields(value) if each.compare]
        return json.dumps([type(value).__name__, parts])
    if isinstance(value, tuple):
        return json.dumps([_digest(each, known) for each in value])
    if value is None or isinstance(value, bool | int | float | str):
        return json.dumps([type(value).__name__, value])
    raise TypeError(f"a question holds no {type(value).__name__}")

"""Whatever judges questions and answers them under owners' offers: the reference, or the product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from .reference.evaluate import Data, Question
from .reference.offers import read


@dataclass(frozen=True)
class Verdict:
    """rule: which one refuses; "" if none does."""

    rule: str

    @property
    def allowed(self) -> bool:
        return not self.rule


@dataclass(frozen=True)
class Answer:
    """What recipients see. lines: what is printed beside the rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[str, ...] = ()

    def seen(self) -> tuple[object, ...]:
        """All of it, but for the order of rows."""
        return self.columns, tuple(sorted(map(repr, self.rows))), self.lines

    def ordinary(self) -> list[tuple[Any, ...]]:
        """The rows beside the rest, without the mark of it."""
        if self.columns[-1:] != ("rest",):
            return list(self.rows)
        return [row[:-1] for row in self.rows if not row[-1]]


class Subject(Protocol):
    """What properties are checked of."""

    def verdict(self, sql: str, to: tuple[str, ...]) -> Verdict: ...

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer: ...


Make = Callable[[Mapping[str, str]], Subject]
"""A subject for the offers of all owners, as TOML."""


class Reference:
    """The reference as a subject."""

    def __init__(self, offers: Mapping[str, str]) -> None:
        self.offers = read(offers)
        self.question = cache(lambda sql, to: Question(sql, self.offers, to))

    def verdict(self, sql: str, to: tuple[str, ...]) -> Verdict:
        return Verdict(next(iter(self.question(sql, to).verdict.rules), ""))

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer:
        view = self.question(sql, to).view(data)
        return Answer(view.columns, view.rows, view.lines)

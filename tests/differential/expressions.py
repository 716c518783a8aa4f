"""Generated expressions: typed by family, so that most of them mean something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from . import scalars
from .chance import Chance
from .columns import MOMENTS, Column, Family, literal

T = TypeVar("T")

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Name:
    """A column that expressions can use. text: how they write it. origin: the table's column behind it, if any."""

    text: str
    family: Family
    origin: Column | None = None

    @property
    def bare(self) -> str:
        """Without its table."""
        return self.text.rsplit(".", 1)[-1]

    @property
    def shown(self) -> bool:
        """Whether it can be output and ordered."""
        return self.origin is None or self.origin.shown


@dataclass
class Writer:
    """Draws the text of expressions, and notes what they contain."""

    chance: Chance
    features: set[str] = field(default_factory=set)

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return self.chance.pick(choices)

    def often(self, out_of: int) -> bool:
        """True once in ``out_of`` times."""
        return self.chance.often(out_of)

    def note(self, feature: str, text: str) -> str:
        """The text, whose feature is noted."""
        self.features.add(feature)
        return text

    def expression(self, scope: Sequence[Name], family: Family, depth: int) -> str:
        """An expression of the family."""
        makers: dict[Family, Callable[[Sequence[Name], int], str]] = {
            "whole": self.number,
            "decimal": self.number,
            "date": self.day,
            "moment": self.moment,
            "text": self.text,
            "flag": self.flag,
        }
        return makers[family](scope, depth)

    def number(self, scope: Sequence[Name], depth: int) -> str:
        """A number."""
        names = [each for each in scope if each.family in ("whole", "decimal")]
        if depth <= 0 or self.often(3):
            return self._leaf(names, lambda: str(self.pick([1, 0, 2, -1, 100, "0.5", "1.25", -7])))
        if self.often(3) and (found := scalars.number(self, scope)):
            return found
        match self.pick(["+", "-", "*", "-x", "choice", "choice", "days", "CAST", "size", "part", "letters", "rest"]):
            case "size":
                name = self.pick(["ABS", "SIGN", "GREATEST", "LEAST"])
                more = f", {self.number(scope, depth - 1)}" if name in ("GREATEST", "LEAST") else ""
                return self.note("ABS and its like", f"{name}({self.number(scope, depth - 1)}{more})")
            case "part" if days := [each for each in scope if each.family in ("date", "moment")]:
                part = self.pick(["YEAR", "MONTH", "DAY", "DOW", "WEEK"])
                return self.note("EXTRACT", f"EXTRACT({part} FROM {self.pick(days).text})")
            case "letters" if texts := [each for each in scope if each.family == "text"]:
                return self.note("LENGTH", f"LENGTH({self.pick(texts).text})")
            case "rest" if names:
                sign = self.pick(["%", "//"])
                return self.note(sign, f"({self.pick(names).text} {sign} {self.pick(['3', '7'])})")
            case "+" | "-" | "*" as sign:
                return self.note(sign, f"({self.number(scope, depth - 1)} {sign} {self.number(scope, depth - 1)})")
            case "-x":
                return self.note("negation", f"(-({self.number(scope, depth - 1)}))")
            case "days" if days := [each for each in scope if each.family == "date"]:
                return self.note("date - date", f"({self.pick(days).text} - {self.pick(days).text})")
            case "CAST" if flags := [each for each in scope if each.family == "flag"]:
                return self.note("CAST", f"CAST({self.pick(flags).text} AS INTEGER)")
            case _:
                return self._choice(scope, depth, lambda: self.number(scope, depth - 1))

    def day(self, scope: Sequence[Name], depth: int) -> str:
        """A date."""
        names = [each for each in scope if each.family == "date"]
        if depth <= 0 or self.often(2):
            return self._leaf(names, lambda: "DATE '2020-02-15'")
        narrow = [each for each in names if each.origin and "bounds of a type" not in each.origin.features]
        moments = [each for each in scope if each.family == "moment"]
        if names and self.often(6):
            return self.note("LAST_DAY", f"LAST_DAY({self.pick(names).text})")
        if moments and self.often(2):
            return self.note("day of a moment as a value", f"CAST({self.pick(moments).text} AS DATE)")
        if narrow and self.often(2):
            return self.note("date + days", f"({self.pick(narrow).text} + {self.pick(['1', '30', '-365'])})")
        return self._choice(scope, depth, lambda: self.day(scope, depth - 1))

    def moment(self, scope: Sequence[Name], depth: int) -> str:
        """A moment."""
        names = [each for each in scope if each.family == "moment"]
        if depth <= 0 or self.often(2):
            return self._leaf(names, lambda: "TIMESTAMP '2020-02-15 12:30:00.5'")
        if self.often(2) and (found := scalars.moment(self, scope)):
            return found
        return self._choice(scope, depth, lambda: self.moment(scope, depth - 1))

    def text(self, scope: Sequence[Name], depth: int) -> str:
        """A string. Where there is a choice, it is between a column and one of its values."""
        names = [each for each in scope if each.family == "text"]
        if depth <= 0 or not names or not self.often(4):
            return self._leaf(names, lambda: self.pick(["'a'", "''", "'zz'"]))
        same = self.pick(names)
        if self.often(2):
            return scalars.text(self, same)
        other = literal(self.pick(same.origin.values)) if same.origin else same.text
        sides = [same.text, other]
        return self._choice(scope, depth, lambda: sides.pop(0))

    def flag(self, scope: Sequence[Name], depth: int) -> str:
        """A condition."""
        names = [each for each in scope if each.family == "flag"]
        if names and self.often(5):
            return self.pick(names).text
        if depth <= 0:
            return self._test(scope, 0)
        match self.pick(["test", "test", "AND", "OR", "NOT", "CASE", "NULL"]):
            case "AND" | "OR" as word:
                return self.note(word, f"({self.flag(scope, depth - 1)} {word} {self.flag(scope, depth - 1)})")
            case "NOT":
                return self.note("NOT", f"(NOT {self.flag(scope, depth - 1)})")
            case "CASE":
                return self._choice(scope, depth, lambda: self.flag(scope, 0))
            case "NULL" if self.often(3):
                return self.note("NULL literal", f"({self.flag(scope, 0)} OR NULL)")
            case _:
                return self._test(scope, depth - 1)

    def _test(self, scope: Sequence[Name], depth: int) -> str:
        """A comparison, BETWEEN, IN or IS NULL."""
        subject = self.pick(scope)
        if depth > 0 and self.often(6) and (found := scalars.flag(self, scope, self._test(scope, 0))):
            return found
        a = self.expression(scope, subject.family, depth) if self.often(2) else subject.text
        match self.pick(["compare", "compare", "BETWEEN", "IN", "IS NULL"]):
            case "compare" if subject.family == "text" and self.often(3):
                pattern = self.pick(["'a%'", "'%b%'", "'_'", "'%'"])
                return self.note("LIKE", f"({subject.text} {self.pick(['', 'NOT '])}LIKE {pattern})")
            case "compare" if subject.family in ("whole", "decimal", "flag") and self.often(6):
                b = self._operand(scope, subject, depth)
                return self.note("IS DISTINCT FROM", f"({a} IS {self.pick(['', 'NOT '])}DISTINCT FROM {b})")
            case "compare" if subject.family == "moment" and self.often(3):
                days = [f"DATE '{each:%Y-%m-%d}'" for each in (MOMENTS[0][0], MOMENTS[0][1], MOMENTS[1][1])]
                day = self.pick(days)
                return self.note("day of a moment", f"(CAST({a} AS DATE) {self.pick(COMPARISONS)} {day})")
            case "BETWEEN" if subject.family != "flag" and subject.shown:
                low, high = self._operand(scope, subject, depth), self._operand(scope, subject, depth)
                return self.note("BETWEEN", f"({a} {self.pick(['', 'NOT '])}BETWEEN {low} AND {high})")
            case "IN" if subject.family != "flag":
                listed = [self._constant(subject) for _ in range(self.pick([1, 2, 3]))]
                return self.note("IN list", f"({a} {self.pick(['', 'NOT '])}IN ({', '.join(listed)}))")
            case "IS NULL":
                return self.note("IS NULL", f"({a} IS {self.pick(['', 'NOT '])}NULL)")
            case _:
                signs = COMPARISONS[:2] if subject.family == "flag" or not subject.shown else COMPARISONS
                return self.note("comparison", f"({a} {self.pick(signs)} {self._operand(scope, subject, depth)})")

    def _operand(self, scope: Sequence[Name], subject: Name, depth: int) -> str:
        """Something to compare a subject with."""
        return self._constant(subject) if self.often(2) else self.expression(scope, subject.family, depth)

    def _constant(self, subject: Name) -> str:
        """A constant, most often one that occurs."""
        if subject.origin is not None and not self.often(6):
            return literal(self.pick(subject.origin.values))
        constants = {
            "whole": ["0", "3", "NULL", "2.5"],
            "decimal": ["0", "1.5", "-0.01"],
            "date": ["DATE '2020-01-31'", "'1970-01-01'"],
            "moment": ["TIMESTAMP '2020-01-01 00:00:00'", "'1970-01-01'", "DATE '2020-01-02'"],
            "text": ["'a'", "'none'"],
            "flag": ["TRUE", "FALSE"],
        }
        return self.pick(constants[subject.family])

    def _choice(self, scope: Sequence[Name], depth: int, value: Callable[[], str]) -> str:
        """One of two values."""
        match self.pick(["CASE", "CASE without ELSE", "COALESCE", "NULLIF", "simple CASE"]):
            case "COALESCE":
                return self.note("COALESCE", f"COALESCE({value()}, {value()})")
            case "NULLIF":
                return self.note("NULLIF", f"NULLIF({value()}, {value()})")
            case "simple CASE":
                subject = self.pick(scope)
                tested = f"{subject.text} WHEN {self._constant(subject)}"
                return self.note("simple CASE", f"CASE {tested} THEN {value()} ELSE {value()} END")
            case "CASE":
                condition = self.flag(scope, depth - 1)
                return self.note("CASE", f"CASE WHEN {condition} THEN {value()} ELSE {value()} END")
            case _:
                return self.note("CASE", f"CASE WHEN {self.flag(scope, depth - 1)} THEN {value()} END")

    def _leaf(self, names: Sequence[Name], constant: Callable[[], str]) -> str:
        return self.pick(names).text if names and not self.often(4) else constant()

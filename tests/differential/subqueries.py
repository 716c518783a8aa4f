"""Generated conditions and values that are subqueries, with and without a column of the query around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .expressions import Name, Writer
from .relations import KEYS, Relation, Relations
from .scalars import is_small

TABLES = ("people", "places", "sales_a", "sales_b")


@dataclass(frozen=True)
class Inner:
    """FROM and WHERE of a subquery, and the columns it can name. equal: whether it compares one of the query around."""

    text: str
    names: tuple[Name, ...]
    equal: bool


@dataclass(frozen=True)
class Subqueries:
    """Draws subqueries in a scope of the query around."""

    writer: Writer
    relations: Relations

    def condition(self, scope: Sequence[Name]) -> str:
        """A condition, "" if the scope has no column for one."""
        forms = [self._exists, self._exists_other, self._member, self._quantified, self._compared, self._average]
        forms += [self._members, self._average, self._quantified, self._exists]
        return self.writer.pick(forms)(scope)

    def value(self, scope: Sequence[Name]) -> str:
        """A number."""
        if self.writer.often(4) and (test := self.condition(scope)):
            return self.writer.note("a condition on a subquery as a value", f"CASE WHEN {test} THEN 1 ELSE 0 END")
        return self._scalar(scope)

    def _scalar(self, scope: Sequence[Name]) -> str:
        inner = self._inner(scope)
        numbers = _numbers(inner.names)
        function = self.writer.pick(["COUNT", "SUM", "MIN", "MAX"]) if numbers else "COUNT(*)"
        of = f"{function}({self.writer.pick(numbers).text})" if numbers else function
        self._note("scalar", inner)
        return f"(SELECT {of} FROM {inner.text})"

    def _exists(self, scope: Sequence[Name]) -> str:
        inner = self._inner(scope)
        self._note("EXISTS", inner)
        return f"{self.writer.pick(['EXISTS', 'NOT EXISTS'])} (SELECT {self.writer.pick(['*', '1'])} FROM {inner.text})"

    def _exists_other(self, scope: Sequence[Name]) -> str:
        """A row with another, a lesser or a greater value."""
        inner = self._inner(scope)
        outer, own = _numbers(scope), _numbers(inner.names)
        if not (outer and own):
            return ""
        sign = self.writer.pick(["<>", "<", ">="])
        test = f"{self.writer.pick(own).text} {sign} {self.writer.pick(outer).text}"
        word = "AND" if " WHERE " in inner.text else "WHERE"
        self.writer.note("EXISTS by another comparison", "")
        return f"{self.writer.pick(['EXISTS', 'NOT EXISTS'])} (SELECT 1 FROM {inner.text} {word} {test})"

    def _member(self, scope: Sequence[Name]) -> str:
        key = self._key(scope)
        if key is None:
            return ""
        inner = self._inner(scope, key.bare)
        self._note("IN", inner)
        words = self.writer.pick(["IN", "NOT IN", "= ANY", "<> ALL"])
        found = next(name for name in inner.names if name.bare == key.bare)
        test = f"{key.text} {words} (SELECT {found.text} FROM {inner.text})"
        return self.writer.pick([test, f"NOT ({test})", f"({test}) IS NULL", f"({test} OR {key.text} IS NULL)"])

    def _members(self, scope: Sequence[Name]) -> str:
        """Several columns IN a subquery."""
        outer = {name.bare: name for name in scope if name.bare in KEYS and name.origin is not None}
        tables = [self.relations.table(each) for each in TABLES]
        found = [each for each in tables if len(outer) > 1 and each.has(frozenset(outer))]
        if not found:
            return ""
        names, inner = sorted(outer), self.writer.pick(found)
        own = ", ".join(outer[name].text for name in names)
        test = f"({own}) IN (SELECT {', '.join(names)} FROM {inner.text})"
        return self.writer.note("IN of several columns", test)

    def _quantified(self, scope: Sequence[Name]) -> str:
        numbers = _numbers(scope)
        if not numbers:
            return ""
        inner = self._inner(scope)
        own = _numbers(inner.names)
        if not own:
            return ""
        self._note("ANY and ALL", inner)
        word = f"{self.writer.pick(['<', '<=', '>', '>='])} {self.writer.pick(['ANY', 'ALL'])}"
        return f"{self.writer.pick(numbers).text} {word} (SELECT {self.writer.pick(own).text} FROM {inner.text})"

    def _compared(self, scope: Sequence[Name]) -> str:
        numbers = _numbers(scope)
        return (
            f"{self.writer.pick(numbers).text} {self.writer.pick(['<', '>=', '='])} {self._scalar(scope)}"
            if numbers
            else ""
        )

    def _average(self, scope: Sequence[Name]) -> str:
        """A whole number beside an average of whole numbers, where DuckDB's rounding changes nothing."""
        whole = [name for name in scope if is_small(name)]
        inner = self._inner(scope)
        own = [name for name in inner.names if is_small(name)]
        if not (whole and own):
            return ""
        self._note("average", inner)
        sign = self.writer.pick(["<", "<=", ">", "="])
        return f"{self.writer.pick(whole).text} {sign} (SELECT AVG({self.writer.pick(own).text}) FROM {inner.text})"

    def _inner(self, scope: Sequence[Name], needed: str = "") -> Inner:
        """FROM and WHERE of a subquery, mostly with an equality of a key that both queries have."""
        table, alias = self._table(needed), self.relations.fresh("q")
        names = tuple(Name(f"{alias}.{name.bare}", name.family, name.origin) for name in table.names)
        conditions = [self.writer.flag(names, 1)] if self.writer.often(3) else []
        if self.writer.often(8) and (nested := self.condition(names)):
            conditions.append(self.writer.note("subquery in a subquery", nested))
        outer = {name.bare: name for name in scope if name.bare in KEYS and name.origin is not None}
        pairs = [name for name in names if name.bare in outer and name.bare != needed]
        equal = bool(pairs) and not self.writer.often(3)
        if equal:
            own = self.writer.pick(pairs)
            conditions.append(f"{own.text} = {outer[own.bare].text}")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return Inner(f"{table.text} {alias}{where}", names, equal)

    def _table(self, needed: str) -> Relation:
        tables = [self.relations.table(each) for each in TABLES]
        return self.writer.pick([each for each in tables if not needed or each.has(frozenset({needed}))])

    def _key(self, scope: Sequence[Name]) -> Name | None:
        keys = [name for name in scope if name.bare in ("k", "g") and name.origin is not None]
        return self.writer.pick(keys) if keys else None

    def _note(self, what: str, inner: Inner) -> None:
        self.writer.note(f"{what} {'of matching rows' if inner.equal else 'of a subquery'}", "")


def _numbers(names: Sequence[Name]) -> list[Name]:
    return [name for name in names if name.family in ("whole", "decimal")]

"""Whether owners' rules allow a query, from its text and the offers alone, and by which rule not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from . import known
from .derive import EVERY, VALUE, Derivation, Pair, State, shown
from .offers import Column, Table
from .tree import Expr, Group, names_in
from .values import COMPARISONS, argument, function, value

ORDER = (
    "recipient", "closed", "with", "join", "cuts", "constants", "weights", "repeats", "function", "linear", "floor",
    "filter", "group", "matches", "select",
    "differences",
)  # fmt: skip
"""Which of several rules that a query breaks is named."""

ONE_OF_ALL = {"aggregate:min", "aggregate:max", "aggregate:quantile", "aggregate:count_distinct"}
"""What would show one unit's number of rows."""

MIRRORED: Mapping[type[Expr], type[Expr]] = {exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE}


@dataclass(frozen=True)
class Verdict:
    """rules: all that the query breaks, the one to be named first."""

    rules: tuple[str, ...]

    @property
    def allowed(self) -> bool:
        return not self.rules


def verdict(derivation: Derivation) -> Verdict:
    """What the rules say of a query."""
    found = {rule for each in derivation.recipients for rule in _Judge(derivation, each).broken()}
    return Verdict(tuple(sorted(found, key=ORDER.index)))


@dataclass(frozen=True)
class _Judge:
    """What one recipient may get."""

    query: Derivation
    recipient: str

    def broken(self) -> Iterator[str]:
        tables = {each.name: each for each in self.query.tables.values() if each.binds(self.recipient)}
        if any(not self._receivers() <= each.recipients | {each.owner} for each in tables.values()):
            yield "recipient"
        yield from self._ways()
        yield from self._released()
        for one, other in self.query.joined:
            yield from self._partner(one, other)
            yield from self._partner(other, one)
        for condition, state, decides in self.query.compared:
            yield from self._conditions(condition, state, decides)
        for group, state in self.query.aggregates:
            for _, expression in group.aggregates:
                yield from self._aggregate(expression, state)
        for group, child in self.query.groups.items():
            bound = [each for each in child.single if self.query.tables[each].binds(self.recipient)]
            if any(self.query.matches(group, each) for each in bound):
                yield "floor"
        yield from known.broken(self.query, self.recipient)
        for table in tables.values():
            yield from self._against_each_other(table)

    def _against_each_other(self, table: Table) -> Iterator[str]:
        """Aggregations of a table whose differences its owner does not know, since others' tables select the rows."""
        instances = {name for name, each in self.query.tables.items() if each is table}
        times = {group: len(instances & set(guard.floors)) for group, guard in self.query.guards.items()}
        if sum(times.values()) > 1 and any(count and self._by_others(group, table) for group, count in times.items()):
            yield "differences"

    def _by_others(self, group: Group, table: Table) -> bool:
        """Whether columns of other owners decide which rows of a table are added up."""
        child = self.query.groups[group]
        expressions = [each for _, each in group.keys] + [
            argument(each) for _, each in group.aggregates if not _rows(each)
        ]
        pairs = child.presence.union(*(self.query.output(each, child).pairs for each in expressions))
        return any(self.query.tables[pair.instance].owner != table.owner for pair in pairs)

    def _receivers(self) -> frozenset[str]:
        return frozenset(self.query.recipients)

    def _bound(self, pair: Pair) -> Table | None:
        """The pair's table, if its rules bind this recipient."""
        table = self.query.tables[pair.instance]
        return table if table.binds(self.recipient) else None

    def _ways(self) -> Iterator[str]:
        """Every use of a column, whatever becomes of it."""
        states = self.query.states.values()
        pairs = {pair for state in states for pair in state.presence}
        pairs |= {pair for group in self.query.groups for each in self._outputs(group) for pair in each}
        for pair in pairs | {pair for each in self.query.final.outputs.values() for pair in each.pairs}:
            table = self._bound(pair)
            if table is None or shown(table, pair.column, self.recipient):
                continue
            if pair.column != EVERY:
                yield from _way(table.columns[pair.column], pair.way)
            elif pair.way in ONE_OF_ALL:
                yield "function"

    def _outputs(self, group: Group) -> Iterator[frozenset[Pair]]:
        return (each.pairs for each in self.query.states[group].outputs.values())

    def _released(self) -> Iterator[str]:
        """What is seen of single rows."""
        final = self.query.final
        pairs = final.presence.union(*(each.pairs for each in final.outputs.values()))
        for instance in final.single:
            table = self.query.tables[instance]
            if not table.binds(self.recipient):
                continue
            own = {pair for pair in pairs if pair.instance == instance} | {Pair(instance, EVERY, "present")}
            for pair in own:
                yield from self._single(table, pair, instance in final.grouped)

    def _single(self, table: Table, pair: Pair, grouped: bool) -> Iterator[str]:
        if shown(table, pair.column, self.recipient):
            return
        if grouped:
            yield "floor"
        elif pair.way == "join":
            if self.recipient not in table.matches:
                yield "matches"
        elif pair.column == EVERY:
            if self.recipient not in table.matches:
                yield "select"
        elif table.columns[pair.column].use:
            yield "select"

    def _partner(self, one: Pair, other: Pair) -> Iterator[str]:
        """What a column is joined or compared with."""
        table = self._bound(one)
        if table is None or one.way != VALUE or one.column == EVERY:
            return
        partners = table.columns[one.column].partners
        if partners is not None and f"{self.query.tables[other.instance].name}.{other.column}" not in partners:
            yield "with"

    def _aggregate(self, expression: Expr, state: State) -> Iterator[str]:
        name = "count" if _rows(expression) else function(expression)
        inner = None if _rows(expression) else self.query.output(argument(expression), state)
        below = state.presence | inner.pairs if inner else state.presence
        bound = [each for each in state.single if self.query.tables[each].binds(self.recipient)]
        single = [each for each in bound if not self.query.free(each, below)]
        if not bound:
            return
        if inner is not None and not inner.linear and name not in ("min", "max", "quantile"):
            yield "linear"
        for instance in single:
            listed = self.query.tables[instance].weights
            if inner is not None and name != "count" and self._weighs(inner.pairs, instance, state, listed):
                yield "weights"
            if name in ("count", "sum", "avg", "quantile") and known.repeated(self.query, state, listed):
                yield "repeats"
            if any(self._in_other_branch(instance, other, state) for other in bound):
                yield "repeats"

    def _weighs(self, pairs: frozenset[Pair], instance: str, state: State, listed: frozenset[str]) -> bool:
        """Whether values of a recipient's table that is not listed are summed over rows of an instance."""
        return any(
            self.query.tables[pair.instance].owner in self.query.recipients
            and pair.way != "filter"
            and not {f"{self.query.tables[pair.instance].name}.{pair.column}", _whole(self.query, pair)} & listed
            and any({pair.instance, instance} <= each for each in state.together)
            for pair in pairs
            if not self.query.tables[pair.instance].binds(self.recipient)
        )

    def _in_other_branch(self, one: str, other: str, state: State) -> bool:
        """Whether a table stands on both sides of a UNION: one side may subtract what the other adds."""
        same = self.query.tables[one] is self.query.tables[other] and one != other
        return same and not any({one, other} <= each for each in state.together)

    def _conditions(self, condition: Expr, state: State, decides: bool) -> Iterator[str]:
        if decides:
            yield from self._unreachable(condition, state)
        for part in condition.find_all(*COMPARISONS, *OTHER_TESTS, exp.Between, exp.In, exp.Is):
            yield from self._comparison(part, state)

    def _comparison(self, part: Expr, state: State) -> Iterator[str]:
        sides = [part.left, part.right] if isinstance(part, exp.Binary) else [part.this]
        pairs = [[pair for name in names_in(side) for pair in state.outputs[name].pairs] for side in sides]
        for at, side in enumerate(sides):
            for pair in pairs[at]:
                table = self._bound(pair)
                if table is None or pair.instance not in state.single or pair.column == EVERY:
                    continue
                others = [each for each in pairs[1 - at] if each.instance in state.single] if len(sides) > 1 else []
                column = table.columns[pair.column]
                yield from self._limits(column, part, side, at, bool(others))
                for other in others:
                    if self.query.tables[other.instance] is not table or other.instance != pair.instance:
                        yield from ["with"] if column.partners is None else self._partner(pair, other)

    def _limits(self, column: Column, part: Expr, side: Expr, at: int, others: bool) -> Iterator[str]:
        constants = _constants(part, at)
        if column.cuts is not None and not isinstance(part, exp.Is):
            kind = type(part) if at == 0 else MIRRORED.get(type(part), type(part))
            whole = kind in (exp.GTE, exp.LT) and isinstance(side, exp.Column) and not others
            if not whole or not all(_is_cut(column, each) for each in constants):
                yield "cuts"
        if column.constants is None or isinstance(part, exp.Is):
            return
        if others or not isinstance(side, exp.Column) or not set(constants) <= column.constants:
            yield "constants"

    def _unreachable(self, condition: Expr, state: State) -> Iterator[str]:
        """A group has at least as many rows as units, and as many units as its floor."""
        read = set(names_in(condition))
        if len(read) != 1 or not all(state.outputs[name].counts for name in read):
            return
        whom = {pair.instance for name in read for pair in state.outputs[name].pairs}
        least = max(self.query.tables[each].least_group for each in whom)
        if whom <= state.merged and any(map(self.query.binding, whom)):
            tried = [*range(least, least + 10), 10**6, *_near(condition, least)]
            if not any(value(condition, dict.fromkeys(read, each)) for each in tried):
                yield "floor"


OTHER_TESTS = (exp.Like, exp.ILike, exp.SimilarTo, exp.NullSafeEQ, exp.NullSafeNEQ)
"""Tests that no cut and no constant allows as an owner names them."""


def _rows(expression: Expr) -> bool:
    return isinstance(expression.this, exp.Star)


def _way(column: Column, way: str) -> Iterator[str]:
    """The rule that a use of a column breaks."""
    kind, _, name = way.partition(":")
    if not column.use:
        yield "closed"
    elif kind == "aggregate":
        if "aggregate" not in column.use or name not in column.functions:
            yield "function"
    elif kind == "key":
        if not column.use & {"join", "group"} and not _flag(column):
            yield "group"
    elif kind == "group":
        if "group" not in column.use and not _flag(column):
            yield "group"
    elif kind == "order":
        yield "select"
    elif kind in ("join", "filter") and kind not in column.use:
        yield kind


def _flag(column: Column) -> bool:
    """A BOOLEAN is a condition already."""
    return column.type == "BOOLEAN" and "filter" in column.use


def _whole(query: Derivation, pair: Pair) -> str:
    return f"{query.tables[pair.instance].name}.*"


def _constants(part: Expr, at: int) -> list[Any]:
    """The constants that a side is compared with."""
    match part:
        case exp.In():
            parts = part.expressions
        case exp.Between():
            parts = [part.args["low"], part.args["high"]]
        case exp.Binary():
            parts = [part.left if at else part.right]
        case _:
            parts = []
    return [value(each, {}) for each in parts if not names_in(each)]


def _is_cut(column: Column, constant: Any) -> bool:
    if column.cuts == "month":
        day = date.fromisoformat(constant) if isinstance(constant, str) else constant
        return bool(day.day == 1)
    return constant in (column.cuts or ())


def _near(condition: Expr, least: int) -> Iterator[int]:
    """Numbers around the constants of a condition, from the floor on."""
    for literal in condition.find_all(exp.Literal):
        if literal.name.isdigit():
            yield from (each for each in range(int(literal.name) - 1, int(literal.name) + 2) if each >= least)

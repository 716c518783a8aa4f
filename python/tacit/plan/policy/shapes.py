"""What the rows beneath a guard are made of, by the shape of a query alone: tables, what is read, what is beneath.

It shares no fact with ``derive``. What one of the two overlooks, the other one is to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count, product
from typing import Final

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    KeptSides,
    Limit,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.deliveries import delivered_table
from tacit.plan.facts.fields import columns_of, names
from tacit.plan.policy.constants import unchanged
from tacit.plan.policy.intervals import has_brackets, has_intervals, is_interval, tests_within
from tacit.plan.policy.offers import knows

Source = tuple[int, str]
"""A leaf's number and a column of its table; no column for how many of its rows there are."""
Sources = frozenset[Source]
NO_SOURCES: Sources = frozenset()
COUNTS: Final = ("count", "count_rows", "count_distinct")
"""Aggregates that are numbers of rows."""


@dataclass(frozen=True)
class Leaf:
    """A table at one place of a query. table: None for rows that stand in the question or that a guard has shown.

    is_known: some recipient knows which rows there are. unique: sets of columns that say which row it is.
    """

    number: int
    table: Table | None
    is_known: bool
    unique: frozenset[frozenset[str]] = frozenset()

    @property
    def columns(self) -> Sources:
        """All columns of its table."""
        return frozenset((self.number, each.field.name) for each in (self.table.columns if self.table else ()))


@dataclass(frozen=True)
class Read:
    """Sources that are read together, to decide which rows there are or what a value is.

    is_interval: it tests one column as it is, and leaves an interval of its values. decides: it does not only compute.
    is_key: it is one of a join.
    """

    sources: Sources
    is_interval: bool = False
    decides: bool = True
    is_key: bool = False
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Value:
    """A column of a relation. sources: all that it is computed of; values: without those that conditions alone read.

    rises: it rises or falls with its one source. brackets: each of its values is an interval of its one source.
    identity: what it is a copy of, a source or a computed column; None for a constant. united: of several inputs of a
    union.
    """

    sources: Sources
    values: Sources
    rises: bool = False
    brackets: bool = False
    identity: Source | None = None
    united: bool = False


@dataclass(frozen=True)
class Step:
    """An operation that is no condition, no join of rows and no new column. leaves: whose rows are beneath.

    by: what tells the rows apart that it takes together, or leaves; None where nothing does.
    """

    name: str
    leaves: frozenset[Leaf]
    by: Sources | None = None
    position: Position | None = None


@dataclass(frozen=True)
class Shape:
    """What a relation is made of.

    reads: all that is read together beneath. equal: what joins make equal. beside: leaves whose rows joins put beside
    those of others, both ways. alike: columns of unions and of their inputs. made: computed keys of joins, with their
    sources. unique: leaves, and keys of which each value has one row of them. marking: leaves that tell by marks alone
    which rows of others have a match. steps: operations beneath.
    """

    columns: Mapping[str, Value]
    leaves: frozenset[Leaf] = frozenset()
    reads: tuple[Read, ...] = ()
    equal: frozenset[tuple[Source, Source]] = frozenset()
    beside: frozenset[tuple[Leaf, Leaf]] = frozenset()
    alike: frozenset[tuple[Source, Source]] = frozenset()
    made: frozenset[tuple[Source, Sources]] = frozenset()
    unique: frozenset[tuple[frozenset[Leaf], Sources]] = frozenset()
    marking: frozenset[Leaf] = frozenset()
    steps: tuple[Step, ...] = ()

    def sources(self, columns: Iterable[str]) -> Sources:
        """All sources of some columns."""
        return NO_SOURCES.union(*(self.columns[each].sources for each in columns))

    def reading(self, expr: Expr, *, decides: bool = True) -> tuple[Read, ...]:
        """What an expression reads: each of the conditions that it joins by AND on its own."""
        return tuple(self._read(each, decides) for each in conjuncts(expr))

    def _read(self, expr: Expr, decides: bool) -> Read:
        position = expr.position if isinstance(expr, Call | ColumnRef) else None
        if (tested := _tested_for_null(expr)) is not None:
            sources = self.columns[tested].sources
            return Read(sources, len(sources) <= 1, decides, position=position)
        columns = columns_of(expr)
        straight = len(columns) == 1 and all(self.columns[each].rises for each in columns)
        return Read(self.sources(columns), straight and is_interval(expr), decides, position=position)


class Shapes:
    """The shapes of a query's relations. guarded: aggregates of which a guard shows the rows."""

    def __init__(self, catalog: Catalog, guarded: frozenset[Aggregate], recipients: tuple[str, ...]) -> None:
        self._recipients = recipients
        self._tables = {each.name: each for each in catalog.tables}
        self._guarded = guarded
        self._numbers = count()
        self._tables_of: dict[int, Table | None] = {}

    def of(self, relation: Relation) -> Shape:
        """The shape of a relation. Two places of one table are two leaves."""
        match relation:
            case Scan():
                return self._leaf(relation.columns, self._tables[relation.table])
            case KeptScan():
                return self._leaf(relation.columns, self._tables.get(delivered_table(relation.table) or ""))
            case Aggregate() if relation in self._guarded:
                return self._leaf([(each, each) for each in names(relation)], None, relation.keys)
            case Constants() | Opened():
                return self._leaf([(each, each) for each in names(relation)], None)
            case Filter(input, predicate):
                below = self.of(input)
                return replace(below, reads=(*below.reads, *below.reading(predicate)))
            case Project(input, outputs):
                return self._projected(self.of(input), outputs)
            case Sort(input, keys):
                below = self.of(input)
                return replace(below, reads=(*below.reads, *(Read(below.sources([each.column])) for each in keys)))
            case Limit(input, _, _):
                return _stepped(self.of(input), "LIMIT")
            case Broadcast(input, scalar):
                return _broadcast(self.of(input), self.of(scalar))
            case Join(left, right, left_keys, right_keys) if relation.repeats == 1:
                sides = self.of(left), self.of(right)
                return _joined(*sides, left_keys, right_keys, relation.kept, unique=True)
            case Mark():
                return self._marked(relation)
            case Aggregate():
                return self._grouped(self.of(relation.input), relation)
            case Window():
                return self._windowed(self.of(relation.input), relation)
            case Union(inputs):
                return self._united([self.of(each) for each in inputs], names(relation))
            case Join(left, right, left_keys, right_keys) | FullJoin(left, right, left_keys, right_keys):
                sides = self.of(left), self.of(right)
                whole = _joined(*sides, left_keys, right_keys, "both")
                return _stepped(whole, "a join that keeps or repeats rows of both sides", position=relation.position)
            case Pairs(left, right):
                whole = _beside(self.of(left), self.of(right))
                return _stepped(whole, "a join of all pairs", position=relation.position)
            case Match() | Slice():
                raise AssertionError("a bound query has none of these")

    def _leaf(
        self, columns: Iterable[tuple[str, str]], table: Table | None, keys: Sequence[str] | None = None
    ) -> Shape:
        number = next(self._numbers)
        self._tables_of[number] = table
        unique = table.unique if table is not None else () if keys is None else (keys,)
        leaf = Leaf(number, table, self._is_known((number, "")), frozenset(map(frozenset, unique)))
        found = {name: (leaf.number, source) for name, source in columns}
        values = {name: _copy(each) for name, each in found.items()}
        return Shape(values, frozenset({leaf}))

    def _is_known(self, source: Source) -> bool:
        """Whether some recipient knows a column of each row; without a column, which rows there are."""
        table = self._tables_of[source[0]]
        return table is None or any(knows(table, source[1] or None, each) for each in self._recipients)

    def _new(self, name: str) -> Source:
        """The identity of a column that is computed."""
        return next(self._numbers), name

    def _marked(self, mark: Mark) -> Shape:
        """A mark tells which rows have a match: something of the choices, beside rows that meet these by their keys."""
        input, choices = self.of(mark.input), self.of(mark.choices)
        keys = choices.sources(mark.choice_keys) | frozenset((each.number, "") for each in choices.leaves)
        whole = _joined(input, choices, mark.input_keys, mark.choice_keys)
        marked = Value(keys, NO_SOURCES, identity=self._new(mark.name))
        marking = whole.marking | choices.leaves
        return replace(whole, columns={**input.columns, mark.name: marked}, marking=marking)

    def _projected(self, below: Shape, outputs: Sequence[tuple[str, Expr]]) -> Shape:
        reads = list(below.reads)
        columns = {}
        for name, expr in outputs:
            reads += [read for each in tests_within(expr) for read in below.reading(each)]
            reads += below.reading(expr, decides=False)
            # A condition that is a column decides where it is used.
            deciding = [] if isinstance(expr.type, Boolean) else _deciding(expr)
            reads += [read for each in deciding for read in below.reading(each)]
            columns[name] = self._computed(below, name, expr)
        return replace(below, columns=columns, reads=tuple(reads))

    def _computed(self, below: Shape, name: str, expr: Expr) -> Value:
        found, inner = columns_of(expr), unchanged(expr)
        is_straight = len(found) <= 1 and all(below.columns[each].rises for each in found)
        values = NO_SOURCES.union(*(below.columns[each].values for each in _added(expr)))
        rises, brackets = is_straight and has_intervals(expr), is_straight and has_brackets(expr)
        identity = self._new(name) if found else None
        if isinstance(inner, ColumnRef):
            brackets, identity = below.columns[inner.name].brackets, below.columns[inner.name].identity
        united = any(below.columns[each].united for each in found)
        return Value(below.sources(found), values, rises, brackets, identity, united)

    def _grouped(self, below: Shape, aggregate: Aggregate) -> Shape:
        """Groups that no guard counts: of one unit's rows each, or of rows that recipients know."""
        columns = {key: self._told(below.columns[key]) for key in aggregate.keys}
        reads = [Read(each.sources, is_interval=each.brackets) for each in columns.values()]
        by = frozenset(each.identity for each in columns.values() if each.identity is not None)
        presence = _presence(below)
        for each in aggregate.aggregations:
            argument = below.columns[each.column] if each.column is not None else Value(NO_SOURCES, NO_SOURCES)
            many = presence if each.function in (*COUNTS, "sum") else NO_SOURCES
            values = presence if each.function in COUNTS else argument.values
            found = Value(argument.sources | many, values, identity=self._new(each.name), united=argument.united)
            columns[each.name] = self._told(found)
        name = "GROUP BY" if aggregate.aggregations else "DISTINCT"
        position = next((each for each in aggregate.positions if each is not None), None)
        unique = below.unique | {(below.leaves, by)}
        whole = replace(below, columns=columns, reads=(*below.reads, *reads), unique=unique)
        return _stepped(whole, name, by, position)

    def _told(self, value: Value) -> Value:
        """A value beneath a group-by: what decides between known values is one with them from here on."""
        return replace(value, values=value.sources) if all(map(self._is_known, value.sources)) else value

    def _windowed(self, below: Shape, window: Window) -> Shape:
        keys = [below.columns[each] for each in window.partition]
        reads = [Read(each.sources, is_interval=each.brackets) for each in keys]
        reads += [Read(below.sources([each.column])) for each in window.order]
        decide = below.sources([*window.partition, *(each.column for each in window.order)]) | _presence(below)
        columns = dict(below.columns)
        for each in window.outputs:
            arguments = [name for name in (each.column, each.default) if name is not None]
            values = NO_SOURCES.union(*(below.columns[name].values for name in arguments)) or _presence(below)
            united = any(below.columns[name].united for name in arguments)
            sources = below.sources(arguments) | decide
            columns[each.name] = Value(sources, values, identity=self._new(each.name), united=united)
        position = next((each.position for each in window.outputs), None)
        return _stepped(replace(below, columns=columns, reads=(*below.reads, *reads)), "OVER", position=position)

    def _united(self, parts: Sequence[Shape], visible: Sequence[str]) -> Shape:
        """Rows of one input each: none of them stands beside those of another one. A constant says of which."""
        columns = {}
        for name in visible:
            each = [part.columns[name] for part in parts]
            told = any(not one.sources for one in each)
            inputs = NO_SOURCES.union(*map(_rows, parts)) if told else NO_SOURCES
            columns[name] = Value(
                NO_SOURCES.union(inputs, *(one.sources for one in each)),
                NO_SOURCES.union(inputs, *(one.values for one in each)),
                rises=all(one.rises for one in each),
                brackets=all(one.brackets for one in each),
                identity=self._new(name),
                united=len(parts) > 1,
            )
        whole = reduce(_together, parts)
        alike = {(columns[name].identity, part.columns[name].identity) for name in visible for part in parts}
        return replace(whole, columns=columns, alike=whole.alike | {(a, b) for a, b in alike if a and b})


def closed(sources: Sources, shape: Shape) -> Sources:
    """With all that joins make equal to one of them."""
    while more := frozenset(one for pair in shape.equal for one in pair if not sources.isdisjoint(pair)) - sources:
        sources |= more
    return sources


def extended(sources: Sources, leaves: Iterable[Leaf], shape: Shape) -> Sources:
    """With all columns of those of some leaves of which these sources say which row it is, again and again."""
    left = frozenset(leaves)
    sources = closed(sources, shape)
    while found := frozenset(each for each in left if names_a_row(sources, each)):
        left -= found
        sources = closed(sources.union(*(each.columns for each in found)), shape)
    return sources


def names_a_row(sources: Sources, leaf: Leaf) -> bool:
    """Whether sources say which row of a table it is."""
    return any(all((leaf.number, each) in sources for each in keys) for keys in leaf.unique)


def _copy(source: Source) -> Value:
    its = frozenset({source})
    return Value(its, its, rises=True, brackets=True, identity=source)


def _broadcast(input: Shape, scalar: Shape) -> Shape:
    """A single row beside all others is a constant, of whatever it is made."""
    constant = Value(NO_SOURCES, NO_SOURCES, rises=True, brackets=True)
    return replace(input, columns={**input.columns, **dict.fromkeys(scalar.columns, constant)})


def _added(expr: Expr) -> frozenset[str]:
    """The columns that a value is made of, without those that decide between its branches."""
    match expr:
        case Call("if", (_, then, otherwise)):
            return _added(then) | _added(otherwise)
        case Call() if isinstance(expr.type, Boolean):
            return frozenset()
        case Call(_, args):
            return frozenset().union(*map(_added, args))
        case _:
            return columns_of(expr)


def _deciding(expr: Expr) -> list[Expr]:
    """Within a value: what is TRUE or FALSE in it, and what it divides by, as that makes NULL."""
    match expr:
        case Call("if", (_, then, otherwise)):
            return [*_deciding(then), *_deciding(otherwise)]
        case Call() if isinstance(expr.type, Boolean):
            return [expr]
        case Call(op, args):
            found = [one for each in args for one in _deciding(each)]
            return [*found, *(args[1:] if op in ("div", "int_div", "mod", "ratio", "rounded") else ())]
        case _:
            return []


def _tested_for_null(expr: Expr) -> str | None:
    """The column of which an expression tells whether it is NULL."""
    match unchanged(expr):
        case Call("not", (Call("is_null", (ColumnRef() as tested,)),)) | Call("is_null", (ColumnRef() as tested,)):
            return tested.name
        case _:
            return None


def _joined(
    left: Shape,
    right: Shape,
    left_keys: Sequence[str],
    right_keys: Sequence[str],
    kept: KeptSides = "none",
    *,
    unique: bool = False,
) -> Shape:
    """A join. unique: no left row has the keys of another one."""
    whole = _beside(left, right)
    reads, equal, made = list(whole.reads), set(whole.equal), set(whole.made)
    for a, b in zip(left_keys, right_keys, strict=True):
        one, other = left.columns[a], right.columns[b]
        reads.append(Read(one.sources | other.sources, is_key=True))
        if one.identity is not None and other.identity is not None:
            equal.add((one.identity, other.identity))
            made |= {(one.identity, one.sources), (other.identity, other.sources)}
    keys = [left.columns[each].identity for each in left_keys]
    named = {(left.leaves, frozenset(each for each in keys if each is not None))} if unique else set()
    columns = dict(whole.columns)
    for side, stays in ((left, kept in ("right", "both")), (right, kept in ("left", "both"))):
        if stays:
            columns |= {name: _optional(each, side) for name, each in side.columns.items()}
    return replace(
        whole,
        columns=columns,
        reads=tuple(reads),
        equal=frozenset(equal),
        made=frozenset(made),
        unique=whole.unique | named,
    )


def _optional(value: Value, side: Shape) -> Value:
    """A column that is NULL beside rows without a match, and so tells which rows have one."""
    rows = _rows(side)
    return replace(value, sources=value.sources | rows, rises=False, brackets=False)


def _together(left: Shape, right: Shape) -> Shape:
    return Shape(
        {**left.columns, **right.columns},
        left.leaves | right.leaves,
        (*left.reads, *right.reads),
        left.equal | right.equal,
        left.beside | right.beside,
        left.alike | right.alike,
        left.made | right.made,
        left.unique | right.unique,
        left.marking | right.marking,
        (*left.steps, *right.steps),
    )


def _beside(left: Shape, right: Shape) -> Shape:
    whole = _together(left, right)
    pairs = {*product(left.leaves, right.leaves), *product(right.leaves, left.leaves)}
    return replace(whole, beside=whole.beside | pairs)


def _stepped(below: Shape, name: str, by: Sources | None = None, position: Position | None = None) -> Shape:
    return replace(below, steps=(*below.steps, Step(name, below.leaves, by, position)))


def _presence(below: Shape) -> Sources:
    """How many rows there are: of hidden ones, where such are beneath, as known ones stand once beside them."""
    hidden = frozenset((each.number, "") for each in below.leaves if not each.is_known)
    return hidden or _rows(below)


def _rows(below: Shape) -> Sources:
    return frozenset((each.number, "") for each in below.leaves)

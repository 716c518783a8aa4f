"""What decides the aggregates of a group's row, in columns of scans and as the rows of one instance have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, compress, product
from typing import Any

from sqlglot import exp

from .derive import Derivation, shown
from .offers import Column
from .possible import outcomes
from .tree import Expr, Filter, Group, Join, NotTold, Project, Relation, Scan, Sort, Union, name_of
from .values import argument, case_condition, conditions, value

Outcome = tuple[bool | frozenset[Any], ...]
"""A bit of each condition, and of each aggregation beneath the set of outcomes that a unit's rows have there."""
Origin = Mapping[Any, Any]
"""Where a row is from: columns of scans and of unions by name, aggregates beneath, and the rows of their groups."""

MOST = 10
"""Outcomes beneath an aggregation of which all sets are tried."""


@dataclass(frozen=True)
class Expanded:
    """A row of a relation in columns of scans, with the filters beneath."""

    values: Mapping[str, Expr]
    filters: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Beneath:
    """An aggregation of units beneath, with what decides its own aggregates."""

    tree: Group
    own: Decisions


@dataclass(frozen=True)
class Decisions:
    """Conditions on rows of an instance, and aggregations beneath, that decide aggregates of conditions or NULLs.

    known: columns that a recipient knows row by row, so that their NULLs are as good as written.
    """

    instance: str
    conditions: tuple[Expr, ...]
    filters: tuple[Expr, ...]
    beneath: tuple[Beneath, ...]
    columns: Mapping[str, Column]
    known: frozenset[str]

    @cached_property
    def written(self) -> tuple[bool, ...]:
        """Which parts of an outcome are no tests of stored NULLs."""
        beneath = [any(each.own.written) for each in self.beneath]
        return (*(not _stored(each) or bool(_reads(each) & self.known) for each in self.conditions), *beneath)

    def of_written(self, outcome: Outcome) -> Outcome:
        """The parts that are no tests of stored NULLs."""
        return tuple(compress(outcome, self.written))

    def of(self, origin: Origin) -> Outcome:
        """What the conditions are in a row."""
        known = _complete(origin, self.instance)
        bits = [bool(value(each, known)) for each in self.conditions]
        return (
            *bits,
            *(frozenset(each.own.of(row.origin) for row in self._rows(each, origin)) for each in self.beneath),
        )

    @cached_property
    def possible(self) -> list[Outcome]:
        """All outcomes of rows with some values."""
        own = outcomes(self.conditions, self.filters, self.columns)
        sets = [list(_sets(each.own.possible)) for each in self.beneath]
        return [(*bits, *others) for bits in own for others in product(*sets)]

    def contradicted(self, outcome: Outcome, origin: Origin) -> bool:
        """Whether what is known of a row that is not there rules an outcome out."""
        known = (
            (bit, each) for bit, each in zip(outcome, self.conditions, strict=False) if _reads(each) <= set(origin)
        )
        return any(bool(value(each, origin)) != bit for bit, each in known)

    def _rows(self, beneath: Beneath, origin: Origin) -> Iterable[Any]:
        """The rows of the group beneath, or of the instance alone if it is among them."""
        rows = origin[beneath.tree]
        mine = [row for row in rows if self.instance in row.units]
        return mine or rows


def decisions(derivation: Derivation, tree: Group, names: Iterable[str], instance: str) -> Decisions:
    """What decides these aggregates."""
    columns = {
        f"{name}.{column}": each for name, table in derivation.tables.items() for column, each in table.columns.items()
    }
    child = _Expansion(derivation, instance).of(tree.child)
    groups = {name: group for group in derivation.groups for name, _ in group.aggregates}
    found: dict[str, Expr] = {}
    beneath: dict[Group, Beneath] = {}
    for each in (each for name, each in tree.aggregates if name in names and not isinstance(each.this, exp.Star)):
        inner = _plain(_substituted(argument(each), child.values))
        null = exp.Is(this=inner.copy(), expression=exp.Null())
        for condition in (*conditions(inner), null):
            known = _given(condition, groups)
            if len(outcomes([known], [], columns)) > 1:
                found[str(known)] = known
        for group in {groups[name]: None for name in _names(inner) if name in groups}:
            if derivation.has_single_rows(group):
                used = [name for name in _names(inner) if groups.get(name) is group]
                own = decisions(derivation, group, used, instance)
                found |= {str(each): each for each in own.conditions}
                beneath |= {each.tree: each for each in own.beneath}
                continue
            whole = [name for name, _ in group.aggregates]
            own = decisions(derivation, group, whole, instance)
            if derivation.states[group].single and len(own.possible) > 1:
                beneath[group] = Beneath(group, own)
    filters = tuple(_given(_plain(each), groups) for each in child.filters)
    return Decisions(instance, tuple(found.values()), filters, tuple(beneath.values()), columns, _known(derivation))


def _known(derivation: Derivation) -> frozenset[str]:
    """Columns of recipients' own tables, of open ones, and those that a recipient may see row by row."""
    return frozenset(
        f"{name}.{column}"
        for name, table in derivation.tables.items()
        for column in table.columns
        if any(not table.binds(each) or shown(table, column, each) for each in derivation.recipients)
    )


def constants(derivation: Derivation, tree: Group, instance: str) -> dict[int, Any]:
    """Keys, by their places, that are constants of the query in all rows of an instance."""
    found = {
        at: _constant(derivation, tree.child, name_of(each), instance)
        for at, (_, each) in enumerate(tree.keys)
        if isinstance(each, exp.Column)
    }
    return {at: value(each, {}) for at, each in found.items() if each is not None}


def _constant(derivation: Derivation, tree: Relation, name: str, instance: str) -> Expr | None:
    """The constant that a column is on an instance's side, through renaming, filters and sorts alone."""
    match tree:
        case Filter() | Sort():
            return _constant(derivation, tree.child, name, instance)
        case Project():
            given = dict(tree.outputs)[name]
            if isinstance(given, exp.Column):
                return _constant(derivation, tree.child, name_of(given), instance)
            return given if _is_constant(given) else None
        case Union():
            side = _side(derivation, tree, instance)
            at = tree.outputs.index(name)
            return _constant(derivation, side, side.outputs[at][0], instance) if side else None
    return None


def _is_constant(given: Expr) -> bool:
    if isinstance(given, exp.Neg | exp.Paren | exp.Cast):
        return _is_constant(given.this)
    return isinstance(given, exp.Literal | exp.Boolean | exp.Null)


def _side(derivation: Derivation, tree: Union, instance: str) -> Project | None:
    """The side of a union on which an instance is."""
    states = [(side, derivation.states[side]) for side in tree.sides]
    return next((side for side, state in states if instance in state.single | state.merged), None)


@dataclass(frozen=True)
class _Expansion:
    """Relations in columns of scans, as the rows of one instance are."""

    derivation: Derivation
    instance: str

    def of(self, tree: Relation) -> Expanded:
        match tree:
            case Scan():
                names = [f"{tree.instance}.{each}" for each in self.derivation.tables[tree.instance].columns]
                return Expanded(_own(names))
            case Filter():
                child = self.of(tree.child)
                return replace(child, filters=(*child.filters, _substituted(tree.condition, child.values)))
            case Join():
                left, right = self.of(tree.left), self.of(tree.right)
                return Expanded({**right.values, **left.values}, left.filters + right.filters)
            case Project():
                child = self.of(tree.child)
                return replace(child, values={n: _substituted(each, child.values) for n, each in tree.outputs})
            case Sort():
                return self.of(tree.child)
            case Group():
                child = self.of(tree.child)
                keys = {name: _substituted(each, child.values) for name, each in tree.keys}
                own = _own(name for name, _ in tree.aggregates)
                return Expanded({**keys, **own}, child.filters if tree.keys else ())
            case Union():
                side = _side(self.derivation, tree, self.instance)
                if side is None:
                    return Expanded(_own(tree.outputs))
                child = self.of(side)
                return replace(child, values=dict(zip(tree.outputs, child.values.values(), strict=True)))


def _own(names: Iterable[str]) -> dict[str, Expr]:
    """Columns that are not looked into."""
    return {name: exp.column(*reversed(name.rsplit(".", 1))) for name in names}


def _substituted(expression: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with what its columns are."""
    return expression.transform(lambda part: values[name_of(part)].copy() if isinstance(part, exp.Column) else part)


def _plain(expression: Expr) -> Expr:
    """CASE x WHEN and NULLIF as a CASE of conditions, and a column that is cast, or to which 0 is added, as it is."""
    whole = expression.copy()
    for part in list(whole.iter_expressions()):
        part.replace(_plain(part))
    return _unchanged(_as_case(whole))


def _unchanged(part: Expr) -> Expr:
    found: Expr = part
    if isinstance(part, exp.Add | exp.Sub | exp.Mul) and isinstance(part.right, exp.Literal):
        found = part.left if part.right.name == ("1" if isinstance(part, exp.Mul) else "0") else part
    elif isinstance(part, exp.Cast) and part.find(exp.Column):
        found = part.this
    return found


def _as_case(part: Expr) -> Expr:
    if isinstance(part, exp.Case) and part.this is not None:
        ifs = [exp.If(this=case_condition(part, each), true=each.args["true"]) for each in part.args["ifs"]]
        return exp.Case(ifs=ifs, default=part.args.get("default"))
    if isinstance(part, exp.Nullif):
        same = exp.EQ(this=part.this.copy(), expression=part.expression.copy())
        return exp.Case(ifs=[exp.If(this=same, true=exp.Null())], default=part.this.copy())
    return part


def _given(condition: Expr, groups: Mapping[str, Group]) -> Expr:
    """The condition where no aggregate beneath is NULL: what is NULL there follows from the rows of the unit."""

    def given(part: Expr) -> Expr:
        inside = isinstance(part.find_ancestor(exp.Is, exp.Predicate), exp.Is)
        known = isinstance(part, exp.Column) and name_of(part) in groups
        return exp.Literal.number(1) if known and inside else part

    return condition.transform(given)


def _stored(condition: Expr) -> bool:
    """Whether it is made of nothing but tests of NULLs that are stored so."""
    match condition:
        case exp.And() | exp.Or():
            return _stored(condition.left) and _stored(condition.right)
        case exp.Not() | exp.Paren():
            return _stored(condition.this)
        case exp.Is():
            return isinstance(condition.expression, exp.Null) and _kept(condition.this)
    return False


def _kept(expression: Expr) -> bool:
    """Whether it is NULL where a column of it is, and only there."""
    if isinstance(expression, exp.Add | exp.Sub | exp.Mul):
        return _kept(expression.left) and _kept(expression.right)
    if isinstance(expression, exp.Neg | exp.Cast | exp.Paren):
        return _kept(expression.this)
    return isinstance(expression, exp.Column | exp.Literal)


def _sets(found: list[Outcome]) -> Iterator[frozenset[Outcome]]:
    """All sets of outcomes but the empty one."""
    if len(found) > MOST:
        raise NotTold("so many conditions beneath an aggregation of units")
    sizes = range(1, len(found) + 1)
    return map(frozenset, chain.from_iterable(combinations(found, size) for size in sizes))


def _complete(origin: Origin, instance: str) -> Origin:
    """The origin with that of a row of each group beneath: of the instance, if one is."""
    found: Origin = {}
    for rows in (rows for key, rows in origin.items() if isinstance(key, Group) and rows):
        found = {**found, **_complete(next((row for row in rows if instance in row.units), rows[0]).origin, instance)}
    return {**found, **origin} if found else origin


def _reads(expression: Expr) -> set[str]:
    return set(_names(expression))


def _names(expression: Expr) -> list[str]:
    return [name_of(each) for each in expression.find_all(exp.Column)]

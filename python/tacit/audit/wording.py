"""Which rows of an owner's table a query selects, as a condition on the table's columns: what its words alone say.

As in ``tacit.audit.tracking``, what others' columns decide is left out. What would need the owner's data is unclear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from tacit.audit.pieces import Columns, Piece, not_null, pieces
from tacit.audit.texts import Region, region
from tacit.audit.tracked import Path, Unclear, along, unclear
from tacit.plan.algebra.expressions import conjunction, conjuncts, reference, substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    Literal,
    Project,
    Relation,
    Scan,
    Sort,
    Union,
)
from tacit.plan.algebra.trees import children, owner
from tacit.plan.algebra.types import Boolean, Varchar
from tacit.plan.facts.fields import columns_of, names
from tacit.plan.facts.uniqueness import reversible

MOST_GROUPS = 1000


@dataclass(frozen=True)
class Said:
    """A relation in terms of a table's columns. outputs: None for those that are computed of others' columns."""

    conditions: tuple[Expr, ...]
    outputs: Mapping[str, Expr | None]

    def of(self, expr: Expr) -> Expr | None:
        """An expression over the outputs."""
        known = {name: self.outputs[name] for name in columns_of(expr)}
        found = {name: each for name, each in known.items() if each is not None}
        return substitute(expr, found) if len(found) == len(known) else None

    def unmixed(self, expr: Expr) -> Expr | None:
        """The same, of an expression of which no part is computed of others' columns and another of own ones.

        Raises Unclear: who asks knows others' columns, and could have written any condition on the own ones.
        """
        if len({self.outputs[name] is None for name in columns_of(expr)}) == 2:
            raise Unclear("an expression of own columns and others' together")
        return self.of(expr)


def regions(query: Relation, path: Path, me: str) -> list[tuple[Region, Columns]]:
    """The regions of what is shown of a table instance, each with the columns that enter. Raises Unclear."""
    aggregate = next((node for node, _ in reversed(along(query, path)) if isinstance(node, Aggregate)), None)
    if aggregate is None:
        return []
    rest = next(rest for node, rest in along(query, path) if node is aggregate)
    said = _follow(aggregate.input, rest[1:], me)
    found = []
    for cell, piece in product(_cells(aggregate, said), _pieces(aggregate, said)):
        condition = () if piece.condition is None else (piece.condition,)
        whole = conjunction([*said.conditions, *cell, *condition])
        found.append((region(whole), columns_of(whole) | piece.reads))
    return found


def _follow(relation: Relation, path: Path, me: str) -> Said:
    match relation:
        case Scan(columns=columns, fields=fields):
            refs = (replace(reference(f), name=source) for (_, source), f in zip(columns, fields, strict=True))
            return Said((), dict(zip(names(relation), refs, strict=True)))
        case Filter(input, predicate):
            below = _follow(input, path[1:], me)
            parts = (below.unmixed(each) for each in conjuncts(predicate))
            return replace(below, conditions=(*below.conditions, *(each for each in parts if each is not None)))
        case Project(input, outputs):
            below = _follow(input, path[1:], me)
            return replace(below, outputs={name: below.unmixed(expr) for name, expr in outputs})
        case Union(inputs):
            below = _follow(inputs[path[0]], path[1:], me)
            return replace(below, outputs=dict(zip(names(relation), below.outputs.values(), strict=True)))
        case Join(kept="none") | FullJoin() | Broadcast():
            other = children(relation)[1 - path[0]]
            if owner(other) == me:
                raise Unclear("another table of the same owner")
            below = _follow(children(relation)[path[0]], path[1:], me)
            keys = () if isinstance(relation, Broadcast) else (relation.left_keys, relation.right_keys)[path[0]]
            own = [each for key in keys if (each := below.outputs[key]) is not None]
            if any(reversible(each) is None for each in own):
                raise Unclear("a join of others with values that are computed of own columns")
            return replace(below, outputs={name: below.outputs.get(name) for name in names(relation)})
        case Sort(input):
            return _follow(input, path[1:], me)
        case _:
            raise unclear(relation)


def _cells(aggregate: Aggregate, said: Said) -> Iterator[tuple[Expr, ...]]:
    """The groups that there could be."""
    keys = [_values(expr) for key in aggregate.keys if (expr := said.outputs[key]) is not None]
    count = 1
    for found in keys:
        count *= len(found)
    if count > MOST_GROUPS:
        raise Unclear("a query with so large a number of groups")
    yield from product(*keys)


def _values(key: Expr) -> list[Expr]:
    """The conditions of the groups by a key."""
    type_ = key.type
    missing: list[Expr] = [Call("is_null", (key,), Boolean(), False)] if key.nullable else []
    if isinstance(key, ColumnRef) and isinstance(type_, Varchar) and type_.values is not None:
        return [Call("eq", (key, Literal(each, type_)), Boolean(), key.nullable) for each in type_.values] + missing
    if isinstance(type_, Boolean):
        return [key, Call("not", (key,), Boolean(), key.nullable), *missing]
    raise Unclear("a group whose values are not public")


def _pieces(aggregate: Aggregate, said: Said) -> list[Piece]:
    found = dict[Piece, None]()
    for each in aggregate.aggregations:
        expr = None if each.column is None else said.outputs[each.column]
        found |= dict.fromkeys([Piece(None, frozenset())] if expr is None else _of(expr))
    return list(found)


def _of(expr: Expr) -> tuple[Piece, ...]:
    refs = {each.name: each for each in _refs(expr)}
    whole = {n: (Piece(not_null(r) if r.nullable else None, frozenset({n})),) for n, r in refs.items()}
    return pieces(expr, whole)


def _refs(expr: Expr) -> Iterator[ColumnRef]:
    match expr:
        case ColumnRef():
            yield expr
        case Call(_, args):
            for arg in args:
                yield from _refs(arg)
        case Literal():
            return

"""How many rows of a relation can be equal in some columns, from public bounds. Rows with a NULL there do not count.

This bounds a join whose keys are unique on neither side: no row of one side meets more rows of the other. What an owner
declares of a column (``repeats``) stays true of filtered rows, and of more columns together. Unique rows occur once,
and as often as the other columns of a unique set have values, where only some of it are asked about. Rows of unions add
up, those of joins multiply. No more rows can be equal than there are.
"""

from __future__ import annotations

from math import prod

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.once import once
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
    Limit,
    Literal,
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
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.constants import constant_columns
from tacit.plan.facts.fields import added, field_of, least, multiplied, names, row_bound
from tacit.plan.facts.uniqueness import reversible, unique_keys

Columns = frozenset[str]


@once
def most_equal(relation: Relation, columns: Columns, catalog: Catalog) -> int | None:
    """No more rows than this are equal in all the columns, none of which is NULL. None: no bound is known."""
    known = columns | constant_columns(relation)
    bound = _by_unique_sets(relation, known, catalog)
    for each in (_by_operator(relation, known, catalog), row_bound(relation)):
        bound = least(bound, each)
    return None if bound is None else max(bound, 1)


def _by_unique_sets(relation: Relation, columns: Columns, catalog: Catalog) -> int | None:
    """As many as the columns that a unique set has besides have values together."""
    found: int | None = None
    for keys in unique_keys(relation, catalog):
        sizes = [_values(relation, name) for name in keys - columns]
        if None not in sizes:
            found = least(found, prod(size for size in sizes if size is not None))
    return found


def _values(relation: Relation, name: str) -> int | None:
    """How many values a column may have, by its bounds or by a condition: of rows with the numbers 1 to 3, three."""
    field = field_of(relation, name)
    known = bounds.domain_size(field.type, field.nullable)
    if not isinstance(relation, Filter) or not isinstance(field.type, Integer):
        return known
    limits = [limit for each in conjuncts(relation.predicate) if (limit := _limit(each, name)) is not None]
    return least(known, max(min(limits) - field.type.low + 1, 0)) if limits else known


def _limit(condition: Expr, name: str) -> int | None:
    """What a column is at most, by a condition."""
    match condition:
        case Call("le", (ColumnRef(tested), Literal(int(most)))) | Call("ge", (Literal(int(most)), ColumnRef(tested))):
            return most if tested == name else None
        case Call("lt", (ColumnRef(tested), Literal(int(most)))) | Call("gt", (Literal(int(most)), ColumnRef(tested))):
            return most - 1 if tested == name else None
        case _:
            return None


def _by_operator(relation: Relation, columns: Columns, catalog: Catalog) -> int | None:
    match relation:
        case Scan(table, _, listed):
            declared = next(each.columns for each in catalog.tables if each.name == table)
            return _declared({each.field.name: each.repeats for each in declared}, listed, columns)
        case KeptScan(table, listed):
            kept = next(each.columns for each in catalog.kept if each.name == table)
            return _declared({each.field.name: each.repeats for each in kept}, listed, columns)
        case Project(input, outputs):
            sources = (reversible(each) for name, each in outputs if name in columns)
            return most_equal(input, frozenset(each for each in sources if each is not None), catalog)
        case (
            Filter(input, _)
            | Sort(input, _)
            | Limit(input, _, _)
            | Slice(input)
            | Broadcast(input, _)
            | Mark(input)
            | Window(input)
        ):
            return most_equal(input, columns & frozenset(names(input)), catalog)
        case Aggregate(input, keys, _):
            return most_equal(input, columns & frozenset(keys), catalog)
        case Join() | Match():
            return _of_join(relation, columns, catalog)
        case FullJoin(left, right):
            # Keys are unique on both sides, so that each row of either is there once.
            sides = (left, columns & frozenset(names(left))), (right, columns & frozenset(names(right)))
            return min((found for each in sides if each[1] and (found := most_equal(*each, catalog))), default=None)
        case Pairs(left, right):
            return multiplied(*(most_equal(each, columns & frozenset(names(each)), catalog) for each in (left, right)))
        case Union(inputs):
            return added([most_equal(each, columns, catalog) for each in inputs])
        case Constants() | Opened():
            return None


def _declared(repeats: dict[str, int | None], listed: tuple[tuple[str, str], ...], columns: Columns) -> int | None:
    """The smallest bound that is declared of one of the columns."""
    return min((bound for name, source in listed if name in columns and (bound := repeats[source])), default=None)


def _of_join(join: Join | Match, columns: Columns, catalog: Catalog) -> int | None:
    """Rows of one side, each beside those of the other that match it. Where both sides match, keys are equal."""
    keeps = (join.keeps_left, join.keeps_right) if isinstance(join, Join) else (False, False)
    sides = ((join.left, join.left_keys), (join.right, join.right_keys))
    repeats = join.repeats if isinstance(join, Join) else 1
    partners = (most_equal(join.right, frozenset(join.right_keys), catalog), repeats)
    found: int | None = None
    for (side, keys), (_, others), other_kept, many in zip(sides, sides[::-1], keeps[::-1], partners, strict=True):
        own = columns & frozenset(names(side))
        if not other_kept:
            own |= {mine for mine, its in zip(keys, others, strict=True) if its in columns}
        if own:
            found = least(found, multiplied(most_equal(side, own, catalog), many))
    return found

"""The relations of a FROM clause joined along the equalities of ON, USING and WHERE.

Inner joins, comma joins and WHERE conditions mean the same: all relations, all conditions. Each join needs one side
whose keys are unique, which becomes the left side; relations of one row are added to every row; what is left is a
filter.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.expressions import conjunction
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Literal,
    Project,
    Relation,
    Scan,
)
from tacit.plan.algebra.trees import owner
from tacit.plan.algebra.types import Decimal, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.sql.scope import fresh


@dataclass(frozen=True)
class Joined:
    """One relation to join. position: where the query names it."""

    alias: str
    relation: Relation
    position: Position | None


@dataclass(frozen=True)
class _Step:
    """A way to join the next relation: equalities that connect it, and both sides with their key columns."""

    next: Joined
    equalities: tuple[Expr, ...]
    current: Relation
    current_keys: tuple[str, ...]
    other: Relation
    other_keys: tuple[str, ...]


def join_all(items: list[Joined], conditions: list[Expr], scalars: list[Relation], catalog: Catalog) -> Relation:
    """All items joined under all conditions. scalars: one-row relations of subqueries that the conditions use."""
    single = [each for each in items if is_single_row(each.relation)]
    many = [each for each in items if each not in single]
    if not many:
        many, single = single[:1], single[1:]
    current = many[0].relation
    pending = many[1:]
    left = list(conditions)
    while pending:
        step = _best_step(current, pending, left, catalog)
        current = _joined(step, catalog)
        pending = [each for each in pending if each is not step.next]
        left = [each for each in left if each not in step.equalities]
    for each in [*(each.relation for each in single), *scalars]:
        current = Broadcast(current, each)
    return Filter(current, conjunction(left)) if left else current


def semi_join(relation: Relation, key: Expr, choices: Relation, catalog: Catalog) -> Relation:
    """The rows whose key is among the (only) column of choices. Its column is added to the output."""
    (only,) = names(choices)
    position = None if isinstance(key, Literal) else key.position
    if not is_unique(choices, (only,), catalog):
        choices = Aggregate(choices, (only,), ())
    relation, (name,) = _with_keys(relation, [key], choices)
    return Join(choices, relation, (only,), (name,), position)


def full_join(left: Relation, right: Joined, conditions: list[Expr], catalog: Catalog) -> FullJoin:
    """Two relations with all their rows, beside each other where all conditions hold: equalities of unique keys."""
    step = _step(left, right, conditions)
    if step is None or len(step.equalities) < len(conditions):
        instead = "write equalities of a column of each side there, and other conditions in WHERE"
        raise UnsupportedSQL("a FULL JOIN ON anything but equalities", instead, right.position)
    sides = ((step.current, step.current_keys), (step.other, step.other_keys))
    for side, keys in sides:
        if not is_unique(side, keys, catalog):
            found = _described(side, keys)
            declare = f"declare a unique key for {found}, or " if found else ""
            instead = f"{declare}join a subquery that has GROUP BY or DISTINCT on its key"
            raise UnsupportedSQL("a FULL JOIN whose keys may repeat", instead, right.position)
    return FullJoin(step.current, step.other, step.current_keys, step.other_keys, right.position)


def is_single_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever the data."""
    match relation:
        case Aggregate(_, keys, _):
            return not keys
        case KeptScan(single=single):
            return single
        case Project(input, _):
            return is_single_row(input)
        case Broadcast(input, scalar):
            return is_single_row(input) and is_single_row(scalar)
        case _:
            return False


def _best_step(current: Relation, pending: list[Joined], conditions: list[Expr], catalog: Catalog) -> _Step:
    """The first relation that joins with unique keys; one of the same owner is preferred, so that more stays local."""
    steps = [step for each in pending if (step := _step(current, each, conditions)) is not None]
    if not steps:
        name = pending[0].alias
        instead = f"join {name!r} ON an equality with another table's column, or make it one row with an aggregate"
        raise UnsupportedSQL("a cross join", instead, pending[0].position)
    possible = [step for step in steps if _unique_side(step, catalog) is not None]
    if not possible:
        raise _repeating(steps[0])
    return min(possible, key=lambda step: owner(step.other) is None or owner(step.other) != owner(current))


def _step(current: Relation, item: Joined, conditions: list[Expr]) -> _Step | None:
    pairs = [(each, pair) for each in conditions if (pair := _pair(each, current, item.relation)) is not None]
    if not pairs:
        return None
    left, left_keys = _with_keys(current, [pair[0] for _, pair in pairs], item.relation)
    right, right_keys = _with_keys(item.relation, [pair[1] for _, pair in pairs], left)
    return _Step(item, tuple(each for each, _ in pairs), left, left_keys, right, right_keys)


def _pair(condition: Expr, current: Relation, other: Relation) -> tuple[Expr, Expr] | None:
    """The two sides of an equality between the relations, the current one's first."""
    if not (isinstance(condition, Call) and condition.op == "eq"):
        return None
    a, b = condition.args
    mine, its = frozenset(names(current)), frozenset(names(other))
    for x, y in ((a, b), (b, a)):
        if columns_of(x) and columns_of(y) and columns_of(x) <= mine and columns_of(y) <= its:
            return x, y
    return None


def _unique_side(step: _Step, catalog: Catalog) -> bool | None:
    """True if the next relation's keys are unique, False if only the current one's are, None if neither."""
    if is_unique(step.other, step.other_keys, catalog):
        return True
    return False if is_unique(step.current, step.current_keys, catalog) else None


def _joined(step: _Step, catalog: Catalog) -> Relation:
    position = next((each.position for each in step.equalities if isinstance(each, Call)), None)
    if _unique_side(step, catalog):
        return Join(step.other, step.current, step.other_keys, step.current_keys, position)
    return Join(step.current, step.other, step.current_keys, step.other_keys, position)


def _with_keys(relation: Relation, keys: list[Expr], other: Relation) -> tuple[Relation, tuple[str, ...]]:
    """The relation with a column for each key; keys that are computed are added under names of neither relation."""
    found: list[str] = []
    added: list[tuple[str, Expr]] = []
    taken = {name.lower() for name in (*names(relation), *names(other))}
    for key in keys:
        plain = _same_encoding(key)
        if isinstance(plain, ColumnRef):
            found.append(plain.name)
            continue
        name = fresh("key", "join", taken)
        taken.add(name.lower())
        added.append((name, key))
        found.append(name)
    if added:
        kept = tuple((each.name, column(relation, each.name)) for each in fields(relation))
        relation = Project(relation, kept + tuple(added))
    return relation, tuple(found)


def _same_encoding(key: Expr) -> Expr:
    """A number cast to another SQL type of the same scale is the same key."""
    match key:
        case Call("cast", (inner,), Integer()) if isinstance(inner.type, Integer):
            return _same_encoding(inner)
        case Call("cast", (inner,), Decimal(_, scale)) if isinstance(inner.type, Decimal) and inner.type.scale == scale:
            return _same_encoding(inner)
        case _:
            return key


def _repeating(step: _Step) -> UnsupportedSQL:
    sides = [_described(step.current, step.current_keys), _described(step.other, step.other_keys)]
    found = " or ".join(dict.fromkeys(side for side in sides if side is not None))
    declare = f"declare {found} unique, or " if found else ""
    return UnsupportedSQL(
        "a join whose keys may repeat on both sides",
        f"{declare}join a subquery with GROUP BY or DISTINCT on its key",
        step.next.position,
    )


def _described(relation: Relation, keys: tuple[str, ...]) -> str | None:
    """The table and columns behind join keys, where they come straight from a table."""
    match relation:
        case Scan(table, _, columns) | KeptScan(table, columns):
            return f"{table}({', '.join(dict(columns)[key] for key in keys)})"
        case Filter(input, _):
            return _described(input, keys)
        case Project(input, outputs):
            sources = [dict(outputs)[key] for key in keys]
            if all(isinstance(source, ColumnRef) for source in sources):
                return _described(input, tuple(source.name for source in sources if isinstance(source, ColumnRef)))
            return None
        case _:
            return None

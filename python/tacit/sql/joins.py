"""The relations of a FROM clause joined along the equalities of ON, USING and WHERE.

Inner joins, comma joins and WHERE conditions mean the same: all relations, all conditions. Of a join by equalities the
side whose keys are unique becomes the left side, or else the one of which fewer rows may have one key. Relations of one
row are added to every row, and relations that no equality joins are paired row by row. What is left is a filter.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.expressions import conjunction, conjuncts, joined
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Filter,
    Join,
    KeptScan,
    Literal,
    Pairs,
    Project,
    Relation,
)
from tacit.plan.algebra.trees import owner
from tacit.plan.algebra.types import Decimal, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.described import described
from tacit.plan.facts.fields import column, columns_of, fields, most_rows, names
from tacit.plan.facts.multiplicity import most_equal
from tacit.plan.facts.uniqueness import is_unique
from tacit.sql.scope import fresh

Sides = tuple[tuple[Relation, tuple[str, ...]], ...]
"""Sides of a join, with their key columns."""


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


def join_all(items: list[Joined], conditions: list[Expr], catalog: Catalog) -> Relation:
    """All items joined under all conditions."""
    single = [each for each in items if is_single_row(each.relation)]
    many = [each for each in items if each not in single]
    if not many:
        many, single = single[:1], single[1:]
    current = many[0].relation
    pending = many[1:]
    left = [part for each in conditions for part in factored(each)] if pending else list(conditions)
    while pending:
        step = _best_step(current, pending, left, catalog)
        if step is None:
            current, pending = _paired(current, pending[0]), pending[1:]
            current, left = _chosen(current, left)
            continue
        current = _joined(step, catalog)
        pending = [each for each in pending if each is not step.next]
        left = [each for each in left if each not in step.equalities]
    for each in single:
        current = Broadcast(current, each.relation)
    return filtered(current, left)


def filtered(relation: Relation, conditions: list[Expr]) -> Relation:
    """The rows for which all conditions hold."""
    return Filter(relation, conjunction(conditions)) if conditions else relation


def semi_join(
    relation: Relation, keys: list[Expr], choices: Relation, chosen: tuple[str, ...], catalog: Catalog
) -> Join:
    """The rows whose keys are together among the chosen columns of choices, which are added to the output."""
    position = next((each.position for each in keys if not isinstance(each, Literal)), None)
    if not is_unique(choices, chosen, catalog):
        choices = Aggregate(choices, tuple(dict.fromkeys(chosen)), ())
    relation, names_of_keys = with_keys(relation, keys, choices)
    return Join(choices, relation, chosen, names_of_keys, position)


def is_single_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever the data."""
    match relation:
        case Aggregate(_, keys, _):
            return not keys
        case KeptScan(single=single):
            return single
        case Constants(rows):
            return len(rows) == 1
        case Project(input, _):
            return is_single_row(input)
        case Broadcast(input, scalar):
            return is_single_row(input) and is_single_row(scalar)
        case _:
            return False


def _best_step(current: Relation, pending: list[Joined], conditions: list[Expr], catalog: Catalog) -> _Step | None:
    """The first relation that joins with unique keys; one of the same owner is preferred, so that more stays local.

    None where no equality joins any.
    """
    steps = [step for each in pending if (step := _step(current, each, conditions)) is not None]
    if not steps:
        return None
    possible = [step for step in steps if _unique_side(step, catalog) is not None]
    if not possible:
        return _least_repeating(steps, catalog)
    return min(possible, key=lambda step: owner(step.other) is None or owner(step.other) != owner(current))


def _least_repeating(steps: list[_Step], catalog: Catalog) -> _Step:
    """The step that multiplies rows least. Raises UnsupportedSQL where no bound is known of any."""
    bounds = [(step, known[0]) for step in steps if (known := _repeats(step, catalog))]
    if not bounds:
        raise _repeating(steps[0])
    return min(bounds, key=lambda each: each[1])[0]


def _repeats(step: _Step, catalog: Catalog) -> list[tuple[int, int, bool]]:
    """How many rows of a side have one key at most, the least first, and how many rows that makes of all of the other.

    The last member says whether it is the next relation's side.
    """
    sides = (step.other, step.other_keys, step.current), (step.current, step.current_keys, step.other)
    found = []
    for place, (side, keys, other) in enumerate(sides):
        repeats = most_equal(side, frozenset(keys), catalog)
        found += [] if repeats is None else [(repeats, repeats * most_rows(other), place == 0)]
    return sorted(found)


def _paired(current: Relation, item: Joined) -> Relation:
    return Pairs(current, item.relation, item.position)


def _chosen(pairs: Relation, conditions: list[Expr]) -> tuple[Relation, list[Expr]]:
    """Pairs that fulfil the conditions on their columns, and the other conditions."""
    own = [each for each in conditions if columns_of(each) <= frozenset(names(pairs))]
    rest = [each for each in conditions if each not in own]
    return (Filter(pairs, conjunction(own)) if own else pairs), rest


def factored(condition: Expr) -> list[Expr]:
    """Conditions that together are the same. What stands in all terms of an OR is a condition of its own."""
    terms = [conjuncts(each) for each in _terms(condition)]
    common = [each for each in terms[0] if all(each in term for term in terms)]
    if len(terms) == 1 or not common:
        return conjuncts(condition)
    rest = [[each for each in term if each not in common] for term in terms]
    return common + ([joined("or", [conjunction(each) for each in rest])] if all(rest) else [])


def _terms(condition: Expr) -> list[Expr]:
    """The conditions that OR joins."""
    if isinstance(condition, Call) and condition.op == "or":
        return [term for each in condition.args for term in _terms(each)]
    return [condition]


def _step(current: Relation, item: Joined, conditions: list[Expr]) -> _Step | None:
    pairs = [(each, pair) for each in conditions if (pair := pair_of(each, current, item.relation)) is not None]
    if not pairs:
        return None
    left, left_keys = with_keys(current, [pair[0] for _, pair in pairs], item.relation)
    right, right_keys = with_keys(item.relation, [pair[1] for _, pair in pairs], left)
    return _Step(item, tuple(each for each, _ in pairs), left, left_keys, right, right_keys)


def pair_of(condition: Expr, current: Relation, other: Relation) -> tuple[Expr, Expr] | None:
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
    unique, repeats = _unique_side(step, catalog), 1
    if unique is None:
        repeats, _, unique = _repeats(step, catalog)[0]
    if unique:
        sides = (step.other, step.current, step.other_keys, step.current_keys)
    else:
        sides = (step.current, step.other, step.current_keys, step.other_keys)
    return Join(*sides, position, repeats=repeats)


def with_keys(relation: Relation, keys: list[Expr], other: Relation) -> tuple[Relation, tuple[str, ...]]:
    """The relation with a column for each key; keys that are computed are added under names of neither relation."""
    found: list[str] = []
    added: list[tuple[str, Expr]] = []
    taken = {name.lower() for name in (*names(relation), *names(other))}
    for key in keys:
        plain = same_encoding(key)
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


def same_encoding(key: Expr) -> Expr:
    """A number cast to another SQL type of the same scale is the same key."""
    match key:
        case Call("cast", (inner,), Integer()) if isinstance(inner.type, Integer):
            return same_encoding(inner)
        case Call("cast", (inner,), Decimal(_, scale)) if isinstance(inner.type, Decimal) and inner.type.scale == scale:
            return same_encoding(inner)
        case _:
            return key


def _repeating(step: _Step) -> UnsupportedSQL:
    sides = ((step.current, step.current_keys), (step.other, step.other_keys))
    return repeating("a join", sides, step.next.position)


def repeating(what: str, sides: Sides, position: Position | None) -> UnsupportedSQL:
    """The refusal of a join both of whose sides' keys may repeat. sides: of which a declaration would help."""
    sides_of_tables = [described(relation, keys) for relation, keys in sides]
    found = " or ".join(dict.fromkeys(side for side in sides_of_tables if side is not None))
    declare = f"declare {found} unique or with repeats, or " if found else ""
    return UnsupportedSQL(
        f"{what} whose keys may repeat on both sides",
        f"{declare}group one side by its key",
        position,
    )

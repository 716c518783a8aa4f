"""Joins that keep rows without a match, and those that keep only rows with one, or only rows without.

Of the conditions of ON the equalities between both sides are keys. A condition on a side whose rows need not stay is a
filter of that side. One on a side whose rows all stay makes its key NULL, which matches nothing, where it is not TRUE.
One on both sides is checked of the only row that may match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from tacit.plan.algebra.expressions import conjunction, reference
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import (
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    Literal,
    Mark,
    Project,
    Relation,
    Union,
)
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, fields, names
from tacit.plan.facts.multiplicity import most_equal
from tacit.plan.facts.uniqueness import is_unique
from tacit.sql.joins import Joined, pair_of, repeating, semi_join, with_keys
from tacit.sql.scope import fresh

Kept = OneOf["LEFT", "RIGHT", "FULL"]
TRUE, FALSE = Literal(True, Boolean()), Literal(False, Boolean())


@dataclass(frozen=True)
class _Side:
    """One side of a join. all: its rows all stay. unique: its keys never repeat. own: conditions on it alone."""

    relation: Relation
    keys: tuple[str, ...]
    all: bool
    unique: bool
    own: tuple[Expr, ...]


@dataclass(frozen=True)
class _On:
    """The conditions of ON: equalities of both sides, those on one side, and others."""

    pairs: list[tuple[Expr, Expr]]
    left: list[Expr]
    right: list[Expr]
    both: list[Expr]


def outer_join(left: Relation, right: Joined, conditions: list[Expr], kept: Kept, catalog: Catalog) -> Relation:
    """Two relations beside each other where all conditions hold, and the other rows of the sides that are kept."""
    what, position = f"a {kept} JOIN", right.position
    on = _split(conditions, left, right.relation, what, position)
    sides = _sides(on, left, right.relation, kept, catalog)
    mine, its = sides
    if kept == "FULL" and mine.unique and its.unique and not (on.left or on.right or on.both):
        return FullJoin(mine.relation, its.relation, mine.keys, its.keys, position)
    if on.both:
        return _checked(sides, on.both, what, position)
    if not (mine.unique or its.unique):
        return _several(mine, its, what, position, catalog)
    # A side of which each row of the other has one partner at most is the left one, best one that need not stay.
    first, second = (its, mine) if its.unique and (mine.all or not mine.unique) else (mine, its)
    return _join(_limited(first), _limited(second), position)


def semi_joined(left: Relation, right: Joined, conditions: list[Expr], catalog: Catalog) -> Relation:
    """The rows of left with a match."""
    on = _one_sided(_split(conditions, left, right.relation, "a SEMI JOIN", right.position), "a SEMI JOIN", right)
    choices, chosen = with_keys(_filtered(right.relation, on.right), [its for _, its in on.pairs], left)
    return semi_join(_filtered(left, on.left), [mine for mine, _ in on.pairs], choices, chosen, catalog)


def anti_joined(left: Relation, right: Joined, conditions: list[Expr], taken: set[str]) -> Relation:
    """The rows of left without a match."""
    on = _one_sided(_split(conditions, left, right.relation, "an ANTI JOIN", right.position), "an ANTI JOIN", right)
    choices, chosen = with_keys(_filtered(right.relation, on.right), [its for _, its in on.pairs], left)
    rows, keys = with_keys(left, [mine for mine, _ in on.pairs], choices)
    name = fresh("matched", right.alias, taken)
    taken.add(name.lower())
    marked = Mark(rows, choices, keys, chosen, name, right.position)
    found: Expr = ColumnRef(name, Boolean(), False)
    if on.left:
        found = Call("if", (conjunction(on.left), found, FALSE), Boolean(), False)
    return Filter(marked, Call("not", (found,), Boolean(), False))


def _split(conditions: list[Expr], left: Relation, right: Relation, what: str, position: Position | None) -> _On:
    on = _On([], [], [], [])
    for each in conditions:
        used = columns_of(each)
        if (pair := pair_of(each, left, right)) is not None:
            on.pairs.append(pair)
        elif used <= set(names(right)):
            on.right.append(each)
        elif used <= set(names(left)):
            on.left.append(each)
        elif used <= {*names(left), *names(right)}:
            on.both.append(each)
        else:
            raise UnsupportedSQL(f"{what} ON a column of a table before a comma", "write JOIN instead of it", position)
    if not on.pairs:
        instead = "write ON with an equality of a column of each side, and other conditions beside it"
        raise UnsupportedSQL(f"{what} without an equality", instead, position)
    return on


def _one_sided(on: _On, what: str, right: Joined) -> _On:
    if on.both:
        construct = f"{what} ON a condition on both sides that is no equality"
        raise UnsupportedSQL(construct, "write equalities, and conditions on one side", right.position)
    return on


def _sides(on: _On, left: Relation, right: Relation, kept: Kept, catalog: Catalog) -> tuple[_Side, _Side]:
    """Both sides with their keys. Conditions on a side that need not stay are its filter."""
    stays = (kept in ("LEFT", "FULL"), kept in ("RIGHT", "FULL"))
    left = left if stays[0] else _filtered(left, on.left)
    right = right if stays[1] else _filtered(right, on.right)
    left, left_keys = with_keys(left, [mine for mine, _ in on.pairs], right)
    right, right_keys = with_keys(right, [its for _, its in on.pairs], left)
    unique = is_unique(left, left_keys, catalog), is_unique(right, right_keys, catalog)
    return (
        _Side(left, left_keys, stays[0], unique[0], tuple(on.left) if stays[0] else ()),
        _Side(right, right_keys, stays[1], unique[1], tuple(on.right) if stays[1] else ()),
    )


def _filtered(relation: Relation, conditions: list[Expr]) -> Relation:
    return Filter(relation, conjunction(conditions)) if conditions else relation


def _join(left: _Side, right: _Side, position: Position | None) -> Join:
    """left: its keys are unique."""
    kept: dict[tuple[bool, bool], OneOf["left", "right", "both"]]
    kept = {(True, False): "left", (False, True): "right", (True, True): "both"}
    sides = (left.relation, right.relation, left.keys, right.keys)
    return Join(*sides, position, kept[left.all, right.all])


def _several(mine: _Side, its: _Side, what: str, position: Position | None, catalog: Catalog) -> Relation:
    """A join whose keys may repeat on both sides: of each row that stays all partners, whose number has a bound."""
    pairs = [(rows, other) for rows, other in ((mine, its), (its, mine)) if rows.all]
    bounds = [most_equal(other.relation, frozenset(other.keys), catalog) for _, other in pairs]
    known = [(repeats, place) for place, repeats in enumerate(bounds) if repeats is not None]
    if not known:
        raise repeating(what, tuple((other.relation, other.keys) for _, other in pairs), position)
    repeats, place = min(known)
    rows, other = map(_limited, pairs[place])
    found = Join(other.relation, rows.relation, other.keys, rows.keys, position, "right", repeats)
    return Union((found, _alone(other, rows, found, position))) if other.all else found


def _alone(side: _Side, other: _Side, joined: Relation, position: Position | None) -> Relation:
    """The rows of a side without a partner, beside NULLs, as the rows of a join."""
    name = fresh("matched", "join", {each.lower() for each in names(joined)})
    marked = Mark(side.relation, other.relation, side.keys, other.keys, name, position)
    rest = Filter(marked, Call("not", (ColumnRef(name, Boolean(), False),), Boolean(), False))
    own = set(names(side.relation))
    listed = [
        (each.name, column(rest, each.name) if each.name in own else Literal(None, each.type))
        for each in fields(joined)
    ]
    return Project(rest, tuple(listed))


def _limited(side: _Side) -> _Side:
    """A side whose key is NULL where its own conditions are not TRUE."""
    if not side.own:
        return side
    name = fresh("key", "on", {each.lower() for each in names(side.relation)})
    key = column(side.relation, side.keys[0])
    listed = [(each.name, reference(each)) for each in fields(side.relation)]
    value = Call("if", (conjunction(side.own), key, Literal(None, key.type)), key.type, True)
    relation = Project(side.relation, (*listed, (name, value)))
    return _Side(relation, (name, *side.keys[1:]), side.all, side.unique, ())


def _checked(sides: tuple[_Side, _Side], conditions: list[Expr], what: str, position: Position | None) -> Relation:
    """A join whose other conditions are checked of the one row that may match: beside others there is NULL."""
    optional, whole = sides if sides[1].all else (sides[1], sides[0])
    if optional.all or not optional.unique:
        construct = f"{what} ON a condition on both sides that is no equality"
        instead = "write equalities there, or make the key of the other side unique"
        raise UnsupportedSQL(construct, instead, position)
    there = fresh("there", "join", {each.lower() for side in sides for each in names(side.relation)})
    mine = [(each.name, reference(each)) for each in fields(optional.relation)]
    present = Project(optional.relation, (*mine, (there, TRUE)))
    joined = _join(_Side(present, optional.keys, optional.all, optional.unique, ()), _limited(whole), position)
    holds = conjunction([ColumnRef(there, Boolean(), True), *conditions])
    values = [
        (name, Call("if", (holds, column(joined, name), Literal(None, each.type)), each.type, True))
        for name, each in mine
    ]
    return Project(joined, (*values, *((each.name, reference(each)) for each in fields(whole.relation))))

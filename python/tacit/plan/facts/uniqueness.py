"""Which columns of a relation never repeat together, by declaration or by construction.

Declared unique columns stay unique through filters, projections that keep them, sorts and limits. The keys of a GROUP
BY or DISTINCT are unique. A join with unique left keys repeats no right row. Where keys repeat on both sides a row is
known by its parts. Of the columns that a join makes equal each may stand for the other. A row number is unique within
its partition. Columns that a condition sets equal to constants tell no rows apart: the row number 1 leaves each
partition unique.
"""

from __future__ import annotations

from itertools import islice, pairwise, product

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import is_rounding
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
from tacit.plan.algebra.types import Double, Field
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.constants import constant_columns
from tacit.plan.facts.fields import field_of, names

Keys = frozenset[frozenset[str]]
MOST_COMBINATIONS = 16  # of names for one unique set whose columns are kept several times


@once
def unique_keys(relation: Relation, catalog: Catalog) -> Keys:
    """Sets of columns whose values never repeat together. The empty set means at most one row."""
    found, constant = _known(relation, catalog), constant_columns(relation)
    return found | {keys - constant for keys in found}


def _known(relation: Relation, catalog: Catalog) -> Keys:
    match relation:
        case Scan(table, _, columns):
            declared = next(each.unique for each in catalog.tables if each.name == table)
            return _renamed(frozenset(declared), [(source, name) for name, source in columns])
        case KeptScan(table, columns):
            known = next(each.unique for each in catalog.kept if each.name == table)
            return _renamed(frozenset(known), [(source, name) for name, source in columns])
        case Constants(rows, columns):
            values = zip(columns, zip(*rows, strict=True), strict=True)
            return frozenset(frozenset({each.name}) for each, found in values if _differ(found))
        case Project(input, outputs):
            kept = [(source, name) for name, e in outputs if (source := reversible(e)) is not None]
            return _renamed(unique_keys(input, catalog), kept)
        case Filter() | Sort() | Limit() | Broadcast() | Mark() | Slice():
            return unique_keys(relation.input, catalog)
        case Window(input, partition, _, outputs):
            numbers = (each.name for each in outputs if each.function == "row_number")
            return unique_keys(input, catalog) | {frozenset({*partition, number}) for number in numbers}
        case Aggregate(input, keys, _):
            return _of_groups(unique_keys(input, catalog), keys)
        case Join() if relation.kept != "none":
            return _of_kept(relation, catalog)
        case Pairs(left, right):
            return _of_pairs(unique_keys(left, catalog), unique_keys(right, catalog))
        case Join(left, right, left_keys, right_keys) | Match(left, right, left_keys, right_keys):
            mine, its = unique_keys(left, catalog), unique_keys(right, catalog)
            found = _of_pairs(mine, its) if isinstance(relation, Join) and relation.repeats > 1 else its
            if covers(its, right_keys):
                found |= mine
            return _with_equals(found, list(zip(left_keys, right_keys, strict=True)))
        case Union(inputs):
            return _of_parts(inputs, catalog)
        case FullJoin() | Opened():
            return frozenset()


def _differ(values: tuple[Expr, ...]) -> bool:
    """Whether they are plain constants of which no two are equal."""
    plain = {each.value for each in values if isinstance(each, Literal)}
    return len(plain) == len(values)


def _of_kept(join: Join, catalog: Catalog) -> Keys:
    """Of a join that keeps one side: that side's, where each of its rows has one partner at most. NULLs may repeat."""
    right = unique_keys(join.right, catalog)
    match join.kept:
        case "right" if join.repeats > 1:
            return frozenset()
        case "right":
            return right
        case "left" if covers(right, join.right_keys):
            return unique_keys(join.left, catalog)
        case _:
            return frozenset()


def _of_pairs(mine: Keys, its: Keys) -> Keys:
    """Sets that tell pairs of rows apart, in an order that is the same at all parties."""
    sides = product(*(sorted(each, key=sorted) for each in (mine, its)))
    return frozenset(a | b for a, b in islice(sides, MOST_COMBINATIONS))


def covers(found: Keys, columns: tuple[str, ...]) -> bool:
    """Whether the columns together are unique: they contain a unique set."""
    return any(keys <= frozenset(columns) for keys in found)


def is_unique(relation: Relation, columns: tuple[str, ...], catalog: Catalog) -> bool:
    """Whether the values of the columns never repeat together."""
    return covers(unique_keys(relation, catalog), columns)


def _of_groups(found: Keys, keys: tuple[str, ...]) -> Keys:
    return frozenset({frozenset(keys)}) | frozenset(each for each in found if each <= frozenset(keys))


def _of_parts(inputs: tuple[Relation, ...], catalog: Catalog) -> Keys:
    """Sets that are unique in all inputs, with a column whose bounds are apart."""
    common = frozenset.intersection(*(unique_keys(each, catalog) for each in inputs))
    apart = frozenset(name for name in names(inputs[0]) if _apart([field_of(each, name) for each in inputs]))
    return frozenset(keys for keys in common if keys & apart)


def _apart(columns: list[Field]) -> bool:
    """Whether no two columns can have a value in common. NULL would be one."""
    ranges = [bounds.encoded_range(each.type) for each in columns]
    known = sorted(each for each in ranges if each is not None)
    if len(known) < len(columns) or any(each.nullable for each in columns):
        return False
    return all(lower[1] < upper[0] for lower, upper in pairwise(known))


def reversible(expr: Expr) -> str | None:
    """The column that an expression only writes in another way, so that different values stay different."""
    match expr:
        case ColumnRef(name):
            return name
        case Call("cast" | "rescale" | "neg", (inner,), type_) if not (isinstance(type_, Double) or is_rounding(expr)):
            return reversible(inner)
        case Call("add" | "sub", (inner, Literal(int()))) | Call("add" | "sub", (Literal(int()), inner)):
            return reversible(inner)
        case _:
            return None


def _with_equals(found: Keys, equal: list[tuple[str, str]]) -> Keys:
    """The sets, and those with some columns exchanged for their equals."""
    same = sorted({(name, name) for keys in found for name in keys})
    return _renamed(found, [*same, *equal, *((right, left) for left, right in equal)])


def _renamed(found: Keys, kept: list[tuple[str, str]]) -> Keys:
    """The sets whose columns are all kept, under each combination of their new names."""
    new: dict[str, list[str]] = {}
    for old, name in kept:
        new.setdefault(old, []).append(name)
    return frozenset(
        frozenset(names)
        for keys in found
        if keys <= new.keys()
        for names in islice(product(*(new[name] for name in sorted(keys))), MOST_COMBINATIONS)
    )

"""Which columns of a relation are functions of others: rows that agree in those agree in these, too.

A unique set determines all columns; unique left keys of a join determine the columns of left. A condition or a join
that sets columns equal makes each determine the other. A column that is computed follows from what it is computed of.
NULL counts as a value. In an outer join a side's columns are NULL beside rows without a match. A dependency still holds
there if it starts from a column that is not NULL otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product

from tacit.plan.algebra.bounds import domain_size
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
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    SortKey,
    Union,
    Window,
    WindowOutput,
)
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.constants import constant_columns
from tacit.plan.facts.fields import columns_of, field_of, names
from tacit.plan.facts.uniqueness import MOST_COMBINATIONS, reversible, unique_keys

Names = frozenset[str]
Dependencies = frozenset[tuple[Names, Names]]
"""Each: columns, and those that they determine."""


def determined(relation: Relation, columns: Iterable[str], catalog: Catalog) -> Names:
    """All columns of a relation that follow from some, these included."""
    return _closed(dependencies(relation, catalog), columns)


def determining(relation: Relation, columns: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """As few of the columns as determine all of them, in their order; of several choices the narrow ones are kept."""
    kept = tuple(dict.fromkeys(columns))
    for each in sorted(kept, key=lambda name: (-_width(relation, name), -columns.index(name))):
        rest = tuple(name for name in kept if name != each)
        if each in determined(relation, rest, catalog):
            kept = rest
    return kept


def _width(relation: Relation, name: str) -> int:
    """How wide a column is as a key: a string without a dictionary is wider than any number."""
    found = field_of(relation, name)
    size = domain_size(found.type, found.nullable)
    return 1 << 16 if size is None else size.bit_length()


@once
def dependencies(relation: Relation, catalog: Catalog) -> Dependencies:
    """What determines what in a relation; ``determined`` draws the conclusions."""
    whole = Names(names(relation))
    unique = Dependencies((keys, whole) for keys in unique_keys(relation, catalog))
    constant = constant_columns(relation)
    return unique | ({(Names(), constant)} if constant else set()) | _inherited(relation, catalog)


def _inherited(relation: Relation, catalog: Catalog) -> Dependencies:
    match relation:
        case Filter(input, predicate):
            return dependencies(input, catalog) | _set_equal(predicate)
        case Project(input, outputs):
            return _projected(dependencies(input, catalog), outputs)
        case Window(input, partition, order, outputs):
            return dependencies(input, catalog) | _ranked(partition, order, outputs)
        case Sort(input) | Limit(input) | Slice(input):
            return dependencies(input, catalog)
        case Mark(input, _, keys, _, name):
            return dependencies(input, catalog) | {(Names(keys), Names({name}))}
        case Aggregate(input, keys):
            return _among(dependencies(input, catalog), Names(keys))
        case Join():
            return _of_join(relation, catalog)
        case Match(left, right, left_keys, right_keys):
            both = dependencies(left, catalog) | dependencies(right, catalog)
            return both | _equal(left_keys, right_keys) | {(Names(right_keys), Names(names(left)))}
        case Pairs(left, right):
            return dependencies(left, catalog) | dependencies(right, catalog)
        case Broadcast(input, scalar):
            return dependencies(input, catalog) | {(Names(), Names(names(scalar)))}
        case Scan() | KeptScan() | Constants() | Opened() | Union() | FullJoin():
            return Dependencies()


def _of_join(join: Join, catalog: Catalog) -> Dependencies:
    """Of equal right keys all rows have the same left row, or all have none, unless left keys repeat, or left rows
    without a match stay."""
    left, right = (dependencies(each, catalog) for each in (join.left, join.right))
    if join.keeps_right:
        left = _where_present(left, join.left)
    if join.keeps_left:
        return left | _where_present(right, join.right)
    equal = Dependencies() if join.keeps_right else _equal(join.left_keys, join.right_keys)
    found = {(Names(join.right_keys), Names(names(join.left)))} if join.repeats == 1 else set()
    return left | right | equal | found


def _ranked(partition: tuple[str, ...], order: tuple[SortKey, ...], outputs: tuple[WindowOutput, ...]) -> Dependencies:
    """A rank determines what rows are ordered by within their partition, and that determines it."""
    by, within = Names(key.column for key in order), Names(partition)
    ranks = [each.name for each in outputs if each.function in ("rank", "dense_rank", "owner_rank")]
    return Dependencies(each for rank in ranks for each in ((within | {rank}, by), (within | by, Names({rank}))))


def _where_present(found: Dependencies, side: Relation) -> Dependencies:
    """Those that also hold with rows where all columns of the side are NULL."""
    return Dependencies(each for each in found if any(not field_of(side, name).nullable for name in each[0]))


def _equal(some: Iterable[str], others: Iterable[str]) -> Dependencies:
    pairs = [(Names({a}), Names({b})) for a, b in zip(some, others, strict=True)]
    return Dependencies(pairs) | Dependencies((b, a) for a, b in pairs)


def _set_equal(predicate: Expr) -> Dependencies:
    """What a condition says of columns: those that it sets equal are, in the rows that it leaves."""
    found = Dependencies()
    for each in conjuncts(predicate):
        if isinstance(each, Call) and each.op == "eq":
            sides = [reversible(arg) for arg in each.args]
            if all(isinstance(arg, ColumnRef | Call) for arg in each.args) and None not in sides:
                found |= _equal(*([side] for side in sides if side is not None))
    return found


def _projected(found: Dependencies, outputs: Sequence[tuple[str, Expr]]) -> Dependencies:
    """Those of a projection's outputs: what starts from columns that it keeps, and what it computes of such."""
    kept: dict[str, list[str]] = {}
    for name, each in outputs:
        if (source := reversible(each)) is not None:
            kept.setdefault(source, []).append(name)
    starts = {start for start, _ in found} | {columns_of(each) for _, each in outputs}
    return Dependencies(
        (Names(renamed), Names(name for name, each in outputs if columns_of(each) <= reached))
        for start in starts
        if start <= kept.keys()
        for reached in [_closed(found, start)]
        for renamed in islice(product(*(kept[name] for name in sorted(start))), MOST_COMBINATIONS)
    )


def _among(found: Dependencies, columns: Names) -> Dependencies:
    """Those among some of the columns."""
    return Dependencies((start, _closed(found, start) & columns) for start, _ in found if start <= columns)


def _closed(found: Dependencies, columns: Iterable[str]) -> Names:
    reached, before = Names(columns), None
    while reached != before:
        before = reached
        reached = reached.union(*(end for start, end in found if start <= reached))
    return reached

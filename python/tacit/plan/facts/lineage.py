"""Lineage: from which sources a relation's columns and rows derive, and through which operators.

Two things are kept apart. The *values* of a column are computed from some sources, row by row. The *presence* of rows
depends on others: which rows there are, how often, in which order, and which rows an aggregate is over. Conditions,
keys of joins and groups, sort keys and the tables' own rows are presence. A column of which a source is in neither
stays the same, whatever that source holds.

The lineage is that of a tree. A rule may change operators on the way, such as a COUNT into a sum of partial counts; it
adds no source that the bound query does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
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
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.fields import columns_of, names, row_bound
from tacit.plan.facts.sources import Source, Use, Uses, few, passed
from tacit.plan.facts.uniqueness import is_unique

Columns = Mapping[str, Uses]


@dataclass(frozen=True)
class Lineage:
    """values: what each column is computed from. presence: what decides which rows there are, and in which order."""

    values: Columns
    presence: Uses


@once
def lineage(relation: Relation, catalog: Catalog) -> Lineage:
    """The lineage of a relation that is computed from tables."""
    found = _of(relation, catalog)
    return Lineage({name: few(uses) for name, uses in found.values.items()}, few(found.presence))


def _of(relation: Relation, catalog: Catalog) -> Lineage:
    """The lineage of an operator, from those of its inputs."""
    match relation:
        case Scan(table, owner, columns):
            values = {name: _from(Source(owner, table, source)) for name, source in columns}
            return Lineage(values, _from(Source(owner, table, None)))
        case KeptScan():
            return _kept(relation, next(each for each in catalog.kept if each.name == relation.table))
        case Constants(_, columns):
            return Lineage({each.name: frozenset() for each in columns}, frozenset())
        case Opened():
            raise AssertionError("what a tail reads derives as what was opened does: see grafted")
        case Filter(input, predicate):
            below = lineage(input, catalog)
            return Lineage(below.values, below.presence | passed(_expr(predicate, below.values), "filter"))
        case Slice(input):
            # Slices of a relation are computed apart and put together again: which row is where decides nothing.
            return lineage(input, catalog)
        case Project(input, outputs):
            below = lineage(input, catalog)
            return Lineage({name: _expr(each, below.values) for name, each in outputs}, below.presence)
        case Union(inputs):
            parts = [lineage(each, catalog) for each in inputs]
            values = {name: _all(part.values[name] for part in parts) for name in names(relation)}
            return Lineage(values, _all(part.presence for part in parts))
        case Join() if relation.kept != "none":
            return _outer_join(relation, lineage(relation.left, catalog), lineage(relation.right, catalog))
        case Mark():
            return _mark(relation, lineage(relation.input, catalog), lineage(relation.choices, catalog))
        case Pairs(left, right):
            sides = lineage(left, catalog), lineage(right, catalog)
            return Lineage({**sides[0].values, **sides[1].values}, sides[0].presence | sides[1].presence)
        case Join(left, right, left_keys, right_keys) | Match(left, right, left_keys, right_keys):
            return _join(lineage(left, catalog), lineage(right, catalog), left_keys, right_keys)
        case FullJoin(left, right, left_keys, right_keys):
            return _full_join(lineage(left, catalog), lineage(right, catalog), left_keys, right_keys)
        case Broadcast(input, scalar):
            return _broadcast(lineage(input, catalog), lineage(scalar, catalog))
        case Aggregate(input, _, _):
            return _aggregate(relation, lineage(input, catalog), catalog)
        case Window(input):
            return _window(relation, lineage(input, catalog))
        case Sort(input, keys):
            below = lineage(input, catalog)
            order = _all(below.values[key.column] for key in keys)
            return Lineage(below.values, below.presence | passed(order, "sort"))
        case Limit(input, _, _):
            below = lineage(input, catalog)
            return Lineage(below.values, passed(below.presence, "limit"))


@once
def arranging(relation: Relation, catalog: Catalog) -> Uses:
    """What the order of rows may tell of besides columns and presence: windows and marks sort rows, also where no
    column has their values.
    """
    found = [arranging(each, catalog) for each in children(relation)]
    match relation:
        case Window(input) | Mark(input):
            values = lineage(relation, catalog).values
            found += [uses for name, uses in values.items() if name not in names(input)]
        case _:
            pass
    return few(_all(found))


def grafted(tail: Relation, core: Relation) -> Relation:
    """A tail over what it reads, as one tree. core: what is opened."""
    return core if isinstance(tail, Opened) else over_children(tail, lambda each: grafted(each, core))


def _kept(relation: KeptScan, table: KeptTable) -> Lineage:
    """What the table's files say. Where they do not, it is a source itself; that it has its one row says nothing."""
    if table.presence is None:
        values = {name: _from(Source(None, relation.table, source)) for name, source in relation.columns}
        return Lineage(values, frozenset() if relation.single else _from(Source(None, relation.table, None)))
    uses = {each.field.name: frozenset(each.uses or ()) for each in table.columns}
    return Lineage({name: uses[source] for name, source in relation.columns}, frozenset(table.presence))


def _join(left: Lineage, right: Lineage, left_keys: tuple[str, ...], right_keys: tuple[str, ...]) -> Lineage:
    """Both sides' keys decide which rows of either are there, and so does whatever decides that on its own side."""
    keys = _all(left.values[key] for key in left_keys) | _all(right.values[key] for key in right_keys)
    return Lineage({**left.values, **right.values}, left.presence | right.presence | passed(keys, "join"))


def _full_join(left: Lineage, right: Lineage, left_keys: tuple[str, ...], right_keys: tuple[str, ...]) -> Lineage:
    """As of a join. A column is NULL beside a row that matches nothing, so that its values tell which match."""
    joined = _join(left, right, left_keys, right_keys)
    missing = passed(joined.presence, "rows")
    return Lineage({name: uses | missing for name, uses in joined.values.items()}, joined.presence)


def _outer_join(join: Join, left: Lineage, right: Lineage) -> Lineage:
    """As of a join. Columns beside rows that are kept without a match tell by NULL which match."""
    joined = _join(left, right, join.left_keys, join.right_keys)
    missing = passed(joined.presence, "rows")
    sides = [(left, join.keeps_right), (right, join.keeps_left)]
    optional = {name for side, absent in sides if absent for name in side.values}
    return Lineage(
        {name: uses | missing if name in optional else uses for name, uses in joined.values.items()}, joined.presence
    )


def _mark(mark: Mark, input: Lineage, choices: Lineage) -> Lineage:
    """Its rows are those of input. What it says of each derives from the keys of both, and from the rows of choices."""
    keys = _all(input.values[key] for key in mark.input_keys) | _all(choices.values[key] for key in mark.choice_keys)
    found = passed(keys, "join") | passed(choices.presence, "rows")
    return Lineage({**input.values, mark.name: found}, input.presence)


def _broadcast(input: Lineage, scalar: Lineage) -> Lineage:
    """The scalar is one row whatever the data, so that what decided its rows is in its value alone."""
    beside = {name: uses | passed(scalar.presence, "rows") for name, uses in scalar.values.items()}
    return Lineage({**input.values, **beside}, input.presence)


def _aggregate(relation: Aggregate, below: Lineage, catalog: Catalog) -> Lineage:
    keys = {key: passed(below.values[key], "group") for key in relation.keys}
    single = _of_single_rows(relation, catalog)
    values = {
        each.name: passed(_aggregated(each, below), "single" if single else each.function)
        for each in relation.aggregations
    }
    rows = passed(below.presence, "group" if relation.keys else "aggregate")
    return Lineage({**keys, **values}, rows | _all(keys.values()))


def _window(relation: Window, below: Lineage) -> Lineage:
    """A value is of another row, or computed over some; which ones, partition and order decide, and who is there."""
    by = [*relation.partition, *(key.column for key in relation.order)]
    which = passed(_all(below.values[name] for name in by), "over") | passed(below.presence, "rows")
    values = {
        # Of a rank that an owner computes nobody is shown more than which are equal, and in which order they are.
        each.name: below.values[each.column]
        if each.function == "owner_rank" and each.column is not None
        else which
        | passed(_all(below.values[name] for name in (each.column, each.default) if name is not None), "window")
        for each in relation.outputs
    }
    return Lineage({**below.values, **values}, below.presence)


def _aggregated(each: Aggregation, below: Lineage) -> Iterable[Use]:
    """What an aggregate is over: a column, or, where it counts rows, what decides whose rows of tables there are."""
    if each.column is not None:
        return below.values[each.column]
    return [use for use in below.presence if use.source.column is None]


def _of_single_rows(relation: Aggregate, catalog: Catalog) -> bool:
    """Whether each result is of one row at most, as far as declarations and the query say: a sum of one row is it."""
    return row_bound(relation.input) == 1 or is_unique(relation.input, relation.keys, catalog)


def _expr(expr: Expr, columns: Columns) -> Uses:
    """What an expression is computed from."""
    match expr:
        case ColumnRef(name):
            return columns[name]
        case Literal():
            return frozenset()
        case Call("if", (condition, then, otherwise)):
            branches = _expr(then, columns) | _expr(otherwise, columns)
            return passed(_expr(condition, columns), "condition") | passed(branches, "if")
        case Call("mul" | "div", (value, constant)) if not columns_of(constant):
            return passed(_expr(value, columns), "scale")
        case Call("mul", (constant, value)) if not columns_of(constant):
            return passed(_expr(value, columns), "scale")
        case Call(op, args):
            return passed(_all(_expr(each, columns) for each in args), op)


def _from(source: Source) -> Uses:
    return frozenset({Use(source)})


def _all(sets: Iterable[Uses]) -> Uses:
    return frozenset[Use]().union(*sets)

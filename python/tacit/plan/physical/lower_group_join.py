"""Lowering of an aggregation over a join that one step computes: rows of the join's left side with sums of the right.

The groups are rows of the left side: their keys are columns of it that never repeat together. All that is added up is
of the right side. So one sort by the join's keys finds the groups, too, and no column of left moves.

Where a third relation only matches rows of the left side, as that of IN (SELECT ...) does, these are joined first.

The step has as many rows as the left side. Where a group_by would have fewer, a join and a group_by do it. So they do
between two nodes where owners can sort both sides, whose rows are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import reference, subexpressions
from tacit.plan.algebra.relations import Aggregate, Aggregation, ColumnRef, Expr, Filter, Join, Project, Relation
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import aggregation_field, field_of, fields, most_rows, names
from tacit.plan.facts.groups import most_groups
from tacit.plan.facts.uniqueness import unique_keys
from tacit.plan.physical import operators as ops
from tacit.plan.physical.demands import Demands, Want, merge
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.lower_aggregate import ProjectedColumns, grouped
from tacit.plan.physical.lower_join import carried, equality, physical_names
from tacit.plan.physical.secure_expressions import Columns
from tacit.plan.physical.tables import SharedTable, physical_of
from tacit.plan.rules.push_down import is_local


@dataclass(frozen=True)
class GroupedJoin:
    """own: the query's join that this one does. keys: of the groups, each with its column of the join's left side.
    summed: the aggregates, over the right side with the columns that they add up.
    """

    own: Join
    join: Join
    keys: Mapping[str, str]
    summed: Aggregate


def grouped_join(relation: Aggregate, demands: Demands, catalog: Catalog) -> GroupedJoin | None:
    """What one step computes of an aggregation; None where a join and then a group_by do it."""
    source = relation.input
    join = source.input if isinstance(source, Project) else source
    if not isinstance(join, Join) or join.keeps_right or is_local(join, catalog) or not relation.keys:
        return None
    if join.repeats > 1:
        return None
    if demands.readers(source) > 1 or demands.readers(join) > 1:
        return None
    found = _grouped(relation, join, demands, catalog)
    inner = join.right
    if found is not None or not isinstance(inner, Join) or demands.readers(inner) > 1 or is_local(inner, catalog):
        return found
    turned = _turned(join, inner)
    found = None if turned is None else _grouped(relation, turned, demands, catalog)
    return None if found is None else replace(found, own=inner)


def _turned(join: Join, inner: Join) -> Join | None:
    """The same rows, where what only matches left rows of a join beneath is joined to these first."""
    if join.kept != "none" or inner.kept != "none" or inner.repeats > 1:
        return None
    if not set(join.right_keys) <= set(names(inner.left)):
        return None
    return replace(inner, left=replace(join, right=inner.left))


def _grouped(relation: Aggregate, join: Join, demands: Demands, catalog: Catalog) -> GroupedJoin | None:
    source = relation.input
    outputs = dict(source.outputs) if isinstance(source, Project) else {e.name: reference(e) for e in fields(source)}
    keys = {key: _of_left(join, outputs[key]) for key in relation.keys}
    columns = {key: column for key, column in keys.items() if column is not None}
    if len(columns) < len(keys) or not _is_row(join, frozenset(columns.values()), catalog):
        return None
    summed = _summed(relation, join, outputs)
    if summed is None or not _is_better(relation, join, catalog):
        return None
    if any(demands.readers(each) > 1 for each in _twice(join.right, summed.input, catalog)):
        return None
    return GroupedJoin(join, join, columns, summed)


def left_demand(whole: Aggregate, found: GroupedJoin, demands: Demands) -> Want:
    """What the step needs of the left side."""
    want = demands.found[whole]
    shown = ({column: want[key]} for key, column in found.keys.items() if key in want)
    return merge(demands.equal(found.join.left, found.join.left_keys), *shown)


def summed_demand(found: GroupedJoin, demands: Demands) -> Want:
    """What the step needs of the right side."""
    arguments = (demands.argument(each, found.summed) for each in found.summed.aggregations)
    return merge(demands.equal(found.summed.input, found.join.right_keys), *arguments)


def place_group_join(
    whole: Aggregate, found: GroupedJoin, left: SharedTable, right: SharedTable, demands: Demands, emit: Emitter
) -> SharedTable:
    """The step. whole: the query's own relation of it."""
    join, summed = found.join, found.summed
    left_keys, right_keys = (
        equality(side, keys, emit.hashed)
        for side, keys in ((join.left, join.left_keys), (summed.input, join.right_keys))
    )
    arguments = [(each.column, demands.argument_rep(each, summed)) for each in summed.aggregations if each.column]
    left = emit.prepared(left, join.left, left_keys)
    right = emit.prepared(right, summed.input, [*right_keys, *arguments])
    aggregated = grouped(summed, right, demands, {})
    want = demands.found[whole]
    shown = {key: column for key, column in found.keys.items() if key in want}
    kept: Columns = carried(left, merge(*({column: want[key]} for key, column in shown.items())))
    left, kept = emit.apart(left, join.left, kept, set(physical_of(aggregated.columns)))
    operator = ops.GroupJoin(
        emit.next,
        left.step,
        right.step,
        left_keys=physical_names(left, left_keys),
        right_keys=physical_names(right, right_keys),
        left_columns=tuple(physical_of(kept)),
        aggregates=aggregated.aggregates,
        kept=join.keeps_left,
    )
    columns = {**{key: kept[column] for key, column in shown.items()}, **aggregated.columns}
    return emit.secure(whole, operator, left.rows, columns)


def _of_left(join: Join, expr: Expr) -> str | None:
    """The column of left that an expression equals in every row of the join."""
    if not isinstance(expr, ColumnRef):
        return None
    if expr.name in names(join.left):
        return expr.name
    equal = dict(zip(join.right_keys, join.left_keys, strict=True)).get(expr.name)
    if equal is None or join.keeps_left:
        return None
    types = field_of(join.left, equal).type, field_of(join.right, expr.name).type
    return equal if types[0] == types[1] or all(isinstance(each, Integer) for each in types) else None


def _is_row(join: Join, columns: frozenset[str], catalog: Catalog) -> bool:
    """Whether no two rows of left that stay agree in the columns. NULLs may repeat; in join keys they match nothing."""
    present = {name for name in columns if not field_of(join.left, name).nullable}
    present |= columns & set(join.left_keys if not join.keeps_left else ())
    return any(keys <= present for keys in unique_keys(join.left, catalog))


def _summed(relation: Aggregate, join: Join, outputs: Mapping[str, Expr]) -> Aggregate | None:
    """The aggregates over the right side alone; None if one is more than a sum or count of it."""
    mine = set(names(join.right))
    listed, plain = ProjectedColumns(), list[Aggregation]()
    for key in join.right_keys:
        listed.name(reference(field_of(join.right, key)), key)
    for each in relation.aggregations:
        argument = None if each.column is None else outputs[each.column]
        if each.function not in ("sum", "count", "count_rows") or not _is_of(argument, mine):
            return None
        # Without a right row, an expression may have a value, and the row itself counts.
        if join.keeps_left and not isinstance(argument, ColumnRef):
            return None
        column = None if argument is None else listed.name(argument, f"{each.name} value")
        plain.append(replace(each, column=column, known=aggregation_field(each, relation.input, True)))
    right = join.right
    if not all(isinstance(expr, ColumnRef) for expr in listed.names):
        right = Project(right, tuple((name, expr) for expr, name in listed.names.items()))
    return Aggregate(right, (), tuple(plain))


def _is_of(expr: Expr | None, columns: set[str]) -> bool:
    """Whether an expression takes no others than these columns."""
    parts = () if expr is None else subexpressions(expr)
    return all(each.name in columns for each in parts if isinstance(each, ColumnRef))


def _twice(right: Relation, projected: Relation, catalog: Catalog) -> tuple[Relation, ...]:
    """What an owner would share once more if another step read it, too."""
    return (right,) if projected is not right and is_local(right, catalog) else ()


def _is_better(relation: Aggregate, join: Join, catalog: Catalog) -> bool:
    """Whether it gives no more rows than a group_by would, and takes the place of no merge."""
    groups = most_groups(relation)
    rows, most = most_rows(join.left), most_rows(join)
    if rows > (most if groups is None else min(groups, most)):
        return False
    return catalog.engine != "two" or not (_is_sortable(join.left, catalog) and _is_sortable(join.right, catalog))


def _is_sortable(relation: Relation, catalog: Catalog) -> bool:
    """Whether an owner can sort the rows that a relation has in their order."""
    match relation:
        case Filter(input) | Project(input) if not is_local(relation, catalog):
            return _is_sortable(input, catalog)
        case _:
            return is_local(relation, catalog)

"""Sums of a join's rows are added up for each row of its unique side first, where there are fewer of these.

The groups then add up such sums. One step does the join and the first addition (tacit.plan.physical.lower_group_join):
no column of the unique side moves, and what is grouped after that are as few rows as its own. Between two nodes, and
for few rows, a merge of what owners sort is better.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.expressions import reference, subexpressions
from tacit.plan.algebra.relations import Aggregate, ColumnRef, Expr, Join, Project
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names, row_bound
from tacit.plan.facts.uniqueness import unique_keys
from tacit.plan.rules.split import final

FEWEST = 1 << 12
"""Rows of the side whose columns are added up, from which it pays."""


def early_sums(relation: Aggregate, catalog: Catalog) -> Aggregate | None:
    """The aggregation over one for each row of the join's left side; None where that is of no use.

    Of groups that are rows of the left side one step does it all.
    """
    source = relation.input
    join = source.input if isinstance(source, Project) else source
    if catalog.engine == "two" or not isinstance(join, Join) or join.kept != "none" or not _has_fewer_rows(join):
        return None
    listed = source.outputs if isinstance(source, Project) else tuple((e.name, reference(e)) for e in fields(source))
    outputs, row = dict(listed), _row(join, catalog)
    if row is None or not _is_of_sides(relation, join, outputs):
        return None
    taken, added = set(outputs), list[tuple[str, Expr]]()
    for name in sorted(row):
        added.append((_unused(name, taken), reference(field_of(join, name))))
    keys = (*relation.keys, *(name for name, _ in added))
    parts = Aggregate(Project(join, (*listed, *added)), keys, relation.aggregations)
    return replace(relation, input=parts, aggregations=tuple(final(each, relation) for each in relation.aggregations))


def _row(join: Join, catalog: Catalog) -> frozenset[str] | None:
    """Columns that tell the rows of left apart which have a match: NULL in them matches nothing, or is in no row."""
    present = {each.name for each in fields(join.left) if not each.nullable} | set(join.left_keys)
    found = [keys for keys in unique_keys(join.left, catalog) if keys and keys <= present]
    return min(found, key=lambda keys: (len(keys), sorted(keys)), default=None)


def _is_of_sides(relation: Aggregate, join: Join, outputs: dict[str, Expr]) -> bool:
    """Whether the groups are by columns of left, and all that is added up is of right."""
    left, right = set(names(join.left)), set(names(join.right))
    keys = [outputs[key] for key in relation.keys]
    return all(isinstance(each, ColumnRef) and each.name in left for each in keys) and all(
        each.function in ("sum", "count", "count_rows") and (each.column is None or _is_of(outputs[each.column], right))
        for each in relation.aggregations
    )


def _is_of(expr: Expr, columns: set[str]) -> bool:
    return all(each.name in columns for each in subexpressions(expr) if isinstance(each, ColumnRef))


def _has_fewer_rows(join: Join) -> bool:
    left, right = row_bound(join.left), row_bound(join.right)
    return left is not None and right is not None and left <= right and right >= FEWEST


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name

"""Windows: a row's value is made of other rows, so that what matters is whose rows these are.

Above a guard, and of rows that recipients may see, a window computes what recipients could. Of single rows it is
allowed where each partition has rows of one unit. Then its values are of that unit, as those of a GROUP BY unit are,
and a guard above counts whom they tell of. They are used in conditions and counted. Nothing adds them up: a number of a
row tells how many rows a unit has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.plan.algebra.functions import fits
from tacit.plan.algebra.relations import Window, WindowOutput
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, field_of
from tacit.plan.facts.terms import Function
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.aggregated import matched_by_union
from tacit.plan.policy.chosen import atoms_of
from tacit.plan.policy.determined import determines
from tacit.plan.policy.expressions import Expressions, turned
from tacit.plan.policy.outer import bound
from tacit.plan.policy.state import NOTHING, Derived, Instance, Item, Items, State, selected, union

AGGREGATES: Final[dict[str, Function]] = {"sum": "sum", "count": "count", "min": "min", "max": "max"}
ANY_ORDER: Final = ("row_number", "ntile", "lag", "lead", "first_value", "last_value")
"""Functions whose value depends on which of equal rows comes first."""


def windowed(relation: Window, below: State, catalog: Catalog, recipients: tuple[str, ...]) -> State:
    """The state of a window."""
    single = bound(below.one, recipients)
    whole = below.over(replace(relation, input=below.relation))
    if not single:
        made_of = union([_counts(below.one | below.many), below.rows, *(each.items for each in below.columns.values())])
        optional = frozenset[str]().union(*(each.optional for each in below.columns.values()))
        return _with(whole, relation, Derived(made_of, linear=False, optional=optional))
    problems = union(_problems(relation, each, single, below, catalog) for each in relation.outputs)
    values = {each.name: _of_one_unit(each, relation, single, below, recipients) for each in relation.outputs}
    columns = {**below.columns, **values}
    return replace(whole, columns=columns, rows=union([whole.rows, problems, selected(below)]))


def _with(state: State, relation: Window, value: Derived) -> State:
    return replace(state, columns={**state.columns, **{each.name: value for each in relation.outputs}})


def _counts(instances: frozenset[Instance]) -> Items:
    return frozenset(Item(each, None, "count") for each in instances)


def _problems(
    relation: Window, output: WindowOutput, single: frozenset[Instance], below: State, catalog: Catalog
) -> Items:
    """The instances of whose units a window tells in a way that no guard above counts, each with the reason."""
    atoms = frozenset().union(*(below.columns[key].atoms for key in relation.partition))
    strangers = (below.one | below.many) - single
    read = [name for name in (output.column, output.default) if name is not None]
    if strangers or any(below.columns[name].conditions for name in read):
        return _refused(single, output, "beside")
    if mixed := [each for each in single if not determines(atoms, each, below)]:
        return _refused(frozenset(mixed), output, "rows")
    if any(below.columns[key].mixed for key in relation.partition):
        return matched_by_union(single)
    if _may_differ(relation, output, below, catalog):
        return _refused(single, output, "order")
    too_large = output.function == "sum" and not fits(
        field_of(replace(relation, input=below.relation), output.name).type
    )
    return frozenset(
        Item(each, None, "floor", detail="overflow", position=output.position) for each in single if too_large
    )


def _refused(instances: frozenset[Instance], output: WindowOutput, reason: str) -> Items:
    detail = f"{reason} {output.function.upper()}"
    return frozenset(Item(each, None, "window", detail=detail, position=output.position) for each in instances)


def _may_differ(relation: Window, output: WindowOutput, below: State, catalog: Catalog) -> bool:
    """Whether rows that are equal in partition and order make several answers right: two of them would be compared."""
    keys = (*relation.partition, *(each.column for each in relation.order))
    by_rows = output.function in ANY_ORDER or output.frame.unit == "rows"
    return by_rows and not is_unique(below.relation, keys, catalog)


def _of_one_unit(
    output: WindowOutput, relation: Window, single: frozenset[Instance], below: State, recipients: tuple[str, ...]
) -> Derived:
    """What a value derives from that is made of rows of one unit: keys of its rows, conditions by order, arguments."""
    expressions = Expressions(below, recipients)
    named = (*relation.partition, *(each.column for each in relation.order), output.column, output.default)
    parts = [below.columns[each] for each in named if each is not None]
    told = atoms_of(union(each.items for each in parts))
    keys = union(below.columns[key].items for key in relation.partition)
    order = union(expressions.condition(column(below.relation, each.column)) for each in relation.order)
    return Derived(
        union(
            [
                _counts(single),
                turned(keys, below.one, ("value", "aggregate"), "distinct"),
                order,
                _argument(output, below),
            ]
        ),
        linear=False,
        moved=True,
        branched=told,
        keyed=told,
        tested=frozenset().union(*(each.tested for each in parts)),
    )


def _argument(output: WindowOutput, below: State) -> Items:
    items = union(below.columns[name].items for name in (output.column, output.default) if name is not None)
    if output.column is None:
        return NOTHING
    function = AGGREGATES.get(output.function)
    return items if function is None else turned(items, below.one, ("value", "aggregate"), "aggregate", function)

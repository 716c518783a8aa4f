"""The members of a group_by or aggregate operator, and the columns of its output."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Aggregate, Aggregation
from tacit.plan.facts.fields import aggregation_field, field_of
from tacit.plan.facts.kinds import Kind, equality_rep, kind_of, order_rep, ring_of
from tacit.plan.physical.demands import Demands
from tacit.plan.physical.operators import Aggregated
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable, physical_name


@dataclass(frozen=True)
class Grouped:
    """Members of the operator, and logical to physical columns of its output."""

    keys: tuple[str, ...]
    aggregates: tuple[Aggregated, ...]
    columns: dict[str, tuple[SecureColumn, ...]]


def grouped(relation: Aggregate, input: SharedTable, demands: Demands) -> Grouped:
    """What an aggregation becomes over its input."""
    columns: dict[str, tuple[SecureColumn, ...]] = {}
    aggregates: list[Aggregated] = []
    keys: list[str] = []
    for key in relation.keys:
        column = input.column(key, equality_rep(field_of(relation.input, key).type, demands.hashed))
        keys.append(column.name)
        columns[key] = (column,)
    taken = set(keys)
    for key in relation.keys:
        if columns[key][0].kind.encode == "hash" and "bytes" in demands.found[relation].get(key, ()):
            source = input.column(key, "bytes")
            name = physical_name(key, "bytes", taken)
            taken.add(name)
            aggregates.append(Aggregated(name, "any", source.name, source.kind))
            columns[key] = (*columns[key], SecureColumn(name, source.kind))
    for each in relation.aggregations:
        kind = _kind(each, relation, demands.hashed)
        argument = None
        if each.column is not None:
            argument = input.column(each.column, demands.argument_rep(each, relation)).name
        name = physical_name(each.name, kind.rep, taken)
        taken.add(name)
        aggregates.append(Aggregated(name, each.function, argument, kind))
        columns[each.name] = (SecureColumn(name, kind),)
    return Grouped(tuple(keys), tuple(aggregates), columns)


def _kind(aggregation: Aggregation, relation: Aggregate, hashed: int) -> Kind:
    """Sums and counts are rings; the least and the greatest keep the representation that orders them."""
    field = aggregation_field(aggregation, relation.input, bool(relation.keys))
    rep = order_rep(field.type) if aggregation.function in ("min", "max") else ring_of(field.type)
    try:
        return kind_of(field.type, field.nullable, rep, hashed)
    except QueryError as error:
        raise error.at(aggregation.position, aggregation.column) from None

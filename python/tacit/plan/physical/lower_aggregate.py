"""The members of a group_by or aggregate operator, and the columns of its output."""

from __future__ import annotations

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Aggregate, Aggregation
from tacit.plan.facts.fields import aggregation_field, field_of
from tacit.plan.facts.kinds import Kind, equality_rep, kind_of, order_rep, ring_of
from tacit.plan.physical.demands import Demands
from tacit.plan.physical.placed import JSON
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable, physical_name

Grouped = tuple[JSON, dict[str, tuple[SecureColumn, ...]]]


def aggregate_members(relation: Aggregate, input: SharedTable, demands: Demands) -> Grouped:
    """Operator members, and logical to physical columns of the output."""
    columns: dict[str, tuple[SecureColumn, ...]] = {}
    aggregates: list[JSON] = []
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
            aggregates.append(_member(name, "any", source.name, source.kind))
            columns[key] = (*columns[key], SecureColumn(name, source.kind))
    for each in relation.aggregations:
        kind = _kind(each, relation, demands.hashed)
        argument = None
        if each.column is not None:
            argument = input.column(each.column, demands.argument_rep(each, relation)).name
        name = physical_name(each.name, kind.rep, taken)
        taken.add(name)
        aggregates.append(_member(name, each.function, argument, kind))
        columns[each.name] = (SecureColumn(name, kind),)
    members: JSON = {"aggregates": aggregates}
    return (members | {"keys": keys} if relation.keys else members), columns


def _kind(aggregation: Aggregation, relation: Aggregate, hashed: int) -> Kind:
    """Sums and counts are rings; the least and the greatest keep the representation that orders them."""
    field = aggregation_field(aggregation, relation.input, bool(relation.keys))
    rep = order_rep(field.type) if aggregation.function in ("min", "max") else ring_of(field.type)
    try:
        return kind_of(field.type, field.nullable, rep, hashed)
    except QueryError as error:
        raise error.at(aggregation.position, aggregation.column) from None


def _member(name: str, function: str, column: str | None, kind: Kind) -> JSON:
    return {"name": name, "function": function, "column": column, "kind": kind.json()}

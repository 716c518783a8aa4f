"""The members of a group_by or aggregate operator, and the columns of its output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tacit.plan.algebra import bounds
from tacit.plan.algebra.refusals import QueryError, UnsupportedSQL
from tacit.plan.algebra.relations import Aggregate, Aggregation, Call, ColumnRef, Expr, Literal, Project
from tacit.plan.facts.fields import aggregation_field, field_of, row_bound
from tacit.plan.facts.kinds import Hashes, Kind, Rep, equality_rep, kind_of, order_rep, ring_of
from tacit.plan.physical.demands import Demands
from tacit.plan.physical.operators import Aggregated, Ranked
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable, physical_name

MOST_POSITIONS = 1 << 31
"""Rows, one more than there are, times parts of a fraction: what native code computes with in 32 bits."""


@dataclass(frozen=True)
class Grouped:
    """Members of the operator, and logical to physical columns of its output."""

    keys: tuple[str, ...]
    aggregates: tuple[Aggregated, ...]
    columns: dict[str, tuple[SecureColumn, ...]]


@dataclass(frozen=True)
class Conditional:
    """An aggregation of which sums and counts leave rows out. conditions: aggregate to a truth value of the input."""

    relation: Aggregate
    conditions: Mapping[str, str]


def conditional(relation: Aggregate) -> Conditional | None:
    """What an aggregation of a whole table becomes where it adds up ``CASE WHEN c THEN x END``: x, where c.

    Then nothing is chosen row by row before it is added up. None where there is no such argument.
    """
    if relation.keys or not isinstance(relation.input, Project):
        return None
    columns, conditions, aggregations = ProjectedColumns(), dict[str, str](), []
    for each in relation.aggregations:
        plain = replace(each, known=aggregation_field(each, relation.input, False))
        argument = None if each.column is None else dict(relation.input.outputs)[each.column]
        match each.function, argument:
            case "count", Call("if", (condition, Literal(value), Literal(None))) if value is not None:
                conditions[each.name] = columns.name(condition, f"{each.name} where")
                plain = replace(plain, function="count_rows", column=None)
            case "sum" | "count", Call("if", (condition, (ColumnRef() | Call()) as value, Literal(None))):
                conditions[each.name] = columns.name(condition, f"{each.name} where")
                plain = replace(plain, column=columns.name(value, f"{each.name} value"))
            case _ if argument is not None:
                plain = replace(plain, column=columns.name(argument, f"{each.name} value"))
        aggregations.append(plain)
    if not conditions:
        return None
    outputs = tuple((name, expr) for expr, name in columns.names.items())
    return Conditional(Aggregate(Project(relation.input.input, outputs), (), tuple(aggregations)), conditions)


class ProjectedColumns:
    """The columns of a projection, each expression once."""

    def __init__(self) -> None:
        self.names: dict[Expr, str] = {}

    def name(self, expr: Expr, name: str) -> str:
        """The column of an expression: as it is called beneath, or under a new name."""
        if expr not in self.names:
            chosen = expr.name if isinstance(expr, ColumnRef) else name
            while chosen in self.names.values():
                chosen += "_"
            self.names[expr] = chosen
        return self.names[expr]


def grouped(relation: Aggregate, input: SharedTable, demands: Demands, conditions: Mapping[str, str]) -> Grouped:
    """What an aggregation becomes over its input. conditions: as in Conditional."""
    columns: dict[str, tuple[SecureColumn, ...]] = {}
    aggregates: list[Aggregated] = []
    keys: list[str] = []
    for key in relation.determining:
        column = input.column(key, equality_rep(field_of(relation.input, key).type, demands.hashed))
        keys.append(column.name)
        columns[key] = (column,)
    taken = set(keys)
    for key, rep in carried_reps(relation, demands):
        source = input.column(key, rep)
        if source not in columns.get(key, ()):
            columns[key] = (*columns.get(key, ()), source)
            taken.add(source.name)
            aggregates.append(Aggregated(source.name, "any", source.name, source.kind))
    for key in relation.determining:
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
        condition = conditions.get(each.name)
        where = None if condition is None else input.column(condition, "bits").name
        aggregates.append(Aggregated(name, each.function, argument, kind, where, _ranked(each, relation)))
        columns[each.name] = (SecureColumn(name, kind),)
    return Grouped(tuple(keys), tuple(aggregates), columns)


def carried_reps(relation: Aggregate, demands: Demands) -> list[tuple[str, Rep]]:
    """The keys that others determine, in each representation that anybody wants."""
    want = demands.found[relation] if relation.carried else {}
    return [(key, rep) for key in relation.carried for rep in sorted(want.get(key, ()))]


def _ranked(aggregation: Aggregation, relation: Aggregate) -> Ranked | None:
    """The position of a value. Nodes compute with numbers of rows times the parts of its fraction.

    A bound beyond that of tables that declare no rows is one of different keys, and says nothing of them.
    """
    rank, rows = aggregation.rank, row_bound(relation.input)
    if rank is None:
        return None
    if rows is not None and rows <= bounds.UNDECLARED_ROWS and (rows + 1) * rank.denominator >= MOST_POSITIONS:
        what = f"a fraction in parts of {rank.denominator:,} of up to {rows:,} rows"
        raise UnsupportedSQL(what, "write it with fewer digits", aggregation.position)
    return Ranked(rank.numerator, rank.denominator, rank.shift)


def _kind(aggregation: Aggregation, relation: Aggregate, hashed: Hashes) -> Kind:
    """Sums and counts are rings; the least and the greatest keep the representation that orders them."""
    field = aggregation_field(aggregation, relation.input, bool(relation.keys))
    rep = order_rep(field.type) if aggregation.function in ("min", "max") else ring_of(field.type)
    try:
        return kind_of(field.type, field.nullable, rep, hashed)
    except QueryError as error:
        raise error.at(aggregation.position, aggregation.column) from None

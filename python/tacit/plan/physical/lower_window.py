"""The members of a window operator, and the columns of its output."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Window, WindowOutput
from tacit.plan.facts.fields import field_of
from tacit.plan.facts.kinds import Hashes, Kind, Rep, equality_rep, kind_of_field, order_rep, ring_of
from tacit.plan.physical.demands import Demands, Want, window_reps
from tacit.plan.physical.operators import Frame, Ordered, Windowed
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable, physical_name

COPIED = ("lag", "lead", "first_value", "last_value")


@dataclass(frozen=True)
class Members:
    """Of the operator. columns: logical to physical columns of its outputs."""

    partition: tuple[str, ...]
    order: tuple[Ordered, ...]
    outputs: tuple[Windowed, ...]
    columns: dict[str, tuple[SecureColumn, ...]]


def needed(relation: Window, want: Want, hashed: Hashes) -> list[tuple[str, Rep]]:
    """The columns of the input that a window takes, each in its representation."""
    input = relation.input
    found = [(name, equality_rep(field_of(input, name).type, hashed)) for name in relation.partition]
    found += [(key.column, order_rep(field_of(input, key.column).type)) for key in relation.order]
    for each in relation.outputs:
        reps = sorted(window_reps(each, relation, want))
        found += [(name, rep) for name in (each.column, each.default) if name is not None for rep in reps]
    return found


def members(relation: Window, input: SharedTable, want: Want, demands: Demands) -> Members:
    """What a window becomes over its input."""
    hashed = demands.hashed
    partition = (input.column(n, equality_rep(field_of(relation.input, n).type, hashed)) for n in relation.partition)
    order = (
        (input.column(key.column, order_rep(field_of(relation.input, key.column).type)), key) for key in relation.order
    )
    taken, outputs = set(input.physical), list[Windowed]()
    columns: dict[str, tuple[SecureColumn, ...]] = {}
    for each in relation.outputs:
        assert each.function != "owner_rank", "only owners compute it"
        for kind, source, default in _kinds(each, relation, input, want, hashed):
            name = physical_name(each.name, kind.rep, taken)
            taken.add(name)
            frame = Frame(each.frame.unit, each.frame.start, each.frame.end)
            outputs.append(Windowed(name, each.function, source, default, each.number, frame, kind))
            columns[each.name] = (*columns.get(each.name, ()), SecureColumn(name, kind))
    return Members(
        tuple(column.name for column in partition),
        tuple(Ordered(column.name, key.descending, key.nulls_first) for column, key in order),
        tuple(outputs),
        columns,
    )


def _kinds(
    output: WindowOutput, relation: Window, input: SharedTable, want: Want, hashed: Hashes
) -> list[tuple[Kind, str | None, str | None]]:
    """The kinds in which an output comes, with the columns that each is made of. None if nobody wants it."""
    if output.name not in want:
        return []
    found = dict[tuple[Kind, str | None, str | None], None]()
    for rep in sorted(_reps(output, relation, want)):
        source = None if output.column is None else input.column(output.column, rep)
        default = None if output.default is None else input.column(output.default, rep)
        own = source.kind.rep if output.function in COPIED and source is not None else rep
        kind = _kind(output, relation, own, hashed)
        names = [None if each is None else each.name for each in (source, default)]
        found[kind, names[0], names[1]] = None
    return list(found)


def _reps(output: WindowOutput, relation: Window, want: Want) -> frozenset[Rep]:
    """The representations in which an output comes: numbers of rows as they are wanted, others as they are made."""
    if output.function in ("row_number", "rank", "dense_rank", "ntile", "count_rows", "count"):
        ring = ring_of(field_of(relation, output.name).type)
        return frozenset("bits" if rep == "bits" else ring for rep in want[output.name])
    return window_reps(output, relation, want)


def _kind(output: WindowOutput, relation: Window, rep: Rep, hashed: Hashes) -> Kind:
    try:
        return kind_of_field(field_of(relation, output.name), rep, hashed)
    except QueryError as error:
        raise error.at(output.position, output.column) from None

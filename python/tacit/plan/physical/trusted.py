"""What a trusted party sees of a step: the keys by which it orders rows, with their kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical.disclosure import Site
from tacit.plan.physical.operators import GroupBy, Join, Named
from tacit.plan.physical.tables import Rows, SharedTable

KeyedSide = tuple[Relation, tuple[str, ...]]
"""A relation and its key columns."""


@dataclass(frozen=True)
class ShownKeys:
    """The keys that a party sees of a step's inputs. columns: as they are opened. rows: of all inputs together."""

    party: str
    site: Site
    sides: tuple[KeyedSide, ...]
    columns: tuple[Named, ...]
    rows: Rows


def joined_keys(
    operator: Join, sides: tuple[KeyedSide, KeyedSide], left: SharedTable, right: SharedTable
) -> tuple[ShownKeys, ...]:
    """What the trusted party of a join sees: one key of each pair stands for both, of which no NULL counts."""
    if operator.trusted is None:
        return ()
    pairs = zip(operator.left_keys, operator.right_keys, strict=True)
    columns = tuple(Named(a, common_kind(left.physical[a], right.physical[b])) for a, b in pairs)
    return (ShownKeys(operator.trusted, Site(operator.id, operator.op), sides, columns, left.rows + right.rows),)


def grouped_keys(operator: GroupBy, side: KeyedSide, input: SharedTable) -> tuple[ShownKeys, ...]:
    """What the trusted party of groups sees."""
    if operator.trusted is None:
        return ()
    columns = tuple(Named(key, replace(input.physical[key], repr="bits")) for key in operator.keys)
    return (ShownKeys(operator.trusted, Site(operator.id, operator.op), (side,), columns, input.rows),)


def common_kind(one: Kind, other: Kind) -> Kind:
    """The kind in which two keys are compared: planes that hold the numbers of both."""
    signed = one.signed or other.signed
    width = max(each.width + (signed and not each.signed) for each in (one, other))
    return replace(one, repr="bits", width=width, signed=signed, nullable=False)

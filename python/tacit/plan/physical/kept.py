"""What later plans have to know of a kept table: the planner's part of its files' headers, written and read.

The header of a kept table says what it consists of: columns with their kinds, rows, nodes. ``about`` adds what its
columns mean: types with their exact bounds, keys that never repeat, readers, whose data is in it, and its lineage.
"""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans
from tacit.plan.algebra.types import Field, Type
from tacit.plan.facts.catalog import Catalog, KeptColumn, KeptTable
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.lineage import lineage
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.sources import Use, ordered
from tacit.plan.facts.uniqueness import unique_keys
from tacit.plan.physical.record import JSON

TYPES = {each.__name__: each for each in get_args(Type)}

WIDE = 1 << 63
"""From here on bounds are written as texts."""

LATEST = 1 << 36
"""Seconds after 1970: the year 4147, later than any clock that is right."""


def about(relation: Relation, single: bool, declared: str | None, catalog: Catalog) -> JSON:
    """The meaning of a relation that is to be kept. single: it has exactly one row, whatever the data. declared: as of
    a KeptTable."""
    readers, derived = Readers(catalog).of(relation), lineage(relation, catalog)
    sources = [table for table in catalog.kept if table.name in {scan.table for scan in kept_scans(relation)}]
    owners = {scan.owner for scan in scans(relation)}.union(*(table.owners for table in sources))
    tables = {scan.table for scan in scans(relation)}.union(*(table.tables for table in sources))
    return {
        "fields": [
            {
                "name": each.name,
                "type": {"name": type(each.type).__name__, **_members(each.type)},
                "nullable": each.nullable,
                "readers": sorted(readers[each.name]),
                "uses": [use.json() for use in ordered(derived.values[each.name])],
            }
            for each in fields(relation)
        ],
        "presence": [use.json() for use in ordered(derived.presence)],
        "single": single,
        "unique": sorted(sorted(keys) for keys in unique_keys(relation, catalog)),
        "owners": sorted(owners),
        "tables": sorted(tables),
        **({} if declared is None else {"declared": declared}),
    }


def _members(type_: Type) -> JSON:
    """A type's members. Bounds beyond 64 bits are texts: JSON's numbers are rounded there by whoever passes them on."""
    members = dataclasses.asdict(type_)
    return {name: str(value) if type(value) is int and abs(value) >= WIDE else value for name, value in members.items()}


def kept_table(header: JSON) -> KeptTable:
    """The kept table that a header describes. Raises ValueError, TypeError or KeyError if it describes none."""
    said, made = header["about"], header.get("made")
    if made is not None and not 0 <= made < LATEST:
        raise ValueError(f"made {made} s after 1970")
    columns = [_column(each, physical) for each, physical in zip(said["fields"], header["columns"], strict=True)]
    return KeptTable(
        name=header["table"],
        id=header["id"],
        columns=tuple(columns),
        rows=header["rows"],
        padded=header["padded"],
        single=said["single"],
        unique=tuple(frozenset(keys) for keys in said["unique"]),
        owners=tuple(said["owners"]),
        tables=tuple(said["tables"]),
        plan_hash=said["plan_hash"],
        query=said["query"],
        presence=_uses(said.get("presence")),
        made=made,
        declared=said.get("declared"),
    )


def _column(said: JSON, physical: JSON) -> KeptColumn:
    if said["name"] != physical["name"]:
        raise ValueError(f"columns {said['name']} and {physical['name']}")
    kind = Kind(**physical["kind"], encode=physical["encode"])
    field = Field(said["name"], _type(said["type"]), said["nullable"])
    return KeptColumn(field, kind, frozenset(said["readers"]), _uses(said.get("uses")))


def _uses(said: list[JSON] | None) -> tuple[Use, ...] | None:
    return None if said is None else tuple(map(Use.of, said))


def _type(said: JSON) -> Type:
    members: dict[str, Any] = {name: value for name, value in said.items() if name != "name"}
    if members.get("values") is not None:
        members["values"] = tuple(members["values"])
    members.update({name: _bound(name, members[name]) for name in ("low", "high") if name in members})
    found: Type = TYPES[said["name"]](**members)
    return found


def _bound(name: str, said: int | float | str) -> int:
    """A bound as it was written. Older files have wide ones as rounded numbers, and get bounds that surely hold."""
    if not isinstance(said, float):
        return int(said)
    rounded, slack = int(said), abs(int(said)) >> 52
    return rounded - slack if name == "low" else rounded + slack

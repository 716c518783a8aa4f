"""What later plans have to know of a kept table: the planner's part of its files' headers, written and read.

The header of a kept table says what it consists of: columns with their kinds, rows, nodes. Its ``about`` adds what its
columns mean: types with their exact bounds, keys that never repeat, readers, whose data is in it, and its lineage.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, get_args

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans
from tacit.plan.algebra.types import Field, Type
from tacit.plan.facts.catalog import Catalog, KeptColumn, KeptTable
from tacit.plan.facts.fields import fields, row_bound
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.lineage import arranging, lineage
from tacit.plan.facts.multiplicity import most_equal
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.row_arrays import is_exact
from tacit.plan.facts.sources import Use, ordered, passed
from tacit.plan.facts.uniqueness import unique_keys
from tacit.plan.physical.record import JSON, Record

TYPES = {each.__name__: each for each in get_args(Type)}

WIDE = 1 << 63
"""From here on bounds are written as texts."""

LATEST = 1 << 36
"""Seconds after 1970: the year 4147, later than any clock that is right."""

T = TypeVar("T")


class MalformedHeader(ValueError):
    """What a file says of a kept table is no header. The text is one sentence."""


@dataclass(frozen=True)
class AboutType(Record):
    """A column's type. Bounds beyond 64 bits are texts: JSON's numbers are rounded there by whoever passes them on."""

    type: Type

    def json(self) -> JSON:
        """The type's name and its members."""
        members = dataclasses.asdict(self.type)
        texts = {name: str(each) for name, each in members.items() if type(each) is int and abs(each) >= WIDE}
        return {"name": type(self.type).__name__, **members, **texts}

    @classmethod
    def of(cls, said: JSON) -> AboutType:
        """What ``json`` wrote. Raises KeyError, TypeError or ValueError."""
        members = {name: value for name, value in said.items() if name != "name"}
        if members.get("values") is not None:
            members["values"] = tuple(members["values"])
        members.update({name: _bound(name, members[name]) for name in ("low", "high") if name in members})
        return cls(TYPES[said["name"]](**members))


@dataclass(frozen=True)
class AboutField(Record):
    """A column: what it means, who may read it, sorted, and its lineage; None in files that do not say.

    repeats: no value occurs in more rows than this; None where no less is known than of the table's rows.
    """

    field: Field
    readers: tuple[str, ...]
    uses: tuple[Use, ...] | None
    repeats: int | None = None

    def json(self) -> JSON:
        """The field's members, readers and lineage side by side."""
        return {
            "name": self.field.name,
            "type": AboutType(self.field.type).json(),
            "nullable": self.field.nullable,
            "readers": list(self.readers),
            **({} if self.uses is None else {"uses": [use.json() for use in self.uses]}),
            **({} if self.repeats is None else {"repeats": self.repeats}),
        }

    @classmethod
    def of(cls, said: JSON) -> AboutField:
        """What ``json`` wrote. Raises AttributeError, KeyError, TypeError or ValueError."""
        field = Field(said["name"], AboutType.of(said["type"]).type, said["nullable"])
        uses = None if said.get("uses") is None else tuple(map(Use.of, said["uses"]))
        return cls(field, tuple(said["readers"]), uses, _repeats(said.get("repeats")))


@dataclass(frozen=True)
class About(Record):
    """The meaning of a table that is to be kept.

    presence: the lineage of which rows there are; None in files that do not say. single: it has exactly one row,
    whatever the data. unique: keys that never repeat. owners, tables: whose data, of which tables, is in it. declared:
    as of a KeptTable. exact: all rows that are kept are valid, whatever the data. told, program: as of a KeptTable.
    """

    fields: tuple[AboutField, ...]
    presence: tuple[Use, ...] | None
    single: bool
    unique: tuple[tuple[str, ...], ...]
    owners: tuple[str, ...]
    tables: tuple[str, ...]
    declared: str | None = None
    exact: bool = False
    told: bool | None = None
    program: str | None = None

    def json(self) -> JSON:
        """The object, without members for what is None."""
        return {
            "fields": [each.json() for each in self.fields],
            **({} if self.presence is None else {"presence": [use.json() for use in self.presence]}),
            "single": self.single,
            "unique": [list(keys) for keys in self.unique],
            "owners": list(self.owners),
            "tables": list(self.tables),
            **({} if self.declared is None else {"declared": self.declared}),
            **({"exact": True} if self.exact else {}),
            **({} if self.told is None else {"told": self.told}),
            **({} if self.program is None else {"program": self.program}),
        }

    @classmethod
    def of(cls, said: JSON) -> About:
        """What ``json`` wrote. Raises MalformedHeader."""
        return _read(
            "about",
            lambda: cls(
                tuple(map(AboutField.of, said["fields"])),
                None if said.get("presence") is None else tuple(map(Use.of, said["presence"])),
                said["single"],
                tuple(tuple(keys) for keys in said["unique"]),
                tuple(said["owners"]),
                tuple(said["tables"]),
                said.get("declared"),
                said.get("exact") is True,
                None if said.get("told") is None else said["told"] is not False,
                _program(said.get("program")),
            ),
        )


@dataclass(frozen=True)
class Header(Record):
    """What a file says of its kept table, as far as plans read it. kinds: of the columns, by their names.

    The rest as of a KeptTable.
    """

    table: str
    id: str
    kinds: tuple[tuple[str, Kind], ...]
    rows: int
    padded: bool
    made: int | None
    about: About
    plan_hash: str
    query: str

    @classmethod
    def of(cls, said: JSON) -> Header:
        """From what native code has written, with what the planner gave it. Raises MalformedHeader."""
        made = _read("made", lambda: said.get("made"))
        if made is not None and not (isinstance(made, int) and 0 <= made < LATEST):
            raise MalformedHeader(f"the header says that the table was made {made} s after 1970, which no clock shows.")
        about = _read("about", lambda: said["about"])
        return _read(
            "its columns or rows",
            lambda: cls(
                said["table"],
                said["id"],
                tuple((each["name"], Kind(**each["kind"], encode=each["encode"])) for each in said["columns"]),
                said["rows"],
                said["padded"],
                made,
                About.of(about),
                about["plan_hash"],
                about["query"],
            ),
        )

    @property
    def kept(self) -> KeptTable:
        """The kept table. Raises MalformedHeader if the columns are not those that it is about."""
        about, names = self.about, [name for name, _ in self.kinds]
        if names != [each.field.name for each in about.fields]:
            raise MalformedHeader(f"the header lists columns {', '.join(names)}, and is about others.")
        pairs = zip(about.fields, self.kinds, strict=True)
        return KeptTable(
            name=self.table,
            id=self.id,
            columns=tuple(KeptColumn(e.field, kind, frozenset(e.readers), e.uses, e.repeats) for e, (_, kind) in pairs),
            rows=self.rows,
            padded=self.padded,
            single=about.single,
            unique=tuple(map(frozenset, about.unique)),
            owners=about.owners,
            tables=about.tables,
            plan_hash=self.plan_hash,
            query=self.query,
            presence=about.presence,
            made=self.made,
            declared=about.declared,
            exact=about.exact,
            told=about.told,
            program=about.program,
        )


def about(relation: Relation, single: bool, declared: str | None, told: bool, catalog: Catalog) -> About:
    """The meaning of a relation that is to be kept. single, declared, told: as of an About."""
    readers, derived = Readers(catalog).of(relation), lineage(relation, catalog)
    sources = [table for table in catalog.kept if table.name in {scan.table for scan in kept_scans(relation)}]
    owners = {scan.owner for scan in scans(relation)}.union(*(table.owners for table in sources))
    tables = {scan.table for scan in scans(relation)}.union(*(table.tables for table in sources))
    return About(
        tuple(
            AboutField(each, tuple(sorted(readers[each.name])), ordered(derived.values[each.name]), repeats)
            for each in fields(relation)
            for repeats in [_less_than_all(relation, each.name, catalog)]
        ),
        ordered(derived.presence | passed(arranging(relation, catalog), "rows")),
        single,
        tuple(sorted(tuple(sorted(keys)) for keys in unique_keys(relation, catalog))),
        tuple(sorted(owners)),
        tuple(sorted(tables)),
        declared,
        is_exact(relation, catalog),
        told,
    )


def _less_than_all(relation: Relation, column: str, catalog: Catalog) -> int | None:
    """How many rows can have one value of a column, where that is fewer than all."""
    found, rows = most_equal(relation, frozenset({column}), catalog), row_bound(relation)
    return None if found is None or found == rows else found


def kept_table(header: str) -> KeptTable:
    """The kept table that a header (JSON) describes. Raises MalformedHeader if it describes none."""
    try:
        said = json.loads(header)
    except (ValueError, OverflowError, RecursionError):
        raise MalformedHeader("the header is no JSON.") from None
    return Header.of(said).kept


def _read(what: str, read: Callable[[], T]) -> T:
    """What is read. what: the part of the header, for the sentence that refuses it."""
    try:
        return read()
    except MalformedHeader:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedHeader(f"the header does not say {what} as tacit writes it ({error!r}).") from None


def _program(said: object) -> str | None:
    if not (said is None or isinstance(said, str)):
        raise ValueError(f"program is {said!r}")
    return said


def _repeats(said: object) -> int | None:
    if said is not None and not (isinstance(said, int) and said > 0):
        raise ValueError(f"repeats is {said!r}")
    return said


def _bound(name: str, said: int | float | str) -> int:
    """A bound as it was written. Older files have wide ones as rounded numbers, and get bounds that surely hold."""
    if not isinstance(said, float):
        return int(said)
    rounded, slack = int(said), abs(int(said)) >> 52
    return rounded - slack if name == "low" else rounded + slack

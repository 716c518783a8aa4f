"""The steps placed so far, and the projections that give a shared table the columns the next step needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tacit.plan.algebra.relations import Opened, Relation, Slice
from tacit.plan.algebra.trees import over_children, slices
from tacit.plan.facts.fields import field_of
from tacit.plan.facts.kinds import RINGS, Hashes, Kind, Rep, kind_of_field
from tacit.plan.facts.readers import Readers
from tacit.plan.physical.demands import Want
from tacit.plan.physical.operators import Computed, Project, Secure
from tacit.plan.physical.placed import Readable, SecureStep, Step
from tacit.plan.physical.secure_expressions import Columns, SecureColumn, has_encoding
from tacit.plan.physical.tables import Rows, SharedTable, physical_name, physical_of
from tacit.plan.physical.trusted import ShownKeys
from tacit.plan.physical.values import Call, Column


@dataclass
class Emitter:
    """Appends secure steps. hashed: how strings are compared. keys: those that a trusted party sees. opened: keys of
    owners that a step has opened."""

    readers: Readers
    hashed: Hashes
    steps: list[Step] = field(default_factory=list)
    keys: list[ShownKeys] = field(default_factory=list)
    opened: dict[Relation, Opened] = field(default_factory=dict)

    @property
    def next(self) -> int:
        """The id of the next step."""
        return len(self.steps) + 1

    def secure(self, relation: Relation, operator: Secure, rows: Rows, columns: Columns) -> SharedTable:
        """Append the secure step of an operator, which has the next id. columns: the output's logical columns."""
        assert operator.id == self.next
        self.steps.append(SecureStep(operator, rows.text, self.readable(relation, columns)))
        return SharedTable(operator.id, columns, physical_of(columns), rows)

    def resolved(self, relation: Relation) -> Relation:
        """A local relation with what was opened of others' keys in the place of these."""
        if not slices(relation):
            return relation
        found = over_children(relation, self.resolved)
        if not isinstance(found, Slice):
            return found
        return replace(found, others=tuple(self.opened[each] for each in found.others))

    def readable(self, relation: Relation, columns: Columns) -> Readable:
        """Who may read the columns of a relation in clear, where anybody may."""
        found = self.readers.of(relation)
        return tuple((name, tuple(sorted(found[name]))) for name in columns if found.get(name))

    def prepared(
        self, table: SharedTable, relation: Relation, needed: list[tuple[str, Rep]], want: Want | None = None
    ) -> SharedTable:
        """The table with each needed column in its representation; with a want, without columns outside both."""
        targets = {name: [column.kind.rep for column in group] for name, group in table.columns.items()}
        if want is not None:
            targets = {name: sorted(want[name]) for name in table.columns if name in want}
        for name, rep in needed:
            if rep not in targets.setdefault(name, []):
                targets[name].append(rep)
        kept = {
            name: tuple(dict.fromkeys(c for rep in reps if _serves(c := table.column(name, rep), rep)))
            for name, reps in targets.items()
        }
        missing = [(n, rep) for n, reps in targets.items() for rep in reps if not _serves(table.column(n, rep), rep)]
        if not missing and (want is None or physical_of(kept).keys() == table.physical.keys()):
            return table
        listed = [passed(*each) for each in physical_of(kept).items()]
        taken = set(physical_of(kept))
        columns = dict(kept)
        for name, rep in missing:
            of = field_of(relation, name)
            column = SecureColumn(physical_name(name, rep, taken), kind_of_field(of, rep, self.hashed))
            taken.add(column.name)
            listed.append(projected_as(column.name, table.column(name, rep), column.kind))
            columns[name] = (*columns[name], column)
        return self.projected(table, relation, listed, columns)

    def shaped(self, table: SharedTable, relation: Relation, columns: Columns) -> SharedTable:
        """The table with these physical columns in this order (kinds may be narrower)."""
        pairs = [(table.column(name, c.kind.rep), c) for name, group in columns.items() for c in group]
        if all(a.name == b.name and a.kind.rep == b.kind.rep for a, b in pairs) and len(pairs) == len(table.physical):
            return table
        return self.projected(table, relation, [projected_as(b.name, a, b.kind) for a, b in pairs], columns)

    def apart(
        self, table: SharedTable, relation: Relation, columns: Columns, taken: set[str]
    ) -> tuple[SharedTable, Columns]:
        """The table and the given ones of its columns, renamed where another table's columns have the same names."""
        if not taken & set(physical_of(columns)):
            return table, columns
        used = taken | set(table.physical)
        new: dict[str, str] = {}
        for name, group in table.columns.items():
            for column in group:
                new[column.name] = physical_name(name, column.kind.rep, used) if column.name in taken else column.name
                used.add(new[column.name])
        listed = [passed(new[name], kind, name) for name, kind in physical_of(table.columns).items()]
        return self.projected(table, relation, listed, _renamed(table.columns, new)), _renamed(columns, new)

    def projected(
        self, table: SharedTable, relation: Relation, listed: list[Computed], columns: Columns
    ) -> SharedTable:
        """A projection to the listed columns."""
        return self.secure(relation, Project(self.next, table.step, tuple(listed)), table.rows, columns)


def passed(name: str, kind: Kind, source: str | None = None) -> Computed:
    """A projected column that stays as it is."""
    return Computed(name, Column(source or name), kind)


def projected_as(name: str, source: SecureColumn, kind: Kind) -> Computed:
    """A projected column: as it is, or converted to another representation."""
    if source.kind.rep == kind.rep:
        return passed(name, source.kind, source.name)
    has_encoding(source.kind, kind.rep)
    return Computed(name, Call("convert", (Column(source.name),), kind), kind)


def _serves(column: SecureColumn, rep: Rep) -> bool:
    """Whether a column can be used where a representation is needed; the larger ring serves the smaller."""
    return rep in ("any", column.kind.rep) or (rep in RINGS and column.kind.repr == "ring128")


def _renamed(columns: Columns, new: dict[str, str]) -> Columns:
    return {
        name: tuple(SecureColumn(new[column.name], column.kind) for column in group) for name, group in columns.items()
    }

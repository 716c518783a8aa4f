"""Strings by which rows are grouped or ordered under MPC become numbers: their owner ranks them in clear.

The rank of a string among all different ones of its owner's part is equal, or in order, where the string is. It has as
many bits as that part has rows, where a string has eight for each byte, and its hash more than fifty. Nobody learns it.
Strings of several owners have no common rank, and those that may be NULL none that fits beside rows without a match.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tacit.plan.algebra.bounds import domain_size
from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    ColumnRef,
    Filter,
    Join,
    Limit,
    Mark,
    Pairs,
    Project,
    Relation,
    Scan,
    Sort,
    SortKey,
    Window,
    WindowOutput,
)
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.algebra.types import Varchar
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import field_of, fields, names
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.simplify import shared

Carried = tuple[Relation, str]
"""A relation with one more column at least, and the name of the rank in it."""


def rank_strings(relation: Relation, catalog: Catalog) -> Relation:
    """The tree under MPC with ranks for strings by which rows are grouped or ordered."""
    return _Ranking(catalog, set(shared(relation)), _all_names(relation)).of(relation)


@dataclass(frozen=True)
class _Ranking:
    """taken: names of columns, in lower case. shared: what several others read; nothing is added to that.

    changed: what relations have become, so that equal ones stay equal. ranks: those of columns of owners' parts.
    """

    catalog: Catalog
    shared: set[Relation]
    taken: set[str]
    changed: dict[Relation, Relation] = field(default_factory=dict)
    ranks: dict[tuple[Relation, str], Carried | None] = field(default_factory=dict)

    def of(self, relation: Relation) -> Relation:
        """The same columns, in their order."""
        if relation not in self.changed:
            self.changed[relation] = relation if is_local(relation, self.catalog) else self._of(relation)
            if relation in self.shared:
                self.shared.add(self.changed[relation])
        return self.changed[relation]

    def _of(self, relation: Relation) -> Relation:
        if isinstance(relation, Limit) and isinstance(relation.input, Sort):
            # The head of an order is taken where the order is made.
            return _only(replace(relation, input=self._sorted(relation.input)), relation)
        match relation:
            case Sort():
                return _only(self._sorted(relation), relation)
            case Aggregate(input, keys):
                below, ranks = self._ranked(self.of(input), keys)
                added = tuple(each for each in ranks.values() if each not in keys)
                return (
                    _only(replace(relation, input=below, keys=(*keys, *added)), relation)
                    if added
                    else (replace(relation, input=below))
                )
            case Window(input, partition, order):
                columns = (*partition, *(key.column for key in order))
                below, ranks = self._ranked(self.of(input), columns)
                by = tuple(ranks.get(name, name) for name in partition)
                return _only(replace(relation, input=below, partition=by, order=_by(order, ranks)), relation)
            case _:
                return over_children(relation, self.of)

    def _sorted(self, sort: Sort) -> Sort:
        below, ranks = self._ranked(self.of(sort.input), tuple(key.column for key in sort.keys))
        return Sort(below, _by(sort.keys, ranks))

    def _ranked(self, relation: Relation, columns: tuple[str, ...]) -> tuple[Relation, dict[str, str]]:
        """A relation with ranks of those columns that can have one, and their names."""
        found: dict[str, str] = {}
        for column in columns:
            type_ = field_of(relation, column).type
            carried = self._carried(relation, column) if isinstance(type_, Varchar) and type_.values is None else None
            if carried is not None:
                relation, found[column] = carried
        return relation, found

    def _carried(self, relation: Relation, column: str) -> Carried | None:
        """A relation with the rank of a column; None where no owner knows all its values."""
        if is_local(relation, self.catalog):
            if (relation, column) not in self.ranks:
                self.ranks[relation, column] = self._local(relation, column)
            return self.ranks[relation, column]
        if relation in self.shared:
            return None
        match relation:
            case Filter(input) | Sort(input) | Limit(input):
                found = self._carried(input, column)
                return None if found is None else (replace(relation, input=found[0]), found[1])
            case Mark(input) | Window(input) if column in names(input):
                found = self._carried(input, column)
                return None if found is None else (replace(relation, input=found[0]), found[1])
            case Broadcast(input, scalar) if column in names(input):
                found = self._carried(input, column)
                return None if found is None else (Broadcast(found[0], scalar), found[1])
            case Project(input, outputs):
                return self._projected(relation, dict(outputs)[column], input)
            case Join(left, right) | Pairs(left, right):
                return self._beside(relation, column, left, right)
            case Aggregate(input, keys) if column in keys:
                found = self._carried(input, column)
                if found is None:
                    return None
                added = () if found[1] in keys else (found[1],)
                return replace(relation, input=found[0], keys=(*keys, *added)), found[1]
            case _:
                return None

    def _projected(self, relation: Project, value: object, input: Relation) -> Carried | None:
        found = self._carried(input, value.name) if isinstance(value, ColumnRef) else None
        if found is None:
            return None
        below, rank = found
        rank_of = reference(field_of(below, rank))
        known = next((name for name, each in relation.outputs if each == rank_of), None)
        if known is not None:
            return Project(below, relation.outputs), known
        return Project(below, (*relation.outputs, (rank, rank_of))), rank

    def _beside(self, relation: Join | Pairs, column: str, left: Relation, right: Relation) -> Carried | None:
        mine = column in names(left)
        found = self._carried(left if mine else right, column)
        if found is None:
            return None
        return (replace(relation, left=found[0]) if mine else replace(relation, right=found[0])), found[1]

    def _local(self, relation: Relation, column: str) -> Carried | None:
        """What an owner computes, with the rank of a column that is never NULL."""
        found = field_of(relation, column)
        known = relation
        while isinstance(known, Window):
            for each in known.outputs:
                if each.function == "owner_rank" and each.column == column:
                    return relation, each.name
            known = known.input
        if found.nullable:
            return None
        name = self._unused(f"{column}_rank")
        ranked = Window(relation, (), (SortKey(column, False, False),), (WindowOutput(name, "owner_rank", column),))
        size = domain_size(field_of(ranked, name).type, False)
        assert isinstance(found.type, Varchar) and size is not None
        short = found.type.max_length is not None and 8 * found.type.max_length <= size.bit_length()
        return None if short else (ranked, name)

    def _unused(self, name: str) -> str:
        while name.lower() in self.taken:
            name += "_"
        self.taken.add(name.lower())
        return name


def _by(order: tuple[SortKey, ...], ranks: dict[str, str]) -> tuple[SortKey, ...]:
    return tuple(replace(key, column=ranks.get(key.column, key.column)) for key in order)


def _only(relation: Relation, asked: Relation) -> Relation:
    """The columns that are asked for, in their order."""
    if names(relation) == names(asked):
        return relation
    return Project(relation, tuple((each.name, reference(each)) for each in fields(asked)))


def _all_names(relation: Relation) -> set[str]:
    own = {name.lower() for name in names(relation)}
    if isinstance(relation, Scan):
        own |= {source.lower() for _, source in relation.columns}
    return own.union(*map(_all_names, children(relation)))

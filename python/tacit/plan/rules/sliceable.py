"""Parts of a query that can be sliced by keys, and what they are in slices (tacit.plan.rules.slicing)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from tacit.plan.algebra.relations import Aggregate, ColumnRef, Filter, Limit, Project, Relation, Slice, Union, Window
from tacit.plan.algebra.trees import children, over_children, owner, scans
from tacit.plan.algebra.types import Double, Type, Varchar, sql_name
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.consents import lasts, rows_allowed
from tacit.plan.facts.fields import aggregation_field, column, field_of, names, row_bound
from tacit.plan.facts.partitions import Division, Keys, Undivided
from tacit.plan.facts.readers import Parties, Readers
from tacit.plan.rules.simplify import projected
from tacit.plan.rules.split import WHOLE, final
from tacit.plan.rules.split import partial as partial_of


@dataclass(frozen=True)
class Leaf:
    """What one owner computes alone, by columns that all parties may read."""

    relation: Relation
    keys: Keys


@dataclass(frozen=True)
class Sliceable:
    """A part of a query with the keys by which it can be sliced.

    base: the part beneath filters and projections. counting: an aggregation of the part that counts different keys.
    Those of slices add up.
    """

    whole: Relation
    base: Relation
    keys: Keys
    leaves: tuple[Leaf, ...]
    counting: Aggregate | None = None

    @property
    def target(self) -> Relation:
        """What slices take the place of."""
        return self.counting or self.whole


@dataclass(frozen=True)
class Slicing:
    """Slices of a query's parts. parties: who has to be allowed to read keys; None: somebody besides the owner.

    alone: the owner that alone gets the answer, if one does. Its own rules do not bind the question.
    """

    catalog: Catalog
    readers: Readers
    parties: Parties | None
    alone: str | None = None

    def parts(self, relation: Relation) -> Iterator[Sliceable]:
        """The largest parts that can be sliced."""
        found = self._sliceable(relation) or self._counting(relation)
        if found is not None:
            yield found
            return
        for child in dict.fromkeys(children(relation)):
            yield from self.parts(child)

    def sliced(self, part: Sliceable) -> Relation:
        """The same part as the union of its slices."""
        owners = tuple(dict.fromkeys(_owner(leaf.relation) for leaf in part.leaves))
        keys = {party: _keys_of(party, part) for party in owners}
        others = {party: tuple(keys[each] for each in owners if each != party) for party in owners}

        def leaf(relation: Relation, by: Keys, alone: str | None) -> Relation | None:
            party = _owner(relation)
            return Slice(relation, by, others[party], alone is None) if alone in (None, party) else None

        base = _with_fields(part.base)
        divided = (Division(self._is_leaf, partial(leaf, alone=each)).of(base, part.keys) for each in (None, *owners))
        parts = tuple(replaced(part.whole, part.base, each) for each in divided if each is not None)
        if part.counting is not None:
            return _added_up(part.counting, parts)
        return parts[0] if len(parts) == 1 else Union(parts, row_bound(part.whole))

    def _sliceable(self, relation: Relation) -> Sliceable | None:
        base = _beneath(relation)
        if owner(base) is not None or isinstance(base, Union):
            return None
        single = self._single(base)
        for keys in dict.fromkeys((single, *((each,) for each in single))):
            if keys and (leaves := self._leaves(base, keys)):
                return Sliceable(relation, base, keys, leaves)
        return None

    def _counting(self, relation: Relation) -> Sliceable | None:
        """An aggregation that counts different values of one key, of what can be sliced by it."""
        if not isinstance(relation, Aggregate):
            return None
        whole = [each for each in relation.aggregations if each.function in WHOLE]
        counted = {each.column if each.function == "count_distinct" else None for each in whole}
        key = _source(relation.input, next(iter(counted))) if len(counted) == 1 else None
        base = _beneath(relation.input)
        if key is None or owner(base) is not None or not _may_be_opened(field_of(base, key).type):
            return None
        leaves = self._leaves(base, (key,))
        return Sliceable(relation.input, base, (key,), leaves, relation) if leaves else None

    def _single(self, base: Relation) -> Keys:
        """The columns by which a part can be sliced, without those that are equal to others, as a join makes them."""
        found: dict[tuple[Leaf, ...], str] = {}
        for name in names(base):
            leaves = self._leaves(base, (name,)) if _may_be_opened(field_of(base, name).type) else ()
            if leaves and (leaves not in found or (name,) == leaves[0].keys):
                found[leaves] = name
        return tuple(found.values())

    def _leaves(self, base: Relation, keys: Keys) -> tuple[Leaf, ...]:
        """The leaves of a part; none where it cannot be sliced by these keys."""
        found: dict[Leaf, None] = {}

        def leaf(relation: Relation, by: Keys) -> Relation:
            found[Leaf(relation, by)] = None
            return relation

        try:
            Division(self._is_leaf, leaf).of(base, keys)
        except Undivided:
            return ()
        return tuple(found) if _alike(list(found)) else ()

    def _is_leaf(self, relation: Relation, keys: Keys) -> bool:
        party = owner(relation)
        if party is None or not self._is_open(relation) or _has_order(relation):
            return False
        if self.parties is None:
            return all(self.readers.of(relation)[key] - {party} for key in keys)
        return self.parties <= self.who_reads(Leaf(relation, keys))

    def who_reads(self, leaf: Leaf) -> Parties:
        """The parties that may read keys, and which rows there are."""
        columns = self.readers.of(leaf.relation)
        return self.readers.of_rows(leaf.relation).intersection(*(columns[key] for key in leaf.keys))

    def _is_open(self, relation: Relation) -> bool:
        """Whether no rule of the tables' owners speaks against that all parties learn keys."""
        named = {scan.table for scan in scans(relation)}
        tables = [table for table in self.catalog.tables if table.name in named]
        lasting = all(lasts(table) for table in tables if table.owner == self.alone)
        return lasting and all(rows_allowed(table, self.parties or frozenset()) for table in tables)


def _added_up(counting: Aggregate, parts: tuple[Relation, ...]) -> Relation:
    """An aggregation of all parts, as one of partial results."""
    if len(parts) == 1:
        return replace(counting, input=parts[0])
    partials = tuple(partial_of(each, counting) for each in parts)
    return Aggregate(Union(partials), counting.keys, tuple(final(each, counting) for each in counting.aggregations))


def _source(relation: Relation, name: str | None) -> str | None:
    """The column beneath filters and projections that a column is a copy of."""
    match relation:
        case Filter(input):
            return _source(input, name)
        case Project(input, outputs):
            found = dict(outputs).get(name or "")
            return _source(input, found.name) if isinstance(found, ColumnRef) else None
        case _:
            return name


def _beneath(relation: Relation) -> Relation:
    """A relation without the filters and projections on top, which work row by row."""
    while isinstance(relation, Filter | Project):
        relation = relation.input
    return relation


def _may_be_opened(type_: Type) -> bool:
    return not isinstance(type_, Double) and not (
        isinstance(type_, Varchar) and type_.values is None and type_.max_length is None
    )


def _has_order(relation: Relation) -> bool:
    """Whether the rows of a relation could differ between two computations of it: among peers any may be the first."""
    return isinstance(relation, Limit | Window) or any(map(_has_order, children(relation)))


def _alike(leaves: list[Leaf]) -> bool:
    """Whether there are several owners, whose keys have one SQL type at each of them."""
    types: dict[str, set[tuple[str, ...]]] = {}
    for leaf in leaves:
        named = tuple(sql_name(field_of(leaf.relation, key).type) for key in leaf.keys)
        types.setdefault(_owner(leaf.relation), set()).add(named)
    return len(types) > 1 and all(len(each) == 1 for each in types.values())


def _owner(relation: Relation) -> str:
    party = owner(relation)
    assert party is not None, "a leaf has one owner"
    return party


def _keys_of(party: str, part: Sliceable) -> Relation:
    """The different keys of all leaves of an owner, under the names that the part has for them."""
    found = []
    for leaf in part.leaves:
        if owner(leaf.relation) == party:
            columns = ((name, column(leaf.relation, key)) for name, key in zip(part.keys, leaf.keys, strict=True))
            found.append(projected(leaf.relation, tuple(columns)))
    distinct = tuple(dict.fromkeys(found))
    return Aggregate(distinct[0] if len(distinct) == 1 else Union(distinct), part.keys, ())


def _with_fields(base: Relation) -> Relation:
    """A part whose slices have the fields that it has: their aggregates are over fewer rows."""
    if not isinstance(base, Aggregate):
        return base
    known = (replace(each, known=aggregation_field(each, base.input, True)) for each in base.aggregations)
    return replace(base, aggregations=tuple(known))


def replaced(relation: Relation, old: Relation, new: Relation) -> Relation:
    """The tree with another relation in place of one. A subtree without it stays the same object, with its facts."""
    if relation == old:
        return new
    below = over_children(relation, lambda each: replaced(each, old, new))
    return relation if all(a is b for a, b in zip(children(below), children(relation), strict=True)) else below

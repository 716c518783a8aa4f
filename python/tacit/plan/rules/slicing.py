"""Slicing (SMCQL): rows whose key only one owner has are computed on by that owner; shared keys alone enter MPC.

A part of a query can be sliced by key columns where rows of different keys never meet (tacit.plan.facts.partitions).
Then it is the union of what it is of the rows of each key. Of a key that one owner alone has, that owner computes it in
its own engine, and its result enters MPC beside that of shared keys. So nobody sees more of the answer than before.

For that the owners open their different keys to each other. All parties of the question have to be allowed to read
them: its nodes, its recipients and the owners of its tables. Numbers of rows that follow from keys are told to nodes.
Keys are those of the largest local part that all may read: its key columns, and those that decide its rows, have all of
these parties as readers (tacit.plan.facts.readers). A floor promises that nothing is shown of few rows, so that a table
with one is not sliced. Nor is one whose terms do not let all of these parties learn which of its rows match others.

Of the plans with and without slices the one is taken that the cost model finds fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Aggregate, Filter, Limit, Project, Relation, Slice, Union, Window
from tacit.plan.algebra.trees import children, over_children, owner, scans
from tacit.plan.algebra.types import Double, Type, Varchar, sql_name
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.consents import matches_allowed
from tacit.plan.facts.fields import aggregation_field, column, field_of, names, row_bound
from tacit.plan.facts.partitions import Division, Keys, Undivided
from tacit.plan.facts.readers import Parties, Readers
from tacit.plan.rules.simplify import projected
from tacit.plan.rules.stage import Pricing, Stage

Rest = Callable[[Stage], Stage]
"""The rules that follow."""


@dataclass(frozen=True)
class _Leaf:
    """What one owner computes alone, by columns that all parties may read."""

    relation: Relation
    keys: Keys


@dataclass(frozen=True)
class _Sliceable:
    """A part of a query with the keys by which it can be sliced. base: the part beneath filters and projections."""

    whole: Relation
    base: Relation
    keys: Keys
    leaves: tuple[_Leaf, ...]


def choose_slices(stage: Stage, pricing: Pricing, rest: Rest) -> Stage:
    """The stage with slices where they are allowed and faster, and why each part is computed as it is."""
    slicing = _Slicing(pricing.catalog, _parties(stage, pricing))
    for part in slicing.parts(stage.core):
        core = _replaced(stage.core, part.whole, slicing.sliced(part))
        without = _seconds(rest(stage), pricing)
        within = _seconds(rest(replace(stage, core=core)), pricing)
        if without is None or within is None:
            continue
        reason = _reason(part, within, without)
        stage = replace(stage, core=core if within < without else stage.core, slicing=(*stage.slicing, reason))
    return stage


def _parties(stage: Stage, pricing: Pricing) -> Parties:
    """All who take part in a question: whatever any of them learns of keys, they may all read."""
    owners = {scan.owner for scan in scans(stage.core)}
    kept = {party for table in pricing.catalog.kept for party in table.owners}
    return frozenset({*pricing.catalog.nodes, *pricing.recipients, *owners, *kept})


def _seconds(stage: Stage, pricing: Pricing) -> float | None:
    """The predicted time; None where there is no such plan, which is refused later."""
    try:
        return pricing.seconds(stage)
    except QueryError:
        return None


def _reason(part: _Sliceable, within: float, without: float) -> str:
    keys = " and ".join(part.keys)
    tables = " and ".join(dict.fromkeys(scan.table for leaf in part.leaves for scan in scans(leaf.relation)))
    guess = "half of the rows or more are taken to have a key that another owner has"
    if within < without:
        chosen = "rows whose key one owner alone has are computed on by that owner"
        return f"{keys} of {tables}: {chosen}: predicted {within:.3f} s in all, {without:.3f} s without slices; {guess}"
    return f"{keys} of {tables}: not sliced: predicted {without:.3f} s in all, {within:.3f} s with slices; {guess}"


@dataclass(frozen=True)
class _Slicing:
    """Slices of a query's parts. parties: who has to be allowed to read keys."""

    catalog: Catalog
    everyone: Parties

    def __post_init__(self) -> None:
        object.__setattr__(self, "_readers", Readers(self.catalog))

    def parts(self, relation: Relation) -> Iterator[_Sliceable]:
        """The largest parts that can be sliced."""
        found = self._sliceable(relation)
        if found is not None:
            yield found
            return
        for child in dict.fromkeys(children(relation)):
            yield from self.parts(child)

    def sliced(self, part: _Sliceable) -> Relation:
        """The same part as the union of its slices."""
        owners = tuple(dict.fromkeys(_owner(leaf.relation) for leaf in part.leaves))
        keys = {party: _keys_of(party, part) for party in owners}
        others = {party: tuple(keys[each] for each in owners if each != party) for party in owners}

        def leaf(relation: Relation, by: Keys, alone: str | None) -> Relation | None:
            party = _owner(relation)
            return Slice(relation, by, others[party], alone is None) if alone in (None, party) else None

        base = _with_fields(part.base)
        divided = (Division(self._is_leaf, partial(leaf, alone=each)).of(base, part.keys) for each in (None, *owners))
        parts = tuple(_replaced(part.whole, part.base, each) for each in divided if each is not None)
        return parts[0] if len(parts) == 1 else Union(parts, row_bound(part.whole))

    def _sliceable(self, relation: Relation) -> _Sliceable | None:
        base = _beneath(relation)
        if owner(base) is not None or isinstance(base, Union):
            return None
        single = self._single(base)
        for keys in dict.fromkeys((single, *((each,) for each in single))):
            if keys and (leaves := self._leaves(base, keys)):
                return _Sliceable(relation, base, keys, leaves)
        return None

    def _single(self, base: Relation) -> Keys:
        """The columns by which a part can be sliced, without those that are equal to others, as a join makes them."""
        found: dict[tuple[_Leaf, ...], str] = {}
        for name in names(base):
            leaves = self._leaves(base, (name,)) if _may_be_opened(field_of(base, name).type) else ()
            if leaves and (leaves not in found or (name,) == leaves[0].keys):
                found[leaves] = name
        return tuple(found.values())

    def _leaves(self, base: Relation, keys: Keys) -> tuple[_Leaf, ...]:
        """The leaves of a part; none where it cannot be sliced by these keys."""
        found: dict[_Leaf, None] = {}

        def leaf(relation: Relation, by: Keys) -> Relation:
            found[_Leaf(relation, by)] = None
            return relation

        try:
            Division(self._is_leaf, leaf).of(base, keys)
        except Undivided:
            return ()
        return tuple(found) if _alike(list(found)) else ()

    def _is_leaf(self, relation: Relation, keys: Keys) -> bool:
        if owner(relation) is None or not self._is_open(relation) or _has_order(relation):
            return False
        readers: Readers = vars(self)["_readers"]
        of = readers.of(relation)
        return all(self.everyone <= each for each in (readers.of_rows(relation), *(of[key] for key in keys)))

    def _is_open(self, relation: Relation) -> bool:
        """Whether no rule of the tables' owners speaks against that all parties learn keys."""
        named = {scan.table for scan in scans(relation)}
        return all(_allows(table, self.everyone) for table in self.catalog.tables if table.name in named)


def _allows(table: Table, parties: Parties) -> bool:
    """Whether an owner lets parties learn which single rows a table has, and promises no floor for any of them."""
    floor = table.terms is not None and table.terms.least_group is not None
    return not floor and all(matches_allowed(table, party) for party in parties)


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


def _alike(leaves: list[_Leaf]) -> bool:
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


def _keys_of(party: str, part: _Sliceable) -> Relation:
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


def _replaced(relation: Relation, old: Relation, new: Relation) -> Relation:
    """The tree with another relation in place of one. A subtree without it stays the same object, with its facts."""
    if relation == old:
        return new
    below = over_children(relation, lambda each: _replaced(each, old, new))
    return relation if all(a is b for a, b in zip(children(below), children(relation), strict=True)) else below

"""Carrying units: the columns that name whom an owner protects, from its scan to the aggregate that counts them.

A column keeps the name that the query gives it. Where a projection drops it, it is added under a name that no query
uses; ``prune`` removes what nothing counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Call,
    ColumnRef,
    Expr,
    Filter,
    Join,
    Literal,
    Mark,
    Project,
    Relation,
    Scan,
    Union,
)
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, field_of, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.conditions import TRUE, positive

Instance = tuple[Scan, tuple[str, ...]]
"""A scan, and the columns of its table that name a unit; () if each row is one."""


class Uncountable(QueryError):
    """A query whose units no guard can count, so that it is refused. scan: the instance whose floor it is about."""

    def __init__(self, scan: Scan, sentence: str) -> None:
        super().__init__(f"{sentence}, so that the floor of {scan.owner}'s table {scan.table} cannot be held.")
        self.scan = scan


@dataclass(frozen=True)
class Track:
    """Where a relation's rows name the units of an instance.

    columns: the names of the unit there; of a table whose rows are the units, those of a key, () if it declares none.
    there: a column that is NULL where a row stems from other tables; None if no row does. once: no unit has two rows.
    decided_by: sets of columns of which each decides the unit of the rows that stem from the instance. decides: columns
    that are the same in all rows of a unit.
    """

    instance: Instance
    columns: tuple[str, ...]
    once: bool
    decided_by: frozenset[frozenset[str]]
    decides: frozenset[str]
    there: str | None = None

    @property
    def by_rows(self) -> bool:
        """Whether each row of the table is a unit."""
        return self.instance[1] == ()

    @property
    def carried(self) -> tuple[str, ...]:
        """All columns that go up with the rows."""
        return tuple(dict.fromkeys([*self.columns, *([] if self.there is None else [self.there])]))

    def renamed(self, new: Mapping[str, str]) -> Track:
        """The same under other names; sets with a column that is gone decide nothing any more."""
        found = frozenset(frozenset(new[each] for each in keys) for keys in self.decided_by if keys <= new.keys())
        there = None if self.there is None else new[self.there]
        decides = frozenset(new[each] for each in self.decides if each in new)
        columns = tuple(new[each] for each in self.columns)
        return replace(self, columns=columns, decided_by=found, decides=decides, there=there)


@dataclass(frozen=True)
class Carried:
    """A relation with its units. equal: pairs of columns that a join or a condition makes equal.

    kept: columns of which one is not TRUE where a filter, which is not applied, would leave a row out.
    optional: columns that tell whether a row has a match, of rows that all stay. matches: for each such match a column
    that is TRUE where there is one.
    rest: the column that marks the row of small groups, if there is one.
    """

    relation: Relation
    tracks: tuple[Track, ...] = ()
    equal: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    matches: tuple[str, ...] = ()
    rest: str | None = None

    def spelt(self, listed: Iterable[str]) -> frozenset[str]:
        """Columns, each by one name of all that are equal to it."""
        return frozenset(self._first(each) for each in listed)

    def _first(self, name: str) -> str:
        known, waiting = {name}, [name]
        while waiting:
            at = waiting.pop()
            found = {b if a == at else a for a, b in self.equal if at in (a, b)} - known
            known |= found
            waiting += found
        return min(known)


def from_scan(scan: Scan, wanted: frozenset[Instance], catalog: Catalog) -> Carried:
    """A scan with the units of those of its instances that are wanted."""
    own = {source: name for name, source in scan.columns}
    declared = next(each.unique for each in catalog.tables if each.name == scan.table)
    unique = [frozenset(own[each] for each in keys) for keys in declared if keys <= own.keys()]
    tracks = []
    for instance in sorted((each for each in wanted if each[0] == scan), key=lambda each: each[1]):
        if missing := [each for each in instance[1] if each not in own]:
            raise Uncountable(scan, f"the scan does not read the unit's column {missing[0]!r}")
        smallest = min(unique, key=lambda keys: (len(keys), sorted(keys)), default=frozenset[str]())
        columns = tuple(own[each] for each in instance[1]) or tuple(sorted(smallest))
        once = instance[1] == () or any(keys <= frozenset(columns) for keys in unique)
        decided_by = frozenset([*unique, *([frozenset(columns)] if columns else [])])
        decides = frozenset(own.values()) if once else frozenset(columns)
        tracks.append(Track(instance, columns, once, decided_by, decides))
    return Carried(scan, tuple(tracks))


def through_filter(input: Carried, predicate: Expr) -> Carried:
    """A filter, whose equalities of columns hold above it."""
    pairs = tuple(
        (a.name, b.name)
        for each in conjuncts(predicate)
        if isinstance(each, Call) and each.op == "eq"
        for a, b in [each.args]
        if isinstance(a, ColumnRef) and isinstance(b, ColumnRef)
    )
    return replace(input, relation=Filter(input.relation, predicate), equal=input.equal + pairs)


def as_condition(input: Carried, predicate: Expr, prefix: str) -> Carried:
    """In place of a filter, a column that is TRUE for the rows that it would keep."""
    name = _unused(prefix, names(input.relation))
    outputs = (*_same(input.relation), (name, positive(predicate)))
    return replace(input, relation=Project(input.relation, outputs), kept=(*input.kept, name))


def through_project(input: Carried, outputs: tuple[tuple[str, Expr], ...], prefix: str) -> Carried:
    """A projection that keeps what is carried."""
    listed = list(outputs)
    new: dict[str, str] = {}
    for name, each in outputs:
        if isinstance(each, ColumnRef):
            new.setdefault(each.name, name)
    for carried in [*(name for track in input.tracks for name in track.carried), *input.kept, *input.matches]:
        if carried not in new:
            new[carried] = _unused(prefix, [name for name, _ in listed])
            listed.append((new[carried], column(input.relation, carried)))
    if input.rest is not None:
        listed.append((input.rest, column(input.relation, input.rest)))
    tracks = tuple(_with_outputs(each, each.renamed(new), outputs) for each in input.tracks)
    equal = tuple((new[a], new[b]) for a, b in _closed(input.equal) if a in new and b in new)
    kept = tuple(new[each] for each in input.kept)
    optional = frozenset(name for name, each in listed if not columns_of(each).isdisjoint(input.optional))
    matches = tuple(new[each] for each in input.matches)
    return Carried(Project(input.relation, tuple(listed)), tracks, equal, kept, optional, matches, input.rest)


def _with_outputs(below: Track, above: Track, outputs: tuple[tuple[str, Expr], ...]) -> Track:
    """A track above a projection, which also decides all that is computed from what it decides beneath."""
    computed = frozenset(name for name, each in outputs if columns_of(each) <= below.decides)
    return replace(above, decides=above.decides | computed)


def through_join(left: Carried, right: Carried, join: Join, prefix: str, catalog: Catalog) -> Carried:
    """A join: right rows match one left row at most, left rows perhaps several right ones."""
    for side in (left, right):
        check_applied(side)
    right = _apart(right, names(left.relation), prefix)
    alone = is_unique(right.relation, join.right_keys, catalog)
    partners = frozenset(names(right.relation)) if alone else frozenset[str]()
    tracks = tuple(
        replace(_with_partner(each, join.left_keys, partners), once=each.once and alone) for each in left.tracks
    ) + tuple(_with_partner(each, join.right_keys, frozenset(names(left.relation))) for each in right.tracks)
    relation = Join(left.relation, right.relation, join.left_keys, join.right_keys)
    equal = left.equal + right.equal + tuple(zip(join.left_keys, join.right_keys, strict=True))
    return Carried(
        relation, tracks, equal, optional=left.optional | right.optional, matches=left.matches + right.matches
    )


def through_outer_join(left: Carried, right: Carried, join: Join, prefix: str, catalog: Catalog) -> Carried:
    """A join of which all rows of one side stay. A side that is NULL without a partner has no units to count."""
    for side, stays in ((left, join.keeps_left), (right, join.keeps_right)):
        if not stays or join.kept == "both":
            without_units(side)
    matched = _unused(prefix, [*names(left.relation), *names(right.relation)])
    if join.kept == "right" and right.tracks:
        left = _matching(left, matched)
    if join.kept == "left" and left.tracks:
        right = _matching(right, matched)
    joined = through_join(left, right, join, prefix, catalog)
    assert isinstance(joined.relation, Join)
    equal = joined.equal[: -len(join.left_keys)]  # of rows without a partner keys are not equal
    told = [(joined.relation.left, join.keeps_right), (joined.relation.right, join.keeps_left)]
    more = frozenset(name for side, optional in told if optional and joined.tracks for name in names(side))
    relation = replace(joined.relation, kept=join.kept)
    matches = (*joined.matches, *([matched] if joined.tracks else []))
    return replace(joined, relation=relation, equal=equal, optional=joined.optional | more, matches=matches)


def _matching(side: Carried, name: str) -> Carried:
    """With a column that is TRUE, and NULL beside rows without a match."""
    return replace(side, relation=Project(side.relation, (*_same(side.relation), (name, TRUE))))


def through_mark(input: Carried, choices: Carried, mark: Mark) -> Carried:
    """The rows of input, each once."""
    without_units(choices)
    relation = replace(mark, input=input.relation, choices=choices.relation)
    if not input.tracks:
        return replace(input, relation=relation)
    return replace(input, relation=relation, optional=input.optional | {mark.name}, matches=(*input.matches, mark.name))


def check_applied(input: Carried) -> None:
    """Raises Uncountable above a condition that is not applied: nothing but a guard counts whom it leaves out."""
    for track in input.tracks if input.kept else ():
        raise Uncountable(track.instance[0], "a condition on matches is below what nothing counts through")


def without_units(side: Carried) -> None:
    """Raises Uncountable where there are units."""
    for track in side.tracks:
        raise Uncountable(track.instance[0], "rows without a partner are shown, which nothing counts")


def _with_partner(track: Track, keys: tuple[str, ...], partner: frozenset[str]) -> Track:
    """A track beside columns of the other side, of which a unit that has one key has one row."""
    return replace(track, decides=track.decides | partner) if track.decides.issuperset(keys) else track


def through_union(inputs: list[Carried], base: tuple[str, ...], prefix: str) -> Carried:
    """A union: the units of each input's instances are NULL in the rows of all others."""
    for each in inputs:
        check_applied(each)
    found = [(place, track) for place, each in enumerate(inputs) for track in each.tracks]
    listed: list[list[tuple[str, Expr]]] = [[(name, column(each.relation, name)) for name in base] for each in inputs]
    tracks = []
    for place, track in found:
        new = {name: name for name in base}
        for name in [*track.columns, *([] if track.there is None else [track.there])]:
            new[name] = _beside(listed, place, column(inputs[place].relation, name), prefix)
        there = new[track.there] if track.there is not None else _certain(track, inputs[place].relation, new)
        there = there or _beside(listed, place, TRUE, prefix)
        # Columns that decide a unit among its own rows keep their names, as all inputs have them.
        decided = frozenset(keys for keys in track.decided_by if keys <= frozenset(base)) | {
            frozenset(new[each] for each in track.columns)
        }
        columns = tuple(new[each] for each in track.columns)
        decided -= {frozenset()}
        tracks.append(replace(track, columns=columns, there=there, decided_by=decided, decides=frozenset(columns)))
    relation = Union(tuple(Project(each.relation, tuple(out)) for each, out in zip(inputs, listed, strict=True)))
    optional = frozenset(name for name in base if any(name in each.optional for each in inputs))
    return Carried(relation, tuple(tracks), optional=optional)


def through_groups(input: Carried, aggregate: Aggregate, prefix: str, catalog: Catalog) -> Carried:
    """An aggregation of which each group stems from one unit. Raises Uncountable where it may stem from more."""
    check_applied(input)
    keys, minima = list(aggregate.keys), dict[str, str]()
    for track in input.tracks:
        if not any(input.spelt(each) <= input.spelt(aggregate.keys) for each in track.decided_by):
            raise Uncountable(track.instance[0], "rows are grouped, before they are counted, by what decides no unit")
        for each in track.carried:
            if track.there is None:
                keys += [each] if each not in keys else []
            elif each not in minima:
                minima[each] = _unused(prefix, [*names(aggregate), *keys, *minima.values()])
    # Of several tables' rows those of the instance name one unit at most, which is then the least.
    carried = tuple(Aggregation(name, "min", each) for each, name in minima.items())
    relation = Aggregate(input.relation, tuple(keys), aggregate.aggregations + carried)
    tracks = []
    for track in input.tracks:
        new = {key: key for key in keys} | (minima if track.there is not None else {})
        moved = track.renamed(new)
        once = moved.once or (track.there is None and is_unique(relation, moved.columns, catalog))
        tracks.append(replace(moved, once=once))
    equal = tuple(pair for pair in input.equal if set(pair) <= set(keys))
    optional = input.optional & {*keys} | {
        each.name for each in aggregate.aggregations if each.column in input.optional
    }
    return Carried(relation, tuple(tracks), equal, optional=optional)


def _beside(listed: list[list[tuple[str, Expr]]], place: int, value: Expr, prefix: str) -> str:
    """A new column of a union: the value in one input, NULL in all others."""
    name = _unused(prefix, [each for each, _ in listed[place]])
    for at, outputs in enumerate(listed):
        outputs.append((name, value if at == place else Literal(None, value.type)))
    return name


def _certain(track: Track, relation: Relation, new: Mapping[str, str]) -> str | None:
    """A column of the unit that is never NULL."""
    return next((new[each] for each in track.columns if not field_of(relation, each).nullable), None)


def _apart(carried: Carried, taken: tuple[str, ...], prefix: str) -> Carried:
    """The relation with other names for those of its columns that are taken, which are carried ones."""
    own = names(carried.relation)
    new: dict[str, str] = {}
    for each in own:
        new[each] = each if each not in taken else _unused(prefix, [*own, *taken, *new.values()])
    if all(name == each for each, name in new.items()):
        return carried
    outputs = tuple((new[each], column(carried.relation, each)) for each in own)
    equal = tuple((new[a], new[b]) for a, b in carried.equal)
    tracks = tuple(each.renamed(new) for each in carried.tracks)
    optional = frozenset(new[each] for each in carried.optional)
    matches = tuple(new[each] for each in carried.matches)
    return Carried(Project(carried.relation, outputs), tracks, equal, optional=optional, matches=matches)


def _closed(equal: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """All pairs that follow, so that none is lost with a column between them."""
    everything = Carried(Scan("", "", (), ()), equal=equal)
    listed = sorted({name for pair in equal for name in pair})
    return tuple((a, b) for a in listed for b in listed if a < b and everything.spelt([a]) == everything.spelt([b]))


def _same(relation: Relation) -> tuple[tuple[str, Expr], ...]:
    return tuple((each.name, column(relation, each.name)) for each in fields(relation))


def _unused(prefix: str, taken: Iterable[str]) -> str:
    """A name with the prefix, which no query uses, that is not taken."""
    known, number = set(taken), 1
    while f"{prefix}{number}" in known:
        number += 1
    return f"{prefix}{number}"

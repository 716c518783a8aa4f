"""Guards as operators of the algebra: directly above the aggregate that merges units, below all else.

A guard counts the distinct units of each group beside the query's own aggregates, in the same aggregation. Groups below
a floor are left out, or added up in one row. Planner, engines, costs and plan hashes know nothing of it: a guarded
query is a query. Nothing depends on data but what a filter or a choice takes from shared values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count

from tacit.plan.algebra.expressions import conjunction, conjuncts
from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, columns_of, fields, names
from tacit.plan.policy.conditions import choose, refreshed
from tacit.plan.policy.counting import Counter
from tacit.plan.policy.folding import folded
from tacit.plan.policy.guards import Floor, Guard
from tacit.plan.policy.judging import Verdict, is_apart, judged, many_match, rows_of, with_counts
from tacit.plan.policy.units import (
    Carried,
    Instance,
    Uncountable,
    as_condition,
    check_applied,
    from_scan,
    through_filter,
    through_groups,
    through_join,
    through_mark,
    through_outer_join,
    through_project,
    through_union,
    without_units,
)

NONE: frozenset[Instance] = frozenset()


def guarded(relation: Relation, guards: tuple[Guard, ...], catalog: Catalog) -> Relation:
    """A bound query with its guards. Raises Uncountable where one cannot be: such a query is refused.

    Where small groups are folded the answer has one more column, ``rest_column``, TRUE in the row of small groups.
    """
    return _Guarding(relation, guards, catalog).rewritten(relation, NONE, _Place(top=True)).relation


def adds_up(aggregate: Aggregate, instance: Instance, catalog: Catalog) -> bool:
    """Whether no unit of a table is in two groups of an aggregation that merges them, as its guard has it."""
    try:
        rows = _Guarding(aggregate, (), catalog).rewritten(aggregate.input, frozenset({instance}), _Place())
    except Uncountable:
        return False
    return all(is_apart(each, aggregate.keys, rows) for each in rows.tracks)


def rest_column(relation: Relation) -> str:
    """The name of the column that marks the row of small groups: one that the query does not use."""
    taken = {each.lower() for each in _all_names(relation)}
    numbered = (f"rest_{number}" for number in count(2))
    return next(each for each in chain(("rest",), numbered) if each not in taken)


def notice(guards: tuple[Guard, ...]) -> tuple[str, ...]:
    """What is printed beside the answer, whatever the data."""
    found: dict[str, None] = {}
    for guard in guards:
        what = "Groups" if guard.aggregate.keys else "Totals"
        found |= {f"{what} of fewer than {_units(each)} are not shown.": None for each in guard.floors}
        own = (each for refined in guard.refined for each in refined.floors)
        found |= {f"Values from fewer than {_units(each)} are not shown.": None for each in own}
    return tuple(found)


def _units(floor: Floor) -> str:
    """In which numbers units are told, for lawyers: different values of a column, or rows."""
    table, owner = floor.scan.table, floor.scan.owner
    if not floor.unit:
        return f"{floor.least} rows of {table} of {owner}"
    return f"{floor.least} different {' and '.join(f'{table}.{each}' for each in floor.unit)} of {owner}"


@dataclass(frozen=True)
class _Place:
    """top: what is here is shown as it is, perhaps sorted. counts_all: a guard above counts what filters leave out."""

    top: bool = False
    counts_all: bool = False


@dataclass
class _Guarding:
    """One query's rewriting. prefix: that of names which the query does not use."""

    query: Relation
    guards: tuple[Guard, ...]
    catalog: Catalog
    known: dict[tuple[Relation, frozenset[Instance], _Place], Carried] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_aggregate = {each.aggregate: each for each in self.guards}
        self.rest = rest_column(self.query)
        self.prefix = "unit"
        while any(each.lower().startswith(self.prefix) for each in _all_names(self.query)):
            self.prefix += "_"

    def rewritten(self, relation: Relation, wanted: frozenset[Instance], place: _Place) -> Carried:
        """A relation with its guards, and with the units of the wanted instances. Equal ones stay equal."""
        key = (relation, wanted, place)
        if key not in self.known:
            self.known[key] = self._rewritten(relation, wanted, place)
        return self.known[key]

    def _rewritten(self, relation: Relation, wanted: frozenset[Instance], place: _Place) -> Carried:
        beneath = partial(self.rewritten, wanted=wanted, place=replace(place, top=False))
        along = partial(self.rewritten, wanted=wanted, place=place)
        match relation:
            case Scan():
                return from_scan(relation, wanted, self.catalog)
            case KeptScan() | Constants() | Opened() | Slice():
                return Carried(relation)
            case Filter(input, predicate):
                below = beneath(input)
                condition = refreshed(predicate, _known(below.relation))
                if place.counts_all:
                    return as_condition(below, condition, self.prefix)
                return self._filtered(below, condition)
            case Project(input, outputs):
                below = along(input)
                known = _known(below.relation)
                new = tuple((name, refreshed(each, known)) for name, each in outputs)
                return through_project(below, new, self.prefix)
            case Sort(input, _):
                below = along(input)
                return replace(below, relation=replace(relation, input=below.relation))
            case Broadcast(input, scalar):
                below, other = along(input), self.rewritten(scalar, NONE, _Place())
                return replace(below, relation=Broadcast(below.relation, other.relation))
            case Aggregate() if relation in self.by_aggregate:
                return self._guarded(relation, self.by_aggregate[relation], wanted, place)
            case _ if place.counts_all and wanted:
                raise Uncountable(*_complement(relation, wanted))
            case Limit(input, _, _):
                below = beneath(input)
                check_applied(below)
                return replace(below, relation=replace(relation, input=below.relation))
            case Aggregate(input, _, _):
                return through_groups(beneath(input), relation, self.prefix, self.catalog)
            case Join() if relation.repeats > 1:
                return self._without_units(relation, wanted)
            case Join(left, right) if relation.kept == "none":
                return through_join(beneath(left), beneath(right), relation, self.prefix, self.catalog)
            case Join(left, right):
                return through_outer_join(beneath(left), beneath(right), relation, self.prefix, self.catalog)
            case Mark(input, choices):
                return through_mark(beneath(input), beneath(choices), relation)
            case Union(inputs):
                return through_union([beneath(each) for each in inputs], names(relation), self.prefix)
            case Window(input):
                below = beneath(input)
                check_applied(below)
                return replace(below, relation=replace(relation, input=below.relation))
            case FullJoin() | Match() | Pairs():
                return self._without_units(relation, wanted)

    def _filtered(self, below: Carried, condition: Expr) -> Carried:
        """Where a condition tells which rows have a match, a guard counts those that it leaves out, too."""
        told = [each for each in conjuncts(condition) if not columns_of(each).isdisjoint(below.optional)]
        if not told or not below.tracks:
            return through_filter(below, condition)
        others = [each for each in conjuncts(condition) if each not in told]
        below = through_filter(below, conjunction(others)) if others else below
        for each in told:
            below = as_condition(below, each, self.prefix)
        return below

    def _without_units(self, relation: FullJoin | Join | Match | Pairs, wanted: frozenset[Instance]) -> Carried:
        for each in children(relation):
            without_units(self.rewritten(each, wanted, _Place()))
        return Carried(over_children(relation, lambda each: self.rewritten(each, wanted, _Place()).relation))

    def _guarded(self, aggregate: Aggregate, guard: Guard, wanted: frozenset[Instance], place: _Place) -> Carried:
        """The aggregate under its guard. Units that it merges end here; those of other instances go on above it."""
        floors = [*guard.floors, *(each for refined in guard.refined for each in refined.floors)]
        own = frozenset((each.scan, each.unit) for each in floors)
        below = self.rewritten(aggregate.input, wanted | own, _Place(counts_all=guard.complement))
        further = replace(below, tracks=tuple(each for each in below.tracks if each.instance in wanted - own))
        counted = replace(further, kept=())
        extended = through_groups(counted, replace(aggregate, input=below.relation), self.prefix, self.catalog)
        assert isinstance(extended.relation, Aggregate)
        fold = guard.small == "fold" and place.top and bool(aggregate.keys) and not (guard.complement or below.kept)
        relation = self._shown(extended.relation, below, guard, fold)
        if not below.optional.isdisjoint(aggregate.keys):
            relation = self._where_many_match(relation, below, guard)
        return replace(extended, relation=relation, rest=self.rest if fold else None)

    def _where_many_match(self, groups: Relation, below: Carried, guard: Guard) -> Relation:
        """Groups by what only some rows match, if enough units do, and enough do not.

        Else it would tell of few whether there is a group.
        """
        if not below.matches:
            raise Uncountable(guard.floors[0].scan, "groups are made of what only some rows match, and of other rows")
        rows = rows_of(below, guard, self.prefix)
        counter = Counter(rows.relation, (), self.prefix)
        verdict = many_match(counter, guard, rows, self.catalog)
        name = f"{self.prefix}many"
        beside = Broadcast(groups, Project(counter.relation(), ((name, verdict),)))
        outputs = tuple((each, column(beside, each)) for each in names(groups))
        return Project(Filter(beside, column(beside, name)), outputs)

    def _shown(self, aggregate: Aggregate, below: Carried, guard: Guard, fold: bool) -> Relation:
        rows = rows_of(below, guard, self.prefix)
        counter = Counter(rows.relation, aggregate.keys, self.prefix)
        with_counts(counter, aggregate, rows.kept)
        verdict = judged(counter, guard, rows, self.catalog)
        if fold:
            return folded(counter, verdict, guard, rows, self.rest, self.catalog)
        return _dropped(counter.relation(), verdict, aggregate)


def _dropped(counted: Aggregate, verdict: Verdict, aggregate: Aggregate) -> Relation:
    """Only groups that are shown; without keys the one row, of NULLs if it is not."""
    values = {each.name: each for each in fields(counted)}
    listed = [(each.name, verdict.value(values[each.name])) for each in aggregate.aggregations]
    if aggregate.keys:
        keys = [(key, column(counted, key)) for key in aggregate.keys]
        return Project(Filter(counted, verdict.shown), (*keys, *listed))
    return Project(counted, tuple((name, choose(verdict.shown, value)) for name, value in listed))


def _complement(relation: Relation, wanted: frozenset[Instance]) -> tuple[Scan, str]:
    """Why nothing counts those that an operator leaves out."""
    scan = min((each[0] for each in wanted), key=lambda each: each.table)
    left_out = {
        Join: "a join leaves out units without a partner, whom nothing counts",
        Mark: "a subquery has units without a partner, whom nothing counts",
        Window: "a window is computed of the rows that a condition leaves, and nothing counts the others",
        Limit: "a LIMIT leaves out units, whom nothing counts",
        Union: "a UNION has rows without its units, whom nothing counts",
    }
    return scan, left_out.get(type(relation), "a group-by below another one leaves out units, whom nothing counts")


def _known(relation: Relation) -> dict[str, Field]:
    return {each.name: each for each in fields(relation)}


@once
def _all_names(relation: Relation) -> frozenset[str]:
    """The names of all columns of a relation and of those beneath."""
    return frozenset(names(relation)).union(*map(_all_names, children(relation)))

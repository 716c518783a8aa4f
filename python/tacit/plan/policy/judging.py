"""Whether a group is shown, and which of its values, as conditions on counts of its units."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Aggregate, ColumnRef, Expr, Project, Relation
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.conditions import TRUE, at_least, choose, either, every, negated, positive, present, refreshed
from tacit.plan.policy.counting import Check, Counter, held, nobody, units_by_cell, unused
from tacit.plan.policy.guards import Floor, Guard
from tacit.plan.policy.units import Carried, Track, Uncountable

MOST_CONDITIONS = 6
"""Of the aggregates of one row: each doubles the number of cells that are counted."""


@dataclass(frozen=True)
class Verdict:
    """shown: whether a group is. values: of aggregations to which not all rows contribute, whether their value is."""

    shown: Expr
    values: Mapping[str, Expr]

    def value(self, found: Field) -> Expr:
        """A group's value, or NULL."""
        shown = ColumnRef(found.name, found.type, found.nullable)
        return choose(self.values[found.name], shown) if found.name in self.values else shown


@dataclass(frozen=True)
class Rows:
    """The input of a guarded aggregation. conditions: of its guard, each by a column or as it is. kept: the rows that
    count, where there are others: those that a filter leaves out where these are counted, too, or of other groups.
    """

    relation: Relation
    tracks: tuple[Track, ...]
    carried: Carried
    conditions: Mapping[Expr, Expr]
    kept: Expr


def rows_of(carried: Carried, guard: Guard, prefix: str) -> Rows:
    """The input, with a column for each condition if there are several of them."""
    relation = carried.relation
    known = {each.name: each for each in fields(relation)}
    found = {each: positive(refreshed(each, known)) for refined in guard.refined for each in refined.conditions}
    distinct = tuple(dict.fromkeys(found.values()))
    if len(distinct) > MOST_CONDITIONS:
        scan = guard.floors[0].scan
        raise Uncountable(scan, f"aggregates of one row have more than {MOST_CONDITIONS} conditions and NULLs")
    if len(distinct) > 1:
        computed: dict[Expr, str] = {}
        for each in distinct:
            computed[each] = unused(f"{prefix}condition", {*names(relation), *computed.values()})
        kept = tuple((each.name, column(relation, each.name)) for each in fields(relation))
        relation = Project(relation, (*kept, *((name, each) for each, name in computed.items())))
        found = {each: column(relation, computed[value]) for each, value in found.items()}
    return Rows(relation, carried.tracks, carried, found, every(*(column(relation, each) for each in carried.kept)))


def checks(
    rows: Rows, floors: Sequence[Floor], keys: tuple[str, ...], catalog: Catalog, own: Sequence[Floor] = ()
) -> list[Check]:
    """What has to be counted for floors; units that a join makes equal are counted once, for the highest floor.

    own: further floors of the same units.
    """
    found: list[Check] = []
    places = Counts((each.scan, each.unit) for each in floors)
    for floor in (*floors, *own):
        tracks = [each for each in rows.tracks if each.instance == (floor.scan, floor.unit)]
        if len(tracks) < max(1, places[floor.scan, floor.unit]):
            raise Uncountable(floor.scan, "its units do not reach the aggregate that would count them")
        for track in tracks:
            once = track.once or (bool(track.columns) and is_unique(rows.relation, (*track.columns, *keys), catalog))
            found = _merged(found, Check(track, floor.least, once), rows)
    return found


def judged(counter: Counter, guard: Guard, rows: Rows, catalog: Catalog) -> Verdict:
    """The verdict on each group of a counter, which counts what it needs."""
    found = checks(rows, guard.floors, counter.keys, catalog)
    shown = []
    for check in found:
        may_be_empty = check.track.there is not None and not guard.complement
        shown.append(held(counter, check, counter.units(check, rows.kept), rows.kept, may_be_empty))
        if guard.complement and rows.kept != TRUE:
            left_out = negated(rows.kept)
            shown.append(held(counter, check, counter.units(check, left_out), left_out, False))
    if not counter.keys and all(check.track.there is not None for check in found):
        shown.append(at_least(counter.count(rows.kept), 1))
    return Verdict(every(*shown), _values(counter, guard, rows, catalog))


def _values(counter: Counter, guard: Guard, rows: Rows, catalog: Catalog) -> dict[str, Expr]:
    """Of each refined aggregation: enough units contribute, and stand on each side of all conditions of the row.

    One that has only a higher floor stays where those with conditions are withheld: nothing is left to subtract.
    """
    arguments = {each.name: each.column for each in guard.aggregate.aggregations}
    conditions = list(dict.fromkeys(rows.conditions.values()))
    found: dict[str, Expr] = {}
    for refined in guard.refined:
        argument = arguments[refined.aggregation]
        within = every(rows.kept, TRUE if argument is None else present(column(rows.relation, argument)))
        enough = []
        for check in checks(rows, guard.floors, counter.keys, catalog, refined.floors):
            contributing = at_least(counter.units(check, within), check.least)
            if check.track.there is not None:
                contributing = either(contributing, nobody(counter, check, counter.units(check, rows.kept), rows.kept))
            enough.append(contributing)
            for cell, units in units_by_cell(counter, check, rows.kept, conditions) if refined.conditions else ():
                enough.append(held(counter, check, units, cell, may_be_empty=not guard.complement))
        found[refined.aggregation] = every(*dict.fromkeys(enough))
    return found


def _merged(found: list[Check], new: Check, rows: Rows) -> list[Check]:
    for at, each in enumerate(found):
        if _same_units(each.track, new.track, rows.carried):
            better = min(each, new, key=lambda check: _effort(check, rows))
            return [*found[:at], replace(better, least=max(each.least, new.least)), *found[at + 1 :]]
    return [*found, new]


def _same_units(a: Track, b: Track, carried: Carried) -> bool:
    """Whether the columns of two units are equal in every row."""
    if a == b:
        return True
    if a.there is not None or b.there is not None or not a.columns:
        return False
    return carried.spelt(a.columns) == carried.spelt(b.columns)


def _effort(check: Check, rows: Rows) -> tuple[bool, bool]:
    """Of checks of the same units, what is cheaper to count comes first."""
    return not check.once, any(column(rows.relation, each).nullable for each in check.track.columns)


def with_counts(counter: Counter, aggregate: Aggregate, kept: Expr) -> None:
    """The query's own aggregations, of the rows that no filter leaves out."""
    for each in aggregate.aggregations:
        counter.add(each, kept)

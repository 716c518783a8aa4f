"""Whether a group is shown, and which of its values, as conditions on counts of its units."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Aggregate, ColumnRef, Expr, Project, Relation, Scan
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, fields, names
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.conditions import (
    FALSE,
    TRUE,
    at_least,
    choose,
    either,
    every,
    negated,
    positive,
    present,
    refreshed,
    same,
    whole,
)
from tacit.plan.policy.counting import Check, Counter, nobody, units_by_cell, unused
from tacit.plan.policy.guards import Floor, Guard
from tacit.plan.policy.refining import Refinement, refinement
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
    refinements: of each scan that is counted, the cells that its rows may be in.
    """

    relation: Relation
    tracks: tuple[Track, ...]
    carried: Carried
    refinements: Mapping[Scan, Refinement]
    kept: Expr


def rows_of(carried: Carried, guard: Guard, prefix: str) -> Rows:
    """The input, with a column for each condition if there are several of them."""
    relation = carried.relation
    known = {each.name: each for each in fields(relation)}
    found = (positive(refreshed(each, known)) for refined in guard.refined for each in refined.conditions)
    distinct: tuple[Expr, ...] = tuple(dict.fromkeys(found))
    if len(distinct) > MOST_CONDITIONS:
        scan = guard.floors[0].scan
        raise Uncountable(scan, f"aggregates of one row have more than {MOST_CONDITIONS} conditions and NULLs")
    if len(distinct) > 1:
        computed: dict[Expr, str] = {}
        for each in distinct:
            computed[each] = unused(f"{prefix}condition", {*names(relation), *computed.values()})
        kept = tuple((each.name, column(relation, each.name)) for each in fields(relation))
        relation = Project(relation, (*kept, *((name, each) for each, name in computed.items())))
        distinct = tuple(column(relation, each) for each in computed.values())
    holds = [column(relation, each) for each in carried.kept]
    counted = {each.instance[0] for each in carried.tracks}
    refinements = {each: refinement(relation, each, distinct, holds, guard) for each in counted}
    return Rows(relation, carried.tracks, carried, refinements, every(*holds))


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
            found = _merged(found, Check(track, floor.least, once, is_apart(track, keys, rows.carried)), rows)
    return found


def is_apart(track: Track, keys: tuple[str, ...], rows: Carried) -> bool:
    """Whether no unit is in two groups by these keys."""
    return track.once or (track.there is None and rows.spelt(keys) <= rows.spelt(track.decides))


def judged(counter: Counter, guard: Guard, rows: Rows, catalog: Catalog) -> Verdict:
    """The verdict on each group of a counter, which counts what it needs."""
    shown = []
    for check in checks(rows, guard.floors, counter.keys, catalog):
        none = _none(counter, guard, rows, check)
        shown.append(either(at_least(counter.units(check, rows.kept), check.least), none))
        for cell in _left_out(guard, rows):
            shown.append(either(at_least(counter.units(check, cell), check.least), none))
    return Verdict(every(*shown), _values(counter, guard, rows, catalog))


def _left_out(guard: Guard, rows: Rows) -> Iterator[Expr]:
    """The cells of rows that do not count, but have to reach the floor.

    Of conditions on matches those whom each leaves out alone: it could be added to a question without it.
    """
    if guard.complement:
        yield from [negated(rows.kept)] if rows.kept != TRUE else []
        return
    holds = [column(rows.relation, each) for each in rows.carried.kept]
    for each in holds:
        yield every(*(other for other in holds if other != each), negated(each))


def many_match(counter: Counter, guard: Guard, rows: Rows, catalog: Catalog) -> Expr:
    """Whether of all rows enough units have each match, and enough have none. counter: of one group of all."""
    matches = [positive(column(rows.relation, each)) for each in rows.carried.matches]
    cells = [every(rows.kept, each) for there in matches for each in (there, negated(there))]
    listed = checks(rows, guard.floors, counter.keys, catalog)
    return every(*(at_least(counter.units(check, cell), check.least) for check in listed for cell in cells))


def _none(counter: Counter, guard: Guard, rows: Rows, check: Check) -> Expr:
    """Whether keys say that no row of a group stems from an instance, which is one input of a union, and none does.

    All rows of a group have its keys. So counts of rows with the input's constants add up over groups.
    """
    if check.track.there is None:
        return FALSE
    its_own = rows.refinements[check.track.instance[0]].may_be_of(rows.relation, guard.aggregate.keys)
    if its_own is None:
        return FALSE
    absent = nobody(counter, check, counter.units(check, rows.kept), rows.kept)
    return every(same(counter.count(every(rows.kept, its_own)), whole(0)), absent)


def _values(counter: Counter, guard: Guard, rows: Rows, catalog: Catalog) -> dict[str, Expr]:
    """Of each refined aggregation: enough units contribute, and stand in all cells of the conditions of the row.

    One that has only a higher floor stays where those with conditions are withheld: nothing is left to subtract.
    """
    arguments = {each.name: each.column for each in guard.aggregate.aggregations}
    found: dict[str, Expr] = {}
    for refined in guard.refined:
        argument = arguments[refined.aggregation]
        within = every(rows.kept, TRUE if argument is None else present(column(rows.relation, argument)))
        enough = []
        listed = checks(rows, guard.floors, counter.keys, catalog, refined.floors)
        for check in listed:
            none = _none(counter, guard, rows, check)
            enough.append(either(at_least(counter.units(check, within), check.least), none))
            if refined.conditions:
                enough += [either(each, none) for each in _in_cells(counter, guard, rows, check, _add_up(listed))]
        found[refined.aggregation] = every(*dict.fromkeys(enough))
    return found


def _add_up(listed: Sequence[Check]) -> bool:
    """Whether all counts of rows add up over groups. Rows of one table may be units of another in several groups."""
    return all(each.apart for each in listed if each.once)


def _in_cells(counter: Counter, guard: Guard, rows: Rows, check: Check, add_up: bool) -> Iterator[Expr]:
    """Whether enough units stand in each cell of written conditions, and in each of all conditions that has any.

    A cell that the text excludes is counted, too: it is not left out, but may be empty. add_up: all counts of rows do.
    """
    cells = rows.refinements[check.track.instance[0]]
    filled = cells.possible if guard.complement else cells.written
    if filled != cells.every:
        yield from (
            at_least(units, check.least) for _, units in units_by_cell(counter, check, rows.kept, filled, whole=False)
        )
    for cell, units in units_by_cell(counter, check, rows.kept, cells.every, whole=add_up):
        enough = at_least(units, check.least)
        yield enough if filled == cells.every else either(enough, nobody(counter, check, units, cell))


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

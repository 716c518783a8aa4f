"""What an aggregate derives from, and what no floor would protect: weights, repeated rows, sums of products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tacit.plan.algebra.relations import AggregateFunction, Aggregation
from tacit.plan.facts.terms import ColumnTerms, Function
from tacit.plan.policy.chosen import atoms_of, by_table, is_chosen
from tacit.plan.policy.determined import closed, has_row, units_named
from tacit.plan.policy.exposure import floor_of, terms_of
from tacit.plan.policy.expressions import turned
from tacit.plan.policy.offers import knows, protected
from tacit.plan.policy.repeated import listed, repeating, repeats
from tacit.plan.policy.state import NOTHING, Atom, Derived, Instance, Item, Items, Role, State, ordered, union

FUNCTIONS: Final[dict[AggregateFunction, Function]] = {
    "sum": "sum",
    "count": "count",
    "count_rows": "count",
    "count_distinct": "count_distinct",
    "sum_distinct": "sum",
    "min": "min",
    "max": "max",
    "middle": "quantile",
    "ranked": "quantile",
}
OF_ONE: Final = ("count_distinct", "sum_distinct", "min", "max", "middle", "ranked")
"""Aggregates that are no sums, so that what they are of matters even where that is a sum itself."""


LEAST_OF_SQUARES: Final = 3
"""The least floor above which a sum and a sum of squares give no single values."""


@dataclass(frozen=True)
class Ruled:
    """Instances beneath an aggregate whose units matter. single: a group has one unit of each. merged: or several."""

    single: frozenset[Instance]
    merged: frozenset[Instance]

    @property
    def all(self) -> frozenset[Instance]:
        """All of them."""
        return self.single | self.merged


def aggregated(each: Aggregation, below: State, ruled: Ruled, recipients: tuple[str, ...]) -> Items:
    """What the value of an aggregate derives from. A position so near an end that few values reach it is that end."""
    functions = [FUNCTIONS[each.function], *_ends(each, below, ruled)]
    return union([_as(each, function, below, ruled, recipients) for function in functions])


def _ends(each: Aggregation, below: State, ruled: Ruled) -> list[Function]:
    """The functions that a position is of as many values as a floor says, or of more in the same part of them.

    Where other values can be put before and behind those of a column, each position may be an end of them.
    """
    if each.function in ("middle", "ranked") and each.column is not None and below.columns[each.column].moved:
        return ["min", "max"]
    if each.rank is None or each.column is None:
        return []
    items = [item for item in ordered(below.columns[each.column].items) if item.instance in ruled.merged]
    least = min((floor_of(item.instance.table, *_column(item)) for item in items), default=1)
    position = -(-(each.rank.numerator * least + each.rank.shift) // each.rank.denominator)
    ends: list[tuple[Function, int]] = [("min", 1), ("max", least)]
    return [function for function, end in ends if position == end]


def averaged(each: Aggregation, below: State, ruled: Ruled, recipients: tuple[str, ...]) -> Items | None:
    """What the average derives from whose sum an aggregate is."""
    return _as(each, "avg", below, ruled, recipients) if each.function == "sum" else None


def squared(each: Aggregation, below: State, ruled: Ruled, recipients: tuple[str, ...]) -> Items | None:
    """What the variance derives from whose sum of squares an aggregate is.

    A sum and a sum of squares give both values of two units: a floor has to be above that.
    """
    if each.function != "sum" or each.column is None or not below.columns[each.column].square:
        return None
    found = replace(below.columns[each.column], linear=True)
    columns = {**below.columns, each.column: found}
    items = _as(each, "stddev", replace(below, columns=columns), ruled, recipients)
    return union([items, frozenset(_of_two(item, each) for item in found.items if _is_of_two(item, ruled.merged))])


def _is_of_two(item: Item, merged: frozenset[Instance]) -> bool:
    return item.instance in merged and floor_of(item.instance.table, *_column(item)) < LEAST_OF_SQUARES


def _column(item: Item) -> tuple[str, ...]:
    return () if item.column is None else (item.column,)


def _of_two(item: Item, each: Aggregation) -> Item:
    return replace(item, role="floor", function=None, detail=f"squares {LEAST_OF_SQUARES}", position=each.position)


def _as(each: Aggregation, function: Function, below: State, ruled: Ruled, recipients: tuple[str, ...]) -> Items:
    repeated = repeats(each, below, ruled.all, recipients) | _both_sides(each, below, ruled.all)
    if each.column is None:
        counted = [_applied(below.columns[name].items, "count", each, below, recipients) for name in each.counted]
        return union([*counted, repeated, _rows(below, ruled.all, recipients)])
    found = below.columns[each.column]
    matched = matched_by_union(ruled.all) if each.function == "count_distinct" and found.mixed else NOTHING
    if each.function == "count_distinct" and _is_of_units(found, below, ruled.all):
        named = units_named(found.atoms, below)
        others = Ruled(ruled.single - named, ruled.merged - named)
        beside = _weights(found, each, function, below, others, recipients)
        return union([matched, beside, _repeats_of_others(found, each, below, others.all, recipients)])
    weights = _weights(found, each, function, below, ruled, recipients)
    return union(
        [
            _applied(found.items, function, each, below, recipients),
            _rows(below, ruled.all, recipients) if _counts(found, each) else NOTHING,
            _powers(found, each, ruled.all),
            _rows_of_one(found, each, ruled.all),
            _shown_of_one(found, each, ruled.merged),
            weights or _of_parts(found, each, below, ruled.all),
            _branched(found, function, each, below, ruled.merged),
            _repeats_of_others(found, each, below, ruled.all, recipients),
            repeated,
            matched,
        ]
    )


def _applied(items: Items, function: Function, each: Aggregation, below: State, recipients: tuple[str, ...]) -> Items:
    """Values are aggregated. An aggregate of a unit's rows stays one, and becomes another one beside it if need be."""
    bound = frozenset(one for one in below.one if protected(one.table, recipients))
    placed = frozenset(replace(item, position=each.position or item.position) for item in ordered(items))
    found = turned(placed, bound, ("value",), "aggregate", function)
    if each.function not in OF_ONE:
        return found
    again = [item for item in placed if item.role == "aggregate" and item.instance in bound]
    return union([found, frozenset(replace(item, function=function) for item in again)])


def _counts(found: Derived, each: Aggregation) -> bool:
    """Whether a sum is of constants, which is a count."""
    return each.function == "sum" and not any(item.role in ("value", "aggregate") for item in found.items)


def _rows(below: State, ruled: frozenset[Instance], recipients: tuple[str, ...]) -> Items:
    """How many rows there are: a recipient knows it where it sees the rows, and of a single unit it is a value."""
    alone = {each for each in below.one if not any((each, other) in below.beside for other in ruled)}
    known = {each for each in alone if any(knows(each.table, None, who) for who in recipients)}
    return frozenset(Item(each, None, "count") for each in ruled | known)


def _shown_of_one(found: Derived, each: Aggregation, merged: frozenset[Instance]) -> Items:
    """The largest of values that recipients may see row by row names its row, and tells what decides that it is there.

    So does the number of different ones, as one of them may be known to be there. That is allowed only where the owner
    names the function.
    """
    if each.function not in OF_ONE or (each.function == "count_distinct" and _names_rows(found)):
        return NOTHING
    function = FUNCTIONS[each.function]
    return frozenset(
        replace(item, role="single", function=function, position=each.position or item.position)
        for item in ordered(found.items)
        if item.role in ("value", "aggregate") and item.column is not None and item.instance in merged
        if _shows_only(terms_of(item.instance.table, item.column), function)
    )


def _names_rows(found: Derived) -> bool:
    """Whether a column is alone unique in its table, so that its values are counted as rows are."""
    if found.plain is None or found.mixed:
        return False
    number, name = found.plain
    return any(each.instance.number == number and {name} in each.instance.table.unique for each in found.items)


def _shows_only(terms: ColumnTerms, function: Function) -> bool:
    return "select" in terms.ways and not ("aggregate" in terms.ways and function in terms.functions)


def _rows_of_one(found: Derived, each: Aggregation, ruled: frozenset[Instance]) -> Items:
    """The largest of units' numbers of rows is one unit's."""
    if each.function not in OF_ONE:
        return NOTHING
    return frozenset(
        replace(item, role="rows", function=FUNCTIONS[each.function], position=each.position or item.position)
        for item in ordered(found.items)
        if item.role == "count" and item.instance in ruled
    )


def _both_sides(each: Aggregation, below: State, ruled: frozenset[Instance]) -> Items:
    """A table on both sides of a union: the sides may differ by few units, whose values are what is left of a sum."""
    return frozenset(
        Item(one, None, "repeats", detail="UNION", position=each.position)
        for one, other in below.apart
        if one in ruled and one.table.name == other.table.name
    )


def _of_parts(found: Derived, each: Aggregation, below: State, ruled: frozenset[Instance]) -> Items:
    """Values that differ by the input of a union, over rows of an instance that meet several inputs.

    Nothing counts how many units meet the rows of one input.
    """
    if each.function == "count" or not (found.mixed and found.moved):
        return NOTHING
    met = (one for one in ruled for a, b in below.apart if {(a, one), (b, one)} <= below.beside)
    return matched_by_union(frozenset(met))


def _branched(
    found: Derived, function: Function, each: Aggregation, below: State, merged: frozenset[Instance]
) -> Items:
    """Values of rows that a condition selects by these or by something else: for those that it tells, others' remain.

    Nothing counts how many units the rest of them is of.
    """
    if function == "count":
        return NOTHING
    told = by_table(below.branched | found.tested, below)
    return frozenset(
        replace(item, role="floor", function=None, detail="branched", position=each.position or item.position)
        for item in ordered(found.items)
        if item.instance in merged and item.role in ("value", "aggregate") and item.column is not None
        if not by_table(atoms_of(frozenset({item})), below).isdisjoint(told)
    )


def _repeats_of_others(
    found: Derived, each: Aggregation, below: State, ruled: frozenset[Instance], recipients: tuple[str, ...]
) -> Items:
    """Rows that a recipient repeats have as many different values, where these are of other rows beside them."""
    if each.function != "count_distinct":
        return NOTHING
    beside = frozenset(one for one in ruled if any(item.instance != one for item in found.items))
    return repeating(beside, below, recipients, each.position)


def matched_by_union(ruled: frozenset[Instance]) -> Items:
    """Rows of several inputs of a union that count once, or stand in one group, if their values are equal.

    That is a join of which nothing counts how many units match.
    """
    return frozenset(Item(each, None, "floor", detail="united") for each in ruled)


def _is_of_units(found: Derived, below: State, ruled: frozenset[Instance]) -> bool:
    """COUNT(DISTINCT unit) is a count of units, as the floor is."""
    named = units_named(found.atoms, below) & ruled
    return bool(named) and all(each.instance in named or each.instance not in ruled for each in found.items)


def _powers(found: Derived, each: Aggregation, ruled: frozenset[Instance]) -> Items:
    """A sum of anything but multiples carries a histogram. One of different values tells who shares one."""
    if each.function == "count" or (found.linear and each.function != "sum_distinct"):
        return NOTHING
    return frozenset(
        replace(item, role="linear", function=None, position=each.position or item.position)
        for item in ordered(found.items)
        if item.instance in ruled and item.role in ("value", "aggregate", "count")
    )


def _weights(
    found: Derived,
    each: Aggregation,
    function: Function,
    below: State,
    ruled: Ruled,
    recipients: tuple[str, ...],
) -> Items:
    """Values that a recipient knows or chooses, over rows that an instance decides: each could tell whose it is.

    It knows its own, what a guard has counted, and what it may see row by row.
    """
    if each.function == "count" or found.constant:
        return NOTHING
    is_sum = each.function == "sum" and found.linear
    multiple = function if found.linear and each.function != "sum_distinct" else None
    return frozenset(
        Item(other, None, role, detail=f"{who} {_name(item)}", position=each.position or item.position)
        for item in ordered(found.items)
        for other in ruled.all
        if item.role in ("value", "aggregate", "group", "count")
        and (item.instance != other or (other in ruled.merged and each.function == "sum" and found.linear))
        for role, who in _who_knows(item, other, multiple, below, recipients)
        if not (_is_listed(item, other, below, recipients) and (is_sum or item.instance.owner in recipients))
    )


def _who_knows(
    item: Item, other: Instance, function: Function | None, below: State, recipients: tuple[str, ...]
) -> list[tuple[Role, str]]:
    """A recipient that knows a value beside rows that another instance, or its own one, decides, or chooses it.

    function: of multiples of the value, which its owner may name; None for one of anything else, as of powers.
    """
    mine, beside = item.instance, (item.instance, other) in below.beside
    others = sorted((each for each in recipients if each != other.owner), key=lambda each: each != mine.owner)
    if not others or not (beside or (mine == other and item.column is not None and mine not in below.many)):
        return []
    equals = next((each for each in others if _equals_known(item, each, below)), None)
    who = equals or next((each for each in others if _is_known(item, each, below)), None)
    if who is None:
        chooses = item.column is not None and mine != other and is_chosen(mine, other, below, recipients)
        return [("chosen", others[0])] if chooses else []
    if item.column is None or mine in below.many:
        return [("weights", who)]
    whole = function is None or _shows_only(terms_of(mine.table, item.column), function)
    named = mine.owner == other.owner and not whole and _is_beside_its_own(mine, other, below)
    return [] if named and equals is None else [("weights", who)]


def _is_known(item: Item, who: str, below: State) -> bool:
    """Whether a recipient knows a column of each row; without one, which rows there are."""
    return item.instance in below.many or knows(item.instance.table, item.column, who)


def _equals_known(item: Item, who: str, below: State) -> bool:
    """Whether a join makes a column equal to one of another instance that a recipient knows, or to what it computes."""
    if item.column is None:
        return False
    mine = item.instance.number, item.column
    same = closed(frozenset({mine}), below.met)
    instances = {each.number: each for each in below.one | below.many}

    def known(atom: Atom) -> bool:
        each = instances.get(atom[0], item.instance)
        return each in below.many or knows(each.table, atom[1] or None, who)

    made = (atom for one, with_it in below.compared if one in same for atom in with_it)
    return any(known(atom) for atom in (*same, *made) if atom[0] != mine[0])


def _is_listed(item: Item, other: Instance, below: State, recipients: tuple[str, ...]) -> bool:
    """Whether an owner allows sums of a column over its rows: of a recipient's, or of rows that nobody chooses."""
    stands = item.instance.owner in recipients or _is_beside_its_own(item.instance, other, below)
    return stands and listed(other, item.instance, _name(item))


def _is_beside_its_own(mine: Instance, other: Instance, below: State) -> bool:
    """Whether each row of an instance has the other one's row beside it that equal columns say, chosen by nobody."""
    if mine == other:
        return True
    same = closed(frozenset((other.number, each.field.name) for each in other.table.columns), below.equal)
    return has_row(mine, same)


def _name(item: Item) -> str:
    return f"{item.instance.table.name}.{item.column or '*'}"

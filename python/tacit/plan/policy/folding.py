"""Small groups added up in one row, which holds enough units itself.

Two candidates are computed: the groups below a floor, and these together with the smallest groups that are shown. The
second one is taken where the first holds some units, but too few. If then no group is left beside it, or it is still
below a floor, nothing is shown. So nobody learns, from a total that he knows, what fewer units than the floor hold.

Candidates are sums over groups. Units that may be in several groups do not add up, and to count them anew would take
the time of further sorts of all rows. Of such units a candidate is taken to have as many as its largest group, which is
never too many. Different values of a column are counted anew: rows learn by a join to which candidates their group
belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tacit.plan.algebra.expressions import reference, substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    AggregateFunction,
    Aggregation,
    Broadcast,
    Call,
    Expr,
    Filter,
    Join,
    Literal,
    Project,
    Relation,
    Union,
)
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, field_of, fields
from tacit.plan.policy.conditions import (
    FALSE,
    TRUE,
    at_least,
    choose,
    comparable,
    either,
    every,
    negated,
    positive,
    refreshed,
    same,
)
from tacit.plan.policy.counting import Counter
from tacit.plan.policy.guards import Guard
from tacit.plan.policy.judging import Rows, Verdict, checks

KINDS = ("small", "merged", "larger")
"""Groups of the first candidate, of the second one, and of neither."""

CANDIDATES = (0, 1)
"""The small groups, and these with the smallest others."""

NOT_ADDED = ("middle", "ranked", "sum_distinct")
"""Functions whose value for several groups follows from no values of groups."""

Outputs = tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class _Names:
    """Names that no query uses, with a prefix."""

    prefix: str

    @property
    def shown(self) -> str:
        """Of groups: at or above all floors."""
        return f"{self.prefix}shown"

    @property
    def smallest(self) -> str:
        """Of groups: none that is shown has fewer units."""
        return f"{self.prefix}smallest"

    @property
    def size(self) -> str:
        """Of groups that are shown: how many units they have."""
        return f"{self.prefix}size"

    @property
    def least(self) -> str:
        """The units of the smallest group."""
        return f"{self.prefix}least"

    def of(self, candidate: int, name: str) -> str:
        """A candidate's column."""
        return f"{self.prefix}rest{candidate}_{name}"

    def units(self, candidate: int, name: str) -> str:
        """A count of a candidate's units."""
        return f"{self.prefix}units{candidate}_{name}"

    def key(self, side: str, number: int) -> str:
        """A key that is never NULL."""
        return f"{self.prefix}{side}{number}"


def folded(counter: Counter, verdict: Verdict, guard: Guard, rows: Rows, rest: str, catalog: Catalog) -> Relation:
    """The groups that are shown, and the row of the others. rest: the column that marks it.

    counter: the aggregation with its counts. verdict: on its groups.
    """
    names = _Names(counter.prefix)
    groups = _marked(counter, verdict, guard, rows, names, catalog)
    totals, verdicts = _summed(groups, counter, verdict, names)
    if distinct := [each for each in guard.aggregate.aggregations if each.function == "count_distinct"]:
        totals = Broadcast(totals, _counted(_members(groups, counter, rows, names), distinct, counter, names))
    chosen = _chosen(totals, verdicts, names)
    both = Broadcast(_candidates(totals, verdicts, guard, names), chosen)
    return _answer(groups, chosen, both, verdict, guard, rest, names)


def _marked(counter: Counter, verdict: Verdict, guard: Guard, rows: Rows, names: _Names, catalog: Catalog) -> Relation:
    """All groups with their counts, and whether each is shown and among the smallest of those.

    Of several tables that which has most units in a group tells its size.
    """
    units: list[Expr] = [counter.units(each) for each in checks(rows, guard.floors, counter.keys, catalog)]
    size = reduce(_larger, units)
    counted = counter.relation()
    judged = Project(counted, (*_columns(counted), (names.shown, verdict.shown)))
    # A choice rather than a filter, which would be moved below what the groups have in common with other uses.
    groups = Project(judged, (*_columns(judged), (names.size, choose(_at(judged, names.shown), size))))
    least = Aggregate(groups, (), (Aggregation(names.least, "min", names.size),))
    beside = Broadcast(groups, least)
    smallest = positive(same(_at(beside, names.size), _at(beside, names.least)))
    return Project(beside, (*_columns(groups), (names.smallest, smallest)))


def _larger(one: Expr, other: Expr) -> Expr:
    assert isinstance(one.type, Integer) and isinstance(other.type, Integer), "counts are whole numbers"
    test = Call("ge", (one, other), Boolean(), one.nullable or other.nullable)
    most = Integer(0, max(one.type.high, other.type.high), "BIGINT")
    return Call("if", (test, one, other), most, one.nullable or other.nullable)


def _kinds(groups: Relation, names: _Names) -> Outputs:
    """Of each kind, a column that is there in its groups."""
    candidates = [_belongs(groups, number, names) for number in CANDIDATES]
    kinds = (*candidates, every(_at(groups, names.shown), negated(_at(groups, names.smallest))))
    return tuple((f"{names.prefix}{name}", choose(each, TRUE)) for name, each in zip(KINDS, kinds, strict=True))


def _counts(names: _Names) -> tuple[Aggregation, ...]:
    """How many groups of each kind there are."""
    return tuple(Aggregation(f"{names.prefix}{kind}", "count", f"{names.prefix}{kind}") for kind in KINDS)


def _summed(groups: Relation, counter: Counter, verdict: Verdict, names: _Names) -> tuple[Relation, list[Verdict]]:
    """Both candidates from their groups, and what is shown of each."""
    added = [each for each in counter.aggregations if each.function not in (*NOT_ADDED, "count_distinct")]
    counts = [each for each in counter.aggregations if each.function == "count_distinct" or each.name in counter.shared]
    parts, sums = [], []
    for number in CANDIDATES:
        belongs = _belongs(groups, number, names)
        for each in added:
            parts.append((names.of(number, each.name), choose(belongs, _at(groups, each.name))))
            sums.append(_over_groups(each, groups, names.of(number, each.name)))
        for each in counts:
            name = names.units(number, each.name)
            function: AggregateFunction = "max" if each.name in counter.shared else "sum"
            parts.append((name, choose(belongs, _at(groups, each.name))))
            sums.append(_over_groups(each, groups, name, function))
    total = Aggregate(Project(groups, (*_kinds(groups, names), *parts)), (), (*_counts(names), *sums))
    return total, [
        _renamed(
            verdict,
            {each.name: names.of(number, each.name) for each in added}
            | {each.name: names.units(number, each.name) for each in counts},
            total,
        )
        for number in CANDIDATES
    ]


def _over_groups(
    aggregation: Aggregation, groups: Relation, name: str, function: AggregateFunction | None = None
) -> Aggregation:
    function = function or (aggregation.function if aggregation.function in ("min", "max") else "sum")
    found = replace(field_of(groups, aggregation.name), name=name, nullable=True)
    return Aggregation(name, function, name, found, aggregation.position)


def _renamed(verdict: Verdict, new: Mapping[str, str], total: Relation) -> Verdict:
    """The verdict over columns of other names."""
    columns = {name: _at(total, other) for name, other in new.items()}
    known = {each.name: each for each in fields(total)}
    values = {name: refreshed(substitute(each, columns), known) for name, each in verdict.values.items()}
    return Verdict(refreshed(substitute(verdict.shown, columns), known), values)


def _counted(members: Relation, distinct: Sequence[Aggregation], counter: Counter, names: _Names) -> Relation:
    """Of both candidates how many different values a column has in the rows of their groups."""
    again = Counter(members, (), counter.prefix)
    for number in CANDIDATES:
        for each in distinct:
            again.add(replace(each, name=names.of(number, each.name)), _belongs(members, number, names))
    return again.relation()


def _candidates(totals: Relation, verdicts: list[Verdict], guard: Guard, names: _Names) -> Relation:
    """Both candidates' values, NULL where they are not shown."""
    known = {each.name: each for each in fields(totals)}
    outputs: list[tuple[str, Expr]] = []
    for number, verdict in zip(CANDIDATES, verdicts, strict=True):
        for each in guard.aggregate.aggregations:
            name = names.of(number, each.name)
            if name in known:
                value = _at(totals, name)
                outputs.append(
                    (name, choose(verdict.values[each.name], value) if each.name in verdict.values else value)
                )
    # Where no aggregate is added up, the row of both candidates is there all the same.
    return Project(totals, tuple(outputs) or ((names.of(2, " both"), TRUE),))


def _chosen(totals: Relation, verdicts: list[Verdict], names: _Names) -> Relation:
    """Which candidate is taken, and whether it and the groups are shown: one row.

    Projections one above the other: what several conditions have in common is computed once. All counts are compared in
    the first one, in the rounds of one comparison.
    """
    few, more, many = (_at(totals, f"{names.prefix}{name}") for name in KINDS)
    shown = [positive(each.shown) for each in verdicts]
    # The second candidate has a group more wherever any group is shown.
    small, above, larger = at_least(few, 1), Call("lt", (few, more), Boolean(), False), at_least(many, 1)
    merge, both = every(small, negated(shown[0])), every(larger, shown[1])
    compared = Project(totals, _verdicts(names, small=small, merge=merge, merged=both, above=above))
    one = {each: _at(compared, names.of(2, f" {each}")) for each in ("small", "merge", "merged", "above")}
    enough = choose(one["merge"], one["merged"], one["above"])
    decided = Project(compared, _verdicts(names, small=one["small"], merge=one["merge"], enough=enough))
    small, merge, enough = (_at(decided, names.of(2, f" {each}")) for each in ("small", "merge", "enough"))
    ends = _verdicts(names, merge=merge, row=every(small, enough), groups=either(negated(small), enough))
    return Project(decided, ends)


def _verdicts(names: _Names, **listed: Expr) -> Outputs:
    return tuple((names.of(2, f" {name}"), each) for name, each in listed.items())


def _answer(
    groups: Relation, chosen: Relation, both: Relation, verdict: Verdict, guard: Guard, rest: str, names: _Names
) -> Relation:
    """The groups that stay, and the row of the others. both: the candidates, beside which of them is chosen."""
    beside = Broadcast(groups, chosen)
    merged = every(_at(beside, names.smallest), _at(beside, names.of(2, " merge")))
    stay = every(_at(beside, names.shown), _at(beside, names.of(2, " groups")), negated(merged))
    # One column: a condition of which a part could be moved would be, and the groups computed twice.
    marked = Project(beside, (*_columns(beside), (names.of(2, " stay"), stay)))
    keys = guard.aggregate.keys
    own: list[tuple[str, Expr]] = [(key, column(beside, key)) for key in keys]
    own += [(each.name, verdict.value(field_of(groups, each.name))) for each in guard.aggregate.aggregations]
    none = [(key, Literal(None, field_of(groups, key).type)) for key in keys]
    its = [(each.name, _value(each, groups, both, names)) for each in guard.aggregate.aggregations]
    row = Filter(both, _at(both, names.of(2, " row")))
    return Union(
        (
            Project(Filter(marked, _at(marked, names.of(2, " stay"))), (*own, (rest, FALSE))),
            Project(row, (*none, *its, (rest, TRUE))),
        )
    )


def _value(aggregation: Aggregation, groups: Relation, both: Relation, names: _Names) -> Expr:
    """The value in the row of small groups; no quantile follows from those of groups."""
    if aggregation.function in NOT_ADDED:
        return Literal(None, field_of(groups, aggregation.name).type)
    first, second = (_at(both, names.of(number, aggregation.name)) for number in CANDIDATES)
    return choose(_at(both, names.of(2, " merge")), second, first)


def _members(groups: Relation, counter: Counter, rows: Rows, names: _Names) -> Relation:
    """The rows, each with what is known of its group. NULL is a key as any other."""
    left: list[tuple[str, Expr]] = []
    right: list[tuple[str, Expr]] = []
    for key in counter.keys:
        for its, mine in zip(comparable(_at(groups, key)), comparable(_at(rows.relation, key)), strict=True):
            left.append((names.key("group", len(left)), its))
            right.append((names.key("row", len(right)), mine))
    marks = tuple((each, _at(groups, each)) for each in (names.shown, names.smallest))
    sides = Project(groups, (*left, *marks)), Project(rows.relation, (*_columns(rows.relation), *right))
    return Join(*sides, tuple(name for name, _ in left), tuple(name for name, _ in right))


def _belongs(relation: Relation, number: int, names: _Names) -> Expr:
    """Whether a row or group belongs to a candidate: the small groups, or these and the smallest others."""
    small = negated(_at(relation, names.shown))
    return small if number == 0 else either(small, _at(relation, names.smallest))


def _columns(relation: Relation) -> Outputs:
    return tuple((each.name, reference(each)) for each in fields(relation))


def _at(relation: Relation, name: str) -> Expr:
    return column(relation, name)

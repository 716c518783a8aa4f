"""What the columns of a relation are in terms of stored columns, as far as the text of a query tells.

Asked for the rows that stem from one scan: of a union, these come from one input. What the text does not tell is a
column of its own, of which any value is possible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from tacit.plan.algebra.expressions import substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Literal,
    Match,
    Opened,
    Project,
    Relation,
    Scan,
    Sort,
    Union,
)
from tacit.plan.algebra.trees import scans
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import fields
from tacit.plan.policy.conditions import either, negated, positive
from tacit.plan.policy.constants import unchanged
from tacit.plan.policy.guards import Hidden
from tacit.plan.policy.outcomes import STRICT, is_small, outcomes


@dataclass(frozen=True)
class Expanded:
    """columns: each by its name. holds: conditions that are TRUE in every row.

    stored: columns that are NULL only where a stored value is, and of which no recipient knows where that is. nulls:
    Boolean ones that tell only which such values are NULL. seen, secret: columns of tables whose owners' rules bind the
    query, which a recipient sees row by row, or none does. shared: rows of others may be in the same groups.
    """

    columns: Mapping[str, Expr]
    holds: tuple[Expr, ...] = ()
    stored: frozenset[str] = frozenset()
    nulls: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    secret: frozenset[str] = frozenset()
    shared: bool = False

    def of(self, expr: Expr) -> Expr:
        """An expression over the relation's columns."""
        return substitute(expr, self.columns)

    def tells_nulls_alone(self, condition: Expr) -> bool:
        """Whether an expanded condition tests nothing but which stored values are NULL."""
        return is_small(condition) and self._tells_nulls_alone(condition)

    def _tells_nulls_alone(self, condition: Expr) -> bool:
        match unchanged(condition):
            case Literal():
                return True
            case ColumnRef(name):
                return name in self.nulls
            case Call("and" | "or" | "not" | "if", args):
                return all(map(self._tells_nulls_alone, args))
            case Call("is_null", (value,)):
                return self._is_stored(value)
            case _:
                return False

    def is_stored(self, value: Expr) -> bool:
        """Whether an expanded value is NULL only where a stored value is."""
        return is_small(value) and self._is_stored(value)

    def _is_stored(self, value: Expr) -> bool:
        match unchanged(value):
            case Literal(found):
                return found is not None
            case ColumnRef(name):
                return name in self.stored
            case Call(op, args) if op in STRICT:
                return all(map(self._is_stored, args))
            case other:
                return not other.nullable


def expanded(relation: Relation, scan: Scan, hidden: Hidden) -> Expanded:
    """The columns of the relation in rows that stem from a scan. hidden: whose stored NULLs no recipient knows."""
    return _Expansion(scan, hidden, count(1)).of(relation)


@dataclass(frozen=True)
class _Expansion:
    scan: Scan
    hidden: Hidden
    numbers: Iterator[int]

    def of(self, relation: Relation) -> Expanded:
        match relation:
            case Scan():
                return self._scanned(relation)
            case KeptScan() | Opened() | FullJoin() | Match():
                return _as_secret(self._unknown(relation))
            case Sort(input, _) | Limit(input, _, _):
                return self.of(input)
            case Filter(input, predicate):
                below = self.of(input)
                return replace(below, holds=(*below.holds, below.of(predicate)))
            case Project(input, outputs):
                below = self.of(input)
                return replace(below, columns={name: below.of(each) for name, each in outputs})
            case Join(left, right):
                return _beside(self.of(left), self.of(right))
            case Broadcast(input, scalar):
                return _beside(self.of(input), self._single(scalar))
            case Union(inputs):
                return self._one_of(relation, inputs)
            case Aggregate():
                return self._groups(relation) if relation.keys else self._single(relation)

    def _scanned(self, scan: Scan) -> Expanded:
        if scan not in self.hidden:
            return self._unknown(scan)
        hidden = {name for name, source in scan.columns if source in self.hidden[scan]}
        found = self._unknown(scan, stored=hidden)
        seen = {each for name, each in found.columns.items() if name not in hidden}
        return replace(found, seen=_names(seen), secret=found.stored)

    def _single(self, relation: Relation) -> Expanded:
        """One row: where it has a NULL, all rows beside have."""
        return self._unknown(relation, stored={each.name for each in fields(relation)})

    def _unknown(self, relation: Relation, stored: Collection[str] = ()) -> Expanded:
        """Columns of which nothing is known but their types."""
        found = {
            each.name: ColumnRef(f"{next(self.numbers)} {each.name}", each.type, each.nullable)
            for each in fields(relation)
        }
        return Expanded(found, stored=_names({found[each] for each in stored}))

    def _one_of(self, relation: Union, inputs: tuple[Relation, ...]) -> Expanded:
        its_own = [each for each in inputs if self.scan in scans(each)]
        if len(its_own) == 1:
            return replace(self.of(its_own[0]), shared=True)
        found = self._unknown(relation)
        parts = [self.of(each) for each in inputs]
        stored = (name for name in found.columns if all(part.is_stored(part.columns[name]) for part in parts))
        return replace(_as_secret(found), stored=_names({found.columns[name] for name in stored}), shared=True)

    def _groups(self, relation: Aggregate) -> Expanded:
        """Groups, of which each has a row that stems from the scan. Of conditions, MAX tells which its rows fulfil."""
        below, own = self.of(relation.input), self._unknown(relation)
        secret = below.secret | (_as_secret(own).secret if below.secret else frozenset())
        columns = {**own.columns, **{key: below.columns[key] for key in relation.keys}}
        tested = {name: below.columns[column] for name, column in _tests(relation)}
        if below.shared:
            return replace(below, columns=columns, secret=secret)
        holds = (*below.holds, *_fulfilled(tested, own.columns, below.holds))
        stored = {own.columns[each.name] for each in relation.aggregations if _stays_stored(each, below)}
        nulls = {own.columns[name] for name, test in tested.items() if below.tells_nulls_alone(test)}
        return replace(
            below, columns=columns, holds=holds, stored=below.stored | _names(stored),
            nulls=below.nulls | _names(nulls), secret=secret,
        )  # fmt: skip


def _beside(left: Expanded, right: Expanded) -> Expanded:
    return Expanded(
        {**left.columns, **right.columns},
        left.holds + right.holds,
        left.stored | right.stored,
        left.nulls | right.nulls,
        left.seen | right.seen,
        left.secret | right.secret,
        left.shared or right.shared,
    )


def _as_secret(found: Expanded) -> Expanded:
    return replace(found, secret=_names(set(found.columns.values())))


def _tests(relation: Aggregate) -> Iterator[tuple[str, str]]:
    """The greatest values of conditions: each one's name, and that of its argument."""
    conditions = {each.name for each in fields(relation.input) if isinstance(each.type, Boolean)}
    for each in relation.aggregations:
        if each.function == "max" and each.column is not None and each.column in conditions:
            yield each.name, each.column


def _stays_stored(aggregation: Aggregation, below: Expanded) -> bool:
    return aggregation.column is None or below.is_stored(below.columns[aggregation.column])


def _fulfilled(tests: Mapping[str, Expr], maxima: Mapping[str, Expr], holds: tuple[Expr, ...]) -> Iterator[Expr]:
    """What holds of the greatest values of tests: one that every row fulfils some of, and none that no row fulfils."""
    found = outcomes(list(tests.values()), holds)
    if not tests or found is None:
        return
    if all(any(each) for each in found):
        yield either(*(maxima[name] for name in tests))
    for place, name in enumerate(tests):
        if not any(each[place] for each in found):
            yield negated(positive(maxima[name]))


def _names(columns: set[Expr]) -> frozenset[str]:
    return frozenset(each.name for each in columns if isinstance(each, ColumnRef))

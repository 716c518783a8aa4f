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
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Literal,
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
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import columns_of, fields
from tacit.plan.facts.uniqueness import is_unique
from tacit.plan.policy.constants import unchanged
from tacit.plan.policy.guards import Hidden
from tacit.plan.policy.knowing import NOTHING_KNOWN, Known, joined, matched, united
from tacit.plan.policy.of_groups import fulfilled, known_of, of_one_row, tests_of
from tacit.plan.policy.outcomes import STRICT, is_small


@dataclass(frozen=True)
class Expanded:
    """columns: each by its name. holds: conditions that are TRUE in every row.

    stored: columns that are NULL only where a stored value is, and of which no recipient knows where that is. nulls:
    Boolean ones that tell only which such values are NULL. known: what a recipient knows of the columns. shared: rows
    of others may be in the same groups.
    """

    columns: Mapping[str, Expr]
    holds: tuple[Expr, ...] = ()
    stored: frozenset[str] = frozenset()
    nulls: frozenset[str] = frozenset()
    known: Known = NOTHING_KNOWN
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


def expanded(
    relation: Relation,
    scan: Scan,
    hidden: Hidden,
    catalog: Catalog | None = None,
    shown: Collection[Aggregate] = (),
) -> Expanded:
    """The columns of the relation in rows that stem from a scan.

    hidden: of tables whose owners' rules bind the query, the columns that no recipient knows. catalog: tells where each
    group has one row. shown: aggregates with guards, whose groups recipients may ask for.
    """
    return _Expansion(scan, hidden, count(1), catalog, shown).of(relation)


@dataclass(frozen=True)
class _Expansion:
    scan: Scan
    hidden: Hidden
    numbers: Iterator[int]
    catalog: Catalog | None
    shown: Collection[Aggregate]

    def of(self, relation: Relation) -> Expanded:
        match relation:
            case Scan():
                return self._scanned(relation)
            case KeptScan() | Constants() | Opened() | FullJoin() | Match() | Pairs() | Slice():
                return self._looked_at_no_further(relation)
            case Join() if relation.repeats > 1:
                return self._looked_at_no_further(relation)
            case Mark(input, choices):
                return self._optional(relation, input, choices, (relation.input_keys, relation.choice_keys))
            case Join(left, right) if relation.kept == "left":
                return self._optional(relation, left, right, (relation.left_keys, relation.right_keys))
            case Join(left, right) if relation.kept == "right":
                return self._optional(relation, right, left, (relation.right_keys, relation.left_keys))
            case Join() if relation.kept == "both":
                return self._looked_at_no_further(relation)
            case Sort(input, _) | Limit(input, _, _):
                return self.of(input)
            case Filter(input, predicate):
                below = self.of(input)
                test = below.of(predicate)
                return replace(below, holds=(*below.holds, test), known=below.known.tested(test))
            case Project(input, outputs):
                below = self.of(input)
                return replace(below, columns={name: below.of(each) for name, each in outputs})
            case Window(input):
                return _with_window(relation, self.of(input), self._unknown(relation))
            case Join(left, right):
                return self._joined(relation, self.of(left), self.of(right))
            case Broadcast(input, scalar):
                below, single = self.of(input), self._single(scalar)
                return _beside(below, single, below.known)
            case Union(inputs):
                return self._one_of(relation, inputs)
            case Aggregate() if relation.keys and relation in self.shown:
                found = self._unknown(relation)
                return replace(found, known=Known(_names({*found.columns.values()})))
            case Aggregate():
                return self._groups(relation) if relation.keys else self._single(relation)

    def _scanned(self, scan: Scan) -> Expanded:
        hidden = {name for name, source in scan.columns if source in self.hidden.get(scan, ())}
        found = self._unknown(scan, stored=hidden)
        secret = found.stored
        return replace(found, known=Known(_names(set(found.columns.values())) - secret, secret))

    def _looked_at_no_further(self, relation: Relation) -> Expanded:
        """Of several tables' rows nobody says which are known. Where the scan's may be missing owners refuse anyhow."""
        found = self._unknown(relation)
        if self.scan in scans(relation):
            return found
        own = _names(set(found.columns.values()))
        secret = any(self.hidden.get(each) for each in scans(relation))
        return replace(found, known=Known(mixed=own) if secret else Known(own))

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

    def _joined(self, join: Join, left: Expanded, right: Expanded) -> Expanded:
        pairs = [(left.columns[a], right.columns[b]) for a, b in zip(join.left_keys, join.right_keys, strict=True)]
        if self.scan in scans(join.left):
            return _beside(left, right, joined(left.known, right.known, pairs))
        return _beside(left, right, joined(right.known, left.known, [(b, a) for a, b in pairs]))

    def _optional(
        self, relation: Join | Mark, rows: Relation, other: Relation, keys: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> Expanded:
        """Rows that all stay, with columns of their match in another relation. These are NULL where there is none."""
        if self.scan in scans(other):
            return self._looked_at_no_further(relation)
        below, beside = self.of(rows), self.of(other)
        found = self._unknown(relation).columns
        more = {name: each for name, each in found.items() if name not in below.columns}
        pairs = [(below.columns[a], beside.columns[b]) for a, b in zip(*keys, strict=True)]
        known = matched(below.known, beside.known, pairs, _names({*more.values()}))
        shared = below.shared or beside.shared
        # A key that is NULL has no match. So its NULLs tell who of those without a match could have one.
        keyed = frozenset().union(*(columns_of(mine) for mine, _ in pairs))
        nulls = frozenset[str]() if any(mine.nullable for mine, _ in pairs) else below.nulls
        return replace(
            below,
            columns={**below.columns, **more},
            stored=below.stored - keyed,
            nulls=nulls,
            known=known,
            shared=shared,
        )

    def _one_of(self, relation: Union, inputs: tuple[Relation, ...]) -> Expanded:
        its_own = [each for each in inputs if self.scan in scans(each)]
        if len(its_own) == 1:
            return replace(self.of(its_own[0]), shared=True)
        found, parts = self._unknown(relation), [self.of(each) for each in inputs]
        stored = (name for name in found.columns if all(part.is_stored(part.columns[name]) for part in parts))
        values = [(name, [part.columns[old] for part in parts]) for old, name in _named(found.columns)]
        known = united([each.known for each in parts], values)
        return replace(found, stored=_names({found.columns[name] for name in stored}), known=known, shared=True)

    def _groups(self, relation: Aggregate) -> Expanded:
        """Groups, of which each has a row that stems from the scan. Of conditions, MAX tells which its rows fulfil."""
        below, own = self.of(relation.input), self._unknown(relation).columns
        columns = {**own, **{key: below.columns[key] for key in relation.keys}}
        known = known_of(relation, dict(_named(own)), below.columns, below.known)
        if self.catalog is not None and is_unique(relation.input, relation.keys, self.catalog):
            return replace(below, columns=columns | of_one_row(relation, below.columns, own), known=known)
        tested = {name: below.columns[column] for name, column in tests_of(relation)}
        if below.shared:
            return replace(below, columns=columns, known=known)
        holds = (*below.holds, *fulfilled(tested, own, below.holds))
        stored = {own[each.name] for each in relation.aggregations if _stays_stored(each, below)}
        nulls = {own[name] for name, test in tested.items() if below.tells_nulls_alone(test)}
        return replace(
            below, columns=columns, holds=holds, stored=below.stored | _names(stored),
            nulls=below.nulls | _names(nulls), known=known,
        )  # fmt: skip


def _with_window(relation: Window, below: Expanded, own: Expanded) -> Expanded:
    """Who knows all rows knows what a window makes of them. Else its columns are of what is known and what is not."""
    made = _names({own.columns[each.name] for each in relation.outputs})
    known = below.known
    if known.secret or known.mixed or not known.certain:
        known = replace(known, mixed=known.mixed | made)
    else:
        known = replace(known, seen=known.seen | made)
    return replace(below, columns={**own.columns, **below.columns}, known=known)


def _beside(left: Expanded, right: Expanded, known: Known) -> Expanded:
    return Expanded(
        {**left.columns, **right.columns},
        left.holds + right.holds,
        left.stored | right.stored,
        left.nulls | right.nulls,
        known,
        left.shared or right.shared,
    )


def _named(columns: Mapping[str, Expr]) -> Iterator[tuple[str, str]]:
    """Columns of which nothing is known, and the names that they have among all."""
    return ((old, each.name) for old, each in columns.items() if isinstance(each, ColumnRef))


def _stays_stored(aggregation: Aggregation, below: Expanded) -> bool:
    return aggregation.column is None or below.is_stored(below.columns[aggregation.column])


def _names(columns: set[Expr]) -> frozenset[str]:
    return frozenset(each.name for each in columns if isinstance(each, ColumnRef))

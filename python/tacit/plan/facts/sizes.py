"""How many rows of a party's local result enter MPC, and what that shows.

A local result is padded to a public bound where there is one, and then its true size stays hidden. With the owner's
consent its exact size is announced to all nodes instead: "filter" for filtered rows and joins, "groups" for local
groups. Groups of filtered rows and conditions on groups need both. Without a declared bound and without consent it is
padded to the number of rows its tables have before any filter, which is announced. Where these differ between the
tables of one result, it is shared in parts.

A slice (tacit.plan.rules.slicing) has as many rows as follow from columns that all parties may read, so that its number
of rows is announced whatever else is declared. It stands for the rows of a table: what filters leave of it is padded to
all of it. Groups of a slice by its keys are as many as it has keys, which all parties may count, too. No consent is
used: it is about all rows of a table, and a slice can be the row of one key that all know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Literal as OneOf

from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    ColumnRef,
    Constants,
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
from tacit.plan.algebra.trees import children, scans, slices
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.fields import group_domain, most_rows

LARGEST_PADDING = 1 << 20
SMALL_PADDING = 1 << 10


@dataclass(frozen=True)
class Padded:
    """The result is padded to ``rows`` rows; nothing is shown."""

    rows: int

    @property
    def most(self) -> int:
        """No more rows than this."""
        return self.rows


Made = OneOf[
    "all", "filtered", "joined", "groups", "filtered groups",
    "keys", "shared rows", "own rows", "shared keys", "own keys",
]  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """Rows of an owner's tables: all of them, or what local operators make of them, by the last one that counts."""

    rows: Made
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Announced:
    """A number of rows is shown to all nodes: the sum of what is counted. rules: what allows it.

    source: the result is padded to the rows its tables have before any filter or grouping, so that is the number shown.
    most: no larger number may be shown.
    """

    counted: tuple[Counted, ...]
    rules: tuple[DisclosureRule, ...]
    source: bool = False
    most: int = UNDECLARED_ROWS


SizeRule = Padded | Announced


@once
def size_rule(relation: Relation, catalog: Catalog) -> SizeRule | None:
    """How the size of a local result is treated; None if parts of it fall under different rules, or it is not local."""
    match relation:
        case Scan(table, _, _, _, rows):
            if rows is not None:
                return Padded(rows)
            rules = (DisclosureRule.UNDECLARED_ROWS,)
            return Announced((Counted("all", (table,)),), rules, source=True, most=_most(table, catalog))
        case Project(input) | Broadcast(input) | Window(input) | Sort(input) | Mark(input):
            return size_rule(input, catalog)
        case Slice():
            return _sliced(relation, catalog)
        case Filter(input, _):
            grouped = "groups" in _needed(input)
            left = _consented(relation, "filtered groups" if grouped else "filtered", catalog)
            return left or _not_exact(size_rule(input, catalog))
        case Join(left, right) | FullJoin(left, right):
            sides = [right] if isinstance(relation, Join) and not relation.keeps_left else [left, right]
            consented = _consented(relation, "joined", catalog)
            rule = consented or _not_exact(_union([size_rule(each, catalog) for each in sides]))
            times = relation.repeats if isinstance(relation, Join) else 1
            return rule if consented is not None or rule is None else _times(rule, times)
        case Pairs(left, right):
            consented = _consented(relation, "joined", catalog)
            return consented or _paired(size_rule(left, catalog), size_rule(right, catalog))
        case Union(inputs):
            return _union([size_rule(each, catalog) for each in inputs])
        case Aggregate():
            return _groups(relation, catalog)
        case Limit(input, count, _):
            bound = size_rule(input, catalog)
            if count is None or bound is None:
                return bound
            return Padded(min(count, bound.rows) if isinstance(bound, Padded) else count)
        case Constants(rows):
            return Padded(len(rows))
        case KeptScan() | Opened() | Match():
            return None


def key_size(keys: Relation, catalog: Catalog) -> Announced:
    """How many different keys an owner has, where all parties may read them."""
    return Announced((_made("keys", keys),), (DisclosureRule.PUBLIC_KEYS,), most=_at_most(keys, catalog))


def most_matches(match_: Match, catalog: Catalog) -> int:
    """No more rows than this match: those of the right side, and of the left one too if both have unique keys."""
    left, right = (size_rule(side, catalog) for side in (match_.left, match_.right))
    assert left is not None and right is not None, "a Match has sides that its owners compute alone"
    return min(most_rows(match_), right.most, left.most if match_.right_unique else right.most)


def most_ids(join: FullJoin, catalog: Catalog) -> int:
    """No more rows than this has a full join of two owners: those of both sides."""
    left, right = (size_rule(side, catalog) for side in (join.left, join.right))
    assert left is not None and right is not None, "a full join of two owners has sides that they compute alone"
    return left.most + right.most


def _sliced(relation: Slice, catalog: Catalog) -> Announced:
    """The number of rows of a slice."""
    counted = _made("shared rows" if relation.shared else "own rows", relation)
    return Announced((counted,), (DisclosureRule.PUBLIC_KEYS,), source=True, most=_at_most(relation, catalog))


def _made(made: Made, relation: Relation) -> Counted:
    return Counted(made, tuple(sorted({scan.table for scan in scans(relation)})))


def _at_most(relation: Relation, catalog: Catalog) -> int:
    return min(most_rows(relation), _together(relation, catalog))


def _slice_of(relation: Relation, keys: tuple[str, ...]) -> Slice | None:
    """The slice of which a relation has all rows, with these columns among its keys."""
    match relation:
        case Slice() if set(keys) <= set(relation.keys):
            return relation
        case Project(input, outputs):
            sources = [dict(outputs)[key] for key in keys]
            named = tuple(each.name for each in sources if isinstance(each, ColumnRef))
            return _slice_of(input, named) if len(named) == len(keys) else None
        case _:
            return None


def _consented(relation: Relation, made: Made, catalog: Catalog) -> Announced | None:
    """An announcement of the exact size, if the owner consents for all tables beneath to all that this shows."""
    if slices(relation):
        return None
    tables, needed = sorted({scan.table for scan in scans(relation)}), _needed(relation)
    if not tables or not all(needed <= table.consents for table in catalog.tables if table.name in tables):
        return None
    most = _at_most(relation, catalog)
    rules = tuple(DisclosureRule(f"owner consent: {each}") for each in sorted(needed))
    return Announced((Counted(made, tuple(tables)),), rules, most=most)


def _together(relation: Relation, catalog: Catalog) -> int:
    """No more rows than this make local joins of tables: where keys are unique on one side, those of all tables."""
    rows = [_most(scan.table, catalog) for scan in scans(relation)]
    return min(prod(rows), UNDECLARED_ROWS) if _multiplies(relation) else sum(rows)


def _multiplies(relation: Relation) -> bool:
    many = isinstance(relation, Pairs) or (isinstance(relation, Join) and relation.repeats > 1)
    return many or any(map(_multiplies, children(relation)))


def _times(rule: SizeRule, times: int) -> SizeRule | None:
    """Several rows for each row; None where these are too many to pad to."""
    if times == 1:
        return rule
    if isinstance(rule, Padded):
        return Padded(rule.rows * times) if rule.rows * times <= LARGEST_PADDING else None
    return replace(rule, most=min(rule.most * times, UNDECLARED_ROWS))


def _paired(left: SizeRule | None, right: SizeRule | None) -> Padded | None:
    """Pairs of hidden sizes are padded, where they are not too many."""
    if isinstance(left, Padded) and isinstance(right, Padded) and left.rows * right.rows <= LARGEST_PADDING:
        return Padded(left.rows * right.rows)
    return None


def _needed(relation: Relation) -> frozenset[str]:
    """The consents without which nobody may see how many rows a relation has."""
    beneath = frozenset[str]().union(*map(_needed, children(relation)))
    match relation:
        case Filter() | Join() | FullJoin() | Match() | Pairs():
            return beneath | {"filter"}
        case Aggregate(_, keys, _):
            return beneath | {"groups"} if keys else frozenset()
        case Broadcast(input, _) | Mark(input):
            return _needed(input)
        case Slice():
            return frozenset()
        case Scan() | KeptScan() | Constants() | Opened() | Project() | Union() | Window() | Sort() | Limit():
            return beneath


def _not_exact(rule: SizeRule | None) -> SizeRule | None:
    """The rule of an input for what may have fewer rows; None where that would show how many fewer."""
    return None if isinstance(rule, Announced) and not rule.source else rule


def _most(name: str, catalog: Catalog) -> int:
    """No more rows than this has a table."""
    bound = next((each.bound for each in catalog.tables if each.name == name), None)
    return UNDECLARED_ROWS if bound is None else bound


def _union(rules: list[SizeRule | None]) -> SizeRule | None:
    """Sizes of one sort add up. A sum of hidden and shown sizes would show the hidden ones, so there is none."""
    padded = [rule for rule in rules if isinstance(rule, Padded)]
    announced = [rule for rule in rules if isinstance(rule, Announced)]
    if len(padded) == len(rules):
        return Padded(sum(rule.rows for rule in padded))
    if len(announced) == len(rules) and len({(rule.source, rule.rules) for rule in announced}) == 1:
        counted = dict.fromkeys(each for rule in announced for each in rule.counted)
        most = min(sum(rule.most for rule in announced), UNDECLARED_ROWS)
        return Announced(tuple(counted), announced[0].rules, announced[0].source, most)
    return None


def _groups(relation: Aggregate, catalog: Catalog) -> SizeRule | None:
    """The keys' public domain if it is small (one row without keys), the owner's consent, or the input's own bound."""
    domain, input = group_domain(relation.input, relation.keys), size_rule(relation.input, catalog)
    if relation.keys and (of := _slice_of(relation.input, relation.keys)) is not None:
        counted = _made("shared keys" if of.shared else "own keys", of)
        return Announced((counted,), (DisclosureRule.PUBLIC_KEYS,), most=_at_most(relation, catalog))
    if domain is not None and domain <= SMALL_PADDING:
        return Padded(min(domain, input.rows) if isinstance(input, Padded) and relation.keys else domain)
    consented = _consented(relation, "groups", catalog)
    if consented is not None:
        return consented
    if isinstance(input, Padded):
        return Padded(input.rows if domain is None else min(domain, input.rows))
    return Padded(domain) if domain is not None and domain <= LARGEST_PADDING else _not_exact(input)

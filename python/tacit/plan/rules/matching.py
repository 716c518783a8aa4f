"""Joins of two owners by private set intersection instead of an oblivious join.

A join of two owners' own tables becomes a Match where both agree. A table's owner agrees if it consents to "matches",
or if every node may read the key columns of the join in clear. Terms of its table also have to name every node among
those that may learn matches. Both owners then learn which of their rows match. The left one (whose keys are unique)
also learns how many rows of the other match each of its own, and all nodes learn how many rows the join has.

Keys that are matched are columns of the tables: one that the query computes, as by CASE, could be a condition.

Matching is over whole tables. Conditions of the query are lifted above the Match and applied under MPC to a column that
each owner computes. So nobody learns from the matches which rows fulfil another owner's conditions. A side whose rows
depend on more than its table's own rows and conditions (a local join, a LIMIT, groups of filtered rows) is not matched.

Where the keys of both sides are unique, a hidden Match (circuit-PSI) needs nobody's consent: it shows nothing but what
inputs of these sides would. So each side is whatever its owner computes alone, its own conditions included.

Of the plans with and without each Match the one is taken that the cost model finds fastest.

A full join of two owners' whole tables is by universal ids: it shows how many keys match, which both owners allow as
they allow matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import conjunction, reference, substitute
from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import (
    Aggregate,
    Call,
    Expr,
    Filter,
    FullJoin,
    Join,
    Literal,
    Match,
    Project,
    Relation,
    Scan,
    Sort,
)
from tacit.plan.algebra.trees import children, over_children, owner, scans
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.consents import matches_allowed
from tacit.plan.facts.fields import column, fields, names
from tacit.plan.facts.readers import Readers
from tacit.plan.facts.sizes import size_rule
from tacit.plan.facts.uniqueness import is_unique, reversible
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.simplify import projected
from tacit.plan.rules.stage import Pricing, Stage, Trusted


@dataclass(frozen=True)
class _Whole:
    """A relation without its conditions: columns over a base, whose rows are kept where the condition is TRUE."""

    base: Relation
    columns: tuple[tuple[str, Expr], ...]
    condition: Expr | None


def choose_matches(stage: Stage, pricing: Pricing) -> Stage:
    """The stage with a Match for each join where one is allowed and faster, and why each join is done as it is."""
    core, why = stage.core, dict(stage.why)

    def seconds(tree: Relation) -> float:
        return pricing.seconds(replace(stage, core=tree))

    for join in dict.fromkeys(_candidates(core, pricing.catalog)):
        core, done, reason = _chosen(core, join, pricing.catalog, seconds, _oblivious(join, stage.trusted))
        why[done] = reason
    return replace(stage, core=core, merged=stage.merged.intersection(_walk(core)), why=why)


def _chosen(
    core: Relation, join: Join, catalog: Catalog, seconds: Callable[[Relation], float], otherwise: str
) -> tuple[Relation, Relation, str]:
    """The tree with a join done in the fastest way, the Join or Match that does it, and why. otherwise: how a Join is
    done."""
    shown, hidden = _matched(join, catalog), _hidden(join, catalog)
    options: list[tuple[Relation, Relation]] = [(join, core)]
    options += [(_match_of(each), _replaced(core, join, each)) for each in (shown, hidden) if not isinstance(each, str)]
    if len(options) == 1:
        reasons = dict.fromkeys(each for each in (shown, hidden) if isinstance(each, str))
        return core, join, f"oblivious: {'; '.join(reasons)}"
    times = {done: seconds(tree) for done, tree in options}
    done, tree = min(options, key=lambda option: times[option[0]])
    predicted = ", ".join(f"{times[each]:.3f} s {_manner(each, otherwise)}" for each in times if each != done)
    faster = f"predicted {times[done]:.3f} s in all, {predicted}"
    missing = f"{shown}; " if isinstance(shown, str) else ""
    match done:
        case Match(hidden=True):
            return tree, done, f"by circuit-PSI, which shows nobody what matches: {missing}{faster}"
        case Match():
            return tree, done, f"by private set intersection ({' and '.join(permission(done, catalog))}): {faster}"
        case _:
            return tree, done, f"oblivious: {missing}{faster}"


def _oblivious(join: Join, trusted: Trusted | None) -> str:
    """How a join on secret shares is done."""
    party = None if trusted is None else trusted.by(join)
    return "by an oblivious join" if party is None else f"with rows that {party} orders"


def is_matchable(join: Join, catalog: Catalog) -> bool:
    """Whether a join may be done by matching."""
    if not any(each == join for each in _candidates(join, catalog)):
        return False
    return any(not isinstance(found, str) for found in (_matched(join, catalog), _hidden(join, catalog)))


def _manner(join: Relation, otherwise: str) -> str:
    """How a join is done."""
    match join:
        case Match(hidden=True):
            return "by circuit-PSI"
        case Match():
            return "by private set intersection"
        case _:
            return otherwise


def _match_of(relation: Relation) -> Relation:
    """The Match in what replaces a join."""
    return next(each for each in _walk(relation) if isinstance(each, Match))


def permission(match_: Match | FullJoin, catalog: Catalog) -> tuple[DisclosureRule, ...]:
    """What allows both owners to learn which rows match, or how many."""
    sides = ((match_.left, match_.left_keys), (match_.right, match_.right_keys))
    found = dict.fromkeys(_permitted(side, keys, catalog) for side, keys in sides)
    return tuple(rule for rule in found if rule is not None)


def _candidates(relation: Relation, catalog: Catalog) -> Iterator[Join]:
    """Joins of what two owners compute alone."""
    joins = (each for each in _walk(relation) if isinstance(each, Join) and each.kept == "none" and each.repeats == 1)
    for join in joins:
        alone = is_local(join.left, catalog) and is_local(join.right, catalog)
        if alone and owner(join.left) != owner(join.right):
            yield join


def _walk(relation: Relation) -> Iterator[Relation]:
    yield relation
    for child in children(relation):
        yield from _walk(child)


def _matched(join: Join, catalog: Catalog) -> Relation | str:
    """The same join as a Match, or why there is none."""
    if outside := _outside(join, catalog):
        return outside
    left, right = _whole(join.left), _whole(join.right)
    for side, whole in ((join.left, left), (join.right, right)):
        if whole is None:
            tables = " and ".join(dict.fromkeys(scan.table for scan in scans(side)))
            return f"the rows of {owner(side)}'s part are not simply those of {tables}, which alone may be matched"
    assert left is not None and right is not None
    taken = {*names(join.left), *names(join.right)}
    left_side, left_kept = _side(left, taken)
    right_side, right_kept = _side(right, taken | {left_kept})
    for side, keys in ((left_side, join.left_keys), (right_side, join.right_keys)):
        if _permitted(side, keys, catalog) is None:
            tables = " and ".join(dict.fromkeys(scan.table for scan in scans(side)))
            return f"{owner(side)} does not consent to matches of {tables}"
        if size_rule(side, catalog) is None:
            return _unsized(side)
    if (party := _computes_key(join)) is not None:
        return f"a key of {party}'s part is computed, which could be a condition"
    unique = is_unique(right_side, join.right_keys, catalog)
    found: Relation = Match(left_side, right_side, join.left_keys, join.right_keys, unique)
    kept = [(left, left_kept), (right, right_kept)]
    conditions: list[Expr] = [column(found, name) for whole, name in kept if whole.condition is not None]
    if not conditions:
        return found
    return Project(Filter(found, conjunction(conditions)), tuple((each.name, reference(each)) for each in fields(join)))


def _hidden(join: Join, catalog: Catalog) -> Relation | str:
    """The same join as a hidden Match, or why there is none."""
    if outside := _outside(join, catalog):
        return outside
    if not is_unique(join.right, join.right_keys, catalog):
        return f"circuit-PSI needs keys that are unique on both sides, those of {owner(join.right)} may repeat"
    for side in (join.left, join.right):
        if size_rule(side, catalog) is None:
            return _unsized(side)
    return Match(join.left, join.right, join.left_keys, join.right_keys, right_unique=True, hidden=True)


def refuse_full_join(join: FullJoin, catalog: Catalog) -> None:
    """Refuse a full join that is not of two nodes' whole tables, both of whose owners consent to matches.

    Raises UnsupportedSQL.
    """
    if owner(join) is not None:
        instead = "declare rows for both tables, or for neither"
        raise UnsupportedSQL(f"a FULL JOIN in which {_unsized(join)}", instead, join.position)
    for side, keys in ((join.left, join.left_keys), (join.right, join.right_keys)):
        party, whole = owner(side), _whole(side)
        if party is None or whole is None or whole.condition is not None:
            instead = "name two tables, each of one owner, and write conditions in WHERE"
            raise UnsupportedSQL("a FULL JOIN of anything but two owners' whole tables", instead, join.position)
        tables = " and ".join(dict.fromkeys(scan.table for scan in scans(side)))
        if party not in catalog.nodes:
            instead = "only nodes give universal ids; ask for it in a federation where it is one"
            raise UnsupportedSQL(f"a FULL JOIN with {tables}, whose owner {party} is no node", instead, join.position)
        if (computing := _computes_key(join)) is not None:
            construct = f"a FULL JOIN by a key that {computing}'s part computes"
            raise UnsupportedSQL(construct, "join on columns of both tables", join.position)
        if _permitted(side, keys, catalog) is None:
            raise UnsupportedSQL(
                f"a FULL JOIN with {tables}, to whose matches {party} does not consent,",
                f'it shows how many keys match, for which {party} writes consents = ["matches"] in its offer',
                join.position,
            )
        if size_rule(side, catalog) is None:
            raise UnsupportedSQL(f"a FULL JOIN in which {_unsized(side)}", "join one table a side", join.position)


def _computes_key(join: Join | FullJoin) -> str | None:
    """An owner whose part computes a key: matches by it would show more than which rows of two tables match.

    A column that is a key twice is as a key that is computed: it compares two columns of the other table.
    """
    for side, keys in ((join.left, join.left_keys), (join.right, join.right_keys)):
        columns = [_column_of(side, key) for key in keys]
        if None in columns or len(set(columns)) < len(columns):
            return owner(side)
    return None


def _column_of(relation: Relation, name: str) -> str | None:
    """The table's column whose values a column has, perhaps written in another way; None if it has other values."""
    match relation:
        case Scan(_, _, columns):
            return dict(columns)[name]
        case Filter(input, _) | Sort(input, _):
            return _column_of(input, name)
        case Project(input, outputs):
            source = reversible(dict(outputs)[name])
            return None if source is None else _column_of(input, source)
        case Aggregate(input, keys, _) if name in keys:
            return _column_of(input, name)
        case _:
            return None


def _outside(join: Join, catalog: Catalog) -> str | None:
    """Why the owners of both sides do not match them with each other, if one is no node."""
    parties = (owner(side) for side in (join.left, join.right))
    outside = [party for party in parties if party is not None and party not in catalog.nodes]
    return f"{' and '.join(outside)} is no node, and only nodes match their rows" if outside else None


def _unsized(side: Relation) -> str:
    return f"the size of {owner(side)}'s part falls under different size rules"


def _whole(relation: Relation) -> _Whole | None:
    """A local relation as its table's rows and a condition on each; None if its rows depend on more."""
    match relation:
        case Scan():
            return _Whole(relation, _same(relation), None)
        case Filter(input, predicate):
            found = _whole(input)
            if found is None:
                return None
            more = substitute(predicate, dict(found.columns))
            both = more if found.condition is None else conjunction([found.condition, more])
            return _Whole(found.base, found.columns, both)
        case Project(input, outputs):
            found = _whole(input)
            if found is None:
                return None
            sources = dict(found.columns)
            columns = tuple((name, substitute(each, sources)) for name, each in outputs)
            return _Whole(found.base, columns, found.condition)
        case Sort(input, _):
            return _whole(input)
        case Aggregate(input, keys, _):
            rows = _whole(input)
            plain = bool(keys) and rows is not None and rows.condition is None
            return _Whole(relation, _same(relation), None) if plain else None
        case _:
            return None


def _same(relation: Relation) -> tuple[tuple[str, Expr], ...]:
    return tuple((each.name, reference(each)) for each in fields(relation))


def _side(whole: _Whole, taken: set[str]) -> tuple[Relation, str]:
    """One side of a Match: all its rows, and the name of a column that says which of them to keep, if any."""
    name, number = "kept", 2
    while name in taken:
        name, number = f"kept_{number}", number + 1
    columns = whole.columns
    if whole.condition is not None:
        true, false = Literal(True, Boolean()), Literal(False, Boolean())
        columns += ((name, Call("if", (whole.condition, true, false), Boolean(), False)),)
    return projected(whole.base, columns), name


def _permitted(side: Relation, keys: tuple[str, ...], catalog: Catalog) -> DisclosureRule | None:
    """What allows to learn which rows of a side match; None if nothing does.

    The other owner learns which, every node how many: the terms of all tables name all of them.
    """
    named = {scan.table for scan in scans(side)}
    tables = [table for table in catalog.tables if table.name in named]
    if not all(matches_allowed(table, node) for table in tables for node in catalog.nodes):
        return None
    if all("matches" in table.consents for table in tables):
        return DisclosureRule.MATCHES_CONSENT
    readers = Readers(catalog).of(side)
    if all(readers[key] >= set(catalog.nodes) for key in keys):
        return DisclosureRule.READABLE_KEYS
    return None


def _replaced(relation: Relation, old: Relation, new: Relation) -> Relation:
    """The tree with another relation in place of one. A subtree without it stays the same object, with its facts."""
    if relation == old:
        return new
    changed = {each: _replaced(each, old, new) for each in children(relation)}
    same = all(each is found for each, found in changed.items())
    return relation if same else over_children(relation, changed.__getitem__)

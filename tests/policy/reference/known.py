"""Rows that a recipient knows in number or repeats at will, so that a floor of all of them protects none."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from .derive import VALUE, Derivation, State, shown
from .tree import Expr, Filter, Group, Join, Project, Relation, Sort, Union, name_of
from .values import argument, function


def broken(query: Derivation, recipient: str) -> Iterator[str]:
    """The rules by which a query is not allowed."""
    for tree in query.states:
        chooses = isinstance(tree, Filter | Join) or (isinstance(tree, Group) and tree.keys and _merges(query, tree))
        limits = [each for below in _inputs(tree) for each in _limits(query, below)] if chooses else []
        if any(_unseen(query, each.child, recipient) for each in limits):
            yield "floor"
    for group, child in query.groups.items():
        for instance in query.guards[group].floors:
            if query.tables[instance].binds(recipient):
                yield from _of_group(query, group, child, instance, recipient)


def _inputs(tree: Relation) -> tuple[Relation, ...]:
    match tree:
        case Join():
            return tree.left, tree.right
        case Union():
            return tuple(tree.sides)
        case Filter() | Group() | Project() | Sort():
            return (tree.child,)
    return ()


def _limits(query: Derivation, tree: Relation) -> Iterator[Sort]:
    """The LIMITs of rows above which nothing has been counted yet."""
    if isinstance(tree, Sort) and tree.limit is not None:
        yield tree
    if not _merges(query, tree):
        for each in _inputs(tree):
            yield from _limits(query, each)


def _merges(query: Derivation, tree: Relation) -> bool:
    """Whether a guard counts units here."""
    return isinstance(tree, Group) and bool(query.guards[tree].floors)


def _unseen(query: Derivation, tree: Relation, recipient: str) -> bool:
    """Whether a recipient does not see which rows there are."""
    state = query.states[tree]
    bound = [each for each in state.single if query.tables[each].binds(recipient)]
    return any(not _all_shown(query, each, state, recipient) for each in bound)


def _all_shown(query: Derivation, instance: str, state: State, recipient: str) -> bool:
    table = query.tables[instance]
    own = [pair for pair in state.presence if pair.instance == instance]
    return all(shown(table, pair.column, recipient) for pair in own) if own else table.shows_rows(recipient)


def _of_group(query: Derivation, group: Group, child: State, instance: str, recipient: str) -> Iterator[str]:
    """Rows that stand in several groups, and numbers of values of which one may be known to be there."""
    keys = {name_of(each) for _, each in group.keys if isinstance(each, exp.Column)}
    followed = len(keys) == len(group.keys) and keys <= child.closure({f"{instance}.#"})
    if group.keys and not followed and repeated(query, child, query.tables[instance].weights):
        yield "repeats"
    counted = [argument(each) for _, each in group.aggregates if function(each) == "count_distinct"]
    if any(_names_one(query, each, child, instance, recipient) for each in counted):
        yield "function"


def repeated(query: Derivation, state: State, listed: frozenset[str]) -> bool:
    """Whether rows of a recipient may stand several times beside one row of a table of rules."""
    partners = query.partners(state)
    return any(
        not any(map(query.binding, whom))
        and not whom <= partners
        and any(query.tables[each].owner in query.recipients for each in whom)
        and not all(f"{query.tables[each].name}.*" in listed for each in whom)
        for whom in state.identity.values()
    )


def _names_one(query: Derivation, counted: Expr, child: State, instance: str, recipient: str) -> bool:
    """Whether columns are counted that are only seen row by row, but for one that names rows."""
    table = query.tables[instance]
    output = query.output(counted, child)
    own = {pair.column for pair in output.pairs if pair.instance == instance and pair.way == VALUE}
    if isinstance(counted, exp.Column) and not output.mixed and any({*each} == own for each in table.unique):
        return False
    seen = {each for each in own if each in table.columns and shown(table, each, recipient)}
    return any("count_distinct" not in table.columns[each].functions for each in seen)

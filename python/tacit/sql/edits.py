"""Changes of a query's syntax near the place that a refusal blames, each in a tree of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Final

from sqlglot import exp

from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.terms import Function
from tacit.plan.policy.exposure import floor_of
from tacit.plan.policy.refusal import Problem
from tacit.sql.expressions import conjuncts
from tacit.sql.text import Text

Change = tuple[str, exp.Expr]
"""What is changed, as a command, and the query after it."""

AGGREGATES: Final[dict[Function, type[exp.AggFunc]]] = {"avg": exp.Avg, "sum": exp.Sum, "count": exp.Count}
"""What may be written instead of a value or of another aggregate."""


@dataclass(frozen=True)
class Edit:
    """A query to change, and what is wrong with it."""

    text: Text
    problem: Problem
    catalog: Catalog

    def copy(self) -> tuple[exp.Expr, exp.Expr]:
        """A new tree, and in it the column or aggregate that is blamed, or the whole query where none is."""
        tree = self.text.statement()
        found = [each for each in tree.walk() if isinstance(each, exp.Column | exp.AggFunc)]
        return tree, next((each for each in found if self.text.position(each) == self.problem.position), tree)

    @property
    def table(self) -> Table:
        """The table whose rules refuse."""
        return next(each for each in self.catalog.tables if each.name == self.problem.table)

    @property
    def column(self) -> Column | None:
        """Its column that is blamed."""
        return next((each for each in self.table.columns if each.field.name == self.problem.column), None)


def without_output(edit: Edit) -> Iterator[Change]:
    """Without the output, if it is not the only one."""
    tree, node = edit.copy()
    output = _part(node, exp.Select, "expressions")
    if output is not None and isinstance(output.parent, exp.Select) and len(output.parent.expressions) > 1:
        written = _sql(output)
        output.pop()
        yield f"leave out {written}", tree


def without_condition(edit: Edit) -> Iterator[Change]:
    """Without those of the conditions joined by AND, in WHERE or HAVING, that are blamed."""
    tree, node = edit.copy()
    clause = node.find_ancestor(exp.Where, exp.Having, exp.Select)
    if not isinstance(clause, exp.Where | exp.Having):
        return
    tests = conjuncts(clause.this)
    blamed = [each for each in tests if _within(node, each)]
    left = [each.copy() for each in tests if not _within(node, each)]
    name = "WHERE" if isinstance(clause, exp.Where) else "HAVING"
    written = " AND ".join(map(_sql, blamed))
    if left:
        clause.set("this", reduce(lambda a, b: exp.And(this=a, expression=b), left))
    else:
        clause.pop()
    yield f"leave out {name} {written}" if not left else f"leave out {written}", tree


def without_order(edit: Edit) -> Iterator[Change]:
    """In the order of another output, or else in none, and then all rows."""
    tree, node = edit.copy()
    select = node.find_ancestor(exp.Select)
    term = _part(node, exp.Order, "expressions")
    if term is None or select is None:
        return
    named = {each.name.lower() for each in term.find_all(exp.Column)}
    for name in (each.output_name for each in select.expressions):
        other, found = edit.copy()
        place = _part(found, exp.Order, "expressions")
        if name and name.lower() not in named and place is not None:
            place.set("this", exp.column(name))
            yield f"order by {name}", other
    written = _sql(term)
    order = term.parent
    term.pop()
    if order is not None and not order.expressions:
        for part in ("order", "limit", "offset"):
            select.set(part, None)
    yield f"leave out ORDER BY {written}", tree


def without_group(edit: Edit) -> Iterator[Change]:
    """Without the key of groups, and without the outputs that show it."""
    _, node = edit.copy()
    select = node.find_ancestor(exp.Select) if not isinstance(node, exp.Select) else node
    group = None if select is None else select.args.get("group")
    if select is None or group is None:
        return
    blamed = [each for each in group.expressions if _within(node, each) or each == node]
    for key in blamed or group.expressions:
        written = _sql(key)
        yield from _without_key(edit, written)


def plain_groups(edit: Edit) -> Iterator[Change]:
    """Groups by all keys once, in place of several grouping sets."""
    tree, _ = edit.copy()
    several = (exp.Rollup, exp.Cube, exp.GroupingSets)
    for group in tree.find_all(exp.Group):
        if any(isinstance(each, several) for each in group.expressions):
            keys = [key for each in group.expressions for key in _keys(each)]
            once = {_sql(key): key.copy() for key in keys}
            group.replace(exp.Group(expressions=list(once.values())))
            yield f"write GROUP BY {', '.join(once)}", tree
            return


def _keys(node: exp.Expr) -> list[exp.Expr]:
    """The keys of a member of GROUP BY."""
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
        return [key for each in node.expressions for key in _keys(each)]
    return [node]


def _without_key(edit: Edit, written: str) -> Iterator[Change]:
    tree, node = edit.copy()
    select = node.find_ancestor(exp.Select) if not isinstance(node, exp.Select) else node
    assert select is not None, "a key of groups stands in a SELECT"
    group = select.args["group"]
    for each in [each for each in group.expressions if _sql(each) == written]:
        each.pop()
    for each in [each for each in select.expressions if _sql(each.unalias()) == written]:
        each.pop()
    if not group.expressions:
        group.pop()
    if select.expressions:
        yield f"leave out GROUP BY {written}", tree


def aggregated(edit: Edit) -> Iterator[Change]:
    """An aggregate that the owner allows of the column, in place of its values."""
    for function, kind in _allowed(edit):
        tree, node = edit.copy()
        if not isinstance(node, exp.Column) or node.find_ancestor(exp.AggFunc, exp.Where, exp.Order) is not None:
            return
        column = node.copy()
        node.replace(kind(this=column))
        yield f"write {function}({_sql(column)})", tree


def other_function(edit: Edit) -> Iterator[Change]:
    """Another aggregate of the same, that the owner allows."""
    for function, kind in _allowed(edit):
        tree, node = edit.copy()
        old = node if isinstance(node, exp.AggFunc) else node.find_ancestor(exp.AggFunc)
        if old is None or isinstance(old, kind):
            continue
        argument = old.this.expressions[0] if isinstance(old.this, exp.Distinct) else old.this
        old.replace(kind(this=argument.copy()))
        yield f"write {function}({_sql(argument)})", tree


def multiples(edit: Edit) -> Iterator[Change]:
    """The sum of the column itself."""
    tree, node = edit.copy()
    old = node if isinstance(node, exp.AggFunc) else node.find_ancestor(exp.AggFunc)
    column = next(
        (each for each in (old.find_all(exp.Column) if old else ()) if each.name == edit.problem.column), None
    )
    if old is not None and column is not None:
        written = f"{type(old).__name__.upper()}({_sql(column)})"
        old.replace(type(old)(this=column.copy()))
        yield f"write {written}", tree


def of_count(edit: Edit) -> Iterator[Change]:
    """The number of rows in place of the aggregate."""
    tree, node = edit.copy()
    old = node if isinstance(node, exp.AggFunc) else node.find_ancestor(exp.AggFunc)
    if old is not None:
        old.replace(exp.Count(this=exp.Star()))
        yield "write COUNT(*)", tree


def counting_units(edit: Edit) -> Iterator[Change]:
    """The number of units in place of the number of rows, under each name that the table has in the query."""
    terms = edit.table.terms
    unit = terms.unit if terms is not None else ()
    for alias in _aliases(edit) if len(unit) == 1 else ():
        tree, node = edit.copy()
        old = node if isinstance(node, exp.AggFunc) else node.find_ancestor(exp.AggFunc)
        if old is not None:
            column = exp.column(unit[0], table=alias)
            old.replace(exp.Count(this=exp.Distinct(expressions=[column])))
            yield f"write COUNT(DISTINCT {_sql(column)})", tree


def counted(edit: Edit) -> Iterator[Change]:
    """How many rows there are, in place of the rows."""
    tree, _ = edit.copy()
    if isinstance(tree, exp.Select):
        for part in ("order", "limit", "offset", "distinct", "group", "having"):
            tree.set(part, None)
        tree.set("expressions", [exp.Count(this=exp.Star())])
        yield "ask for COUNT(*)", tree


def raised(edit: Edit) -> Iterator[Change]:
    """A condition that groups above the floor can fulfil."""
    tree, node = edit.copy()
    test = node.find_ancestor(exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
    if test is not None and isinstance(node, exp.AggFunc):
        least = exp.Literal.number(floor_of(edit.table))
        new = exp.GTE(this=node.copy(), expression=least)
        test.replace(new)
        yield f"write {_sql(new)}", tree


def inner_joined(edit: Edit) -> Iterator[Change]:
    """An inner join in place of one that keeps rows."""
    sides = [each.side.upper() for each in edit.text.statement().find_all(exp.Join) if each.side]
    for place, side in enumerate(sides):
        tree, _ = edit.copy()
        join = [each for each in tree.find_all(exp.Join) if each.side][place]
        join.set("side", None)
        join.set("kind", None)
        yield f"write JOIN instead of {side} JOIN", tree


def _allowed(edit: Edit) -> Iterator[tuple[str, type[exp.AggFunc]]]:
    column = edit.column
    if column is not None and "aggregate" in column.terms.ways:
        yield from (
            (kind.__name__.upper(), kind) for name, kind in AGGREGATES.items() if name in column.terms.functions
        )


def _aliases(edit: Edit) -> list[str]:
    tables = edit.text.statement().find_all(exp.Table)
    return [each.alias_or_name for each in tables if each.name.lower() == edit.table.name.lower()]


def _part(node: exp.Expr, kind: type[exp.Expr], part: str) -> exp.Expr | None:
    """The member of a list of a clause that a node stands in, or is."""
    below: exp.Expr | None = node
    while below is not None and below.parent is not None:
        if isinstance(below.parent, kind):
            return below if below.arg_key == part else None
        below = below.parent
    return None


def _within(node: exp.Expr, whole: exp.Expr) -> bool:
    return any(each is node for each in whole.walk())


def _sql(node: exp.Expr) -> str:
    return node.sql("duckdb")

"""One SELECT: FROM and WHERE, then grouping, the SELECT list, DISTINCT, ORDER BY and LIMIT on top."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from tacit.plan.algebra.relations import Aggregate, ColumnRef, Expr, Filter, Project, Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import columns_of, fields, names
from tacit.sql.correlation import without_around
from tacit.sql.distinct_on import distinct_terms, first_rows
from tacit.sql.divided_columns import divided
from tacit.sql.expressions import Expressions, conjuncts
from tacit.sql.from_clause import From
from tacit.sql.grouping import Grouping, has_aggregate
from tacit.sql.grouping_sets import grouping_sets
from tacit.sql.joins import semi_join
from tacit.sql.membership import member_query
from tacit.sql.ordering import Key, limited, order_terms, sort_keys, sorted_by
from tacit.sql.scope import fresh, source_of
from tacit.sql.subqueries import joined_with
from tacit.sql.text import Text, only
from tacit.sql.titles import title
from tacit.sql.windows import Windows

PARTS = {
    "expressions", "from_", "joins", "where", "group", "having", "windows", "qualify", "order", "limit", "offset",
    "distinct", "with_",
}  # fmt: skip
Output = tuple[str, Expr, exp.Expr]


class Select:
    """Binds one SELECT over its FROM clause. named: the names of its columns matter."""

    def __init__(self, node: exp.Select, clause: From, text: Text, catalog: Catalog, *, named: bool = True) -> None:
        only(node, text, PARTS, "SELECT")
        self.named = named
        self.node = node
        self.clause = clause
        self.text = text
        self.catalog = catalog
        self.subqueries = clause.subqueries
        self.attached = clause.subqueries.attached
        self.aliases = {each.alias.lower(): each.this for each in node.expressions if isinstance(each, exp.Alias)}
        self.scope = clause.scope

    def relation(self) -> Relation:
        """The whole SELECT; the output's columns are the SELECT list's."""
        source = self._source()
        if self._lacks_keys():
            self.scope = self.scope.nullable(range(len(self.scope.sources)))
        items = self._items()
        distinct = distinct_terms(self.node, items, self.text)
        terms = order_terms(self.node, items, self.text) + distinct
        grouping = self._grouping(source, items, terms)
        outputs, keys, over = self._bound(source, items, terms, grouping)
        return self._finished(over, outputs, keys, len(distinct))

    def _lacks_keys(self) -> bool:
        """Whether rows of one grouping set are without keys of another: NULL there, whatever the tables say of them."""
        group = self.node.args.get("group")
        return group is not None and len(grouping_sets(group, self.text)) > 1

    def _source(self) -> Relation:
        """FROM and WHERE."""
        where = self.node.args.get("where")
        self.clause.places.tell(where.this if where else None)
        bind = self._expressions("WHERE")
        bind.quotients = self.clause.quotients
        plain: list[Expr] = []
        members = []
        for node in [] if where is None else conjuncts(where.this):
            found = self.subqueries.choices(node, bind) if _is_membership(node) else None
            if found is None:
                plain.append(bind.condition(node))
            else:
                members.append(found)
        relation = joined_with(self.clause.items, self.clause.conditions + plain, self.attached, self.catalog)
        for values, choices in members:
            relation = self.attached.added(relation, _used(values))
            choices = source_of("member", choices, self.clause.taken).relation
            self.clause.taken |= {name.lower() for name in names(choices)}
            relation = semi_join(relation, values, choices, names(choices), self.catalog)
        return relation

    def _items(self) -> list[tuple[str, exp.Expr]]:
        """The SELECT list with its stars written out: output name and expression."""
        found: list[tuple[str, exp.Expr]] = []
        if not self.node.expressions:
            raise self.text.invalid(self.node, "the SELECT list is empty; name the columns, or write *.")
        for node in self.node.expressions:
            if _is_star(node):
                only(node if isinstance(node, exp.Star) else node.this, self.text, set(), "*")
                table = node.table if isinstance(node, exp.Column) else ""
                found += self.clause.scope.star(table, node, self.text)
            else:
                found.append((node.alias, node.this) if isinstance(node, exp.Alias) else (self._title(node), node))
        if not self.named:
            return _renamed(found)
        self._distinct_names([name for name, _ in found])
        return found

    def _title(self, node: exp.Expr) -> str:
        """The name of an output without an alias."""
        column = node.unnest()
        return self.clause.scope.declared(column) if isinstance(column, exp.Column) else title(node, self.text)

    def _distinct_names(self, found: list[str]) -> None:
        lower = [name.lower() for name in found]
        twice = next((name for name in found if lower.count(name.lower()) > 1), None)
        if twice is not None:
            raise self.text.unsupported(
                self.node.expressions[-1], f"the output name {twice!r} used twice", "name each column with AS"
            )

    def _grouping(self, source: Relation, items: list[tuple[str, exp.Expr]], terms: list[Key]) -> Grouping | None:
        group, having = self.node.args.get("group"), self.node.args.get("having")
        nodes = [node for _, node in items] + [term.node for term in terms]
        aggregated = having is not None or any(has_aggregate(node) for node in nodes)
        if group is None and not aggregated:
            return None
        sets = [[]] if group is None else self._group_keys(group, items)
        if group is not None and group.args.get("all") and sets == [[]] and not aggregated:
            return None  # Of the rows nothing is shown: DuckDB groups nothing.
        argument = self._divided(self._expressions("the argument of an aggregate"))
        return Grouping(source, sets, argument, self.clause.taken, self.text)

    def _divided(self, bind: Expressions) -> Callable[[exp.Expr], Expr]:
        """Binds an argument, of which the DOUBLEs of subqueries are what these are divided from."""
        return lambda node: divided(bind.bind(node), self.clause.quotients)

    def _group_keys(self, group: exp.Group, items: list[tuple[str, exp.Expr]]) -> list[list[Expr]]:
        """The keys of each grouping set."""
        only(group, self.text, {"expressions", "all"}, "GROUP BY")
        bind = self._expressions("GROUP BY")
        if group.args.get("all"):
            shown = [self._group_key(bind.bind(node)) for _, node in items if not has_aggregate(node)]
            return [[key for key in shown if self.attached.takes_rows(key)]]
        sets = grouping_sets(group, self.text)
        return [[self._group_key(bind.bind(_ordinal(node, items, self.text))) for node in nodes] for nodes in sets]

    def _group_key(self, key: Expr) -> Expr:
        without_around(key, "in GROUP BY")
        return key

    def _bound(
        self, source: Relation, items: list[tuple[str, exp.Expr]], terms: list[Key], grouping: Grouping | None
    ) -> tuple[list[Output], list[Output], Relation]:
        """SELECT list and ORDER BY expressions, and the relation they are over."""
        having = self.node.args.get("having")
        self.clause.places.tell(None if having is None else having.this)
        if grouping is None:
            return self._of_rows(source, items, terms)
        return self._of_groups(source, items, terms, grouping)

    def _of_rows(
        self, source: Relation, items: list[tuple[str, exp.Expr]], terms: list[Key]
    ) -> tuple[list[Output], list[Output], Relation]:
        windows = self._windows(self._divided(self._expressions("a window function")), lambda: source)
        bind = self._expressions("SELECT", window=windows.collect)
        outputs = [(name, bind.bind(node), node) for name, node in items]
        keys = [(term.output, bind.bind(term.node), term.node) for term in terms]
        qualify = self._qualify(windows)
        tests = [] if qualify is None else [qualify]
        used = _used([*(each for _, each, _ in outputs + keys), *windows.inputs, *tests])
        over = windows.relation(self.attached.added(source, used))
        return outputs, keys, over if qualify is None else Filter(over, qualify)

    def _of_groups(
        self, source: Relation, items: list[tuple[str, exp.Expr]], terms: list[Key], grouping: Grouping
    ) -> tuple[list[Output], list[Output], Relation]:
        inner = self._expressions("a window function", grouping)
        windows = self._windows(lambda node: self._over_groups(grouping, inner.bind(node), node), grouping.rows)
        bind = self._expressions("SELECT", grouping, windows.collect)
        outputs = [(name, bind.bind(node), node) for name, node in items]
        keys = [(term.output, bind.bind(term.node), term.node) for term in terms]
        qualify, having = self._qualify(windows, grouping), self.node.args.get("having")
        test = None if having is None else self._expressions("HAVING", grouping).condition(having.this)
        allowed = set(self.attached.made)
        shown = allowed | windows.names
        outputs = [(name, grouping.over_groups(each, node, shown), node) for name, each, node in outputs]
        keys = [(name, grouping.over_groups(each, node, shown), node) for name, each, node in keys]
        tests = [] if test is None or having is None else [grouping.over_groups(test, having, allowed)]
        last = [] if qualify is None else [grouping.over_groups(qualify, self.node.args["qualify"], shown)]
        groups = grouping.relation(self.attached.added(source, _used(grouping.inputs)))
        over = self.attached.added(
            groups,
            _used([*(each for _, each, _ in outputs + keys), *windows.inputs, *tests, *last]),
            lambda outer: grouping.over_groups(outer, self.node, allowed),
        )
        over = windows.relation(Filter(over, tests[0]) if tests else over)
        return outputs, keys, Filter(over, last[0]) if last else over

    def _over_groups(self, grouping: Grouping, expr: Expr, node: exp.Expr) -> Expr:
        """What a window function takes of the groups, with the subqueries met so far."""
        return grouping.over_groups(expr, node, set(self.attached.made))

    def _windows(self, argument: Callable[[exp.Expr], Expr], base: Callable[[], Relation]) -> Windows:
        named = {each.this.name.lower(): each for each in self.node.args.get("windows") or []}
        return Windows(named, argument, base, self.clause.taken, self.text)

    def _qualify(self, windows: Windows, grouping: Grouping | None = None) -> Expr | None:
        """The condition of QUALIFY, which names a window function or there is one in the SELECT list."""
        clause = self.node.args.get("qualify")
        if clause is None:
            return None
        condition = self._expressions("QUALIFY", grouping, windows.collect).condition(clause.this)
        if not windows.names:
            raise self.text.invalid(clause, "QUALIFY without a window function; write WHERE or HAVING.")
        return condition

    def _finished(self, over: Relation, outputs: list[Output], keys: list[Output], on: int) -> Relation:
        """The SELECT list, then DISTINCT, ORDER BY and LIMIT. on: how many keys at the end are those of DISTINCT ON."""
        listed = tuple((name, each) for name, each, _ in outputs)
        known = {each: name for name, each in reversed(listed)}
        hidden: dict[Expr, str] = {}
        taken = {name.lower() for name, _ in listed}
        sort_names = []
        for output, each, node in keys:
            if not output and each not in known and each not in hidden:
                if self.node.args.get("distinct") and not on:
                    raise self.text.invalid(node, "with SELECT DISTINCT, ORDER BY can only use output columns.")
                hidden[each] = fresh("order", "sort", taken)
                taken.add(hidden[each].lower())
            sort_names.append(output or known.get(each) or hidden[each])
        relation: Relation = Project(over, listed + tuple((name, each) for each, name in hidden.items()))
        order, distinct = sort_names[: len(sort_names) - on], sort_names[len(sort_names) - on :]
        if on:
            relation = first_rows(relation, distinct, sort_keys(self.node, order))
        elif self.node.args.get("distinct"):
            relation = Aggregate(relation, tuple(name for name, _ in listed), ())
        relation = limited(sorted_by(relation, self.node, order), self.node, self.text)
        if hidden or on:
            relation = Project(
                relation,
                tuple(
                    (each.name, ColumnRef(each.name, each.type, each.nullable))
                    for each in fields(relation)[: len(listed)]
                ),
            )
        return relation

    def _expressions(
        self,
        place: str,
        grouping: Grouping | None = None,
        window: Callable[[exp.Window], Expr] | None = None,
    ) -> Expressions:
        aggregate = None if grouping is None else grouping.collect
        scope, subquery = self.scope, self.subqueries.bind
        return Expressions(scope, self.text, place, subquery, aggregate, self.aliases, window=window)


def _used(each: Iterable[Expr]) -> set[str]:
    return {name for expr in each for name in columns_of(expr)}


def _is_membership(node: exp.Expr) -> bool:
    """Whether a condition is EXISTS (SELECT ...) or IN (SELECT ...)."""
    return isinstance(node, exp.Exists) or member_query(node) is not None


def _renamed(items: list[tuple[str, exp.Expr]]) -> list[tuple[str, exp.Expr]]:
    """Items of which no two are called the same."""
    found: list[tuple[str, exp.Expr]] = []
    for name, node in items:
        found.append((fresh(name, "", {known.lower() for known, _ in found}), node))
    return found


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _ordinal(node: exp.Expr, items: list[tuple[str, exp.Expr]], text: Text) -> exp.Expr:
    """A whole number in GROUP BY means the column at that place of the SELECT list."""
    if not (isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()):
        return node
    place = int(node.this)
    if not 1 <= place <= len(items):
        raise text.invalid(node, f"GROUP BY {place} is out of range; the SELECT list has {len(items)} columns.")
    return items[place - 1][1]

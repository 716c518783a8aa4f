"""One SELECT: FROM and WHERE, then grouping, the SELECT list, DISTINCT, ORDER BY and LIMIT on top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import Aggregate, Broadcast, ColumnRef, Expr, Filter, Project, Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import fields, names
from tacit.sql.coercion import Mismatch, coerce, common_type
from tacit.sql.expressions import Expressions, conjuncts
from tacit.sql.from_clause import From
from tacit.sql.grouping import Grouping, has_aggregate
from tacit.sql.grouping_sets import grouping_sets
from tacit.sql.joins import is_single_row, join_all, semi_join
from tacit.sql.ordering import Key, limited, order_terms, sorted_by
from tacit.sql.scope import fresh, source_of
from tacit.sql.text import Text, only
from tacit.sql.titles import title
from tacit.sql.windows import Windows

PARTS = {
    "expressions", "from_", "joins", "where", "group", "having", "windows", "qualify", "order", "limit", "offset",
    "distinct", "with_",
}  # fmt: skip
Output = tuple[str, Expr, exp.Expr]


@dataclass
class _Scalars:
    """Scalar subqueries met while binding; each becomes a column of one more one-row relation.

    met: by what they are. known: those of another part of the query. same: columns of equal ones to those.
    """

    bind: Callable[[exp.Query], Relation]
    text: Text
    taken: set[str]
    relations: list[Relation]
    known: dict[Relation, ColumnRef] = field(default_factory=dict)
    met: dict[Relation, ColumnRef] = field(default_factory=dict)
    same: dict[str, Expr] = field(default_factory=dict)

    def column(self, node: exp.Query) -> ColumnRef:
        relation = self.bind(node)
        found = fields(relation)
        if len(found) != 1:
            raise self.text.invalid(node, f"a scalar subquery must have one column, not {len(found)}.")
        if not is_single_row(relation):
            raise UnsupportedSQL(
                "a scalar subquery that may have no row or several",
                "make it one aggregate without GROUP BY, such as MAX(...)",
                self.text.position(node),
            )
        name = fresh("scalar", "subquery", self.taken)
        self.taken.add(name.lower())
        self.relations.append(Project(relation, ((name, ColumnRef(found[0].name, found[0].type, found[0].nullable)),)))
        column = ColumnRef(name, found[0].type, True)
        if relation in self.known:
            self.same[name] = self.known[relation]
        else:
            self.met[relation] = column
        return column

    def again(self) -> _Scalars:
        """For another part of the query."""
        return _Scalars(self.bind, self.text, self.taken, [], known=dict(self.met))

    def added(self, relation: Relation) -> Relation:
        """The relation with a column for each subquery met so far."""
        for each in self.relations:
            relation = Broadcast(relation, each)
        self.relations = []
        return relation


class Select:
    """Binds one SELECT. query: binds a nested query. named: the names of its columns matter."""

    def __init__(
        self,
        node: exp.Select,
        clause: From,
        text: Text,
        catalog: Catalog,
        query: Callable[[exp.Query], Relation],
        *,
        named: bool = True,
    ) -> None:
        only(node, text, PARTS, "SELECT")
        self.named = named
        self.node = node
        self.clause = clause
        self.text = text
        self.catalog = catalog
        self.query = query
        self.scalars = _Scalars(query, text, clause.taken, [])
        self.aliases = {each.alias.lower(): each.this for each in node.expressions if isinstance(each, exp.Alias)}

    def relation(self) -> Relation:
        """The whole SELECT; the output's columns are the SELECT list's."""
        source = self._source()
        items = self._items()
        terms = order_terms(self.node, items, self.text)
        grouping = self._grouping(source, items, terms)
        outputs, keys, over = self._bound(source, items, terms, grouping)
        return self._finished(over, outputs, keys)

    def _source(self) -> Relation:
        """FROM and WHERE."""
        where = self.node.args.get("where")
        plain, memberships = _memberships(where.this if where else None)
        bind = self._expressions("WHERE")
        conditions = [bind.condition(node) for node in plain]
        relation = join_all(
            self.clause.items, self.clause.conditions + conditions, self.scalars.relations, self.catalog
        )
        self.scalars.relations = []
        for node in memberships:
            relation = self._semi_joined(relation, node)
        return relation

    def _semi_joined(self, relation: Relation, node: exp.In) -> Relation:
        choices = self.query(node.args["query"])
        if len(fields(choices)) != 1:
            raise self.text.invalid(node, "the SELECT of an IN must have exactly one column.")
        source = source_of("member", choices, self.clause.taken)
        self.clause.taken |= {column.name.lower() for _, column in source.columns}
        (_, member), key = source.columns[0], self._expressions("WHERE").bind(node.this)
        try:
            target = common_type(key, member)
            key, found = coerce(key, target), coerce(member, target)
        except Mismatch as error:
            raise self.text.invalid(node, f"{error}.") from None
        choices = Project(source.relation, ((member.name, found),)) if found is not member else source.relation
        return semi_join(self.scalars.added(relation), [key], choices, names(choices), self.catalog)

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
        if group is None and having is None and not any(has_aggregate(node) for node in nodes):
            return None
        sets = [[]] if group is None else self._group_keys(group, items)
        argument = self._expressions("the argument of an aggregate").bind
        return Grouping(source, sets, argument, self.clause.taken, self.text)

    def _group_keys(self, group: exp.Group, items: list[tuple[str, exp.Expr]]) -> list[list[Expr]]:
        """The keys of each grouping set."""
        only(group, self.text, {"expressions", "all"}, "GROUP BY")
        sets = grouping_sets(group, self.text)
        if group.args.get("all"):
            sets = [[node for _, node in items if not has_aggregate(node)]]
        bind = self._expressions("GROUP BY")
        return [[bind.bind(_ordinal(node, items, self.text)) for node in nodes] for nodes in sets]

    def _bound(
        self, source: Relation, items: list[tuple[str, exp.Expr]], terms: list[Key], grouping: Grouping | None
    ) -> tuple[list[Output], list[Output], Relation]:
        """SELECT list and ORDER BY expressions, and the relation they are over."""
        if grouping is None:
            windows = self._windows(self._expressions("a window function").bind, lambda: source)
            bind = self._expressions("SELECT", window=windows.collect)
            outputs = [(name, bind.bind(node), node) for name, node in items]
            keys = [(term.output, bind.bind(term.node), term.node) for term in terms]
            qualify = self._qualify(windows)
            over = windows.relation(self.scalars.added(source))
            return outputs, keys, over if qualify is None else Filter(over, qualify)
        before, self.scalars = self.scalars, self.scalars.again()
        grouping.same = self.scalars.same
        argument = Expressions(
            self.clause.scope, self.text, "the argument of an aggregate", before.column, aliases=self.aliases
        )
        grouping.argument = argument.bind
        inner = self._expressions("a window function", grouping)
        windows = self._windows(lambda node: self._over_groups(grouping, inner.bind(node), node), grouping.rows)
        bind = self._expressions("SELECT", grouping, windows.collect)
        outputs = [(name, bind.bind(node), node) for name, node in items]
        keys = [(term.output, bind.bind(term.node), term.node) for term in terms]
        qualify = self._qualify(windows, grouping)
        having = self.node.args.get("having")
        test = None if having is None else self._expressions("HAVING", grouping).condition(having.this)
        allowed = {name for each in self.scalars.relations for name in names(each)}
        shown = allowed | windows.names
        outputs = [(name, grouping.over_groups(each, node, shown), node) for name, each, node in outputs]
        keys = [(name, grouping.over_groups(each, node, shown), node) for name, each, node in keys]
        over = self.scalars.added(grouping.relation(before.added(source)))
        if test is not None and having is not None:
            over = Filter(over, grouping.over_groups(test, having, allowed))
        over = windows.relation(over)
        if qualify is not None:
            over = Filter(over, grouping.over_groups(qualify, self.node.args["qualify"], shown))
        return outputs, keys, over

    def _over_groups(self, grouping: Grouping, expr: Expr, node: exp.Expr) -> Expr:
        """What a window function takes of the groups, with the scalar subqueries met so far."""
        allowed = {name for each in self.scalars.relations for name in names(each)}
        return grouping.over_groups(expr, node, allowed)

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

    def _finished(self, over: Relation, outputs: list[Output], keys: list[Output]) -> Relation:
        """The SELECT list, then DISTINCT, ORDER BY and LIMIT."""
        listed = tuple((name, each) for name, each, _ in outputs)
        known = {each: name for name, each in reversed(listed)}
        hidden: dict[Expr, str] = {}
        taken = {name.lower() for name, _ in listed}
        sort_names = []
        for output, each, node in keys:
            if not output and each not in known and each not in hidden:
                if self.node.args.get("distinct"):
                    raise self.text.invalid(node, "with SELECT DISTINCT, ORDER BY can only use output columns.")
                hidden[each] = fresh("order", "sort", taken)
                taken.add(hidden[each].lower())
            sort_names.append(output or known.get(each) or hidden[each])
        relation: Relation = Project(over, listed + tuple((name, each) for each, name in hidden.items()))
        if self.node.args.get("distinct"):
            if self.node.args["distinct"].args.get("on") is not None:
                instead = "group by these columns, with MIN or MAX of the others"
                raise self.text.unsupported(self.node.args["distinct"], "DISTINCT ON", instead)
            only(self.node.args["distinct"], self.text, set(), "DISTINCT")
            relation = Aggregate(relation, tuple(name for name, _ in listed), ())
        relation = limited(sorted_by(relation, self.node, sort_names), self.node, self.text)
        if hidden:
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
        return Expressions(self.clause.scope, self.text, place, self.scalars.column, aggregate, self.aliases, window)


def _memberships(where: exp.Expr | None) -> tuple[list[exp.Expr], list[exp.In]]:
    """The conditions of WHERE: plain ones, and column IN (SELECT ...)."""
    found = [] if where is None else conjuncts(where)
    members = [each for each in found if isinstance(each, exp.In) and each.args.get("query") is not None]
    return [each for each in found if each not in members], members


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

"""The FROM clause: its tables, subqueries and CTEs as sources, and the conditions that ON and USING add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from tacit.plan.algebra.expressions import conjuncts, reference
from tacit.plan.algebra.refusals import UnknownName
from tacit.plan.algebra.relations import ColumnRef, Expr, KeptScan, Project, Relation, Scan, Union
from tacit.plan.facts.catalog import Catalog, KeptTable, Table, UnitedTable
from tacit.plan.facts.deliveries import delivered_table, delivery_name
from tacit.plan.facts.fields import columns_of, fields, names
from tacit.sql import arithmetic
from tacit.sql.constants import one_row, values_list
from tacit.sql.correlation import without_around
from tacit.sql.divided_columns import with_parts
from tacit.sql.expressions import Expressions
from tacit.sql.join_kinds import Kind, join_kind
from tacit.sql.joins import Joined
from tacit.sql.outer_joins import anti_joined, outer_join, semi_joined
from tacit.sql.places import Places
from tacit.sql.scope import Scope, fresh, source_of
from tacit.sql.subqueries import Subqueries, joined_with
from tacit.sql.text import Text, only
from tacit.sql.using import Pair, equal, natural, pairs_of

Ctes = dict[str, tuple[str, Relation]]


class From:
    """The sources of a SELECT. taken: lower-case names of all their columns, to which later steps add theirs."""

    def __init__(
        self,
        node: exp.Select,
        ctes: Ctes,
        text: Text,
        catalog: Catalog,
        query: Callable[[exp.Expr, Scope | None], Relation],
        around: Scope | None,
    ) -> None:
        self.ctes = ctes
        self.text = text
        self.catalog = catalog
        self.query = query
        self.scope = Scope(around=around)
        self.items: list[Joined] = []
        self.conditions: list[Expr] = []
        self.taken: set[str] = set()
        self.quotients: dict[str, Expr] = {}
        self.places = Places()
        self.subqueries = Subqueries(query, text, catalog, self.taken, self.places)
        # What the last comma began: its first relation, condition and source.
        self.first, self.settled, self.first_source = 0, 0, 0
        clause = node.args.get("from_")
        if clause is None:
            self._without_tables(node)
            return
        self._add(clause.this)
        for join in node.args.get("joins") or []:
            self._join(join)

    def _without_tables(self, node: exp.Select) -> None:
        """One row, of which nothing can be named."""
        if any(each.is_star for each in node.expressions):
            raise self.text.invalid(node, "* needs a FROM clause; name the tables.")
        name = fresh("row", "", self.taken)
        self.taken.add(name)
        self.items.append(Joined("", one_row(name, self.catalog), self.text.position(node)))

    def _join(self, join: exp.Join) -> None:
        kind = join_kind(join, self.text)
        if kind == "COMMA":
            self.first, self.settled = len(self.items), len(self.conditions)
            self.first_source = len(self.scope.sources)
            self._add(join.this)
        elif kind == "INNER":
            self._add(join.this)
            conditions, pairs = self._on(join)
            self.conditions += conditions
            self.scope = self.scope.merging(frozenset(pairs)) if pairs else self.scope
        else:
            self._with_kept_rows(join, kind)

    def _with_kept_rows(self, join: exp.Join, kind: Kind) -> None:
        """Join all since the last comma with one more relation."""
        left, scope = self._joined_so_far(), self.scope
        self._add(join.this)
        right = self.items[-1]
        conditions, pairs = self._on(join)
        self._check_kept(join, conditions)
        match kind:
            case "SEMI":
                relation, self.scope = semi_joined(left, right, conditions, self.catalog), scope
            case "ANTI":
                relation, self.scope = anti_joined(left, right, conditions, self.taken), scope
            case "LEFT" | "RIGHT" | "FULL":
                relation = outer_join(left, right, conditions, kind, self.catalog)
                relation = self._outer_scope(relation, kind, pairs)
            case _:
                raise AssertionError(f"{kind} keeps no rows")
        self.items[self.first :] = [Joined(right.alias, relation, right.position)]
        self.conditions[self.settled :] = []

    def _check_kept(self, join: exp.Join, conditions: list[Expr]) -> None:
        """Refuse what the condition of a join that keeps rows cannot use."""
        for each in conditions:
            without_around(each, "in ON of a join that is not an inner one")
            if columns_of(each) & self.subqueries.attached.made.keys():
                instead = "compute it in a subquery of FROM, and join that"
                raise self.text.unsupported(join, "a subquery in ON of a join that is not an inner one", instead)

    def _joined_so_far(self) -> Relation:
        items, conditions = self.items[self.first :], self.conditions[self.settled :]
        return joined_with(items, conditions, self.subqueries.attached, self.catalog)

    def _outer_scope(self, relation: Relation, kind: Kind, pairs: dict[str, Pair]) -> Relation:
        """The relation with the columns that USING shows, and the scope with columns that may be NULL."""
        last = len(self.scope.sources) - 1
        start = last if kind == "LEFT" else self.first_source
        self.scope = self.scope.nullable(range(start, last if kind == "RIGHT" else last + 1))
        if kind == "LEFT":
            self.scope = self.scope.merging(frozenset(pairs)) if pairs else self.scope
            return relation
        shown = {name: its for name, (_, its) in pairs.items()}
        if kind == "FULL":
            relation, shown = self._either(relation, pairs)
        self.scope = self.scope.sharing(self.first_source, shown)
        return relation

    def _either(self, relation: Relation, pairs: dict[str, Pair]) -> tuple[Relation, dict[str, ColumnRef]]:
        """The relation with a column for each pair: the one of the two that is there."""
        added: list[tuple[str, Expr]] = []
        for name, pair in pairs.items():
            either = arithmetic.coalesce([replace(each, nullable=True) for each in pair], None)
            added.append((fresh(name, "using", self.taken), either))
            self.taken.add(added[-1][0].lower())
        listed = [(each.name, reference(each)) for each in fields(relation)]
        found = {name: ColumnRef(column, each.type, True) for name, (column, each) in zip(pairs, added, strict=True)}
        return (Project(relation, (*listed, *added)) if added else relation), found

    def _on(self, join: exp.Join) -> tuple[list[Expr], dict[str, Pair]]:
        """The conditions of ON, USING or NATURAL, and the pairs of columns of the latter two."""
        if join.args.get("on") is not None:
            self.places.tell(join.args["on"])
            bind = Expressions(self.scope, self.text, "ON", self.subqueries.bind, quotients=self.quotients)
            return conjuncts(bind.condition(join.args["on"])), {}
        last = len(self.scope.sources) - 1
        left, right = self.scope.part(self.first_source, last), replace(self.scope.part(last), common=())
        columns = join.args.get("using") or []
        if join.method:
            columns = natural(join, left, right, self.text)
        pairs = pairs_of(columns, left, right, self.text)
        nodes = {node.name.lower(): node for node in columns}
        return [equal(name, pair, nodes[name], self.text) for name, pair in pairs.items()], pairs

    def _add(self, node: exp.Expr) -> None:
        for join in node.args.get("joins") or []:
            raise self.text.unsupported(join, "a join in parentheses", "write the joins one after the other")
        relation, name = self._relation(node)
        source = source_of(name, relation, self.taken)
        self.scope = self.scope.added(source, node, self.text)
        self.taken |= {column.name.lower() for _, column in source.columns}
        relation, quotients = with_parts(source.relation, self.taken)
        self.taken |= {each.lower() for each in names(relation)}
        self.quotients |= quotients
        self.items.append(Joined(name, relation, self.text.position(node)))

    def _relation(self, node: exp.Expr) -> tuple[Relation, str]:
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            if isinstance(node.this, exp.Table):
                raise self.text.unsupported(node, "a table in parentheses", "write it without them")
            relation = self.query(node, replace(self.scope, beside=True))
        elif isinstance(node, exp.Table):
            only(node, self.text, {"this", "alias"}, "FROM")
            relation = self._named(node)
        elif isinstance(node, exp.Values):
            relation = values_list(node, self.text, self.catalog)
        else:
            instead = "select the column in a subquery, and join on it"
            what = f"{type(node).__name__.upper()} in FROM"
            raise self.text.unsupported(
                node, what, instead if isinstance(node, exp.Lateral) else "use tables and subqueries"
            )
        name = node.alias or (node.name if isinstance(node, exp.Table) else f"subquery_{len(self.items) + 1}")
        return renamed(relation, alias, self.text), name

    def _named(self, node: exp.Table) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            raise self.text.unsupported(node, "a table function", "declare the data as a table of an owner")
        if node.name.lower() in self.ctes:
            return self.ctes[node.name.lower()][1]
        for name, problem in self.catalog.broken:
            if name.lower() == node.name.lower():
                raise self.text.invalid(node, problem)
        for table in self.catalog.tables:
            if table.name.lower() == node.name.lower():
                return self._delivery(table, node) if table.delivered else scan(table)
        for united in self.catalog.united:
            if united.name.lower() == node.name.lower():
                return self._united(united, node)
        others = [kept for kept in self.catalog.kept if delivered_table(kept.name) is None]
        for kept in others:
            if kept.name.lower() == node.name.lower():
                return kept_scan(kept)
        known = [table.name for table in self.catalog.tables] + [united.name for united in self.catalog.united]
        known += [table.name for table in others]
        known += [name for name, _ in self.ctes.values()]
        raise UnknownName("table", node.name, known, self.text.position(node))

    def _united(self, united: UnitedTable, node: exp.Table) -> Relation:
        """The rows of several owners' tables together, which have the same columns."""
        tables = {table.name: table for table in self.catalog.tables}
        parts = [tables[name] for name in united.tables]
        return Union(tuple(self._delivery(each, node) if each.delivered else scan(each) for each in parts))

    def _delivery(self, table: Table, node: exp.Table) -> Relation:
        """What the owner of a table has delivered of it."""
        for kept in self.catalog.kept:
            if kept.name == delivery_name(table):
                return kept_scan(kept)
        problem = f"{table.owner} offers {table.name} as delivered, and no delivery of it is here"
        advice = f"{table.owner} and every node run `tacit deliver {table.name}`; who is no node copies its description"
        raise self.text.invalid(node, f"{problem}; {advice}.")


def scan(table: Table) -> Scan:
    """All columns of a table."""
    found = tuple(column.field for column in table.columns)
    return Scan(table.name, table.owner, tuple((each.name, each.name) for each in found), found, table.rows)


def kept_scan(table: KeptTable) -> KeptScan:
    """All columns of a kept table."""
    found = tuple(column.field for column in table.columns)
    return KeptScan(table.name, tuple((each.name, each.name) for each in found), found, table.rows, table.single)


def renamed(relation: Relation, alias: exp.Expr | None, text: Text) -> Relation:
    """The relation with the column names that its alias lists, as in t(a, b)."""
    columns = [] if alias is None else alias.args.get("columns") or []
    if not columns:
        return relation
    if len(columns) != len(names(relation)):
        raise text.invalid(columns[0], f"the alias names {len(columns)} columns of {len(names(relation))}.")
    return Project(relation, tuple((c.name, reference(f)) for c, f in zip(columns, fields(relation), strict=True)))

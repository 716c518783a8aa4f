"""The FROM clause: its tables, subqueries and CTEs as sources, and the conditions that ON and USING add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf

from sqlglot import exp

from tacit.plan.algebra.expressions import conjuncts, reference
from tacit.plan.algebra.refusals import UnknownName
from tacit.plan.algebra.relations import Expr, KeptScan, Project, Relation, Scan, Union
from tacit.plan.facts.catalog import Catalog, KeptTable, Table, UnitedTable
from tacit.plan.facts.deliveries import delivered_table, delivery_name
from tacit.plan.facts.fields import fields, names
from tacit.sql import arithmetic
from tacit.sql.coercion import Mismatch
from tacit.sql.expressions import Expressions
from tacit.sql.joins import Joined, full_join, join_all
from tacit.sql.scope import Scope, source_of
from tacit.sql.text import Text, only

Ctes = dict[str, tuple[str, Relation]]


class From:
    """The sources of a SELECT. taken: lower-case names of all their columns, to which later steps add theirs."""

    def __init__(
        self, node: exp.Select, ctes: Ctes, text: Text, catalog: Catalog, query: Callable[[exp.Query], Relation]
    ) -> None:
        self.ctes = ctes
        self.text = text
        self.catalog = catalog
        self.query = query
        self.scope = Scope()
        self.items: list[Joined] = []
        self.conditions: list[Expr] = []
        self.taken: set[str] = set()
        clause = node.args.get("from_")
        if clause is None:
            raise text.unsupported(node, "a SELECT without FROM", "select from a table or a subquery")
        self._add(clause.this)
        for join in node.args.get("joins") or []:
            self._join(join)

    def _join(self, join: exp.Join) -> None:
        kind = self._kind(join)
        if kind == "FULL":
            self._full_join(join)
            return
        only(join, self.text, {"this", "on", "using", "kind"}, "JOIN")
        self._add(join.this)
        if join.args.get("on") is not None:
            self.conditions += self._on(join)
        if join.args.get("using"):
            self._using(join.args["using"])

    def _on(self, join: exp.Join) -> list[Expr]:
        bind = Expressions(self.scope, self.text, "ON", self._no_subquery)
        return conjuncts(bind.condition(join.args["on"]))

    def _full_join(self, join: exp.Join) -> None:
        """Join all that is there with one more, both with all their rows."""
        if join.args.get("using"):
            raise self.text.unsupported(join, "USING in a FULL JOIN", "write ON, and select the columns of both")
        if join.args.get("on") is None:
            raise self.text.invalid(join, "a FULL JOIN needs a condition; write ON with an equality.")
        only(join, self.text, {"this", "on", "kind", "side"}, "FULL JOIN")
        left = join_all(self.items, self.conditions, [], self.catalog)
        self._add(join.this)
        right = self.items[-1]
        relation = full_join(left, right, self._on(join), self.catalog)
        self.items, self.conditions = [Joined(right.alias, relation, right.position)], []
        self.scope = self.scope.nullable()

    def _kind(self, join: exp.Join) -> OneOf["INNER", "FULL"]:
        """Which rows a join has. Raises UnsupportedSQL for others."""
        kind = " ".join(part for part in (join.method, join.side, join.kind) if part).upper()
        if kind in ("", "INNER", "CROSS"):
            return "INNER"
        if kind in ("FULL", "FULL OUTER"):
            return "FULL"
        instead = {
            "SEMI": "write WHERE column IN (SELECT ...)",
            "NATURAL": "write JOIN ... USING (column)",
        }.get(kind, "write an inner JOIN, and count or select the other rows in a query of their own")
        raise self.text.unsupported(join, f"{kind} JOIN", instead)

    def _using(self, columns: list[exp.Expr]) -> None:
        left = Scope(self.scope.sources[:-1])
        right = Scope(self.scope.sources[-1:])
        for node in columns:
            column = exp.column(node.name)
            a, b = (
                scope.lookup(node.name, "", node, self.text) or self._missing(scope, column, node)
                for scope in (left, right)
            )
            try:
                self.conditions.append(arithmetic.comparison("eq", a, b, self.text.position(node)))
            except Mismatch as error:
                raise self.text.invalid(node, f"{error}.") from None
        self.scope = self.scope.merging(frozenset(node.name.lower() for node in columns))

    def _missing(self, scope: Scope, column: exp.Column, node: exp.Expr) -> Expr:
        known = [visible for source in scope.sources for visible, _ in source.columns]
        raise UnknownName("column", column.name, known, self.text.position(node))

    def _add(self, node: exp.Expr) -> None:
        for join in node.args.get("joins") or []:
            raise self.text.unsupported(join, "a join in parentheses", "write the joins one after the other")
        relation, name = self._relation(node)
        source = source_of(name, relation, self.taken)
        self.scope = self.scope.added(source, node, self.text)
        self.taken |= {column.name.lower() for _, column in source.columns}
        self.items.append(Joined(name, source.relation, self.text.position(node)))

    def _relation(self, node: exp.Expr) -> tuple[Relation, str]:
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            if isinstance(node.this, exp.Table):
                raise self.text.unsupported(node, "a table in parentheses", "write it without them")
            relation = self.query(node)
        elif isinstance(node, exp.Table):
            only(node, self.text, {"this", "alias"}, "FROM")
            relation = self._named(node)
        elif isinstance(node, exp.Values):
            raise self.text.unsupported(node, "VALUES in FROM", "put the rows into a table of an owner")
        else:
            raise self.text.unsupported(node, f"{type(node).__name__.upper()} in FROM", "use tables and subqueries")
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

    def _no_subquery(self, node: exp.Query) -> Expr:
        raise self.text.unsupported(node, "a subquery in ON", "write it in WHERE")


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

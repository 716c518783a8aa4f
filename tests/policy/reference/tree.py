"""A query as a tree of few operators. Names are qualified by sqlglot; no name occurs in two scopes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

Expr = exp.Expr
Named = tuple[tuple[str, Expr], ...]
"""Output names with their expressions."""


@dataclass(frozen=True, eq=False)
class Scan:
    """An instance of a table: its outputs are ``instance.column``."""

    instance: str
    table: str


@dataclass(frozen=True, eq=False)
class Filter:
    child: Relation
    condition: Expr


@dataclass(frozen=True, eq=False)
class Join:
    """kind: inner, semi, or one: the right side is one row for all."""

    left: Relation
    right: Relation
    pairs: tuple[tuple[Expr, Expr], ...]
    kind: str


@dataclass(frozen=True, eq=False)
class Group:
    child: Relation
    keys: Named
    aggregates: Named


@dataclass(frozen=True, eq=False)
class Project:
    child: Relation
    outputs: Named


@dataclass(frozen=True, eq=False)
class Union:
    """All rows of both, by position."""

    sides: tuple[Project, Project]
    outputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Sort:
    """terms: expression, whether it descends, whether NULL comes first."""

    child: Relation
    terms: tuple[tuple[Expr, bool, bool], ...]
    limit: int | None
    offset: int


Relation = Scan | Filter | Join | Group | Project | Union | Sort


class NotTold(Exception):
    """SQL that the reference does not tell the meaning of."""


def parse(sql: str, columns: Mapping[str, Iterable[str]]) -> Project:
    """columns: those of each table. Output names are those of the query."""
    schema: dict[str, object] = {table: dict.fromkeys(names, "INT") for table, names in columns.items()}
    tree = qualify(sqlglot.parse_one(sql, dialect="duckdb"), schema=schema, dialect="duckdb", quote_identifiers=False)
    return _Builder(columns).query(tree, {}, "")


def names_in(expression: Expr) -> list[str]:
    """The columns that an expression reads."""
    return [name_of(column) for column in expression.find_all(exp.Column)]


def name_of(column: exp.Column) -> str:
    name, table = column.args["this"].args["this"], column.args.get("table")
    return f"{table.args['this']}.{name}" if table else name


def conjuncts(condition: Expr | None) -> Iterator[Expr]:
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    elif condition is not None:
        yield condition


@dataclass
class _Builder:
    columns: Mapping[str, Iterable[str]]
    count: Iterator[int] = field(default_factory=itertools.count)

    def query(self, tree: Expr, views: Mapping[str, Expr], prefix: str) -> Project:
        """prefix: before the names of outputs."""
        assert isinstance(tree, exp.Query)
        views = {**views, **{each.alias: each.this for each in tree.ctes}}
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this, views, prefix)
        if isinstance(tree, exp.Union):
            return self._union(tree, views, prefix)
        if not isinstance(tree, exp.Select):
            raise NotTold(type(tree).__name__)
        return self._select(tree, views, prefix)

    def _union(self, tree: exp.Union, views: Mapping[str, Expr], prefix: str) -> Project:
        sides = [self.query(side, views, self._new("side")) for side in (tree.left, tree.right)]
        own = self._new("union")
        names = tuple(f"{own}{name.rpartition('.')[2]}" for name, _ in sides[0].outputs)
        whole: Relation = Union((sides[0], sides[1]), names)
        if tree.args.get("distinct"):
            whole = Group(whole, tuple((name, _column(name)) for name in names), ())
        outputs = tuple((prefix + name.rpartition(".")[2], _column(name)) for name in names)
        by_alias = {name.removeprefix(prefix): expression for name, expression in outputs}
        return Project(self._sorted(tree, whole, by_alias), outputs)

    def _select(self, tree: exp.Select, views: Mapping[str, Expr], prefix: str) -> Project:
        scope: dict[str, str] = {}
        source = self._from(tree, views, scope)
        outputs = [(each.alias_or_name, each.unalias()) for each in tree.selects]
        having, terms = tree.args.get("having"), self._terms(tree)
        grouped = tree.args.get("group") is not None or any(
            _aggregates(each) for each in (*(each for _, each in outputs), *([having.this] if having else []))
        )
        by_alias = dict(outputs)
        wanted = [expression for _, expression in outputs]
        wanted += [having.this] if having else []
        wanted += [_by_alias(term, by_alias) for term, _, _ in terms]
        wanted = [_qualified(each, scope) for each in wanted]
        if grouped:
            source, wanted = self._group(tree, source, wanted, scope, views)
        else:
            source, wanted = self._scalars(source, wanted, views)
        shown = wanted[: len(outputs)]
        if having:
            source = Filter(source, wanted[len(outputs)])
        named = tuple((prefix + name, each) for (name, _), each in zip(outputs, shown, strict=True))
        order = wanted[len(wanted) - len(terms) :] if terms else []
        if tree.args.get("distinct"):
            keys = tuple((name, _column(name)) for name, _ in named)
            distinct: Relation = Group(Project(source, named), keys, ())
            by_output = {str(each): _column(name) for name, each in named}
            order = [by_output.get(str(each), each) for each in order]
            return Project(self._limited(tree, distinct, order, terms), keys)
        return Project(self._limited(tree, source, order, terms), named)

    def _from(self, tree: exp.Select, views: Mapping[str, Expr], scope: dict[str, str]) -> Relation:
        """Sources in their order, each with its own conditions, joined by all equalities between them."""
        given, where = tree.args["from_"], tree.args.get("where")
        joins = tree.args.get("joins") or []
        if any(join.side or join.kind not in ("", "INNER", "CROSS") for join in joins):
            raise NotTold("an outer join")
        sources = [self._source(each, views, scope) for each in (given.this, *(join.this for join in joins))]
        conditions = [
            _qualified(each, scope)
            for whole in (*(join.args.get("on") for join in joins), where.this if where else None)
            for each in conjuncts(whole)
        ]
        whole: Relation | None = None
        seen: set[str] = set()
        for source, prefix in sources:
            source, conditions = self._filtered(source, conditions, {prefix}, views)
            if whole is not None:
                pairs = [pair for each in conditions if (pair := _equality(each, seen, prefix))]
                conditions = [each for each in conditions if not _equality(each, seen, prefix)]
                whole = Join(whole, source, tuple(pairs), "inner" if pairs else "one")
            else:
                whole = source
            seen.add(prefix)
        assert whole is not None
        return self._filtered(whole, conditions, seen, views)[0]

    def _source(self, tree: Expr, views: Mapping[str, Expr], scope: dict[str, str]) -> tuple[Relation, str]:
        alias = tree.alias_or_name
        prefix = self._new(alias).removesuffix(".")
        scope[alias] = prefix
        if isinstance(tree, exp.Table) and tree.name not in views:
            return Scan(prefix, tree.name), prefix
        inner = views[tree.name] if isinstance(tree, exp.Table) else tree.this
        return self.query(inner.copy(), views, prefix + "."), prefix

    def _filtered(
        self, source: Relation, conditions: list[Expr], seen: set[str], views: Mapping[str, Expr]
    ) -> tuple[Relation, list[Expr]]:
        """The source under the conditions that read nothing else, and the other conditions."""
        here = [each for each in conditions if _prefixes(each) <= seen]
        for each in here:
            if isinstance(each, exp.In) and each.args.get("query") is not None:
                name = self._new("in")
                inner = self.query(each.args["query"], views, name)
                source = Join(source, inner, ((each.this, _column(inner.outputs[0][0])),), "semi")
            else:
                source, (condition,) = self._scalars(source, [each], views)
                source = Filter(source, condition)
        return source, [each for each in conditions if each not in here]

    def _scalars(
        self, source: Relation, expressions: list[Expr], views: Mapping[str, Expr]
    ) -> tuple[Relation, list[Expr]]:
        """Scalar subqueries become one-row joins."""
        replaced = []
        for expression in expressions:
            whole = exp.Paren(this=expression.copy())
            for inner in list(whole.find_all(exp.Subquery)):
                name = self._new("scalar")
                right = self.query(inner.this, views, name)
                source = Join(source, right, (), "one")
                inner.replace(_column(right.outputs[0][0]))
            replaced.append(whole.this)
        return source, replaced

    def _group(
        self,
        tree: exp.Select,
        source: Relation,
        wanted: list[Expr],
        scope: dict[str, str],
        views: Mapping[str, Expr],
    ) -> tuple[Relation, list[Expr]]:
        """The groups, and expressions over them instead of over rows."""
        group, prefix = tree.args.get("group"), self._new("group")
        keys = [_qualified(each, scope) for each in (group.expressions if group else [])]
        if group is not None and group.args.get("all"):
            keys = [each for each in wanted[: len(tree.selects)] if not _aggregates(each)]
        named_keys = tuple((f"{prefix}key{at}", key) for at, key in enumerate(keys))
        found = {str(each): each for whole in wanted for each in _aggregates(whole)}
        named = tuple((f"{prefix}value{at}", each) for at, each in enumerate(found.values()))
        names = {str(each): name for name, each in (*named, *named_keys)}
        whole = Group(source, named_keys, named)
        return self._scalars(whole, [_replaced(each, lambda part: names.get(str(part))) for each in wanted], views)

    def _terms(self, tree: Expr) -> list[tuple[Expr, bool, bool]]:
        order = tree.args.get("order")
        terms = order.expressions if order else []
        return [(each.this, bool(each.args.get("desc")), bool(each.args.get("nulls_first"))) for each in terms]

    def _sorted(self, tree: Expr, whole: Relation, by_alias: Mapping[str, Expr]) -> Relation:
        terms = self._terms(tree)
        return self._limited(tree, whole, [_by_alias(term, by_alias) for term, _, _ in terms], terms)

    def _limited(
        self, tree: Expr, whole: Relation, order: list[Expr], terms: list[tuple[Expr, bool, bool]]
    ) -> Relation:
        if not terms:
            return whole
        limit, offset = (
            int(tree.args[key].expression.name) if tree.args.get(key) else None for key in ("limit", "offset")
        )
        by = tuple((each, desc, first) for each, (_, desc, first) in zip(order, terms, strict=True))
        return Sort(whole, by, limit, offset or 0)

    def _new(self, name: str) -> str:
        return f"{name}#{next(self.count)}."


def _column(name: str) -> exp.Column:
    table, _, column = name.rpartition(".")
    return exp.column(column, table=table) if table else exp.column(column)


def _prefixes(expression: Expr) -> set[str]:
    """Sources that an expression reads, without those of its subqueries."""
    own = [column for column in expression.find_all(exp.Column) if "#" in column.table]
    return {column.table for column in own}


def _qualified(expression: Expr, scope: Mapping[str, str]) -> Expr:
    """Columns by the names of their sources; those inside subqueries stay."""
    return _replaced(
        expression,
        lambda part: (
            f"{scope[part.table]}.{part.name}" if isinstance(part, exp.Column) and part.table in scope else None
        ),
    )


def _replaced(expression: Expr, name: Callable[[Expr], str | None]) -> Expr:
    """The expression with a column in place of each outermost part that has a name."""
    if isinstance(expression, exp.Subquery | exp.Select | exp.Union):
        return expression.copy()
    if (found := name(expression)) is not None:
        return _column(found)
    whole = expression.copy()
    for part in list(whole.iter_expressions()):
        part.replace(_replaced(part, name))
    return whole


def _by_alias(term: Expr, by_alias: Mapping[str, Expr]) -> Expr:
    """A term of ORDER BY, where aliases stand for what they name."""
    whole: Expr = exp.Paren(this=term.copy())
    for column in list(whole.find_all(exp.Column)):
        if not column.table and column.name in by_alias:
            column.replace(by_alias[column.name].copy())
    found: Expr = whole.this
    return found


def _aggregates(expression: Expr) -> list[Expr]:
    """The outermost aggregates, none of subqueries."""
    if isinstance(expression, exp.Subquery | exp.Select):
        return []
    if isinstance(expression, exp.AggFunc):
        return [expression]
    return [found for part in expression.iter_expressions() for found in _aggregates(part)]


def _equality(condition: Expr, seen: set[str], prefix: str) -> tuple[Expr, Expr] | None:
    """The two sides of an equality between what is joined already and a further source."""
    if not isinstance(condition, exp.EQ) or condition.find(exp.Subquery):
        return None
    sides = (condition.left, condition.right)
    for left, right in (sides, sides[::-1]):
        if _prefixes(right) == {prefix} and _prefixes(left) and _prefixes(left) <= seen:
            return left, right
    return None
